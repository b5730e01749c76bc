#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of greens
[[nodiscard]] std::vector<Benchmark> greens_capacitance_benchmarks();
[[nodiscard]] std::vector<Benchmark> greens_boundary_benchmarks();
[[nodiscard]] std::vector<Benchmark> greens_touch_benchmarks();
[[nodiscard]] std::vector<Benchmark> greens_zones_benchmarks();

}  // namespace pliant::bench
