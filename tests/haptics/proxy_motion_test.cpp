#include "haptics/proxy_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::ProxyTrials;
using test::TrialSurface;
using test::TrialTotals;

/// A few of the trials of docs/proxy.md; `pliant bench proxy --long` runs all.
void expect_no_loss(SurfaceMesh mesh, bool is_sheet, int trials,
                    TrialSurface kind = TrialSurface::Vertices) {
    ProxyTrials proxies(std::move(mesh), is_sheet, {}, kind);
    TrialTotals totals;
    proxies.run(trials / 2, 1000, totals);
    proxies.run(trials / 2, 5000, totals, 40, 4e-3, 1e-2);
    EXPECT_EQ(totals.losses, 0) << totals.trials << " trials";
    EXPECT_EQ(totals.trials, trials);
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
TEST(ProxyInMotion, ReducedRoughBallsNeverLoseIt) {
    expect_no_loss(test::bumpy_ball(0.06, 0.3, 24, 3), false, 80, TrialSurface::Reduced);
}
TEST(ProxyInMotion, ReducedThinPlatesNeverLoseIt) {
    expect_no_loss(test::thin_plate(0.24, 0.002, 24), true, 80, TrialSurface::Reduced);
}
TEST(ProxyInMotion, ReducedSheetsWithTwoFacesNeverLoseIt) {
    expect_no_loss(double_faced(test::flat_sheet(0.24, 20)), true, 80, TrialSurface::Reduced);
}

TEST(ProxyInMotion, WithoutCcdItIsLost) {
    ProxyOptions options;
    options.has_ccd = false;
    for (const TrialSurface kind : {TrialSurface::Vertices, TrialSurface::Reduced}) {
        ProxyTrials proxies(test::thin_plate(0.24, 0.002, 24), true, options, kind);
        TrialTotals totals;
        proxies.run(60, 5000, totals, 40, 4e-3, 1e-2);
        EXPECT_GT(totals.losses, 0);
    }
}

TEST(ProxyInMotion, ReducedTrialsMoveByTheFormula) {
    const SurfaceMesh rest = test::bumpy_ball(0.06, 0.1, 8, 2);
    test::FormulaShapes shapes(rest, 0.06, false);
    ReducedSurface surface(shapes.shapes());
    SurfaceMesh now = rest;
    for (int kind = 0; kind <= test::kNumMotions; ++kind)
        for (std::size_t frame = 0; frame < test::FormulaShapes::kFrames; ++frame) {
            test::FormulaMotion motion;
            motion.kind = static_cast<test::MotionKind>(kind);
            motion.direction = Vector3d(1, 2, -1).normalized();
            motion.frame = shapes.frame(frame);
            motion.size = 0.06;
            motion.sign = frame == 1 ? -1 : 1;
            motion.spin = 0.7;
            shapes.place(motion, frame, 0.8, surface, now);
            surface.restart();
            for (int v = 0; v < rest.num_vertices(); ++v) {
                const auto i = static_cast<std::size_t>(v);
                const Vector3d x = motion(rest.vertices[i], 0.8);
                EXPECT_LT((now.vertices[i] - x).norm(), 1e-7) << kind;
                EXPECT_LT((surface.position(v, TickMoment::End) - x).norm(), 1e-7) << kind;
            }
        }
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

/// Two plates, and a proxy of 5 mm between them.
class Slot {
public:
    Slot() : below_(plate_), above_(plate_), proxy({&below_, &above_}) { put(-0.02, 0.02); }
    /// Heights of the sides that face each other.
    void put(double low, double high) {
        move(below_, low - 0.002);
        move(above_, high + 0.002);
    }

private:
    const SurfaceMesh plate_ = test::thin_plate(0.2, 0.004, 12);
    VertexSurface below_, above_;
    void move(VertexSurface& surface, double z) {
        std::vector<float> x;
        for (const Vector3d& v : plate_.vertices)
            x.insert(x.end(), {float(v.x()), float(v.y()), float(v.z() + z)});
        surface.set_positions(x);
    }

public:
    VirtualProxy proxy;
};

/// A slot around a hand that rests closes to 4 mm and opens again.
struct SlotCase {
    const char* name;
    double low, high;  // speeds of the sides over that of the gap
    double hand;       // height [m]
};
class SlotsThatClose : public testing::TestWithParam<SlotCase> {};

TEST_P(SlotsThatClose, KeepTheCentreOutsideAddNoForceAndSaySo) {
    const SlotCase& slot_case = GetParam();
    Slot slot;
    const Vector3d hand(0.004, 0.003, slot_case.hand);
    slot.proxy.reset(Vector3d(0.004, 0.003, 0));
    (void)slot.proxy.tick(hand);
    const double step = 2e-4, k = slot.proxy.options().stiffness;
    int squeezed = 0;
    ProxyState before = slot.proxy.state();
    double safe = before.force.norm();
    for (int i = 0; i <= 360; ++i) {
        const double shut = step * (180 - std::abs(i - 180));
        const double low = -0.02 + slot_case.low * shut, high = 0.02 - slot_case.high * shut;
        slot.put(low, high);
        const ProxyState& state = slot.proxy.tick(hand);
        EXPECT_GT(state.position.z(), low) << i;
        EXPECT_LT(state.position.z(), high) << i;
        EXPECT_EQ(state.is_squeezed, state.status == StepStatus::NotConverged) << i;
        squeezed += state.is_squeezed;
        // the hand rests: never more than with the last room
        const double force = state.force.norm();
        if (!state.is_squeezed) safe = force;
        EXPECT_LE(force, safe + 1e-6) << i;
        // no click when it begins; when it ends, a tenth of what was withheld in a tick
        EXPECT_LE((state.force - before.force).norm(),
                  k * (1.1 * step + 0.1 * before.withheld.norm()))
            << i;
        before = state;
    }
    EXPECT_GT(squeezed, 50);
    EXPECT_FALSE(slot.proxy.state().is_squeezed);
    EXPECT_EQ(slot.proxy.state().withheld, Vector3d::Zero());
    EXPECT_EQ(slot.proxy.state().force.norm() > 0, slot_case.hand < -0.015);
}
INSTANTIATE_TEST_SUITE_P(ProxyInMotion, SlotsThatClose,
                         testing::Values(SlotCase{"both", 0.5, 0.5, 0}, SlotCase{"floor", 1, 0, 0},
                                         SlotCase{"ceiling", 0, 1, 0},
                                         SlotCase{"mostly_floor", 0.8, 0.2, -0.004},
                                         SlotCase{"hand_in_the_floor", 0.5, 0.5, -0.018}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ProxyInMotion, HandsThatMoveInASlotWithoutRoomFeelOnlyTheirOwnWay) {
    // closed to 4 mm by the floor; the hand rested in the middle before
    Slot slot;
    slot.proxy.reset(Vector3d(0.004, 0.003, 0));
    for (int i = 0; i <= 100; ++i) {
        slot.put(-0.008 + 1e-4 * i, 0.006);
        (void)slot.proxy.tick(Vector3d(0.004, 0.003, 0));
    }
    ASSERT_TRUE(slot.proxy.state().is_squeezed);
    const double lifted = slot.proxy.state().position.z();
    ASSERT_GT(lifted, 2e-3);
    // to and fro, hands feel no more than from where there was room last, however often
    const Vector3d safe(0.004, 0.003, 0.001);
    for (int i = 0; i <= 200; ++i) {
        const Vector3d hand =
            safe + Vector3d(2e-3 * std::sin(0.2 * i), 0, -1e-3 * std::cos(0.3 * i));
        const ProxyState& state = slot.proxy.tick(hand);
        EXPECT_LE(state.force.norm(), 500 * (safe - hand).norm() + 2e-3) << i;
        EXPECT_GT(state.position.z(), 2e-3);
        EXPECT_LT(state.position.z(), 6e-3);
    }
}

TEST(ProxyInMotion, PlanesOfASqueezedProxyPushNoMoreThanItDoes) {
    Slot slot;
    const Vector3d hand(0.004, 0.003, 0);
    slot.proxy.reset(hand);
    int withheld = 0;
    for (int i = 0; i <= 200; ++i) {
        slot.put(-0.008 + 1e-4 * (100 - std::abs(i - 100)), 0.006);
        const ProxyState& state = slot.proxy.tick(hand);
        withheld += state.withheld.norm() > 1e-4;
        std::array<ConstraintPlane, 3> planes;
        const auto count = static_cast<std::size_t>(state.active_planes(planes));
        const PlaneGoal goal =
            nearest_feasible(hand, {planes.data(), count}, state.spring_end(), 1e-9);
        EXPECT_LE(500 * (goal.position - hand).norm(), state.force.norm() + 1e-6) << i;
    }
    EXPECT_GT(withheld, 20);
}

TEST(ProxyInMotion, PocketsThatCloseKeepTheCentreInsideAddNoForceAndSaySo) {
    // a hollow cube shrinks to 3 mm around a sphere of 10 mm, not about its middle, and grows again
    SurfaceMesh pocket = test::thin_plate(1, 1, 1);
    for (Triangle& t : pocket.triangles) std::swap(t[1], t[2]);
    for (const Vector3d& hand : {Vector3d(0, 0, 0), Vector3d(0.003, 0.002, -0.001)}) {
        VertexSurface surface(pocket);
        VirtualProxy proxy({&surface});
        const auto put = [&](double side, const Vector3d& middle) {
            std::vector<float> x;
            for (const Vector3d& v : pocket.vertices)
                for (int k = 0; k < 3; ++k)
                    x.push_back(static_cast<float>(middle[k] + side * v[k]));
            surface.set_positions(x);
        };
        put(0.02, Vector3d::Zero());
        proxy.reset(hand);
        int squeezed = 0;
        ProxyState before = proxy.state();
        double safe = 0;
        for (int i = 0; i <= 340; ++i) {
            const double shut = 1e-4 * (170 - std::abs(i - 170)), side = 0.02 - shut;
            const Vector3d middle = 0.1 * shut * Vector3d(1, -2, 1);
            put(side, middle);
            const ProxyState& state = proxy.tick(hand);
            EXPECT_LT((state.position - middle).cwiseAbs().maxCoeff(), 0.5 * side) << i;
            EXPECT_EQ(state.is_squeezed, state.status == StepStatus::NotConverged) << i;
            if (side < 0.0099) EXPECT_TRUE(state.is_squeezed) << i;
            squeezed += state.is_squeezed;
            if (!state.is_squeezed) safe = state.force.norm();
            EXPECT_LE(state.force.norm(), safe + 1e-6) << i;
            EXPECT_LE((state.force - before.force).norm(),
                      500 * (3e-4 + 0.1 * before.withheld.norm()))
                << i;
            before = state;
        }
        EXPECT_GT(squeezed, 100);
        EXPECT_FALSE(proxy.state().is_squeezed);
    }
}

/// A room of side 1 with n × n squares on every face.
SurfaceMesh hollow_cube(int n) {
    SurfaceMesh cube;
    for (int axis = 0; axis < 3; ++axis)
        for (const double side : {-0.5, 0.5}) {
            SurfaceMesh face = test::flat_sheet(1, n);
            for (Vector3d& v : face.vertices) {
                const Vector3d flat = v;
                v[axis] = side;
                v[(axis + 1) % 3] = flat.x();
                v[(axis + 2) % 3] = flat.y();
            }
            append(cube, face);
        }
    repair_surface(cube);  // one surface, seen from outside
    for (Triangle& t : cube.triangles) std::swap(t[1], t[2]);
    return cube;
}

TEST(ProxyInMotion, PocketsOfManyTrianglesNeverLoseItsForce) {
    // more contacts than there is room for: those that hold it must be among the twelve
    struct Case {
        int squares;
        Vector3d hand, drift;
    };
    for (const Case& c : {Case{3, {0.00206, 0.00254, -0.00194}, {1.57, 0.874, -1.92}},
                          Case{4, {0.000877, -0.002373, 0.001229}, {1, -2, 1}}}) {
        const SurfaceMesh pocket = hollow_cube(c.squares);
        VertexSurface surface(pocket);
        VirtualProxy proxy({&surface});
        int full = 0;
        for (int i = 0; i <= 170; i += 2) {
            const double shut = 1e-4 * i;
            std::vector<float> x;
            for (const Vector3d& v : pocket.vertices)
                for (int k = 0; k < 3; ++k)
                    x.push_back(static_cast<float>(0.1 * shut * c.drift[k] + (0.02 - shut) * v[k]));
            surface.set_positions(x);
            if (i == 0) proxy.reset(c.hand);
            const Vector3d before = proxy.state().force;
            const ProxyState& state = proxy.tick(c.hand);
            full += state.is_squeezed && state.num_contacts == kMaxPlanes;
            if ((state.spring_end() - c.hand).norm() > 1e-4)
                EXPECT_TRUE(state.is_touching()) << c.squares << " squares, " << i;
            EXPECT_LT((state.force - before).norm(), 500 * 3e-4) << c.squares << " squares, " << i;
        }
        EXPECT_GT(full, 20);
    }
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
        SurfaceMesh now = ball;
        for (Vector3d& v : now.vertices) v *= scale;
        if (scale > 0) EXPECT_FALSE(test::is_inside(now, state.position)) << scale;
    }
    EXPECT_TRUE(proxy.state().is_touching()) << "in front of the surface that grew back";
}

}  // namespace
}  // namespace pliant
