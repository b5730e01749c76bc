#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/greens_bench.h"
#include "pliant/core/simd.h"
#include "pliant/greens/capacitance_solver.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

std::size_t place_of(int index) { return static_cast<std::size_t>(index); }

/// Compliance of a full space between points of a sphere, smoothed over their spacing; columns for
/// the first `num_columns` nodes, which lie all over the sphere.
std::shared_ptr<const DenseGreensFunctions> sphere_functions(int num_nodes, int num_columns) {
    DenseGreensLayout layout;
    layout.num_nodes = num_nodes;
    for (int node = 0; node < num_columns; ++node) layout.columns.push_back(node);
    auto functions = std::make_shared<DenseGreensFunctions>(layout);
    std::vector<Vector3d> points;
    for (int i = 0; i < num_nodes; ++i) {
        // a golden spiral, visited in strides
        const int k = static_cast<int>(i * std::size_t{1009} % place_of(num_nodes));
        const double z = 1 - (2 * k + 1.0) / num_nodes, ring = std::sqrt(1 - z * z);
        points.emplace_back(ring * std::cos(2.399963229728653 * k),
                            ring * std::sin(2.399963229728653 * k), z);
    }
    const double area = 4 * std::numbers::pi / num_nodes;
    Eigen::MatrixXd column(3 * num_nodes, 3);
    for (int j = 0; j < num_columns; ++j) {
        for (int i = 0; i < num_nodes; ++i) {
            const Vector3d r = points[place_of(i)] - points[place_of(j)];
            const double distance = std::sqrt(r.squaredNorm() + 0.1 * area);
            column.middleRows<3>(3 * i) =
                area / (35 * distance) *
                (1.8 * Eigen::Matrix3d::Identity() + r * r.transpose() / (distance * distance));
        }
        functions->set_column(j, column);
    }
    return functions;
}

std::vector<ChangedDof> nodes_as_dofs(int first, int end) {
    std::vector<ChangedDof> dofs;
    for (int node = first; node < end; ++node)
        for (int k = 0; k < 3; ++k) dofs.push_back({node, Vector3d::Unit(k)});
    return dofs;
}

/// An inverse of `size` nodes, and another one to work on.
struct InversePair {
    explicit InversePair(int size)
        : functions(sphere_functions(642, size + 40)),
          base(functions, 3 * (size + 40)),
          work(functions, 3 * (size + 40)) {
        (void)base.reset(nodes_as_dofs(0, size));
        work.copy_from(base);
    }
    std::shared_ptr<const DenseGreensFunctions> functions;
    CapacitanceInverse base, work;
};

double inverse_corner(const CapacitanceInverse& inverse) {
    return double{inverse.inverse_element(0, inverse.size() - 1)};
}

/// Adding `count` nodes to a copy: an update as the solver does it; `copy` tells the share of it.
Workload add_nodes(int size, int count) {
    auto pair = std::make_shared<InversePair>(size - count);
    auto dofs = std::make_shared<std::vector<ChangedDof>>(nodes_as_dofs(size, size + count));
    Workload load;
    load.run = [pair, dofs] {
        pair->work.copy_from(pair->base);
        (void)pair->work.add(*dofs);
        return inverse_corner(pair->work);
    };
    return load;
}

Workload remove_nodes(int size, int count) {
    auto pair = std::make_shared<InversePair>(size + count);
    auto dofs =
        std::make_shared<std::vector<ChangedDof>>(nodes_as_dofs(size / 2, size / 2 + count));
    Workload load;
    load.run = [pair, dofs] {
        pair->work.copy_from(pair->base);
        (void)pair->work.remove(*dofs);
        return inverse_corner(pair->work);
    };
    return load;
}

Workload copy_inverse(int size) {
    auto pair = std::make_shared<InversePair>(size);
    Workload load;
    load.run = [pair] {
        pair->work.copy_from(pair->base);
        return inverse_corner(pair->work);
    };
    return load;
}

Workload refactor(int size) {
    auto pair = std::make_shared<InversePair>(size);
    auto dofs = std::make_shared<std::vector<ChangedDof>>(nodes_as_dofs(0, size));
    Workload load;
    load.run = [pair, dofs] {
        (void)pair->work.reset(*dofs);
        return inverse_corner(pair->work);
    };
    return load;
}

/// Weighted sum of columns, against reading the same memory once.
Workload sum_columns(int num_nodes, int num_columns) {
    auto functions = sphere_functions(num_nodes, num_columns);
    auto nodes = std::make_shared<std::vector<int>>();
    for (int node = 0; node < num_columns; ++node) nodes->push_back(node);
    auto weights = std::make_shared<std::vector<float>>(3 * place_of(num_columns), 0.5f);
    auto out = std::make_shared<std::vector<float>>(3 * place_of(num_nodes));
    auto memory =
        std::make_shared<std::vector<float>>(functions->num_bytes() / sizeof(float), 1.0f);
    Workload load;
    load.run = [functions, nodes, weights, out] {
        std::fill(out->begin(), out->end(), 0.0f);
        functions->add_columns(*nodes, *weights, *out);
        return double{out->front()} + double{out->back()};
    };
    load.run_reference = [memory] { return double{simd_sum(memory->data(), memory->size())}; };
    return load;
}

}  // namespace

std::vector<Benchmark> greens_capacitance_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](std::string name, auto setup, double max_us = 0) {
        Benchmark benchmark;
        benchmark.module = "greens";
        benchmark.name = "capacitance/" + name;
        benchmark.setup = setup;
        benchmark.max_us = max_us;
        all.push_back(benchmark);
    };
    for (const int s : {20, 40, 100}) {
        const std::string size = "/s=" + std::to_string(s);
        const bool is_largest = s == 100;
        add(
            "add_one" + size, [s] { return add_nodes(s, 1); }, is_largest ? 150 : 0);
        add("add_ten" + size, [s] { return add_nodes(s, 10); });
        add(
            "delete_one" + size, [s] { return remove_nodes(s, 1); }, is_largest ? 80 : 0);
        add("delete_ten" + size, [s] { return remove_nodes(s, 10); });
        add("copy" + size, [s] { return copy_inverse(s); });
        add(
            "refactor" + size, [s] { return refactor(s); }, is_largest ? 8000 : 0);
    }
    Benchmark sum;
    sum.module = "greens";
    sum.name = "column_sum/n=2562/s=100";
    sum.setup = [] { return sum_columns(2562, 100); };
    sum.reference = "read";
    sum.min_ratio = 1 / 1.5;
    all.push_back(sum);
    return all;
}

}  // namespace pliant::bench
