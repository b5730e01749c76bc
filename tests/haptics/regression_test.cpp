#include <gtest/gtest.h>

#include <cstdio>

#include "haptics/alpha_samples.h"
#include "haptics/coupling_samples.h"
#include "pliant/field/analytic_field.h"

// Short closed loops and what was felt in them: changes of contact, coupling, safety or devices
// that change feel show here.

namespace pliant {
namespace {

using namespace test;
using Eigen::Vector3d;

/// Force [N] and torque [N m] at the handle, in a tick.
struct FeltSample {
    int tick;
    double force[3], torque[3];
};

/// A loop and where the hand wants the tool.
struct FeltRun {
    ToolInHand held;
    Pose (*wanted)(double time);
};

/// What stays of a tick to compare.
struct FeltTick {
    Eigen::Vector3d force, torque, place;
    Eigen::Vector4d turn;
    double depth, energy;
};
std::vector<FeltTick> feel(FeltRun run, int num_ticks) {
    std::vector<FeltTick> ticks;
    for (int k = 0; k < num_ticks; ++k) {
        const HapticTick& t = run.held.step(run.wanted(kHapticStep * k));
        EXPECT_LE(t.depth, run.held.gains().max_depth) << k;
        ticks.push_back({t.command.force, t.command.torque, t.tool.position,
                         t.tool.rotation.coeffs(), t.depth, t.port_energy});
    }
    return ticks;
}

/// One step of the encoders, 20 µm, may fall the other way on another machine: 12 mN through the
/// springs of 600 N/m and as much through the damping of 2 N s/m, at a lever of 2 cm.
constexpr double kForceTolerance = 0.025, kTorqueTolerance = 5e-4;

/// Two runs are the same to the last bit, and feel as they did.
template <class Make>
void expect_signature(const Make& make, const std::vector<FeltSample>& expected) {
    const int num_ticks = expected.back().tick + 1;
    const std::vector<FeltTick> a = feel(make(), num_ticks), b = feel(make(), num_ticks);
    for (std::size_t k = 0; k < a.size(); ++k) {
        ASSERT_EQ(a[k].force, b[k].force) << k;
        ASSERT_EQ(a[k].torque, b[k].torque) << k;
        ASSERT_EQ(a[k].place, b[k].place) << k;
        ASSERT_EQ(a[k].turn, b[k].turn) << k;
        ASSERT_EQ(a[k].energy, b[k].energy) << k;
    }
    std::string found;
    bool is_same = true;
    for (const FeltSample& sample : expected) {
        const FeltTick& t = a[static_cast<std::size_t>(sample.tick)];
        is_same = is_same && (t.force - Vector3d(sample.force)).norm() <= kForceTolerance &&
                  (t.torque - Vector3d(sample.torque)).norm() <= kTorqueTolerance;
        char row[200];
        std::snprintf(row, sizeof row, "{%d, {%.3f, %.3f, %.3f}, {%.5f, %.5f, %.5f}},\n",
                      sample.tick, t.force.x(), t.force.y(), t.force.z(), t.torque.x(),
                      t.torque.y(), t.torque.z());
        found += row;
    }
    EXPECT_TRUE(is_same) << "felt now:\n" << found;
}

PointTree box_tree(const Vector3d& half, double spacing) {
    ToolShape shape;
    shape.add_box(half, spacing);
    return shape.tree();
}
double ramp(double time, double from, double to) {
    const double s = std::clamp((time - from) / (to - from), 0.0, 1.0);
    return s * s * (3 - 2 * s);
}

TEST(FeltSignature, BoxPressedOnAPlaneAndTilted) {
    const auto make = [] {
        ToolInHandOptions options;
        options.start.position = Vector3d(0, 0, 0.022);
        return FeltRun{ToolInHand(box_tree(Vector3d::Constant(0.02), 0.004),
                                  plane_set_field({FieldPlane{}}), options),
                       [](double t) {
                           return Pose{
                               {0.01 * ramp(t, 0.8, 1.2), 0, 0.022 - 0.014 * ramp(t, 0.2, 0.7)},
                               rotation_from_vector({0, 0.25 * ramp(t, 0.9, 1.4), 0})};
                       }};
    };
    expect_signature(make, {{300, {0.000, 0.000, 0.012}, {0, 0, 0}},
                            {500, {0.000, 0.000, 1.488}, {0, 0, 0}},
                            {800, {0.000, 0.000, 2.404}, {0, 0, 0}},
                            {1100, {-0.086, 0.000, 2.392}, {0, -0.01667, 0}},
                            {1600, {0.000, 0.000, 2.459}, {0, -0.04380, 0}}});
}

TEST(FeltSignature, BallSlidOverBumps) {
    const auto make = [] {
        ToolShape ball;
        ball.add_sphere(0.005, 1200);
        std::vector<FieldPointer> parts = {plane_set_field({FieldPlane{}})};
        for (const double x : {0.0, 0.015})
            parts.push_back(move_field(sphere_field(0.004), {x, 0.001, -0.002},
                                       Eigen::Quaterniond::Identity()));
        ToolInHandOptions options;
        options.start.position = Vector3d(-0.02, 0, 0.006);
        return FeltRun{ToolInHand(ball.tree(), unite_fields(parts), options), [](double t) {
                           return Pose{{-0.02 + 0.05 * std::max(0.0, t - 0.7), 0,
                                        0.006 - 0.008 * ramp(t, 0.2, 0.7)},
                                       Quaternion::Identity()};
                       }};
    };
    expect_signature(make, {{700, {-0.011, 0.008, 1.394}, {0, 0, 0}},
                            {1000, {-0.160, 0.009, 1.395}, {0, 0, 0}},
                            {1100, {-1.050, -0.451, 1.400}, {0, 0, 0}},
                            {1250, {-0.080, -0.042, 1.406}, {0, 0, 0}},
                            {1400, {-1.027, -0.446, 1.390}, {0, 0, 0}},
                            {1600, {-0.187, 0.069, 1.372}, {0, 0, 0}}});
}

TEST(FeltSignature, BoxInAShaftPressedAsideTurnedAndPulledAlong) {
    const auto make = [] {
        std::vector<FieldPointer> walls;
        for (const int axis : {0, 1})
            for (const double side : {-1.0, 1.0})
                walls.push_back(plane_set_field({{side * Vector3d::Unit(axis), -0.0102}}));
        return FeltRun{ToolInHand(box_tree({0.01, 0.01, 0.02}, 0.002), unite_fields(walls), {}),
                       [](double t) {
                           return Pose{{0.012 * ramp(t, 0.1, 0.5), 0.008 * ramp(t, 0.3, 0.7),
                                        0.03 * ramp(t, 0.8, 1.4)},
                                       rotation_from_vector({0, 0, 0.4 * ramp(t, 0.6, 1.0)})};
                       }};
    };
    expect_signature(make, {{300, {-1.006, 0.000, 0.000}, {0, 0, 0}},
                            {600, {-2.343, -1.326, 0.000}, {0, 0, 0}},
                            {900, {-2.406, -1.628, -0.103}, {0, 0, -0.04906}},
                            {1200, {-2.405, -1.603, -0.176}, {0, 0, -0.05854}},
                            {1500, {-2.409, -1.614, 0.000}, {0, 0, -0.05854}}});
}

TEST(FeltSignature, PegPutIntoAHoleBesideItsAxis) {
    const auto make = [] {
        // a square hole of 16.6 mm in a plate, the peg 16 mm
        std::vector<FieldPointer> plate;
        const FieldPointer part = box_field({0.02, 0.05, 0.01});
        for (const int quarter : {0, 1, 2, 3}) {
            const Eigen::Quaterniond turn(
                Eigen::AngleAxisd(0.5 * std::numbers::pi * quarter, Vector3d::UnitZ()));
            plate.push_back(move_field(part, turn * Vector3d(0.0283, 0, -0.01), turn));
        }
        ToolInHandOptions options;
        options.start.position = Vector3d(0, 0, 0.022);
        return FeltRun{
            ToolInHand(box_tree({0.008, 0.008, 0.02}, 0.002), unite_fields(plate), options),
            [](double t) {
                // down the axis, then aside and askew
                return Pose{
                    {0.0015 * ramp(t, 0.5, 0.8), -0.001 * ramp(t, 0.5, 0.8),
                     0.022 - 0.018 * ramp(t, 0.2, 1.2)},
                    rotation_from_vector({0.03 * ramp(t, 0.6, 0.9), 0.02 * ramp(t, 0.6, 0.9),
                                          0.05 * ramp(t, 0.9, 1.3)})};
            }};
    };
    expect_signature(make, {{600, {-0.029, 0.006, 0.062}, {0, 0.00011, 0}},
                            {800, {-0.141, 0.048, 0.147}, {0.00052, 0.00174, 0.00024}},
                            {1000, {-0.227, 0.100, 0.183}, {0.00076, 0.00074, -0.00095}},
                            {1200, {-0.264, 0.153, 0.401}, {-0.00156, -0.00117, -0.00290}},
                            {1500, {-0.257, 0.150, 0.383}, {-0.00152, -0.00110, -0.00287}}});
}

TEST(FeltSignature, TubesOfTheAlphaPuzzlePulledApartFromTheirStart) {
    const AlphaPuzzle puzzle = coarse_puzzle();
    const auto make = [&] {
        ToolInHandOptions options = puzzle.options();
        options.home = Vector3d::Zero();
        return FeltRun{puzzle.hold(options), [](double t) {
                           return Pose{{-0.05 * ramp(t, 0.1, 0.9), 0.02 * ramp(t, 0.7, 1.2), 0},
                                       rotation_from_vector({0.3 * ramp(t, 0.8, 1.4), 0, 0})};
                       }};
    };
    expect_signature(make, {{500, {0.024, 0.000, 0.000}, {0, 0, 0}},
                            {700, {0.264, -0.003, 0.023}, {0, -0.00075, -0.00013}},
                            {900, {0.982, -0.129, 0.004}, {-0.00021, -0.00090, -0.00286}},
                            {1200, {0.949, -0.026, 0.045}, {-0.00019, -0.00058, -0.00123}},
                            {1500, {0.960, 0.087, 0.144}, {-0.00024, -0.00286, 0.00287}}});
}

}  // namespace
}  // namespace pliant
