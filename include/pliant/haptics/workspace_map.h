#pragma once

#include "pliant/haptics/device.h"

namespace pliant {

struct WorkspaceOptions {
    double scale = 1;                          ///< a: handle travel over travel in the scene
    Quaternion axes = Quaternion::Identity();  ///< turns vectors of the device into the world
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< of the device's workspace, in the world
    /// Part of the workspace, from the border inwards, in which the scene moves on under a handle
    /// that is held there; 0: none.
    double rate_border = 0;
    double rate_speed = 0.1;  ///< of the scene at the very border [m/s]
    int clutch_button = -1;   ///< while it is down the handle moves alone; −1: none
};

/// From the handle to the manipulandum in the scene and back; docs/haptics.md eq. (9)–(11). Forces
/// keep their size, torques are multiplied by the scale: power at the handle is the scale times
/// power in the scene for every motion, so that the port neither makes nor loses energy. Allocates
/// nothing.
class WorkspaceMap {
public:
    /// Throws InputError for a scale that is not positive and other options out of range.
    explicit WorkspaceMap(const DeviceCapabilities& capabilities,
                          const WorkspaceOptions& options = {});

    /// The manipulandum for a reading, `dt` seconds after the last one. Continuous through
    /// clutching, where a device comes back, and where its rotation does; a reading that is not
    /// finite, stale or of a device that is gone changes nothing.
    const Pose& update(const DeviceState& state, double dt) noexcept;
    [[nodiscard]] const Pose& manipulandum() const noexcept { return manipulandum_; }
    [[nodiscard]] Twist to_scene(const Twist& device) const noexcept;
    /// A load on the manipulandum as the handle shows it.
    [[nodiscard]] DeviceCommand to_device(const Wrench& on_manipulandum) const noexcept;
    [[nodiscard]] bool is_clutched() const noexcept { return is_clutched_; }
    /// How fast the scene moves on under a handle held at this place of the device [m/s], eq. (11).
    [[nodiscard]] Eigen::Vector3d drift(const Eigen::Vector3d& handle) const noexcept;
    [[nodiscard]] double scale() const noexcept { return options_.scale; }
    /// Puts the manipulandum there with the handle where it is.
    void place(const Pose& manipulandum, const DeviceState& state) noexcept;

private:
    [[nodiscard]] Pose mapped(const Pose& handle) const noexcept;
    void attach(const Pose& handle) noexcept;
    void attach_turn(const Pose& handle) noexcept;

    DeviceCapabilities capabilities_;
    WorkspaceOptions options_;
    Pose manipulandum_;
    Pose offset_;  ///< what clutching added: shift in the world, turn in the axes of the tool
    bool is_clutched_ = false, is_gone_ = false;
    bool is_turn_known_ = true;  ///< the last good reading had a rotation
};

}  // namespace pliant
