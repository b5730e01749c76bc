#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of wavelets
[[nodiscard]] std::vector<Benchmark> wavelets_constraints_benchmarks();

}  // namespace pliant::bench
