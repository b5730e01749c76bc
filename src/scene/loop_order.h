#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace pliant {

// When loops tick in virtual time, docs/scene.md section "Virtual time": the one place that
// compares ticks of different loops. Worlds, their recordings, replays and single steps take the
// same order from it, whatever the rates are.

/// Whether tick `a` of a loop begins before tick `b` of another, the ticks before them counted,
/// rates in Hz: a/rate_a < b/rate_b as a·rate_b < b·rate_a, products in two parts so that nothing
/// is rounded. For counts up to 2⁵³.
[[nodiscard]] inline bool begins_before(std::uint64_t a, double rate_a, std::uint64_t b,
                                        double rate_b) noexcept {
    const auto product = [](std::uint64_t ticks, double rate) {
        const auto n = static_cast<double>(ticks);
        const double rounded = n * rate;
        return std::pair(rounded, std::fma(n, rate, -rounded));
    };
    return product(a, rate_b) < product(b, rate_a);
}

/// Of the loops 0 … count − 1 that `may_tick(l)`, the one whose next tick begins first, the lowest
/// of equals; −1: none may. `ticks(l)` are done, at `rate(l)` [Hz].
template <class MayTick, class Ticks, class Rate>
[[nodiscard]] int next_to_tick(int count, const MayTick& may_tick, const Ticks& ticks,
                               const Rate& rate) noexcept {
    int next = -1;
    for (int l = 0; l < count; ++l)
        if (may_tick(l) && (next < 0 || begins_before(ticks(l), rate(l), ticks(next), rate(next))))
            next = l;
    return next;
}

/// The first tick of a loop that does not begin before `time` [s]. Times are written in decimals:
/// what is due within a millionth of a tick is due.
[[nodiscard]] inline std::uint64_t tick_at(double time, double rate) noexcept {
    return static_cast<std::uint64_t>(std::max(std::ceil(time * rate - 1e-6), 0.0));
}

/// The first tick of a loop that does not begin before tick `other` of another.
[[nodiscard]] inline std::uint64_t tick_at(std::uint64_t other, double rate_other,
                                           double rate) noexcept {
    std::uint64_t tick = tick_at(static_cast<double>(other) / rate_other, rate);
    while (tick > 0 && !begins_before(tick - 1, rate, other, rate_other)) --tick;
    while (begins_before(tick, rate, other, rate_other)) ++tick;
    return tick;
}

}  // namespace pliant
