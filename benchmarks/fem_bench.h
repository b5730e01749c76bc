#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of fem
[[nodiscard]] std::vector<Benchmark> element_benchmarks();
[[nodiscard]] std::vector<Benchmark> explicit_benchmarks();
[[nodiscard]] std::vector<Benchmark> implicit_benchmarks();
[[nodiscard]] std::vector<Benchmark> coupled_benchmarks();
[[nodiscard]] std::vector<Benchmark> solver_benchmarks();

}  // namespace pliant::bench
