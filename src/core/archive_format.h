#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "pliant/core/hash.h"

/// The bytes of a `.pliant` file, docs/core.md section "Archive".
namespace pliant::archive_format {

/// Not text (0x89), damaged by every change of line ends, and stops a `type` or `cat` (0x1A).
inline constexpr std::array<char, 12> kMagic = {'\x89', 'P',  'L',  'I',    'A',  'N',
                                                'T',    '\r', '\n', '\x1a', '\n', '\0'};
inline constexpr std::uint32_t kEndianMark = 0x01020304, kSwappedEndianMark = 0x04030201;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint64_t kAlignment = 64;
inline constexpr std::size_t kMaxExtents = 4;
inline constexpr const char* kProvenanceChunk = "provenance";

using Text = std::array<char, 64>;  ///< filled up with NUL bytes, at least one

struct Header {
    std::array<char, 12> magic;
    std::uint32_t endian_mark;
    std::uint32_t version;
    std::uint32_t num_chunks;
    std::uint64_t file_size;
    std::uint64_t table_checksum;
    Text kind;
    std::array<char, 16> reserved;  ///< zero
    std::uint64_t checksum;         ///< of all bytes of the header before it
};
static_assert(sizeof(Header) == 128 && offsetof(Header, checksum) == 120);

/// One row of the table, which follows the header.
struct Entry {
    Text name;
    std::uint32_t type;
    std::uint32_t num_extents;
    std::array<std::uint64_t, kMaxExtents> shape;  ///< unused extents are zero
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t checksum;
};
static_assert(sizeof(Entry) == 128 && offsetof(Entry, checksum) == 120);

[[nodiscard]] inline std::uint64_t header_checksum(const Header& header) noexcept {
    return hash_bytes(&header, offsetof(Header, checksum));
}

/// Where a chunk may start that follows byte `end`.
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t end) noexcept {
    return (end + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace pliant::archive_format
