#pragma once

#include "pliant/greens/boundary_elements.h"

/// Problems with known solutions, for the tests and reports of boundary elements; docs/greens.md
/// section "Verification". Lengths of order 1, shear modulus 1.
namespace pliant {

/// Displacements and tractions of all nodes, block values each.
struct BoundaryValues {
    Eigen::VectorXd displacements, tractions;
};

/// Solves H u = G p + b by dense elimination: displacements are given where `is_fixed`, tractions
/// elsewhere, and `known` holds both. `load` is b; empty: none.
[[nodiscard]] BoundaryValues solve_boundary_values(const BoundaryModel& model,
                                                   const std::vector<char>& is_fixed,
                                                   const BoundaryValues& known,
                                                   const Eigen::VectorXd& load = {});

/// How far a solution is from the exact one.
struct BoundaryCaseErrors {
    int num_nodes = 0;
    double element_size = 0;  ///< root of the mean area of triangles
    double displacement = 0;  ///< of free nodes: RMS over the surface, in units of the case
    double traction = 0;      ///< of fixed nodes: likewise; 0 without any
};
/// p in error ~ element_size^p.
[[nodiscard]] double convergence_order(double coarse_error, double coarse_size, double fine_error,
                                       double fine_size);

/// An icosahedron split `level` times and projected onto the unit sphere: 10·4^level + 2 vertices.
[[nodiscard]] SurfaceMesh sphere_case_surface(int level);
/// The same, bent smoothly into a shape without symmetry.
[[nodiscard]] SurfaceMesh blob_case_surface(int level);
/// Radius 1, 0 ≤ z ≤ length; `rings` of vertices on each end, 6·rings around.
[[nodiscard]] SurfaceMesh cylinder_case_surface(int rings, double length);

/// A sphere under unit pressure, free: u = −x (1 − 2ν) / (2 (1 + ν)) but for rigid motions.
/// Relative to 1, as the solution vanishes for ν = 1/2.
[[nodiscard]] BoundaryCaseErrors sphere_under_pressure(int level, const BoundaryOptions& options);
/// A spherical cavity under unit pressure in an unbounded body, Lamé's solution: u = x / 4 on it.
/// Relative to 1/4.
[[nodiscard]] BoundaryCaseErrors cavity_under_pressure(int level, const BoundaryOptions& options);

struct TorsionErrors {
    BoundaryCaseErrors fields;  ///< relative to the twist of the end, and to its greatest traction
    double stiffness = 0;       ///< twist of the end over the exact one, − 1
    double reaction = 0;        ///< torque of the fixed end over the applied one, + 1
};
/// A cylinder of radius 1 and length 2, fixed at z = 0 and twisted by tractions at the other end:
/// u = α z (−y, x, 0). Relative to the largest displacement and traction.
[[nodiscard]] TorsionErrors cylinder_in_torsion(int rings, const BoundaryOptions& options);

/// φ = x y + z² − (x² + y²)/2 in a sphere, given on its lower half, its normal derivative 2 φ on
/// the upper. Relative to the RMS of φ.
[[nodiscard]] BoundaryCaseErrors laplace_in_sphere(int level, const BoundaryOptions& options);

/// Departure from reciprocity of the Green's functions of a blob fixed below z = −1/2, between up
/// to `max_nodes` free nodes spread over the surface: ‖M − Mᵀ‖ / ‖M‖, M_ij = Ξ_ij / a_j
/// (Frobenius). 0 for exact Green's functions.
[[nodiscard]] double blob_asymmetry(int level, double poisson_ratio, int max_nodes);

}  // namespace pliant
