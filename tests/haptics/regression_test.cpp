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

/// One step of the encoders through the springs may fall the other way on another machine: 20 µm
/// at 600 N/m, 0.2 mrad at 0.25 N m/rad, once in each of two axes.
constexpr double kForceTolerance = 0.02, kTorqueTolerance = 1e-4;

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
    expect_signature(make,
                     {{300, {}, {}}, {500, {}, {}}, {800, {}, {}}, {1100, {}, {}}, {1600, {}, {}}});
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
    expect_signature(make, {{700, {}, {}},
                            {1000, {}, {}},
                            {1100, {}, {}},
                            {1250, {}, {}},
                            {1400, {}, {}},
                            {1600, {}, {}}});
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
    expect_signature(make,
                     {{300, {}, {}}, {600, {}, {}}, {900, {}, {}}, {1200, {}, {}}, {1500, {}, {}}});
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
                return Pose{{0.0015 * ramp(t, 0.4, 0.8), -0.001, 0.022 - 0.018 * ramp(t, 0.2, 1.2)},
                            rotation_from_vector({0.03, 0.02, 0.05 * ramp(t, 0.9, 1.3)})};
            }};
    };
    expect_signature(
        make, {{600, {}, {}}, {800, {}, {}}, {1000, {}, {}}, {1200, {}, {}}, {1500, {}, {}}});
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
    expect_signature(make,
                     {{500, {}, {}}, {700, {}, {}}, {900, {}, {}}, {1200, {}, {}}, {1500, {}, {}}});
}

}  // namespace
}  // namespace pliant
