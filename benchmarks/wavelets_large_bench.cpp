#include <memory>
#include <string>
#include <vector>

#include "benchmarks/large_bodies.h"
#include "benchmarks/wavelets_bench.h"

namespace pliant::bench {
namespace {

constexpr int kRightSides = 96;

/// One right-hand side of a product with many.
Workload hierarchical_product(int rings, int levels) {
    const LargeBody body = closed_tube(rings, levels);
    const std::shared_ptr<const BoundaryOperator> matrix =
        make_hierarchical_operator(body.model, body.kinds);
    std::srand(1);
    const auto X = std::make_shared<Eigen::MatrixXd>(
        Eigen::MatrixXd::Random(matrix->num_unknowns(), kRightSides));
    const auto Y = std::make_shared<Eigen::MatrixXd>(*X);
    Workload load;
    load.run = [matrix, X, Y] {
        matrix->apply(*X, *Y);
        return Y->sum();
    };
    load.operations = kRightSides;
    return load;
}

/// From the surface to all columns of level 0.
Workload level_0(int rings, int levels) {
    const auto body = std::make_shared<const LargeBody>(closed_tube(rings, levels));
    Workload load;
    load.run = [body] { return solve_level_0(*body, {}).sum; };
    return load;
}

}  // namespace

std::vector<Benchmark> wavelets_large_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](const std::string& name, auto setup, int samples, double max_us,
                         bool is_long) {
        Benchmark benchmark;
        benchmark.module = "wavelets";
        benchmark.name = "large/" + name;
        benchmark.setup = setup;
        benchmark.samples = samples;
        benchmark.max_us = max_us;
        benchmark.wall_time = true;
        benchmark.is_long = is_long;
        all.push_back(benchmark);
    };
    // close to n log n: 12 times as much for the last as for the first
    add(
        "product/n=2560", [] { return hierarchical_product(8, 3); }, 10, 0, false);
    add(
        "product/n=5120", [] { return hierarchical_product(16, 3); }, 10, 0, true);
    add(
        "product/n=10240", [] { return hierarchical_product(8, 4); }, 5, 0, true);
    add(
        "product/n=20480", [] { return hierarchical_product(16, 4); }, 5, 0, true);
    // of 9,920 vertices in six minutes
    add(
        "level0/n=9920", [] { return level_0(31, 3); }, 1, 360e6, true);
    add(
        "level0/n=20480", [] { return level_0(16, 4); }, 1, 0, true);
    return all;
}

}  // namespace pliant::bench
