#include "pliant/haptics/workspace_map.h"
#include "core/numbers.h"
#include "haptics/coupling_samples.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

DeviceState reading(const Pose& pose, std::uint32_t buttons = 0) {
    DeviceState state;
    state.pose = pose;
    state.buttons = buttons;
    return state;
}

WorkspaceOptions sample_options() {
    WorkspaceOptions options;
    options.scale = 0.25;
    options.axes = rotation_from_vector({0.3, -1.0, 2.0});
    options.centre = {1, 2, 3};
    options.clutch_button = 1;
    return options;
}

void expect_same(const Pose& a, const Pose& b, double tolerance) {
    EXPECT_LT((a.position - b.position).norm(), tolerance);
    EXPECT_LT(rotation_difference(a.rotation, b.rotation).norm(), tolerance);
}

TEST(WorkspaceMap, ScalesShiftsAndTurnsIntoTheAxesOfTheWorld) {
    WorkspaceOptions options;
    options.scale = 0.5;
    options.centre = {10, 0, 0};
    options.axes = rotation_from_vector({0, 0, std::numbers::pi / 2});
    WorkspaceMap map({}, options);
    expect_same(map.manipulandum(), {{10, 0, 0}}, 1e-12);
    // 20 mm along x of the device, turned about its y: 40 mm along y, about −x of the world
    const Pose there =
        map.update(reading({{0.02, 0, 0}, rotation_from_vector({0, 0.4, 0})}), kLoopStep);
    expect_same(there, {{10, 0.04, 0}, rotation_from_vector({-0.4, 0, 0})}, 1e-12);
}

TEST(WorkspaceMap, PowerAtTheHandleIsTheScaleTimesPowerInTheSceneForEveryMotion) {
    std::mt19937 random(1);
    WorkspaceMap map({}, sample_options());
    for (int i = 0; i < 100; ++i) {
        const Twist hand = {test::normal_vector(random), test::normal_vector(random)};
        const Wrench load = {test::normal_vector(random), test::normal_vector(random)};
        const DeviceCommand shown = map.to_device(load);
        EXPECT_NEAR(shown.force.norm(), load.force.norm(), 1e-12);
        const double at_handle = power({shown.force, shown.torque}, hand);
        const double in_scene = power(load, map.to_scene(hand));
        EXPECT_NEAR(at_handle, map.scale() * in_scene, 1e-12);
    }
}

TEST(WorkspaceMap, TwistIsTheRateOfThePoseAlsoAfterClutching) {
    std::mt19937 random(2);
    WorkspaceMap map({}, sample_options());
    const Pose away = {test::normal_vector(random, 0.02),
                       rotation_from_vector(test::normal_vector(random))};
    static_cast<void>(map.update(reading(away, 2), kLoopStep));
    Pose handle = {test::normal_vector(random, 0.02),
                   rotation_from_vector(test::normal_vector(random))};
    static_cast<void>(map.update(reading(handle, 2), kLoopStep));
    const Pose before = map.update(reading(handle), kLoopStep);
    const Twist twist = {test::normal_vector(random), test::normal_vector(random)};
    constexpr double h = 1e-6;
    const Pose after = map.update(reading(advance(handle, twist, h)), kLoopStep);
    const Twist scene = map.to_scene(twist);
    EXPECT_LT((after.position - before.position - h * scene.linear).norm(), 1e-12);
    EXPECT_LT((rotation_difference(before.rotation, after.rotation) - h * scene.angular).norm(),
              1e-12);
}

TEST(WorkspaceMap, ClutchingIsContinuous) {
    std::mt19937 random(3);
    WorkspaceMap map({}, sample_options());
    Pose handle;
    Pose last = map.update(reading(handle), kLoopStep);
    bool was_clutched = false;
    for (int i = 0; i < 4000; ++i) {
        const bool is_down = (i / 100) % 2 == 1;
        const Twist twist = {test::normal_vector(random, 0.1), test::normal_vector(random, 2)};
        handle = advance(handle, twist, kLoopStep);
        const Pose next = map.update(reading(handle, is_down ? 2u : 1u), kLoopStep);
        EXPECT_EQ(map.is_clutched(), is_down);
        // while it is down nothing moves; then no more than the hand does
        const double moved = (next.position - last.position).norm();
        const double turned = rotation_difference(last.rotation, next.rotation).norm();
        if (is_down || was_clutched) {
            EXPECT_LT(moved + turned, 1e-12);
        } else {
            EXPECT_NEAR(moved, twist.linear.norm() * kLoopStep / 0.25, 1e-9);
            EXPECT_NEAR(turned, twist.angular.norm() * kLoopStep, 1e-9);
        }
        was_clutched = is_down;
        last = next;
    }
}

TEST(WorkspaceMap, RateControlIsContinuousBoundedAndZeroInTheMiddle) {
    DeviceCapabilities device;
    WorkspaceOptions options = sample_options();
    options.rate_border = 0.2;
    options.rate_speed = 0.3;
    const WorkspaceMap map(device, options);
    const auto at = [&](double x, double y, double z) {
        return map.drift(
            {x * device.workspace.x(), y * device.workspace.y(), z * device.workspace.z()});
    };
    EXPECT_EQ(at(0.79, -0.79, 0.5), Vector3d::Zero());
    EXPECT_NEAR(at(1, 0, 0).norm(), 0.3, 1e-12);
    EXPECT_NEAR(at(5, -7, 9).norm(), 0.3, 1e-12);
    EXPECT_NEAR(at(0.9, 0, 0).norm(), 0.3 * 0.25, 1e-12);
    // outwards, in the axes of the world
    EXPECT_GT(at(0, -1, 0).dot(options.axes * -Vector3d::UnitY()), 0.29);
    std::mt19937 random(4);
    for (int i = 0; i < 1000; ++i) {
        const Vector3d x = test::normal_vector(random, 0.8).cwiseProduct(device.workspace);
        const Vector3d step = test::normal_vector(random, 1e-7);
        // slope at most 2 · speed / width of the border along each axis
        EXPECT_LE((map.drift(x + step) - map.drift(x)).norm(),
                  1.01 * step.norm() * 4 * 0.3 / (0.2 * device.workspace.minCoeff()));
        EXPECT_LE(map.drift(x).norm(), 0.3 * (1 + 1e-12));
    }
}

TEST(WorkspaceMap, HandleAtTheBorderMovesTheSceneAtTheGivenSpeedAndStopsInTheMiddle) {
    DeviceCapabilities device;
    WorkspaceOptions options;
    options.rate_border = 0.2;
    options.rate_speed = 0.3;
    options.clutch_button = 0;
    WorkspaceMap map(device, options);
    const Pose border = {{device.workspace.x(), 0, 0}};
    const Vector3d start = map.update(reading(border), 0).position;
    for (int i = 0; i < 1000; ++i) static_cast<void>(map.update(reading(border), kLoopStep));
    EXPECT_NEAR((map.manipulandum().position - start).x(), 0.3, 1e-9);
    // not while clutched, not by a pause of the loop, not by old data
    const Vector3d there = map.manipulandum().position;
    for (int i = 0; i < 100; ++i) static_cast<void>(map.update(reading(border, 1), kLoopStep));
    EXPECT_LT((map.manipulandum().position - there).norm(), 1e-12);
    DeviceState old = reading(border);
    old.status = DeviceStatus::Stale;
    for (int i = 0; i < 100; ++i) static_cast<void>(map.update(old, kLoopStep));
    EXPECT_LT((map.manipulandum().position - there).norm(), 1e-12);
    static_cast<void>(map.update(reading(border), 100));
    EXPECT_LT((map.manipulandum().position - there).norm(), 0.3 * 0.05 + 1e-9);
    const Vector3d middle = map.update(reading({}), kLoopStep).position;
    for (int i = 0; i < 100; ++i) static_cast<void>(map.update(reading({}), kLoopStep));
    EXPECT_EQ(map.manipulandum().position, middle);
}

TEST(WorkspaceMap, GoesOnFromWhereItWasWhenADeviceComesBack) {
    WorkspaceMap map({}, sample_options());
    const Pose before = map.update(reading({{0.01, 0, 0}}), kLoopStep);
    DeviceState gone = reading({});
    gone.status = DeviceStatus::Disconnected;
    expect_same(map.update(gone, kLoopStep), before, 0 + 1e-15);
    const Pose back =
        map.update(reading({{-0.03, 0.02, 0}, rotation_from_vector({1, 2, 0})}), kLoopStep);
    expect_same(back, before, 1e-12);
}

TEST(WorkspaceMap, GoesOnAsItWasTurnedWhenARotationComesBack) {
    WorkspaceMap map({}, sample_options());
    DeviceState state = reading({{0.01, 0, 0}, rotation_from_vector({0, 0.4, 0})});
    map.update(state, kLoopStep);
    const Pose before = map.manipulandum();
    state.status = DeviceStatus::NoRotation;
    state.pose.position.y() = 0.01;
    const Pose shifted = map.update(state, kLoopStep);
    EXPECT_GT((shifted.position - before.position).norm(), 0.03) << "places go on";
    state.status = DeviceStatus::Ok;
    state.pose.rotation = rotation_from_vector({1, 0.4, -1});
    expect_same(map.update(state, kLoopStep), shifted, 1e-12);
    // from then on it turns with the handle
    const Vector3d about = sample_options().axes * Vector3d(0, 0, 0.1);
    state.pose.rotation = rotation_from_vector({0, 0, 0.1}) * state.pose.rotation;
    expect_same(map.update(state, kLoopStep),
                {shifted.position, rotation_from_vector(about) * shifted.rotation}, 1e-12);
}

TEST(WorkspaceMap, PlacesTheManipulandumWithTheHandleWhereItIs) {
    std::mt19937 random(5);
    WorkspaceMap map({}, sample_options());
    const Pose wanted = {test::normal_vector(random),
                         rotation_from_vector(test::normal_vector(random))};
    const DeviceState state = reading(
        {test::normal_vector(random, 0.02), rotation_from_vector(test::normal_vector(random))});
    map.place(wanted, state);
    expect_same(map.update(state, kLoopStep), wanted, 1e-12);
    // a reading that says nothing yet: from the first good one on
    map.place({}, reading({{kNan, 0, 0}}));
    expect_same(map.update(state, kLoopStep), {}, 1e-12);
    map.place({{kNan, 0, 0}}, state);
    expect_same(map.manipulandum(), {}, 1e-12);
}

TEST(WorkspaceMap, ReadingsThatAreNotFiniteChangeNothing) {
    WorkspaceOptions options = sample_options();
    options.rate_border = 0.5;
    WorkspaceMap map({}, options);
    const Pose before = map.update(reading({{0.01, 0.02, 0}}), kLoopStep);
    for (const double bad : {kNan, std::numeric_limits<double>::infinity(), 1e300}) {
        expect_same(map.update(reading({{bad, 0, 0}}), kLoopStep), before, 1e-15);
        expect_same(map.update(reading({Vector3d::Zero(), Quaternion(bad, 0, 0, 1)}), kLoopStep),
                    before, 1e-15);
    }
    expect_same(map.update(reading({Vector3d::Zero(), Quaternion(0, 0, 0, 0)}), kLoopStep), before,
                1e-15);
    expect_same(map.update(reading({{0.01, 0.02, 0}}), kNan), before, 1e-15);
    expect_same(map.update(reading({{0.01, 0.02, 0}}), -1), before, 1e-15);
    EXPECT_EQ(map.drift({kNan, 0, 0}), Vector3d::Zero());
}

TEST(WorkspaceMap, RefusesOptionsOutOfRange) {
    const auto message = [](auto change) {
        WorkspaceOptions options;
        change(options);
        try {
            WorkspaceMap map({}, options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    using O = WorkspaceOptions;
    EXPECT_NE(message([](O& o) { o.scale = 0; }).find("workspace.scale = 0"), std::string::npos);
    EXPECT_NE(message([](O& o) { o.scale = kNan; }).find("workspace.scale"), std::string::npos);
    EXPECT_NE(message([](O& o) { o.rate_border = 1; }).find("of the workspace"), std::string::npos);
    EXPECT_NE(message([](O& o) { o.rate_speed = -1; }).find("workspace.rate_speed"),
              std::string::npos);
    EXPECT_NE(message([](O& o) { o.clutch_button = 32; }).find("workspace.clutch_button"),
              std::string::npos);
    EXPECT_NE(message([](O& o) { o.centre.x() = kNan; }).find("workspace.centre"),
              std::string::npos);
    EXPECT_EQ(message([](O&) {}), "");
}

TEST(WorkspaceMap, AllocatesNothing) {
    WorkspaceOptions options = sample_options();
    options.rate_border = 0.5;
    WorkspaceMap map({}, options);
    const DeviceState state = reading({{0.07, 0, 0}});
    AllocationGuard guard;
    static_cast<void>(map.update(state, kLoopStep));
    const double sum = map.to_device({}).force.sum() + map.to_scene({}).linear.sum();
    map.place({}, state);
    const auto count = guard.count();
    EXPECT_EQ(sum, 0);
    EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace pliant
