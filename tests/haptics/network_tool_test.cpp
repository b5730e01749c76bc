#include "core/numbers.h"
#include "haptics/fake_driver.h"
#include "haptics/loop_samples.h"
#include "haptics/loop_step.h"
#include "net/test_client.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/network_device.h"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace pliant;
using Eigen::Vector3d;
using test::eventually;

NetworkDescription tool_port() {
    NetworkDescription description;
    description.port = 0;
    // longer than a busy machine stops for
    description.timeout = 1;
    return description;
}

/// A box above a plane in the hand of a driver in another program.
struct RemoteShow {
    RemoteShow()
        : device(tool_port()),
          driver(device.port()),
          tool(RigidShape::sphere(0.01), test::box_surface(), above()),
          floor(RigidShape::sphere(0.01), test::box_surface()),
          pair({&tool, PointTree(test::box_shell(Vector3d::Constant(0.02), 0.004))},
               {&floor, plane_set_field({FieldPlane{}}), {}}),
          haptics(device, tool, {&pair},
                  derive_gains(device.capabilities(),
                               {.cell = 1e-3, .gyration = 0.02, .bounding = 0.035})) {
        hello();
    }
    static RigidBodyOptions above() {
        RigidBodyOptions options;
        options.pose.position.z() = 0.021;
        return options;
    }
    void hello() {
        EXPECT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    }
    [[nodiscard]] std::string reading() {
        DeviceState state;
        state.time = test::steady_seconds() + clock_shift;
        state.pose.position = handle;
        return test::reading_bytes(1, ++sequence, state);
    }
    /// One reading of the driver, if it has a cable, and one tick of the loop.
    const HapticTick& step(bool is_plugged = true) {
        if (is_plugged) answer = driver.ask(reading());
        now += kLoopStep;
        static_cast<void>(pair.act(kLoopStep));
        const HapticTick& tick = haptics.tick(now, kLoopStep);
        static_cast<void>(tool.step(kLoopStep));
        const double force = tick.command.force.norm();
        EXPECT_TRUE(tick.command.force.allFinite() && tick.command.torque.allFinite());
        EXPECT_TRUE(is_finite(tick.tool));
        EXPECT_LE(force, device.capabilities().max_force * (1 + 1e-12));
        EXPECT_LE((tick.command.force - last_force).norm(), 3.001);
        last_force = tick.command.force;
        return tick;
    }
    /// Pushes the handle down until the hand feels 1 N.
    bool press() {
        for (int i = 0; i < 5000; ++i) {
            if (i < 200) handle.z() -= 3e-5;
            if (step().command.force.z() > 1) return true;
        }
        return false;
    }

    NetworkDevice device;
    test::FakeDriver driver;
    RigidBody tool, floor;
    ContactPair pair;
    HapticTool haptics;
    Vector3d handle = Vector3d::Zero(), last_force = Vector3d::Zero();
    double now = 0, clock_shift = 100;
    std::uint32_t sequence = 0;
    std::string answer;
};

TEST(NetworkTool, ForcesOfAContactReachTheDriver) {
    RemoteShow show;
    ASSERT_TRUE(show.press());
    show.step();
    EXPECT_EQ(test::reply_kind(show.answer), 3);
    EXPECT_GT(test::reply_force(show.answer).z(), 0.9);
}

TEST(NetworkTool, GarbageAndReplaysInContactAreNotFelt) {
    RemoteShow show;
    ASSERT_TRUE(show.press());
    std::mt19937 random(3);
    const double height = show.tool.motion().pose.position.z();
    for (int i = 0; i < 100; ++i) {
        std::string garbage(random() % 300, 'x');
        for (char& c : garbage) c = static_cast<char>(random());
        show.driver.send(garbage);
        DeviceState bad;
        bad.pose.position.x() = i % 2 ? kNan : 1;
        show.driver.send(test::reading_bytes(1, show.sequence - 3, bad));
        show.step();
    }
    EXPECT_GT(show.last_force.z(), 0.9);
    EXPECT_NEAR(show.tool.motion().pose.position.z(), height, 1e-4);
    const NetworkDeviceCounts counts = show.device.counts();
    EXPECT_GE(counts.malformed, 95u);
    EXPECT_EQ(counts.bad_values, 50u);
    EXPECT_EQ(counts.out_of_order, 50u);
}

TEST(NetworkTool, AClockThatJumpsCostsOneReading) {
    RemoteShow show;
    ASSERT_TRUE(show.press());
    std::uint64_t num_jumps = 0;
    for (const double jump : {3600.0, -7200.0}) {
        show.clock_shift += jump;
        show.driver.send(show.reading());
        ++num_jumps;
        ASSERT_TRUE(eventually([&] { return show.device.counts().clock_jumps == num_jumps; }));
        show.step(false);
        EXPECT_GT(show.last_force.z(), 0.9);
        show.step();
        EXPECT_GT(show.last_force.z(), 0.9);
    }
}

TEST(NetworkTool, AJumpOfAMetreDropsTheForceAndNotTheTool) {
    RemoteShow show;
    ASSERT_TRUE(show.press());
    const Vector3d place = show.tool.motion().pose.position;
    show.handle.x() += 1;
    for (int i = 0; i < 10; ++i) show.step();
    EXPECT_LT(show.last_force.norm(), 0.1);
    EXPECT_LT((show.tool.motion().pose.position - place).norm(), 1e-3);
}

TEST(NetworkTool, UnpluggedInContactTheForceRampsToZeroAndTheDriverMayComeBack) {
    RemoteShow show;
    ASSERT_TRUE(show.press());
    for (int i = 0; i < 80; ++i) show.step(false);
    EXPECT_EQ(show.last_force.norm(), 0);
    const Vector3d place = show.tool.motion().pose.position;
    show.driver.send(test::bye_bytes(1));
    ASSERT_TRUE(eventually([&] { return show.device.driver_name().empty(); }));
    EXPECT_EQ(show.step(false).device.status, DeviceStatus::Disconnected);
    EXPECT_STRNE(show.haptics.notice(), "");
    // somewhere else, and it goes on from there
    show.handle = {0.03, -0.02, 0.01};
    show.hello();
    show.step();
    EXPECT_LT(show.last_force.norm(), 0.01);
    EXPECT_LT((show.tool.motion().pose.position - place).norm(), 1e-4);
    EXPECT_TRUE(show.press());
}

}  // namespace
