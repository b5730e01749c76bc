#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "greens/boundary_cases.h"
#include "greens/finite_source.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/geometry/volume_mesh.h"
#include "pliant/greens/greens_model.h"
#include "pliant/greens/hierarchical_greens.h"
#include "tests/greens/touch_models.h"

namespace pliant::test {

/// A smooth blob of 10 · 4^levels + 2 vertices, about 1 long, without symmetry.
inline SemiRegularMesh blob(int levels) {
    SemiRegularMesh mesh = midpoint_subdivide(sphere_case_surface(0), levels);
    for (Eigen::Vector3d& x : mesh.mesh.vertices) {
        x.normalize();
        const double r = 1 + 0.15 * std::sin(2 * x.x() + x.y()) + 0.1 * std::cos(3 * x.z() - x.x());
        x = 0.4 * r * x;
    }
    return mesh;
}

inline std::vector<double> lumped_areas(const SurfaceMesh& mesh) {
    std::vector<double> areas(mesh.vertices.size(), 0);
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k)
            areas[at(mesh.triangles[at(t)][at(k)])] +=
                (mesh.corner(t, 1) - mesh.corner(t, 0))
                    .cross(mesh.corner(t, 2) - mesh.corner(t, 0))
                    .norm() /
                6;
    return areas;
}

inline std::vector<NodeKind> standing_kinds(const SurfaceMesh& mesh, double height = -0.22) {
    std::vector<NodeKind> kinds;
    for (const Eigen::Vector3d& x : mesh.vertices)
        kinds.push_back(x.z() < height ? NodeKind::Fixed : NodeKind::Free);
    return kinds;
}

/// The blob filled with tetrahedra: shells of the surface around its centre, lumped areas.
inline FiniteProblem filled_blob(const SemiRegularMesh& surface) {
    const SurfaceMesh& mesh = surface.mesh;
    const int n = mesh.num_vertices();
    const double scales[] = {1, 0.7, 0.4};
    FiniteProblem problem;
    for (const double scale : scales)
        for (const Eigen::Vector3d& x : mesh.vertices) problem.mesh.vertices.push_back(scale * x);
    problem.mesh.vertices.push_back(Eigen::Vector3d::Zero());
    const auto add = [&](int a, int b, int c, int d) {
        const auto& x = problem.mesh.vertices;
        const double volume =
            (x[at(b)] - x[at(a)]).cross(x[at(c)] - x[at(a)]).dot(x[at(d)] - x[at(a)]);
        if (volume < 0) std::swap(c, d);
        for (const int v : {a, b, c, d}) problem.mesh.elements.push_back(v);
    };
    for (const Triangle& triangle : mesh.triangles) {
        // prisms in three, by the numbers of their corners, so that sides fit
        Triangle t = triangle;
        std::sort(t.begin(), t.end());
        for (int shell = 0; shell < 2; ++shell) {
            const int o = shell * n, i = o + n;
            add(o + t[0], o + t[1], o + t[2], i + t[2]);
            add(o + t[0], o + t[1], i + t[1], i + t[2]);
            add(o + t[0], i + t[0], i + t[1], i + t[2]);
        }
        add(2 * n + t[0], 2 * n + t[1], 2 * n + t[2], 3 * n);
    }
    problem.materials = {isotropic(2.6, 0.3, 1, Law::SmallStrain)};  // shear modulus 1
    for (int v = 0; v < n; ++v) problem.vertices.push_back(v);
    problem.areas = lumped_areas(mesh);
    problem.kinds = standing_kinds(mesh);
    return problem;
}

inline std::vector<int> first_numbers(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) all.push_back(i);
    return all;
}

/// Ξ on a grid so coarse, for each pair of kinds, that sums of its columns with the weights of a
/// basis are exact in single precision.
inline Eigen::MatrixXd on_coarse_grid(Eigen::MatrixXd Xi, const std::vector<NodeKind>& kinds,
                                      int bits) {
    double largest[2][2] = {};
    const auto pair = [&](Eigen::Index i, Eigen::Index j) -> double& {
        return largest[kinds[static_cast<std::size_t>(i / 3)] == NodeKind::Free]
                      [kinds[static_cast<std::size_t>(j / 3)] == NodeKind::Free];
    };
    for (Eigen::Index j = 0; j < Xi.cols(); ++j)
        for (Eigen::Index i = 0; i < Xi.rows(); ++i)
            pair(i, j) = std::max(pair(i, j), std::abs(Xi(i, j)));
    for (Eigen::Index j = 0; j < Xi.cols(); ++j)
        for (Eigen::Index i = 0; i < Xi.rows(); ++i) {
            const double step = std::exp2(std::ceil(std::log2(pair(i, j))) - bits);
            Xi(i, j) = std::round(Xi(i, j) / step) * step;
        }
    return Xi;
}

/// A blob by finite elements with its Green's functions of all nodes and levels.
struct HierarchicalBlob {
    SemiRegularMesh surface;
    std::shared_ptr<FiniteElementSource> source;
    std::shared_ptr<const HierarchicalBasis> basis;
    Eigen::MatrixXd Xi;                  // of all nodes
    std::shared_ptr<GreensModel> model;  // Ξ and all coarser columns, 1 m, 1 Pa
    std::vector<int> free_nodes;
};

/// `bits` > 0: Ξ on a coarse grid, so that identities of algebra can be seen to round-off.
inline HierarchicalBlob hierarchical_blob(int levels, int bits = 0) {
    HierarchicalBlob result;
    result.surface = blob(levels);
    FiniteProblem problem = filled_blob(result.surface);
    const auto kinds = problem.kinds;
    const auto areas = problem.areas;
    result.source = std::make_shared<FiniteElementSource>(std::move(problem));
    result.source->prepare(Progress::none());
    result.basis = std::make_shared<const HierarchicalBasis>(result.surface, kinds);
    const int n = result.surface.mesh.num_vertices();
    result.Xi.resize(3 * n, 3 * n);
    result.source->columns(first_numbers(n), result.Xi);
    if (bits > 0) result.Xi = on_coarse_grid(result.Xi, kinds, bits);

    auto fine = std::make_shared<DenseGreensFunctions>(
        DenseGreensLayout{.num_nodes = n, .columns = first_numbers(n)});
    for (int node = 0; node < n; ++node) fine->set_column(node, result.Xi.middleCols(3 * node, 3));
    GreensModel plain;
    plain.surface = result.surface;
    plain.reference.functions = fine;
    plain.reference.kinds = kinds;
    plain.reference.positions = result.surface.mesh.vertices;
    plain.reference.areas = areas;
    plain.method = GreensMethod::FiniteElements;
    finish_touch_model(plain);
    result.model = std::make_shared<GreensModel>(with_coarser_columns(plain, 0));
    result.basis = result.model->reference.hierarchy;
    for (int node = 0; node < n; ++node)
        if (kinds[at(node)] == NodeKind::Free) result.free_nodes.push_back(node);
    return result;
}

}  // namespace pliant::test
