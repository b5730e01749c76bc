#pragma once

#include "haptics/pose_rules.h"
#include "pliant/haptics/device.h"

#include <algorithm>
#include <cmath>

namespace pliant {

/// What a device can show of a command: nothing of what is not finite, nothing on axes that are
/// not actuated, no more than its largest force and torque.
[[nodiscard]] inline DeviceCommand within_limits(const DeviceCommand& command,
                                                 const DeviceCapabilities& can) noexcept {
    DeviceCommand shown;
    if (!command.force.allFinite() || !command.torque.allFinite()) return shown;
    shown.force = command.force;
    shown.torque = command.torque;
    for (int axis = 0; axis < 3; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        if (!can.is_actuated[i]) shown.force[axis] = 0;
        if (!can.is_actuated[i + 3]) shown.torque[axis] = 0;
    }
    shown.force = shortened(shown.force, can.max_force);
    shown.torque = shortened(shown.torque, can.max_torque);
    if (std::isfinite(command.gripper))
        shown.gripper = std::clamp(command.gripper, -can.max_force, can.max_force);
    return shown;
}

}  // namespace pliant
