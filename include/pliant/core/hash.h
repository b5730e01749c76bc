#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pliant {

/// XXH3, 64 bits: checksums of archive chunks and of benchmark results, keys of cached results.
[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t size,
                                       std::uint64_t seed = 0) noexcept;
[[nodiscard]] std::string hash_text(std::uint64_t hash);  ///< 16 hexadecimal digits

}  // namespace pliant
