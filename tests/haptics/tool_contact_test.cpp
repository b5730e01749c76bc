#include "haptics/tool_contact.h"

#include <gtest/gtest.h>

#include "contact/load_samples.h"

namespace pliant {
namespace {

using namespace test;
using Vector6d = Eigen::Matrix<double, 6, 1>;

// as in contact_gradients_test.cpp: points are single precision
constexpr double kStep = 2e-4;
constexpr double kTolerance = 3e-4;

/// A shell deep in a ball, so that no contact comes or goes; both bodies placed at random, torques
/// about random points of theirs.
struct Scene {
    explicit Scene(unsigned seed) : shell(random_shell(100, 0, seed)) {
        std::mt19937 random(seed + 1);
        frames.field = random_pose(random);
        frames.shell = frames.field * Pose{Vector3d(0.01, 0.02, -0.01),
                                           rotation_from_vector(Vector3d(0.1, -0.2, 0.4))};
        frames.shell_centre = random_vector(random);
        frames.field_centre = random_vector(random);
        grasp = random_vector(random);
    }
    HandShell shell;
    FunctionField field = ball(1.0);
    ContactFrames frames;
    Vector3d grasp;
};

ContactLoadOptions options(GradientForm form) {
    ContactLoadOptions o;
    o.gradients = form;
    o.takes_field_gradient = true;
    return o;
}

ToolContact about_grasp(const ContactLoads& loads, const ContactLoadOptions& law, bool is_shell,
                        const Vector3d& shift) {
    ToolContact contact;
    add_contact(contact, side_of_tool(loads, law, is_shell), shift, law.stiffness);
    return contact;
}
Vector3d centre_of(const ContactFrames& frames, bool is_shell) {
    return is_shell ? frames.shell_centre : frames.field_centre;
}

class ToolContactOf : public testing::TestWithParam<std::tuple<bool, GradientForm>> {};
INSTANTIATE_TEST_SUITE_P(All, ToolContactOf,
                         testing::Combine(testing::Bool(), testing::Values(GradientForm::Mirrored,
                                                                           GradientForm::Direct)));

TEST_P(ToolContactOf, LoadsAboutTheGraspPointAreThoseOfAPairThatHasItAsCentre) {
    const auto [is_shell, form] = GetParam();
    Scene s(3);
    Pair pair(s.shell, s.field, options(form));
    const Vector3d shift = s.grasp - centre_of(s.frames, is_shell);
    const ToolContact moved = about_grasp(pair.update(s.frames), options(form), is_shell, shift);
    ContactFrames direct = s.frames;
    (is_shell ? direct.shell_centre : direct.field_centre) = s.grasp;
    const ToolContact expected =
        about_grasp(pair.update(direct), options(form), is_shell, Vector3d::Zero());
    ASSERT_GT(expected.load.force.norm(), 1);
    EXPECT_LT((stacked(moved.load) - stacked(expected.load)).norm(),
              1e-12 * stacked(expected.load).norm());
    EXPECT_LT((moved.gradient - expected.gradient).norm(), 1e-11 * expected.gradient.norm());
    EXPECT_LT((moved.normals - expected.normals).norm(), 1e-11 * expected.normals.norm());
    // unit normals weighted by at most one
    const double count = expected.normals.topLeftCorner<3, 3>().trace();
    EXPECT_GT(count, 1);
    EXPECT_LE(count, 100);
}

TEST_P(ToolContactOf, GradientsAreDifferencesOfLoadsWhenTheToolMovesAboutTheGraspPoint) {
    const bool is_shell = std::get<0>(GetParam());
    const GradientForm form = std::get<1>(GetParam());
    Scene s(5);
    const Pair pair(s.shell, s.field, options(form));
    const auto load = [&](const Vector3d& shift, const Vector3d& turn) {
        Pair other = pair;
        ContactFrames moved = s.frames;
        Vector3d grasp = s.grasp;
        if (is_shell) {
            // the old centre goes along as a point of the body
            Pose centre{moved.shell_centre, Quaternion::Identity()};
            Vector3d same = grasp;
            move_body(centre, same, shift, turn);
            move_body(moved.shell, grasp, shift, turn);
            moved.shell_centre = centre.position;
        } else if (form == GradientForm::Direct) {
            Pose centre{moved.field_centre, Quaternion::Identity()};
            Vector3d same = grasp;
            move_body(centre, same, shift, turn);
            move_body(moved.field, grasp, shift, turn);
            moved.field_centre = centre.position;
        } else {
            // the tool stays and the shell moves backwards
            Vector3d same = grasp;
            move_body(moved.shell, same, -shift, -turn);
        }
        return stacked(about_grasp(other.update(moved), options(form), is_shell,
                                   grasp - centre_of(moved, is_shell))
                           .load);
    };
    Matrix6d expected;
    for (int j = 0; j < 6; ++j) {
        Vector6d step = Vector6d::Zero();
        step[j] = kStep;
        expected.col(j) =
            (load(step.head<3>(), step.tail<3>()) - load(-step.head<3>(), -step.tail<3>())) /
            (2 * kStep);
    }
    Pair other = pair;
    const ToolContact contact = about_grasp(other.update(s.frames), options(form), is_shell,
                                            s.grasp - centre_of(s.frames, is_shell));
    EXPECT_LT((contact.gradient - expected).cwiseAbs().maxCoeff(),
              kTolerance * expected.cwiseAbs().maxCoeff())
        << contact.gradient << "\n\n"
        << expected;
}

TEST(ToolContact, SeveralContactsAdd) {
    Scene s(7);
    Pair pair(s.shell, s.field, options(GradientForm::Mirrored));
    const ContactLoads& loads = pair.update(s.frames);
    const ContactLoadOptions law = options(GradientForm::Mirrored);
    ToolContact sum;
    add_contact(sum, side_of_tool(loads, law, true), s.grasp, law.stiffness);
    const ToolContact one = sum;
    add_contact(sum, side_of_tool(loads, law, true), s.grasp, law.stiffness);
    EXPECT_TRUE(sum.load.torque.isApprox(2 * one.load.torque, 1e-14));
    EXPECT_TRUE(sum.gradient.isApprox(2 * one.gradient, 1e-14));
    EXPECT_TRUE(sum.normals.isApprox(2 * one.normals, 1e-14));
}

}  // namespace
}  // namespace pliant
