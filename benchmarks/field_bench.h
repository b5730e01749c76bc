#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of field
[[nodiscard]] std::vector<Benchmark> field_build_benchmarks();
[[nodiscard]] std::vector<Benchmark> field_grid_benchmarks();
[[nodiscard]] std::vector<Benchmark> field_deformed_benchmarks();

}  // namespace pliant::bench
