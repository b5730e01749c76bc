#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace pliant {

/// Hands the newest value from one writer thread to one reader thread; neither ever waits.
/// The writer fills `write_slot()` in place and publishes it; the reader sees whole values, newest
/// wins.
template <class T>
class TripleBuffer {
public:
    TripleBuffer() = default;
    /// All three slots start as copies of `initial`, so that vectors have their final size.
    explicit TripleBuffer(const T& initial) : slots_{Slot{initial}, Slot{initial}, Slot{initial}} {}

    [[nodiscard]] T& write_slot() noexcept { return slots_[write_].value; }
    /// Makes the write slot the newest value; the writer gets another slot with old contents.
    void publish() noexcept {
        const std::uint32_t previous = middle_.exchange(write_ | kFresh, std::memory_order_acq_rel);
        write_ = previous & kIndex;
    }

    /// Moves to the newest published value, if there is one that was not seen yet.
    bool update() noexcept {
        if (!(middle_.load(std::memory_order_relaxed) & kFresh)) return false;
        read_ = middle_.exchange(read_, std::memory_order_acq_rel) & kIndex;
        return true;
    }
    /// The reader's own until the next update().
    [[nodiscard]] const T& read_slot() const noexcept { return slots_[read_].value; }
    [[nodiscard]] T& read_slot() noexcept { return slots_[read_].value; }

private:
    static constexpr std::uint32_t kIndex = 3, kFresh = 4;
    struct alignas(64) Slot {  // no cache line is shared by writer and reader
        T value{};
    };
    std::array<Slot, 3> slots_{};
    alignas(64) std::uint32_t write_ = 0;
    alignas(64) std::atomic<std::uint32_t> middle_{1};
    alignas(64) std::uint32_t read_ = 2;
};

}  // namespace pliant
