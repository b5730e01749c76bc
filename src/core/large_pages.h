#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pliant {

/// Memory for some arrays, one after the other, in large pages where the system has them: reading
/// small pieces all over megabytes then takes few walks through page tables. It comes from the
/// system itself: what an allocator hands out again has small pages already.
class LargePages {
public:
    /// Of `values` and the zeros behind them.
    template <class T>
    [[nodiscard]] static std::size_t room_for(const std::vector<T>& values) noexcept {
        return (values.size() * sizeof(T) + kZeros + kLine - 1) / kLine * kLine;
    }

    explicit LargePages(std::size_t num_bytes) : num_left_(num_bytes) {
#ifdef __linux__
        const std::size_t bytes = (num_bytes + kLargePage - 1) / kLargePage * kLargePage;
        // one more, to begin at a whole page; what is not touched costs nothing
        void* const memory = mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) {
            const auto address = reinterpret_cast<std::uintptr_t>(memory);
            next_ = reinterpret_cast<char*>((address + kLargePage - 1) / kLargePage * kLargePage);
            (void)madvise(next_, bytes, MADV_HUGEPAGE);
            owner_ = {memory, [bytes](void* all) { munmap(all, bytes + kLargePage); }};
            return;
        }
#endif
        struct alignas(kLine) Line {
            char bytes[kLine] = {};
        };
        const auto lines = std::make_shared<std::vector<Line>>((num_bytes + kLine - 1) / kLine);
        next_ = reinterpret_cast<char*>(lines->data());
        owner_ = lines;
    }

    /// A copy that begins a line of the cache and has 64 bytes of zeros behind it; `values` go.
    template <class T>
    [[nodiscard]] std::span<const T> add(std::vector<T> values) noexcept {
        static_assert(std::is_trivially_copyable_v<T>);
        assert(room_for(values) <= num_left_);
        T* const first = reinterpret_cast<T*>(next_);
        std::copy(values.begin(), values.end(), first);
        next_ += room_for(values);
        num_left_ -= room_for(values);
        return {first, values.size()};
    }

    /// Keeps all of it.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return owner_; }

private:
    static constexpr std::size_t kLargePage = std::size_t{2} << 20, kLine = 64, kZeros = 64;
    std::shared_ptr<void> owner_;
    char* next_ = nullptr;
    std::size_t num_left_;
};

}  // namespace pliant
