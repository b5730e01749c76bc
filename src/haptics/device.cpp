#include "pliant/haptics/device.h"

#include "core/numbers.h"
#include "haptics/input_range.h"

#include <algorithm>

namespace pliant {
namespace {

/// The lowest force that was said without a torque.
double lone_force_of(const DeviceLimits& limits) noexcept {
    return limits.max_torque == kInfinity ? std::min(limits.lone_force, limits.max_force)
                                          : limits.lone_force;
}

/// Torque of `limits` with a force that somebody else said alone.
double torque_with(const DeviceLimits& limits, double force) noexcept {
    return limits.max_force != kInfinity && force < limits.max_force
               ? limits.max_torque * (force / limits.max_force)
               : limits.max_torque;
}

}  // namespace

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

DeviceLimits smaller(const DeviceLimits& a, const DeviceLimits& b) noexcept {
    const double lone_a = lone_force_of(a), lone_b = lone_force_of(b);
    return {std::min(a.max_force, b.max_force),
            std::min(torque_with(a, lone_b), torque_with(b, lone_a)), std::min(lone_a, lone_b)};
}

DeviceCapabilities limited(DeviceCapabilities can, const DeviceLimits& limits) {
    // infinite: none
    if (limits.max_force != kInfinity)
        require_range("max_force", limits.max_force, 1e-3, 1000,
                      "N; for no force at all, \"force\": false of the tool");
    if (limits.max_torque != kInfinity)
        require_range("max_torque", limits.max_torque, 0, 100, "N m");
    const double force = std::min(can.max_force, limits.max_force);
    const double in_proportion = can.max_torque * (force / can.max_force);
    // of every limit on its own the lowest holds, in whatever order they were said
    const double lone = std::min(1.0, lone_force_of(limits) / can.max_force);
    const double torque = std::min(can.max_torque * lone, limits.max_torque);
    double lasting = std::min(can.continuous_force, force);
    // motors that turn more than they push get no warmer than they did
    if (torque > in_proportion)
        lasting = std::min(
            lasting, force * (can.continuous_force / can.max_force) * (can.max_torque / torque));
    can.continuous_force = std::max(1e-3, lasting);
    can.max_force = force;
    can.max_torque = torque;
    return can;
}

std::string loose_limits(const DeviceLimits& limits, const DeviceCapabilities& can) {
    std::string text;
    const auto note = [&](const char* key, double limit, double most, const char* unit) {
        if (limit == kInfinity || !(limit > most)) return;
        const auto number = [](double value) { return JsonWriter().value(value).text(); };
        text += (text.empty() ? "" : "; ") + std::string(key) + " = " + number(limit) + " " + unit +
                " is more than " + (can.name.empty() ? "the device" : can.name) + " shows, " +
                number(most) + " " + unit + ", which holds";
    };
    note("max_force", limits.max_force, can.max_force, "N");
    note("max_torque", limits.max_torque, can.max_torque, "N m");
    return text;
}

const char* name(DeviceStatus status) noexcept {
    switch (status) {
        case DeviceStatus::Ok: return "ok";
        case DeviceStatus::Disabled: return "disabled";
        case DeviceStatus::Stale: return "stale";
        case DeviceStatus::Disconnected: return "disconnected";
        case DeviceStatus::Uncalibrated: return "not calibrated";
        case DeviceStatus::NoRotation: return "no rotation";
    }
    return "unknown";
}

}  // namespace pliant
