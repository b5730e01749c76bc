#include "pliant/core/triple_buffer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

TEST(TripleBuffer, ReaderStartsWithTheInitialValue) {
    TripleBuffer<std::vector<int>> buffer(std::vector<int>{1, 2, 3});
    EXPECT_FALSE(buffer.update());
    EXPECT_EQ(buffer.read_slot(), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(buffer.write_slot().size(), 3u);
}

TEST(TripleBuffer, NewestPublishedValueWins) {
    TripleBuffer<int> buffer;
    for (int i = 1; i <= 5; ++i) {
        buffer.write_slot() = i;
        buffer.publish();
    }
    EXPECT_EQ(buffer.read_slot(), 0) << "nothing changes before update";
    EXPECT_TRUE(buffer.update());
    EXPECT_EQ(buffer.read_slot(), 5);
    EXPECT_FALSE(buffer.update()) << "seen already";
    EXPECT_EQ(buffer.read_slot(), 5);
}

TEST(TripleBuffer, UnpublishedWritesStayInvisible) {
    TripleBuffer<int> buffer(7);
    buffer.write_slot() = 8;
    EXPECT_FALSE(buffer.update());
    EXPECT_EQ(buffer.read_slot(), 7);
    buffer.publish();
    buffer.write_slot() = 9;
    EXPECT_TRUE(buffer.update());
    EXPECT_EQ(buffer.read_slot(), 8);
}

TEST(TripleBuffer, HandsOverWithoutAllocating) {
    TripleBuffer<std::vector<int>> buffer(std::vector<int>(100));
    const AllocationGuard guard;
    bool is_new = true;
    for (int i = 0; i < 10; ++i) {
        buffer.write_slot().assign(100, i);
        buffer.publish();
        is_new = is_new && buffer.update();
    }
    const std::uint64_t allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(is_new);
    EXPECT_EQ(buffer.read_slot(), std::vector<int>(100, 9));
}

TEST(TripleBuffer, TwoThreadsSeeWholeValuesThatOnlyGetNewer) {
    using Value = std::array<std::uint64_t, 32>;
    constexpr std::uint64_t kLast = 200000;
    TripleBuffer<Value> buffer;
    std::thread writer([&] {
        for (std::uint64_t n = 1; n <= kLast; ++n) {
            buffer.write_slot().fill(n);
            buffer.publish();
        }
    });
    bool is_whole = true, is_newer = true;
    std::uint64_t last = 0;
    while (last != kLast) {
        if (!buffer.update()) {
            std::this_thread::yield();
            continue;
        }
        const Value& value = buffer.read_slot();
        for (const std::uint64_t part : value) is_whole &= part == value[0];
        is_newer &= value[0] > last;
        last = value[0];
    }
    writer.join();
    EXPECT_TRUE(is_whole);
    EXPECT_TRUE(is_newer);
}

}  // namespace
}  // namespace pliant
