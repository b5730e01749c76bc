#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/wavelets_bench.h"
#include "pliant/greens/wavelet_greens.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

std::size_t vertex_place(int index) { return static_cast<std::size_t>(index); }

/// An icosahedron after four splits, 2,562 vertices, pulled out to a body with two ears.
SemiRegularMesh eared_surface() {
    const double p = 0.5 * (1 + std::sqrt(5.0));
    SurfaceMesh base;
    for (const double a : {-1.0, 1.0})
        for (const double b : {-p, p})
            for (const Vector3d& x : {Vector3d(0, a, b), Vector3d(a, b, 0), Vector3d(b, 0, a)})
                base.vertices.push_back(x);
    const auto& x = base.vertices;
    const auto is_edge = [&](int i, int j) {
        return (x[vertex_place(i)] - x[vertex_place(j)]).norm() < 2.1;
    };
    for (int i = 0; i < 12; ++i)
        for (int j = i + 1; j < 12; ++j)
            for (int k = j + 1; k < 12; ++k) {
                if (!is_edge(i, j) || !is_edge(j, k) || !is_edge(i, k)) continue;
                Eigen::Matrix3d corners;
                corners << x[vertex_place(i)], x[vertex_place(j)], x[vertex_place(k)];
                if (corners.determinant() > 0)
                    base.triangles.push_back({i, j, k});
                else
                    base.triangles.push_back({i, k, j});
            }
    SemiRegularMesh mesh = midpoint_subdivide(base, 4);
    for (Vector3d& y : mesh.mesh.vertices) {
        y.normalize();
        double radius = 1;
        for (const double side : {-0.45, 0.45})
            radius +=
                0.7 * std::exp(-8 * (y - Vector3d(side, 0.1, 0.9).normalized()).squaredNorm());
        y *= radius;
    }
    return mesh;
}

/// Compliance of a full space between the vertices of the body, smoothed over their areas, its
/// lowest quarter a domain of its own: as smooth as that of an elastic body, and compressed alike
/// (docs/greens-wavelets.md).
struct WaveletExample {
    WaveletExample() : mesh(eared_surface()), areas(mesh.mesh.vertices.size(), 0.0) {
        for (int t = 0; t < mesh.mesh.num_triangles(); ++t) {
            Eigen::Matrix3d corners;
            corners << mesh.mesh.corner(t, 0), mesh.mesh.corner(t, 1), mesh.mesh.corner(t, 2);
            const Eigen::Matrix3d cofactors = corners.inverse().transpose() * corners.determinant();
            const double area = 0.5 * cofactors.rowwise().sum().norm();
            for (const int v : mesh.mesh.triangles[vertex_place(t)])
                areas[vertex_place(v)] += area / 3;
        }
        std::vector<NodeKind> kinds;
        DenseGreensLayout layout;
        layout.num_nodes = mesh.mesh.num_vertices();
        for (int v = 0; v < layout.num_nodes; ++v) {
            layout.columns.push_back(v);
            kinds.push_back(mesh.mesh.vertices[vertex_place(v)].z() < -0.45 ? NodeKind::Fixed
                                                                            : NodeKind::Free);
        }
        dense = std::make_shared<DenseGreensFunctions>(layout);
        Eigen::MatrixXd column(3 * layout.num_nodes, 3);
        for (int j = 0; j < layout.num_nodes; ++j) {
            const double area = areas[vertex_place(j)];
            for (int i = 0; i < layout.num_nodes; ++i) {
                const Vector3d r =
                    mesh.mesh.vertices[vertex_place(i)] - mesh.mesh.vertices[vertex_place(j)];
                const double distance = std::sqrt(r.squaredNorm() + 0.15 * area);
                column.middleRows<3>(3 * i) =
                    area / (35 * distance) *
                    (1.8 * Eigen::Matrix3d::Identity() + r * r.transpose() / (distance * distance));
            }
            dense->set_column(j, column);
        }
        wavelets = compress_greens(*dense, mesh, kinds, areas, {.tolerance = 0.05});
    }
    SemiRegularMesh mesh;
    std::vector<double> areas;
    std::shared_ptr<DenseGreensFunctions> dense;
    std::shared_ptr<const WaveletGreensFunctions> wavelets;
};

/// Made for the first benchmark that asks, kept while one runs.
std::shared_ptr<const WaveletExample> wavelet_example() {
    static std::weak_ptr<const WaveletExample> kept;
    std::shared_ptr<const WaveletExample> example = kept.lock();
    if (!example) kept = example = std::make_shared<const WaveletExample>();
    return example;
}

/// Nodes of sums, drawn anew for each one or always the same.
struct DrawnColumns {
    DrawnColumns(int num_nodes, int num_lists)
        : weights(300, 0.5f), lists(vertex_place(num_lists)) {
        std::mt19937 random(1);
        for (auto& list : lists)
            for (int k = 0; k < 100; ++k)
                list.push_back(static_cast<int>(random() % vertex_place(num_nodes)));
    }
    const std::vector<int>& next(std::size_t& turn) const { return lists[turn++ % lists.size()]; }
    std::vector<float> weights;
    std::vector<std::vector<int>> lists;
};

Workload fast_summation(bool is_cold) {
    const auto example = wavelet_example();
    const int n = example->dense->num_nodes();
    struct Buffers {
        std::vector<float> sum, scratch, out;
        std::size_t turn = 0, dense_turn = 0;
    };
    auto drawn = std::make_shared<const DrawnColumns>(n, is_cold ? 64 : 1);
    auto buffers = std::make_shared<Buffers>();
    buffers->sum.resize(example->wavelets->sum_size(n));
    buffers->scratch.resize(buffers->sum.size());
    buffers->out.resize(3 * vertex_place(n));
    Workload load;
    load.run = [=] {
        std::fill(buffers->sum.begin(), buffers->sum.end(), 0.0f);
        example->wavelets->accumulate(drawn->next(buffers->turn), drawn->weights, {}, n,
                                      buffers->sum);
        const auto field = example->wavelets->field(buffers->sum, n, buffers->scratch);
        return double{field.front()} + double{field.back()};
    };
    load.run_reference = [=] {
        std::fill(buffers->out.begin(), buffers->out.end(), 0.0f);
        example->dense->add_columns(drawn->next(buffers->dense_turn), drawn->weights, buffers->out);
        return double{buffers->out.front()} + double{buffers->out.back()};
    };
    return load;
}

Workload transform_values(WaveletKind kind, int width, bool is_forward) {
    const auto mesh = eared_surface();
    const std::vector<double> areas(mesh.mesh.vertices.size(), 1.0);
    auto transform = std::make_shared<const SurfaceTransform>(mesh, kind, areas);
    const std::size_t count = vertex_place(width) * areas.size();
    auto start = std::make_shared<std::vector<float>>();
    std::mt19937 random(2);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::size_t k = 0; k < count; ++k) start->push_back(uniform(random));
    auto values = std::make_shared<std::vector<float>>(*start);
    Workload load;
    load.run = [=] {
        std::copy(start->begin(), start->end(), values->begin());
        if (is_forward)
            transform->forward(values->data(), width);
        else
            transform->inverse(values->data(), width);
        return double{values->front()} + double{values->back()};
    };
    return load;
}

Workload extract_blocks() {
    const auto example = wavelet_example();
    auto drawn = std::make_shared<const DrawnColumns>(example->dense->num_nodes(), 2);
    Workload load;
    load.run = [=] {
        float block[9];
        double sum = 0;
        for (const int i : drawn->lists[0])
            for (int k = 0; k < 10; ++k) {
                example->wavelets->element(i, drawn->lists[1][vertex_place(k)], block);
                sum += double{block[0]} + double{block[8]};
            }
        return sum;
    };
    load.operations = 1000;
    return load;
}

}  // namespace

std::vector<Benchmark> wavelets_transform_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](std::string name, auto setup, double max_us = 0, double min_ratio = 0) {
        Benchmark benchmark;
        benchmark.module = "wavelets";
        benchmark.name = std::move(name);
        benchmark.setup = setup;
        benchmark.max_us = max_us;
        benchmark.min_ratio = min_ratio;
        if (min_ratio > 0) benchmark.reference = "dense";
        all.push_back(benchmark);
    };
    add(
        "sum_columns/cold/n=2562/s=100", [] { return fast_summation(true); }, 0, 8);
    add(
        "sum_columns/warm/n=2562/s=100", [] { return fast_summation(false); }, 0, 3);
    for (const WaveletKind kind : {WaveletKind::LiftedLinear, WaveletKind::LiftedButterfly}) {
        const std::string name(to_string(kind));
        const bool is_linear = kind == WaveletKind::LiftedLinear;
        // three values of each vertex in places of four, as sums of columns have them
        add(
            "inverse/" + name + "/n=2562/padded",
            [kind] { return transform_values(kind, 4, false); }, is_linear ? 10 : 0);
        add("inverse/" + name + "/n=2562/packed",
            [kind] { return transform_values(kind, 3, false); });
        add("forward/" + name + "/n=2562/blocks",
            [kind] { return transform_values(kind, 9, true); });
    }
    add(
        "block/levels=4", [] { return extract_blocks(); }, 0.4);
    return all;
}

}  // namespace pliant::bench
