#include "pliant/core/ring_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

TEST(RingBuffer, CapacityIsRoundedUpToAPowerOfTwo) {
    EXPECT_EQ(RingBuffer<int>(0).capacity(), 1u);
    EXPECT_EQ(RingBuffer<int>(1).capacity(), 1u);
    EXPECT_EQ(RingBuffer<int>(5).capacity(), 8u);
    EXPECT_EQ(RingBuffer<int>(8).capacity(), 8u);
}

TEST(RingBuffer, FullRingDropsAndEmptyRingSaysSo) {
    RingBuffer<int> ring(4);
    int item = -1;
    EXPECT_FALSE(ring.pop(item));
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(i));
    EXPECT_FALSE(ring.push(99));
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(ring.pop(item));
        EXPECT_EQ(item, i);
    }
    EXPECT_FALSE(ring.pop(item));
}

TEST(RingBuffer, StaysInOrderAcrossManyTurns) {
    RingBuffer<int> ring(4);
    int next_in = 0, next_out = 0, item = 0;
    for (int turn = 0; turn < 100; ++turn) {
        for (int i = 0; i < 1 + turn % 4; ++i) next_in += ring.push(next_in) ? 1 : 0;
        while (ring.pop(item)) EXPECT_EQ(item, next_out++);
    }
    EXPECT_EQ(next_in, next_out);
}

TEST(RingBuffer, PassesItemsWithoutAllocating) {
    RingBuffer<int> ring(4);
    const AllocationGuard guard;
    int item = 0, passed = 0;
    for (int i = 0; i < 100; ++i) {
        if (ring.push(i)) ++passed;
        if (i % 2 == 0) ring.pop(item);
    }
    const std::uint64_t allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(passed, 4 + 50) << "full most of the time";
}

TEST(RingBuffer, TwoThreadsPassWholeItemsInOrder) {
    struct Item {
        std::uint64_t number, copies[7];
    };
    constexpr std::uint64_t kItems = 200000;
    RingBuffer<Item> ring(16);
    std::thread producer([&] {
        for (std::uint64_t n = 0; n < kItems;) {
            if (ring.push({n, {n, n, n, n, n, n, n}}))
                ++n;
            else
                std::this_thread::yield();
        }
    });
    bool is_whole = true, is_in_order = true;
    Item item{};
    for (std::uint64_t expected = 0; expected < kItems;) {
        if (!ring.pop(item)) {
            std::this_thread::yield();
            continue;
        }
        is_in_order &= item.number == expected++;
        for (const std::uint64_t copy : item.copies) is_whole &= copy == item.number;
    }
    producer.join();
    EXPECT_TRUE(is_whole);
    EXPECT_TRUE(is_in_order);
    EXPECT_FALSE(ring.pop(item));
}

}  // namespace
}  // namespace pliant
