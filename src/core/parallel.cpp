#include "pliant/core/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/phases.h"
#include "core/sanitizers.h"

namespace pliant {
namespace {

std::mutex limit_mutex;
std::unique_ptr<tbb::global_control> limit;

int allowed_threads() {
    return static_cast<int>(
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}
/// Kept here because TBB takes a lock to tell it, and steps ask.
std::atomic<int> thread_count{allowed_threads()};

/// Calls `work(part)` for each part of [0, count), on as many threads as there are.
template <class Work>
void run_parts(int count, const Work& work) {
#if PLIANT_THREAD_SANITIZER
    // the sanitizer cannot see how TBB synchronises and would report every hand-over of a task
    std::vector<std::thread> helpers;
    for (int part = 1; part < count; ++part) helpers.emplace_back([&, part] { work(part); });
    work(0);
    for (std::thread& helper : helpers) helper.join();
#else
    // isolated: a thread that waits here inside an item of an outer loop must not enter that loop
    // a second time, where it could wait for the very item it has left open
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(0, count, work, tbb::simple_partitioner()); });
#endif
}

/// The exception of the lowest item that threw.
class FirstError {
public:
    /// Runs `task` unless an item below has failed: the lowest failing item always runs, so that
    /// the exception does not depend on the schedule.
    template <class Task>
    void run(std::size_t item, const Task& task) noexcept {
        if (item > failed_.load(std::memory_order_relaxed)) return;
        try {
            task();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (item >= failed_.load(std::memory_order_relaxed)) return;
            failed_.store(item, std::memory_order_relaxed);
            error_ = std::current_exception();
        }
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::atomic<std::size_t> failed_{std::numeric_limits<std::size_t>::max()};
    std::mutex mutex_;
    std::exception_ptr error_;
};

/// Calls `task(item)` for all items, phase after phase.
template <class Index, class Task>
void run_items(std::span<const Index> offsets, const Task& task) {
    Index largest = 0;
    for (std::size_t p = 1; p < offsets.size(); ++p)
        largest = std::max(largest, offsets[p] - offsets[p - 1]);
    const auto num_parts = std::min<std::size_t>(static_cast<std::size_t>(largest),
                                                 static_cast<std::size_t>(num_threads()));
    FirstError error;
    Phases<Index> phases(offsets, static_cast<int>(num_parts));
    const auto work = [&](int part) {
        phases.work(part, [&](Index item) {
            error.run(static_cast<std::size_t>(item), [&] { task(item); });
        });
    };
    // without the scheduler, which may allocate, where it is of no use
    if (phases.num_parts() == 1)
        work(0);
    else
        run_parts(phases.num_parts(), work);
    error.rethrow();
}

}  // namespace

void set_num_threads(int num_threads) {
    const std::lock_guard lock(limit_mutex);
    limit.reset();
    if (num_threads > 0)
        limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      static_cast<std::size_t>(num_threads));
    thread_count.store(allowed_threads(), std::memory_order_relaxed);
}

int num_threads() { return thread_count.load(std::memory_order_relaxed); }

namespace detail {

void run_ranges(std::size_t count, std::size_t grain, RangeBody body, void* context) {
    const std::array offsets{std::size_t{0}, num_ranges(count, grain)};
    run_items(std::span<const std::size_t>(offsets), [&](std::size_t k) {
        const std::size_t begin = k * grain;
        body(context, begin, begin + std::min(grain, count - begin));
    });
}

void run_phases(std::span<const int> offsets, void (*body)(void* context, int i), void* context) {
    if (!offsets.empty()) run_items(offsets, [&](int i) { body(context, i); });
}

}  // namespace detail
}  // namespace pliant
