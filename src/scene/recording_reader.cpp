#include <algorithm>
#include <cstdio>
#include <cstring>

#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/scene/recording.h"
#include "scene/record_coding.h"
#include "scene/recording_format.h"
#include "scene/recording_header.h"

namespace pliant {
namespace format = recording_format;
namespace {

enum class Found { Nothing, Damaged, Whole };

/// A loop leaves a record each tick, but for those that a slow disk lost. Further ticks than these
/// are no run's, and nobody could wait for them to be simulated again.
constexpr std::uint64_t kLostTicks = 1'000'000, kTicksOfRecord = 100;

std::string seconds_text(double seconds) {
    char text[48];
    std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
}

/// A structure at a place in the file; false when it is not whole or its checksum is wrong.
template <class T>
bool read_at(std::string_view file, std::uint64_t offset, T& structure) {
    if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
    std::memcpy(&structure, file.data() + offset, sizeof(T));
    return structure.checksum == format::checksum_of(structure);
}

/// Refuses what is no recording; returns the header's text.
std::string_view read_head(std::string_view file, const std::string& name) {
    if (file.empty()) throw InputError(name, "the file is empty; nothing was recorded");
    const std::string_view magic(format::kMagic.data(), format::kMagic.size());
    if (!magic.starts_with(file.substr(0, magic.size())))
        throw InputError(name, "not a Pliant recording (.pliantrec)");
    format::Head head{};
    const bool is_sound = read_at(file, 0, head);
    if (file.size() < sizeof head)
        throw InputError(name, "the file ends inside its header; nothing was recorded");
    if (head.endian_mark == format::kSwappedEndianMark)
        throw InputError(name, "written on a machine of the other byte order");
    if (head.version > format::kVersion)
        throw InputError(name, "format version " + std::to_string(head.version) +
                                   " is newer than version " + std::to_string(format::kVersion) +
                                   " of this program; use a newer Pliant");
    if (!is_sound || head.endian_mark != format::kEndianMark || head.version == 0)
        throw InputError(name, "the header is damaged");
    if (head.text_size > file.size() - sizeof head)
        throw InputError(name, "the file ends inside its header; nothing was recorded");
    const std::string_view text = file.substr(sizeof head, head.text_size);
    if (hash_bytes(text.data(), text.size()) != head.text_checksum)
        throw InputError(name, "the header is damaged");
    return text;
}

/// Offsets of all blocks by the index of a finished file; false when there is none or it is
/// damaged.
bool read_index(std::string_view file, std::vector<std::uint64_t>& offsets) {
    format::Foot foot{};
    if (file.size() < sizeof foot) return false;
    const std::uint64_t end = file.size() - sizeof foot;
    if (!read_at(file, end, foot) || foot.magic != format::kFootMagic) return false;
    if (foot.index_offset > end) return false;
    const std::string_view entries = file.substr(foot.index_offset, end - foot.index_offset);
    if (entries.size() % sizeof(format::IndexEntry) != 0 ||
        entries.size() / sizeof(format::IndexEntry) != foot.num_entries ||
        hash_bytes(entries.data(), entries.size()) != foot.index_checksum)
        return false;
    for (std::uint64_t i = 0; i < foot.num_entries; ++i) {
        format::IndexEntry entry{};
        std::memcpy(&entry, entries.data() + i * sizeof entry, sizeof entry);
        offsets.push_back(entry.offset);
    }
    return true;
}

}  // namespace

struct Recording::Data {
    struct Loop {
        std::vector<TickSample> samples;
        std::vector<TimedCommand> commands;
        HapticTicks haptics;
        std::vector<std::uint64_t> haptic_ticks;
        std::uint64_t num_ticks = 0, num_records = 0;
        /// Whether the records so far, with this one, may have gone on until a tick.
        [[nodiscard]] bool can_reach(std::uint64_t tick) const noexcept {
            return tick <= kLostTicks + kTicksOfRecord * (num_records + 1);
        }
    };
    struct States {
        std::vector<std::uint64_t> ticks;
        std::vector<double> numbers;
    };
    RecordingHeader header;
    std::string problem;
    std::string damage;  // of the block that was read last, if more is known
    std::vector<Loop> loops;
    std::vector<States> states;  // of each recorded body

    [[nodiscard]] double duration() const noexcept;
    bool read_records(const format::BlockHead& head, std::string_view records);
    /// The block at a place, which ends at `end`.
    Found read_block(std::string_view file, std::uint64_t offset, std::uint64_t& end);
    void read_blocks(std::string_view file, std::uint64_t first);
};

double Recording::Data::duration() const noexcept {
    double longest = 0;
    for (std::size_t l = 0; l < loops.size(); ++l)
        longest = std::max(longest, static_cast<double>(loops[l].num_ticks) / header.loops[l].rate);
    return longest;
}

bool Recording::Data::read_records(const format::BlockHead& head, std::string_view records) {
    Loop& loop = loops[head.loop];
    RecordDecoder decoder(records, head.first_tick, header.loops[head.loop].rate);
    for (std::uint32_t i = 0; i < head.num_records; ++i) {
        const std::optional<RecordKind> kind = decoder.next();
        // ticks never go back: what is read may be searched by time
        if (!kind || decoder.tick() < loop.num_ticks) return false;
        if (!loop.can_reach(decoder.tick())) {
            damage = ", where the loop \"" + header.loops[head.loop].name + "\" jumps to tick " +
                     std::to_string(decoder.tick());
            return false;
        }
        loop.num_ticks = decoder.tick();
        ++loop.num_records;
        if (*kind == RecordKind::Sample) {
            TickSample sample;
            if (!decoder.sample(sample)) return false;
            loop.samples.push_back(sample);
        } else if (*kind == RecordKind::Command) {
            Command command;
            if (!decoder.command(command)) return false;
            loop.commands.push_back({decoder.tick(), command});
        } else if (*kind == RecordKind::Haptic) {
            HapticRecord record;
            HapticTick haptic;
            if (!header.device || !decoder.haptic(record) || !from_record(record, haptic))
                return false;
            loop.haptics.add(record);
            loop.haptic_ticks.push_back(decoder.tick());
        } else {
            std::uint64_t place = 0;
            if (!decoder.state_place(place) || place >= states.size()) return false;
            const auto size = static_cast<std::size_t>(header.bodies[place].state_size);
            if (decoder.bytes_left() / sizeof(double) < size) return false;
            States& of_body = states[place];
            of_body.numbers.resize(of_body.numbers.size() + size);
            if (!decoder.state(std::span(of_body.numbers).last(size))) return false;
            of_body.ticks.push_back(decoder.tick());
        }
    }
    return decoder.bytes_left() == 0;
}

Found Recording::Data::read_block(std::string_view file, std::uint64_t offset, std::uint64_t& end) {
    format::BlockHead head{};
    if (!read_at(file, offset, head) || head.magic != format::kBlockMagic ||
        head.loop >= loops.size() || head.size > file.size() - offset - sizeof head)
        return Found::Nothing;
    const std::string_view records = file.substr(offset + sizeof head, head.size);
    end = offset + sizeof head + head.size;
    const bool is_whole = hash_bytes(records.data(), records.size()) == head.records_checksum &&
                          read_records(head, records);
    return is_whole ? Found::Whole : Found::Damaged;
}

void Recording::Data::read_blocks(std::string_view file, std::uint64_t first) {
    const auto note_damage = [&] {
        if (problem.empty())
            problem = "damaged after " + seconds_text(duration()) + damage + ": a part is left out";
    };
    std::uint64_t end = first;
    std::vector<std::uint64_t> offsets;
    if (read_index(file, offsets)) {
        // blocks do not overlap, so that reading all costs no more than the file is long
        for (const std::uint64_t offset : offsets)
            if (offset < end || read_block(file, offset, end) != Found::Whole) note_damage();
        return;
    }
    // no index: block after block while there are any
    Found found = Found::Whole;
    while ((found = read_block(file, end, end)) != Found::Nothing)
        if (found == Found::Damaged) note_damage();
    if (problem.empty()) problem = "ends after " + seconds_text(duration()) + ": cut off";
}

Recording Recording::load(const std::filesystem::path& path) {
    return parse(read_file(path), path.string());
}

Recording Recording::parse(std::string_view bytes, const std::string& name) {
    auto data = std::make_shared<Data>();
    const std::string_view text = read_head(bytes, name);
    data->header = parse_header(text, name);
    data->loops.resize(data->header.loops.size());
    data->states.resize(data->header.bodies.size());
    data->read_blocks(bytes, sizeof(format::Head) + text.size());
    Recording recording;
    recording.data_ = std::move(data);
    return recording;
}

const RecordingHeader& Recording::header() const noexcept { return data_->header; }
bool Recording::is_complete() const noexcept { return data_->problem.empty(); }
const std::string& Recording::problem() const noexcept { return data_->problem; }
double Recording::duration() const noexcept { return data_->duration(); }

std::uint64_t Recording::num_ticks(int loop) const noexcept {
    return data_->loops[static_cast<std::size_t>(loop)].num_ticks;
}

const std::vector<TickSample>& Recording::samples(int loop) const noexcept {
    return data_->loops[static_cast<std::size_t>(loop)].samples;
}

const std::vector<Recording::TimedCommand>& Recording::commands(int loop) const noexcept {
    return data_->loops[static_cast<std::size_t>(loop)].commands;
}

const HapticTicks& Recording::haptics(int loop) const noexcept {
    return data_->loops[static_cast<std::size_t>(loop)].haptics;
}

const std::vector<std::uint64_t>& Recording::haptic_ticks(int loop) const noexcept {
    return data_->loops[static_cast<std::size_t>(loop)].haptic_ticks;
}

int Recording::num_states(int i) const noexcept {
    return static_cast<int>(data_->states[static_cast<std::size_t>(i)].ticks.size());
}

std::uint64_t Recording::state_tick(int i, int k) const noexcept {
    return data_->states[static_cast<std::size_t>(i)].ticks[static_cast<std::size_t>(k)];
}

std::span<const double> Recording::state(int i, int k) const noexcept {
    const auto size =
        static_cast<std::size_t>(data_->header.bodies[static_cast<std::size_t>(i)].state_size);
    return std::span(data_->states[static_cast<std::size_t>(i)].numbers)
        .subspan(static_cast<std::size_t>(k) * size, size);
}

}  // namespace pliant
