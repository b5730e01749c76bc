#include "scene/haptic_record.h"

#include "pliant/core/error.h"

#include <cassert>

namespace pliant {
namespace {

/// Calls `each` for every real number of a tick, in the order of the file, docs/scene.md table
/// "Records".
template <class Tick, class Each>
void each_number(Tick& t, const Each& each) noexcept {
    const auto vector = [&](auto& v) {
        for (int i = 0; i < 3; ++i) each(v[i]);
    };
    const auto pose = [&](auto& p) {
        vector(p.position);
        each(p.rotation.w());
        each(p.rotation.x());
        each(p.rotation.y());
        each(p.rotation.z());
    };
    const auto wrench = [&](auto& w) {
        vector(w.force);
        vector(w.torque);
    };
    each(t.device.time);
    pose(t.device.pose);
    vector(t.device.twist.linear);
    vector(t.device.twist.angular);
    each(t.device.gripper);
    wrench(t.command);
    each(t.command.gripper);
    pose(t.manipulandum);
    pose(t.tool);
    wrench(t.contact);
    wrench(t.coupling);
    each(t.depth);
    each(t.max_depth);
    each(t.worst_depth);
    each(t.port_energy);
    each(t.stored_energy);
    each(t.oscillation);
    each(t.gain_scale);
    each(t.step_scale);
    // since version 3; files before it have none, and read zero: the device did not say
    each(t.device.clock);
}

}  // namespace

HapticRecord to_record(const HapticTick& tick) noexcept {
    HapticRecord record;
    std::size_t i = 0;
    each_number(tick, [&](const double& x) { record.numbers[i++] = x; });
    assert(i == HapticRecord::kNumbers);
    record.violations = tick.violations;
    record.buttons = tick.device.buttons;
    record.num_contacts = tick.num_contacts;
    record.device_status = static_cast<std::uint8_t>(tick.device.status);
    record.status = static_cast<std::uint8_t>(tick.status);
    return record;
}

bool from_record(const HapticRecord& record, HapticTick& tick) noexcept {
    tick = {};
    if (record.status >= kNumStepStatuses || record.device_status >= kNumDeviceStatuses)
        return false;
    std::size_t i = 0;
    each_number(tick, [&](double& x) { x = record.numbers[i++]; });
    tick.violations = record.violations;
    tick.device.buttons = record.buttons;
    tick.num_contacts = record.num_contacts;
    tick.device.status = static_cast<DeviceStatus>(record.device_status);
    tick.status = static_cast<StepStatus>(record.status);
    return true;
}

}  // namespace pliant
