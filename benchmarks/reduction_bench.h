#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of reduction
[[nodiscard]] std::vector<Benchmark> reduced_force_benchmarks();
[[nodiscard]] std::vector<Benchmark> reduced_step_benchmarks();
[[nodiscard]] std::vector<Benchmark> reduced_build_benchmarks();
[[nodiscard]] std::vector<Benchmark> reduced_surface_benchmarks();
[[nodiscard]] std::vector<Benchmark> reduced_body_benchmarks();

}  // namespace pliant::bench
