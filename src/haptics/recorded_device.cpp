#include "pliant/haptics/recorded_device.h"

#include "pliant/core/error.h"
#include "pliant/haptics/device_safety.h"

#include "haptics/input_range.h"
#include "haptics/pose_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

/// A jump stays one, so that DeviceSafety sees it as it did when it was recorded.
bool has_jump(const Pose& a, const Pose& b) {
    const DeviceSafetyOptions limits;
    return !((b.position - a.position).norm() <= limits.max_jump &&
             rotation_difference(a.rotation, b.rotation).norm() <= limits.max_turn);
}

bool may_interpolate(const DeviceState& a, const DeviceState& b) {
    const auto is_good = [](const DeviceState& s) {
        return s.status != DeviceStatus::Disconnected && is_usable(s.pose);
    };
    return is_good(a) && is_good(b) && a.status == b.status && !has_jump(a.pose, b.pose);
}

}  // namespace

std::vector<DeviceState> resample(const std::vector<DeviceState>& states, double from, double to) {
    require_range("rate", to, 1e-3, 1e6, "Hz");
    // beyond that nothing of the motion is left, or memory would not do
    require_range("rate of the recording", from, 0.01 * to, 100 * to, "Hz");
    if (from == to || states.empty()) return states;
    const auto count = static_cast<std::size_t>(
        std::ceil(static_cast<double>(states.size()) * (to / from) - 1e-6));
    std::vector<DeviceState> result;
    result.reserve(count);
    for (std::size_t k = 0; k < count; ++k) {
        // reading i is of the end of tick i: time (i + 1)/rate
        const double end = static_cast<double>(k + 1) / to;
        const double last = static_cast<double>(states.size() - 1);
        const double place = std::clamp(end * from - 1, 0.0, last);
        const auto i = static_cast<std::size_t>(place);
        const double part = place - static_cast<double>(i);
        DeviceState state = states[i];
        state.time = end - (static_cast<double>(i + 1) / from - state.time);
        if (i + 1 < states.size() && part > 0 && may_interpolate(state, states[i + 1])) {
            const DeviceState& next = states[i + 1];
            state.pose = interpolate(state.pose, next.pose, part);
            state.twist.linear += part * (next.twist.linear - state.twist.linear);
            state.twist.angular += part * (next.twist.angular - state.twist.angular);
            state.gripper += part * (next.gripper - state.gripper);
            if (state.clock != 0 && next.clock != 0)
                state.clock += part * (next.clock - state.clock);
        }
        result.push_back(state);
    }
    return result;
}

RecordedDevice::RecordedDevice(std::vector<DeviceState> states,
                               const DeviceCapabilities& capabilities)
    : states_(std::move(states)), capabilities_(capabilities) {
    check(capabilities_);
    if (states_.empty())
        throw InputError("", "recording of a device has no readings; record a longer run");
    if (capabilities_.name.empty()) capabilities_.name = "recording";
}

DeviceState RecordedDevice::read(double /*now*/) noexcept {
    const bool is_over = is_at_end();
    DeviceState state = is_over ? states_.back() : states_[next_++];
    state.time -= zero_time_;
    if (is_over) state.status = DeviceStatus::Disconnected;
    return state;
}

}  // namespace pliant
