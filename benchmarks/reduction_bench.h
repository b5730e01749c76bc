#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of reduction
[[nodiscard]] std::vector<Benchmark> reduced_force_benchmarks();

}  // namespace pliant::bench
