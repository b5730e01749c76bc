#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>

#include <Eigen/Core>
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

namespace pliant {
namespace {

class AllocationGuardTest : public testing::Test {
protected:
    void SetUp() override {
        if (!AllocationGuard::is_active()) GTEST_SKIP() << "a sanitizer owns malloc";
    }
};

/// Keeps the compiler from dropping an allocation that nobody uses.
void* volatile sink;

template <class Action>
std::uint64_t count_of(Action&& action) {
    const AllocationGuard guard;
    action();
    return guard.count();
}

template <class Allocate>
std::uint64_t count_of_one(Allocate&& allocate) {
    const std::uint64_t count = count_of([&] { sink = allocate(); });
    EXPECT_NE(sink, nullptr);
    free(sink);
    return count;
}

TEST_F(AllocationGuardTest, CountsEachFunctionOfTheMallocFamily) {
    EXPECT_EQ(count_of_one([] { return malloc(100); }), 1u);
    EXPECT_EQ(count_of_one([] { return calloc(10, 10); }), 1u);
    EXPECT_EQ(count_of_one([] { return realloc(nullptr, 100); }), 1u);
    EXPECT_EQ(count_of_one([] { return reallocarray(nullptr, 10, 10); }), 1u);
    EXPECT_EQ(count_of_one([] { return aligned_alloc(64, 128); }), 1u);
    EXPECT_EQ(count_of_one([] { return memalign(64, 128); }), 1u);
    EXPECT_EQ(count_of_one([] { return valloc(100); }), 1u);
    EXPECT_EQ(count_of_one([] { return pvalloc(100); }), 1u);
    EXPECT_EQ(count_of_one([] {
                  void* block = nullptr;
                  return posix_memalign(&block, 64, 128) == 0 ? block : nullptr;
              }),
              1u);
}

TEST_F(AllocationGuardTest, ReplacementsBehaveLikeTheOriginals) {
    void* block = nullptr;
    EXPECT_EQ(posix_memalign(&block, 3, 100), EINVAL);
    EXPECT_EQ(posix_memalign(&block, 256, 100), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 256, 0u);
    free(block);
    const volatile std::size_t huge = ~std::size_t{0} / 2;
    errno = 0;
    EXPECT_EQ(reallocarray(nullptr, huge, 4), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    auto* zeros = static_cast<char*>(calloc(100, 1));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(zeros[i], 0);
    zeros[99] = 7;
    auto* grown = static_cast<char*>(realloc(zeros, 100000));
    EXPECT_EQ(grown[99], 7);
    free(grown);
}

TEST_F(AllocationGuardTest, CountsNewContainersAndEigen) {
    EXPECT_EQ(count_of([] {
                  int* number = new int(7);
                  sink = number;
                  delete number;
              }),
              1u);
    EXPECT_EQ(count_of([] {
                  const std::vector<double> values(100);
                  sink = const_cast<double*>(values.data());
              }),
              1u);
    EXPECT_EQ(count_of([] {
                  Eigen::VectorXd values(100);
                  sink = values.data();
              }),
              1u);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Ones(50, 50);
    Eigen::VectorXd vector = Eigen::VectorXd::Ones(50);
    EXPECT_GE(count_of([&] { vector = matrix * vector; }), 1u) << "the product needs a temporary";
}

TEST_F(AllocationGuardTest, CountsNothingWhenNothingIsAllocated) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Ones(50, 50);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(50), y(50);
    std::vector<int> numbers;
    numbers.reserve(100);
    void* block = malloc(10);
    EXPECT_EQ(count_of([&] {
                  y.noalias() = matrix * x;
                  for (int i = 0; i < 100; ++i) numbers.push_back(i);
                  free(block);
              }),
              0u);
    EXPECT_EQ(y[49], 50.0);
}

TEST_F(AllocationGuardTest, GuardsMayBeNested) {
    const AllocationGuard outer;
    sink = malloc(1);
    free(sink);
    const AllocationGuard inner;
    sink = malloc(1);
    free(sink);
    const std::uint64_t inner_count = inner.count(), outer_count = outer.count();
    EXPECT_EQ(inner_count, 1u);
    EXPECT_EQ(outer_count, 2u);
}

TEST_F(AllocationGuardTest, CallsOfOtherThreadsAreNotCounted) {
    std::atomic<int> turn{0};
    std::thread other([&] {
        while (turn != 1) std::this_thread::yield();
        for (int i = 0; i < 100; ++i) {
            sink = malloc(10);
            free(sink);
        }
        turn = 2;
    });
    const AllocationGuard guard;
    turn = 1;
    while (turn != 2) std::this_thread::yield();
    const std::uint64_t count = guard.count();
    other.join();
    EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace pliant
