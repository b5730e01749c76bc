#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace pliant {

/// First-in first-out queue between one producer and one consumer thread; both ends are wait-free.
/// Storage is taken once, at construction.
template <class T>
class RingBuffer {
    static_assert(std::is_nothrow_copy_assignable_v<T>, "items must be copied without allocation");
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> shares words between items");

public:
    /// Holds at least `capacity` items (rounded up to a power of two).
    explicit RingBuffer(std::size_t capacity)
        : items_(std::bit_ceil(capacity < 1 ? std::size_t{1} : capacity)),
          mask_(items_.size() - 1) {}

    [[nodiscard]] std::size_t capacity() const noexcept { return items_.size(); }
    /// Producer: false, and the item is dropped, when the ring is full.
    bool push(const T& item) noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_.load(std::memory_order_acquire) == items_.size()) return false;
        items_[tail & mask_] = item;
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }
    /// Consumer: false when the ring is empty.
    bool pop(T& item) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_.load(std::memory_order_acquire)) return false;
        item = items_[head & mask_];
        head_.store(head + 1, std::memory_order_release);
        return true;
    }

private:
    std::vector<T> items_;
    std::size_t mask_;
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace pliant
