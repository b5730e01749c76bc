#include <gtest/gtest.h>

#include <cstdio>
#include <span>

#include "core/temporary_directory.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "scene/felt_readings.h"
#include "scene/primitive_surfaces.h"

// Recorded readings of a device played into scenes, and what was felt: as FeltSignature of
// tests/haptics/regression_test.cpp, of soft bodies and torques.

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::FeltReading;

/// Force [N] and torque [N m] at the handle, in a tick.
struct FeltThen {
    int tick;
    double force[3], torque[3];
};

/// Of springs of 600 N/m and encoders of 20 µm, as there.
constexpr double kFeltForce = 0.025, kFeltTorque = 5e-4;

RecordedDescription played(std::span<const FeltReading> readings) {
    RecordedDescription device;
    device.rate = test::kFeltRate;
    device.capabilities.name = "recording";
    for (const FeltReading& reading : readings) {
        DeviceState& state = device.states.emplace_back();
        state.time = static_cast<double>(device.states.size()) / device.rate;
        state.pose.position = 1e-6 * Vector3d(reading.place[0], reading.place[1], reading.place[2]);
        state.pose.rotation = rotation_from_vector(
            1e-4 * Vector3d(reading.turn[0], reading.turn[1], reading.turn[2]));
    }
    return device;
}

class FeltRecordings : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<test::TemporaryDirectory>();
        save_surface(box_surface(Vector3d(0.1, 0.1, 0.4)), *folder / "bar.obj");
        save_surface(box_surface(Vector3d(0.3, 0.02, 0.02)), *folder / "pole.obj");
    }
    static void TearDownTestSuite() { folder.reset(); }

    /// Twice the same bits, and the forces of then.
    static void expect_felt(const std::string& text, std::span<const FeltReading> readings,
                            const std::vector<FeltThen>& expected) {
        World one = build(text, readings), two = build(text, readings);
        std::string found;
        bool is_same = true;
        std::size_t next = 0;
        for (int k = 0; next < expected.size(); ++k) {
            const HapticTick& a = tick(one);
            const HapticTick& b = tick(two);
            ASSERT_EQ(a.command.force, b.command.force) << k;
            ASSERT_EQ(a.command.torque, b.command.torque) << k;
            ASSERT_EQ(a.tool.position, b.tool.position) << k;
            if (expected[next].tick != k) continue;
            const FeltThen& then = expected[next++];
            const Vector3d &f = a.command.force, &t = a.command.torque;
            is_same = is_same && (f - Vector3d(then.force)).norm() <= kFeltForce &&
                      (t - Vector3d(then.torque)).norm() <= kFeltTorque;
            char row[200];
            std::snprintf(row, sizeof row, "{%d, {%.3f, %.3f, %.3f}, {%.5f, %.5f, %.5f}},\n", k,
                          f.x(), f.y(), f.z(), t.x(), t.y(), t.z());
            found += row;
        }
        EXPECT_EQ(one.state_hash(), two.state_hash());
        EXPECT_TRUE(is_same) << "felt now:\n" << found;
    }
    static World build(const std::string& text, std::span<const FeltReading> readings) {
        return World(parse_scene(text, "scene.json", (*folder / "x").parent_path()),
                     {.cache = *folder / "cache", .device = played(readings)});
    }
    /// The next tick of the haptic loop.
    static const HapticTick& tick(World& world) {
        while (world.advance() != 0) {
        }
        return *world.loop(0).haptic_tick();
    }

    inline static std::unique_ptr<test::TemporaryDirectory> folder;
};

/// A ball that is pressed against a soft bar on a foot, slides up and lets it go.
const char* const kBar = R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
    {"name": "bar", "reduced": {"surface": "bar.obj", "fixed": "z < 5 %", "modes": 4, "rank": 6,
     "elements": "plain",
     "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000}, "mesh": {"resolution": 8}, "damping": {"mass": 6, "stiffness": 0.005}},
     "contact": {"pointshell": {"points": 2500, "levels": 3, "resolution": 32}}},
    {"name": "ball", "rigid": {"sphere": {"radius": 0.05}, "motion": {"path": {"keyframes": [
        {"time": 0, "position": [0.102, 0, 0.1]}, {"time": 0.5, "position": [0.08, 0, 0.1]},
        {"time": 1, "position": [0.075, 0.02, 0.14]}, {"time": 1.4, "position": [0.12, 0, 0.12]}]}}}}],
    "contacts": [{"shell": "bar", "field": "ball"}],
    "tool": {"body": "ball"}, "device": {"hand": "firm"}})";

/// A pole held at its end is laid on the ground with the other one, and turned: torque is what is
/// felt.
const char* const kPole = R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [
    {"name": "pole", "rigid": {"surface": "pole.obj", "motion": {"path": {"keyframes": [
        {"time": 0, "position": [0, 0, 0.03]}, {"time": 0.3, "position": [0, 0, 0.03]},
        {"time": 0.8, "position": [0.01, 0, 0.045], "rotation": {"axis": [0, 1, 0], "degrees": 20}},
        {"time": 1.4, "position": [0.01, 0, 0.045], "rotation": {"axis": [0.3, 1, 0.2], "degrees": 24}}]}}},
     "contact": {"pointshell": {"points": 1500, "levels": 3, "resolution": 64}}},
    {"name": "floor", "rigid": {"ground": {}}}],
    "contacts": [{"shell": "pole", "field": "floor"}],
    "tool": {"body": "pole", "grasp": [-0.14, 0, 0]}, "device": {"hand": "firm"}})";

/// A ball and a finger of one hand press a block of full finite elements in a loop of its own.
const char* const kSoft =
    R"({"pliant": 1, "gravity": [0, 0, 0], "loops": [{"name": "bodies", "rate": 500}], "bodies": [
    {"name": "block", "fem": {"box": {"sizes": [0.12, 0.12, 0.08], "cells": [6, 6, 4]},
     "material": {"youngs_modulus": 1e4, "poisson_ratio": 0.3, "density": 1000},
     "fixed": "z < 1 %", "damping": {"mass": 4}}, "loop": "bodies"},
    {"name": "ball", "rigid": {"sphere": {"radius": 0.02}, "motion": {"path": {"keyframes": [
        {"time": 0, "position": [0, 0, 0.102]}, {"time": 0.1, "position": [0, 0, 0.102]},
        {"time": 0.7, "position": [0, 0, 0.078]},
        {"time": 1.4, "position": [0.01, 0, 0.08], "rotation": {"axis": [0, 1, 0], "degrees": 8}}]}}},
     "pose": {"position": [0, 0, 0.102]}, "loop": "bodies"},
    {"name": "finger", "rigid": {"capsule": {"radius": 0.01, "length": 0.03}},
     "pose": {"position": [0.035, 0, 0.092], "rotation": {"axis": [1, 0, 0], "degrees": 90}},
     "loop": "bodies"}],
    "tool": {"body": "ball", "parts": ["finger"]}, "device": {"hand": "firm"}})";

TEST_F(FeltRecordings, BallPressedAgainstASoftBar) {
    expect_felt(kBar, test::kBarReadings,
                {{400, {2.376, -0.025, 0.035}, {-0.00007, 0.00218, 0.00185}},
                 {600, {2.397, -0.264, -0.338}, {0.00011, 0.00272, -0.00168}},
                 {800, {1.493, -0.306, -0.480}, {-0.00010, 0.00047, 0.00112}},
                 {1000, {-0.085, 0.014, -0.011}, {0, 0, 0}},
                 {1200, {-0.205, 0.096, 0.102}, {0, 0, 0}},
                 {1450, {0.003, -0.001, -0.002}, {0, 0, 0}}});
}

TEST_F(FeltRecordings, PoleHeldAtItsEndLaidOnTheGround) {
    expect_felt(kPole, test::kPoleReadings,
                {{400, {-0.004, 0.000, -0.023}, {0, -0.00012, 0}},
                 {600, {-0.052, -0.002, -0.158}, {-0.00001, -0.00114, 0}},
                 {800, {-0.037, 0.010, 0.014}, {-0.00012, -0.01150, -0.00001}},
                 {1000, {-0.008, 0.033, 0.124}, {0.00009, -0.01556, -0.00003}},
                 {1200, {0.005, 0.030, 0.160}, {0.00094, -0.01635, -0.00003}},
                 {1450, {0.000, -0.012, 0.143}, {0.00139, -0.01602, 0}}});
}

TEST_F(FeltRecordings, HandOnASoftBlock) {
    // ball and finger are 16 mm deep in the end: by Hertz 4.3 N for the ball, by the pressure of
    // a line as much again for the finger; the device shows 8.5 N
    expect_felt(kSoft, test::kSoftReadings,
                {{400, {-0.066, 0.002, 2.945}, {0.00042, -0.01422, 0.00025}},
                 {600, {-0.131, 0.082, 8.499}, {-0.00488, -0.03384, 0.00016}},
                 {800, {-0.228, 0.265, 8.493}, {-0.01459, -0.03787, -0.00182}},
                 {1000, {-0.527, 0.308, 8.466}, {-0.01756, -0.03500, -0.00469}},
                 {1200, {-0.655, 0.078, 8.441}, {-0.00763, -0.03143, -0.00376}},
                 {1450, {-0.693, 0.045, 8.472}, {-0.00577, -0.03143, -0.00333}}});
}

}  // namespace
}  // namespace pliant
