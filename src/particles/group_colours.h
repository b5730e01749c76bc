#pragma once

#include <span>
#include <vector>

namespace pliant {

/// Sets in rounds: those of a round share no item. Greedy in the order given, so always the same.
struct ColouredSets {
    std::vector<int> order;    ///< sets, round after round
    std::vector<int> offsets;  ///< round c: order [offsets[c], offsets[c + 1])
    [[nodiscard]] int num_colours() const noexcept { return static_cast<int>(offsets.size()) - 1; }
};
/// Set s holds the items [offsets[s], offsets[s + 1]) of `items`, each in [0, num_items).
[[nodiscard]] ColouredSets colour_sets(std::span<const int> offsets, std::span<const int> items,
                                       int num_items);

}  // namespace pliant
