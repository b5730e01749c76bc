#include "pliant/haptics/external_device.h"

#include "haptics/command_limits.h"
#include "pliant/core/error.h"

#include <cmath>
#include <utility>

namespace pliant {

bool ExternalHandle::move(const DeviceState& state) noexcept {
    if (!is_usable(state.pose) || !state.twist.linear.allFinite() ||
        !state.twist.angular.allFinite() || !std::isfinite(state.gripper))
        return false;
    state_ = state;
    is_new_ = true;
    return true;
}

void ExternalHandle::disconnect() noexcept {
    state_.status = DeviceStatus::Disconnected;
    shown_ = {};
    is_new_ = false;
}

ExternalDevice::ExternalDevice(std::shared_ptr<ExternalHandle> handle,
                               const DeviceCapabilities& capabilities)
    : handle_(std::move(handle)), capabilities_(capabilities) {
    if (!handle_)
        throw InputError("",
                         "an external device has no handle; give the one that the program moves");
    check(capabilities_);
    if (capabilities_.name.empty()) capabilities_.name = "external device";
}

void ExternalDevice::write(const DeviceCommand& command) noexcept {
    handle_->shown_ = within_limits(command, capabilities_);
}

DeviceState ExternalDevice::read(double now) noexcept {
    DeviceState& state = handle_->state_;
    if (handle_->is_new_ && std::isfinite(now))
        state.time = now;
    else if (state.status != DeviceStatus::Disconnected)
        state.status = DeviceStatus::Stale;
    handle_->is_new_ = false;
    return state;
}

}  // namespace pliant
