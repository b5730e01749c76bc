#include "particles/group_colours.h"

#include "core/numbers.h"

#include <gmock/gmock.h>
#include <random>
#include <set>

namespace pliant {
namespace {

TEST(GroupColours, SetsOfARoundShareNothingAndNoneIsLost) {
    std::mt19937 random(3);
    std::uniform_int_distribution<int> item(0, 199), size(1, 9);
    std::vector<int> offsets{0}, items;
    for (int s = 0; s < 300; ++s) {
        std::set<int> set;
        for (int k = size(random); k > 0; --k) set.insert(item(random));
        items.insert(items.end(), set.begin(), set.end());
        offsets.push_back(static_cast<int>(items.size()));
    }
    const ColouredSets sets = colour_sets(offsets, items, 200);
    std::vector<int> seen = sets.order;
    std::ranges::sort(seen);
    for (int s = 0; s < 300; ++s) EXPECT_EQ(seen[at(s)], s);
    for (int c = 0; c < sets.num_colours(); ++c) {
        std::set<int> used;
        EXPECT_LT(sets.offsets[at(c)], sets.offsets[at(c) + 1]);
        for (int k = sets.offsets[at(c)]; k < sets.offsets[at(c) + 1]; ++k) {
            const int s = sets.order[at(k)];
            for (int m = offsets[at(s)]; m < offsets[at(s) + 1]; ++m)
                EXPECT_TRUE(used.insert(items[at(m)]).second);
        }
    }
}

}  // namespace
}  // namespace pliant
