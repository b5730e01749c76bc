#include <gtest/gtest.h>

#include "haptics/loop_samples.h"

// A shell whose points on edges carry the normal of one face: what a hasty sampling of a box gives.

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kBoxHalf = 0.02;

Pointshell box_with_edge_points() {
    constexpr int kSide = 11;
    Pointshell shell;
    shell.spacing = 2 * kBoxHalf / (kSide - 1);
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1})
            for (int i = 0; i < kSide; ++i)
                for (int j = 0; j < kSide; ++j) {
                    Vector3d p;
                    p[axis] = side * kBoxHalf;
                    p[(axis + 1) % 3] = kBoxHalf * (2.0 * i / (kSide - 1) - 1);
                    p[(axis + 2) % 3] = kBoxHalf * (2.0 * j / (kSide - 1) - 1);
                    shell.points.push_back(p.cast<float>());
                    shell.normals.push_back((-side * Vector3d::Unit(axis)).cast<float>());
                }
    shell.level_start = {0, shell.num_points()};
    return shell;
}

struct EdgeOutcome {
    double least_margin = 0;      ///< of W − S [J]
    double depth = 0, creep = 0;  ///< over its bound; along the edge [m]
};

/// The box in a slot of 0.2 mm more than its size at each side, or on a plane; turned and held by
/// a firm hand for some seconds.
EdgeOutcome hold_box(ContactNormals normals, bool is_slot) {
    DeviceModel model;
    SimulatedDevice device(model, HandModel::firm());
    RigidBodyOptions at;
    if (!is_slot) at.pose.position.z() = kBoxHalf + 0.001;
    RigidBody tool(RigidShape::sphere(0.01), test::box_surface(), at);
    RigidBody ground(RigidShape::sphere(0.01), test::box_surface());
    FieldPointer field = plane_set_field({FieldPlane{}});
    if (is_slot)
        field = unite_fields({plane_set_field({{Vector3d::UnitZ(), -kBoxHalf - 2e-4}}),
                              plane_set_field({{-Vector3d::UnitZ(), -kBoxHalf - 2e-4}})});
    ContactPairOptions options;
    options.loads.normals = normals;
    ContactPair pair({&tool, PointTree(box_with_edge_points())}, {&ground, field, {}}, options);
    const CouplingGains gains = derive_gains(
        device.capabilities(), {.cell = 1e-3, .gyration = kBoxHalf, .bounding = 0.035});
    HapticTool haptics(device, tool, {&pair}, gains);
    EdgeOutcome out;
    for (int k = 0; k < 6000; ++k) {
        const double time = 1e-3 * k;
        // pressed and turned, then swinging sideways about the edge
        const double press = std::min(1.0, time / 0.5), swing = std::sin(3 * time);
        device.aim({Vector3d(0.003 * swing, 0, -0.008 * press),
                    rotation_from_vector({0.15 * press * swing, 0.2 * press, 0})});
        static_cast<void>(pair.act(1e-3));
        const HapticTick& t = haptics.tick(time + 1e-3, 1e-3);
        static_cast<void>(tool.step(1e-3));
        out.depth = std::max(out.depth, t.depth / t.max_depth);
        out.creep = std::max(out.creep, std::abs(t.tool.position.y()));
    }
    out.least_margin = haptics.port().least_margin();
    return out;
}

TEST(EdgePoints, OfOneFaceOnlyAreTakenForWhatTheyAreByTools) {
    for (const bool is_slot : {false, true}) {
        // HapticTool asks pairs as they come for spread normals
        const EdgeOutcome out = hold_box(ContactNormals::Deformed, is_slot);
        EXPECT_LE(out.depth, 1.01) << is_slot;
        EXPECT_GE(out.least_margin, -PassivityOptions().tolerance) << is_slot;
        // nothing pulls it along its edge
        EXPECT_LT(out.creep, 2e-3) << is_slot;
        // normals of the faces alone make energy on a plane, and go deep in a slot
        const EdgeOutcome plain = hold_box(ContactNormals::Undeformed, is_slot);
        EXPECT_LE(plain.depth, 1.01) << is_slot;
        EXPECT_TRUE(is_slot ? plain.depth > 5 * out.depth : plain.least_margin < -1e-3)
            << plain.depth << " of " << out.depth << ", " << plain.least_margin << " J";
    }
}

}  // namespace
}  // namespace pliant
