#include "pliant/scene/held_tool.h"

#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/haptics/recorded_device.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Handle travel kept in hand beyond what the motion needs, for springs that stretch.
constexpr double kReachMargin = 1.25;
/// Of the motion that is looked at, and between two looks [s].
constexpr double kLookedAt = 120, kLookStep = 0.02;
/// In which a hand is led from where the tool is to a recorded path [s].
constexpr double kLeadTime = 1;
/// Handle travel over travel in the scene.
constexpr double kLeastScale = 0.01, kLargestScale = 10;

struct ToolSize {
    double gyration = 0;  ///< of the surface about the grasp point [m]
    double bounding = 0;
};

ToolSize size_about(const SurfaceMesh& surface, const Vector3d& grasp) {
    double area = 0, moment = 0, farthest = 0;
    for (const auto& triangle : surface.triangles) {
        std::array<Vector3d, 3> x;
        for (std::size_t i = 0; i < 3; ++i)
            x[i] = surface.vertices[static_cast<std::size_t>(triangle[i])] - grasp;
        const double part = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]).norm();
        area += part;
        // exact mean of |x|² over a triangle
        const Vector3d sum = x[0] + x[1] + x[2];
        moment +=
            part / 12 *
            (x[0].squaredNorm() + x[1].squaredNorm() + x[2].squaredNorm() + sum.squaredNorm());
        for (const Vector3d& corner : x) farthest = std::max(farthest, corner.norm());
    }
    return {area > 0 ? std::sqrt(moment / area) : farthest, farthest};
}

/// Box of the places of the grasp point.
Box reach_of_hand(const Pose& start, const std::optional<ScriptedMotion>& motion,
                  const Vector3d& grasp) {
    Box box(start.to_world(grasp), start.to_world(grasp));
    if (motion)
        for (int i = 0; i * kLookStep <= kLookedAt; ++i)
            box.extend(motion->at(i * kLookStep).pose.to_world(grasp));
    return box;
}

/// The path of a recorded hand for a tool that starts elsewhere: led over in the first second.
ScriptedMotion path_from(const Pose& start, std::vector<Keyframe> keys) {
    const Pose first = keys.front().pose;
    for (Keyframe& key : keys) {
        if (key.time >= kLeadTime) break;
        const double s = key.time / kLeadTime, part = s * s * (3 - 2 * s);
        const Vector3d turn = rotation_difference(first.rotation, start.rotation);
        key.pose.position += (1 - part) * (start.position - first.position);
        key.pose.rotation =
            (rotation_from_vector((1 - part) * turn) * key.pose.rotation).normalized();
    }
    return ScriptedMotion(std::move(keys));
}

/// Half sides of the box along the axes of the device.
Vector3d reach_along(const Quaternion& axes, const Box& box) {
    return 0.5 * axes.conjugate().toRotationMatrix().cwiseAbs() * box.sizes();
}

/// The largest at which the workspace covers the reach, and room to explore for half of the tool.
double chosen_scale(const Vector3d& workspace, const Vector3d& reach, double bounding) {
    double scale = kLargestScale;
    for (int i = 0; i < 3; ++i)
        scale = std::min(scale, workspace[i] / std::max(kReachMargin * reach[i], 0.5 * bounding));
    return std::max(scale, kLeastScale);
}

void check_factor(const char* name, double value) {
    if (!(value >= 0.01 && value <= 100))
        throw InputError("", name, std::to_string(value), "0.01 <= value <= 100");
}

/// A measured latency in samples of the loop.
double delay_of(double latency, double rate) {
    const double delay = std::round(latency * rate);
    const auto text = [](double number) { return JsonWriter().value(number).text(); };
    if (!(delay <= kLongestDelay))
        throw InputError("", "device.latency", text(latency),
                         "at most " + text(kLongestDelay / rate) + " s, " + text(kLongestDelay) +
                             " ticks of a loop at " + text(rate) +
                             " Hz; measure again, or lower \"rate\"");
    return delay;
}

/// A device whose samples nobody chose has those of the loop.
DeviceDescription with_rate(DeviceDescription device, double rate) {
    if (auto* simulated = std::get_if<SimulatedDescription>(&device)) {
        if (!(simulated->model.rate > 0)) simulated->model.rate = rate;
        if (simulated->model.capabilities.name.empty())
            simulated->model.capabilities.name = "simulated device";
    }
    if (auto* recorded = std::get_if<RecordedDescription>(&device); recorded && recorded->rate > 0)
        recorded->states = resample(recorded->states, recorded->rate, rate);
    return device;
}

/// A device whose delay was measured.
class MeasuredDevice final : public HapticDevice {
public:
    MeasuredDevice(std::unique_ptr<HapticDevice> device, double delay)
        : device_(std::move(device)), capabilities_(device_->capabilities()) {
        capabilities_.delay = delay;
        check(capabilities_);
    }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    [[nodiscard]] DeviceState read(double now) noexcept override { return device_->read(now); }
    void write(const DeviceCommand& command) noexcept override { device_->write(command); }
    [[nodiscard]] const char* remedy() const noexcept override { return device_->remedy(); }

private:
    std::unique_ptr<HapticDevice> device_;
    DeviceCapabilities capabilities_;
};

/// What a person allows, of any device but one of a replay, which had its limits when it was
/// recorded.
DeviceDescription with_limits(DeviceDescription device, const DeviceLimits& limits) {
    const auto* const recorded = std::get_if<RecordedDescription>(&device);
    if (!recorded || !recorded->recording.empty()) limit(device, limits);
    return device;
}

}  // namespace

HeldTool make_held_tool(const HeldToolDescription& description, const DeviceDescription& device,
                        const HeldToolSurroundings& around) {
    check_factor("stiffness_factor", description.stiffness_factor);
    check_factor("angular_stiffness_factor", description.angular_stiffness_factor);
    HeldTool held;
    held.kind = kind(device);
    held.is_virtual = is_virtual(device);
    // recorded readings come with what was measured
    const bool is_measured = around.use.latency > 0 && !held.is_virtual;
    const double delay = is_measured ? delay_of(around.use.latency, around.rate) : 0.0;
    held.device = open_device(with_limits(with_rate(device, around.rate), around.use.limits));
    if (is_measured) held.device = std::make_unique<MeasuredDevice>(std::move(held.device), delay);
    if (const auto* simulated = std::get_if<SimulatedDescription>(&device)) {
        held.hand = simulated->hand;
        held.handle_mass = simulated->model.mass;
        if (!simulated->path.empty()) held.motion = path_from(around.start, simulated->path);
    }
    if (const auto* recorded = std::get_if<RecordedDescription>(&device))
        held.is_played_anew = !recorded->recording.empty();
    if (!held.motion) held.motion = around.motion;
    const DeviceCapabilities& can = held.device->capabilities();
    const Vector3d grasp =
        description.grasp ? *description.grasp : bounding_box(around.surface.vertices).center();
    const ToolSize size = size_about(around.surface, grasp);
    const Box reach = reach_of_hand(around.start, held.motion, grasp);

    held.scene.rate = around.rate;
    held.scene.scale = description.scale > 0
                           ? 1 / description.scale
                           : chosen_scale(can.workspace, reach_along(around.use.axes, reach),
                                          std::max(size.bounding, around.room));
    held.scene.cell = around.cell;
    held.scene.gyration = size.gyration;
    held.scene.bounding = size.bounding;
    held.scene.answer_time = around.answer_time;

    CouplingGains& gains = held.gains;
    gains = derive_gains(can, held.scene);
    if (around.bearable_stiffness > 0)
        gains.stiffness = std::min(gains.stiffness, around.bearable_stiffness);
    if (around.stiffness > 0) gains.stiffness = around.stiffness;
    gains.stiffness *= description.stiffness_factor;
    gains.angular_stiffness *= description.angular_stiffness_factor;
    if (description.max_depth > 0) gains.max_depth = description.max_depth;
    gains.contact_stiffness = std::max(gains.max_force / gains.max_depth, around.contact_stiffness);
    held.contact_stiffness = around.contact_stiffness;
    if (!description.has_injection) gains.injection = 0;
    held.warning = loose_limits(around.use.limits, can);
    const std::string changed = clamp_to_device(gains, can, held.scene);
    held.warning += (held.warning.empty() || changed.empty() ? "" : "; ") + changed;

    HapticToolOptions& options = held.options;
    options.workspace.scale = held.scene.scale;
    options.workspace.centre = reach.center();
    options.workspace.axes = around.use.axes;
    options.workspace.rate_border = around.use.rate_border;
    options.workspace.rate_speed = around.use.rate_speed;
    options.workspace.clutch_button = around.use.clutch_button;
    options.safety.deadman_button = around.use.deadman_button;
    options.kind = description.coupling;
    options.grasp = grasp;
    options.rate = around.rate;
    options.passivity.controls = description.has_passivity;
    options.backs_off = description.has_back_off;
    options.shows_force = description.has_force;
    return held;
}

}  // namespace pliant
