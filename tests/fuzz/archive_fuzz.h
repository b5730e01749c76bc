#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/archive_format.h"
#include "pliant/core/archive.h"

namespace pliant::test {

namespace format = archive_format;

/// Makes signature, sizes and checksums right, so that random bytes reach the checks behind them.
inline void seal(std::vector<std::byte>& file) {
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
        entry.checksum = hash_bytes(file.data() + entry.offset, entry.size);
        std::memcpy(table + i * sizeof entry, &entry, sizeof entry);
    }
    header.table_checksum = hash_bytes(table, header.num_chunks * sizeof(format::Entry));
    header.checksum = format::header_checksum(header);
    std::memcpy(file.data(), &header, sizeof header);
}

/// A sound file of the kind that a target reads, made once.
template <class Write>
std::vector<std::byte> archive_sample(Write write) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("pliant_fuzz_sample_" + std::to_string(getpid()) + ".pliant");
    write(path);
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    std::filesystem::remove(path);
    std::vector<std::byte> sample(bytes.size());
    std::memcpy(sample.data(), bytes.data(), bytes.size());
    return sample;
}

/// What the fuzzer's bytes stand for. The first says what the others are: a file as it is, one to
/// be sealed, or changes of the sample (place, number of bytes, bytes), which is sealed after them:
/// from nothing no fuzzer would find the names and shapes of all chunks.
inline std::vector<std::byte> fuzzed_archive(const std::uint8_t* data, std::size_t size,
                                             const std::vector<std::byte>& sample) {
    if (size == 0) return {};
    const unsigned kind = data[0] & 3u;
    ++data, --size;
    std::vector<std::byte> file;
    if (kind < 2) {
        file.resize(size);
        std::copy_n(reinterpret_cast<const std::byte*>(data), size, file.begin());
    } else {
        file = sample;
        while (size > 5) {
            std::uint32_t place = 0;
            std::memcpy(&place, data, sizeof place);
            place %= static_cast<std::uint32_t>(file.size());
            const std::size_t count = std::min({std::size_t{1} + data[4] % 8u, size - 5,
                                                file.size() - static_cast<std::size_t>(place)});
            std::memcpy(file.data() + place, data + 5, count);
            data += 5 + count, size -= 5 + count;
        }
    }
    if (kind > 0) seal(file);
    return file;
}

}  // namespace pliant::test
