#include "pliant/haptics/device.h"

#include "haptics/input_range.h"

namespace pliant {

void check(const DeviceCapabilities& capabilities) {
    for (int axis = 0; axis < 3; ++axis)
        require_range("workspace", capabilities.workspace[axis], 1e-3, 100, "m");
    require_range("max_force", capabilities.max_force, 1e-3, 1000, "N");
    require_range("max_torque", capabilities.max_torque, 0, 100, "N m");
    require_range("continuous_force", capabilities.continuous_force, 1e-3, capabilities.max_force,
                  "N, the largest force");
    require_range("max_stiffness", capabilities.max_stiffness, 1, 1e6, "N/m");
    require_range("max_angular_stiffness", capabilities.max_angular_stiffness, 0, 1e5, "N m/rad");
    require_range("damping", capabilities.damping, 0, 1e4, "N s/m");
    require_range("angular_damping", capabilities.angular_damping, 0, 1e3, "N m s/rad");
    require_range("delay", capabilities.delay, 0, kLongestDelay, "samples");
    require_range("position_step", capabilities.position_step, 0, 0.01, "m");
    require_range("angle_step", capabilities.angle_step, 0, 0.5, "rad");
}

const char* name(DeviceStatus status) noexcept {
    switch (status) {
        case DeviceStatus::Ok: return "ok";
        case DeviceStatus::Disabled: return "disabled";
        case DeviceStatus::Stale: return "stale";
        case DeviceStatus::Disconnected: return "disconnected";
    }
    return "unknown";
}

}  // namespace pliant
