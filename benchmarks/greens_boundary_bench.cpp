#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "benchmarks/greens_bench.h"
#include "greens/boundary_cases.h"
#include "greens/boundary_kernels.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/build_greens.h"

namespace pliant::bench {
namespace {

/// A strip of triangles, and eight targets some of its lengths away.
struct DistantStrip {
    DistantStrip(int num_triangles, bool has_three_points, int planes)
        : triangles(static_cast<std::size_t>(num_triangles)),
          near_lanes(triangles.size()),
          sums((triangles.size() + 2) * static_cast<std::size_t>(planes * kTargetLanes)) {
        for (int t = 0; t < num_triangles; ++t) {
            KernelTriangle& triangle = triangles[static_cast<std::size_t>(t)];
            triangle = {};
            for (int s = 0; s < 3; ++s) {
                triangle.corners[s][0] = 1e-3 * (t + s);
                triangle.corners[s][1] = 2e-3 * ((t + s) % 2);
                triangle.nodes[s] = t + s;
            }
            triangle.normal[2] = 1;
            triangle.area = 2e-6;
            // by which rule is for the benchmark to say
            triangle.three_point_squared =
                has_three_points ? 0 : std::numeric_limits<double>::max();
        }
        for (int lane = 0; lane < kTargetLanes; ++lane) {
            targets.position[0][lane] = 0.1 * lane;
            targets.position[1][lane] = 3;
            targets.position[2][lane] = 1 + 0.2 * lane;
        }
    }
    std::vector<KernelTriangle> triangles;
    std::vector<std::uint8_t> near_lanes;
    std::vector<double> sums;
    TargetGroup targets = {};
};

/// Pairs of a target and a triangle, each giving three blocks of G and of H.
Workload distant_pairs(bool is_elastic, bool has_three_points) {
    auto strip = std::make_shared<DistantStrip>(2048, has_three_points,
                                                is_elastic ? kElasticPlanes : kLaplacePlanes);
    Workload load;
    load.run = [strip, is_elastic] {
        std::ranges::fill(strip->sums, 0.0);
        add_distant_triangles(is_elastic, strip->triangles, strip->targets, strip->sums.data(),
                              strip->near_lanes.data());
        return strip->sums.front() + strip->sums.back();
    };
    load.operations = kTargetLanes * static_cast<double>(strip->triangles.size());
    return load;
}

/// Rows of the first nodes of a kidney with all that belongs to them, per pair.
Workload boundary_rows(int levels, int num_rows) {
    auto model = std::make_shared<BoundaryModel>(make_semi_regular("kidney", levels).mesh,
                                                 BoundaryOptions{});
    num_rows = std::min(num_rows, model->num_nodes());
    auto G = std::make_shared<Eigen::MatrixXd>(3 * num_rows, 3 * model->num_nodes());
    auto H = std::make_shared<Eigen::MatrixXd>(*G);
    Workload load;
    load.run = [model, G, H, num_rows] {
        model->assemble(0, num_rows, *G, *H);
        return G->sum() + (*H)(0, 0);
    };
    load.operations = static_cast<double>(num_rows) * model->mesh().num_triangles();
    return load;
}

/// All of a model of boundary elements, from a surface to its columns: a smooth body of
/// 10·4^level + 2 vertices, the lowest of which are fixed.
Workload whole_model(int level, int free_vertices) {
    auto surface =
        std::make_shared<SemiRegularMesh>(midpoint_subdivide(blob_case_surface(level), 0));
    const auto& vertices = surface->mesh.vertices;
    std::vector<int> order(vertices.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return vertices[static_cast<std::size_t>(a)].z() <
               vertices[static_cast<std::size_t>(b)].z();
    });
    order.resize(order.size() - static_cast<std::size_t>(free_vertices));
    std::string fixed;
    for (const int v : order) fixed += (fixed.empty() ? "list " : ",") + std::to_string(v);
    Workload load;
    load.run = [surface, fixed] {
        GreensBuildOptions options;
        options.fixed = fixed;
        return build_greens_model(*surface, options).asymmetry;
    };
    return load;
}

}  // namespace

std::vector<Benchmark> greens_boundary_benchmarks() {
    std::vector<Benchmark> all;
    const auto add = [&](std::string name, auto setup, double max_us, int samples) {
        Benchmark benchmark;
        benchmark.module = "greens";
        benchmark.name = "boundary/" + name;
        benchmark.setup = setup;
        benchmark.max_us = max_us;
        benchmark.samples = samples;
        all.push_back(benchmark);
    };
    // 10 million pairs a second
    add(
        "pairs/elastic/points=7", [] { return distant_pairs(true, false); }, 0.1, 200);
    add(
        "pairs/elastic/points=3", [] { return distant_pairs(true, true); }, 0, 200);
    add(
        "pairs/laplace/points=7", [] { return distant_pairs(false, false); }, 0, 200);
    for (const int levels : {3, 4}) {
        add(
            "rows/kidney/levels=" + std::to_string(levels),
            [levels] { return boundary_rows(levels, 256); }, 0, 20);
        all.back().wall_time = true;
    }
    add(
        "model/n=642/columns=537", [] { return whole_model(3, 537); }, 1.5e6, 3);
    all.back().wall_time = true;
    add(
        "model/n=2562/columns=2145", [] { return whole_model(4, 2145); }, 20e6, 1);
    all.back().wall_time = true;
    return all;
}

}  // namespace pliant::bench
