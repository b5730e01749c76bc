#pragma once

#include "contact/broad_phase.h"

#include <cstdint>

namespace pliant {

/// Order in which pairs are worked on so that those of one phase have no moving body in common and
/// may go side by side: greedy colours, docs/contact.md section "Order". Sized once.
class PairPhases {
public:
    PairPhases(int num_bodies, int max_pairs);
    /// `pairs` by index; is_moving of each body.
    void arrange(std::span<const BodyPair> pairs, std::span<const char> is_moving) noexcept;
    /// Pairs, phase after phase.
    [[nodiscard]] std::span<const int> order() const noexcept {
        return {order_.data(), static_cast<std::size_t>(num_pairs_)};
    }
    /// Phase i is [offsets()[i], offsets()[i + 1]) of order().
    [[nodiscard]] std::span<const int> offsets() const noexcept { return offsets_; }

private:
    static constexpr int kNumColours = 64;
    std::vector<std::uint64_t> taken_;  ///< colours of each body's pairs
    std::vector<int> colour_, order_, offsets_;
    int num_pairs_ = 0;
};

}  // namespace pliant
