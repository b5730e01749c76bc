#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pliant {

/// A copy, with room for `extra` more, in large pages where the system has them: reading small
/// pieces all over megabytes then takes few walks through page tables.
template <class T>
[[nodiscard]] std::vector<T> in_large_pages(const std::vector<T>& values, std::size_t extra = 0) {
    std::vector<T> result;
    result.reserve(values.size() + extra);
#ifdef __linux__
    // advice for whole pages, before they are touched; without it the memory is as good as any
    constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
    const auto begin = reinterpret_cast<std::uintptr_t>(result.data());
    const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
    const std::uintptr_t end = (begin + result.capacity() * sizeof(T)) / kLargePage * kLargePage;
    if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#endif
    result.insert(result.end(), values.begin(), values.end());
    return result;
}

}  // namespace pliant
