#pragma once

#include "haptics/coupling_samples.h"
#include "haptics/loop_step.h"
#include "pliant/field/analytic_field.h"

#include <functional>
#include <string>
#include <vector>

/// Tools in hands that feel nothing and go where they want, against the depth bound of
/// docs/haptics.md eq. (20b).
namespace pliant::test {

using Hand = std::function<Pose(double)>;

/// A turn of half the bound at the farthest point leaves its tangent by the bound over eight
/// reaches, less than a hundredth in these scenes; curved fields likewise.
inline constexpr double kTangent = 0.01;

inline CouplingGains bound_gains(const ToolShape& tool, double max_depth) {
    DeviceCapabilities device = sample_device();
    CouplingScene scene;
    scene.cell = 2 * max_depth;
    scene.gyration = tool.gyration();
    scene.bounding = tool.reach();
    return derive_gains(device, scene);
}

struct BoundScene {
    std::string name;
    ToolShape tool;
    FieldPointer field;
    Pose start;
    double max_depth = 0.5e-3;
    FieldPointer exact = {};  ///< of what `field` is made from; null: not asked
};

inline ToolShape held_at(ToolShape tool, const Vector3d& grasp) {
    for (Vector3d& p : tool.points) p -= grasp;
    return tool;
}
inline ToolShape block(double x, double y, double z, double spacing = 2e-3) {
    ToolShape tool;
    tool.add_box({x, y, z}, spacing);
    return tool;
}
inline ToolShape ball_tool(double radius, int count) {
    ToolShape tool;
    tool.add_sphere(radius, count);
    return tool;
}
inline FieldPointer ground() { return plane_set_field({{Vector3d(0, 0, 1), 0.0}}); }
inline FieldPointer walls_at(double half, std::initializer_list<int> axes) {
    std::vector<FieldPointer> parts;
    for (const int axis : axes)
        for (const double side : {-1.0, 1.0})
            parts.push_back(plane_set_field({{side * Vector3d::Unit(axis), -half}}));
    return unite_fields(parts);
}
inline FieldPointer posts_at(double b, double thick, double radius) {
    const FieldPointer post = capsule_field(radius, 0.02);
    const auto id = Eigen::Quaterniond::Identity();
    return unite_fields({move_field(post, {b, thick + radius, 0}, id),
                         move_field(post, {-b, -thick - radius, 0}, id)});
}

struct BoundOutcome {
    double depth = 0;        ///< over max_depth
    double exact_depth = 0;  ///< in the exact field [m]
    double contact = 0;      ///< part of the ticks
    int num_held = 0, num_limited = 0;
    Pose pose;
};
inline BoundOutcome run_hand(const BoundScene& scene, const Hand& hand, double seconds,
                             const CouplingOptions& options = {}) {
    const CouplingGains gains = bound_gains(scene.tool, scene.max_depth);
    ContactLoadOptions loads;
    loads.stiffness = gains.contact_stiffness;
    loads.cap_depth = 0.5 * gains.max_depth;
    ToolScene world(scene.tool, scene.field, loads);
    StaticCoupling coupling(gains, options);
    coupling.place(scene.start);
    BoundOutcome out;
    const int n = static_cast<int>(seconds / kLoopStep);
    for (int i = 0; i < n; ++i) {
        const ToolContact& contact = world.contact(coupling.pose());
        out.depth = std::max(out.depth, world.depth() / gains.max_depth);
        if (scene.exact)
            for (const Vector3d& p : scene.tool.points)
                out.exact_depth = std::max(
                    out.exact_depth, -double{scene.exact->distance(coupling.pose().to_world(p))});
        EXPECT_EQ(coupling.update(hand(i * kLoopStep), contact, kLoopStep), StepStatus::Ok);
        const CouplingReport& report = coupling.report();
        out.num_held += report.is_held ? 1 : 0;
        out.num_limited += report.is_shift_limited || report.is_turn_limited ? 1 : 0;
        out.contact += contact.num_contacts > 0 ? 1.0 / n : 0;
    }
    out.pose = coupling.pose();
    return out;
}

/// From one place to the next, all reached: up to `reach` and `turn` from the start, in `seconds`.
inline Hand wandering(const Pose& start, double reach, double turn, double seconds, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Pose> places = {start};
    for (int i = 0; i < 200; ++i) {
        const Vector3d shift = normal_vector(random, reach / 2),
                       rotation = normal_vector(random, turn / 2);
        places.push_back({start.position + shift, rotation_from_vector(rotation)});
    }
    return [places, seconds](double t) {
        const double s = t / seconds;
        const auto i = std::min(static_cast<std::size_t>(s), places.size() - 2);
        return interpolate(places[i], places[i + 1], std::min(s - static_cast<double>(i), 1.0));
    };
}

}  // namespace pliant::test
