#pragma once

#include <span>

#include <Eigen/Core>

#include "pliant/greens/capacitance_solver.h"

namespace pliant {

using Matrix6d = Eigen::Matrix<double, 6, 6>;

/// Nodes that move together with a rigid body.
struct RigidPatch {
    std::span<const int> nodes;  ///< free in the reference problem; or ids of coarser columns
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< reference of motions and torques [m]
};

/// Force and torque about i.centre on patch `i` of the body for a unit translation and a unit
/// rotation about j.centre of patch `j`, all other conditions held, docs/greens.md eq. (E13):
/// [N/m, N/rad; N m/m, N m/rad]. From the inverse of the last solve, at the places of the
/// undeformed body; O(nodes of i · nodes of j), no allocation.
[[nodiscard]] Matrix6d rigid_patch_stiffness(const CapacitanceSolver& solver, const RigidPatch& i,
                                             const RigidPatch& j) noexcept;

}  // namespace pliant
