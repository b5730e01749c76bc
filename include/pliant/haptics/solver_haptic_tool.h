#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/contact/contact_solver.h"
#include "pliant/haptics/fem_haptic_link.h"

#include <memory>

namespace pliant {

/// Mass of a tool on springs of this stiffness [N/m] in steps of `dt` seconds: at least 50 g, and
/// so much that it follows the hand within three steps and springs may become four times as stiff
/// [kg].
[[nodiscard]] double held_mass_for(double stiffness, double dt) noexcept;
/// The stiffest spring that such a mass follows [N/m]: SolverHapticTool takes others for it.
[[nodiscard]] double followed_stiffness(double mass, double dt) noexcept;
/// Mass of a tool that is held at `grasp`, in its axes: all about that point, alike in all
/// directions, so that springs which turn it do not shift it.
[[nodiscard]] RigidMass held_mass(double mass, double gyration, const Eigen::Vector3d& grasp);

struct SolverHapticToolOptions {
    Eigen::Vector3d grasp = Eigen::Vector3d::Zero();  ///< in the axes of the body [m]
    double max_speed = 1;                             ///< that springs give the grasp point [m/s]
    double max_turning = 10;                          ///< [rad/s]
    double damping_ratio = 1;                         ///< of the tool on its springs
    bool predicts = true;  ///< where the hand will be when the step is shown
};

/// The simulator's end of haptics among bodies that meet in a ContactSolver: a rigid body with mass
/// that springs and dampers draw to the hand, docs/haptics.md eq. (F7). The solver moves it as it
/// moves the others, so that contact is stable whatever the masses and the step. The other end is a
/// FemHapticPort in the haptic thread. One thread at a time; steps allocate nothing.
class SolverHapticTool {
public:
    /// `body` has the mass of held_mass(), no weight, and is number `member` of the solver's
    /// bodies. All must outlive this. Throws InputError for a body without mass, one whose mass is
    /// not about the grasp point, and options out of range.
    SolverHapticTool(FemHapticLink& link, RigidBody& body, const ContactSolver& solver, int member,
                     const SolverHapticToolOptions& options = {});
    ~SolverHapticTool();

    /// Loads the body with the springs of a step of `dt` seconds from `now` on, on the shared
    /// clock. Then let the solver act, step all bodies, and call end_step(). InputIgnored and no
    /// load for times that are not finite or not positive.
    StepStatus begin_step(double now, double dt) noexcept;
    /// Takes the contact forces of the step and publishes them for the device.
    const FemToolState& end_step() noexcept;

    [[nodiscard]] const FemToolState& last() const noexcept;
    /// After the body was put elsewhere: begins there, and the hand with it.
    void reset() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
