#pragma once

#include "fem/contact_solver.h"
#include "pliant/body/rigid_motion.h"

namespace pliant {

/// What a rigid obstacle does where a node is; all zero for soft bodies, whose nodes are part of
/// the row.
struct SurfaceMotion {
    Eigen::Vector3d v = Eigen::Vector3d::Zero(), a = Eigen::Vector3d::Zero();  ///< end of the step
    /// Of the same material point at the start of the step.
    Eigen::Vector3d v_before = Eigen::Vector3d::Zero();
};
[[nodiscard]] SurfaceMotion surface_motion(const RigidMotion& start, const RigidMotion& end,
                                           const Eigen::Vector3d& x_world);

/// Whether the sides approach at the start of the step, eq. (C1).
[[nodiscard]] bool is_approaching(const ContactRow& row, const SurfaceMotion& surface,
                                  std::span<const ConstrainedBody> bodies) noexcept;
/// Whether they would still do so half a step after its end if left alone: otherwise the force of
/// a capture and the reset that follows would add up to a pull.
[[nodiscard]] bool goes_on_approaching(const ContactRow& row, const SurfaceMotion& surface,
                                       std::span<const ConstrainedBody> bodies, double dt) noexcept;

// All set what the row wants.

/// The relative normal velocity becomes zero, docs/fem.md eq. (C2). `is_reset`: the next step takes
/// back half of the force, eq. (C6).
void want_capture(ContactRow& row, const SurfaceMotion& surface, bool is_reset,
                  std::span<const ConstrainedBody> bodies, double dt) noexcept;
/// The relative normal velocity stays zero, eq. (C3).
void want_hold(ContactRow& row, const SurfaceMotion& surface,
               std::span<const ConstrainedBody> bodies, double dt) noexcept;

/// Remembers the half-step velocities that add_contact_work needs; call before they are reset.
void keep_half_velocities(ContactRow& row, std::span<const ConstrainedBody> bodies) noexcept;
/// Adds the work of a row on each body [J], eq. (C9), after all rows are solved and reset.
void add_contact_work(const ContactRow& row, std::span<const ConstrainedBody> bodies, double dt,
                      std::span<double> work) noexcept;

}  // namespace pliant
