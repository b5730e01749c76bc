#include <memory>
#include <random>
#include <vector>

#include "benchmarks/reduction_bench.h"
#include "pliant/core/simd.h"
#include "pliant/reduction/surface_shapes.h"
#include "tests/geometry/simple_surfaces.h"

namespace pliant::bench {
namespace {

/// A surface of 45 k vertices with a random matrix: times depend on its size alone.
struct Surface {
    Surface(int r, ShapeStorage storage) {
        const SurfaceMesh torus = test::torus_surface(300, 150);
        const int n = torus.num_vertices();
        std::vector<int> start, vertices;
        for (int i = 0; i < n; ++i) {
            start.push_back(i);
            vertices.push_back(i);
        }
        start.push_back(n);
        const Embedding embedding(n, start, vertices,
                                  std::vector<double>(static_cast<std::size_t>(n), 1.0));
        std::mt19937 random(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        const Eigen::MatrixXd U =
            Eigen::MatrixXd::NullaryExpr(3 * n, r, [&] { return uniform(random); });
        shapes = std::make_shared<SurfaceShapes>(torus, embedding, U, storage);
        for (int k = 0; k < r; ++k) q.push_back(static_cast<float>(0.01 * uniform(random)));
        x.resize(3 * torus.vertices.size());
        n_out.resize(x.size());
    }
    std::shared_ptr<SurfaceShapes> shapes;
    std::vector<float> q, x, n_out;
};

Workload positions_workload(int r, ShapeStorage storage) {
    const auto s = std::make_shared<Surface>(r, storage);
    Workload workload;
    workload.run = [s] {
        s->shapes->positions(s->q, s->x);
        return double{simd_sum(s->x.data(), s->x.size())};
    };
    workload.run_reference = [s] {
        const SurfaceArrays& a = s->shapes->arrays();
        if (a.storage == ShapeStorage::Float32)
            return double{simd_sum(a.rows32.data(), a.rows32.size())};
        return double{
            simd_sum(reinterpret_cast<const float*>(a.rows16.data()), a.rows16.size() / 2)};
    };
    return workload;
}

Workload normals_workload() {
    const auto s = std::make_shared<Surface>(2, ShapeStorage::Float32);
    s->shapes->positions(s->q, s->x);
    Workload workload;
    workload.run = [s] {
        s->shapes->normals(s->x, s->n_out);
        return double{simd_sum(s->n_out.data(), s->n_out.size())};
    };
    return workload;
}

/// Every 45th vertex, as a contact that touches a part of the surface.
Workload subset_workload() {
    const auto s = std::make_shared<Surface>(30, ShapeStorage::Float32);
    const auto some = std::make_shared<std::vector<int>>();
    for (int i = 0; i < s->shapes->num_vertices(); i += 45) some->push_back(i);
    Workload workload;
    workload.operations = static_cast<double>(some->size());
    workload.run = [s, some] {
        s->shapes->positions(*some, s->q, std::span<float>(s->x).first(3 * some->size()));
        return double{s->x[0]};
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> reduced_surface_benchmarks() {
    std::vector<Benchmark> all;
    for (const ShapeStorage storage : {ShapeStorage::Float32, ShapeStorage::Int16})
        for (const int r : {15, 30, 60}) {
            const bool is_float = storage == ShapeStorage::Float32;
            all.push_back({.module = "reduction",
                           .name = std::string("surface/") + (is_float ? "float32" : "int16") +
                                   "/n=45000/r=" + std::to_string(r),
                           .setup = [=] { return positions_workload(r, storage); },
                           .reference = "one pass over the matrix",
                           .min_ratio = is_float && r == 30 ? 1 / 1.5 : 0,
                           .samples = 100});
        }
    all.push_back({.module = "reduction",
                   .name = "surface/normals/n=45000",
                   .setup = normals_workload,
                   .samples = 50});
    all.push_back({.module = "reduction",
                   .name = "surface/1000 of 45000 vertices/r=30",
                   .setup = subset_workload,
                   .samples = 100});
    return all;
}

}  // namespace pliant::bench
