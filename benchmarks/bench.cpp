#include "benchmarks/bench.h"

#include <algorithm>
#include <chrono>

#include "pliant/core/hash.h"
#include "pliant/core/tick_histogram.h"

namespace pliant::bench {
namespace {

double wall_time_us() {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double percentile(std::vector<double> values, double fraction) {
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(fraction * static_cast<double>(values.size()));
    return values[std::min(rank, values.size() - 1)];
}

}  // namespace

Result measure(const Benchmark& benchmark) {
    const Workload workload = benchmark.setup();
    const auto clock = benchmark.wall_time ? wall_time_us : thread_cpu_time_us;
    const auto timed = [&](const std::function<double()>& run, double operations, double& value) {
        const double start = clock();
        value = run();
        return (clock() - start) / operations;
    };

    // in turns with the reference, so that both see the same noise of a shared machine
    const int warm_up = benchmark.samples > 1 ? std::max(1, benchmark.samples / 10) : 0;
    std::vector<double> times, reference_times, values;
    for (int sample = -warm_up; sample < benchmark.samples; ++sample) {
        double value = 0, unused = 0;
        const double time = timed(workload.run, workload.operations, value);
        const double reference_time =
            workload.run_reference
                ? timed(workload.run_reference, workload.reference_operations, unused)
                : 0;
        if (sample < 0) continue;
        times.push_back(time);
        values.push_back(value);
        reference_times.push_back(reference_time);
    }

    return {.median_us = percentile(times, 0.5),
            .p99_us = percentile(times, 0.99),
            .max_us = percentile(times, 1.0),
            .reference_us = percentile(reference_times, 0.5),
            .checksum = hash_bytes(values.data(), values.size() * sizeof(double))};
}

}  // namespace pliant::bench
