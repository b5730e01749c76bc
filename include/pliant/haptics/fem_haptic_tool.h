#pragma once

#include "pliant/fem/fem_body.h"
#include "pliant/haptics/fem_haptic_link.h"

#include <memory>
#include <vector>

namespace pliant {

/// How a tool among full FEM bodies follows the hand, docs/haptics.md section "Full FEM bodies".
enum class FemCoupling {
    /// It is where the hand is, smoothed; the hand feels the contact, late. As published, for
    /// comparison: it oscillates on all but the softest bodies, and scenes do not offer it.
    Kinematic,
    Dynamic,    ///< a mass on a spring and damper to the hand; the hand feels the spring
};

struct FemHapticToolOptions {
    FemCoupling coupling = FemCoupling::Dynamic;
    Eigen::Vector3d grasp = Eigen::Vector3d::Zero();  ///< in the axes of the first proxy [m]
    double bandwidth = 300;    ///< of a kinematic tool that follows the hand [rad/s]
    double max_speed = 1;      ///< of the grasp point [m/s]
    double max_turning = 10;   ///< [rad/s]
    double mass = 0.05;        ///< of a dynamic tool [kg], no less than 4 k dt² counts
    double gyration = 0.03;    ///< its radius of gyration about the grasp point [m]
    double damping_ratio = 1;  ///< of a dynamic tool on its spring
    bool predicts = true;      ///< where the hand will be when the step is shown
};

/// The simulator's end of haptics with full FEM bodies: rigid proxies (one, or several that make a
/// hand) which follow a device as one piece, and the force of the contact constraint on them. The
/// other end is a FemHapticPort in the haptic thread. One thread at a time; steps allocate nothing.
class FemHapticTool {
public:
    /// `proxies` are driven rigid bodies, obstacles of one or more of `bodies`; where they are now
    /// to each other they stay. All must outlive this. Throws InputError for proxies of another
    /// kind, one that is nobody's obstacle, and options out of range.
    FemHapticTool(FemHapticLink& link, std::vector<RigidBody*> proxies,
                  std::vector<const FemBody*> bodies, const FemHapticToolOptions& options = {});
    ~FemHapticTool();

    /// Drives the proxies to where they will be `dt` seconds after `now`, on the shared clock; any
    /// step, changing ones too. Then step the proxies, then the bodies, then call end_step().
    /// InputIgnored and no motion for times that are not finite or not positive.
    StepStatus begin_step(double now, double dt) noexcept;
    /// Takes the contact forces of the step and publishes them for the device.
    const FemToolState& end_step() noexcept;

    [[nodiscard]] const FemToolState& last() const noexcept;
    /// After the proxies were put elsewhere: begins there, and the hand with it.
    void reset() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
