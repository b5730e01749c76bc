#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of contact
[[nodiscard]] std::vector<Benchmark> contact_shell_benchmarks();
[[nodiscard]] std::vector<Benchmark> contact_tree_benchmarks();
[[nodiscard]] std::vector<Benchmark> contact_loads_benchmarks();
[[nodiscard]] std::vector<Benchmark> contact_traversal_benchmarks();
[[nodiscard]] std::vector<Benchmark> contact_solver_benchmarks();

}  // namespace pliant::bench
