#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "pliant/core/error.h"
#include "pliant/scene/recording.h"
#include "scene/recording_format.h"

namespace {

namespace format = pliant::recording_format;

template <class T>
bool get(const std::string& file, std::size_t at, T& structure) {
    if (at > file.size() || file.size() - at < sizeof structure) return false;
    std::memcpy(&structure, file.data() + at, sizeof structure);
    return true;
}

template <class T>
void put(std::string& file, std::size_t at, T& structure) {
    structure.checksum = format::checksum_of(structure);
    std::memcpy(file.data() + at, &structure, sizeof structure);
}

/// Makes signatures, sizes and checksums right, so that random bytes reach the checks behind them.
void seal(std::string& file) {
    format::Head head;
    if (!get(file, 0, head)) return;
    head.magic = format::kMagic;
    head.endian_mark = format::kEndianMark;
    head.version = format::kVersion;
    head.text_size = std::min<std::uint64_t>(head.text_size, file.size() - sizeof head);
    head.text_checksum = pliant::hash_bytes(file.data() + sizeof head, head.text_size);
    put(file, 0, head);

    std::size_t at = sizeof head + head.text_size;
    for (format::BlockHead block; get(file, at, block) && block.magic == format::kBlockMagic;
         at += sizeof block + block.size) {
        const std::size_t room = file.size() - at - sizeof block;
        block.size = static_cast<std::uint32_t>(std::min<std::size_t>(block.size, room));
        block.records_checksum = pliant::hash_bytes(file.data() + at + sizeof block, block.size);
        put(file, at, block);
    }
    format::Foot foot;
    if (file.size() < sizeof foot || file.size() - sizeof foot < at) return;
    const std::size_t end = file.size() - sizeof foot;
    if (!get(file, end, foot) || foot.magic != format::kFootMagic || foot.index_offset > end)
        return;
    foot.index_checksum =
        pliant::hash_bytes(file.data() + foot.index_offset, end - foot.index_offset);
    put(file, end, foot);
}

}  // namespace

/// The first byte says whether the rest is a file as it is, or one to be sealed first. Any bytes
/// give a recording that can be used or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string file(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] & 1) seal(file);
    volatile double sink = 0;
    try {
        const pliant::Recording recording = pliant::Recording::parse(file, "fuzz");
        const pliant::RecordingHeader& header = recording.header();
        sink = recording.duration();
        for (int l = 0; l < static_cast<int>(header.loops.size()); ++l) {
            std::uint64_t tick = 0;
            for (const pliant::TickSample& sample : recording.samples(l)) {
                if (sample.tick < tick) std::abort();
                tick = sample.tick;
                sink = sink + sample.force[2];
            }
            for (const auto& command : recording.commands(l)) sink = sink + command.command.value;
        }
        for (int i = 0; i < static_cast<int>(header.bodies.size()); ++i)
            for (int k = 0; k < recording.num_states(i); ++k) {
                if (k > 0 && recording.state_tick(i, k) < recording.state_tick(i, k - 1))
                    std::abort();
                for (const double number : recording.state(i, k)) sink = sink + number;
            }
    } catch (const pliant::InputError&) {
        // refusing is what a reader does with a bad file
    }
    return 0;
}
