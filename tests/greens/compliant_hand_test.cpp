#include "pliant/greens/compliant_hand.h"

#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/distributed_contact.h"
#include "tests/greens/touch_models.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr int kLinks = GraspHand::kNumLinks, kJoints = GraspHand::kNumJoints;

std::vector<Pose> links_of(const GraspHand& hand, const Pose& wrist, const HandJoints& joints) {
    std::vector<Pose> links(kLinks);
    hand_links(hand, wrist, joints, links);
    return links;
}

TEST(GraspHand, FingersHangTogetherAndCloseOverThePalm) {
    const GraspHand hand = GraspHand::adult();
    EXPECT_EQ(hand.shapes().size(), at(kLinks));
    const Pose wrist{Vector3d(0.1, -0.2, 0.3), rotation_from_vector({0.3, 0.2, -0.5})};
    for (const double closing : {0.0, 0.4, 1.0}) {
        const auto links = links_of(hand, wrist, closing_hand(closing));
        for (int f = 0; f < GraspHand::kNumFingers; ++f)
            for (int bone = 0; bone + 1 < GraspHand::kLinksPerFinger; ++bone) {
                const int link = 1 + 3 * f + bone;
                const auto& lengths = hand.fingers[at(f)].lengths;
                const Vector3d end = links[at(link)].to_world({0, 0, lengths[at(bone)] / 2});
                const Vector3d start =
                    links[at(link + 1)].to_world({0, 0, -lengths[at(bone + 1)] / 2});
                EXPECT_LT((end - start).norm(), 1e-15);
            }
    }
    // tips of a closing hand come out on the side of the palm
    const auto open = links_of(hand, {}, closing_hand(0)),
               half = links_of(hand, {}, closing_hand(0.6));
    for (int f = 1; f < GraspHand::kNumFingers; ++f)
        EXPECT_GT(half[at(3 + 3 * f)].position.y(), open[at(3 + 3 * f)].position.y() + 0.01) << f;
    EXPECT_LT(half[3].position.x(), open[3].position.x() - 0.01);  // the thumb comes across
    EXPECT_EQ(closing_hand(std::numeric_limits<double>::quiet_NaN()), closing_hand(0));
    EXPECT_EQ(closing_hand(7), closing_hand(1));
}

TEST(CompliantHand, FollowsTheMeasuredOneWhenItTouchesNothing) {
    CompliantHand hand(GraspHand::adult());
    const Pose wrist{Vector3d(0.01, 0.02, -0.01), rotation_from_vector({0.1, 0, 0.1})};
    const std::vector<Wrench> loads(at(kLinks));
    const std::vector<Matrix6d> stiffness(at(kLinks), Matrix6d::Zero());
    for (int k = 0; k < 40; ++k) EXPECT_TRUE(hand.step(wrist, closing_hand(0.5), loads, stiffness));
    EXPECT_LT((hand.joints() - closing_hand(0.5)).norm(), 1e-9);
    EXPECT_LT((hand.wrist().position - wrist.position).norm(), 1e-12);
    EXPECT_LT(rotation_difference(hand.wrist().rotation, wrist.rotation).norm(), 1e-9);
}

// Springs against springs: what the hand settles at does no virtual work in any joint.
TEST(CompliantHand, SettlesWhereSpringsBalanceTheLoads) {
    CompliantHandOptions options;
    CompliantHand hand(GraspHand::adult(), options);
    const Pose wrist;
    const HandJoints measured = closing_hand(0.7);
    hand.place(wrist, closing_hand(0.2));
    const std::vector<Pose> held(hand.links().begin(), hand.links().end());
    // tips and middle links are held by springs where they were at the start
    const double k_contact = 2000;
    std::vector<Matrix6d> stiffness(at(kLinks), Matrix6d::Zero());
    std::vector<Wrench> loads(at(kLinks));
    const auto load = [&](int link, const Pose& pose) {
        Wrench wrench;
        if (link >= 2 && link % 3 != 1)
            wrench.force = k_contact * (held[at(link)].position - pose.position);
        return wrench;
    };
    for (int l = 2; l < kLinks; ++l)
        if (l % 3 != 1) stiffness[at(l)].topLeftCorner<3, 3>().diagonal().setConstant(k_contact);
    for (int k = 0; k < 120; ++k) {
        for (int l = 0; l < kLinks; ++l) loads[at(l)] = load(l, hand.links()[at(l)]);
        const AllocationGuard guard;
        const bool is_good = hand.step(wrist, measured, loads, stiffness);
        const auto allocations = guard.count();
        EXPECT_TRUE(is_good);
        EXPECT_EQ(allocations, 0u);
    }
    EXPECT_LT(hand.imbalance(), 1e-6);
    for (int joint = 0; joint < kJoints; ++joint) {
        HandJoints forth = hand.joints(), back = hand.joints();
        const double h = 1e-5;
        forth[joint] += h;
        back[joint] -= h;
        const auto a = links_of(hand.model(), hand.wrist(), forth),
                   b = links_of(hand.model(), hand.wrist(), back);
        double torque = options.joint_stiffness * (measured[joint] - hand.joints()[joint]);
        for (int l = 0; l < kLinks; ++l)
            torque +=
                load(l, hand.links()[at(l)]).force.dot(a[at(l)].position - b[at(l)].position) /
                (2 * h);
        EXPECT_NEAR(torque, 0, 1e-6) << joint;
    }
    // it has not got where it was told to go
    EXPECT_GT((hand.joints() - measured).norm(), 0.2);
}

/// A hand from above around a nodule that stands on its fixed face.
struct Grasp {
    std::shared_ptr<GreensModel> model =
        test::kelvin_model(make_semi_regular("nodule", 2), 0.02, 4e3);
    GraspHand hand = GraspHand::adult();
    Pose wrist;

    Grasp() {
        const Box bounds = bounding_box(model->surface.mesh.vertices);
        // palm down (+y of the hand), fingers along +y of the world
        Eigen::Matrix3d axes;
        axes.col(0) = Vector3d(1, 0, 0);
        axes.col(1) = Vector3d(0, 0, -1);
        axes.col(2) = Vector3d(0, 1, 0);
        wrist.rotation = Quaternion(axes);
        wrist.position = {bounds.center().x(), bounds.center().y() - 0.085,
                          bounds.max().z() + hand.palm_half_sizes.y() + 0.006};
    }
};

TEST(CompliantHand, GraspsWithoutUnboundedForce) {
    const Grasp grasp;
    DistributedContactOptions options;
    options.max_nodes = 80;
    options.capacitance.cache.max_bytes = 64 << 20;
    double forces[2] = {0, 0};
    int most = 0;
    for (const bool is_compliant : {false, true}) {
        DistributedContact contact(grasp.model, grasp.hand.shapes(), UpdateCosts(), options);
        CompliantHand hand(grasp.hand);
        hand.place(grasp.wrist, closing_hand(0));
        std::vector<Wrench> loads(at(kLinks));
        std::vector<Matrix6d> stiffness(at(kLinks), Matrix6d::Zero());
        std::uint64_t allocations = 0;
        double largest = 0;
        for (int k = 0; k <= 150; ++k) {
            const HandJoints measured = closing_hand(std::min(0.007 * k, 0.75));
            const AllocationGuard guard;
            if (is_compliant)
                (void)hand.step(grasp.wrist, measured, loads, stiffness);
            else
                hand.place(grasp.wrist, measured);
            (void)contact.step(hand.links());
            for (int l = 0; l < kLinks; ++l) {
                loads[at(l)] = contact.load(l);
                stiffness[at(l)] = contact.stiffness(l);
            }
            allocations += guard.count();
            largest = 0;
            for (const Wrench& load : loads) largest = std::max(largest, load.force.norm());
            ASSERT_TRUE(std::isfinite(largest));
            most = std::max(most, static_cast<int>(contact.touched().size()));
        }
        EXPECT_EQ(allocations, 0u);
        EXPECT_EQ(contact.report().left_out, 0);
        forces[is_compliant] = largest;
    }
    EXPECT_GT(most, 8);
    EXPECT_GT(forces[1], 0);
    EXPECT_LT(forces[1], 0.5 * forces[0]);
    // no more than the springs can hold: the largest angle times the spring over the shortest link
    EXPECT_LT(forces[1], 1.5 * 1.5 / 0.01);
}

TEST(CompliantHand, IgnoresWhatIsNotFiniteAndSaysWhatIsWrong) {
    CompliantHand hand(GraspHand::adult());
    const std::vector<Wrench> loads(at(kLinks));
    std::vector<Matrix6d> stiffness(at(kLinks), Matrix6d::Zero());
    const HandJoints before = hand.joints();
    HandJoints bad = closing_hand(0.5);
    bad[3] = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(hand.step({}, bad, loads, stiffness));
    stiffness[4](2, 2) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(hand.step({}, closing_hand(0.5), loads, stiffness));
    EXPECT_FALSE(hand.step({}, closing_hand(0.5), {}, {}));
    EXPECT_EQ(hand.joints(), before);
    const auto message = [](double size, double relaxation) {
        try {
            CompliantHandOptions options;
            options.relaxation = relaxation;
            const CompliantHand wrong(GraspHand::adult(size), options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message(-1, 1), "hand.size = -1.000000 (expected value > 0 [m])");
    EXPECT_EQ(message(0.2, 2), "hand.relaxation = 2.000000 (expected 0 < value ≤ 1)");
}

}  // namespace
}  // namespace pliant
