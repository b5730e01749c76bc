#pragma once

#include "pliant/haptics/device.h"

namespace pliant {

struct PassivityOptions {
    double tolerance = 2e-4;   ///< E_tol [J]
    double max_stored = 0.02;  ///< old dissipation counts up to this [J]
    double max_damping = 5;    ///< b_max [N s/m]
    double lever = 0.02;       ///< ρ of the handle: b ρ² for rotations [m]
    double filter = 0.3;       ///< one pole per sample, of velocities
    double dead_band = 1e-4;   ///< slower counts as still [m/s]
    double position_step = 0;  ///< of the encoders; HapticTool takes the device's where it is 0 [m]
    bool controls = true;      ///< false: observes only
};

/// Energy behind the port at the moment of a reading, device units [J].
struct PortStorage {
    double coupling = 0;  ///< S: in the springs that make the force
    double beyond = 0;    ///< L: that the coupling passed on to bodies, which may give it back
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< of the springs on the hand [N]
    Eigen::Vector3d lag = Eigen::Vector3d::Zero();    ///< from the reading to where they are [m]
    double given = 0;  ///< G: what bodies gave beyond what they were lent, so far
};

/// Energy at the port of a device, sample by sample with held outputs, and the damping that takes
/// out what the loop made; docs/haptics.md eq. (21)–(23). Device units. Allocates nothing.
class PassivityPort {
public:
    /// Throws InputError for options out of range.
    explicit PassivityPort(const PassivityOptions& options = {});

    /// At a new pose, `held` having acted since the last one. Returns what to add to the next
    /// command; zero when only observing. What is not finite is ignored. The first call takes the
    /// storage as given.
    [[nodiscard]] DeviceCommand update(const Pose& pose, const DeviceCommand& held,
                                       const PortStorage& storage, double dt) noexcept;

    /// Net energy that hand and bodies put into the loop [J]; passive: never below S − tolerance.
    [[nodiscard]] double energy() const noexcept { return energy_; }
    /// S where the energy is counted, at x̂ [J].
    [[nodiscard]] double stored() const noexcept { return stored_; }
    [[nodiscard]] double deficit() const noexcept { return deficit_; }  ///< > 0: energy was made
    [[nodiscard]] double damping() const noexcept { return damping_; }  ///< in use [N s/m]
    [[nodiscard]] double least_margin() const noexcept { return least_margin_; }  ///< of W − S [J]
    [[nodiscard]] double taken_out() const noexcept { return taken_out_; }        ///< so far [J]
    void set_control(bool is_on) noexcept { options_.controls = is_on; }
    /// The handle was turned so at the last update as well: a turn that nobody saw does no work.
    void forget_turn(const Quaternion& rotation) noexcept { last_pose_.rotation = rotation; }
    /// Begins anew: after jumps of the pose and outputs that were switched. Until the next update
    /// W and S are `stored` [J].
    void reset(double stored = 0) noexcept;

private:
    PassivityOptions options_;
    Pose last_pose_;
    Eigen::Vector3d last_place_ = Eigen::Vector3d::Zero();  ///< x̂
    Twist velocity_;
    DeviceCommand added_;  ///< by the last update
    double energy_ = 0, stored_ = 0, deficit_ = 0, damping_ = 0, least_margin_ = 0, taken_out_ = 0;
    double last_given_ = 0;
    bool has_last_ = false;
};

}  // namespace pliant
