#include "pliant/scene/recording.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <random>

#include "core/numbers.h"
#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/core/hash.h"
#include "scene/recording_format.h"

namespace pliant {
namespace {

using test::input_error, test::read_text, test::TemporaryDirectory, test::write_text;
using testing::HasSubstr;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

std::vector<std::byte> state_bytes(std::int32_t body, const std::vector<double>& state) {
    std::vector<std::byte> bytes(8 + 8 * state.size());
    std::memcpy(bytes.data(), &body, sizeof body);
    if (!state.empty()) std::memcpy(bytes.data() + 8, state.data(), 8 * state.size());
    return bytes;
}

RecordingHeader small_header() {
    RecordingHeader header;
    header.scene = "{\n\"name\": \"Brücke \\\"1\\\"\"}";
    header.scene_folder = "/scenes";
    header.version = "0.1";
    header.started = "2026-01-02T03:04:05Z";
    header.loops = {{"haptic", 1000}, {"slow", 100}};
    header.bodies = {{"bridge", 3, 0, 4, 2}, {"block", 0, 1, 2, 1}};
    header.parameters = {{"gravity", 0.1}, {"bridge.stiffness", 1.0 / 3.0}};
    return header;
}

/// What went into a file.
struct Written {
    std::vector<TickSample> samples[2];
    std::vector<Recording::TimedCommand> commands[2];
    std::vector<std::pair<std::uint64_t, std::vector<double>>> states[2];
};

/// A moving hand that sometimes rests, commands and states of two loops, 1 : 10.
Written write_ticks(RecordingWriter& writer, int num_ticks, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const auto vector = [&] { return std::array<double, 3>{normal(random), normal(random), 0.5}; };
    Written written;
    TickSample sample;
    for (int tick = 1; tick <= num_ticks; ++tick) {
        for (int loop = 0; loop < (tick % 10 == 0 ? 2 : 1); ++loop) {
            const auto l = static_cast<std::size_t>(loop);
            const auto at = static_cast<std::uint64_t>(loop == 0 ? tick : tick / 10);
            if (random() % 7 == 0) {
                const Command command{.kind = static_cast<Command::Kind>(random() % 7),
                                      .slot = 1,
                                      .body = 2,
                                      .triangle = static_cast<int>(random() % 1000),
                                      .vertex = -1,
                                      .parameter = 5,
                                      .barycentric = vector(),
                                      .target = vector(),
                                      .duration = 0.1,
                                      .value = normal(random)};
                writer.add(loop, RecordKind::Command, at - 1, bytes_of(command));
                written.commands[l].push_back({at - 1, command});
            }
            if (random() % 3 != 0) sample.hand = vector();
            if (random() % 3 != 0) sample.force = vector();
            sample.point = vector();
            sample.energy = normal(random);
            sample.work_us = 3.5f;
            sample.late_us = random() % 2 ? 0.0f : 12.0f;
            sample.tick = at;
            sample.time = static_cast<double>(at) / (loop == 0 ? 1000 : 100);
            writer.add(loop, RecordKind::Sample, at, bytes_of(sample));
            written.samples[l].push_back(sample);
            if (loop == 0 && tick % 2 != 0) continue;
            std::vector<double> state(loop == 0 ? 4 : 2);
            for (double& number : state) number = normal(random);
            writer.add(loop, RecordKind::State, at, state_bytes(loop == 0 ? 3 : 0, state));
            written.states[l].emplace_back(at, state);
        }
    }
    return written;
}

/// Everything in the recording is what was written, as far as it goes.
void expect_beginning_of(const Recording& recording, const Written& written) {
    for (int loop = 0; loop < 2; ++loop) {
        const auto l = static_cast<std::size_t>(loop);
        ASSERT_LE(recording.samples(loop).size(), written.samples[l].size());
        for (std::size_t i = 0; i < recording.samples(loop).size(); ++i) {
            const TickSample &a = recording.samples(loop)[i], &b = written.samples[l][i];
            ASSERT_EQ(a.tick, b.tick);
            ASSERT_DOUBLE_EQ(a.time, b.time);
            for (std::size_t k = 0; k < 3; ++k) {
                ASSERT_EQ(a.hand[k], static_cast<float>(b.hand[k]));
                ASSERT_EQ(a.point[k], static_cast<float>(b.point[k]));
                ASSERT_EQ(a.force[k], static_cast<float>(b.force[k]));
            }
            ASSERT_EQ(a.energy, static_cast<float>(b.energy));
            ASSERT_EQ(a.work_us, b.work_us);
            ASSERT_EQ(a.late_us, b.late_us);
        }
        ASSERT_LE(recording.commands(loop).size(), written.commands[l].size());
        for (std::size_t i = 0; i < recording.commands(loop).size(); ++i) {
            const Recording::TimedCommand &a = recording.commands(loop)[i],
                                          &b = written.commands[l][i];
            ASSERT_EQ(a.tick, b.tick);
            ASSERT_EQ(a.command.kind, b.command.kind);
            ASSERT_EQ(a.command.triangle, b.command.triangle);
            ASSERT_EQ(a.command.vertex, b.command.vertex);
            ASSERT_EQ(a.command.barycentric, b.command.barycentric);
            ASSERT_EQ(a.command.target, b.command.target);
            ASSERT_EQ(a.command.duration, b.command.duration);
            ASSERT_EQ(a.command.value, b.command.value);
            ASSERT_EQ(a.command.slot, b.command.slot);
            ASSERT_EQ(a.command.body, b.command.body);
            ASSERT_EQ(a.command.parameter, b.command.parameter);
        }
        ASSERT_LE(static_cast<std::size_t>(recording.num_states(loop)), written.states[l].size());
        for (int k = 0; k < recording.num_states(loop); ++k) {
            const auto& [tick, state] = written.states[l][static_cast<std::size_t>(k)];
            ASSERT_EQ(recording.state_tick(loop, k), tick);
            ASSERT_TRUE(std::ranges::equal(recording.state(loop, k), state));
        }
    }
}

TEST(Recording, GivesBackWhatWasWritten) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    const Written written = write_ticks(writer, 5000);
    writer.finish();
    EXPECT_EQ(writer.bytes_written(), std::filesystem::file_size(folder / "a.pliantrec"));

    const Recording recording = Recording::load(folder / "a.pliantrec");
    EXPECT_TRUE(recording.is_complete()) << recording.problem();
    EXPECT_EQ(recording.samples(0).size(), 5000u);
    EXPECT_EQ(recording.samples(1).size(), 500u);
    EXPECT_EQ(recording.num_states(0), 2500);
    EXPECT_EQ(recording.commands(0).size(), written.commands[0].size());
    EXPECT_EQ(recording.num_ticks(0), 5000u);
    EXPECT_DOUBLE_EQ(recording.duration(), 5.0);
    expect_beginning_of(recording, written);

    const RecordingHeader &a = recording.header(), b = small_header();
    EXPECT_EQ(a.scene, b.scene);
    EXPECT_EQ(a.scene_folder, b.scene_folder);
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.started, b.started);
    ASSERT_EQ(a.loops.size(), 2u);
    EXPECT_EQ(a.loops[1].name, "slow");
    EXPECT_EQ(a.loops[1].rate, 100);
    ASSERT_EQ(a.bodies.size(), 2u);
    EXPECT_EQ(a.bodies[0].name, "bridge");
    EXPECT_EQ(a.bodies[0].body, 3);
    EXPECT_EQ(a.bodies[0].state_size, 4);
    EXPECT_EQ(a.bodies[0].every, 2);
    EXPECT_EQ(a.bodies[1].loop, 1);
    EXPECT_EQ(a.parameters, b.parameters) << "to the last bit";
}

TEST(Recording, SamplesOfAMovingHandTakeLessThanSixtyBytesATick) {
    const TemporaryDirectory folder;
    RecordingHeader header = small_header();
    header.bodies.clear();
    RecordingWriter writer(folder / "a.pliantrec", header);
    TickSample sample;
    for (std::uint64_t tick = 1; tick <= 20000; ++tick) {
        const double t = 1e-3 * static_cast<double>(tick);
        sample = {.tick = tick,
                  .time = t,
                  .hand = {t, 2 * t, 3 * t},
                  .point = {std::sin(t), t, -t},
                  .force = {t, t, std::cos(t)},
                  .energy = 1 + t,
                  .work_us = static_cast<float>(t),
                  .late_us = static_cast<float>(1 + t)};
        writer.add(0, RecordKind::Sample, tick, bytes_of(sample));
    }
    writer.finish();
    EXPECT_LT(static_cast<double>(writer.bytes_written()) / 20000, 50);
}

TEST(Recording, NotANumberAndSignedZeroSurvive) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    TickSample sample;
    sample.force = {kNan, -0.0, std::numeric_limits<double>::infinity()};
    writer.add(0, RecordKind::Sample, 1, bytes_of(sample));
    writer.add(0, RecordKind::State, 1, state_bytes(3, {-0.0, kNan, 1, 2}));
    writer.finish();
    const Recording recording = Recording::load(folder / "a.pliantrec");
    ASSERT_EQ(recording.samples(0).size(), 1u);
    EXPECT_TRUE(std::isnan(recording.samples(0)[0].force[0]));
    EXPECT_TRUE(std::signbit(recording.samples(0)[0].force[1]));
    EXPECT_TRUE(std::isinf(recording.samples(0)[0].force[2]));
    EXPECT_TRUE(std::signbit(recording.state(0, 0)[0]));
    EXPECT_TRUE(std::isnan(recording.state(0, 0)[1]));
}

TEST(Recording, TicksMayBeLeftOut) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    const std::vector<std::uint64_t> ticks = {1, 2, 3, 100, 101, 1u << 19, 1'000'700};
    for (const std::uint64_t tick : ticks)
        writer.add(0, RecordKind::Sample, tick, bytes_of(TickSample{}));
    writer.finish();
    const Recording recording = Recording::load(folder / "a.pliantrec");
    ASSERT_EQ(recording.samples(0).size(), ticks.size());
    for (std::size_t i = 0; i < ticks.size(); ++i)
        EXPECT_EQ(recording.samples(0)[i].tick, ticks[i]);
}

TEST(Recording, StatesLargerThanABlockAndOfNoSizeAreKept) {
    const TemporaryDirectory folder;
    RecordingHeader header = small_header();
    header.bodies[0].state_size = 30000;
    header.bodies[1].state_size = 0;
    RecordingWriter writer(folder / "a.pliantrec", header);
    for (std::uint64_t tick = 1; tick <= 3; ++tick) {
        writer.add(0, RecordKind::State, tick,
                   state_bytes(3, std::vector<double>(30000, static_cast<double>(tick))));
        writer.add(1, RecordKind::State, tick, state_bytes(0, {}));
    }
    writer.finish();
    const Recording recording = Recording::load(folder / "a.pliantrec");
    EXPECT_TRUE(recording.is_complete()) << recording.problem();
    ASSERT_EQ(recording.num_states(0), 3);
    ASSERT_EQ(recording.num_states(1), 3);
    EXPECT_EQ(recording.state(0, 2)[29999], 3.0);
    EXPECT_TRUE(recording.state(1, 2).empty());
}

TEST(Recording, TakesWhatWaitsInAQueue) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    RecordQueue queue(1 << 16);
    for (std::uint64_t tick = 1; tick <= 100; ++tick) {
        const TickSample sample{.tick = tick, .energy = static_cast<double>(tick)};
        queue.push(RecordKind::Sample, tick, bytes_of(sample));
    }
    writer.drain(1, queue);
    writer.finish();
    const Recording recording = Recording::load(folder / "a.pliantrec");
    ASSERT_EQ(recording.samples(1).size(), 100u);
    EXPECT_EQ(recording.samples(1)[99].energy, 100);
    EXPECT_DOUBLE_EQ(recording.duration(), 1.0) << "100 ticks of the slow loop";
}

TEST(Recording, ReadsUpToTheLastWholeBlockWhereverItIsCutOff) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    const Written written = write_ticks(writer, 4000);
    writer.finish();
    const std::string file = read_text(folder / "a.pliantrec");
    std::size_t last = 0;
    for (int turn = 0; turn < 60; ++turn) {
        const std::size_t size = 700 + (file.size() - 701) * static_cast<std::size_t>(turn) / 59;
        const Recording recording = Recording::parse(file.substr(0, size), "a");
        EXPECT_FALSE(recording.is_complete());
        EXPECT_THAT(recording.problem(), HasSubstr(" s: cut off"));
        expect_beginning_of(recording, written);
        EXPECT_GE(recording.samples(0).size(), last);
        last = recording.samples(0).size();
    }
    EXPECT_EQ(last, 4000u) << "only the end is missing";
    EXPECT_EQ(Recording::parse(file.substr(0, file.size() - 1), "a").problem(),
              "ends after 4.0 s: cut off");
}

TEST(Recording, ReadsUpToTheLastWholePieceOfEveryLength) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    std::vector<std::uintmax_t> ends;  // of whole pieces
    for (std::uint64_t tick = 1; tick <= 60; ++tick) {
        writer.add(0, RecordKind::Sample, tick, bytes_of(TickSample{}));
        if (tick % 20 != 0) continue;
        writer.flush();
        ends.push_back(writer.bytes_written());
    }
    writer.finish();
    const std::string file = read_text(folder / "a.pliantrec");
    std::size_t begin = 0;  // the shortest file that is one
    for (std::size_t size = 0; size < file.size(); ++size) {
        const std::string cut = file.substr(0, size);
        if (!input_error([&] { (void)Recording::parse(cut, "a"); }).empty()) {
            EXPECT_EQ(size, begin) << "refused, although a shorter one is read";
            begin = size + 1;
            continue;
        }
        const auto whole = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin();
        const Recording recording = Recording::parse(cut, "a");
        EXPECT_EQ(recording.num_ticks(0), static_cast<std::uint64_t>(20 * whole)) << size;
        EXPECT_FALSE(recording.is_complete()) << size;
    }
    EXPECT_LT(begin, ends.front());
}

TEST(Recording, FlushedRecordsAreReadableBeforeTheEnd) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    const Written written = write_ticks(writer, 20);
    EXPECT_EQ(Recording::load(folder / "a.pliantrec").samples(0).size(), 0u);
    writer.flush();
    const Recording recording = Recording::load(folder / "a.pliantrec");
    EXPECT_EQ(recording.samples(0).size(), 20u);
    EXPECT_FALSE(recording.is_complete());
    expect_beginning_of(recording, written);
}

TEST(Recording, DamagedBlockIsLeftOutAndTheRestIsRead) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    (void)write_ticks(writer, 5000);
    writer.finish();
    std::string file = read_text(folder / "a.pliantrec");
    // both the head and the records of a block in the middle
    const std::uint32_t magic = recording_format::kBlockMagic;
    const std::string mark(reinterpret_cast<const char*>(&magic), sizeof magic);
    const std::size_t block = file.find(mark, file.size() / 2);
    ASSERT_NE(block, std::string::npos);
    for (const std::size_t at : {block + 5, block + 1000}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
        const Recording recording = Recording::parse(damaged, "a");
        EXPECT_THAT(recording.problem(), HasSubstr("damaged after "));
        EXPECT_THAT(recording.problem(), HasSubstr(" s: a part is left out"));
        EXPECT_LT(recording.samples(0).size(), 5000u);
        EXPECT_EQ(recording.samples(0).back().tick, 5000u);
    }
}

TEST(Recording, EveryFlippedBitIsFound) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    (void)write_ticks(writer, 10);
    writer.finish();
    const std::string file = read_text(folder / "a.pliantrec");
    for (std::size_t at = 0; at < file.size(); ++at) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        bool is_found = false;
        try {
            is_found = !Recording::parse(damaged, "a").is_complete();
        } catch (const InputError&) {
            is_found = true;
        }
        EXPECT_TRUE(is_found) << "byte " << at;
    }
}

std::string with_head(std::string file,
                      const std::function<void(recording_format::Head&)>& change) {
    recording_format::Head head{};
    std::memcpy(&head, file.data(), sizeof head);
    change(head);
    head.checksum = recording_format::checksum_of(head);
    std::memcpy(file.data(), &head, sizeof head);
    return file;
}

TEST(Recording, ForeignNewerAndDamagedFilesAreRefusedWithTheirReason) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    writer.finish();
    const std::string file = read_text(folder / "a.pliantrec");
    const auto refusal = [](const std::string& bytes) {
        return input_error([&] { (void)Recording::parse(bytes, "a.pliantrec"); });
    };
    EXPECT_EQ(refusal(file), "") << "a recording of nothing is one";
    EXPECT_THAT(input_error([&] { (void)Recording::load(folder / "none.pliantrec"); }),
                HasSubstr("none.pliantrec: the file does not exist"));
    EXPECT_EQ(refusal(""), "a.pliantrec: the file is empty; nothing was recorded");
    EXPECT_EQ(refusal("solid cube"), "a.pliantrec: not a Pliant recording (.pliantrec)");
    EXPECT_THAT(refusal(file.substr(0, 7)), HasSubstr("ends inside its header"));
    EXPECT_THAT(refusal(file.substr(0, 100)), HasSubstr("ends inside its header"));
    EXPECT_THAT(refusal(with_head(file, [](auto& head) { head.version = 9; })),
                HasSubstr("format version 9 is newer than version 3 of this program"));
    EXPECT_THAT(refusal(with_head(file, [](auto& head) { head.endian_mark = 0x04030201; })),
                HasSubstr("the other byte order"));
    EXPECT_THAT(refusal(with_head(file, [](auto& head) { head.text_size = ~0ull; })),
                HasSubstr("ends inside its header"));
    std::string damaged = file;
    damaged[60] ^= 1;
    EXPECT_THAT(refusal(damaged), HasSubstr("the header is damaged"));
    damaged = file;
    damaged[30] ^= 1;
    EXPECT_THAT(refusal(damaged), HasSubstr("the header is damaged"));
}

/// The file with another header text and checksums that fit.
std::string with_text(const std::string& text) {
    recording_format::Head head{};
    head.magic = recording_format::kMagic;
    head.endian_mark = recording_format::kEndianMark;
    head.version = recording_format::kVersion;
    head.text_size = text.size();
    head.text_checksum = hash_bytes(text.data(), text.size());
    head.checksum = recording_format::checksum_of(head);
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
}

TEST(Recording, HeaderOfAnotherMeaningIsRefusedByItsPlace) {
    const std::string start = R"({"scene":"","scene_folder":"","version":"","started":"",)";
    const auto refusal = [&](const std::string& rest) {
        return input_error([&] { (void)Recording::parse(with_text(start + rest), "a"); });
    };
    EXPECT_EQ(refusal(R"("loops":[],"bodies":[],"parameters":[]})"), "");
    EXPECT_THAT(refusal(R"("loops":3})"), HasSubstr("header.loops must be a list"));
    EXPECT_THAT(refusal(R"("loops":[{"name":"a"}]})"),
                HasSubstr("header.loops[0].rate must be a number"));
    EXPECT_THAT(refusal(R"("loops":[{"name":"a","rate":0}]})"), HasSubstr("header.loops[0].rate"));
    EXPECT_THAT(refusal(R"("loops":[{"name":"a","rate":1e-320}]})"),
                HasSubstr("header.loops[0].rate must be from 1e-6 to 1e9 Hz"));
    EXPECT_THAT(refusal(R"("loops":[],"bodies":[{"name":"b","body":0,"loop":0}]})"),
                HasSubstr("header.bodies[0].loop must be a whole number"));
    EXPECT_THAT(refusal(R"("loops":[],"bodies":[],"parameters":[7]})"),
                HasSubstr("header.parameters[0] must be an object"));
    EXPECT_THAT(input_error([&] { (void)Recording::parse(with_text("[1,"), "a"); }),
                HasSubstr("a"));
}

TEST(Recording, HostileBlocksWithRightChecksumsAreLeftOut) {
    const std::string start = with_text(
        R"({"scene":"","scene_folder":"","version":"","started":"","loops":[{"name":"a","rate":1000}],)"
        R"("bodies":[{"name":"b","body":0,"loop":0,"state_size":2000000000,"every":1}],"parameters":[]})");
    const auto block = [&](const std::string& records, std::uint32_t count,
                           std::uint32_t loop = 0) {
        recording_format::BlockHead head{};
        head.magic = recording_format::kBlockMagic;
        head.loop = loop;
        head.num_records = count;
        head.size = static_cast<std::uint32_t>(records.size());
        head.records_checksum = hash_bytes(records.data(), records.size());
        head.checksum = recording_format::checksum_of(head);
        return start + std::string(reinterpret_cast<const char*>(&head), sizeof head) + records;
    };
    const auto problem = [](const std::string& bytes) {
        return Recording::parse(bytes, "a").problem();
    };
    EXPECT_THAT(problem(block("", 0)), HasSubstr("cut off")) << "whole, but no end follows";
    EXPECT_THAT(problem(block("", 1000000)), HasSubstr("damaged")) << "more records than there are";
    EXPECT_THAT(problem(block(std::string(8, '\0'), 2)), HasSubstr("damaged")) << "no such kind";
    EXPECT_THAT(problem(block(std::string("\x03\x00", 2), 1)), HasSubstr("damaged"))
        << "a state of 16 GB";
    EXPECT_THAT(problem(block(std::string("\x03\x05", 2), 1)), HasSubstr("damaged"))
        << "of no body";
    EXPECT_THAT(problem(block("\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 1)),
                HasSubstr("damaged"))
        << "endless number";
    EXPECT_THAT(problem(block("", 0, 7)), HasSubstr("cut off")) << "of no loop: not a block";
    // a sample that goes on by 2^62 ticks
    const std::string far =
        std::string("\x05\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11) + std::string(4, '\0');
    EXPECT_EQ(problem(block(far, 1)),
              "damaged after 0.0 s, where the loop \"a\" jumps to tick 4611686018427387905: a part "
              "is left out");
    EXPECT_EQ(Recording::parse(block(far, 1), "a").num_ticks(0), 0u);
    std::string back = "\x05\x03";  // a sample whose tick goes back
    back += std::string(4, '\0');
    EXPECT_THAT(problem(block(std::string("\x01", 1) + std::string(4, '\0') + back, 2)),
                HasSubstr("damaged"));
}

TEST(Recording, FolderThatDoesNotExistAndFullDiskAtTheStartAreNamed) {
    const TemporaryDirectory folder;
    EXPECT_THAT(
        input_error([&] { RecordingWriter writer(folder / "none/a.pliantrec", small_header()); }),
        HasSubstr("the recording cannot be written: No such file or directory"));
    EXPECT_THAT(input_error([] { RecordingWriter writer("/dev/full", small_header()); }),
                HasSubstr("/dev/full: the recording cannot be begun"));
}

TEST(Recording, APipeIsRefusedAtOnce) {
    const TemporaryDirectory folder;
    ASSERT_EQ(mkfifo((folder / "a.pliantrec").c_str(), 0600), 0);
    const auto begin = [&] { RecordingWriter writer(folder / "a.pliantrec", small_header()); };
    EXPECT_THAT(input_error(begin), HasSubstr("a.pliantrec: the recording cannot be written: "));
    const int reader = open((folder / "a.pliantrec").c_str(), O_RDONLY | O_NONBLOCK);
    EXPECT_THAT(input_error(begin), HasSubstr("it is a named pipe, which holds nothing"));
    close(reader);
}

TEST(Recording, AFileThatIsRemovedMeanwhileIsSaid) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    writer.add(0, RecordKind::Sample, 1, bytes_of(TickSample{}));
    writer.flush();
    std::filesystem::rename(folder / "a.pliantrec", folder / "b.pliantrec");
    writer.flush();  // it is only called otherwise
    std::filesystem::remove(folder / "b.pliantrec");
    const std::string message = input_error([&] { writer.flush(); });
    EXPECT_THAT(message, HasSubstr("a.pliantrec: the file was removed while it was being "
                                   "recorded, and is lost; record again"));
    EXPECT_EQ(input_error([&] { writer.finish(); }), message);
}

/// While alive, files cannot grow beyond a size: a full disk for one process.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

TEST(Recording, WhatWasWrittenBeforeTheDiskWasFullStaysReadable) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    Written written;
    std::string message, message_at_end;
    {
        const FileSizeLimit limit(200000);
        message = input_error([&] { written = write_ticks(writer, 10000); });
        writer.add(0, RecordKind::Sample, 20000, bytes_of(TickSample{}));  // dropped
        message_at_end = input_error([&] { writer.finish(); });
    }
    EXPECT_THAT(message, HasSubstr("a.pliantrec: writing failed: File too large; what was "
                                   "recorded before stays readable"));
    EXPECT_EQ(message_at_end, message);
    const Recording recording = Recording::load(folder / "a.pliantrec");
    EXPECT_THAT(recording.problem(), HasSubstr("cut off"));
    EXPECT_GT(recording.samples(0).size(), 1000u);
    EXPECT_EQ(std::filesystem::file_size(folder / "a.pliantrec"), writer.bytes_written())
        << "ends with a whole block";
    const TemporaryDirectory other;
    RecordingWriter again(other / "b.pliantrec", small_header());
    expect_beginning_of(recording, write_ticks(again, 10000));
}

TEST(Recording, DestructorFinishesTheFile) {
    const TemporaryDirectory folder;
    {
        RecordingWriter writer(folder / "a.pliantrec", small_header());
        (void)write_ticks(writer, 30);
    }
    EXPECT_TRUE(Recording::load(folder / "a.pliantrec").is_complete());
}

TEST(RecordingCsv, HasAHeaderLineWithUnitsAndShortNumbers) {
    const TemporaryDirectory folder;
    RecordingWriter writer(folder / "a.pliantrec", small_header());
    const TickSample sample{.hand = {0.1, 0.2, 0.3},
                            .point = {1, 2, 3},
                            .force = {-0.5, 0, 1e-9},
                            .energy = 0.7,
                            .work_us = 3.1f,
                            .late_us = 0};
    writer.add(0, RecordKind::Sample, 17, bytes_of(sample));
    writer.finish();
    save_csv(Recording::load(folder / "a.pliantrec"), 0, folder / "a.csv");
    EXPECT_EQ(read_text(folder / "a.csv"),
              "tick,time_s,hand_x_m,hand_y_m,hand_z_m,point_x_m,point_y_m,point_z_m,force_x_N,"
              "force_y_N,force_z_N,energy_J,work_us,late_us\n"
              "17,0.017,0.1,0.2,0.3,1,2,3,-0.5,0,1e-09,0.7,3.1,0\n");
}

}  // namespace
}  // namespace pliant
