#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/archive_format.h"
#include "pliant/core/archive.h"
#include "pliant/core/error.h"

namespace {

namespace format = pliant::archive_format;
using Bytes = std::vector<std::byte>;

/// Makes signature, sizes and checksums right, so that random bytes reach the checks behind them.
void seal(Bytes& file) {
    if (file.size() < sizeof(format::Header)) return;
    format::Header header;
    std::memcpy(&header, file.data(), sizeof header);
    const std::size_t room = (file.size() - sizeof header) / sizeof(format::Entry);
    header.magic = format::kMagic;
    header.endian_mark = format::kEndianMark;
    header.version = format::kVersion;
    header.num_chunks = static_cast<std::uint32_t>(std::min<std::size_t>(header.num_chunks, room));
    header.file_size = file.size();
    header.reserved = {};
    header.kind.back() = '\0';

    std::byte* table = file.data() + sizeof header;
    for (std::size_t i = 0; i < header.num_chunks; ++i) {
        format::Entry entry;
        std::memcpy(&entry, table + i * sizeof entry, sizeof entry);
        if (entry.offset > file.size() || entry.size > file.size() - entry.offset) continue;
        entry.checksum = pliant::hash_bytes(file.data() + entry.offset, entry.size);
        std::memcpy(table + i * sizeof entry, &entry, sizeof entry);
    }
    header.table_checksum = pliant::hash_bytes(table, header.num_chunks * sizeof(format::Entry));
    header.checksum = format::header_checksum(header);
    std::memcpy(file.data(), &header, sizeof header);
}

template <class T>
double sum_of(const pliant::Archive& archive, const std::string& name) {
    double sum = 0;
    for (const T value : archive.get<T>(name)) sum += static_cast<double>(value);
    return sum;
}

}  // namespace

/// The first byte says whether the rest is a file as it is, or one to be sealed first.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Bytes file(size - 1);
    std::transform(data + 1, data + size, file.begin(),
                   [](std::uint8_t b) { return std::byte{b}; });
    if (data[0] & 1) seal(file);

    volatile double sink = 0;
    try {
        const pliant::Archive archive = pliant::Archive::from_bytes(file, "fuzz");
        // every byte of every chunk, and the wrong type of some
        for (const pliant::ChunkInfo& chunk : archive.chunks()) {
            try {
                sink = sink + sum_of<std::uint8_t>(archive, chunk.name);
            } catch (const pliant::InputError&) {
                if (chunk.type == pliant::ChunkType::F64)
                    sink = sink + sum_of<double>(archive, chunk.name);
                if (chunk.type == pliant::ChunkType::U16)
                    sink = sink + sum_of<std::uint16_t>(archive, chunk.name);
                if (chunk.type == pliant::ChunkType::I32)
                    sink = sink + sum_of<std::int32_t>(archive, chunk.name);
            }
        }
        archive.verify();
    } catch (const pliant::InputError&) {
        // refusing is what a reader does with a bad file
    }
    return 0;
}
