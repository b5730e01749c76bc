#include "pliant/haptics/passivity.h"
#include "core/numbers.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "input_error.h"
#include "pliant/core/allocation_guard.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;

Pose at(const Vector3d& position, const Vector3d& turn = Vector3d::Zero()) {
    return {position, rotation_from_vector(turn)};
}
PassivityOptions observing() {
    PassivityOptions options;
    options.controls = false;
    return options;
}

/// A sampled spring at the origin, its force held for a tick and `delay` ticks late, while the
/// handle moves at `speed` along x from there.
struct SampledSpring {
    double stiffness = 600, speed = 0.05;
    int delay = 0;

    [[nodiscard]] double x(int k) const { return speed * kLoopStep * k; }
    [[nodiscard]] double stored(int k) const { return 0.5 * stiffness * x(k) * x(k); }
    /// In force between samples k − 1 and k.
    [[nodiscard]] DeviceCommand held(int k) const {
        const double old = k - 1 - delay >= 0 ? x(k - 1 - delay) : 0;
        return {Vector3d(-stiffness * old, 0, 0), Vector3d::Zero(), 0};
    }
    void run(PassivityPort& port, int num_ticks) const {
        for (int k = 0; k <= num_ticks; ++k)
            static_cast<void>(port.update(at({x(k), 0, 0}), held(k), {stored(k)}, kLoopStep));
    }
};

TEST(PassivityPort, WhatBodiesHeldWhenTheAccountBeganMayComeBack) {
    // a body gives back 5 mJ through the port while the springs keep theirs
    const double held = 5e-3, force = 2;
    for (const double counted : {held, 0.0}) {
        PassivityPort port(observing());
        for (int k = 0; k <= 100; ++k) {
            const double left = held * (1 - 0.01 * k), way = (held - left) / force;
            static_cast<void>(port.update(at({way, 0, 0}), {Vector3d(force, 0, 0)},
                                          {1e-3, counted > 0 ? left : 0.0}, kLoopStep));
        }
        EXPECT_NEAR(port.least_margin(), counted - held, 1e-12);
    }
}

TEST(PassivityPort, ASampledSpringMakesHalfAStepOfItsStiffnessAsNegativeDamping) {
    SampledSpring spring;
    PassivityPort port(observing());
    const int n = 200;
    spring.run(port, n);
    // ½ K Σ Δx² exactly: power (K T/2) v²
    const double made =
        0.5 * spring.stiffness * kLoopStep * spring.speed * spring.speed * n * kLoopStep;
    EXPECT_NEAR(port.energy(), spring.stored(n) - made, 1e-15);
    EXPECT_NEAR(port.deficit(), made - PassivityOptions().tolerance, 1e-15);
    EXPECT_NEAR(port.least_margin(), -made, 1e-15);
    EXPECT_EQ(port.damping(), 0);
}

TEST(PassivityPort, ADelayOfOneSampleTriplesWhatIsMade) {
    SampledSpring spring{600, 0.05, 1};
    PassivityPort port(observing());
    const int n = 200;
    spring.run(port, n);
    const double h = kLoopStep, v = spring.speed, K = spring.stiffness;
    // 3/2 K T v² but for the first tick, which has no force yet
    EXPECT_NEAR(port.least_margin(), -1.5 * K * h * v * v * n * h, K * h * h * v * v);
}

TEST(PassivityPort, WhatBodiesWereLentBeforeTheAccountBeganMayComeBack) {
    const DeviceCommand held{Vector3d(1, 0, 0), Vector3d::Zero(), 0};
    const auto push_back = [&](double lent) {
        PassivityPort port(observing());
        for (int k = 0; k <= 100; ++k) {
            const double x = 1e-3 * k;  // the hand is pushed by 1 N, the body gives 1 mJ a tick
            static_cast<void>(port.update(at({x, 0, 0}), held, {0.01, lent - x}, kLoopStep));
        }
        return port.least_margin();
    };
    EXPECT_NEAR(push_back(0.1), 0, 1e-12);
    EXPECT_NEAR(push_back(0.06), -0.04, 1e-12) << "more than it was lent";
}

TEST(PassivityPort, WhatBodiesGiveOfTheirOwnIsNoGeneration) {
    const DeviceCommand held{Vector3d(1, 0, 0), Vector3d::Zero(), 0};
    // the hand is pushed by 1 N; of each millijoule that it gets the body gives a part
    for (const double part : {1.0, 0.6}) {
        PassivityPort port(observing());
        for (int k = 0; k <= 100; ++k) {
            const double x = 1e-3 * k;
            // the account of the bodies began long before, and begins anew once
            const double given = (k < 50 ? 7 : 0) + part * x;
            static_cast<void>(
                port.update(at({x, 0, 0}), held, {.coupling = 0.01, .given = given}, kLoopStep));
        }
        EXPECT_NEAR(port.least_margin(), part < 1 ? -0.04 - 0.6e-3 : -1e-3, 1e-12) << part;
    }
}

TEST(PassivityPort, ATorsionSpringCountsAsMuch) {
    // θ about a tilted axis, T = −k θ
    const Vector3d axis = Vector3d(1, 2, -2) / 3;
    const double k_R = 0.5, rate = 2.0;
    PassivityPort port(observing());
    const int n = 300;
    for (int k = 0; k <= n; ++k) {
        const double angle = rate * kLoopStep * k, last = rate * kLoopStep * std::max(k - 1, 0);
        const DeviceCommand held{Vector3d::Zero(), -k_R * last * axis, 0};
        static_cast<void>(port.update(at(Vector3d::Zero(), angle * axis), held,
                                      {0.5 * k_R * angle * angle}, kLoopStep));
    }
    EXPECT_NEAR(port.least_margin(), -0.5 * k_R * kLoopStep * rate * rate * n * kLoopStep, 1e-12);
}

TEST(PassivityPort, WhatAHandPutsInAndGetsBackCancels) {
    // a constant force over a closed path
    PassivityPort port(observing());
    const DeviceCommand held{Vector3d(1, -2, 0.5), Vector3d::Zero(), 0};
    for (int k = 0; k <= 1000; ++k) {
        const double t = 2 * M_PI * k / 1000;
        static_cast<void>(
            port.update(at(0.001 * Vector3d(std::sin(t), 1 - std::cos(t), std::sin(3 * t))), held,
                        {}, kLoopStep));
    }
    EXPECT_NEAR(port.energy(), 0, 1e-15);
}

/// Peak of the last tenth over that of the first, of a mass on a sampled spring without damping.
double growth(const PassivityOptions& options, double stiffness, double mass = 0.1) {
    PassivityPort port(options);
    double x = 1e-3, v = 0, early = 0, late = 0;
    DeviceCommand held;
    const int n = 2000;
    for (int k = 0; k < n; ++k) {
        const DeviceCommand added =
            port.update(at({x, 0, 0}), held, {0.5 * stiffness * x * x}, kLoopStep);
        held = {Vector3d(-stiffness * x, 0, 0) + added.force, added.torque, 0};
        // exact between samples
        const double a = held.force.x() / mass;
        x += kLoopStep * v + 0.5 * kLoopStep * kLoopStep * a;
        v += kLoopStep * a;
        if (k < n / 10) early = std::max(early, std::abs(x));
        if (k >= n - n / 10) late = std::max(late, std::abs(x));
    }
    return late / early;
}

TEST(PassivityPort, ControlKeepsAnUndampedLoopFromGrowing) {
    EXPECT_GT(growth(observing(), 600), 10);
    EXPECT_LT(growth({}, 600), 1.5);
    // a spring of little damping of its own is left alone until the tolerance is used up
    EXPECT_GT(growth({}, 600), 0.5);
}

TEST(PassivityPort, DampingTakesTheDeficitOutInOneStepUpToItsBound) {
    PassivityOptions options;
    options.filter = 1;  // no lag
    PassivityPort port(options);
    static_cast<void>(port.update(at(Vector3d::Zero()), {}, {}, kLoopStep));
    // a pull of 1 N along the motion: 1e-3 J were made
    const double v = 1.0;
    const DeviceCommand pull{Vector3d(1, 0, 0), Vector3d::Zero(), 0};
    DeviceCommand added = port.update(at({v * kLoopStep, 0, 0}), pull, {}, kLoopStep);
    EXPECT_NEAR(port.deficit(), 1e-3 - options.tolerance, 1e-15);
    const double b = port.deficit() / (kLoopStep * v * v);
    EXPECT_NEAR(port.damping(), b, 1e-12);
    EXPECT_NEAR(added.force.x(), -b * v, 1e-12);
    // held for a tick it takes out what was missing
    static_cast<void>(port.update(at({2 * v * kLoopStep, 0, 0}), added, {}, kLoopStep));
    EXPECT_NEAR(port.deficit(), 0, 1e-12);
    EXPECT_NEAR(port.taken_out(), b * v * v * kLoopStep, 1e-12);

    // slowly there is more to brake than b_max can
    port.reset();
    static_cast<void>(port.update(at(Vector3d::Zero()), {}, {}, kLoopStep));
    const DeviceCommand strong{Vector3d(100, 0, 0), Vector3d::Zero(), 0};
    added = port.update(at({1e-5, 0, 0}), strong, {}, kLoopStep);
    EXPECT_EQ(port.damping(), options.max_damping);
    EXPECT_NEAR(added.force.x(), -options.max_damping * 0.01, 1e-12);
    // and in the dead band none
    static_cast<void>(port.update(at({1.00005e-2 * kLoopStep, 0, 0}), strong, {}, kLoopStep));
    EXPECT_GT(port.deficit(), 0);
    EXPECT_EQ(port.damping(), 0);
}

TEST(PassivityPort, RotationsAreBrakedByTheSameRuleAtTheLeverOfTheHandle) {
    PassivityOptions options;
    options.filter = 1;
    PassivityPort port(options);
    static_cast<void>(port.update(at(Vector3d::Zero()), {}, {}, kLoopStep));
    const double omega = 50;
    const DeviceCommand turn{Vector3d::Zero(), Vector3d(0, 0, 0.02), 0};
    const DeviceCommand added =
        port.update(at(Vector3d::Zero(), {0, 0, omega * kLoopStep}), turn, {}, kLoopStep);
    const double made = 0.02 * omega * kLoopStep;
    EXPECT_NEAR(port.deficit(), made - options.tolerance, 1e-12);
    // b ρ² ω² T = e
    EXPECT_NEAR(-added.torque.z() * omega * kLoopStep, port.deficit(), 1e-12);
    EXPECT_TRUE(added.force.isZero(0));
}

TEST(PassivityPort, OldDissipationCannotHideNewGeneration) {
    PassivityPort port(observing());
    double x = 0;
    const auto move = [&](double force, double dx, const PortStorage& storage = {}) {
        x += dx;
        static_cast<void>(port.update(at({x, 0, 0}), {Vector3d(force, 0, 0), Vector3d::Zero(), 0},
                                      storage, kLoopStep));
    };
    move(0, 0);
    for (int k = 0; k < 1000; ++k) move(-5, 1e-3);  // 5 J
    EXPECT_NEAR(port.energy(), 0.02, 1e-15);
    for (int k = 0; k < 10; ++k) move(5, 1e-3);  // 0.05 J back
    EXPECT_NEAR(port.least_margin(), 0.02 - 0.05, 1e-12);

    // the cap is over what the springs hold, else a compressed spring would look like generation
    port.reset();
    move(0, 0);
    move(-50, 2e-3, {0.1});
    EXPECT_NEAR(port.least_margin(), 0, 1e-15);
    move(-50, 2e-3, {0.19});
    EXPECT_NEAR(port.energy(), 0.2, 1e-12);
    // and over what bodies may give back
    port.reset();
    move(0, 0);
    move(-50, 2e-3, {0, 0.1});
    EXPECT_NEAR(port.energy(), 0.1, 1e-12);
    move(50, 2e-3, {0, 0});
    EXPECT_NEAR(port.least_margin(), 0, 1e-12);
}

TEST(PassivityPort, TheFirstReadingTakesTheStorageAsGiven) {
    PassivityPort port;
    static_cast<void>(
        port.update(at({1, 2, 3}), {Vector3d(5, 5, 5), Vector3d::Zero(), 0}, {0.3}, kLoopStep));
    EXPECT_EQ(port.energy(), 0.3);
    EXPECT_EQ(port.least_margin(), 0);
    port.reset();
    EXPECT_EQ(port.energy(), 0);
}

TEST(PassivityPort, WhatIsNotFiniteIsIgnored) {
    PassivityPort port, calm;
    SampledSpring spring;
    spring.run(port, 50);
    spring.run(calm, 50);
    const DeviceCommand bad{Vector3d(kNan, 0, 0), Vector3d::Zero(), 0};
    EXPECT_TRUE(port.update(at({kNan, 0, 0}), {}, {}, kLoopStep).force.isZero(0));
    EXPECT_TRUE(port.update(at({0, 0, 0}), bad, {}, kLoopStep).force.isZero(0));
    EXPECT_TRUE(port.update(at({0, 0, 0}), {}, {kNan}, kLoopStep).force.isZero(0));
    EXPECT_TRUE(port.update(at({0, 0, 0}), {}, {0, kNan}, kLoopStep).force.isZero(0));
    for (const double dt : {0.0, -1.0, kNan})
        EXPECT_TRUE(port.update(at({0, 0, 0}), {}, {}, dt).force.isZero(0));
    EXPECT_EQ(port.energy(), calm.energy());
    EXPECT_EQ(port.deficit(), calm.deficit());
}

TEST(PassivityPort, BadOptionsAreNamed) {
    const auto error = [](auto&& change) {
        PassivityOptions options;
        change(options);
        return input_error([&] { PassivityPort port(options); });
    };
    EXPECT_EQ(error([](auto&) {}), "");
    EXPECT_NE(error([](auto& o) { o.tolerance = -1; }).find("passivity.tolerance = -1"),
              std::string::npos);
    EXPECT_NE(error([](auto& o) { o.filter = 0; }).find("0 < value <= 1"), std::string::npos);
    EXPECT_NE(error([](auto& o) { o.max_damping = kNan; }).find("passivity.max_damping"),
              std::string::npos);
    EXPECT_NE(error([](auto& o) { o.max_stored = -1; }), "");
    EXPECT_NE(error([](auto& o) { o.lever = -1; }), "");
    EXPECT_NE(error([](auto& o) { o.dead_band = -1; }), "");
}

TEST(PassivityPort, AllocatesNothing) {
    PassivityPort port;
    SampledSpring spring;
    AllocationGuard guard;
    spring.run(port, 20);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(PassivityPort, StepsOfEncodersThatToggleMakeNoEnergy) {
    // a handle that rests at the border of two steps reads one and the other; a spring answers a
    // tick later, and by the readings it would make half of k s² each time
    constexpr double kSpring = 600, kEncoder = 5e-5;
    for (const bool knows_step : {true, false}) {
        PassivityOptions options;
        options.controls = false;
        options.position_step = knows_step ? kEncoder : 0;
        PassivityPort port(options);
        DeviceCommand held, next;
        for (int k = 0; k < 2000; ++k) {
            Pose pose;
            pose.position.x() = 0.004 + ((k / 25) % 2) * kEncoder;
            const double x = pose.position.x();
            const DeviceCommand spring = {Vector3d(-kSpring * x, 0, 0), Vector3d::Zero(), 0};
            static_cast<void>(
                port.update(pose, held, {0.5 * kSpring * x * x, 0, spring.force}, kLoopStep));
            held = next;
            next = spring;
        }
        if (knows_step) {
            // the springs are taken at the border, to second order
            EXPECT_GT(port.least_margin(), -kSpring * kEncoder * kEncoder);
        } else {
            EXPECT_LT(port.least_margin(), -30 * kSpring * kEncoder * kEncoder);
        }
    }
}

TEST(PassivityPort, MotionOverManyStepsOfEncodersCountsInFull) {
    constexpr double kEncoder = 5e-5;
    PassivityOptions options;
    options.controls = false;
    options.max_stored = 1;
    options.position_step = kEncoder;
    PassivityPort port(options);
    const DeviceCommand held = {Vector3d(-2, 1, 0), Vector3d::Zero(), 0};
    for (int k = 0; k <= 1000; ++k) {
        Pose pose;
        const double x = 0.02 * (1 - std::cos(2e-3 * k));
        pose.position = {kEncoder * std::round(x / kEncoder),
                         kEncoder * std::round(-0.5 * x / kEncoder), 0};
        static_cast<void>(port.update(pose, held, {}, kLoopStep));
    }
    const double x = 0.02 * (1 - std::cos(2.0));
    EXPECT_NEAR(port.energy(), 2 * x + 0.5 * x, 3 * kEncoder);
}

}  // namespace
}  // namespace pliant
