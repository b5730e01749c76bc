#include "fem/element_blocks.h"

#include "fem/fem_samples.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <set>

namespace pliant {
namespace {

TEST(ElementBlocks, BlocksOfOneColourShareNoNode) {
    VolumeMesh shuffled = tet_box(6, 5, 4, test::unit_box());
    std::mt19937 generator(3);
    for (int e = shuffled.num_elements() - 1; e > 0; --e) {
        const int other = static_cast<int>(generator() % static_cast<unsigned>(e + 1));
        std::swap_ranges(shuffled.elements.begin() + 4 * e, shuffled.elements.begin() + 4 * e + 4,
                         shuffled.elements.begin() + 4 * other);
    }
    for (const VolumeMesh& mesh : {hex_box(9, 7, 5, test::unit_box()), shuffled, graded_box(10)}) {
        const ElementBlocks blocks = element_blocks(mesh, 16);
        auto sorted = blocks.elements;
        std::ranges::sort(sorted);
        for (int e = 0; e < mesh.num_elements(); ++e) ASSERT_EQ(sorted[e], e);
        EXPECT_EQ(blocks.num_blocks(), (mesh.num_elements() + 15) / 16);
        EXPECT_EQ(blocks.colour_offsets.back(), blocks.num_blocks());
        for (int colour = 0; colour < blocks.num_colours(); ++colour) {
            std::set<int> of_colour;
            for (int b = blocks.colour_offsets[colour]; b < blocks.colour_offsets[colour + 1];
                 ++b) {
                std::set<int> of_block;
                for (int i = blocks.block_offsets[b]; i < blocks.block_offsets[b + 1]; ++i)
                    for (const int node : mesh.element(blocks.elements[i])) of_block.insert(node);
                for (const int node : of_block) EXPECT_TRUE(of_colour.insert(node).second);
            }
        }
        // neighbouring elements share a block, whatever their numbers
        EXPECT_LT(blocks.num_colours(), 20);
    }
}

}  // namespace
}  // namespace pliant
