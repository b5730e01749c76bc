#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

/// The tick of a record counts the ticks of its loop since the recording began and never goes back,
/// also when a Reset sets the clock of the loop to zero: of a command those before it, of samples
/// and states those up to it (1 after the first tick).
enum class RecordKind : std::uint8_t {
    Sample = 1,   ///< a TickSample; its tick and time are those of the record
    Command = 2,  ///< a Command applied before the tick
    State = 3,    ///< a body's place in the world (int32), 4 bytes of padding, its state (doubles)
    Haptic = 4,   ///< a HapticTick: of the tool in a hand
};

/// What a loop hands to a recorder inside its tick: a queue of bytes of fixed capacity between one
/// producer and one consumer thread, both wait-free.
class RecordQueue {
public:
    /// Rounded up to a power of two; a record takes 16 bytes more than its own.
    explicit RecordQueue(std::size_t capacity_bytes);
    /// Producer: the record is `a` followed by `b`. False, and counted as lost, when it does not
    /// fit.
    bool push(RecordKind kind, std::uint64_t tick, std::span<const std::byte> a,
              std::span<const std::byte> b = {}) noexcept;
    /// Consumer: false when the queue is empty. `bytes` is resized.
    bool pop(RecordKind& kind, std::uint64_t& tick, std::vector<std::byte>& bytes);
    [[nodiscard]] std::uint64_t lost() const noexcept {
        return lost_.load(std::memory_order_relaxed);
    }

private:
    void put(std::size_t at, std::span<const std::byte> bytes) noexcept;
    void get(std::size_t at, std::span<std::byte> bytes) const noexcept;
    std::vector<std::byte> bytes_;
    std::size_t mask_;
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<std::size_t> tail_{0};
    std::atomic<std::uint64_t> lost_{0};
};

}  // namespace pliant
