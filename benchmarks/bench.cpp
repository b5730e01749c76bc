#include "benchmarks/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "pliant/core/hash.h"
#include "pliant/core/tick_histogram.h"

namespace pliant::bench {
namespace {

double wall_time_us() {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double percentile(const std::vector<double>& sorted, double fraction) {
    const auto rank = static_cast<std::size_t>(fraction * static_cast<double>(sorted.size()));
    return sorted[std::min(rank, sorted.size() - 1)];
}

std::vector<double> shortest_of_each(const std::vector<double>& times, int num_inputs) {
    const auto count = std::min(times.size(), static_cast<std::size_t>(num_inputs));
    std::vector<double> shortest(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t k = count; k < times.size(); ++k)
        shortest[k % count] = std::min(shortest[k % count], times[k]);
    return shortest;
}

std::string limit_text(const char* form, double limit) {
    char text[64];
    std::snprintf(text, sizeof text, form, limit);
    return text;
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
    const std::function<double()> nothing = [] { return 0.0; };
    std::vector<double> times, reference_times, clock_times, values;
    for (int sample = -warm_up; sample < benchmark.samples; ++sample) {
        double value = 0, unused = 0;
        const double time = timed(workload.run, workload.operations, value);
        const double reference_time =
            workload.run_reference
                ? timed(workload.run_reference, workload.reference_operations, unused)
                : 0;
        const double clock_time = benchmark.without_clock ? timed(nothing, 1, unused) : 0;
        if (sample < 0) continue;
        times.push_back(time);
        values.push_back(value);
        reference_times.push_back(reference_time);
        clock_times.push_back(clock_time);
    }

    std::sort(clock_times.begin(), clock_times.end());
    const double clock_time = percentile(clock_times, 0.5) / workload.operations;
    for (double& time : times) time = std::max(0.0, time - clock_time);
    if (benchmark.num_inputs > 0) times = shortest_of_each(times, benchmark.num_inputs);
    const double sum = std::accumulate(times.begin(), times.end(), 0.0);
    std::sort(times.begin(), times.end());
    std::sort(reference_times.begin(), reference_times.end());
    return {.median_us = percentile(times, 0.5),
            .mean_us = sum / static_cast<double>(times.size()),
            .p99_us = percentile(times, 0.99),
            .p999_us = percentile(times, 0.999),
            .max_us = times.back(),
            .reference_us = percentile(reference_times, 0.5),
            .checksum = hash_bytes(values.data(), values.size() * sizeof(double))};
}

std::string target_text(const Benchmark& benchmark) {
    std::string text;
    const auto add = [&](const char* form, double limit) {
        if (limit > 0) text += (text.empty() ? "" : ", ") + limit_text(form, limit);
    };
    add("<= %g us", benchmark.max_us);
    add("mean <= %g us", benchmark.max_mean_us);
    add("p99.9 <= %g us", benchmark.max_p999_us);
    add(">= %gx", benchmark.min_ratio);
    return text;
}

bool passes(const Benchmark& benchmark, const Result& result) {
    const auto is_within = [](double value, double limit) { return limit <= 0 || value <= limit; };
    return is_within(result.median_us, benchmark.max_us) &&
           is_within(result.mean_us, benchmark.max_mean_us) &&
           is_within(result.p999_us, benchmark.max_p999_us) &&
           (benchmark.min_ratio <= 0 ||
            result.reference_us / result.median_us >= benchmark.min_ratio);
}

}  // namespace pliant::bench
