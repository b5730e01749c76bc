#include "pliant/haptics/scripted_device.h"

#include <cmath>

namespace pliant {

ScriptedDevice::ScriptedDevice(const ScriptedMotion& motion, const DeviceCapabilities& capabilities)
    : motion_(motion), capabilities_(capabilities) {
    check(capabilities_);
    if (capabilities_.name.empty()) capabilities_.name = "script";
}

DeviceState ScriptedDevice::read(double now) noexcept {
    if (!std::isfinite(now) || (has_state_ && now == state_.time)) {
        state_.status = DeviceStatus::Stale;
        return state_;
    }
    const RigidMotion motion = motion_.at(now);
    state_.time = now;
    state_.pose = motion.pose;
    state_.twist = motion.velocity;
    state_.status = DeviceStatus::Ok;
    has_state_ = true;
    return state_;
}

}  // namespace pliant
