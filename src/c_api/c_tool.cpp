#include "c_api/c_world.h"

#include <algorithm>
#include <cmath>

using namespace pliant;
using namespace pliant::c_api;

namespace {

/// As in scene files: four digits do.
constexpr double kUnitTolerance = 1e-3;

void copy_pose(const Pose& pose, double* position, double* rotation) noexcept {
    std::copy_n(pose.position.data(), 3, position);
    const Quaternion& q = pose.rotation;
    rotation[0] = q.w();
    rotation[1] = q.x();
    rotation[2] = q.y();
    rotation[3] = q.z();
}

pliant_wrench to_c(const Eigen::Vector3d& force, const Eigen::Vector3d& torque) noexcept {
    return {{force.x(), force.y(), force.z()}, {torque.x(), torque.y(), torque.z()}};
}

/// Or says what is missing.
pliant_status require_tool(const char* function, const pliant_world* world) noexcept {
    if (!world) return fail_null(function, "world");
    if (world->tool_kind == PLIANT_TOOL_NONE)
        return fail(PLIANT_NO_TOOL,
                    "%s: the scene \"%s\" has no tool; give it one with \"tool\", or push vertices "
                    "with pliant_add_force() and pliant_grab()",
                    function, world->world.scene().name.c_str());
    return PLIANT_OK;
}

const SimulationLoop& loop_of_tool(const pliant_world& w) noexcept {
    return w.world.loop(w.tool_loop);
}

}  // namespace

extern "C" {

pliant_tool_kind pliant_get_tool_kind(const pliant_world* world) {
    return world ? world->tool_kind : PLIANT_TOOL_NONE;
}

pliant_status pliant_set_handle(pliant_world* world, const pliant_handle* handle) {
    constexpr const char* kFunction = "pliant_set_handle";
    if (const pliant_status status = require_tool(kFunction, world)) return status;
    if (!handle) return fail_null(kFunction, "handle");
    const pliant_handle& h = *handle;
    if (!are_finite(kFunction, "position", h.position, 3) ||
        !are_finite(kFunction, "rotation", h.rotation, 4) ||
        !are_finite(kFunction, "velocity", h.velocity, 3) ||
        !are_finite(kFunction, "angular_velocity", h.angular_velocity, 3))
        return PLIANT_BAD_ARGUMENT;
    const Quaternion rotation(h.rotation[0], h.rotation[1], h.rotation[2], h.rotation[3]);
    if (!(std::abs(rotation.norm() - 1) < kUnitTolerance))
        return fail(PLIANT_BAD_ARGUMENT,
                    "%s: rotation has length %g (expected 1; w, x, y, z, no rotation is 1, 0, 0, "
                    "0)",
                    kFunction, rotation.norm());
    if (world->tool_kind == PLIANT_TOOL_SPHERE) {
        Command command{.kind = Command::Kind::MoveTool};
        std::copy_n(h.position, 3, command.target.begin());
        world->world.apply(command);
        return PLIANT_OK;
    }
    DeviceState state;
    state.pose = {{h.position[0], h.position[1], h.position[2]}, rotation.normalized()};
    state.twist = {{h.velocity[0], h.velocity[1], h.velocity[2]},
                   {h.angular_velocity[0], h.angular_velocity[1], h.angular_velocity[2]}};
    state.buttons = h.buttons;
    if (!world->handle->move(state))
        return fail(PLIANT_BAD_ARGUMENT, "%s: position is beyond 1e9 m", kFunction);
    return PLIANT_OK;
}

pliant_status pliant_release_handle(pliant_world* world) {
    if (const pliant_status status = require_tool("pliant_release_handle", world)) return status;
    world->handle->disconnect();
    return PLIANT_OK;
}

pliant_status pliant_get_wrench(const pliant_world* world, pliant_wrench* wrench) {
    constexpr const char* kFunction = "pliant_get_wrench";
    if (const pliant_status status = require_tool(kFunction, world)) return status;
    if (!wrench) return fail_null(kFunction, "wrench");
    if (const HapticTick* const tick = loop_of_tool(*world).haptic_tick())
        *wrench = to_c(tick->command.force, tick->command.torque);
    else
        *wrench = to_c(loop_of_tool(*world).tool()->last_load().force, Eigen::Vector3d::Zero());
    return PLIANT_OK;
}

pliant_status pliant_get_tool(const pliant_world* world, pliant_tool* tool) {
    constexpr const char* kFunction = "pliant_get_tool";
    if (const pliant_status status = require_tool(kFunction, world)) return status;
    if (!tool) return fail_null(kFunction, "tool");
    *tool = {};
    if (const HapticTick* const tick = loop_of_tool(*world).haptic_tick()) {
        copy_pose(tick->tool, tool->position, tool->rotation);
        copy_pose(tick->manipulandum, tool->wanted_position, tool->wanted_rotation);
        tool->contact = to_c(tick->contact.force, tick->contact.torque);
        tool->depth = tick->depth;
        tool->num_contacts = tick->num_contacts;
        return PLIANT_OK;
    }
    const RigidBody& sphere = *loop_of_tool(*world).tool();
    const Pose& pose = sphere.motion().pose;
    copy_pose(pose, tool->position, tool->rotation);
    copy_pose(pose, tool->wanted_position, tool->wanted_rotation);
    tool->contact = to_c(sphere.last_load().force, sphere.last_load().torque);
    tool->num_contacts = sphere.last_load().force.isZero(0) ? 0 : 1;
    return PLIANT_OK;
}

}  // extern "C"
