#include "pliant/scene/record_queue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <thread>

#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::uint64_t seed, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed * 31 + i * 7);
    return bytes;
}

struct Record {
    RecordKind kind = RecordKind::Sample;
    std::uint64_t tick = 0;
    Bytes bytes;
    bool operator==(const Record&) const = default;
};

bool pop(RecordQueue& queue, Record& record) {
    return queue.pop(record.kind, record.tick, record.bytes);
}

TEST(RecordQueue, JoinsBothPartsAndKeepsKindAndTick) {
    RecordQueue queue(1 << 10);
    const Bytes a = pattern(1, 5), b = pattern(2, 40);
    EXPECT_TRUE(queue.push(RecordKind::State, 1234567890123u, a, b));
    EXPECT_TRUE(queue.push(RecordKind::Command, 7, b));
    EXPECT_TRUE(queue.push(RecordKind::Sample, 8, {}));
    Bytes joined = a;
    joined.insert(joined.end(), b.begin(), b.end());
    Record record;
    ASSERT_TRUE(pop(queue, record));
    EXPECT_EQ(record, (Record{RecordKind::State, 1234567890123u, joined}));
    ASSERT_TRUE(pop(queue, record));
    EXPECT_EQ(record, (Record{RecordKind::Command, 7, b}));
    ASSERT_TRUE(pop(queue, record));
    EXPECT_EQ(record, (Record{RecordKind::Sample, 8, {}}));
    EXPECT_FALSE(pop(queue, record));
    EXPECT_EQ(queue.lost(), 0u);
}

TEST(RecordQueue, BehavesLikeAListOfRecordsAcrossManyTurns) {
    constexpr std::size_t kCapacity = 512, kHead = 16;
    RecordQueue queue(kCapacity);
    std::deque<Record> list;
    std::size_t used = 0;
    std::uint64_t lost = 0;
    std::mt19937 random(5);
    for (std::uint64_t turn = 0; turn < 20000; ++turn) {
        if (random() % 2 == 0) {
            const Record record{static_cast<RecordKind>(1 + random() % 3), turn,
                                pattern(turn, random() % 200)};
            const std::size_t half = record.bytes.size() / 3;
            const bool fits = used + kHead + record.bytes.size() <= kCapacity;
            const std::span<const std::byte> all(record.bytes);
            ASSERT_EQ(queue.push(record.kind, turn, all.first(half), all.subspan(half)), fits);
            lost += fits ? 0 : 1;
            if (fits) list.push_back(record);
            if (fits) used += kHead + record.bytes.size();
        } else {
            Record record;
            ASSERT_EQ(pop(queue, record), !list.empty());
            if (list.empty()) continue;
            ASSERT_EQ(record, list.front());
            used -= kHead + record.bytes.size();
            list.pop_front();
        }
    }
    EXPECT_GT(lost, 100u);
    EXPECT_EQ(queue.lost(), lost);
}

TEST(RecordQueue, RecordLargerThanTheQueueIsLostAndTheQueueGoesOn) {
    RecordQueue queue(128);
    EXPECT_FALSE(queue.push(RecordKind::State, 1, pattern(1, 113)));
    EXPECT_FALSE(queue.push(RecordKind::State, 1, pattern(1, 64), pattern(2, 64)));
    EXPECT_EQ(queue.lost(), 2u);
    EXPECT_TRUE(queue.push(RecordKind::State, 2, pattern(3, 112))) << "just fits";
    Record record;
    ASSERT_TRUE(pop(queue, record));
    EXPECT_EQ(record.bytes, pattern(3, 112));
}

TEST(RecordQueue, PushAllocatesNothing) {
    RecordQueue queue(1 << 12);
    const Bytes bytes = pattern(1, 100);
    AllocationGuard guard;
    bool all = true;
    for (std::uint64_t tick = 0; tick < 30; ++tick)
        all &= queue.push(RecordKind::Sample, tick, bytes);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(all);
}

TEST(RecordQueue, TwoThreadsPassWholeRecordsInOrder) {
    constexpr std::uint64_t kRecords = 10000;
    RecordQueue queue(1 << 10);
    std::thread producer([&] {
        for (std::uint64_t n = 0; n < kRecords;) {
            const Bytes bytes = pattern(n, n % 150);
            const std::span<const std::byte> all(bytes);
            if (queue.push(static_cast<RecordKind>(1 + n % 3), n, all.first(all.size() / 2),
                           all.subspan(all.size() / 2)))
                ++n;
            else
                std::this_thread::yield();
        }
    });
    bool is_right = true;
    Record record;
    for (std::uint64_t n = 0; n < kRecords;) {
        if (!pop(queue, record)) {
            std::this_thread::yield();
            continue;
        }
        is_right &= record == Record{static_cast<RecordKind>(1 + n % 3), n, pattern(n, n % 150)};
        ++n;
    }
    producer.join();
    EXPECT_TRUE(is_right);
    EXPECT_FALSE(pop(queue, record));
}

}  // namespace
}  // namespace pliant
