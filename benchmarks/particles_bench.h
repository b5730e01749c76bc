#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

[[nodiscard]] std::vector<Benchmark> particles_benchmarks();

}  // namespace pliant::bench
