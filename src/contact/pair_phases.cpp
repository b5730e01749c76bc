#include "contact/pair_phases.h"

#include <algorithm>
#include <array>
#include <bit>

namespace pliant {

PairPhases::PairPhases(int num_bodies, int max_pairs)
    : taken_(static_cast<std::size_t>(num_bodies)),
      colour_(static_cast<std::size_t>(max_pairs)),
      order_(static_cast<std::size_t>(max_pairs)) {
    offsets_.reserve(static_cast<std::size_t>(max_pairs) + 1);
}

void PairPhases::arrange(std::span<const BodyPair> pairs,
                         std::span<const char> is_moving) noexcept {
    num_pairs_ = static_cast<int>(pairs.size());
    std::ranges::fill(taken_, 0);
    std::array<int, kNumColours + 1> counts = {};
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto a = static_cast<std::size_t>(pairs[i].shell),
                   b = static_cast<std::size_t>(pairs[i].field);
        const std::uint64_t used = (is_moving[a] ? taken_[a] : 0) | (is_moving[b] ? taken_[b] : 0);
        // those beyond the last colour go one by one
        const int colour = std::countr_one(used);
        if (colour < kNumColours) {
            taken_[a] |= std::uint64_t{1} << colour;
            taken_[b] |= std::uint64_t{1} << colour;
        }
        colour_[i] = colour;
        ++counts[static_cast<std::size_t>(colour)];
    }
    offsets_.clear();
    offsets_.push_back(0);
    std::array<int, kNumColours + 1> next = {};
    int sum = 0;
    for (std::size_t c = 0; c <= kNumColours; ++c) {
        next[c] = sum;
        sum += counts[c];
        if (c < kNumColours && counts[c] > 0) offsets_.push_back(sum);
    }
    for (int i = next[kNumColours]; i < num_pairs_; ++i) offsets_.push_back(i + 1);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        order_[static_cast<std::size_t>(next[static_cast<std::size_t>(colour_[i])]++)] =
            static_cast<int>(i);
}

}  // namespace pliant
