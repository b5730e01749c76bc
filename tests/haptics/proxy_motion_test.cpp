#include "haptics/proxy_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::ProxyTrials;
using test::TrialTotals;

/// A few of the trials of docs/proxy.md; `pliant bench proxy --long` runs all.
void expect_no_loss(SurfaceMesh mesh, bool is_sheet, int trials) {
    ProxyTrials proxies(std::move(mesh), is_sheet);
    TrialTotals totals;
    proxies.run(trials / 2, 1000, totals);
    proxies.run(trials / 2, 5000, totals, 40, 4e-3, 1e-2);
    EXPECT_EQ(totals.losses, 0) << totals.trials << " trials";
    EXPECT_GT(totals.trials, trials / 2);
    EXPECT_GT(totals.carried, 0) << "some surfaces must cross the centre";
}

TEST(ProxyInMotion, BallsNeverLoseIt) {
    expect_no_loss(test::bumpy_ball(0.06, 0, 24, 1), false, 120);
}
TEST(ProxyInMotion, BumpyBallsNeverLoseIt) {
    expect_no_loss(test::bumpy_ball(0.06, 0.1, 24, 2), false, 120);
}
TEST(ProxyInMotion, RoughBallsWithPocketsNeverLoseIt) {
    expect_no_loss(test::bumpy_ball(0.06, 0.3, 24, 3), false, 120);
}
TEST(ProxyInMotion, ThinPlatesNeverLoseIt) {
    expect_no_loss(test::thin_plate(0.24, 0.002, 24), true, 120);
}
TEST(ProxyInMotion, SheetsWithTwoFacesNeverLoseIt) {
    expect_no_loss(double_faced(test::flat_sheet(0.24, 20)), true, 120);
}

TEST(ProxyInMotion, WithoutCcdItIsLost) {
    ProxyOptions options;
    options.has_ccd = false;
    ProxyTrials proxies(test::thin_plate(0.24, 0.002, 24), true, options);
    TrialTotals totals;
    proxies.run(60, 5000, totals, 40, 4e-3, 1e-2);
    EXPECT_GT(totals.losses, 0);
}

TEST(ProxyInMotion, AFallingClothIsCaughtOnlyWithCcd) {
    for (const bool has_ccd : {true, false}) {
        const SurfaceMesh cloth = double_faced(test::flat_sheet(1, 32));
        VertexSurface surface(cloth);
        ProxyOptions options;
        options.sphere.radius = 0.03;
        options.has_ccd = has_ccd;
        VirtualProxy proxy({&surface}, options);
        test::FormulaMotion fall;  // 14 m/s, 10 ms
        fall.direction = -Vector3d::UnitZ();
        fall.size = 1;
        SurfaceMesh now = cloth;
        std::vector<float> x;
        const auto put = [&](double height) { test::place(cloth, fall, -height, surface, now, x); };
        put(0.35);
        proxy.reset(Vector3d(0.011, 0.007, 0));
        bool is_caught = false;
        for (int step = 1; step <= 6; ++step) {
            put(0.35 - 0.14 * step);
            const ProxyState& state = proxy.tick(Vector3d(0.011, 0.007, 0));
            const double below = 0.35 - 0.14 * step - state.position.z();
            if (0.35 - 0.14 * step > 0.03) continue;
            is_caught = state.force.z() < -1;
            if (has_ccd) EXPECT_NEAR(below, 0.03, 1e-6) << "step " << step;
        }
        EXPECT_EQ(is_caught, has_ccd);
    }
}

/// Steps of the force while a ring is stroked 4 mm below its surface.
struct StrokeResult {
    int beyond = 0;
    double largest = 0;
};
StrokeResult stroke(VirtualProxy& proxy, double step, int steps) {
    StrokeResult result;
    proxy.reset(test::ring_stroke(0, -0.01));
    Vector3d last = Vector3d::Zero(), last_goal = Vector3d::Zero();
    for (int i = 0; i < steps; ++i) {
        const Vector3d goal = test::ring_stroke(step * i, 4e-3);
        const ProxyState& state = proxy.tick(goal);
        if (i > 20) {
            const double jump = (state.force - last).norm();
            const double allowed = 3 * proxy.options().stiffness * (goal - last_goal).norm() + 0.5;
            result.beyond += jump > allowed;
            result.largest = std::max(result.largest,
                                      jump - proxy.options().stiffness * (goal - last_goal).norm());
        }
        last = state.force;
        last_goal = goal;
    }
    return result;
}

TEST(ProxyInMotion, StrokingAFineSurfaceFeelsContinuous) {
    VertexSurface ring(test::ring_of_70k());
    VirtualProxy proxy({&ring});
    for (const double step : {3e-4, 2e-3}) {
        const StrokeResult result = stroke(proxy, step, 10'000);
        EXPECT_LE(result.beyond, 5) << step;
        EXPECT_LE(result.largest, 3) << step;
    }
}

TEST(ProxyInMotion, SlotsThatCloseKeepTheCentreOutsideAndSaySo) {
    // two plates close to 4 mm around a sphere of 10 mm, and open again
    SurfaceMesh walls = test::thin_plate(0.2, 0.004, 12);
    for (Vector3d& v : walls.vertices) v.z() -= 0.02;
    SurfaceMesh above = test::thin_plate(0.2, 0.004, 12);
    for (Vector3d& v : above.vertices) v.z() += 0.02;
    append(walls, above);
    VertexSurface surface(walls);
    VirtualProxy proxy({&surface});
    proxy.reset(Vector3d(0.004, 0.003, 0));
    int squeezed = 0;
    for (int i = 0; i <= 80; ++i) {
        const double gap = 0.036 - 0.032 * (1 - std::abs(i - 40) / 40.0);
        std::vector<float> x;
        for (const Vector3d& v : walls.vertices) {
            const double shift = (v.z() > 0 ? 1 : -1) * (0.5 * gap - 0.018);
            x.insert(x.end(), {float(v.x()), float(v.y()), float(v.z() + shift)});
        }
        surface.set_positions(x);
        const ProxyState& state = proxy.tick(Vector3d(0.004, 0.003, 0));
        EXPECT_LT(std::abs(state.position.z()), 0.5 * gap) << "between the plates";
        EXPECT_LT(state.force.norm(), 500 * 0.003) << "no force from having no room";
        EXPECT_EQ(state.is_squeezed, state.status == StepStatus::NotConverged);
        squeezed += state.is_squeezed;
    }
    EXPECT_GT(squeezed, 8);
    EXPECT_FALSE(proxy.state().is_squeezed);
}

TEST(ProxyInMotion, AMeshThatCollapsesToAPointLeavesItFinite) {
    const SurfaceMesh ball = test::bumpy_ball(0.05, 0.1, 16, 1);
    VertexSurface surface(ball);
    VirtualProxy proxy({&surface});
    proxy.reset(Vector3d(0.08, 0, 0));
    for (const double scale : {1.0, 0.3, 0.0, 0.0, 0.2, 1.0}) {
        std::vector<float> x;
        for (const Vector3d& v : ball.vertices)
            for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(scale * v[k]));
        surface.set_positions(x);
        const ProxyState& state = proxy.tick(Vector3d(0.01, 0.02, 0));
        EXPECT_TRUE(state.position.allFinite());
        EXPECT_TRUE(state.force.allFinite());
    }
}

}  // namespace
}  // namespace pliant
