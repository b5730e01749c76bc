#include "pliant/core/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>

#include <memory>
#include <mutex>

namespace pliant {
namespace {

std::mutex limit_mutex;
std::unique_ptr<tbb::global_control> limit;

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
    const std::size_t num_ranges = (count + grain - 1) / grain;
    tbb::parallel_for(std::size_t{0}, num_ranges, [=](std::size_t k) {
        body(context, k * grain, std::min(count, (k + 1) * grain));
    });
}

}  // namespace detail
}  // namespace pliant
