#pragma once

#include "benchmarks/bench.h"
#include "pliant/core/parallel.h"

namespace pliant::bench {

/// Threads of the loops while alive.
class ScopedThreads {
public:
    explicit ScopedThreads(int num_threads) : before_(pliant::num_threads()) {
        set_num_threads(num_threads);
    }
    ~ScopedThreads() { set_num_threads(before_); }
    ScopedThreads(const ScopedThreads&) = delete;
    ScopedThreads& operator=(const ScopedThreads&) = delete;

private:
    int before_;
};

// the parts of fem
[[nodiscard]] std::vector<Benchmark> element_benchmarks();
[[nodiscard]] std::vector<Benchmark> explicit_benchmarks();
[[nodiscard]] std::vector<Benchmark> implicit_benchmarks();
[[nodiscard]] std::vector<Benchmark> coupled_benchmarks();
[[nodiscard]] std::vector<Benchmark> solver_benchmarks();

}  // namespace pliant::bench
