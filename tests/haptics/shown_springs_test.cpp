#include "haptics/coupling_springs.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "haptics/lent_energy.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Springs of one stiffness from places on a hand to places that stay.
struct SeveralSprings {
    double stiffness = 300;
    std::vector<Vector3d> held;     ///< where they end
    std::vector<Vector3d> offsets;  ///< where they begin, in the axes of the hand

    [[nodiscard]] SpringSum at(const Pose& hand) const {
        SpringSum sum;
        const double part = 1.0 / static_cast<double>(held.size());
        for (std::size_t i = 0; i < held.size(); ++i) {
            const Vector3d arm = hand.rotation * offsets[i];
            const Vector3d stretch = held[i] - (hand.position + arm);
            sum.wrench.force += stiffness * stretch;
            sum.wrench.torque += stiffness * arm.cross(stretch);
            sum.energy += 0.5 * stiffness * stretch.squaredNorm();
            sum.stretch += part * stretch;
            sum.arm += part * arm;
        }
        return sum;
    }
};

/// What a hand puts in on a way of many small steps, by the middle of what is shown at their ends.
double work_of_hand(const SeveralSprings& springs, const std::vector<Pose>& way, double max_force,
                    double max_torque) {
    double work = 0;
    ShownSprings last = shown_springs(springs.at(way[0]), max_force, max_torque);
    for (std::size_t k = 1; k < way.size(); ++k) {
        const ShownSprings now = shown_springs(springs.at(way[k]), max_force, max_torque);
        const Vector3d turn = rotation_difference(way[k - 1].rotation, way[k].rotation);
        work -=
            0.5 *
                (last.wrench.force + now.wrench.force).dot(way[k].position - way[k - 1].position) +
            0.5 * (last.wrench.torque + now.wrench.torque).dot(turn);
        last = now;
    }
    return work;
}

/// From the origin along a crooked way to `shift` and `turn`.
std::vector<Pose> crooked_way(const Vector3d& shift, const Vector3d& turn) {
    std::vector<Pose> way;
    for (int k = 0; k <= 20000; ++k) {
        const double s = k / 20000.0, bend = std::sin(3 * s) - s * std::sin(3.0);
        way.push_back({s * shift + bend * Vector3d(0.01, -0.004, 0.007),
                       rotation_from_vector(s * turn + bend * Vector3d(0.05, 0.1, -0.02))});
    }
    return way;
}

TEST(ShownSprings, TheEnergyOfACutSpringIsTheWorkOfTheForceThatIsShown) {
    const SeveralSprings one{300, {Vector3d::Zero()}, {Vector3d::Zero()}};
    // 300 N/m up to 2 N at 6.7 mm, then 2 N
    for (const double reach : {0.004, 0.0067, 0.03}) {
        const auto way = crooked_way(reach * Vector3d(1, 2, -2) / 3, Vector3d::Zero());
        const ShownSprings shown = shown_springs(one.at(way.back()), 2, 0);
        EXPECT_NEAR(shown.energy, work_of_hand(one, way, 2, 0), 1e-8) << reach;
        EXPECT_NEAR(shown.energy, clamped_energy(reach, 300, 2), 1e-12);
        EXPECT_NEAR(shown.wrench.force.norm(), std::min(300 * reach, 2.0), 1e-12);
    }
    // in numbers: ½ 2²/300 up to the limit and 2 N over the rest of the way
    EXPECT_NEAR(clamped_energy(0.03, 300, 2), 0.5 * 4 / 300 + 2 * (0.03 - 2.0 / 300), 1e-12);
}

TEST(ShownSprings, APartIsFoundForEveryEnergy) {
    for (const double energy : {0.0, 1e-9, 0.01, 0.06, 0.0699})
        EXPECT_NEAR(cut_energy(0.07, part_with_energy(0.07, energy)), energy, 1e-15) << energy;
    EXPECT_EQ(part_with_energy(0.07, 0.07), 1);
    EXPECT_EQ(part_with_energy(0.07, 0.1), 1);
    EXPECT_EQ(part_with_energy(0.07, -1), 0);
    EXPECT_EQ(part_with_energy(0, 0), 1) << "of nothing all is left";
}

TEST(ShownSprings, SeveralSpringsCutInForceAreStillNoSourceOfEnergy) {
    SeveralSprings springs;
    springs.offsets = {{0.05, 0, 0}, {0.03, 0.02, 0}, {0.04, -0.01, 0.02}};
    for (const Vector3d& offset : springs.offsets)
        springs.held.push_back(offset + Vector3d(0, 0, 0.002));
    springs.held[1].x() += 0.004;  // which pull against each other
    const std::vector<Pose> way = crooked_way({0.004, 0.01, -0.03}, {0.1, -0.2, 0.15});
    for (const double max_force : {1e3, 8.0}) {
        const double gained = shown_springs(springs.at(way.back()), max_force, 1e3).energy -
                              shown_springs(springs.at(way.front()), max_force, 1e3).energy;
        EXPECT_NEAR(gained, work_of_hand(springs, way, max_force, 1e3), 1e-6) << max_force;
    }
    // the force was cut to a third, and what it turned with it
    EXPECT_LT(shown_springs(springs.at(way.back()), 8, 1e3).shift_part, 0.4);
}

TEST(ShownSprings, NothingIsCutBelowTheLimits) {
    SpringSum sum;
    sum.wrench = {{1, 2, 2}, {0.1, 0, 0}};
    sum.energy = 0.02;
    sum.stretch = {0.001, 0.002, 0.002};
    const ShownSprings shown = shown_springs(sum, 3.001, 0.2);
    EXPECT_EQ(shown.wrench.force, sum.wrench.force);
    EXPECT_EQ(shown.wrench.torque, sum.wrench.torque);
    EXPECT_DOUBLE_EQ(shown.energy, 0.02);
}

TEST(LentEnergy, BodiesGiveBackWhatTheyWereLentAndThenOfTheirOwn) {
    LentEnergy account;
    account.add(0.03, true, 1e-3);
    account.add(-0.02, true, 1e-3);
    EXPECT_DOUBLE_EQ(account.lent(), 0.01);
    EXPECT_EQ(account.given(), 0);
    account.add(-0.05, true, 1e-3);
    EXPECT_EQ(account.lent(), 0);
    EXPECT_NEAR(account.given(), 0.04, 1e-15);
    account.add(0.01, true, 1e-3);
    EXPECT_NEAR(account.given(), 0.04, 1e-15) << "what they gave was theirs";
}

TEST(LentEnergy, WorkThatIsNoNumberLeavesTheBookAsItIs) {
    LentEnergy account;
    account.add(2, true, 1e-3);
    account.add(-3, true, 1e-3);
    account.add(0.5, true, 1e-3);
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf})
        for (const bool is_touching : {true, false}) account.add(bad, is_touching, 0);
    EXPECT_EQ(account.lent(), 0.5);
    EXPECT_EQ(account.given(), 1);
}

TEST(LentEnergy, IsForgottenWithinSecondsWithoutContact) {
    LentEnergy account;
    account.add(1, true, 1e-3);
    for (int k = 0; k < 1000; ++k) account.add(0, true, 1e-3);
    EXPECT_EQ(account.lent(), 1);
    for (int k = 0; k < 1000; ++k) account.add(0, false, 1e-3);
    EXPECT_NEAR(account.lent(), std::exp(-1), 1e-9);
}

}  // namespace
}  // namespace pliant
