#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace pliant {

/// Which nodes of a tree may be left out because nothing can have come near them, docs/contact.md
/// eq. (8): an odometer adds up how far any point of the shell may have moved relative to the
/// field, and a node rests until it shows what the node was found to have room for. Rounding is
/// always towards visiting. Lengths are counted in whole units, so that nothing depends on what the
/// reading is: after forget() it is as good as new, bit for bit, and so after hours of motion.
class TravelOdometer {
public:
    /// Gaps beyond `longest_rest` [m] count as that.
    TravelOdometer(int num_nodes, double longest_rest)
        : wake_(static_cast<std::size_t>(num_nodes), 0),
          longest_rest_(longest_rest),
          unit_(longest_rest > 0 ? std::ldexp(1.0, std::ilogb(longest_rest) - kBits) : 1) {}

    void advance(double travel) noexcept {
        if (travel <= 0) return;
        // beyond the last mark every node is awake, also after NaN
        const double units = std::ceil(travel / unit_);
        reading_ = units < static_cast<double>(last_mark_ - reading_)
                       ? reading_ + static_cast<std::int64_t>(units)
                       : last_mark_;
    }
    [[nodiscard]] bool is_resting(int node) const noexcept { return left(node) > 0; }
    /// No point below a resting node is nearer to the field than this [m].
    [[nodiscard]] double remaining(int node) const noexcept {
        return static_cast<double>(left(node)) * unit_;
    }
    [[nodiscard]] double longest_rest() const noexcept { return longest_rest_; }
    void prefetch(int node) const noexcept {
        __builtin_prefetch(wake_.data() + static_cast<std::size_t>(node), 1);
    }
    /// Keeps the nodes that are awake, with their values unless those are null, in their order, and
    /// returns their number; the others go to `resting`, and `least` becomes what is left to them
    /// if that is less. No branch depends on a node: marks look random.
    int sift(int* nodes, float* values, int count, int* resting, double& least) const noexcept {
        return values ? sift<true>(nodes, values, count, resting, least)
                      : sift<false>(nodes, values, count, resting, least);
    }
    /// The nodes just visited rest for their gaps; those without stay awake.
    void set(const int* nodes, const float* gaps, int count) noexcept {
        // gaps are in single precision
        constexpr double kRoundedDown = 1 - 1.0 / (1 << 18);
        const double per_metre = 1 / unit_;
        for (int i = 0; i < count; ++i) {
            const double gap = gaps[i] > 0 ? double{gaps[i]} * kRoundedDown : 0.0;
            wake_[static_cast<std::size_t>(nodes[i])] =
                reading_ + static_cast<std::int64_t>(std::min(gap, longest_rest_) * per_metre);
        }
        last_mark_ = reading_ + static_cast<std::int64_t>(longest_rest_ * per_metre);
    }
    /// Wakes all nodes, in no time.
    void forget() noexcept { reading_ = last_mark_; }

private:
    static constexpr int kBits = 32;  ///< of the longest rest: 2³⁰ of them fit into the reading

    /// Of its rest, in units.
    [[nodiscard]] std::int64_t left(int node) const noexcept {
        return wake_[static_cast<std::size_t>(node)] - reading_;
    }
    template <bool kHasValues>
    int sift(int* nodes, float* values, int count, int* resting, double& least) const noexcept {
        constexpr auto kNone = std::numeric_limits<std::int64_t>::max();
        int num_awake = 0;
        std::int64_t shortest = kNone;
        for (int i = 0; i < count; ++i) {
            const int node = nodes[i];
            const std::int64_t rest = left(node);
            const bool is_awake = rest <= 0;
            resting[i - num_awake] = node;
            nodes[num_awake] = node;
            if constexpr (kHasValues) values[num_awake] = values[i];
            num_awake += is_awake;
            shortest = std::min(shortest, is_awake ? kNone : rest);
        }
        if (shortest != kNone) least = std::min(least, static_cast<double>(shortest) * unit_);
        return num_awake;
    }

    std::vector<std::int64_t> wake_;
    double longest_rest_, unit_;  ///< [m]
    std::int64_t reading_ = 0;
    std::int64_t last_mark_ = 0;  ///< ≥ every mark and the reading
};

}  // namespace pliant
