#include "benchmarks/large_bodies.h"

#include "core/numbers.h"
#include "core/resource_use.h"
#include "greens/greens_nodes.h"
#include "pliant/greens/hierarchical_basis.h"
#include "pliant/greens/hierarchical_greens.h"
#include "tests/greens/large_bodies.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr int kTubeSides = 5;

SurfaceMesh tube_control(int rings) {
    SurfaceMesh mesh;
    for (int i = 0; i < rings; ++i)
        for (int k = 0; k < kTubeSides; ++k) {
            const double along = 2 * std::numbers::pi * i / rings;
            const double around = 2 * std::numbers::pi * k / kTubeSides;
            const Vector3d outward(std::cos(along), std::sin(along), 0);
            const Vector3d centre = (1 + 0.25 * std::cos(3 * along)) * outward +
                                    0.25 * std::sin(3 * along) * Vector3d::UnitZ();
            const double radius = 0.2 * (1 + 0.3 * std::cos(along));
            mesh.vertices.push_back(centre + radius * (std::cos(around) * outward +
                                                       std::sin(around) * Vector3d::UnitZ()));
        }
    for (int i = 0; i < rings; ++i)
        for (int k = 0; k < kTubeSides; ++k) {
            const int next_ring = (i + 1) % rings, next_side = (k + 1) % kTubeSides;
            const int a = i * kTubeSides + k, b = i * kTubeSides + next_side,
                      c = next_ring * kTubeSides + k, d = next_ring * kTubeSides + next_side;
            mesh.triangles.push_back({a, c, d});
            mesh.triangles.push_back({a, d, b});
        }
    return mesh;
}

}  // namespace

LargeBody large_body(SemiRegularMesh surface, const std::string& fixed) {
    const Eigen::AlignedBox3d box = bounding_box(surface.mesh.vertices);
    for (Vector3d& x : surface.mesh.vertices) x = (x - box.center()) / box.sizes().maxCoeff();
    BoundaryModel model(surface.mesh, {});
    GreensBuildOptions options;
    options.fixed = fixed;
    std::vector<NodeKind> kinds = node_kinds(model.positions(), 1, options);
    return {std::move(surface), std::move(model), std::move(kinds)};
}

LargeBody closed_tube(int rings, int levels) {
    return large_body(loop_subdivide(tube_control(rings), levels), "x > 90 %");
}

LargeBody capped_sphere(int levels) {
    SemiRegularMesh surface = test::sphere_of_levels(levels);
    BoundaryModel model(surface.mesh, {});
    std::vector<NodeKind> kinds = test::fixed_below(model, -0.33);
    return {std::move(surface), std::move(model), std::move(kinds)};
}

LargeSolution solve_level_0(const LargeBody& body, const IterativeOptions& options,
                            Progress& progress) {
    auto source = std::make_shared<IterativeBoundarySource>(
        body.model, body.kinds, std::span<const GreensReadout>(), options);
    const auto basis = std::make_shared<const HierarchicalBasis>(body.surface, body.kinds);
    HierarchicalColumnSource hierarchical(source, basis);
    hierarchical.prepare(progress);
    std::vector<int> ids;
    for (int vertex = 0; vertex < body.surface.num_vertices[0]; ++vertex)
        if (body.kinds[at(vertex)] == NodeKind::Free) ids.push_back(basis->id(0, vertex));
    LargeSolution solution;
    {
        const SecondsOfScope scope(solution.column_seconds);
        Eigen::MatrixXd values(source->num_rows(), 3 * static_cast<Eigen::Index>(ids.size()));
        hierarchical.columns(ids, values);
        solution.sum = values.sum();
    }
    solution.num_right_sides = 3 * static_cast<int>(ids.size());
    solution.report = *source->report();
    solution.matrix_seconds = source->assembly_seconds();
    solution.preconditioner_seconds = source->factor_seconds();
    return solution;
}

}  // namespace pliant::bench
