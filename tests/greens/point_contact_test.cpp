#include "pliant/greens/point_contact.h"

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "core/dense_algebra.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"
#include "tests/greens/touch_models.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Part of the force beyond the friction cone, against the force.
double beyond_cone(const PointContact& contact, double friction) {
    const double N = -contact.force.dot(contact.normal);
    const Vector3d t = contact.force + N * contact.normal;
    return (t.norm() - friction * N) / std::max(contact.force.norm(), 1e-300);
}

double tangential_force(const PointContact& contact) {
    return (contact.force - contact.force.dot(contact.normal) * contact.normal).norm();
}

/// A box whose vertices all have the same stiffness: on its top force laws hold exactly.
std::shared_ptr<GreensModel> even_box(const Matrix3d& compliance) {
    auto model = test::box_model(test::elastic_box(), 0.1, 1e4);
    DenseGreensLayout layout{.num_nodes = model->num_nodes(), .block = 3, .columns = {}};
    for (int v = 0; v < layout.num_nodes; ++v) layout.columns.push_back(v);
    auto functions = std::make_shared<DenseGreensFunctions>(layout);
    for (int v = 0; v < layout.num_nodes; ++v) {
        Eigen::MatrixXd column = Eigen::MatrixXd::Zero(3 * layout.num_nodes, 3);
        column.middleRows<3>(3 * v) = compliance;
        functions->set_column(v, column);
    }
    model->reference.functions = functions;
    return model;
}

SurfaceStiffnessOptions one_vertex() {
    SurfaceStiffnessOptions options;
    options.mask.kind = MaskKind::Vertex;
    return options;
}

PointContactSettings with_friction(double friction) {
    PointContactSettings settings;
    settings.friction = friction;
    settings.max_stiffness = std::numeric_limits<double>::infinity();
    return settings;
}

/// A kidney with its stiffness, and a place and direction to press it from above.
struct Kidney {
    std::shared_ptr<GreensModel> model = test::kelvin_model(make_semi_regular("kidney", 2), 0.2);
    SurfaceStiffness stiffness{model};
    double size = model->reference.length;
    Vector3d top;

    Kidney() {
        const Box box = bounding_box(model->surface.mesh.vertices);
        // the ring of the kidney bends around the side of −y
        const SurfaceQuery query(model->surface.mesh);
        Vector3d from = box.center() + Vector3d(0, 0.1 * size, size);
        top = from - query.ray(from, {0, 0, -1})->t * Vector3d::UnitZ();
    }
};

TEST(PointContact, SticksWithTheForceOfTheStiffnessInsideTheCone) {
    const Kidney kidney;
    PointContacts contacts(kidney.model, 1, with_friction(0.5));
    const Vector3d outside = kidney.top + Vector3d(0, 0, 0.02) * kidney.size;
    PointInput input{outside};
    EXPECT_FALSE(contacts.tick({&input, 1}, kidney.stiffness).points[0].is_touching());
    input.tip = kidney.top - Vector3d(0, 0, 0.02) * kidney.size;
    const PointContact first = contacts.tick({&input, 1}, kidney.stiffness).points[0];
    ASSERT_EQ(first.phase, PointPhase::Sticking);
    EXPECT_LT((first.point - kidney.top).norm(), 1e-9 * kidney.size);
    // a little aside: the contact stays, the force follows
    input.tip += Vector3d(0.002, 0.001, 0) * kidney.size;
    const PointContact& second = contacts.tick({&input, 1}, kidney.stiffness).points[0];
    EXPECT_EQ(second.phase, PointPhase::Sticking);
    EXPECT_EQ(second.triangle, first.triangle);
    EXPECT_EQ(second.point, first.point);
    const Matrix3d K = kidney.stiffness.stiffness_at(first.triangle, first.barycentric,
                                                     {1, std::numeric_limits<double>::infinity()});
    EXPECT_LT((second.force - K * (input.tip - first.point)).norm(), 1e-12 * second.force.norm());
    EXPECT_LT(second.force.dot(second.normal), 0);
    // and out again
    input.tip = outside;
    EXPECT_FALSE(contacts.tick({&input, 1}, kidney.stiffness).points[0].is_touching());
    EXPECT_EQ(contacts.frame().points[0].force, Vector3d::Zero());
}

TEST(PointContact, AResetLeavesNoPlaceOfAnEarlierContact) {
    const Kidney kidney;
    PointContacts used(kidney.model, 1, with_friction(0.5)), fresh(kidney.model, 1);
    PointInput input{kidney.top + Vector3d(0, 0, 0.02) * kidney.size};
    (void)used.tick({&input, 1}, kidney.stiffness);
    input.tip -= Vector3d(0, 0, 0.04) * kidney.size;
    ASSERT_TRUE(used.tick({&input, 1}, kidney.stiffness).points[0].is_touching());
    used.reset();
    for (const PointContacts* one : {&used, &fresh}) {
        const PointContact& contact = one->frame().points[0];
        EXPECT_FALSE(contact.is_touching());
        EXPECT_EQ(contact.point, Vector3d::Zero());
        EXPECT_EQ(contact.tip, Vector3d::Zero());
        EXPECT_EQ(contact.normal, Vector3d::UnitZ());
        EXPECT_EQ(contact.felt_normal, Vector3d::UnitZ());
    }
}

TEST(PointContact, WithoutFrictionLeavesNoTangentialForce) {
    const Kidney kidney;
    PointContacts contacts(kidney.model, 1, with_friction(0));
    PointInput input{kidney.top + Vector3d(0, 0, 0.01) * kidney.size};
    (void)contacts.tick({&input, 1}, kidney.stiffness);
    for (int k = 0; k < 200; ++k) {
        input.tip = kidney.top + Vector3d(5e-4 * k, -2e-4 * k, -0.03) * kidney.size;
        const PointContact& contact = contacts.tick({&input, 1}, kidney.stiffness).points[0];
        ASSERT_TRUE(contact.is_touching()) << k;
        EXPECT_LE(tangential_force(contact), 1e-12 * contact.force.norm());
    }
    // without the cone's last word it is there as well: the tip has come to rest
    const PointContact& contact = contacts.frame().points[0];
    const Vector3d f = kidney.stiffness.stiffness_at(contact.triangle, contact.barycentric,
                                                     {1, std::numeric_limits<double>::infinity()}) *
                       (contact.tip - contact.point);
    EXPECT_LT((f - contact.force).norm(), 1e-3 * f.norm());
}

// Verification item 13: for constant stiffness and a flat face the law of the slide is exact.
TEST(PointContact, SlidesExactlyOnTheCone) {
    Matrix3d compliance;
    compliance << 1, 0.2, 0.1, 0.2, 0.8, -0.15, 0.1, -0.15, 0.6;
    const auto model = even_box(compliance);
    const SurfaceStiffness stiffness(model, one_vertex());
    const Matrix3d K = stiffness.vertex_stiffness(model->num_nodes() - 1);  // on the top
    const double mu = 0.4;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(-1, 1);
    int num_slides = 0;
    for (int trial = 0; trial < 300; ++trial) {
        PointContacts contacts(model, 1, with_friction(mu));
        const Vector3d start(0.05, 0.0375, 0.075);  // the middle of the top
        PointInput input{start + Vector3d(0, 0, 1e-3)};
        (void)contacts.tick({&input, 1}, stiffness);
        input.tip = start - Vector3d(0, 0, 1e-4);
        (void)contacts.tick({&input, 1}, stiffness);
        const PointContact before = contacts.frame().points[0];
        ASSERT_TRUE(before.is_touching());
        input.tip = start + Vector3d(0.02 * uniform(random), 0.01 * uniform(random),
                                     -0.01 * (1.2 + uniform(random)));
        const PointContact& after = contacts.tick({&input, 1}, stiffness).points[0];
        const Vector3d u = input.tip - before.point, f = K * u;
        const double N = -f.z(), t = f.head<2>().norm();
        if (N <= 0) continue;
        if (t <= mu * N) {
            EXPECT_EQ(after.phase, PointPhase::Sticking);
            continue;
        }
        if (after.phase == PointPhase::Free) {
            // no point of the cone on the way: the force of rest without friction pulls
            const Eigen::Vector2d rest = K.topLeftCorner<2, 2>().inverse() * f.head<2>();
            EXPECT_LE(N + K.row(2).head<2>().dot(rest), 0);
            continue;
        }
        ++num_slides;
        EXPECT_EQ(after.phase, PointPhase::Sliding);
        const double N_after = -after.force.z(), t_after = after.force.head<2>().norm();
        EXPECT_NEAR(t_after, mu * N_after, 1e-12 * after.force.norm());
        // along the old direction, by a move in the plane that explains the new force
        EXPECT_NEAR(after.force.head<2>().normalized().dot(f.head<2>().normalized()), 1, 1e-12);
        EXPECT_NEAR(after.point.z(), before.point.z(), 1e-15);
        EXPECT_LT((K * (input.tip - after.point) - after.force).norm(), 1e-12 * f.norm());
    }
    EXPECT_GT(num_slides, 100);
}

TEST(PointContact, FollowsTheTipOverManyTrianglesAndEdges) {
    const auto model = even_box(Matrix3d::Identity());
    const SurfaceStiffness stiffness(model, one_vertex());
    PointContactSettings settings = with_friction(0);
    settings.max_jump = 1;
    PointContacts contacts(model, 1, settings);
    PointInput input{{0.001, 0.002, 0.08}};
    (void)contacts.tick({&input, 1}, stiffness);
    input.tip.z() = 0.074;
    (void)contacts.tick({&input, 1}, stiffness);
    // across the whole top at once, straight through its triangles
    input.tip = {0.09, 0.07, 0.074};
    const PointContact& contact = contacts.tick({&input, 1}, stiffness).points[0];
    ASSERT_TRUE(contact.is_touching());
    EXPECT_LT((contact.point - Vector3d(0.09, 0.07, 0.075)).norm(), 2e-3);
    for (int k = 0; k < 50; ++k) (void)contacts.tick({&input, 1}, stiffness);
    // normals are interpolated, so rest is where force and normal agree, not quite below
    EXPECT_LT((contact.point - Vector3d(0.09, 0.07, 0.075)).norm(), 1e-3);
    // and over the edge to the side of +x: pressed in there, seen from there
    for (int k = 0; k <= 400; ++k) {
        input.tip = Vector3d(0.09, 0.0375, 0.072) + k / 400.0 * Vector3d(0.005, 0, -0.04);
        (void)contacts.tick({&input, 1}, stiffness);
    }
    ASSERT_TRUE(contact.is_touching());
    EXPECT_NEAR(contact.point.x(), 0.1, 1e-12);
    EXPECT_LT(contact.force.x(), 0);
}

// Verification item 13: continuous across triangles, on strokes with sliding all the way.
TEST(PointContact, StrokesAreContinuousAndStayInTheCone) {
    const Kidney kidney;
    for (const double mu : {0.0, 0.2, 0.6}) {
        std::vector<double> largest;
        for (const int num_steps : {2000, 4000}) {
            PointContacts contacts(kidney.model, 1, with_friction(mu));
            PointInput input{kidney.top + Vector3d(0, 0, 0.01) * kidney.size};
            (void)contacts.tick({&input, 1}, kidney.stiffness);
            Vector3d last = Vector3d::Zero();
            double largest_change = 0;
            int num_triangles = 0, triangle = -1;
            for (int k = 0; k <= num_steps; ++k) {
                const double s = static_cast<double>(k) / num_steps;
                input.tip =
                    kidney.top + Vector3d(0.25 * std::sin(6 * s), 0.12 * (std::cos(9 * s) - 1),
                                          -0.03 - 0.02 * std::sin(20 * s)) *
                                     kidney.size;
                const PointContact& contact =
                    contacts.tick({&input, 1}, kidney.stiffness).points[0];
                ASSERT_TRUE(contact.is_touching()) << mu << " " << k;
                ASSERT_LE(beyond_cone(contact, mu), 1e-12);
                if (k > 0) largest_change = std::max(largest_change, (contact.force - last).norm());
                last = contact.force;
                num_triangles += contact.triangle != triangle;
                triangle = contact.triangle;
            }
            EXPECT_GT(num_triangles, 15);
            largest.push_back(largest_change / last.norm());
        }
        // half the step, half the largest change: no jumps
        EXPECT_LT(largest[1], 0.6 * largest[0]) << mu;
    }
}

TEST(PointContact, PullsWhileAskedTo) {
    const Kidney kidney;
    PointContactSettings settings = with_friction(0.3);
    settings.reach = 0.02 * kidney.size;
    PointContacts contacts(kidney.model, 1, settings);
    PointInput input{kidney.top + Vector3d(0, 0, 0.03) * kidney.size, true};
    EXPECT_FALSE(contacts.tick({&input, 1}, kidney.stiffness).points[0].is_touching());
    input.tip = kidney.top + Vector3d(0, 0, 0.01) * kidney.size;
    const PointContact& contact = contacts.tick({&input, 1}, kidney.stiffness).points[0];
    ASSERT_EQ(contact.phase, PointPhase::Pulling);
    EXPECT_GT(contact.force.dot(contact.normal), 0);
    const Vector3d held = contact.point;
    input.tip += Vector3d(0.02, 0, 0.02) * kidney.size;
    (void)contacts.tick({&input, 1}, kidney.stiffness);
    EXPECT_EQ(contact.phase, PointPhase::Pulling);
    EXPECT_EQ(contact.point, held);
    input.is_pulling = false;
    (void)contacts.tick({&input, 1}, kidney.stiffness);
    EXPECT_EQ(contact.phase, PointPhase::Free);
}

/// Forces of two points pressed in from above, against the small system of both solved in full.
void expect_forces_of_both(const std::shared_ptr<const GreensModel>& model,
                           const SurfaceStiffness& stiffness, const Vector3d& place,
                           const Vector3d& apart) {
    PointContacts one(model, 1, with_friction(10)), two(model, 2, with_friction(10));
    for (const double z : {0.03, -0.03}) {
        const Vector3d lift(0, 0, z * model->reference.length);
        const std::vector<PointInput> inputs{{place + lift}, {place + apart + lift}};
        (void)one.tick({inputs.data(), 1}, stiffness);
        (void)two.tick(inputs, stiffness);
    }
    const auto& points = two.frame().points;
    ASSERT_EQ(points[0].phase, PointPhase::Sticking);
    ASSERT_EQ(points[1].phase, PointPhase::Sticking);
    // pressed beside it the body is down already: less force
    EXPECT_LT(points[0].force.norm(), 0.98 * one.frame().points[0].force.norm());

    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(6, 6);
    Eigen::VectorXd u(6);
    const auto& triangles = model->surface.mesh.triangles;
    for (int a = 0; a < 2; ++a) {
        u.segment<3>(3 * a) = points[at(a)].tip - points[at(a)].point;
        Z.block<3, 3>(3 * a, 3 * a) =
            stiffness
                .stiffness_at(points[at(a)].triangle, points[at(a)].barycentric,
                              {1, std::numeric_limits<double>::infinity()})
                .inverse();
    }
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l)
            Z.block<3, 3>(0, 3) += points[0].barycentric[k] * points[1].barycentric[l] *
                                   stiffness.compliance(triangles[at(points[0].triangle)][at(k)],
                                                        triangles[at(points[1].triangle)][at(l)]);
    Z.block<3, 3>(3, 0) = Z.block<3, 3>(0, 3).transpose();
    const Eigen::VectorXd f = solve_dense(Z, u);
    for (int a = 0; a < 2; ++a)
        EXPECT_LT((f.segment<3>(3 * a) - points[at(a)].force).norm(), 1e-10 * f.norm());
}

TEST(PointContact, PointsFeelEachOther) {
    const Kidney kidney;
    expect_forces_of_both(kidney.model, kidney.stiffness, kidney.top,
                          Vector3d(0.12, 0, 0) * kidney.size);
    // a block between two places of a finite body is not symmetric
    const auto box = test::box_model(test::elastic_box(), 0.1, 1e4);
    expect_forces_of_both(box, SurfaceStiffness(box), {0.03, 0.03, 0.075}, {0.04, 0.02, 0});
}

// Compliances that are kept while points slide from triangle to triangle are those looked up anew:
// another table of the same stiffness makes all of them forgotten.
TEST(PointContact, WhatIsKeptBetweenPointsIsThatOfTheirPlaces) {
    const Kidney kidney;
    const SurfaceStiffness again(kidney.model);
    PointContacts keeping(kidney.model, 2, with_friction(0.2)),
        forgetting(kidney.model, 2, with_friction(0.2));
    int num_crossings = 0, triangle = -1;
    for (int k = 0; k <= 400; ++k) {
        const double s = 0.01 * k;
        std::vector<PointInput> inputs(2);
        for (std::size_t i = 0; i < 2; ++i)
            inputs[i].tip =
                kidney.top + kidney.size * Vector3d(0.15 * std::sin(s + static_cast<double>(i)),
                                                    0.1 * std::cos(2 * s) - 0.1,
                                                    k == 0 ? 0.03 : -0.03);
        (void)keeping.tick(inputs, kidney.stiffness);
        (void)forgetting.tick(inputs, k % 2 == 0 ? kidney.stiffness : again);
        for (std::size_t i = 0; i < 2; ++i)
            ASSERT_EQ(keeping.frame().points[i].force, forgetting.frame().points[i].force) << k;
        num_crossings += std::exchange(triangle, keeping.frame().points[1].triangle) != triangle;
    }
    EXPECT_GT(num_crossings, 10);
}

TEST(PointContact, PointsAtOnePlaceShareTheForceAndStayFinite) {
    const Kidney kidney;
    PointContacts contacts(kidney.model, 2, with_friction(0.5)),
        one(kidney.model, 1, with_friction(0.5));
    std::vector<PointInput> inputs(2, {kidney.top + Vector3d(0, 0, 0.02) * kidney.size});
    for (const double z : {0.02, -0.02}) {
        for (PointInput& input : inputs) input.tip = kidney.top + Vector3d(0, 0, z) * kidney.size;
        (void)contacts.tick(inputs, kidney.stiffness);
        (void)one.tick({inputs.data(), 1}, kidney.stiffness);
    }
    const Vector3d alone = one.frame().points[0].force;
    const Vector3d sum = contacts.frame().points[0].force + contacts.frame().points[1].force;
    EXPECT_NEAR(sum.norm() / alone.norm(), 1, 0.05);
}

TEST(PointContact, StaysFiniteInTheConeWhateverComesIn) {
    const Kidney kidney;
    PointContacts contacts(kidney.model, 8, with_friction(0.3));
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity(), -1e300, 1e30, 0};
    std::vector<PointInput> inputs(8, {kidney.top});
    const Box box = bounding_box(kidney.model->surface.mesh.vertices);
    std::uint64_t allocations = 0;
    int num_touching = 0;
    for (int k = 0; k < 4000; ++k) {
        for (PointInput& input : inputs) {
            const double what = uniform(random);
            if (what > 0.98)
                input.tip[2] = bad[random() % 5];
            else if (what > 0.9 || !input.tip.allFinite() || input.tip.norm() > 1)
                input.tip = box.center() + box.sizes().cwiseProduct(Vector3d(
                                               uniform(random), uniform(random), uniform(random)));
            else
                input.tip += 0.03 * kidney.size *
                             Vector3d(uniform(random), uniform(random), uniform(random));
            input.is_pulling = uniform(random) > 0.9;
        }
        const AllocationGuard guard;
        const PointContactFrame& frame = contacts.tick(inputs, kidney.stiffness);
        allocations += guard.count();
        for (const PointContact& contact : frame.points) {
            ASSERT_TRUE(contact.force.allFinite() && contact.point.allFinite() &&
                        contact.tip.allFinite());
            if (!contact.is_touching()) {
                ASSERT_EQ(contact.force, Vector3d::Zero());
                continue;
            }
            ++num_touching;
            ASSERT_GE(contact.barycentric.minCoeff(), 0);
            ASSERT_NEAR(contact.barycentric.sum(), 1, 1e-12);
            if (contact.phase != PointPhase::Pulling) {
                ASSERT_LE(beyond_cone(contact, 0.3), 1e-12);
                ASSERT_LT(contact.force.dot(contact.normal), 0);
            }
        }
    }
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(num_touching, 800);
}

// Verification item 16: who reads, and how slowly, changes nothing.
TEST(PointContact, ForcesDoNotDependOnWhoReads) {
    const Kidney kidney;
    const auto run = [&](PointContacts& contacts) {
        std::vector<Vector3d> forces;
        PointInput input{kidney.top + Vector3d(0, 0, 0.01) * kidney.size};
        (void)contacts.tick({&input, 1}, kidney.stiffness);
        for (int k = 0; k < 3000; ++k) {
            input.tip = kidney.top + Vector3d(0.2 * std::sin(0.004 * k), 0, -0.03) * kidney.size;
            forces.push_back(contacts.tick({&input, 1}, kidney.stiffness).points[0].force);
        }
        return forces;
    };
    PointContacts alone(kidney.model, 1, with_friction(0.2));
    const auto expected = run(alone);
    PointContacts watched(kidney.model, 1, with_friction(0.2));
    std::atomic<bool> stops{false};
    std::uint64_t num_seen = 0, last_tick = 0;
    bool is_in_order = true;
    std::thread reader([&] {
        while (!stops) {
            if (!watched.update()) continue;
            is_in_order = is_in_order && watched.published().tick > last_tick;
            last_tick = watched.published().tick;
            // a display that stalls now and then
            if (++num_seen % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    });
    const auto forces = run(watched);
    stops = true;
    reader.join();
    EXPECT_EQ(forces, expected);
    EXPECT_TRUE(is_in_order);
    (void)watched.update();
    EXPECT_EQ(watched.published().points[0].force, expected.back());
}

TEST(PointContact, SaysWhatIsWrongAndKeepsGoodSettings) {
    const Kidney kidney;
    const auto message = [&](int count, double friction) {
        try {
            const PointContacts contacts(kidney.model, count, with_friction(friction));
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(message(9, 0.3), "point contacts = 9 (expected 1 to 8 points)");
    EXPECT_EQ(message(1, -1),
              "point contact: friction, reach ≥ 0 and modulus scale, stiffness, jump > 0 must be "
              "finite");
    PointContacts contacts(kidney.model, 1, with_friction(0.3));
    EXPECT_FALSE(contacts.set(with_friction(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_EQ(contacts.settings().friction, 0.3);
    EXPECT_TRUE(contacts.set(with_friction(0.7)));
    EXPECT_EQ(contacts.settings().friction, 0.7);
}

TEST(PointLoads, CarryTheForceOfAContactAndLeaveTheSupportItsShare) {
    const Kidney kidney;
    PointLoads loads(kidney.model->num_nodes(), 200);
    PointContact contact;
    contact.phase = PointPhase::Sticking;
    contact.force = {0.3, -0.2, -1};
    contact.barycentric = {0.2, 0.3, 0.5};
    int num_free = 0, num_border = 0;
    for (int t = 0; t < kidney.model->surface.mesh.num_triangles(); ++t) {
        contact.triangle = t;
        double share = 0;
        for (int k = 0; k < 3; ++k)
            if (!kidney.stiffness.is_rigid(kidney.model->surface.mesh.triangles[at(t)][at(k)]))
                share += contact.barycentric[k];
        num_free += share > 0.999;
        num_border += share > 0.1 && share < 0.9;
        loads.clear();
        EXPECT_TRUE(loads.add(kidney.stiffness, contact));
        Vector3d sum = Vector3d::Zero();
        for (std::size_t k = 0; k < loads.nodes().size(); ++k)
            sum += kidney.model->reference.areas[at(loads.nodes()[k])] * loads.tractions()[k];
        EXPECT_LT((sum - share * contact.force).norm(), 1e-12);
    }
    EXPECT_GT(num_free, 50);
    EXPECT_GT(num_border, 5);
    PointLoads few(kidney.model->num_nodes(), 2);
    contact.triangle = 0;
    EXPECT_FALSE(few.add(kidney.stiffness, contact) && !few.nodes().empty());
    EXPECT_LE(few.nodes().size(), 2u);
}

}  // namespace
}  // namespace pliant
