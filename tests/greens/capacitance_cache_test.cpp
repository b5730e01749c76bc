#include "pliant/greens/capacitance_cache.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "tests/greens/synthetic_greens.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::some_nodes;
using test::whole_nodes;

constexpr int kCacheNodes = 50;

struct CacheExample {
    test::SyntheticGreens greens = test::random_greens(kCacheNodes, 1);
    CapacitanceInverse inverse{greens.functions, 120};
    UpdateCosts costs;

    void insert(CapacitanceCache& cache, const std::vector<int>& nodes) {
        EXPECT_EQ(inverse.reset(whole_nodes(nodes)), InverseStatus::Ok);
        cache.insert(inverse);
    }
    bool has(CapacitanceCache& cache, const std::vector<int>& nodes) {
        const auto match = cache.nearest(whole_nodes(nodes), costs);
        return match.entry >= 0 && match.added == 0 && match.removed == 0;
    }
};

std::vector<int> range_of_nodes(int first, int count) {
    std::vector<int> nodes;
    for (int k = 0; k < count; ++k) nodes.push_back(first + k);
    return nodes;
}

TEST(CapacitanceCache, GivesBackWhatWasInserted) {
    CacheExample example;
    CapacitanceCache cache(kCacheNodes, 120);
    EXPECT_EQ(cache.nearest(whole_nodes({1}), example.costs).entry, -1);
    // sizes that end inside a page, and across pages; slots that are not in order
    for (const int count : {1, 5, 16, 33, 40}) {
        example.insert(cache, some_nodes(kCacheNodes, 0, count, 3));
        CapacitanceInverse found(example.greens.functions, 120);
        // what was there before must not shine through
        ASSERT_EQ(found.reset(whole_nodes(range_of_nodes(0, 40))), InverseStatus::Ok);
        auto nodes = some_nodes(kCacheNodes, 0, count, 3);
        std::sort(nodes.begin(), nodes.end());
        const auto match = cache.nearest(whole_nodes(nodes), example.costs);
        ASSERT_EQ(match.added + match.removed, 0);
        EXPECT_EQ(match.seconds, 0);
        cache.fetch(match.entry, found);
        ASSERT_EQ(found.size(), 3 * count);
        for (int a = 0; a < found.size(); ++a) {
            EXPECT_EQ(found.dof(a), example.inverse.dof(a));
            for (int b = 0; b < found.size(); ++b) {
                ASSERT_EQ(found.inverse_element(a, b), example.inverse.inverse_element(a, b));
                ASSERT_EQ(found.matrix_element(a, b), example.inverse.matrix_element(a, b));
            }
        }
        EXPECT_EQ(found.condition(), example.inverse.condition());
        // and it can go on from there
        ASSERT_EQ(found.remove(whole_nodes({nodes[0]})), InverseStatus::Ok);
        ASSERT_EQ(found.add(whole_nodes({nodes[0]})), InverseStatus::Ok);
        EXPECT_LT(found.probe(1), 1e-5);
    }
    EXPECT_EQ(cache.num_entries(), 5);
}

TEST(CapacitanceCache, FindsTheCheapestStart) {
    CacheExample example;
    CapacitanceCache cache(kCacheNodes, 120);
    example.insert(cache, range_of_nodes(0, 20));
    example.insert(cache, range_of_nodes(4, 20));
    example.insert(cache, range_of_nodes(30, 10));
    const auto match = cache.nearest(whole_nodes(range_of_nodes(5, 20)), example.costs);
    EXPECT_EQ(match.added, 3);
    EXPECT_EQ(match.removed, 3);
    EXPECT_EQ(match.seconds, example.costs.update(20, 1, 1));
    // deletions are cheaper than additions: 18 nodes come from 20 rather than from 10
    const auto fewer = cache.nearest(whole_nodes(range_of_nodes(0, 18)), example.costs);
    EXPECT_EQ(fewer.added, 0);
    EXPECT_EQ(fewer.removed, 6);
}

TEST(CapacitanceCache, TellsDirectionsApart) {
    CacheExample example;
    CapacitanceCache cache(kCacheNodes, 120);
    // more directions of one node than bits: differences are still exact
    for (int k = 0; k < 8; ++k) {
        const ChangedDof dof{7, Vector3d(std::cos(k), std::sin(k), 0)};
        ASSERT_EQ(example.inverse.reset(std::array{dof}), InverseStatus::Ok);
        cache.insert(example.inverse);
    }
    EXPECT_EQ(cache.num_entries(), 8);
    for (int k = 0; k < 10; ++k) {
        const auto match = cache.nearest(
            std::array{ChangedDof{7, Vector3d(std::cos(k), std::sin(k), 0)}}, example.costs);
        EXPECT_EQ(match.added, k < 8 ? 0 : 1);
        EXPECT_EQ(match.removed, k < 8 ? 0 : 1);
    }
}

TEST(CapacitanceCache, EvictsAtRandomButNotTheNursery) {
    CacheExample example;
    const CapacitanceCacheOptions options{.max_bytes = 600000, .nursery = 4, .seed = 7};
    CapacitanceCache cache(kCacheNodes, 120, options), again(kCacheNodes, 120, options);
    for (int k = 0; k < 30; ++k) {
        example.insert(cache, range_of_nodes(k, 12));
        example.insert(again, range_of_nodes(k, 12));
        EXPECT_LE(cache.num_bytes(), options.max_bytes);
        // the four that were recent when it came in, and itself
        for (int recent = std::max(0, k - 4); recent <= k; ++recent)
            EXPECT_TRUE(example.has(cache, range_of_nodes(recent, 12))) << k;
    }
    EXPECT_GT(cache.num_evictions(), 5);
    EXPECT_EQ(cache.num_entries() + cache.num_evictions(), 30);
    // the same in every run, and not simply the oldest
    int num_older_kept = 0;
    for (int k = 0; k < 30; ++k) {
        const bool is_there = example.has(cache, range_of_nodes(k, 12));
        EXPECT_EQ(is_there, example.has(again, range_of_nodes(k, 12)));
        num_older_kept += is_there && k < 15;
    }
    EXPECT_GT(num_older_kept, 0);
}

TEST(CapacitanceCache, UseMakesEntriesRecent) {
    CacheExample example;
    CapacitanceCache cache(kCacheNodes, 120, {.max_bytes = 600000, .nursery = 2, .seed = 3});
    example.insert(cache, range_of_nodes(0, 12));
    CapacitanceInverse found(example.greens.functions, 120);
    for (int k = 1; k < 30; ++k) {
        example.insert(cache, range_of_nodes(k, 12));
        const auto match = cache.nearest(whole_nodes(range_of_nodes(0, 12)), example.costs);
        ASSERT_EQ(match.added + match.removed, 0) << k;
        cache.fetch(match.entry, found);
    }
    // inserting again makes no second entry
    const int before = cache.num_entries();
    cache.insert(found);
    EXPECT_EQ(cache.num_entries(), before);
}

TEST(CapacitanceCache, NurseryGivesWayWhenItAloneIsTooLarge) {
    CacheExample example;
    CapacitanceCache cache(kCacheNodes, 120, {.max_bytes = 600000, .nursery = 8, .seed = 3});
    for (int k = 0; k < 8; ++k) example.insert(cache, range_of_nodes(k, 40));
    EXPECT_GE(cache.num_entries(), 1);
    EXPECT_LT(cache.num_entries(), 8);
    EXPECT_TRUE(example.has(cache, range_of_nodes(7, 40)));
}

TEST(CapacitanceCache, IsAsNewWhenCleared) {
    CacheExample example;
    const CapacitanceCacheOptions options{.max_bytes = 600'000, .nursery = 2};
    CapacitanceCache used(kCacheNodes, 120, options), fresh(kCacheNodes, 120, options);
    for (int k = 0; k < 30; ++k) example.insert(used, range_of_nodes(k % 11, 30 + k % 7));
    ASSERT_GT(used.num_evictions(), 0);
    used.clear();
    EXPECT_EQ(used.num_entries(), 0);
    EXPECT_EQ(used.num_bytes(), 0u);
    EXPECT_FALSE(example.has(used, range_of_nodes(0, 30)));
    // the same entries are thrown out from here on
    for (int k = 0; k < 40; ++k)
        for (CapacitanceCache* cache : {&used, &fresh})
            example.insert(*cache, range_of_nodes(k % 13, 25 + k % 5));
    ASSERT_GT(fresh.num_evictions(), 0);
    EXPECT_EQ(used.num_evictions(), fresh.num_evictions());
    for (int first = 0; first < 13; ++first)
        for (int count = 25; count < 30; ++count)
            EXPECT_EQ(example.has(used, range_of_nodes(first, count)),
                      example.has(fresh, range_of_nodes(first, count)));
}

TEST(CapacitanceCache, BadOptionsAreNamed) {
    EXPECT_EQ(test::input_error([] { CapacitanceCache(10, 30, {.nursery = 0}); }),
              "cache.nursery = 0 (expected value >= 1)");
    EXPECT_THAT(test::input_error([] { CapacitanceCache(10, 30, {.max_bytes = 1000}); }),
                testing::StartsWith("cache.max_bytes = 1000 (expected room for one inverse, "));
}

TEST(CapacitanceCache, AllocatesNothingAfterConstruction) {
    CacheExample example;
    CapacitanceCache cache(kCacheNodes, 120, {.max_bytes = 600000, .nursery = 2, .seed = 3});
    std::vector<std::vector<ChangedDof>> sets;
    for (int k = 0; k < 20; ++k) sets.push_back(whole_nodes(range_of_nodes(k, 14)));
    int hits = 0;
    AllocationGuard guard;
    for (const auto& set : sets) {
        if (example.inverse.reset(set) == InverseStatus::Ok) cache.insert(example.inverse);
        const auto match = cache.nearest(set, example.costs);
        hits += match.added + match.removed == 0;
        cache.fetch(match.entry, example.inverse);
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(hits, 20);
}

}  // namespace
}  // namespace pliant
