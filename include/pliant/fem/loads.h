#pragma once

#include "pliant/fem/fem_model.h"

#include <span>

namespace pliant {

// Loads are vectors of all 3n unknowns [N] that keep their size and direction while the body
// deforms (dead loads).

/// f = ∫ ρ φ g dV: row-sum masses times the acceleration [m/s²].
[[nodiscard]] Eigen::VectorXd gravity_load(const FemModel& model,
                                           const Eigen::Vector3d& acceleration);
/// f = ∫ φ b dV for a force per volume [N/m³].
[[nodiscard]] Eigen::VectorXd body_force_load(const FemModel& model,
                                              const Eigen::Vector3d& force_per_volume);

/// Corners anticlockwise seen from outside; the fourth is −1 for triangles.
using ElementFace = std::array<int, 4>;
/// Outer faces of the elements. Those that finer elements cover in part are left out; the meshes
/// of graded_mesh.h have none.
[[nodiscard]] std::vector<ElementFace> boundary_faces(const VolumeMesh& mesh);
/// Outer faces with all corners among `nodes`. Throws InputError for a node out of range.
[[nodiscard]] std::vector<ElementFace> boundary_faces(const VolumeMesh& mesh,
                                                      std::span<const int> nodes);
/// f += ∫ φ t dA over the faces at rest, t an applied force per area [N/m²], docs/fem.md eq. (E11).
void add_traction(const VolumeMesh& mesh, std::span<const ElementFace> faces,
                  const Eigen::Vector3d& traction, Eigen::VectorXd& f);
/// f_i += force for each of the nodes. Throws InputError for a node out of range.
void add_nodal_force(std::span<const int> nodes, const Eigen::Vector3d& force, Eigen::VectorXd& f);

/// Throws InputError that names the first component of `f` that is not finite.
void check_load(const Eigen::VectorXd& f);

}  // namespace pliant
