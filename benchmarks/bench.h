#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pliant::bench {

/// What a benchmark's set-up hands to the harness.
struct Workload {
    std::function<double()> run;  ///< one sample; returns a number that depends on the whole result
    double operations = 1;        ///< per sample; times are reported per operation
    /// Optional: the yardstick, measured in turns with `run`.
    std::function<double()> run_reference = {};
    double reference_operations = 1;
};

/// One line of `pliant bench`. Nothing is built until `setup` runs.
struct Benchmark {
    std::string module;  ///< "geometry"
    std::string name;    ///< "closest_point/near/70k"
    std::function<Workload()> setup;
    std::string reference = {};  ///< name of the yardstick
    double max_us = 0;           ///< target: median per operation at most this; 0: none
    double max_mean_us = 0;      ///< target: mean at most this; 0: none
    double max_p999_us = 0;      ///< target: 99.9 % of the samples at most this; 0: none
    double min_ratio = 0;        ///< target: reference over median at least this; 0: none
    int samples = 200;           ///< the first tenth (at least one) is warm-up
    bool wall_time = false;      ///< for work on several threads; otherwise CPU time of the thread
    bool is_long = false;        ///< takes minutes: only with --long
    /// For samples as short as a look at the clock: its median, taken in turns, is subtracted.
    bool without_clock = false;
    /// Samples repeat their inputs after so many: of each input the shortest sample counts, so that
    /// the tail is that of the inputs, not of the machine's interrupts; 0: every sample counts.
    int num_inputs = 0;
};

/// Times are thread CPU time per operation, or wall time where the benchmark says so.
struct Result {
    double median_us = 0, mean_us = 0, p99_us = 0, p999_us = 0, max_us = 0, reference_us = 0;
    std::uint64_t checksum = 0;  ///< of the numbers that all samples returned
};
[[nodiscard]] Result measure(const Benchmark& benchmark);
/// The targets in words, "<= 40 us, p99.9 <= 120 us"; empty: none.
[[nodiscard]] std::string target_text(const Benchmark& benchmark);
/// All targets are met.
[[nodiscard]] bool passes(const Benchmark& benchmark, const Result& result);

[[nodiscard]] std::vector<Benchmark> core_benchmarks();
[[nodiscard]] std::vector<Benchmark> geometry_benchmarks();
[[nodiscard]] std::vector<Benchmark> query_benchmarks();  ///< part of geometry

}  // namespace pliant::bench
