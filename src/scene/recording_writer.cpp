#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pliant/core/error.h"
#include "pliant/scene/recording.h"
#include "scene/record_coding.h"
#include "scene/recording_format.h"
#include "scene/recording_header.h"

namespace pliant {
namespace format = recording_format;

struct RecordingWriter::Impl {
    /// Records of a loop that wait for their block to fill.
    struct OpenBlock {
        std::string records;
        CodingContext context;
        std::uint64_t first_tick = 0;
        std::uint32_t num_records = 0;
    };

    std::filesystem::path path;
    RecordingHeader header;
    std::vector<int> place_of_body;  // of the world; −1: not recorded
    std::vector<OpenBlock> blocks;   // one of each loop
    std::vector<format::IndexEntry> index;
    std::vector<std::byte> popped;
    std::vector<double> state;
    std::uint64_t size = 0;  // of the file up to the last whole block
    std::string failure;     // why writing ended early
    int descriptor = -1;

    ~Impl() {
        if (descriptor >= 0) close(descriptor);
    }
    void open();
    void write(const std::string& bytes);
    void check_name();
    void check_disk();
    [[noreturn]] void fail(const std::string& why);
    void prepare(OpenBlock& block, int loop, std::uint64_t tick, std::size_t bytes);
    void write_block(int loop);
    void write_end();
};

void RecordingWriter::Impl::open() {
    // not blocking, or opening a named pipe would wait for its reader
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
    descriptor = ::open(path.c_str(), kFlags, 0666);
    struct stat status {};
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        throw InputError(path.string(),
                         "the recording cannot be written: " + std::string(std::strerror(errno)) +
                             "; choose another place");
    if (S_ISFIFO(status.st_mode))
        throw InputError(path.string(),
                         "the recording cannot be written: it is a named pipe, which holds "
                         "nothing; choose another place");
    const std::string text = header_text(header);
    format::Head head{};
    head.magic = format::kMagic;
    head.endian_mark = format::kEndianMark;
    head.version = header.device ? format::kVersion : 1;
    head.text_size = text.size();
    head.text_checksum = hash_bytes(text.data(), text.size());
    head.checksum = format::checksum_of(head);
    try {
        write(std::string(reinterpret_cast<const char*>(&head), sizeof head) + text);
    } catch (const InputError&) {
        // a file without its header is of no use
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
        throw InputError(
            path.string(),
            "the recording cannot be begun; make room on the disk or choose another place");
    }
}

void RecordingWriter::Impl::write(const std::string& bytes) {
    if (!failure.empty()) return;
    const char* rest = bytes.data();
    std::size_t left = bytes.size();
    while (left > 0) {
        const ssize_t written = ::write(descriptor, rest, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            fail("writing failed: " + std::string(std::strerror(errno)) +
                 "; what was recorded before stays readable");
        rest += written;
        left -= static_cast<std::size_t>(written);
    }
    size += bytes.size();
    check_name();
}

void RecordingWriter::Impl::fail(const std::string& why) {
    failure = why;
    // nothing after the last whole block, where that is possible
    [[maybe_unused]] const int ignored = ftruncate(descriptor, static_cast<off_t>(size));
    throw InputError(path.string(), failure);
}

/// A file without a name takes all that is written, and is gone when it is closed.
void RecordingWriter::Impl::check_name() {
    if (!failure.empty()) return;
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0)
        fail("the file was removed while it was being recorded, and is lost; record again");
}

/// On disk before anybody is told that it is there: some file systems find out here that they have
/// no room.
void RecordingWriter::Impl::check_disk() {
    // devices have nothing to wait for
    if (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
        fail("writing failed: " + std::string(std::strerror(errno)) +
             "; what was recorded last may be missing");
}

void RecordingWriter::Impl::prepare(OpenBlock& block, int loop, std::uint64_t tick,
                                    std::size_t bytes) {
    if (block.num_records > 0 && block.records.size() + bytes > format::kBlockBytes)
        write_block(loop);
    if (block.num_records++ == 0) {
        block.first_tick = tick;
        block.context = {.tick = tick};
    }
}

void RecordingWriter::Impl::write_block(int loop) {
    OpenBlock& block = blocks[static_cast<std::size_t>(loop)];
    if (block.num_records == 0) return;
    format::BlockHead head{};
    head.magic = format::kBlockMagic;
    head.loop = static_cast<std::uint32_t>(loop);
    head.num_records = block.num_records;
    head.size = static_cast<std::uint32_t>(block.records.size());
    head.first_tick = block.first_tick;
    head.last_tick = block.context.tick;
    head.records_checksum = hash_bytes(block.records.data(), block.records.size());
    head.checksum = format::checksum_of(head);
    const std::uint64_t offset = size;
    const std::string bytes =
        std::string(reinterpret_cast<const char*>(&head), sizeof head) + block.records;
    block.records.clear();
    block.num_records = 0;
    write(bytes);
    index.push_back({offset, head.loop, head.num_records, head.first_tick, head.last_tick});
}

void RecordingWriter::Impl::write_end() {
    format::Foot foot{};
    foot.magic = format::kFootMagic;
    foot.index_offset = size;
    foot.num_entries = index.size();
    foot.index_checksum = hash_bytes(index.data(), index.size() * sizeof(format::IndexEntry));
    foot.checksum = format::checksum_of(foot);
    std::string bytes(reinterpret_cast<const char*>(index.data()),
                      index.size() * sizeof(format::IndexEntry));
    bytes.append(reinterpret_cast<const char*>(&foot), sizeof foot);
    write(bytes);
}

RecordingWriter::RecordingWriter(const std::filesystem::path& path, const RecordingHeader& header)
    : impl_(std::make_unique<Impl>()) {
    impl_->path = path;
    impl_->header = header;
    impl_->blocks.resize(header.loops.size());
    for (std::size_t i = 0; i < header.bodies.size(); ++i) {
        const auto body = static_cast<std::size_t>(header.bodies[i].body);
        if (impl_->place_of_body.size() <= body) impl_->place_of_body.resize(body + 1, -1);
        impl_->place_of_body[body] = static_cast<int>(i);
    }
    impl_->open();
}

RecordingWriter::~RecordingWriter() {
    try {
        finish();
    } catch (const std::exception&) {
        // the file reads up to its last whole block
    }
}

void RecordingWriter::add(int loop, RecordKind kind, std::uint64_t tick,
                          std::span<const std::byte> bytes) {
    assert(loop >= 0 && static_cast<std::size_t>(loop) < impl_->blocks.size());
    assert(impl_->descriptor >= 0);
    if (!impl_->failure.empty()) return;
    Impl::OpenBlock& block = impl_->blocks[static_cast<std::size_t>(loop)];
    if (kind == RecordKind::Sample) {
        assert(bytes.size() == sizeof(TickSample));
        TickSample sample;
        std::memcpy(&sample, bytes.data(), sizeof sample);
        impl_->prepare(block, loop, tick, kMaxSmallRecord);
        encode_sample(block.records, block.context, tick, sample);
    } else if (kind == RecordKind::Command) {
        assert(bytes.size() == sizeof(Command));
        Command command;
        std::memcpy(&command, bytes.data(), sizeof command);
        impl_->prepare(block, loop, tick, kMaxSmallRecord);
        encode_command(block.records, block.context, tick, command);
    } else if (kind == RecordKind::Haptic) {
        assert(bytes.size() == sizeof(HapticRecord));
        HapticRecord haptic;
        std::memcpy(&haptic, bytes.data(), sizeof haptic);
        impl_->prepare(block, loop, tick, kMaxHapticRecord);
        encode_haptic(block.records, block.context, tick, haptic);
    } else {
        std::int32_t body = -1;
        constexpr std::size_t kBefore = 2 * sizeof body;
        assert(bytes.size() >= kBefore);
        std::memcpy(&body, bytes.data(), sizeof body);
        assert(body >= 0 && static_cast<std::size_t>(body) < impl_->place_of_body.size());
        const int place = impl_->place_of_body[static_cast<std::size_t>(body)];
        assert(place >= 0);
        const std::size_t size = bytes.size() - kBefore;
        impl_->state.resize(size / sizeof(double));
        assert(static_cast<int>(impl_->state.size()) ==
               impl_->header.bodies[static_cast<std::size_t>(place)].state_size);
        if (size > 0) std::memcpy(impl_->state.data(), bytes.data() + kBefore, size);
        impl_->prepare(block, loop, tick, kMaxSmallRecord + size);
        encode_state(block.records, block.context, tick, place, impl_->state);
    }
}

void RecordingWriter::drain(int loop, RecordQueue& queue) {
    RecordKind kind{};
    std::uint64_t tick = 0;
    while (queue.pop(kind, tick, impl_->popped)) add(loop, kind, tick, impl_->popped);
}

void RecordingWriter::flush() {
    for (int loop = 0; loop < static_cast<int>(impl_->blocks.size()); ++loop)
        impl_->write_block(loop);
    impl_->check_name();
}

void RecordingWriter::finish() {
    if (impl_->descriptor < 0) return;
    if (impl_->failure.empty()) {
        flush();
        impl_->write_end();
        impl_->check_disk();
    }
    close(std::exchange(impl_->descriptor, -1));
    if (!impl_->failure.empty()) throw InputError(impl_->path.string(), impl_->failure);
}

std::uint64_t RecordingWriter::bytes_written() const noexcept { return impl_->size; }

}  // namespace pliant
