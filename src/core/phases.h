#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include <hwy/cache_control.h>

namespace pliant {

/// Hands out the items of one phase after the other to threads that call `work`. Each first takes
/// the items of its own part, the same share of every phase, then helps with the others. A thread
/// waits only for items that a running thread holds: all is done however many threads come.
template <class Index>
class Phases {
public:
    static constexpr int kMaxParts = 64;

    /// Phase p holds the items [offsets[p], offsets[p + 1]).
    Phases(std::span<const Index> offsets, int num_parts) noexcept
        : offsets_(offsets),
          num_phases_(static_cast<int>(offsets.size()) - 1),
          num_parts_(std::clamp(num_parts, 1, kMaxParts)) {
        open(0);
    }
    [[nodiscard]] int num_parts() const noexcept { return num_parts_; }

    /// Calls `task(item)` until the last phase has no item left to take. `task` must not throw.
    template <class Task>
    void work(int part, const Task& task) {
        for (int phase = phase_.load(std::memory_order_acquire); phase < num_phases_;
             phase = phase_after(phase)) {
            Index num_done = 0, item = 0;
            for (int k = 0; k < num_parts_; ++k)
                while (take((part + k) % num_parts_, phase, item)) {
                    task(item);
                    ++num_done;
                }
            if (num_done > 0 &&
                done_.fetch_add(num_done, std::memory_order_acq_rel) + num_done == count(phase))
                open(phase + 1);
            else if (phase + 1 == num_phases_)
                return;
        }
    }

private:
    /// A phase above and an item below: a late thread never takes an item of another phase.
    using Ticket = std::uint64_t;
    static constexpr int kItemBits = 40;
    static constexpr Ticket kItemMask = (Ticket{1} << kItemBits) - 1;
    struct alignas(64) Next {
        std::atomic<Ticket> ticket{0};
    };

    [[nodiscard]] Index count(int phase) const noexcept {
        const auto p = static_cast<std::size_t>(phase);
        return offsets_[p + 1] - offsets_[p];
    }
    [[nodiscard]] Index begin_of(int phase, int part) const noexcept {
        const auto p = static_cast<Index>(part), n = static_cast<Index>(num_parts_);
        return offsets_[static_cast<std::size_t>(phase)] + count(phase) / n * p +
               std::min(count(phase) % n, p);
    }
    [[nodiscard]] bool take(int part, int phase, Index& item) noexcept {
        std::atomic<Ticket>& next = next_[static_cast<std::size_t>(part)].ticket;
        const Index end = begin_of(phase, part + 1);
        Ticket ticket = next.load(std::memory_order_relaxed);
        do {
            item = static_cast<Index>(ticket & kItemMask);
            if (ticket >> kItemBits != static_cast<Ticket>(phase) || item >= end) return false;
        } while (!next.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed));
        return true;
    }
    /// By the thread that finished the last item of the phase before.
    void open(int phase) noexcept {
        while (phase < num_phases_ && count(phase) == 0) ++phase;
        done_.store(0, std::memory_order_relaxed);
        for (int part = 0; phase < num_phases_ && part < num_parts_; ++part)
            next_[static_cast<std::size_t>(part)].ticket.store(
                static_cast<Ticket>(phase) << kItemBits |
                    static_cast<Ticket>(begin_of(phase, part)),
                std::memory_order_relaxed);
        phase_.store(phase, std::memory_order_release);
    }
    [[nodiscard]] int phase_after(int phase) const noexcept {
        constexpr int kSpins = 4000;  // some ten microseconds
        for (int spin = 0;; ++spin) {
            const int now = phase_.load(std::memory_order_acquire);
            if (now != phase) return now;
            if (spin < kSpins)
                hwy::Pause();
            else
                std::this_thread::yield();
        }
    }

    std::span<const Index> offsets_;
    int num_phases_, num_parts_;
    std::array<Next, kMaxParts> next_;
    alignas(64) std::atomic<int> phase_{0};
    alignas(64) std::atomic<Index> done_{0};
};

}  // namespace pliant
