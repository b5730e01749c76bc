#include "pliant/haptics/dynamic_coupling.h"
#include "core/numbers.h"
#include "haptics/loop_step.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "pliant/core/allocation_guard.h"
#include "pliant/field/analytic_field.h"
#include "tests/haptics/coupling_samples.h"

namespace pliant {
namespace {

using namespace test;

CouplingGains dynamic_gains() {
    CouplingScene scene;
    scene.cell = 2e-3;
    scene.gyration = 0.02;
    scene.bounding = 0.03;
    return derive_gains(sample_device(), scene);
}

TEST(DynamicCoupling, FollowsTheSolutionOfADampedOscillator) {
    const CouplingGains gains = dynamic_gains();
    DynamicCouplingOptions options;
    options.steps = 200;
    DynamicCoupling coupling(gains, options);
    const double x = 0.01, angle = 0.2;
    const Pose hand = {{x, 0, 0}, rotation_from_vector({0, angle, 0})};
    const double omega = std::sqrt(gains.stiffness / options.mass);
    const double omega_turn = std::sqrt(gains.angular_stiffness / options.mass) / gains.length;
    for (int i = 1; i <= 60; ++i) {
        ASSERT_EQ(coupling.update(hand, {}, kLoopStep), StepStatus::Ok);
        // critically damped, from rest
        const auto left = [&](double w) {
            return (1 + w * i * kLoopStep) * std::exp(-w * i * kLoopStep);
        };
        EXPECT_NEAR(coupling.pose().position.x(), x * (1 - left(omega)), 1e-4 * x + 1e-5);
        EXPECT_NEAR(rotation_vector(coupling.pose().rotation).y(), angle * (1 - left(omega_turn)),
                    2e-3 * angle);
    }
}

TEST(DynamicCoupling, SettlesInContactWhereStaticsSays) {
    // a floor of 85 N at 1 mm: springs in series
    CouplingGains gains = dynamic_gains();
    DynamicCoupling coupling(gains);
    const Pose hand = {{0, 0, -0.01}};
    double depth = 0;
    for (int i = 0; i < 3000; ++i) {
        ToolContact contact;
        depth = -coupling.pose().position.z();
        contact.num_contacts = depth > 0 ? 1 : 0;
        contact.load.force.z() = 2000 * std::max(0.0, depth);
        ASSERT_EQ(coupling.update(hand, contact, kLoopStep), StepStatus::Ok);
    }
    EXPECT_NEAR(depth, 0.01 * 600 / 2600, 1e-6);
    EXPECT_NEAR(coupling.rendered(hand).force.z(), 2000 * depth, 1e-2);
}

TEST(DynamicCoupling, StiffContactFrozenForACycleMakesItBounceWhereStaticCouplingRests) {
    // k_C h²/m beyond what explicit steps carry; the reason for the static coupling
    CouplingGains gains = dynamic_gains();
    const Pose hand = {{0, 0, -0.005}};
    const auto amplitude = [&](auto& coupling) {
        double least = 1e9, most = -1e9;
        for (int i = 0; i < 3000; ++i) {
            const double depth = -coupling.pose().position.z();
            ToolContact contact;
            contact.num_contacts = depth > 0 ? 1 : 0;
            if (depth > 0) {
                contact.load.force.z() = 85000 * depth;
                contact.gradient(2, 2) = -85000;
            }
            static_cast<void>(coupling.update(hand, contact, kLoopStep));
            if (i < 2000) continue;
            least = std::min(least, coupling.rendered(hand).force.z());
            most = std::max(most, coupling.rendered(hand).force.z());
        }
        return most - least;
    };
    StaticCoupling at_rest(gains);
    DynamicCoupling bounces(gains);
    EXPECT_LT(amplitude(at_rest), 1e-6);
    EXPECT_GT(amplitude(bounces), 0.5);
}

TEST(DynamicCoupling, ShowsNoiseOfTheHandInFreeSpaceUnlessSilenced) {
    const CouplingGains gains = dynamic_gains();
    for (const bool is_silent : {false, true}) {
        DynamicCouplingOptions options;
        options.is_silent_in_free_space = is_silent;
        DynamicCoupling coupling(gains, options);
        // one encoder step back and forth
        double most = 0;
        for (int i = 0; i < 200; ++i) {
            const Pose hand = {{i % 2 ? 2e-5 : 0, 0, 0}};
            static_cast<void>(coupling.update(hand, {}, kLoopStep));
            most = std::max(most, coupling.rendered(hand).force.norm());
        }
        if (is_silent) {
            EXPECT_EQ(most, 0);
        } else {
            EXPECT_GT(most, 0.03);
        }
    }
}

TEST(DirectRendering, PutsTheToolIntoTheHandAndShowsTheContactClamped) {
    DirectRendering direct(dynamic_gains());
    const Pose hand = {{0.1, 0.2, 0.3}, rotation_from_vector({1, 0, 0})};
    ToolContact contact;
    contact.load = {{0, 0, 3}, {0.01, 0, 0}};
    ASSERT_EQ(direct.update(hand, contact, kLoopStep), StepStatus::Ok);
    EXPECT_EQ(direct.pose().position, hand.position);
    EXPECT_EQ(direct.rendered(hand).force, contact.load.force);
    contact.load = {{0, 0, 300}, {10, 0, 0}};
    ASSERT_EQ(direct.update(hand, contact, kLoopStep), StepStatus::Ok);
    EXPECT_NEAR(direct.rendered(hand).force.z(), 8.5, 1e-12);
    EXPECT_NEAR(direct.rendered(hand).torque.x(), 0.17, 1e-12);
}

template <typename Coupling>
void expect_finite_whatever_comes() {
    Coupling coupling(dynamic_gains());
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    const double bad[] = {kNan, std::numeric_limits<double>::infinity(), 1e300, -1e30, 1.0, 1e8};
    for (int i = 0; i < 2000; ++i) {
        const double value = bad[i % 6];
        Pose hand = {{normal(random), normal(random), normal(random)},
                     rotation_from_vector({normal(random), normal(random), normal(random)})};
        ToolContact contact;
        double dt = kLoopStep;
        if (i % 5 == 0) hand.position.x() = value;
        if (i % 5 == 1) hand.rotation.x() = value;
        if (i % 5 == 2) contact.load.force.y() = value;
        if (i % 5 == 3) contact.load.torque.z() = value;
        if (i % 5 == 4) dt = value;
        const StepStatus status = coupling.update(hand, contact, dt);
        if (!std::isfinite(value)) {
            EXPECT_EQ(status, StepStatus::InputIgnored);
        }
        ASSERT_TRUE(is_finite(coupling.pose()));
        ASSERT_TRUE(coupling.rendered(hand).force.allFinite());
        ASSERT_LE(coupling.rendered(hand).force.norm(), 8.5 * (1 + 1e-9));
        ASSERT_TRUE(std::isfinite(coupling.stored_energy(hand)));
    }
    CouplingGains gains = dynamic_gains();
    gains.stiffness = kNan;
    coupling.set_gains(gains);
    EXPECT_EQ(coupling.gains().stiffness, dynamic_gains().stiffness);
    coupling.place({{kNan, 0, 0}});
    EXPECT_TRUE(is_finite(coupling.pose()));
    coupling.place({{1, 2, 3}});
    EXPECT_EQ(coupling.pose().position, Vector3d(1, 2, 3));
    gains.stiffness = -1;
    EXPECT_THROW(Coupling{gains}, InputError);
}
TEST(DynamicCoupling, StaysFiniteWhateverComes) { expect_finite_whatever_comes<DynamicCoupling>(); }
TEST(DirectRendering, StaysFiniteWhateverComes) { expect_finite_whatever_comes<DirectRendering>(); }

TEST(DynamicCoupling, RefusesOptionsOutOfRange) {
    const auto message = [](auto change) {
        DynamicCouplingOptions options;
        change(options);
        try {
            DynamicCoupling coupling(dynamic_gains(), options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    using O = DynamicCouplingOptions;
    EXPECT_NE(message([](O& o) { o.mass = 0; }).find("coupling.mass = 0"), std::string::npos);
    EXPECT_NE(message([](O& o) { o.steps = 0; }).find("coupling.steps"), std::string::npos);
    EXPECT_NE(message([](O& o) { o.damping_ratio = -1; }).find("coupling.damping_ratio"),
              std::string::npos);
    EXPECT_NE(message([](O& o) { o.velocity_filter = kNan; }).find("coupling.velocity_filter"),
              std::string::npos);
    EXPECT_NE(message([](O& o) { o.max_speed = 0; }).find("coupling.max_speed"), std::string::npos);
}

TEST(DynamicCoupling, AllocatesNothing) {
    DynamicCoupling dynamic(dynamic_gains());
    DirectRendering direct(dynamic_gains());
    const Pose hand = {{0.1, 0, 0}};
    AllocationGuard guard;
    static_cast<void>(dynamic.update(hand, {}, kLoopStep));
    static_cast<void>(direct.update(hand, {}, kLoopStep));
    const double sum = dynamic.rendered(hand).force.sum() + direct.rendered(hand).force.sum();
    const auto count = guard.count();
    EXPECT_TRUE(std::isfinite(sum));
    EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace pliant
