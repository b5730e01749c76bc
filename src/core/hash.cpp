#include "pliant/core/hash.h"

#define XXH_INLINE_ALL  // Debian ships no CMake package for the shared library
#include <xxhash.h>

namespace pliant {

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed) noexcept {
    return XXH3_64bits_withSeed(data, size, seed);
}

std::string hash_text(std::uint64_t hash) {
    std::string text(16, '0');
    for (int i = 15; i >= 0; --i, hash >>= 4)
        text[static_cast<std::size_t>(i)] = "0123456789abcdef"[hash & 15];
    return text;
}

}  // namespace pliant
