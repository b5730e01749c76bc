#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace pliant {

/// Values that are about to be read.
struct FetchedRange {
    FetchedRange() = default;
    template <class T>
    FetchedRange(const T* values, std::size_t count) noexcept
        : first(reinterpret_cast<const char*>(values)), num_bytes(count * sizeof(T)) {}
    const char* first = nullptr;
    std::size_t num_bytes = 0;
};

/// Reads every line of the cache once, of all ranges in turn: they lie anywhere, and memory
/// answers many requests at the same time. Loads, because processors drop prefetches that come in
/// crowds; in turn, because each range is a stream that is then fetched ahead of the loads.
inline void fetch_memory(std::span<const FetchedRange> ranges) noexcept {
    constexpr std::size_t kLine = 64;
    std::size_t most = 0;
    for (const FetchedRange& range : ranges) most = std::max(most, range.num_bytes);
    // ranges begin anywhere in a line: one read more reaches the last one
    for (std::size_t offset = 0; offset < most + kLine; offset += kLine)
        for (const FetchedRange& range : ranges)
            if (range.num_bytes > 0)
                (void)*static_cast<const volatile char*>(range.first +
                                                         std::min(offset, range.num_bytes - 1));
}

}  // namespace pliant
