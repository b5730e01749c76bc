#pragma once

#include "benchmarks/bench.h"

namespace pliant::bench {

// the parts of haptics
[[nodiscard]] std::vector<Benchmark> haptics_coupling_benchmarks();
[[nodiscard]] std::vector<Benchmark> haptics_tool_benchmarks();
[[nodiscard]] std::vector<Benchmark> haptics_fem_benchmarks();
[[nodiscard]] std::vector<Benchmark> haptics_scene_benchmarks();
[[nodiscard]] std::vector<Benchmark> proxy_benchmarks();
[[nodiscard]] std::vector<Benchmark> sphere_tool_benchmarks();  ///< part of proxy

}  // namespace pliant::bench
