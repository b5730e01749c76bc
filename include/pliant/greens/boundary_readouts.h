#pragma once

#include <span>

#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/greens_model.h"

namespace pliant {

/// Results at points inside the body as rows on the boundary values: of_displacements u +
/// of_tractions p + of_body_forces β, one row for each value of the read-outs in their order
/// (elasticity: x y z of a displacement, xx yy zz yz zx xy of a stress; Laplace: the potential, x y
/// z of its gradient). β: force per volume along each axis (Laplace: source per volume).
struct BoundaryReadouts {
    Eigen::MatrixXd of_displacements, of_tractions, of_body_forces;
};

/// In the units of the model: shear modulus 1, lengths and positions as those of its mesh;
/// docs/greens.md eqs. (D5)–(D7). Throws InputError for a point that is not inside the material.
[[nodiscard]] BoundaryReadouts boundary_readouts(const BoundaryModel& model,
                                                 std::span<const GreensReadout> readouts);

/// Right-hand sides b of H u = G p + b for unit forces along each axis (Laplace: a unit source) at
/// points inside the material: block·num_nodes() rows, block columns for each point. Throws
/// InputError for a point that is not inside.
[[nodiscard]] Eigen::MatrixXd concentrated_force_columns(const BoundaryModel& model,
                                                         std::span<const Eigen::Vector3d> points);

/// What such forces add to the read-outs directly: a row for each value, block columns for each
/// point.
[[nodiscard]] Eigen::MatrixXd concentrated_force_readouts(const BoundaryModel& model,
                                                          std::span<const GreensReadout> readouts,
                                                          std::span<const Eigen::Vector3d> points);

}  // namespace pliant
