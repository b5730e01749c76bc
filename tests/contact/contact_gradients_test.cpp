#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "tests/contact/load_samples.h"

// Gradients of loads against central differences of the loads with real motions of the bodies.

namespace pliant {
namespace {

using namespace test;
using Vector6d = Eigen::Matrix<double, 6, 1>;

/// Points are single precision: differences over 1e-4 of positions known to about 6e-9 m are good
/// to 1e-4 of the stiffness times the arms of about a metre.
constexpr double kDifference = 2e-4;
constexpr double kTolerance = 3e-4;

/// ∂load/∂(shift, turn) by central differences.
Matrix6d differences(const std::function<Vector6d(const Vector3d&, const Vector3d&)>& load) {
    Matrix6d result;
    for (int j = 0; j < 6; ++j) {
        Vector6d step = Vector6d::Zero();
        step[j] = kDifference;
        const Vector6d after = load(step.head<3>(), step.tail<3>());
        const Vector6d before = load(-step.head<3>(), -step.tail<3>());
        result.col(j) = (after - before) / (2 * kDifference);
    }
    return result;
}

Vector6d wrench_on_shell(Pair pair, const ContactFrames& frames) {
    return stacked(pair.update(frames).on_shell);
}
Vector6d wrench_on_field(Pair pair, const ContactFrames& frames) {
    return stacked(pair.update(frames).on_field);
}

Matrix6d moving_shell(const Pair& pair, const ContactFrames& frames) {
    return differences([&](const Vector3d& shift, const Vector3d& turn) {
        ContactFrames moved = frames;
        move_body(moved.shell, moved.shell_centre, shift, turn);
        return wrench_on_shell(pair, moved);
    });
}
/// The field stays and the shell moves the other way about the field's centre.
Matrix6d moving_shell_backwards(const Pair& pair, const ContactFrames& frames) {
    return differences([&](const Vector3d& shift, const Vector3d& turn) {
        ContactFrames moved = frames;
        Vector3d centre = frames.field_centre;
        move_body(moved.shell, centre, -shift, -turn);
        return wrench_on_field(pair, moved);
    });
}
/// The field moves, its centre with it.
Matrix6d moving_field(const Pair& pair, const ContactFrames& frames) {
    return differences([&](const Vector3d& shift, const Vector3d& turn) {
        ContactFrames moved = frames;
        move_body(moved.field, moved.field_centre, shift, turn);
        return wrench_on_field(pair, moved);
    });
}

/// A shell that is deep in the field, so that no contact comes or goes.
struct GradientScene {
    explicit GradientScene(unsigned seed, int num_points = 150)
        : shell(random_shell(num_points, 0, seed)) {
        std::mt19937 random(seed + 1);
        frames.field = random_pose(random);
        frames.shell = frames.field * Pose{Vector3d(0.01, 0.02, -0.01),
                                           rotation_from_vector(Vector3d(0.1, -0.2, 0.4))};
        frames.shell_centre = random_vector(random);
        frames.field_centre = random_vector(random);
    }
    HandShell shell;
    ContactFrames frames;
};

void expect_near(const Matrix6d& gradient, const Matrix6d& expected, double scale) {
    EXPECT_LT((gradient - expected).cwiseAbs().maxCoeff(), kTolerance * scale) << gradient << "\n\n"
                                                                               << expected;
}

TEST(ContactGradients, OfTheShellMatchMovingItWithItsNormals) {
    const FunctionField round = ball(0.5), flat = half_space();
    for (const DistanceField* field :
         {static_cast<const DistanceField*>(&round), static_cast<const DistanceField*>(&flat)}) {
        const GradientScene scene(3);
        ContactLoadOptions options{.stiffness = 100, .scaling = ContactScaling::SingleCount};
        options.takes_field_gradient = true;
        Pair pair(scene.shell, *field, options);
        const ContactLoads loads = pair.update(scene.frames);
        ASSERT_EQ(loads.num_contacts, 150);
        // ten contacts' worth of stiffness
        expect_near(loads.shell_gradient, moving_shell(pair, scene.frames), 1000);
    }
}

TEST(ContactGradients, WithWeightsPerDirectionAreThoseOfRigidMotion) {
    // a rigid motion of the shell turns all normals alike: the weights do not change
    const FunctionField field = ball(0.5);
    const GradientScene scene(4);
    ContactLoadOptions options{.stiffness = 100};
    options.takes_field_gradient = true;
    Pair pair(scene.shell, field, options);
    const ContactLoads loads = pair.update(scene.frames);
    expect_near(loads.shell_gradient, moving_shell(pair, scene.frames), 1000);
}

TEST(ContactGradients, MirroredFormMatchesMovingTheShellBackwards) {
    const FunctionField field = ball(0.5);
    const GradientScene scene(5);
    ContactLoadOptions options{.stiffness = 100};
    options.takes_field_gradient = true;
    Pair pair(scene.shell, field, options);
    const ContactLoads loads = pair.update(scene.frames);
    expect_near(loads.field_gradient, moving_shell_backwards(pair, scene.frames), 1000);
    // and is not the derivative with normals that stay
    EXPECT_GT((loads.field_gradient - moving_field(pair, scene.frames)).norm(), 1.0);
}

TEST(ContactGradients, DirectFormMatchesMovingTheFieldAlone) {
    const FunctionField field = ball(0.5);
    const GradientScene scene(6);
    ContactLoadOptions options{.stiffness = 100};
    options.takes_field_gradient = true;
    options.gradients = GradientForm::Direct;
    Pair pair(scene.shell, field, options);
    const ContactLoads loads = pair.update(scene.frames);
    expect_near(loads.field_gradient, moving_field(pair, scene.frames), 1000);
}

TEST(ContactGradients, FormsDifferByTheTermsOfTurningNormalsAndArms) {
    const FunctionField field = ball(0.5);
    const GradientScene scene(7);
    ContactLoadOptions options{.stiffness = 100};
    Pair mirrored(scene.shell, field, options);
    options.gradients = GradientForm::Direct;
    Pair direct(scene.shell, field, options);
    const Matrix6d difference =
        mirrored.update(scene.frames).field_gradient - direct.update(scene.frames).field_gradient;
    // Σ k d ~n, and Σ (−~F ~r + k d ~r ~n), of the specification
    Matrix6d expected = Matrix6d::Zero();
    for (int i = 0; i < mirrored.loads.num_contacts; ++i) {
        const auto c = static_cast<std::size_t>(i);
        const Vector3d F = -mirrored.sums.point_forces[c].cast<double>();
        const ContactPoints& p = mirrored.contacts;
        const Vector3d r = scene.frames.field.to_world(Vector3d(p.x[c], p.y[c], p.z[c])) -
                           scene.frames.field_centre;
        const auto skew = [](const Vector3d& v) {
            Matrix3d m;
            m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
            return m;
        };
        expected.topRightCorner<3, 3>() += skew(F);
        expected.bottomRightCorner<3, 3>() += -skew(F) * skew(r) + skew(r) * skew(F);
    }
    EXPECT_LT((difference - expected).cwiseAbs().maxCoeff(), 1e-5 * expected.norm());
}

TEST(ContactGradients, NormalForGradientIsExactWhereTheyAgree) {
    // all normals along the field's: g = n costs nothing
    GradientScene scene(8);
    for (Vector3d& n : scene.shell.normals) n = Vector3d::UnitZ();
    scene.shell.finish();
    scene.frames.shell.rotation = scene.frames.field.rotation;
    const FunctionField field = half_space();
    ContactLoadOptions options{.stiffness = 100};
    Pair by_normal(scene.shell, field, options);
    options.takes_field_gradient = true;
    Pair by_field(scene.shell, field, options);
    by_normal.update(scene.frames);
    by_field.update(scene.frames);
    EXPECT_LT((by_normal.loads.shell_gradient - by_field.loads.shell_gradient).norm(),
              1e-6 * by_field.loads.shell_gradient.norm());
    expect_near(by_normal.loads.shell_gradient, moving_shell(by_normal, scene.frames), 1000);
    EXPECT_LT((by_normal.loads.shell_gradient.topLeftCorner<3, 3>() +
               by_normal.loads.shell_stiffness.topLeftCorner<3, 3>())
                  .norm(),
              1e-9);
}

TEST(ContactGradients, NormalsOfTheFieldTurnWithTheField) {
    const FunctionField field = half_space();
    const GradientScene scene(9);
    ContactLoadOptions options{.stiffness = 100};
    options.normals = ContactNormals::FieldGradient;
    Pair pair(scene.shell, field, options);
    pair.update(scene.frames);
    expect_near(pair.loads.shell_gradient, moving_shell(pair, scene.frames), 1000);
    expect_near(pair.loads.field_gradient, moving_shell_backwards(pair, scene.frames), 1000);
    options.gradients = GradientForm::Direct;
    Pair direct(scene.shell, field, options);
    direct.update(scene.frames);
    expect_near(direct.loads.field_gradient, moving_field(direct, scene.frames), 1000);
}

TEST(ContactGradients, StiffnessIsSymmetricAndSemiDefinite) {
    const FunctionField field = ball(0.5);
    const GradientScene scene(10);
    for (const double friction : {0.0, 0.5}) {
        ContactLoadOptions options{.stiffness = 100};
        options.friction = friction;
        Pair pair(scene.shell, field, options);
        pair.update(scene.frames);
        ContactFrames moved = scene.frames;
        moved.shell.position += Vector3d(0.003, -0.01, 0.004);
        const ContactLoads& loads = pair.update(moved);
        for (const Matrix6d* K : {&loads.shell_stiffness, &loads.field_stiffness}) {
            EXPECT_LT((*K - K->transpose()).norm(), 1e-9 * K->norm());
            EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix6d>(*K).eigenvalues()[0],
                      -1e-9 * K->norm());
        }
    }
}

/// A pair whose anchors were set at one place and which then slipped.
struct SlippedPair {
    SlippedPair(const GradientScene& scene, const DistanceField& field,
                const ContactLoadOptions& options, const Vector3d& slip)
        : frames(scene.frames), before(scene.shell, field, options) {
        before.update(frames);
        frames.shell.position += frames.field.rotation * slip;
        frames.shell_centre += frames.field.rotation * slip;
    }
    ContactFrames frames;
    Pair before;  ///< with anchors, not yet at `frames`
};

TEST(ContactGradients, OfStickingContactsMatchDifferences) {
    // normals of the field do not turn with the shell, as the tangential stiffness assumes
    const FunctionField field = half_space();
    const GradientScene scene(11);
    ContactLoadOptions options{.stiffness = 100};
    options.normals = ContactNormals::FieldGradient;
    options.friction = 0.8;
    options.friction_stiffness = 0.7;
    const SlippedPair slipped(scene, field, options, Vector3d(0.002, -0.001, 0));
    Pair pair = slipped.before;
    const ContactLoads loads = pair.update(slipped.frames);
    ASSERT_EQ(loads.num_sticking, loads.num_contacts);
    expect_near(loads.shell_gradient, moving_shell(slipped.before, slipped.frames), 1000);
    expect_near(loads.field_gradient, moving_shell_backwards(slipped.before, slipped.frames), 1000);
}

TEST(ContactGradients, OfSlidingContactsMatchDifferencesAlongThePlane) {
    const FunctionField field = half_space();
    const GradientScene scene(12);
    ContactLoadOptions options{.stiffness = 100};
    options.normals = ContactNormals::FieldGradient;
    options.friction = 0.05;
    const SlippedPair slipped(scene, field, options, Vector3d(0.05, -0.03, 0));
    Pair pair = slipped.before;
    const ContactLoads loads = pair.update(slipped.frames);
    ASSERT_EQ(loads.num_sliding, loads.num_contacts);
    const Matrix6d expected = moving_shell(slipped.before, slipped.frames);
    const Matrix3d R = slipped.frames.field.rotation.toRotationMatrix();
    // a change of depth changes the limit: that term is left out on purpose
    for (const int axis : {0, 1})
        EXPECT_LT((loads.shell_gradient.leftCols<3>() * R.col(axis) -
                   expected.leftCols<3>() * R.col(axis))
                      .norm(),
                  kTolerance * 1000);
    // along the slip the force does not change, across it turns
    const Vector3d e = R * Vector3d(0.05, -0.03, 0).normalized();
    EXPECT_LT((loads.shell_gradient.topLeftCorner<3, 3>() * e).norm(), 1e-4 * 1000);
    EXPECT_GT((loads.shell_gradient.topLeftCorner<3, 3>() * R.col(2).cross(e)).norm(), 1.0);
}

TEST(ContactGradients, ReducedStiffnessMatchesDifferencesForNormalsThatStay) {
    const FunctionField field = half_space();
    const int r = 6;
    HandShell shell = random_shell(80, r, 13);
    for (Vector3d& n : shell.normals) n = Vector3d::UnitZ();
    shell.finish();
    ContactLoadOptions options{.stiffness = 100};
    options.normals = ContactNormals::Undeformed;
    for (const double friction : {0.0, 2.0}) {
        options.friction = friction;
        std::mt19937 random(14);
        ContactFrames frames;
        frames.shell = frames.field = random_pose(random);
        VectorXd q(r);
        for (int j = 0; j < r; ++j) q[j] = 1e-3 * random_vector(random).x();
        Pair before(shell, field, options);
        before.update(frames, VectorXd::Zero(r));
        Pair pair = before;
        const ContactLoads loads = pair.update(frames, q);
        ASSERT_EQ(loads.num_contacts, 80);
        ASSERT_EQ(loads.num_sliding, 0);
        MatrixXd expected(r, r);
        for (int j = 0; j < r; ++j) {
            VectorXd step = VectorXd::Zero(r);
            step[j] = kDifference;
            Pair after = before, earlier = before;
            expected.col(j) = -(after.update(frames, q + step).shell_load -
                                earlier.update(frames, q - step).shell_load) /
                              (2 * kDifference);
        }
        EXPECT_LT((loads.shell_reduced_stiffness - expected).cwiseAbs().maxCoeff(),
                  kTolerance * 1000);
        EXPECT_EQ(loads.shell_reduced_stiffness, loads.shell_reduced_stiffness.transpose());
    }
}

}  // namespace
}  // namespace pliant
