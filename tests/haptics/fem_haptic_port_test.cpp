#include "pliant/haptics/fem_haptic_port.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <thread>

#include "core/numbers.h"
#include "haptics/fem_loop_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"

// Device, hand, link, simulator and a soft block together.

namespace pliant {
namespace {

using namespace test;
using Eigen::Vector3d;

struct FemLoopOutcome {
    bool is_calm = false;     ///< docs/haptics.md eq. (24), hand still
    double level = 0;         ///< largest window of the force [N]
    double force = 0;         ///< at the end [N]
    double least_gain = 1;    ///< by back-off
    double least_margin = 0;  ///< of W − S [J]
};

/// Presses 3 cm in and holds still; the last two and a half of 4 s are judged: no window above
/// the limit, and of the last two the second does not grow.
FemLoopOutcome press(const FemLoopOptions& options) {
    FemLoop loop(options);
    OscillationOptions limits;
    limits.force_limit = std::max(limits.force_limit,
                                  loop.gains.stiffness * options.device.capabilities.position_step);
    OscillationMeter meter(limits);
    FemLoopOutcome out;
    bool is_bounded = true;
    for (int k = 0; k < 4000; ++k) {
        const HapticTick& t = loop.step(pressing_down(k * FemLoop::kTick, 0.03));
        out.least_gain = std::min(out.least_gain, t.gain_scale);
        if (k < 1500) continue;
        const int before = meter.num_windows();
        meter.record({t.command.force, t.command.torque});
        if (meter.num_windows() == before) continue;
        out.level = std::max(out.level, meter.level().force);
        is_bounded = is_bounded && meter.level().force <= limits.force_limit;
    }
    out.is_calm = is_bounded && !meter.is_oscillating();
    out.force = loop.port->last().command.force.norm();
    out.least_margin = loop.port->port().least_margin();
    return out;
}

std::string text_of(const FemLoopOptions& o) {
    return std::to_string(o.modulus) + " Pa, " + std::to_string(o.device.mass) + " kg, hand " +
           std::to_string(o.hand.stiffness) + " N/m, encoder " +
           std::to_string(1e6 * o.device.capabilities.position_step) + " um";
}

TEST(FemPort, ClosedLoopsWithDynamicToolsAreCalmAndPassive) {
    for (const double modulus : {3e3, 1e4, 3e4})
        for (const double mass : {0.05, 0.3})
            for (const HandModel& hand : {HandModel::loose(), HandModel::firm()}) {
                FemLoopOptions options;
                options.modulus = modulus;
                options.device.mass = mass;
                options.hand = hand;
                const FemLoopOutcome out = press(options);
                EXPECT_TRUE(out.is_calm) << text_of(options) << ": " << out.level << " N";
                EXPECT_EQ(out.least_gain, 1) << text_of(options);
                EXPECT_GT(out.force, 0.3) << text_of(options);
                EXPECT_GE(out.least_margin, -PassivityOptions().tolerance) << text_of(options);
            }
}

TEST(FemPort, ClosedLoopsWithKinematicToolsAreCalmOnSoftBodies) {
    for (const double mass : {0.05, 0.3})
        for (const HandModel& hand : {HandModel::loose(), HandModel::firm()}) {
            FemLoopOptions options;
            options.modulus = 3e3;
            options.tool.coupling = FemCoupling::Kinematic;
            options.device.mass = mass;
            options.hand = hand;
            const FemLoopOutcome out = press(options);
            EXPECT_TRUE(out.is_calm) << text_of(options) << ": " << out.level << " N";
            EXPECT_EQ(out.least_gain, 1) << text_of(options);
            EXPECT_GE(out.least_margin, -PassivityOptions().tolerance) << text_of(options);
        }
}

TEST(FemPort, AHandOfProxiesAndCoarseEncodersAreCalm) {
    FemLoopOptions options;
    options.modulus = 1e4;
    options.has_hand = true;
    options.device.capabilities.position_step = 5e-5;
    for (const HandModel& hand : {HandModel::loose(), HandModel::firm()}) {
        options.hand = hand;
        const FemLoopOutcome out = press(options);
        EXPECT_TRUE(out.is_calm) << text_of(options) << ": " << out.level << " N";
        EXPECT_GT(out.force, 1);
    }
}

TEST(FemPort, AStiffBodyUnderAKinematicToolIsBroughtBackByLowerForces) {
    FemLoopOptions options;
    options.has_spikes = true;
    options.modulus = 3e4;
    options.tool.coupling = FemCoupling::Kinematic;
    options.hand = HandModel::firm();
    FemLoop loop(options);
    double shaking = 0, calm = 0;
    std::string notice;
    for (int k = 0; k < 8000; ++k) {
        const HapticTick& t = loop.step(pressing_down(k * FemLoop::kTick, 0.03));
        if (k < 2500) shaking = std::max(shaking, t.oscillation);
        if (k > 7000) calm = std::max(calm, t.oscillation);
        if (t.gain_scale < 1 && notice.empty()) notice = loop.port->notice();
    }
    EXPECT_GT(shaking, 0.05);
    EXPECT_LT(calm, 0.03);
    EXPECT_LT(loop.port->last().gain_scale, 1);
    EXPECT_EQ(notice,
              "The force oscillated: it was lowered and comes back slowly while it stays calm.");
    loop.port->set_back_off(false);
    shaking = 0;
    for (int k = 8000; k < 10000; ++k)
        shaking = std::max(shaking, loop.step(pressing_down(k * FemLoop::kTick, 0.03)).oscillation);
    EXPECT_EQ(loop.port->last().gain_scale, 1);
    EXPECT_GT(shaking, 0.05) << "nothing helps";
}

TEST(FemPort, StillHandsFeelTheContactForceWhateverTheCoupling) {
    for (const FemCoupling coupling : {FemCoupling::Kinematic, FemCoupling::Dynamic}) {
        FemLoopOptions options;
        options.tool.coupling = coupling;
        options.viscosity = 2e4;
        options.hand = HandModel::firm();
        FemLoop loop(options);
        double command = 0, contact = 0;
        for (int k = 0; k < 4000; ++k) {
            const HapticTick& t = loop.step(pressing_down(k * FemLoop::kTick, 0.02));
            if (k < 3000) continue;
            command += t.command.force.z() / 1000;
            contact += loop.tool->last().contact.force.z() / 1000;
        }
        EXPECT_GT(contact, 0.3);
        // encoder steps of 20 µm are 12 mN at 600 N/m
        EXPECT_NEAR(command, contact, 0.012);
    }
}

TEST(FemPort, StepsThatChangeAllTheTimeKeepTheForceSmooth) {
    FemLoopOptions options;
    options.hand = HandModel::firm();
    FemLoop loop(options);
    std::mt19937 random(11);
    std::uniform_int_distribution<int> uniform(1, 4);
    double largest_change = 0;
    Vector3d last = Vector3d::Zero();
    for (int k = 0; k < 3000; ++k) {
        loop.device->aim(pressing_down(k * FemLoop::kTick, 0.02));
        loop.now += FemLoop::kTick;
        const HapticTick& t = loop.port->tick(loop.now, FemLoop::kTick);
        // steps that begin before the next tick
        while (loop.sim_time < loop.now + FemLoop::kTick) loop.simulate(1e-3 * uniform(random));
        if (k > 0) largest_change = std::max(largest_change, (t.command.force - last).norm());
        last = t.command.force;
        if (k > 10) {
            ASSERT_LT(loop.port->steps().lag(), 4.001e-3);
            ASSERT_GT(loop.port->steps().lag(), 0.999e-3);
        }
    }
    EXPECT_EQ(loop.port->steps().num_late(), 0u);
    EXPECT_GT(loop.port->last().contact.force.z(), 0.3);
    // 600 N/m at 60 mm/s: 4 ms of motion are shown within 1 ms where a short step follows a long
    // one
    EXPECT_LT(largest_change, 0.16);
}

TEST(FemPort, AStoppedSimulatorFadesTheForceAndItComesBack) {
    FemLoop loop({});
    for (int k = 0; k < 1500; ++k) loop.step(pressing_down(k * FemLoop::kTick, 0.02));
    const double before = loop.port->last().command.force.z();
    ASSERT_GT(before, 0.3);
    loop.is_running = false;
    const double stopped = loop.now;
    double last = before, largest_change = 0;
    std::string notice;
    for (int k = 0; k < 400; ++k) {
        const HapticTick& t = loop.step(pressing_down(2, 0.02));
        largest_change = std::max(largest_change, std::abs(t.command.force.z() - last));
        last = t.command.force.z();
        // due within 2 ms, 50 ms of waiting and 50 ms of fading; the hand may move meanwhile
        if (loop.now > stopped + 0.11) {
            ASSERT_LT(t.command.force.norm(), 1e-9) << k;
        }
        if (loop.port->steps().gain() < 1 && notice.empty()) notice = loop.port->notice();
    }
    EXPECT_LT(largest_change, 0.1);
    EXPECT_EQ(notice, "The simulation stopped: the force fades to zero until it goes on.");
    // the simulator goes on with the clock as it is now
    loop.sim_time = loop.now;
    loop.is_running = true;
    notice.clear();
    for (int k = 0; k < 1500; ++k) {
        const HapticTick& t = loop.step(pressing_down(2, 0.02));
        largest_change = std::max(largest_change, std::abs(t.command.force.z() - last));
        last = t.command.force.z();
        if (notice.empty() && loop.port->steps().lateness() == 0) notice = loop.port->notice();
    }
    EXPECT_LT(largest_change, 0.1);
    EXPECT_EQ(notice, "The simulation goes on: the force comes back.");
    EXPECT_EQ(std::string(loop.port->notice()), "");
    EXPECT_NEAR(last, before, 0.2 * before);
}

/// Readings as a test wants them.
class FemTestDevice final : public HapticDevice {
public:
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override { return can_; }
    [[nodiscard]] DeviceState read(double now) noexcept override {
        state.time = now;
        return state;
    }
    void write(const DeviceCommand& command) noexcept override { written = command; }
    DeviceState state;
    DeviceCommand written;

private:
    DeviceCapabilities can_;
};

TEST(FemPort, ReadingsThatAreNoNumbersAndLostDevicesGiveNoForceAndMoveNothing) {
    FemLoop loop({});
    FemTestDevice device;
    FemHapticPort port(device, loop.link, loop.gains);
    double now = 0;
    const auto run = [&](int ticks) {
        for (int k = 0; k < ticks; ++k) {
            now += FemLoop::kTick;
            port.tick(now, FemLoop::kTick);
            while (loop.sim_time < now) loop.simulate(2e-3);
        }
    };
    run(100);
    for (int k = 0; k < 1000; ++k) {
        device.state.pose.position.z() = -0.015e-3 * k;
        run(1);
    }
    ASSERT_GT(device.written.force.z(), 0.3);
    const Pose tool = loop.tool->last().tool;
    device.state.pose.position.x() = kNan;
    run(1);
    EXPECT_EQ(port.last().status, StepStatus::InputIgnored);
    run(100);
    EXPECT_EQ(device.written.force.norm(), 0);
    EXPECT_LT((loop.tool->last().tool.position - tool.position).norm(), 1e-3);
    EXPECT_EQ(std::string(port.notice()).find("The device does not answer"), 0u);
    // somewhere else when it is back: the hand begins at the tool
    device.state.pose.position = {0.01, 0.02, 0.03};
    run(1);
    EXPECT_LT((port.last().manipulandum.position - port.last().tool.position).norm(), 1e-12);
    run(50);
    device.state.status = DeviceStatus::Disconnected;
    run(100);
    EXPECT_EQ(device.written.force.norm(), 0);
    // a jump of a metre, and garbage
    device.state.status = DeviceStatus::Ok;
    device.state.pose.position.x() += 1;
    run(50);
    device.state.pose.position.y() = 1e308;
    run(50);
    EXPECT_LT((loop.tool->last().tool.position - tool.position).norm(), 0.02);
    // a clock that is none
    port.tick(kNan, 1e-3);
    EXPECT_EQ(port.last().status, StepStatus::InputIgnored);
    EXPECT_EQ(device.written.force.norm(), 0);
    EXPECT_EQ(port.tick(now, 0).status, StepStatus::InputIgnored);
}

TEST(FemPort, AResetBeginsAnewWithoutForce) {
    FemLoop loop({});
    for (int k = 0; k < 1500; ++k) loop.step(pressing_down(k * FemLoop::kTick, 0.02));
    ASSERT_GT(loop.port->last().command.force.z(), 0.3);
    for (const auto& p : loop.proxies) p->reset();
    loop.block->reset();
    loop.tool->reset();
    for (int k = 0; k < 200; ++k) loop.step(pressing_down(2, 0.02));
    // the loose hand sprang back meanwhile; nothing pulls the tool down at once
    const double top = kBlockHeight + kProxyRadius + FemLoopOptions().clearance;
    EXPECT_LT(std::abs(loop.port->last().manipulandum.position.z() - top), 0.02);
    EXPECT_LT(loop.port->last().command.force.norm(), 0.5);
}

TEST(FemPort, RunsAreBitIdentical) {
    FemLoopOptions options;
    options.hand.tremor = 1e-4;
    FemLoop a(options), b(options);
    for (int k = 0; k < 1200; ++k) {
        const HapticTick& s = a.step(pressing_down(k * FemLoop::kTick, 0.02));
        const HapticTick& t = b.step(pressing_down(k * FemLoop::kTick, 0.02));
        ASSERT_EQ(s.command.force, t.command.force) << k;
        ASSERT_EQ(s.command.torque, t.command.torque) << k;
        ASSERT_EQ(s.tool.position, t.tool.position) << k;
        ASSERT_EQ(s.port_energy, t.port_energy) << k;
    }
    EXPECT_GT(a.port->last().num_contacts, 0);
}

TEST(FemPort, TicksAllocateNothing) {
    set_num_threads(1);
    FemLoopOptions options;
    options.has_spikes = true;
    options.modulus = 3e4;
    options.tool.coupling = FemCoupling::Kinematic;  // back-off has work
    options.hand = HandModel::firm();
    FemLoop loop(options);
    for (int k = 0; k < 2500; ++k) loop.step(pressing_down(k * FemLoop::kTick, 0.03));
    AllocationGuard guard;
    for (int k = 0; k < 800; ++k) loop.step(pressing_down(2, 0.03));
    const auto allocations = guard.count();
    EXPECT_LT(loop.port->last().gain_scale, 1);
    EXPECT_EQ(allocations, 0u);
}

TEST(FemPort, TwoThreadsExchangeWholeStates) {
    // as fast as they can: both ends must always see states that belong together
    FemHapticLink link;
    std::atomic<bool> is_done{false};
    constexpr std::uint64_t kSteps = 20000;
    std::thread simulator([&] {
        FemToolSteps steps;
        steps.epoch = 1;
        std::uint64_t last_hand = 0;
        for (std::uint64_t i = 0; i < kSteps; ++i) {
            const auto x = static_cast<double>(i);
            FemToolState state;
            state.time = x;
            state.contact.force = Vector3d::Constant(x);
            state.tool.position = Vector3d::Constant(x);
            steps.states[steps.count++ % FemToolSteps::kSize] = state;
            steps.next = x + 1;
            link.steps.write_slot() = steps;
            link.steps.publish();
            link.hand.update();
            const FemHandState& hand = link.hand.read_slot();
            EXPECT_GE(hand.epoch, last_hand);
            EXPECT_EQ(hand.pose.position, Vector3d::Constant(hand.time));
            last_hand = hand.epoch;
        }
        is_done = true;
    });
    StepInterpolation interpolation;
    std::uint64_t count = 0;
    while (!is_done) {
        link.steps.update();
        const FemToolSteps& steps = link.steps.read_slot();
        if (steps.count > 0) {
            ASSERT_EQ(steps.state(steps.count - 1).time, static_cast<double>(steps.count - 1));
            ASSERT_EQ(steps.next, static_cast<double>(steps.count));
            const FemToolState& shown =
                interpolation.update(steps, static_cast<double>(steps.count - 1) + 0.5);
            ASSERT_NEAR(shown.contact.force.x(), shown.time, 1e-9 * (1 + shown.time));
        }
        FemHandState& hand = link.hand.write_slot();
        hand.epoch = ++count;
        hand.time = static_cast<double>(count);
        hand.pose.position = Vector3d::Constant(hand.time);
        link.hand.publish();
    }
    simulator.join();
}

TEST(FemPort, SimulatorAndDeviceRunInThreadsOfTheirOwn) {
    FemLoop loop({});
    std::atomic<bool> is_done{false};
    std::atomic<double> time{0};
    std::thread simulator([&] {
        while (!is_done)
            if (loop.sim_time < time.load() + 2e-3)
                loop.simulate(2e-3);
            else
                std::this_thread::yield();
    });
    double largest = 0;
    for (int k = 0; k < 3000; ++k) {
        const double now = k * FemLoop::kTick;
        loop.device->aim(pressing_down(now, 0.02));
        const HapticTick& t = loop.port->tick(now + FemLoop::kTick, FemLoop::kTick);
        largest = std::max(largest, t.command.force.norm());
        time = now;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    is_done = true;
    simulator.join();
    EXPECT_TRUE(std::isfinite(largest));
    EXPECT_LE(largest, loop.device->capabilities().max_force);
}

TEST(FemPort, OptionsOutOfRangeAreRefusedByName) {
    FemLoop loop({});
    FemHapticPortOptions options;
    options.rate = 0;
    try {
        const FemHapticPort refused(*loop.device, loop.link, loop.gains, options);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "haptics.rate = 0 (expected 10 to 1e+06 Hz)");
    }
}

}  // namespace
}  // namespace pliant
