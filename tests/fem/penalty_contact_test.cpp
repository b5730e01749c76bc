#include "pliant/fem/penalty_contact.h"

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "fem/fem_samples.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::input_error;
using testing::HasSubstr;

FemModel unit_cube(int n = 3) {
    return FemModel(hex_box(n, n, n, test::unit_box()), {isotropic(2e4, 0.3, 1000)});
}

/// Cuts into the unit cube from below, from the sides and at a corner.
std::vector<RigidShape> four_obstacles() {
    return {RigidShape::half_space({0.1, 0, 1}, 0.05), RigidShape::sphere(0.45),
            RigidShape::box({0.3, 0.4, 0.5}),
            RigidShape::mesh(test::torus_surface(30, 16, 0.5, 0.2))};
}
std::vector<RigidMotion> four_motions() {
    return {
        {{{0, 0, 0.02}, rotation_from_vector({0.05, -0.1, 0.3})},
         {{0.1, 0.2, 0.3}, {0.4, -0.2, 0.1}},
         {}},
        {{{1.1, 0.5, 0.6}, rotation_from_vector({1, 2, 3})}, {{-0.3, 0, 0.1}, {2, 1, 0}}, {}},
        {{{0.1, 0.9, 0.8}, rotation_from_vector({0.4, 0.3, 0.2})}, {{0, -0.2, 0}, {0, 0, 0}}, {}},
        {{{0.5, -0.3, 0.7}, rotation_from_vector({1.2, 0, 0})}, {{0, 0.5, 0}, {0, 0, 3}}, {}}};
}

struct Total {
    Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();  // about `origin`
};
Total total(const VolumeMesh& deformed, const VectorXd& f, const Vector3d& origin) {
    Total sum;
    for (int i = 0; i < deformed.num_vertices(); ++i) {
        sum.force += f.segment<3>(3 * i);
        sum.torque += (deformed.vertices[i] - origin).cross(Vector3d(f.segment<3>(3 * i)));
    }
    return sum;
}

/// Everything of one evaluation.
struct Evaluation {
    VectorXd f;
    std::vector<Wrench> wrenches;
    PenaltyContact::Report report;
};
Evaluation evaluate(const PenaltyContact& contact, const VectorXd& u, const VectorXd& v,
                    const std::vector<RigidMotion>& motions) {
    Evaluation e{VectorXd::Zero(u.size()), std::vector<Wrench>(motions.size()), {}};
    e.report = contact.add_force(u, v, motions, e.f, e.wrenches);
    return e;
}

/// docs/fem.md eq. (C10), written out without shortcuts.
VectorXd force_by_loop(const FemModel& model, const PenaltyContact& contact,
                       const PenaltyOptions& o, const VectorXd& u, const VectorXd& v,
                       const std::vector<RigidMotion>& motions) {
    VectorXd f = VectorXd::Zero(u.size());
    for (const int i : contact.nodes())
        for (std::size_t k = 0; k < motions.size(); ++k) {
            const Vector3d x = model.mesh().vertices[i] + u.segment<3>(3 * i);
            const ShapeSample s = contact.obstacles()[k].sample(motions[k].pose.to_body(x));
            if (s.gap >= 0) continue;
            const Vector3d n = motions[k].pose.rotation * s.normal;
            const Vector3d relative = v.segment<3>(3 * i) - motions[k].velocity_at(x);
            const double push = std::max(0.0, -o.stiffness * s.gap - o.damping * n.dot(relative));
            const Vector3d slide = relative - n.dot(relative) * n;
            f.segment<3>(3 * i) +=
                push * n - o.friction * push * slide / std::max(slide.norm(), o.slip_speed);
        }
    return f;
}

TEST(PenaltyContact, ForceIsThatOfTheEquationWrittenOut) {
    const FemModel model = unit_cube();
    const PenaltyOptions options{
        .stiffness = 300, .damping = 20, .friction = 0.4, .slip_speed = 0.2};
    const PenaltyContact contact(model, four_obstacles(), options);
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 1),
                   v = test::random_displacements(model.num_unknowns(), 0.5, 2);
    const Evaluation e = evaluate(contact, u, v, four_motions());
    const VectorXd expected = force_by_loop(model, contact, options, u, v, four_motions());
    EXPECT_GT(e.report.num_contacts, 20);
    EXPECT_LT((e.f - expected).norm(), 1e-12 * expected.norm());
    for (const Wrench& w : e.wrenches) EXPECT_GT(w.force.norm(), 1.0);  // all of them touch
}

TEST(PenaltyContact, ForceIsMinusTheEnergyGradient) {
    const FemModel model = unit_cube();
    const PenaltyContact contact(model, four_obstacles(), {.stiffness = 300});
    const std::vector<RigidMotion> motions = four_motions();
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 3),
                   v = VectorXd::Zero(model.num_unknowns());
    const VectorXd f = evaluate(contact, u, v, motions).f;
    for (unsigned seed = 0; seed < 10; ++seed) {
        const VectorXd step = test::random_displacements(model.num_unknowns(), 1, 10 + seed);
        const auto slope = [&](double h) {
            return (evaluate(contact, u + h * step, v, motions).report.energy -
                    evaluate(contact, u - h * step, v, motions).report.energy) /
                   (2 * h);
        };
        // gap² has a kink in its second derivative at the surface, and creases inside: first order
        // there at worst, which 1e-6 makes small; rounding is 1e-16 · energy / h
        EXPECT_NEAR(slope(1e-6), -f.dot(step), 1e-6 * f.norm());
    }
}

TEST(PenaltyContact, MatrixMatchesForceDifferencesOnAPlane) {
    const FemModel model = unit_cube();
    const std::vector<RigidMotion> motions{
        {{{0, 0, 0.3}, rotation_from_vector({0.3, 0.2, 0})}, {{0.1, 0, 0.2}, {0, 0, 0}}, {}}};
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 4),
                   v = test::random_displacements(model.num_unknowns(), 0.5, 5),
                   p = test::random_displacements(model.num_unknowns(), 1, 6);
    const auto check = [&](const PenaltyOptions& options, double a, double b, bool with_u) {
        const PenaltyContact contact(model, {RigidShape::half_space()}, options);
        FemModel::Matrix A = model.make_matrix();
        contact.add_matrix(u, v, motions, a, b, A);
        const double h = 1e-6;
        const auto force = [&](double s, bool of_v) {
            return evaluate(contact, of_v ? u : VectorXd(u + s * p), of_v ? VectorXd(v + s * p) : v,
                            motions)
                .f;
        };
        VectorXd expected = VectorXd::Zero(u.size());
        if (with_u) expected -= a * (force(h, false) - force(-h, false)) / (2 * h);
        expected -= b * (force(h, true) - force(-h, true)) / (2 * h);
        EXPECT_GT(expected.norm(), 1.0);
        // the force is linear between its kinks
        EXPECT_LT((A * p - expected).norm(), 1e-7 * expected.norm());
        EXPECT_EQ((MatrixXd(A) - MatrixXd(A).transpose()).norm(), 0);
    };
    check({.stiffness = 300, .damping = 20}, 0.7, 0.3, true);
    // friction below the slip speed is viscous; that it grows with depth is left out
    check({.stiffness = 300, .friction = 0.4, .slip_speed = 10}, 0, 0.3, false);
}

TEST(PenaltyContact, MatrixIsPositiveSemidefinite) {
    const FemModel model = unit_cube(2);
    const PenaltyContact contact(
        model, four_obstacles(),
        {.stiffness = 300, .damping = 5, .friction = 0.8, .slip_speed = 0.01});
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 7),
                   v = test::random_displacements(model.num_unknowns(), 0.5, 8);
    FemModel::Matrix A = model.make_matrix();
    contact.add_matrix(u, v, four_motions(), 1e-6, 1e-3, A);
    const VectorXd eigenvalues = symmetric_eigenvalues(MatrixXd(A));
    EXPECT_GT(eigenvalues.maxCoeff(), 0);
    EXPECT_GT(eigenvalues.minCoeff(), -1e-14 * eigenvalues.maxCoeff());
}

TEST(PenaltyContact, MatrixIsAddedToWhatIsThere) {
    const FemModel model = unit_cube(2);
    const PenaltyContact contact(model, {RigidShape::half_space()}, {.stiffness = 300});
    const VectorXd zero = VectorXd::Zero(model.num_unknowns());
    const std::vector<RigidMotion> motions{{{{0, 0, 0.1}, Quaternion::Identity()}, {}, {}}};
    FemModel::Matrix K = model.make_matrix();
    model.tangent(zero, K);
    FemModel::Matrix A = K;
    contact.add_matrix(zero, zero, motions, 2, 0, A);
    MatrixXd expected = MatrixXd(K);
    for (const int i :
         test::vertices_where(model.mesh(), [](const Vector3d& x) { return x.z() < 1e-9; }))
        expected(3 * i + 2, 3 * i + 2) += 600;
    EXPECT_LT((MatrixXd(A) - expected).norm(), 1e-12 * expected.norm());
}

TEST(PenaltyContact, ObstaclesReceiveWhatTheBodyLoses) {
    const FemModel model = unit_cube();
    const PenaltyOptions options{.stiffness = 300, .damping = 20, .friction = 0.4};
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 9),
                   v = test::random_displacements(model.num_unknowns(), 0.5, 10);
    const VolumeMesh deformed = test::deformed(model.mesh(), u);
    // one by one about the origin of each frame
    for (int k = 0; k < 4; ++k) {
        const std::vector<RigidMotion> motion{four_motions()[k]};
        const Evaluation e =
            evaluate(PenaltyContact(model, {four_obstacles()[k]}, options), u, v, motion);
        const Total body = total(deformed, e.f, motion[0].pose.position);
        EXPECT_GT(body.force.norm(), 1.0);
        EXPECT_LT((body.force + e.wrenches[0].force).norm(), 1e-13 * body.force.norm());
        EXPECT_LT((body.torque + e.wrenches[0].torque).norm(), 1e-13 * body.force.norm());
    }
    // and all together about the origin of the world
    const Evaluation e =
        evaluate(PenaltyContact(model, four_obstacles(), options), u, v, four_motions());
    Wrench sum;
    for (int k = 0; k < 4; ++k) sum += e.wrenches[k].about(-four_motions()[k].pose.position);
    const Total body = total(deformed, e.f, Vector3d::Zero());
    EXPECT_LT((body.force + sum.force).norm(), 1e-12 * body.force.norm());
    EXPECT_LT((body.torque + sum.torque).norm(), 1e-12 * body.force.norm());
}

/// The cube, 0.1 deep in the ground and sliding.
struct Sliding {
    FemModel model = unit_cube(2);
    std::vector<RigidMotion> motions{
        {{{0, 0, 0.1}, Quaternion::Identity()}, {{0.5, 0, 0}, {0, 0, 0}}, {}}};
    Evaluation with_velocity(const Vector3d& velocity, const PenaltyOptions& options) const {
        VectorXd v(model.num_unknowns());
        for (int i = 0; i < model.num_nodes(); ++i) v.segment<3>(3 * i) = velocity;
        return evaluate(PenaltyContact(model, {RigidShape::half_space()}, options),
                        VectorXd::Zero(model.num_unknowns()), v, motions);
    }
};

TEST(PenaltyContact, FrictionStaysInItsConeAgainstTheSliding) {
    const Sliding sliding;
    const PenaltyOptions options{.stiffness = 100, .friction = 0.3, .slip_speed = 0.01};
    const double normal_force = 9 * 100 * 0.1;
    for (const double speed : {0.0, 0.004, 0.01, 0.05, 3.0}) {
        // relative to the ground, which moves itself
        const Vector3d direction = Vector3d(1, 2, 0).normalized();
        const Evaluation e =
            sliding.with_velocity(Vector3d(0.5, 0, 0) + speed * direction, options);
        const Vector3d force = -e.wrenches[0].force;
        EXPECT_NEAR(force.z(), normal_force, 1e-12 * normal_force);
        const double expected = 0.3 * normal_force * std::min(1.0, speed / 0.01);
        EXPECT_NEAR((force - normal_force * Vector3d::UnitZ() + expected * direction).norm(), 0,
                    1e-12 * normal_force);
    }
}

TEST(PenaltyContact, DamperPushesOnApproachAndNeverPulls) {
    const Sliding sliding;
    const PenaltyOptions options{.stiffness = 100, .damping = 7, .friction = 0.3};
    EXPECT_NEAR(sliding.with_velocity({0.5, 0, -2}, options).wrenches[0].force.z(),
                -9 * (100 * 0.1 + 7 * 2), 1e-12);
    EXPECT_NEAR(sliding.with_velocity({0.5, 0, 1}, options).wrenches[0].force.z(),
                -9 * (100 * 0.1 - 7 * 1), 1e-12);
    const Evaluation leaving = sliding.with_velocity({0, 0, 2}, options);
    EXPECT_EQ(leaving.f.norm(), 0);
    EXPECT_EQ(leaving.report.num_contacts, 9);
}

TEST(PenaltyContact, ReportCountsNodesInside) {
    const Sliding sliding;
    const PenaltyContact::Report report =
        sliding.with_velocity(Vector3d::Zero(), {.stiffness = 100}).report;
    EXPECT_EQ(report.num_contacts, 9);
    EXPECT_NEAR(report.energy, 9 * 0.5 * 100 * 0.1 * 0.1, 1e-14);
    EXPECT_NEAR(report.deepest, 0.1, 1e-15);
}

TEST(PenaltyContact, RestingBodyIsCarriedBySprings) {
    const FemModel model = unit_cube(2);
    const PenaltyContact contact(model, {RigidShape::half_space()}, {.stiffness = 5e4});
    const std::vector<RigidMotion> motions(1);
    const VectorXd weight = gravity_load(model, {0, 0, -9.81}),
                   v = VectorXd::Zero(model.num_unknowns());
    // Newton's method; a little of the identity for the motions that the plane leaves free
    VectorXd u = VectorXd::Zero(model.num_unknowns()), R = u, f = u;
    for (int i = 0; i < model.num_nodes(); ++i) u[3 * i + 2] = -0.01;
    FemModel::Matrix K = model.make_matrix();
    std::vector<Wrench> wrenches(1);
    double residual = 0;
    for (int iteration = 0; iteration < 40; ++iteration) {
        model.force_and_tangent(u, R, K);
        f = weight - R;
        (void)contact.add_force(u, v, motions, f, wrenches);
        contact.add_matrix(u, v, motions, 1, 0, K);
        residual = f.norm();
        MatrixXd A(K);
        A.diagonal().array() += 1e-3;
        u += solve_dense(A, f);
    }
    EXPECT_LT(residual, 1e-8 * weight.norm());
    EXPECT_NEAR(wrenches[0].force.z(), -9810, 1e-6);
    EXPECT_LT(wrenches[0].force.head<2>().norm(), 1e-6);
    // through the middle of the cube
    EXPECT_NEAR(wrenches[0].torque.x(), -9810 * 0.5, 1e-2);
    EXPECT_NEAR(wrenches[0].torque.y(), 9810 * 0.5, 1e-2);
}

TEST(PenaltyContact, TouchesSurfaceNodesThatAreNotHanging) {
    const FemModel cube = unit_cube(3);
    EXPECT_EQ(PenaltyContact(cube, {}, {.stiffness = 1}).nodes().size(), 64u - 8u);
    const FemModel graded(graded_box(4), {isotropic(2e4, 0.3, 1000)});
    ASSERT_FALSE(graded.mesh().hanging.empty());
    const PenaltyContact contact(graded, {}, {.stiffness = 1});
    for (const HangingNode& h : graded.mesh().hanging)
        EXPECT_FALSE(std::ranges::binary_search(contact.nodes(), h.vertex));
    EXPECT_TRUE(std::ranges::is_sorted(contact.nodes()));
}

TEST(PenaltyContact, WhatIsNotFiniteAddsNoForce) {
    const FemModel model = unit_cube(2);
    const PenaltyContact contact(model, {RigidShape::half_space(), RigidShape::sphere(0.3)},
                                 {.stiffness = 100, .damping = 1, .friction = 0.3});
    const VectorXd zero = VectorXd::Zero(model.num_unknowns());
    std::vector<RigidMotion> motions(2);
    motions[0].pose.position.z() = 0.1;
    const Evaluation good = evaluate(contact, zero, zero, motions);
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
        for (int axis = 0; axis < 3; ++axis) {
            VectorXd u = zero, v = zero;
            u[axis] = bad;  // of one node
            v[3 + axis] = bad;
            const Evaluation e = evaluate(contact, u, v, motions);
            EXPECT_TRUE(e.f.allFinite());
            EXPECT_EQ(e.f.head<6>().norm(), 0);
            EXPECT_EQ(e.f.tail(e.f.size() - 6), good.f.tail(e.f.size() - 6));
            FemModel::Matrix A = model.make_matrix();
            contact.add_matrix(u, v, motions, 1, 1, A);
            EXPECT_TRUE(Eigen::Map<const VectorXd>(A.valuePtr(), A.nonZeros()).allFinite());
        }
        std::vector<RigidMotion> lost = motions;
        lost[0].velocity.angular.x() = bad;
        const Evaluation e = evaluate(contact, zero, zero, lost);
        EXPECT_TRUE(e.f.allFinite());
        EXPECT_EQ(e.wrenches[0].force, Vector3d::Zero());
        EXPECT_EQ(e.report.num_contacts, good.report.num_contacts - 9);
        EXPECT_EQ(e.wrenches[1].force, good.wrenches[1].force);
    }
}

TEST(PenaltyContact, WrenchesMayBeLeftOut) {
    const Sliding sliding;
    const PenaltyContact contact(sliding.model, {RigidShape::half_space()}, {.stiffness = 100});
    const VectorXd zero = VectorXd::Zero(sliding.model.num_unknowns());
    VectorXd f = VectorXd::Ones(zero.size());
    EXPECT_EQ(contact.add_force(zero, zero, sliding.motions, f, {}).num_contacts, 9);
    EXPECT_NEAR(f.sum() - static_cast<double>(f.size()), 90, 1e-10);  // added to what was there
}

TEST(PenaltyContact, AllocatesNothing) {
    set_num_threads(1);
    const FemModel model = unit_cube(8);
    const PenaltyContact contact(model, four_obstacles(),
                                 {.stiffness = 300, .damping = 20, .friction = 0.4});
    const std::vector<RigidMotion> motions = four_motions();
    const VectorXd u = test::random_displacements(model.num_unknowns(), 0.1, 11),
                   v = test::random_displacements(model.num_unknowns(), 0.5, 12);
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    std::vector<Wrench> wrenches(4);
    FemModel::Matrix A = model.make_matrix();
    const AllocationGuard guard;
    const auto report = contact.add_force(u, v, motions, f, wrenches);
    contact.add_matrix(u, v, motions, 1, 1, A);
    const auto allocations = guard.count();
    set_num_threads(0);
    EXPECT_GT(report.num_contacts, 50);
    EXPECT_EQ(allocations, 0u);
}

TEST(PenaltyContact, BadOptionsAreRefusedByName) {
    const FemModel model = unit_cube(1);
    const auto message = [&](const PenaltyOptions& options) {
        return input_error([&] { const PenaltyContact contact(model, {}, options); });
    };
    EXPECT_EQ(message({.stiffness = 1}), "");
    EXPECT_THAT(message({}), HasSubstr("penalty.stiffness = 0 (expected 0 < value < infinity)"));
    EXPECT_THAT(message({.stiffness = kInfinity}), HasSubstr("penalty.stiffness = inf"));
    EXPECT_THAT(message({.stiffness = 1, .damping = -2}),
                HasSubstr("penalty.damping = -2 (expected 0 <= value < infinity)"));
    EXPECT_THAT(message({.stiffness = 1, .friction = kNan}), HasSubstr("penalty.friction = nan"));
    EXPECT_THAT(message({.stiffness = 1, .slip_speed = 0}),
                HasSubstr("penalty.slip_speed = 0 (expected 0 < value < infinity)"));
}

}  // namespace
}  // namespace pliant
