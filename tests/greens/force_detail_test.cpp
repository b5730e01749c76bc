#include "pliant/greens/force_detail.h"

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/point_contact.h"
#include "tests/greens/bent_ball.h"
#include "tests/greens/touch_models.h"
#include "tests/input_error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kBumpPeriod = 0.008, kBumpHeight = 4e-4, kBumpFriction = 0.3;

const std::shared_ptr<const GreensModel>& bumpy_body() {
    static const std::shared_ptr<const GreensModel> model =
        test::kelvin_model(test::bent_ball_surface(3), 0.1);
    return model;
}

const SurfaceStiffness& bumpy_stiffness() {
    static const SurfaceStiffness stiffness(bumpy_body(), {.mask = {.radius = 0.015}});
    return stiffness;
}

/// A stroke along a crest at a depth of 2 mm: x runs over five periods and back.
struct BumpStroke {
    std::vector<Vector3d> forces, points, normals, felt;
    std::vector<PointPhase> phases;
};
BumpStroke bump_stroke(std::shared_ptr<const ForceDetail> detail, int num_ticks) {
    PointContacts contacts(bumpy_body(), 1, {.friction = kBumpFriction, .max_jump = 1});
    contacts.set_detail(std::move(detail));
    const SurfaceQuery query(bumpy_body()->surface.mesh);
    BumpStroke done;
    PointInput input{Vector3d(-0.02, 0.25 * kBumpPeriod, 0.1), false};
    (void)contacts.tick({&input, 1}, bumpy_stiffness());
    for (int i = 0; i <= num_ticks; ++i) {
        const double there = 1 - std::abs(1 - 2.0 * i / num_ticks);
        const Vector3d above(-0.02 + 5 * kBumpPeriod * there, 0.25 * kBumpPeriod, 0.1);
        const auto hit = query.ray(above, -Vector3d::UnitZ());
        input.tip = above - (hit->t + 0.002) * Vector3d::UnitZ();
        const PointContact& contact = contacts.tick({&input, 1}, bumpy_stiffness()).points[0];
        done.forces.push_back(contact.force);
        done.points.push_back(contact.point);
        done.normals.push_back(contact.normal);
        done.felt.push_back(contact.felt_normal);
        done.phases.push_back(contact.phase);
    }
    return done;
}

std::shared_ptr<const ForceDetail> bump_waves(const ForceDetailOptions& options = {}) {
    return std::make_shared<const ForceDetail>(
        ForceDetail::waves(kBumpPeriod, kBumpHeight, options));
}

TEST(ForceDetail, SlopesAreThoseOfTheWavesAndBounded) {
    const ForceDetail detail = ForceDetail::waves(0.01, 1e-4, {.max_slope = 0.8});
    const Vector3d n = Vector3d(0.1, 0.2, 1).normalized(), x(0.0013, 0.004, -0.002);
    const auto height = [](const Vector3d& p) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) sum += std::sin(2 * std::numbers::pi / 0.01 * p[k]);
        return 1e-4 / 3 * sum;
    };
    // tangents of the bumpy surface are at right angles to the felt normal
    const FeltDetail felt = detail.felt(x, 0, {1, 0, 0}, n, 1);
    for (const Vector3d& side : {n.unitOrthogonal(), Vector3d(n.cross(n.unitOrthogonal()))}) {
        const double h = 1e-7;
        const double rise = (height(x + h * side) - height(x - h * side)) / (2 * h);
        EXPECT_NEAR(felt.normal.dot(side + rise * n), 0, 1e-8);
    }
    EXPECT_EQ(felt.friction, 1);
    for (const double mu : {0.0, 0.01, 0.02}) {
        const FeltDetail cut = detail.felt(x, 0, {1, 0, 0}, n, mu);
        EXPECT_NEAR(std::tan(std::acos(std::min(1.0, cut.normal.dot(n)))), 0.8 * mu, 1e-7);
    }
}

TEST(ForceDetail, FrictionIsLargerOnCrestsAndSmallerInTroughs) {
    const Vector3d n = Vector3d::UnitZ(), crest = Vector3d::Constant(0.0025);
    const ForceDetail waves = ForceDetail::waves(0.01, 1e-4, {.friction_depth = 0.4});
    EXPECT_NEAR(waves.felt(crest, 0, {1, 0, 0}, n, 0.5).friction, 0.7, 1e-12);
    EXPECT_NEAR(waves.felt(-crest, 0, {1, 0, 0}, n, 0.5).friction, 0.3, 1e-12);
    EXPECT_NEAR(waves.felt(Vector3d::Zero(), 0, {1, 0, 0}, n, 0.5).friction, 0.5, 1e-12);
    // of a map over its largest height
    const SemiRegularMesh surface = test::bent_ball_surface(2);
    std::vector<double> heights(surface.mesh.vertices.size(), 0.0);
    const Triangle& t = surface.mesh.triangles[0];
    heights[at(t[0])] = 2e-3;
    heights[at(t[1])] = -1e-3;
    const ForceDetail map = ForceDetail::map(surface, surface, heights, {.friction_depth = 0.4});
    EXPECT_NEAR(map.felt(n, 0, {1, 0, 0}, n, 0.5).friction, 0.7, 1e-12);
    EXPECT_NEAR(map.felt(n, 0, {0, 1, 0}, n, 0.5).friction, 0.4, 1e-12);
    EXPECT_NEAR(map.felt(n, 0, {0, 0, 1}, n, 0.5).friction, 0.5, 1e-12);
}

TEST(ForceDetail, MapsOnFinerLevelsFeelAsTheWavesTheySample) {
    const SemiRegularMesh surface = test::bent_ball_surface(2), fine = test::bent_ball_surface(5);
    constexpr double kPeriod = 0.05;
    const ForceDetail exact = ForceDetail::waves(kPeriod, 1e-3);
    std::vector<double> heights;
    for (const Vector3d& x : fine.mesh.vertices) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) sum += std::sin(2 * std::numbers::pi / kPeriod * x[k]);
        heights.push_back(1e-3 / 3 * sum);
    }
    const ForceDetail map = ForceDetail::map(surface, fine, heights, {});
    const std::vector<Vector3d> normals = vertex_normals(fine.mesh);
    // vertices of the fine level, found from the coarse triangle that they are in
    double worst = 0;
    for (int t = 0; t < surface.mesh.num_triangles(); ++t)
        for (int child = 0; child < 64; child += 7) {
            int triangle = t;
            Vector3d b(0.7, 0.2, 0.1);  // corner 0 of the child
            for (const int digit : {child / 16, child / 4 % 4, child % 4})
                triangle = 4 * triangle + digit;
            // to the parents, one split after the other
            for (const int digit : {child % 4, child / 4 % 4, child / 16}) {
                if (digit == 3) {
                    b = 0.5 * (Vector3d::Ones() - b);
                } else {
                    b *= 0.5;
                    b[digit] += 0.5;
                }
            }
            Vector3d x = Vector3d::Zero(), n = Vector3d::Zero();
            const Vector3d in_child(0.7, 0.2, 0.1);
            for (int k = 0; k < 3; ++k) {
                const int v = fine.mesh.triangles[at(triangle)][at(k)];
                x += in_child[k] * fine.mesh.vertices[at(v)];
                n += in_child[k] * normals[at(v)];
            }
            n.normalize();
            const Vector3d one = map.felt(x, t, b, n, 1).normal,
                           two = exact.felt(x, t, b, n, 1).normal;
            worst = std::max(worst, (one - two).norm());
        }
    EXPECT_LT(worst, 0.006);  // of slopes up to 0.07
    EXPECT_EQ(test::input_error([&] { (void)ForceDetail::map(fine, surface, heights); }),
              "a detail map must have the triangles of the touched surface on one of its levels; "
              "subdivide that surface further");
    heights.pop_back();
    EXPECT_EQ(test::input_error([&] { (void)ForceDetail::map(surface, fine, heights); }),
              "a detail map needs a finite height for each of its 10242 vertices");
}

TEST(ForceDetail, MeanForceIsThatOfTheSmoothSurface) {
    constexpr int kTicks = 4000;
    const BumpStroke smooth = bump_stroke(nullptr, kTicks),
                     bumpy = bump_stroke(bump_waves(), kTicks);
    // while sliding one way, whole periods
    Vector3d mean_smooth = Vector3d::Zero(), mean_bumpy = Vector3d::Zero();
    double change = 0;
    const int first = kTicks / 10, last = first + 3 * kTicks / 10;  // three of five periods
    for (int i = first; i < last; ++i) {
        mean_smooth += smooth.forces[at(i)] / (last - first);
        mean_bumpy += bumpy.forces[at(i)] / (last - first);
        change = std::max(change, (smooth.forces[at(i)] - bumpy.forces[at(i)]).norm());
    }
    EXPECT_GT(change, 0.1 * mean_smooth.norm());  // it is felt
    EXPECT_LT((mean_bumpy - mean_smooth).norm(), 0.03 * mean_smooth.norm());
}

TEST(ForceDetail, ForcesStayInTheConeAndEverySlideDissipates) {
    // the last ones are steeper than friction holds, but for the cut
    for (const auto& [depth, height] :
         {std::pair{0.0, kBumpHeight}, {0.5, kBumpHeight}, {0.0, 8 * kBumpHeight}}) {
        const ForceDetailOptions options{.max_slope = 0.8, .friction_depth = depth};
        const BumpStroke bumpy = bump_stroke(
            std::make_shared<const ForceDetail>(ForceDetail::waves(kBumpPeriod, height, options)),
            4000);
        int num_sliding = 0;
        double least = 0, whole = 0, most_friction = 0;
        for (std::size_t i = 1; i < bumpy.forces.size(); ++i) {
            const Vector3d& f = bumpy.forces[i];
            ASSERT_NE(bumpy.phases[i], PointPhase::Free);
            const double mu = kBumpFriction * (1 + depth);
            const double N = -f.dot(bumpy.felt[i]);
            EXPECT_LE((f + N * bumpy.felt[i]).norm(), mu * N * (1 + 1e-9));
            // about the normal of the surface itself
            const double angle = std::acos(-f.normalized().dot(bumpy.normals[i]));
            EXPECT_LE(angle, std::atan(mu) + std::atan(0.8 * mu) + 1e-9);
            if (bumpy.phases[i] != PointPhase::Sliding) continue;
            ++num_sliding;
            most_friction = std::max(most_friction, (f + N * bumpy.felt[i]).norm() / N);
            const double work = f.dot(bumpy.points[i] - bumpy.points[i - 1]);
            least = std::min(least, work);
            whole += work;
        }
        EXPECT_GT(num_sliding, 1000);
        EXPECT_GT(whole, 0);
        EXPECT_GE(least, -1e-3 * whole / num_sliding);
        // all friction there is on flat ground, and more of it on crests where it varies
        EXPECT_GT(most_friction, kBumpFriction * (depth > 0 ? 1.2 : 0.99));
    }
}

TEST(ForceDetail, ForcesAreContinuous) {
    const auto largest_change = [](const BumpStroke& done) {
        double largest = 0;
        for (std::size_t i = 2; i < done.forces.size(); ++i)
            largest = std::max(largest, (done.forces[i] - done.forces[i - 1]).norm());
        return largest;
    };
    const double coarse = largest_change(bump_stroke(bump_waves(), 2000)),
                 fine = largest_change(bump_stroke(bump_waves(), 8000));
    EXPECT_LT(fine, 0.35 * coarse);  // a quarter, where it is smooth
}

TEST(ForceDetail, TicksAllocateNothing) {
    PointContacts contacts(bumpy_body(), 1, {.friction = kBumpFriction, .max_jump = 1});
    contacts.set_detail(bump_waves());
    PointInput input{Vector3d(0, 0, 0.1), false};
    (void)contacts.tick({&input, 1}, bumpy_stiffness());
    AllocationGuard guard;
    bool has_touched = false;
    for (int i = 0; i < 200; ++i) {
        input.tip = {1e-4 * i, 0, 0.046};
        has_touched |= contacts.tick({&input, 1}, bumpy_stiffness()).points[0].is_touching();
    }
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_TRUE(has_touched);
}

TEST(ForceDetail, OptionsOutOfRangeAreRefused) {
    const auto error = [](double period, double height, ForceDetailOptions options) {
        return test::input_error([&] { (void)ForceDetail::waves(period, height, options); });
    };
    EXPECT_EQ(error(0, 1e-3, {}), "period = 0.000000 (expected metres, more than 0)");
    EXPECT_EQ(error(1, -1, {}), "height = -1.000000 (expected metres, 0 or more)");
    EXPECT_EQ(error(1, 1, {.max_slope = 2}),
              "max_slope = 2.000000 (expected 0 to 1, a share of the friction)");
    EXPECT_EQ(error(1, 1, {.friction_depth = 1}), "friction_depth = 1.000000 (expected 0 to 0.9)");
}

}  // namespace
}  // namespace pliant
