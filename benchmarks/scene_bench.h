#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

[[nodiscard]] std::vector<Benchmark> scene_benchmarks();

}  // namespace pliant::bench
