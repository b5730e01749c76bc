#pragma once

#include "pliant/core/hash.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

/// The bytes of a `.pliantrec` file, docs/scene.md section "Recordings": head, JSON text, blocks,
/// index, foot.
namespace pliant::recording_format {

static_assert(std::endian::native == std::endian::little, "recordings are little-endian");

/// Not text (0x89), damaged by every change of line ends, and stops a `type` or `cat` (0x1A).
inline constexpr std::array<char, 12> kMagic = {'\x89', 'P',  'L',  'I',    'R',  'E',
                                                'C',    '\r', '\n', '\x1a', '\n', '\0'};
inline constexpr std::uint32_t kEndianMark = 0x01020304, kSwappedEndianMark = 0x04030201;
/// 1: without a tool in a hand; files without one are still written so. 2: without the device's own
/// clock of readings.
inline constexpr std::uint32_t kVersion = 3;
inline constexpr std::uint32_t kBlockMagic = 0x4b4c4250;  // "PBLK"
inline constexpr std::uint32_t kFootMagic = 0x444e4550;   // "PEND"
/// A block is closed when it reaches this; only a single larger record makes a larger block.
inline constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

struct Head {
    std::array<char, 12> magic;
    std::uint32_t endian_mark;
    std::uint32_t version;
    std::uint32_t zero;
    std::uint64_t text_size;      ///< of the JSON text that follows
    std::uint64_t text_checksum;  ///< XXH3
    std::uint64_t checksum;       ///< of all bytes before it, as in the structures below
};
static_assert(sizeof(Head) == 48 && offsetof(Head, checksum) == 40);

struct BlockHead {
    std::uint32_t magic;
    std::uint32_t loop;
    std::uint32_t num_records;
    std::uint32_t size;  ///< of the records that follow [bytes]
    std::uint64_t first_tick, last_tick;
    std::uint64_t records_checksum;
    std::uint64_t checksum;
};
static_assert(sizeof(BlockHead) == 48 && offsetof(BlockHead, checksum) == 40);

struct IndexEntry {
    std::uint64_t offset;  ///< of the block's head in the file
    std::uint32_t loop;
    std::uint32_t num_records;
    std::uint64_t first_tick, last_tick;
};
static_assert(sizeof(IndexEntry) == 32);

/// The last bytes of a finished file.
struct Foot {
    std::uint32_t magic;
    std::uint32_t zero;
    std::uint64_t index_offset;  ///< of its entries, which end where this begins
    std::uint64_t num_entries;
    std::uint64_t index_checksum;  ///< of the entries
    std::uint64_t checksum;
};
static_assert(sizeof(Foot) == 40 && offsetof(Foot, checksum) == 32);

template <class T>
[[nodiscard]] std::uint64_t checksum_of(const T& structure) noexcept {
    return hash_bytes(&structure, offsetof(T, checksum));
}

}  // namespace pliant::recording_format
