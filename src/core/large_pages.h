#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pliant {

/// A copy, followed by `extra` zeros, in large pages where the system has them: reading small
/// pieces all over megabytes then takes few walks through page tables. Memory comes from the
/// system itself: what an allocator hands out again has small pages already.
template <class T>
[[nodiscard]] std::shared_ptr<const T[]> in_large_pages(const std::vector<T>& values,
                                                        std::size_t extra = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t count = values.size() + extra;
#ifdef __linux__
    constexpr std::size_t kLargePage = std::size_t{2} << 20;
    const std::size_t bytes = (count * sizeof(T) + kLargePage - 1) / kLargePage * kLargePage;
    // one more, to begin at a whole page; what is not touched costs nothing
    void* const memory = bytes == 0 ? MAP_FAILED
                                    : mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        T* const first = reinterpret_cast<T*>((address + kLargePage - 1) / kLargePage * kLargePage);
        (void)madvise(first, bytes, MADV_HUGEPAGE);
        std::copy(values.begin(), values.end(), first);
        return {first, [memory, bytes](const T*) { munmap(memory, bytes + kLargePage); }};
    }
#endif
    T* const first = new T[count]();
    std::copy(values.begin(), values.end(), first);
    return std::shared_ptr<const T[]>(first);
}

}  // namespace pliant
