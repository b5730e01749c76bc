#pragma once

#include "geometry/simple_volumes.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/structured_mesh.h"

#include <Eigen/LU>
#include <random>

/// Meshes and displacements on which models are tested.
namespace pliant::test {

inline const Eigen::Vector3d kGravity(0, 0, -9.81);
inline constexpr Law kLaws[] = {Law::StVenantKirchhoff, Law::SmallStrain, Law::NeoHookean,
                                Law::Corotational};

inline Constraints free_body(const FemModel& model) { return Constraints(model.num_nodes()); }

inline Box unit_box() { return {Eigen::Vector3d::Zero(), Eigen::Vector3d::Ones()}; }

/// n³ hexes of the unit cube, all vertices moved: no face is planar.
inline VolumeMesh distorted_hexes(int n, unsigned seed = 1) {
    VolumeMesh mesh = hex_box(n, n, n, unit_box());
    jitter(mesh, 0.15 / n, seed);
    return mesh;
}
inline VolumeMesh distorted_tets(int n, unsigned seed = 2) {
    VolumeMesh mesh = tet_box(n, n, n, unit_box());
    jitter(mesh, 0.1 / n, seed);
    return mesh;
}

/// Vertices where `is_chosen(position)`.
template <class Predicate>
std::vector<int> vertices_where(const VolumeMesh& mesh, const Predicate& is_chosen) {
    std::vector<int> chosen;
    for (int i = 0; i < mesh.num_vertices(); ++i)
        if (is_chosen(mesh.vertices[i])) chosen.push_back(i);
    return chosen;
}

/// u = A x + b at all vertices.
inline Eigen::VectorXd affine_displacements(const VolumeMesh& mesh, const Eigen::Matrix3d& A,
                                            const Eigen::Vector3d& b = Eigen::Vector3d::Zero()) {
    Eigen::VectorXd u(3 * mesh.num_vertices());
    for (int i = 0; i < mesh.num_vertices(); ++i) u.segment<3>(3 * i) = A * mesh.vertices[i] + b;
    return u;
}

/// Components uniform in (−size, size).
inline Eigen::VectorXd random_displacements(int num_unknowns, double size, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-size, size);
    return Eigen::VectorXd::NullaryExpr(num_unknowns, [&] { return uniform(generator); });
}

/// The mesh with its vertices moved.
inline VolumeMesh deformed(VolumeMesh mesh, const Eigen::VectorXd& u) {
    for (int i = 0; i < mesh.num_vertices(); ++i) mesh.vertices[i] += u.segment<3>(3 * i);
    return mesh;
}

/// The bar of the reference tables: 8 × 2 × 2 cubes of 0.1 m along x, Poisson's ratio 0.3.
inline VolumeMesh reference_bar() {
    return hex_box(8, 2, 2, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.8, 0.2, 0.2)));
}
inline std::vector<int> clamped_end(const VolumeMesh& bar) {
    return vertices_where(bar, [](const Eigen::Vector3d& x) { return x.x() < 1e-9; });
}
/// Held there.
inline Constraints held(const FemModel& bar) {
    Constraints constraints(bar.num_nodes());
    constraints.fix(clamped_end(bar.mesh()));
    return constraints;
}

}  // namespace pliant::test
