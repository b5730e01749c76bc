#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace pliant {

/// Threads used by the loops below; 0 restores the default (all cores). Results never depend on it.
void set_num_threads(int num_threads);
[[nodiscard]] int num_threads();

namespace detail {
using RangeBody = void (*)(void* context, std::size_t begin, std::size_t end);
void run_ranges(std::size_t count, std::size_t grain, RangeBody body, void* context);
void run_phases(std::span<const int> offsets, void (*body)(void* context, int i), void* context);
[[nodiscard]] constexpr std::size_t num_ranges(std::size_t count, std::size_t grain) noexcept {
    return count / grain + (count % grain != 0 ? 1 : 0);
}
}  // namespace detail

/// Calls `body(begin, end)` on disjoint ranges that cover [0, count). Range borders depend on
/// `count` and `grain` alone, never on the number of threads. An exception thrown by `body` reaches
/// the caller; if several ranges throw, it is the one of the lowest range.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t grain, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    detail::run_ranges(
        count, std::max<std::size_t>(grain, 1),
        [](void* context, std::size_t begin, std::size_t end) {
            (*static_cast<Plain*>(context))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
}

/// Calls `body(i)` for each i in [0, count), `grain` consecutive ones per task.
template <class Body>
void parallel_for(std::size_t count, std::size_t grain, Body&& body) {
    parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) body(i);
    });
}

/// Calls `body(i)` for each i in [offsets[p], offsets[p + 1]), all of a phase p at once, the phases
/// one after the other. Threads keep to the same share of every phase, so that what they touch
/// stays in their caches, and wait between phases without sleeping: for many short phases.
template <class Body>
void parallel_phases(std::span<const int> offsets, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    detail::run_phases(
        offsets, [](void* context, int i) { (*static_cast<Plain*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

/// Folds `partial(begin, end)` of all ranges with `combine(a, b)` in a fixed binary tree: the
/// result is bit-identical whatever the number of threads.
template <class Value, class Partial, class Combine>
[[nodiscard]] Value parallel_reduce(std::size_t count, std::size_t grain, Value identity,
                                    Partial&& partial, Combine&& combine) {
    static_assert(!std::is_same_v<Value, bool>, "std::vector<bool> shares words between ranges");
    grain = std::max<std::size_t>(grain, 1);
    std::vector<Value> parts(detail::num_ranges(count, grain), identity);
    parallel_ranges(count, grain, [&](std::size_t begin, std::size_t end) {
        parts[begin / grain] = partial(begin, end);
    });
    // pairwise, so that rounding grows with the logarithm of the number of parts
    for (std::size_t stride = 1; stride < parts.size(); stride *= 2)
        for (std::size_t i = 0; i + stride < parts.size(); i += 2 * stride)
            parts[i] = combine(std::move(parts[i]), std::move(parts[i + stride]));
    return parts.empty() ? identity : std::move(parts.front());
}

}  // namespace pliant
