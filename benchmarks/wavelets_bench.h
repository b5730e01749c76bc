#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of wavelets
[[nodiscard]] std::vector<Benchmark> wavelets_constraints_benchmarks();
[[nodiscard]] std::vector<Benchmark> wavelets_transform_benchmarks();
[[nodiscard]] std::vector<Benchmark> wavelets_large_benchmarks();

}  // namespace pliant::bench
