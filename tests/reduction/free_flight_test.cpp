#include "pliant/reduction/free_flight.h"

#include "fem/fem_samples.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/basis.h"
#include "reduction/force_samples.h"
#include "reduction/rigid_motions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using ::testing::HasSubstr;

/// Two crooked boxes side by side, off the origin, in the basis of all that is not rigid motion.
struct FlyingBody {
    explicit FlyingBody(double youngs_modulus = 2e4, int num_vectors = 30)
        : FlyingBody(crooked_boxes(), youngs_modulus, num_vectors) {}
    FlyingBody(VolumeMesh mesh, double youngs_modulus, int num_vectors)
        : model(std::move(mesh), {isotropic(youngs_modulus, 0.3, 1000)}),
          M(mass_matrix(model)),
          U(MatrixXd::Identity(model.num_unknowns(), model.num_unknowns())) {
        remove_rigid(rigid_motions(model.mesh(), M), M, U);
        U = MatrixXd(mass_gram_schmidt(U, M)).leftCols(num_vectors);
        blocks = inertia_blocks(model, U);
    }
    static VolumeMesh crooked_boxes() {
        VolumeMesh mesh = hex_box(2, 1, 1, Box(Vector3d(1, 2, 3), Vector3d(1.3, 2.1, 3.2)));
        test::jitter(mesh, 0.01, 3);
        return mesh;
    }
    [[nodiscard]] FreeFlight flight(FlightCoupling coupling = FlightCoupling::Coupled,
                                    ReducedOptions options = {}) const {
        const auto coefficients = combine(build_coefficients(model, U), model.materials());
        return {ReducedDynamics(make_polynomial_force(coefficients),
                                MatrixXd::Identity(U.cols(), U.cols()), options),
                blocks, coupling};
    }
    [[nodiscard]] int size() const { return static_cast<int>(U.cols()); }
    /// Positions and velocities of all nodes in the world.
    [[nodiscard]] VectorXd positions(const FreeState& s) const {
        VectorXd x = U * s.shape.q;
        for (int i = 0; i < model.num_nodes(); ++i)
            x.segment<3>(3 * i) = s.frame.pose.to_world(x.segment<3>(3 * i) + arm(i));
        return x;
    }
    [[nodiscard]] VectorXd velocities(const FreeState& s) const {
        const VectorXd x = positions(s);
        VectorXd v = U * s.shape.v;
        for (int i = 0; i < model.num_nodes(); ++i)
            v.segment<3>(3 * i) = s.frame.pose.rotation * Vector3d(v.segment<3>(3 * i)) +
                                  s.frame.velocity_at(x.segment<3>(3 * i));
        return v;
    }
    [[nodiscard]] Vector3d arm(int node) const {
        return model.mesh().vertices[static_cast<std::size_t>(node)] - blocks.centre;
    }
    FemModel model;
    Eigen::SparseMatrix<double> M;
    MatrixXd U;
    InertiaBlocks blocks;
};

/// Flying, turning about a crooked axis and vibrating.
FreeState moving_state(const FreeFlight& flight, double spin, double vibration) {
    FreeState s = flight.make_state();
    s.frame.pose = {Vector3d(0.1, 0.2, -0.3), rotation_from_vector(Vector3d(0.4, -0.2, 0.9))};
    s.frame.velocity = {Vector3d(1, -2, 0.5), spin * Vector3d(0.6, 0.64, -0.48)};
    s.shape.q = test::random_vector(flight.dynamics().size(), 1, 0.01 * vibration);
    s.shape.v = test::random_vector(flight.dynamics().size(), 2, vibration);
    return s;
}
double total_energy(const FreeFlight& flight, const FreeState& s) {
    const auto ws = flight.dynamics().make_workspace();
    return flight.kinetic_energy(s) + flight.dynamics().elastic_energy(s.shape, *ws);
}
/// Accelerations set, then equal steps without load; all must succeed.
void fly(const FreeFlight& flight, FreeState& s, int num_steps, double dt, const Wrench& w = {}) {
    const auto ws = flight.make_workspace();
    const VectorXd f = VectorXd::Zero(flight.dynamics().size());
    flight.set_acceleration(s, w, f, *ws);
    for (int i = 0; i < num_steps; ++i)
        ASSERT_EQ(flight.step(s, w, f, dt, *ws).status, StepStatus::Ok) << i;
}

TEST(InertiaBlocks, AreTheObviousSums) {
    const FlyingBody body;
    const int n = body.model.num_nodes();
    VectorXd X(3 * n);
    for (int i = 0; i < n; ++i) X.segment<3>(3 * i) = body.arm(i);
    const auto with = [&](int a, int b, const MatrixXd& columns) {
        MatrixXd result = MatrixXd::Zero(columns.rows(), columns.cols());
        for (int i = 0; i < n; ++i) result.row(3 * i + a) = columns.row(3 * i + b);
        return result;
    };
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            const auto at = static_cast<std::size_t>(3 * a + b);
            const VectorXd expected_b = body.U.transpose() * body.M * with(a, b, X);
            const MatrixXd expected_B = body.U.transpose() * body.M * with(a, b, body.U);
            EXPECT_LE((body.blocks.b[at] - expected_b).norm(), 1e-13);
            EXPECT_LE((body.blocks.B[at] - expected_B).norm(), 1e-13);
            const VectorXd product = body.M * with(a, b, X);
            EXPECT_NEAR(body.blocks.second_moment(a, b), X.dot(product), 1e-15);
        }
}

TEST(InertiaBlocks, OfABoxHaveItsMassCentreAndMoments) {
    const Vector3d low(1, 2, 3), sides(0.4, 0.2, 0.1);
    const FemModel model(hex_box(3, 2, 2, Box(low, low + sides)), {isotropic(1, 0.3, 500)});
    const InertiaBlocks blocks = inertia_blocks(model, MatrixXd(model.num_unknowns(), 0));
    const double mass = 500 * 0.4 * 0.2 * 0.1;
    EXPECT_NEAR(blocks.mass, mass, 1e-13 * mass);
    EXPECT_LE((blocks.centre - low - 0.5 * sides).norm(), 1e-14);
    const Matrix3d expected = (mass / 12 * sides.cwiseAbs2()).asDiagonal();
    EXPECT_LE((blocks.second_moment - expected).norm(), 1e-14);
}

TEST(InertiaBlocks, ABasisWithRigidMotionOrOfAnotherMeshIsRejected) {
    const FlyingBody body;
    const MatrixXd rigid = rigid_motions(body.model.mesh(), body.M);
    for (int motion = 0; motion < 6; ++motion) {
        MatrixXd U = body.U;
        U.col(4) += 1e-3 * rigid.col(motion);
        try {
            (void)inertia_blocks(body.model, U);
            FAIL() << motion;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), HasSubstr("vector 4 of the basis contains rigid motion"));
        }
    }
    try {
        (void)inertia_blocks(body.model, body.U.topRows(9));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("rows of the basis = 9 (expected 3 for each of the 12"));
    }
}

TEST(FreeFlight, MomentumAndEnergyAreThoseOfAllNodes) {
    const FlyingBody body;
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        const FreeFlight flight = body.flight(coupling);
        const FreeState s = moving_state(flight, 8, 1);
        const VectorXd x = body.positions(s), v = body.velocities(s), p = body.M * v;
        Vector3d linear = Vector3d::Zero(), angular = Vector3d::Zero();
        for (int i = 0; i < body.model.num_nodes(); ++i) {
            linear += p.segment<3>(3 * i);
            angular += Vector3d(x.segment<3>(3 * i)).cross(Vector3d(p.segment<3>(3 * i)));
        }
        const Wrench momentum = flight.momentum(s);
        EXPECT_LE((momentum.force - linear).norm(), 1e-13 * linear.norm());
        EXPECT_LE((momentum.torque - angular).norm(), 1e-13 * angular.norm());
        EXPECT_NEAR(flight.kinetic_energy(s), 0.5 * v.dot(p), 1e-13 * v.dot(p));
    }
}

TEST(FreeFlight, CoupledMotionIsThatOfTheFullModelToSecondOrder) {
    const FlyingBody body;
    const FreeFlight flight = body.flight();
    FreeState start = moving_state(flight, 6, 0.3);
    start.frame.pose = {body.blocks.centre, Quaternion::Identity()};

    // all nodes in world axes, with steps so short that their error does not matter
    ImplicitOptions options;
    options.max_iterations = 20;
    options.tolerance = 1e-11;
    options.solver = StepSolver::Direct;
    ImplicitDynamics full(body.model, Constraints(body.model.num_nodes()), options);
    FemState reference = full.make_state();
    reference.u = body.U * start.shape.q;
    reference.v = body.velocities(start);
    const VectorXd no_load = VectorXd::Zero(body.model.num_unknowns());
    full.set_acceleration(reference, no_load);
    const double duration = 0.2;
    constexpr int kFullSteps = 6400;
    for (int i = 0; i < kFullSteps; ++i)
        ASSERT_EQ(full.step(reference, no_load, duration / kFullSteps).status, StepStatus::Ok);
    for (int i = 0; i < body.model.num_nodes(); ++i)
        reference.u.segment<3>(3 * i) += body.model.mesh().vertices[static_cast<std::size_t>(i)];

    std::array<VectorXd, 3> x, v;
    const auto error = [](const VectorXd& value, const VectorXd& expected) {
        return (value - expected).lpNorm<Eigen::Infinity>();
    };
    for (std::size_t k = 0; k < 3; ++k) {
        FreeState s = start;
        const int steps = 200 << k;
        fly(flight, s, steps, duration / steps);
        x[k] = body.positions(s);
        v[k] = body.velocities(s);
    }
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_GT(error(x[k], reference.u) / error(x[k + 1], reference.u), 3.7);
        EXPECT_GT(error(v[k], reference.v) / error(v[k + 1], reference.v), 3.7);
    }
    // and its limit: nodes move by 0.4 m
    EXPECT_LT(error((4 * x[2] - x[1]) / 3, reference.u), 2e-5);

    // without coupling it is another motion
    const FreeFlight decoupled = body.flight(FlightCoupling::Decoupled);
    FreeState s = start;
    fly(decoupled, s, 400, duration / 400);
    EXPECT_GT(error(body.positions(s), reference.u), 0.01);
}

TEST(FreeFlight, CoupledMotionKeepsBothMomentaToRounding) {
    const FlyingBody body;
    const FreeFlight flight = body.flight();
    for (const double dt : {1e-3, 1e-2}) {
        FreeState s = moving_state(flight, 8, 0.3);
        const Wrench before = flight.momentum(s);
        fly(flight, s, 500, dt);
        const Wrench after = flight.momentum(s);
        EXPECT_LE((after.force - before.force).norm(), 1e-12 * before.force.norm());
        EXPECT_LE((after.torque - before.torque).norm(), 1e-11 * before.torque.norm());
    }
}

TEST(FreeFlight, AWrenchChangesMomentaByItsImpulse) {
    const FlyingBody body;
    const FreeFlight flight = body.flight();
    FreeState s = moving_state(flight, 8, 0.3);
    const auto ws = flight.make_workspace();
    const Wrench wrench{Vector3d(1, 2, 3), Vector3d(0.02, -0.01, 0.03)};
    const double dt = 1e-3;
    Wrench expected = flight.momentum(s);
    for (int i = 0; i < 50; ++i) {
        const Vector3d from = s.frame.pose.position;
        const Vector3d v = s.frame.velocity.linear;
        ASSERT_EQ(flight.step(s, wrench, test::random_vector(body.size(), 3), dt, *ws).status,
                  StepStatus::Ok);
        expected.force += dt * wrench.force;
        // about the world origin the force acts along the parabola of the centre of mass
        const Vector3d mean = from + 0.5 * dt * v + dt * dt / 6 * wrench.force / flight.mass();
        expected.torque += dt * (wrench.torque + mean.cross(wrench.force));
    }
    const Wrench momentum = flight.momentum(s);
    EXPECT_LE((momentum.force - expected.force).norm(), 1e-12 * expected.force.norm());
    EXPECT_LE((momentum.torque - expected.torque).norm(), 1e-12 * expected.torque.norm());
}

TEST(FreeFlight, DecoupledMotionDoesNotKeepAngularMomentum) {
    const FlyingBody body;
    const FreeFlight flight = body.flight(FlightCoupling::Decoupled);
    FreeState s = moving_state(flight, 8, 0.3);
    const Wrench before = flight.momentum(s);
    const auto ws = flight.make_workspace();
    const VectorXd f = VectorXd::Zero(body.size());
    const double size = (before.torque - s.frame.pose.position.cross(before.force)).norm();
    double drift = 0;
    for (int i = 0; i < 500; ++i) {
        ASSERT_EQ(flight.step(s, {}, f, 1e-3, *ws).status, StepStatus::Ok);
        drift = std::max(drift, (flight.momentum(s).torque - before.torque).norm() / size);
    }
    EXPECT_LE((flight.momentum(s).force - before.force).norm(), 1e-12 * before.force.norm());
    EXPECT_GT(drift, 0.01);
}

TEST(FreeFlight, CoupledMotionKeepsEnergyToSecondOrder) {
    const FlyingBody body;
    const FreeFlight flight = body.flight();
    const auto ws = flight.make_workspace();
    const VectorXd f = VectorXd::Zero(body.size());
    std::array<double, 3> errors{};
    for (std::size_t k = 0; k < 3; ++k) {
        FreeState s = moving_state(flight, 8, 0.3);
        s.frame.velocity.linear.setZero();
        const double before = total_energy(flight, s);
        flight.set_acceleration(s, {}, f, *ws);
        for (int i = 0; i < 400 << k; ++i) {
            ASSERT_EQ(flight.step(s, {}, f, 5e-4 / (1 << k), *ws).status, StepStatus::Ok);
            errors[k] = std::max(errors[k], std::abs(total_energy(flight, s) / before - 1));
        }
    }
    EXPECT_GT(errors[0] / errors[1], 3.6);
    EXPECT_GT(errors[1] / errors[2], 3.6);
    EXPECT_LT(errors[2], 2e-5);
}

TEST(FreeFlight, AFastSpinWithVibrationKeepsItsEnergyOverManyTurns) {
    // highest frequencies are far beyond the step
    const FlyingBody body(1e6);
    const FreeFlight flight = body.flight();
    FreeState s = moving_state(flight, 60, 0.05);
    s.frame.velocity.linear.setZero();
    s.shape.q *= 0.1;
    const double before = total_energy(flight, s);
    fly(flight, s, 5000, 1e-3);
    EXPECT_NEAR(total_energy(flight, s), before, 2e-3 * before);
}

/// A rigid body by Euler's equations in steps so short that their error does not matter.
RigidMotion rigid_reference(const FlyingBody& body, RigidMotion motion, double duration) {
    const Matrix3d J0 =
        body.blocks.second_moment.trace() * Matrix3d::Identity() - body.blocks.second_moment;
    const auto alpha = [&](const RigidMotion& m) -> Vector3d {
        const Matrix3d R = m.pose.rotation.toRotationMatrix();
        const Matrix3d J = R * J0 * R.transpose();
        const Vector3d& omega = m.velocity.angular;
        return -J.inverse() * omega.cross(J * omega);
    };
    constexpr int kSteps = 20000;
    const double dt = duration / kSteps;
    for (int i = 0; i < kSteps; ++i) {
        // acceleration of the middle
        motion.acceleration = {Vector3d::Zero(), alpha(motion)};
        RigidMotion middle = advance(motion, 0.5 * dt);
        motion.acceleration.angular = alpha(middle);
        motion = advance(motion, dt);
    }
    return motion;
}

TEST(FreeFlight, AStiffBodyTumblesAsARigidBodyToSecondOrder) {
    const FlyingBody body(1e13, 12);
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        const FreeFlight flight = body.flight(coupling);
        const FreeState start = moving_state(flight, 10, 0);
        const double duration = 0.5;
        const RigidMotion expected = rigid_reference(body, start.frame, duration);
        std::array<double, 2> errors;
        for (std::size_t k = 0; k < 2; ++k) {
            FreeState s = start;
            fly(flight, s, 250 << k, duration / (250 << k));
            errors[k] = rotation_difference(expected.pose.rotation, s.frame.pose.rotation).norm();
            EXPECT_LE((s.frame.pose.position - expected.pose.position).norm(), 1e-12);
        }
        EXPECT_GT(errors[0] / errors[1], 3.8);
        EXPECT_LT(errors[1], 2e-4);
    }
}

TEST(FreeFlight, CouplingVanishesWithTheInverseOfStiffness) {
    std::array<double, 2> differences;
    for (std::size_t k = 0; k < 2; ++k) {
        const FlyingBody body(k == 0 ? 1e8 : 1e9, 12);
        const FreeFlight coupled = body.flight(),
                         decoupled = body.flight(FlightCoupling::Decoupled);
        FreeState a = moving_state(coupled, 10, 0), b = a;
        fly(coupled, a, 200, 1e-3);
        fly(decoupled, b, 200, 1e-3);
        differences[k] = rotation_difference(a.frame.pose.rotation, b.frame.pose.rotation).norm();
    }
    EXPECT_NEAR(differences[0] / differences[1], 10, 1);
}

TEST(FreeFlight, ADampedSpinComesToRestInTheShapeThatCentrifugalForceHolds) {
    // about the axis of the largest inertia of a box, so that nothing tumbles
    const FlyingBody body(hex_box(2, 1, 1, Box(Vector3d::Zero(), Vector3d(0.3, 0.1, 0.2))), 2e4,
                          30);
    ReducedOptions options;
    options.damping.stiffness = 0.01;
    const FreeFlight flight = body.flight(FlightCoupling::Coupled, options);
    FreeState s = flight.make_state();
    s.frame.velocity.angular = {0, 10, 0};
    const Wrench before = flight.momentum(s);
    fly(flight, s, 1000, 5e-3);
    EXPECT_LE((flight.momentum(s).torque - before.torque).norm(), 1e-11 * before.torque.norm());
    EXPECT_LE(s.shape.v.norm(), 1e-8);
    EXPECT_LT(s.frame.velocity.angular.y(), 9.99);  // inertia has grown

    const Vector3d omega = s.frame.pose.rotation.conjugate() * s.frame.velocity.angular;
    VectorXd acceleration = body.U * s.shape.q;
    for (int i = 0; i < body.model.num_nodes(); ++i)
        acceleration.segment<3>(3 * i) =
            omega.cross(omega.cross(acceleration.segment<3>(3 * i) + body.arm(i)));
    const VectorXd centrifugal = -body.U.transpose() * (body.M * acceleration);
    const auto ws = flight.dynamics().force().make_workspace();
    VectorXd R(body.size());
    flight.dynamics().force().force(s.shape.q, R, *ws);
    EXPECT_LE((R - centrifugal).norm(), 1e-6 * centrifugal.norm());
}

TEST(FreeFlight, UniformGravityGivesAParabolaAndNoDeformation) {
    const FlyingBody body;
    const FreeFlight flight = body.flight();
    FreeState s = flight.make_state();
    s.frame.velocity.linear = {1, 2, 3};
    const Vector3d g(0, 0, -9.81);
    fly(flight, s, 100, 0.01, {flight.mass() * g, Vector3d::Zero()});
    EXPECT_LE((s.frame.pose.position - Vector3d(1, 2, 3) - 0.5 * g).norm(), 1e-13);
    EXPECT_EQ(s.shape.q.norm(), 0);
    EXPECT_NEAR(s.shape.time, 1, 1e-12);
}

TEST(FreeFlight, BadInputIsIgnoredAndBadStatesAreReset) {
    const FlyingBody body(2e4, 8);
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        const FreeFlight flight = body.flight(coupling);
        const auto ws = flight.make_workspace();
        const FreeState start = moving_state(flight, 5, 0.1);
        const VectorXd none = VectorXd::Zero(8);
        for (const double bad :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            FreeState s = start, expected = start;
            (void)flight.step(expected, {}, none, 1e-3, *ws);
            // loads: the step goes on without them
            EXPECT_EQ(
                flight.step(s, {Vector3d(bad, 0, 0), Vector3d::Ones()}, none, 1e-3, *ws).status,
                StepStatus::InputIgnored);
            EXPECT_EQ(s.shape.q, expected.shape.q);
            EXPECT_EQ(s.frame.pose.position, expected.frame.pose.position);
            s = start;
            EXPECT_EQ(flight.step(s, {}, VectorXd::Constant(8, bad), 1e-3, *ws).status,
                      StepStatus::InputIgnored);
            EXPECT_EQ(s.shape.q, expected.shape.q);
            // time steps: nothing happens
            for (const double dt : {bad, -1.0, 0.0, 1e-200, 1e200}) {
                s = start;
                EXPECT_EQ(flight.step(s, {}, none, dt, *ws).status, StepStatus::InputIgnored);
                EXPECT_EQ(s.shape.q, start.shape.q);
                EXPECT_EQ(s.frame.pose.position, start.frame.pose.position);
            }
            s = start;
            flight.set_acceleration(s, {Vector3d::Zero(), Vector3d(0, bad, 0)},
                                    VectorXd::Constant(8, bad), *ws);
            EXPECT_TRUE(is_finite(s.frame) && s.shape.a.allFinite());
            // states: back to rest
            s = start;
            s.frame.velocity.angular[1] = bad;
            EXPECT_EQ(flight.step(s, {}, none, 1e-3, *ws).status, StepStatus::StateReset);
            EXPECT_TRUE(is_finite(s.frame));
            EXPECT_EQ(s.shape.q.norm(), 0);
            s = start;
            s.shape.v[3] = bad;
            EXPECT_EQ(flight.step(s, {}, none, 1e-3, *ws).status, StepStatus::StateReset);
            EXPECT_TRUE(s.shape.v.allFinite());
        }
        // anything finite stays finite
        for (const double huge : {1e6, 1e100, 1e300}) {
            FreeState s = start;
            for (int i = 0; i < 5; ++i) {
                (void)flight.step(s, {Vector3d(huge, 0, 0), Vector3d(0, huge, huge)},
                                  VectorXd::Constant(8, huge), 1e-3, *ws);
                EXPECT_TRUE(is_finite(s.frame) && s.shape.q.allFinite() && s.shape.v.allFinite());
            }
        }
    }
}

TEST(FreeFlight, BlocksThatDoNotFitAndBodiesOnALineAreRejected) {
    const FlyingBody body(2e4, 8), other(2e4, 7);
    const auto message = [&](const InertiaBlocks& blocks) -> std::string {
        const auto coefficients =
            combine(build_coefficients(body.model, body.U), body.model.materials());
        try {
            (void)FreeFlight(
                ReducedDynamics(make_polynomial_force(coefficients), MatrixXd::Identity(8, 8)),
                blocks);
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_THAT(message(other.blocks), HasSubstr("size of the inertia blocks = 7 (expected 8"));
    InertiaBlocks line = body.blocks;
    line.second_moment = Vector3d(1, 0, 0).asDiagonal();
    EXPECT_THAT(message(line), HasSubstr("all of it lies on a line"));
    line = body.blocks;
    line.mass = 0;
    EXPECT_THAT(message(line), HasSubstr("no mass"));
    InertiaBlocks dependent = body.blocks;
    for (MatrixXd& B : dependent.B) {
        B.row(1).setZero();
        B.col(1).setZero();
    }
    EXPECT_THAT(message(dependent), HasSubstr("vectors that depend on each other"));
}

TEST(FreeFlight, StepsAllocateNothing) {
    const FlyingBody body;
    set_num_threads(1);
    for (const FlightCoupling coupling : {FlightCoupling::Coupled, FlightCoupling::Decoupled}) {
        const FreeFlight flight = body.flight(coupling);
        const auto ws = flight.make_workspace();
        FreeState s = moving_state(flight, 5, 0.1);
        const VectorXd f = test::random_vector(body.size(), 4);
        const AllocationGuard guard;
        const ReducedReport report = flight.step(s, {}, f, 1e-3, *ws);
        const Wrench momentum = flight.momentum(s);
        const double energy = flight.kinetic_energy(s);
        const auto allocations = guard.count();
        EXPECT_EQ(report.status, StepStatus::Ok);
        EXPECT_TRUE(std::isfinite(energy) && momentum.torque.allFinite());
        EXPECT_EQ(allocations, 0u);
    }
    set_num_threads(0);
}

}  // namespace
}  // namespace pliant
