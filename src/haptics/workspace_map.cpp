#include "pliant/haptics/workspace_map.h"

#include "haptics/input_range.h"
#include "haptics/pose_rules.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

WorkspaceMap::WorkspaceMap(const DeviceCapabilities& capabilities, const WorkspaceOptions& options)
    : capabilities_(capabilities), options_(options) {
    check(capabilities);
    require_range("workspace.scale", options.scale, 1e-6, 1e6, "");
    require_range("workspace.rate_border", options.rate_border, 0, 0.9, "of the workspace");
    require_range("workspace.rate_speed", options.rate_speed, 0, 1e3, "m/s");
    require_range("workspace.clutch_button", options.clutch_button, -1, 31, "");
    if (!is_usable({options.centre, options.axes}))
        throw InputError("",
                         "workspace.centre or workspace.axes is not finite or beyond 1e9; give the "
                         "place of the device in the scene and a rotation");
    options_.axes.normalize();
    manipulandum_ = mapped({});
}

Pose WorkspaceMap::mapped(const Pose& handle) const noexcept {
    const Quaternion turn = options_.axes * handle.rotation * options_.axes.conjugate();
    return {options_.centre + options_.axes * (handle.position / options_.scale),
            turn.normalized()};
}

void WorkspaceMap::attach(const Pose& handle) noexcept {
    // motions of the hand stay parallel to those of the manipulandum after any clutching
    offset_.position = manipulandum_.position - mapped(handle).position;
    attach_turn(handle);
}

void WorkspaceMap::attach_turn(const Pose& handle) noexcept {
    const Quaternion there = mapped(handle).rotation;
    offset_.rotation = (there.conjugate() * manipulandum_.rotation).normalized();
}

Vector3d WorkspaceMap::drift(const Vector3d& handle) const noexcept {
    if (!(options_.rate_border > 0) || !handle.allFinite()) return Vector3d::Zero();
    // depth in the border, per axis, 0 at its inner side and 1 at the end of the workspace
    Vector3d depth;
    for (int i = 0; i < 3; ++i) {
        const double part = std::abs(handle[i]) / capabilities_.workspace[i];
        const double into = (part - (1 - options_.rate_border)) / options_.rate_border;
        depth[i] = std::copysign(std::clamp(into, 0.0, 1.0), handle[i]);
    }
    const double size = depth.norm();
    if (size > 1) depth /= size;
    // eq. (11): speed and its slope begin at zero
    return options_.axes * (options_.rate_speed * std::min(size, 1.0) * depth);
}

const Pose& WorkspaceMap::update(const DeviceState& state, double dt) noexcept {
    if (state.status == DeviceStatus::Disconnected || state.status == DeviceStatus::Uncalibrated)
        is_gone_ = true;
    if (!says_where(state.status) || !is_usable(state.pose)) return manipulandum_;
    const Pose handle = {state.pose.position, state.pose.rotation.normalized()};

    const bool was_held = is_clutched_ || is_gone_;
    is_gone_ = false;
    is_clutched_ = options_.clutch_button >= 0 && ((state.buttons >> options_.clutch_button) & 1u);
    if (was_held || is_clutched_) attach(handle);
    // a rotation that was away may be any when it comes back
    if (state.status == DeviceStatus::NoRotation) {
        is_turn_known_ = false;
    } else if (state.status == DeviceStatus::Ok && !is_turn_known_) {
        is_turn_known_ = true;
        attach_turn(handle);
    }
    if (is_clutched_) return manipulandum_;

    // a pause of the loop is not made up for
    constexpr double kLongestStep = 0.05;
    if (dt > 0) offset_.position += std::min(dt, kLongestStep) * drift(handle.position);
    const Pose there = mapped(handle);
    const Pose next = {there.position + offset_.position,
                       (there.rotation * offset_.rotation).normalized()};
    if (is_usable(next)) manipulandum_ = next;
    return manipulandum_;
}

Twist WorkspaceMap::to_scene(const Twist& device) const noexcept {
    return {options_.axes * (device.linear / options_.scale), options_.axes * device.angular};
}

DeviceCommand WorkspaceMap::to_device(const Wrench& on_manipulandum) const noexcept {
    const Quaternion back = options_.axes.conjugate();
    DeviceCommand command;
    command.force = back * on_manipulandum.force;
    command.torque = options_.scale * (back * on_manipulandum.torque);  // eq. (10)
    return command;
}

void WorkspaceMap::place(const Pose& manipulandum, const DeviceState& state) noexcept {
    if (!is_usable(manipulandum)) return;
    manipulandum_ = {manipulandum.position, manipulandum.rotation.normalized()};
    // else from the next good reading on
    is_gone_ = !is_usable(state.pose);
    if (!is_gone_) attach({state.pose.position, state.pose.rotation.normalized()});
}

}  // namespace pliant
