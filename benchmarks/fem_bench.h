#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

[[nodiscard]] std::vector<Benchmark> solver_benchmarks();  ///< part of fem

}  // namespace pliant::bench
