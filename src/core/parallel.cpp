#include "pliant/core/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/sanitizers.h"

namespace pliant {
namespace {

std::mutex limit_mutex;
std::unique_ptr<tbb::global_control> limit;

/// Calls `task(k)` for each k in [0, count), in any order and on any thread.
template <class Task>
void run_tasks(std::size_t count, const Task& task) {
#if PLIANT_THREAD_SANITIZER
    // the sanitizer cannot see how TBB synchronises and would report every hand-over of a task
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t k = next++; k < count; k = next++) task(k);
    };
    std::vector<std::thread> helpers;
    for (int i = 1; i < num_threads(); ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
#else
    tbb::parallel_for(std::size_t{0}, count, task);
#endif
}

}  // namespace

void set_num_threads(int num_threads) {
    const std::lock_guard lock(limit_mutex);
    limit.reset();
    if (num_threads > 0)
        limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      static_cast<std::size_t>(num_threads));
}

int num_threads() {
    return static_cast<int>(
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

namespace detail {

void run_ranges(std::size_t count, std::size_t grain, RangeBody body, void* context) {
    // The lowest failing range always runs, because only ranges above a failed one are skipped: the
    // exception the caller sees does not depend on the schedule.
    std::atomic<std::size_t> failed_range{std::numeric_limits<std::size_t>::max()};
    std::exception_ptr error;
    std::mutex error_mutex;

    run_tasks(num_ranges(count, grain), [&](std::size_t k) {
        if (k > failed_range.load(std::memory_order_relaxed)) return;
        const std::size_t begin = k * grain;
        try {
            body(context, begin, begin + std::min(grain, count - begin));
        } catch (...) {
            const std::lock_guard lock(error_mutex);
            if (k < failed_range.load(std::memory_order_relaxed)) {
                failed_range.store(k, std::memory_order_relaxed);
                error = std::current_exception();
            }
        }
    });
    if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace pliant
