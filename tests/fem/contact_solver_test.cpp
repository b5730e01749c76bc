#include "fem/contact_solver.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <limits>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// Nodes of two bodies with masses of their own, all values random.
struct Nodes {
    std::vector<VectorXd> v, a_old, half_v, a, inverse_q, inverse_mass;
    std::vector<ConstrainedBody> bodies;

    explicit Nodes(int n, unsigned seed = 1) : bodies(2) {
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> value(-1, 1), mass(0.5, 2);
        const auto fill = [&](std::vector<VectorXd>& x) {
            for (int b = 0; b < 2; ++b)
                x.push_back(VectorXd::NullaryExpr(3 * n, [&] { return value(generator); }));
        };
        for (auto* x : {&v, &a_old, &half_v, &a}) fill(*x);
        for (int b = 0; b < 2; ++b) {
            VectorXd q(3 * n);
            for (int i = 0; i < n; ++i) q.segment<3>(3 * i).setConstant(1 / mass(generator));
            inverse_q.push_back(q);
            inverse_mass.push_back(1.1 * q);
        }
        for (int b = 0; b < 2; ++b)
            bodies[b] = {&v[b],      &a_old[b], &inverse_q[b],      &inverse_mass[b],
                         &half_v[b], &a[b],     std::vector<int>(n)};
    }
    [[nodiscard]] Vector3d total_force() const {  // Σ q a
        Vector3d sum = Vector3d::Zero();
        for (int b = 0; b < 2; ++b)
            for (Eigen::Index i = 0; i < a[b].size(); i += 3)
                sum += a[b].segment<3>(i).cwiseQuotient(inverse_q[b].segment<3>(i));
        return sum;
    }
};

ContactRow row_on(int node, const Vector3d& normal, double acceleration) {
    ContactRow row;
    row.add(0, node, 1);
    row.normal = normal.normalized();
    row.normal_acceleration = acceleration;
    return row;
}
/// Node of body 0 on a facet of body 1.
ContactRow row_between(int node, int facet, std::mt19937& generator) {
    std::uniform_real_distribution<double> value(-1, 1), weight(0.1, 1);
    ContactRow row = row_on(node, {value(generator), value(generator), 2}, value(generator));
    Vector3d w(weight(generator), weight(generator), weight(generator));
    w /= w.sum();
    for (int k = 0; k < 3; ++k) row.add(1, facet + k, -w[k]);
    return row;
}
Vector3d acceleration(const ContactRow& row, const Nodes& nodes) {
    return row.relative(nodes.bodies, &ConstrainedBody::a);
}

TEST(ContactSolver, OneNodeGetsTheWantedNormalAccelerationAndKeepsTheRest) {
    Nodes nodes(3);
    const Vector3d before = nodes.a[0].segment<3>(3);
    std::vector<ContactRow> rows{row_on(1, {1, -2, 3}, 7)};
    solve_contacts(rows, nodes.bodies, 0, 4);
    const Vector3d n = rows[0].normal, after = nodes.a[0].segment<3>(3);
    EXPECT_NEAR(after.dot(n), 7, 1e-14);
    EXPECT_LT((after - before).cross(n).norm(), 1e-14);
    // f_c = q (a − a_free)
    EXPECT_NEAR(rows[0].normal_force, (after - before).norm() / nodes.inverse_q[0][3], 1e-13);
}

TEST(ContactSolver, AForceThatWouldPullStaysZeroUnlessItMay) {
    Nodes nodes(3);
    const VectorXd before = nodes.a[0];
    std::vector<ContactRow> rows{row_on(1, {0, 0, 1}, -50)};
    solve_contacts(rows, nodes.bodies, 0.5, 4);
    EXPECT_EQ(rows[0].normal_force, 0);
    EXPECT_EQ(nodes.a[0], before);
    rows[0].smallest_force = -std::numeric_limits<double>::infinity();
    solve_contacts(rows, nodes.bodies, 0.5, 4);
    EXPECT_LT(rows[0].normal_force, 0);
    EXPECT_NEAR(nodes.a[0][5], -50, 1e-13);
}

TEST(ContactSolver, PairsKeepTheSumOfForces) {
    Nodes nodes(12);
    std::mt19937 generator(3);
    std::vector<ContactRow> rows;
    for (int i = 0; i < 10; ++i) {
        rows.push_back(row_between(i, i / 2, generator));
        rows.back().stick_acceleration = Vector3d(1, 2, 3);
    }
    const Vector3d before = nodes.total_force();
    solve_contacts(rows, nodes.bodies, 0.4, 4);
    EXPECT_LT((nodes.total_force() - before).norm(), 1e-13);
    for (const ContactRow& row : rows) {
        EXPECT_GE(row.normal_force, 0);
        EXPECT_LE(row.friction_force.norm(), 0.4 * row.normal_force * (1 + 1e-14));
        EXPECT_NEAR(row.friction_force.dot(row.normal), 0, 1e-13);
    }
}

TEST(ContactSolver, SweepsConvergeToTheComplementaryForces) {
    Nodes nodes(12);
    std::mt19937 generator(5);
    std::vector<ContactRow> rows;
    for (int i = 0; i < 8; ++i) rows.push_back(row_between(i, i / 2, generator));
    solve_contacts(rows, nodes.bodies, 0, 1000);
    int num_pushing = 0;
    for (const ContactRow& row : rows) {
        const double lack = row.normal_acceleration - acceleration(row, nodes).dot(row.normal);
        EXPECT_LT(lack, 1e-12);
        EXPECT_LT(std::abs(lack * row.normal_force), 1e-12);
        num_pushing += row.normal_force > 0;
    }
    EXPECT_GT(num_pushing, 2);
    EXPECT_LT(num_pushing, 8);
}

TEST(ContactSolver, FrictionStopsOrSlides) {
    for (const double friction : {10.0, 0.1}) {
        Nodes nodes(3);
        std::vector<ContactRow> rows{row_on(1, {0, 0, 1}, 5)};
        rows[0].stick_acceleration = Vector3d(3, -1, 99);  // along the normal: no matter
        solve_contacts(rows, nodes.bodies, friction, 4);
        const Vector3d lack = Vector3d(3, -1, 5) - nodes.a[0].segment<3>(3);
        EXPECT_NEAR(lack.z(), 0, 1e-14);
        if (friction > 1) {
            EXPECT_LT(lack.norm(), 1e-14);
        } else {
            EXPECT_NEAR(rows[0].friction_force.norm(), 0.1 * rows[0].normal_force, 1e-14);
            EXPECT_LT(lack.cross(rows[0].friction_force).norm(), 1e-13);
            EXPECT_GT(lack.dot(rows[0].friction_force), 0);
        }
    }
}

TEST(ContactSolver, TheCorrectionLowersTheBoundOfFriction) {
    Nodes nodes(3);
    std::vector<ContactRow> rows{row_on(1, {0, 0, 1}, 5)};
    rows[0].stick_acceleration = Vector3d(30, 0, 0);
    rows[0].correction = 1.5;
    solve_contacts(rows, nodes.bodies, 0.1, 4);
    EXPECT_NEAR(rows[0].friction_force.norm(), 0.1 * (rows[0].normal_force - 1.5), 1e-14);
}

TEST(ContactSolver, PrescribedComponentsAreImmovable) {
    Nodes nodes(3);
    nodes.inverse_q[0].segment<3>(3) << 0, 0, 0.5;  // free along z alone
    nodes.inverse_q[0].segment<3>(6).setZero();
    const VectorXd before = nodes.a[0];
    std::vector<ContactRow> rows{row_on(1, {1, 0, 1}, 5), row_on(2, {0, 0, 1}, 5)};
    solve_contacts(rows, nodes.bodies, 0, 4);
    EXPECT_EQ(nodes.a[0][3], before[3]);
    EXPECT_NEAR(nodes.a[0].segment<3>(3).dot(rows[0].normal), 5, 1e-13);
    EXPECT_EQ(nodes.a[0].segment<3>(6), before.segment<3>(6));
    EXPECT_EQ(rows[1].normal_force, 0);
}

TEST(ContactSolver, UseCountsAreZeroAfterwards) {
    Nodes nodes(12);
    std::mt19937 generator(7);
    std::vector<ContactRow> rows;
    for (int i = 0; i < 6; ++i) rows.push_back(row_between(i, i, generator));
    solve_contacts(rows, nodes.bodies, 0, 2);
    for (const ConstrainedBody& body : nodes.bodies)
        for (const int uses : body.num_uses) EXPECT_EQ(uses, 0);
}

TEST(ContactSolver, ANodeNamedTwiceIsOneTerm) {
    ContactRow row;
    row.add(0, 4, 0.5);
    row.add(0, 4, 0.25);
    row.add(1, 4, -1);
    EXPECT_EQ(row.num_terms, 2);
    EXPECT_EQ(row.terms[0].weight, 0.75);
}

TEST(ContactSolver, ResetsReachTheWantedVelocityAndKeepMomentum) {
    Nodes nodes(12);
    std::mt19937 generator(11);
    std::vector<ContactRow> rows;
    std::vector<int> held;
    for (int i = 0; i < 4; ++i) {
        rows.push_back(row_between(i, i, generator));
        rows.back().normal_velocity = 0.1 * i;
        rows.back().smallest_reset = -std::numeric_limits<double>::infinity();
        held.push_back(i);
    }
    const auto momentum = [&] {
        Vector3d sum = Vector3d::Zero();
        for (int b = 0; b < 2; ++b)
            for (Eigen::Index i = 0; i < 36; i += 3)
                sum += nodes.half_v[b].segment<3>(i).cwiseQuotient(
                    nodes.inverse_mass[b].segment<3>(i));
        return sum;
    };
    const Vector3d before = momentum();
    const double dt = 0.1;
    reset_velocities(rows, held, nodes.bodies, dt, 200);
    EXPECT_LT((momentum() - before).norm(), 1e-13);
    for (const ContactRow& row : rows) {
        const Vector3d v = row.relative(nodes.bodies, &ConstrainedBody::half_v) +
                           0.5 * dt * row.relative(nodes.bodies, &ConstrainedBody::a);
        EXPECT_NEAR(v.dot(row.normal), row.normal_velocity, 1e-12);
    }
}

TEST(ContactSolver, AResetTakesBackNoMoreThanItsBound) {
    Nodes nodes(3);
    nodes.half_v[0].segment<3>(3) << 0, 0, 5;
    nodes.a[0].setZero();
    std::vector<ContactRow> rows{row_on(1, {0, 0, 1}, 0)};
    rows[0].smallest_reset = -0.25;
    const std::vector<int> held{0};
    reset_velocities(rows, held, nodes.bodies, 0.1, 3);
    EXPECT_EQ(rows[0].reset_impulse, -0.25);
    EXPECT_NEAR(nodes.half_v[0][5], 5 - 0.25 * nodes.inverse_mass[0][5], 1e-14);
}

}  // namespace
}  // namespace pliant
