#include "pliant/haptics/virtual_proxy.h"

#include "geometry/simple_surfaces.h"
#include "haptics/proxy_samples.h"
#include "pliant/body/rigid_body.h"
#include "pliant/core/allocation_guard.h"
#include "reduction/body_samples.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kProxyRadius = 5e-3;

/// A proxy against something that rests.
struct Touch {
    explicit Touch(const SurfaceMesh& mesh, const ProxyOptions& options = {})
        : surface(mesh), proxy({&surface}, options) {}
    const ProxyState& go(const Vector3d& from, const Vector3d& to, int ticks = 1) {
        proxy.reset(from);
        for (int i = 0; i < ticks; ++i) (void)proxy.tick(to);
        return proxy.state();
    }
    VertexSurface surface;
    VirtualProxy proxy;
};

SurfaceMesh cube(double half) {
    return test::box_surface(Vector3d::Constant(-half), Vector3d::Constant(half));
}
/// Turns a solid into a room.
SurfaceMesh inverted(SurfaceMesh mesh) {
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
    return mesh;
}

TEST(VirtualProxy, FollowsItsGoalExactlyInFreeSpace) {
    Touch touch(cube(0.05));
    const ProxyState& state = touch.go({0.1, 0, 0}, {0.1, 0.05, 0.2});
    EXPECT_EQ(state.position, Vector3d(0.1, 0.05, 0.2));
    EXPECT_EQ(state.force, Vector3d::Zero());
    EXPECT_TRUE(state.has_arrived);
    EXPECT_EQ(state.status, StepStatus::Ok);
}

TEST(VirtualProxy, IsTheProjectionOnAPlane) {
    Touch touch(cube(0.05));
    const ProxyState& state = touch.go({0.01, 0.02, 0.07}, {0.013, -0.004, 0.048});
    EXPECT_NEAR((state.position - Vector3d(0.013, -0.004, 0.055)).norm(), 0, 1e-8);
    EXPECT_NEAR((state.force - 500 * (state.position - state.goal)).norm(), 0, 1e-12);
    std::array<ConstraintPlane, 3> planes;
    EXPECT_EQ(state.active_planes(planes), 1);
}

TEST(VirtualProxy, StandsOnTwoAndThreePlanesInTheCornersOfARoom) {
    Touch touch(inverted(cube(0.05)));
    std::array<ConstraintPlane, 3> planes;
    const ProxyState& edge = touch.go({0, 0, 0}, {0.07, -0.06, 0.01}, 2);
    EXPECT_NEAR((edge.position - Vector3d(0.045, -0.045, 0.01)).norm(), 0, 1e-6);
    EXPECT_EQ(edge.active_planes(planes), 2);
    const ProxyState& corner = touch.go({0, 0, 0}, {0.07, -0.06, 0.08}, 2);
    EXPECT_NEAR((corner.position - Vector3d(0.045, -0.045, 0.045)).norm(), 0, 1e-6);
    EXPECT_EQ(corner.active_planes(planes), 3);
}

TEST(VirtualProxy, TurnsItsForceContinuouslyOverConvexEdges) {
    Touch touch(cube(0.05));
    // the hand circles round an edge at d = 3 mm outside the solid
    const double d = 3e-3, step = 1e-4;
    touch.proxy.reset({0.06, 0.003, 0.05});
    Vector3d last = Vector3d::Zero();
    int compared = 0;
    for (double a = 0; a < test::kPi / 2; a += step / d) {
        const Vector3d goal =
            Vector3d(0.05, 0.003, 0.05) + d * Vector3d(std::cos(a), 0, std::sin(a));
        const ProxyState& state = touch.proxy.tick(goal);
        if (last.norm() > 0) {
            EXPECT_LE((state.force - last).norm(), 1.05 * state.force.norm() * step / d);
            EXPECT_NEAR(state.force.norm(), 500 * (kProxyRadius - d), 0.02);
            compared += 1;
        }
        last = state.force;
    }
    EXPECT_GT(compared, 40);
}

TEST(VirtualProxy, TurnsItsForceContinuouslyOverConvexCorners) {
    const Vector3d corner = Vector3d::Constant(0.05);
    const Vector3d from = Vector3d(1, 2, 8).normalized(), to = Vector3d(8, 3, 1).normalized();
    const Vector3d axis = from.cross(to).normalized();
    for (const double d : {1e-3, 3e-3, 4.5e-3}) {
        Touch touch(cube(0.05));
        touch.proxy.reset(corner + 3 * kProxyRadius * from);
        const double step = 1e-4;
        Vector3d last = Vector3d::Zero();
        int compared = 0;
        for (double a = 0; a < std::acos(from.dot(to)); a += step / d) {
            const ProxyState& state =
                touch.proxy.tick(corner + d * (Eigen::AngleAxisd(a, axis) * from));
            EXPECT_NEAR(state.force.norm(), 500 * (kProxyRadius - d), 1e-3);
            if (last.norm() > 0) {
                EXPECT_LE((state.force - last).norm(), 1.05 * last.norm() * step / d);
                compared += 1;
            }
            last = state.force;
        }
        EXPECT_GT(compared, 8);
    }
}

TEST(VirtualProxy, OnlyWithShrinkAWeavingHandGetsItIntoAWedgeOfOneDegree) {
    // two plates whose faces meet at the origin at 1°, and a hand that goes in and out against both
    const double half = test::kPi / 360, stop = kProxyRadius / std::sin(half);
    const auto plate = [&](double sign) {
        SurfaceMesh mesh = test::thin_plate(1.4, 0.02, 14);
        for (Vector3d& v : mesh.vertices)
            v = Eigen::AngleAxisd(-sign * half, Vector3d::UnitY()) *
                (v + Vector3d(0.75, 0, sign * 0.01));
        return mesh;
    };
    for (const double shrink : {0.999, 1.0}) {
        VertexSurface above(plate(1)), below(plate(-1));
        ProxyOptions options;
        options.sphere.shrink = shrink;
        VirtualProxy proxy({&above, &below}, options);
        proxy.reset({1.2, 0.011, 0});
        for (int k = 0; k < 3000; ++k) {
            const double s = 0.5 - 0.5 * std::cos(2 * test::kPi * k / 1500);
            const ProxyState& state = proxy.tick(
                {1.2 - s, 0.011 + 0.1 * std::sin(0.011 * k), 0.01 * std::sin(0.037 * k)});
            EXPECT_LE(std::abs(std::atan2(state.position.z(), state.position.x())), half) << k;
        }
        for (int k = 0; k < 200; ++k) (void)proxy.tick({0.2, 0.011, 0});
        if (shrink < 1)
            EXPECT_NEAR(proxy.state().position.x(), stop, 2 * (1 - shrink) * stop);
        else
            EXPECT_GT(proxy.state().position.x(), stop + 0.1) << "stalls on the way";
    }
}

TEST(VirtualProxy, StopsInAWedgeOfOneDegree) {
    // two planes that meet at 1°, opening to +x
    const double angle = test::kPi / 180, length = 2;
    SurfaceMesh wedge;
    for (const double y : {-0.1, 0.1})
        wedge.vertices.insert(wedge.vertices.end(), {{0, y, 0},
                                                     {length, y, length * std::tan(angle / 2)},
                                                     {length, y, -length * std::tan(angle / 2)},
                                                     {-0.5, y, 0.5},
                                                     {-0.5, y, -0.5}});
    // a solid whose cross-section is the outside of the wedge near its tip
    const auto quad = [&](int a, int b) {
        wedge.triangles.push_back({a, b, b + 5});
        wedge.triangles.push_back({a, b + 5, a + 5});
    };
    quad(1, 0), quad(0, 2), quad(2, 4), quad(4, 3), quad(3, 1);
    for (const int k : {0, 5}) {
        const auto face = [&](int a, int b, int c) {
            wedge.triangles.push_back(k == 0 ? Triangle{a, b, c} : Triangle{a + 5, c + 5, b + 5});
        };
        face(0, 1, 3), face(0, 3, 4), face(0, 4, 2);
    }
    ASSERT_GT(enclosed_volume(wedge), 0);
    const double reach = kProxyRadius / std::sin(angle / 2);  // where the sphere touches both
    for (const double shrink : {0.999, 1.0}) {
        ProxyOptions options;
        options.sphere.shrink = shrink;
        Touch touch(wedge, options);
        const ProxyState& state = touch.go({1.5, 0, 0}, {0.1, 0, 0}, 5);
        EXPECT_GT(state.position.x(), reach - 0.01) << shrink;
        if (shrink < 1) EXPECT_NEAR(state.position.x(), reach, 1e-3);
        EXPECT_LT(std::abs(state.position.z()), 1e-3);
    }
}

TEST(VirtualProxy, SticksAndSlidesByItsCones) {
    ProxyOptions options;
    options.static_friction = 0.5;
    options.dynamic_friction = 0.3;
    Touch touch(cube(0.05), options);
    touch.proxy.reset({0, 0.001, 0.056});
    const double depth = 0.01;  // of the goal below the proxy
    const auto tick = [&](double x) { return touch.proxy.tick(Vector3d(x, 0.001, 0.055 - depth)); };
    (void)tick(0);
    EXPECT_NEAR(tick(0.45 * depth).position.x(), 0, 1e-7) << "within the static cone";
    EXPECT_FALSE(touch.proxy.state().is_sliding);
    const ProxyState slid = tick(0.6 * depth);
    EXPECT_TRUE(slid.is_sliding);
    EXPECT_NEAR(slid.position.x(), 0.3 * depth, 1e-6) << "lags by the dynamic cone";
    EXPECT_NEAR(slid.force.x() / slid.force.z(), -0.3, 1e-3);
    EXPECT_NEAR(tick(0.7 * depth).position.x(), 0.4 * depth, 1e-6);
    EXPECT_NEAR(tick(0.5 * depth).position.x(), 0.4 * depth, 1e-6) << "sticks again";
    EXPECT_FALSE(touch.proxy.state().is_sliding);
}

TEST(VirtualProxy, StaticFrictionHoldsOnToASurfaceThatMoves) {
    ProxyOptions options;
    options.static_friction = 1;
    options.dynamic_friction = 0.8;
    SurfaceMesh mesh = test::thin_plate(0.2, 0.01, 10);
    VertexSurface surface(mesh);
    VirtualProxy proxy({&surface}, options);
    proxy.reset({0.003, 0.001, 0.0101});
    const Vector3d goal(0.003, 0.001, 0.003);
    (void)proxy.tick(goal);
    for (int i = 0; i < 10; ++i) {
        std::vector<float> x;
        for (Vector3d& v : mesh.vertices) {
            v.x() += 2e-4;
            for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(v[k]));
        }
        surface.set_positions(x);
        (void)proxy.tick(goal);
    }
    EXPECT_NEAR(proxy.state().position.x(), 0.003 + 10 * 2e-4, 1e-5);
    EXPECT_GT(proxy.state().force.x(), 0.9 * 500 * 2e-3);
}

TEST(VirtualProxy, ShadesForcesBetweenFacets) {
    // a coarse ball: facets of 20 degrees
    const SurfaceMesh ball = test::bumpy_ball(0.06, 0, 9, 1);
    const auto largest_turn = [&](bool is_shaded) {
        ProxyOptions options;
        options.has_force_shading = is_shaded;
        Touch touch(ball, options);
        touch.proxy.reset({0.08, 0, 0.01});
        double largest = 0;
        Vector3d last = Vector3d::Zero();
        for (double a = 0.0; a < 1.0; a += 0.004) {
            const ProxyState& state =
                touch.proxy.tick(0.0585 * Vector3d(std::cos(a) * std::cos(0.15),
                                                   std::sin(a) * std::cos(0.15), std::sin(0.15)));
            if (last.norm() > 0)
                largest = std::max(
                    largest, std::acos(std::clamp(state.force.normalized().dot(last.normalized()),
                                                  -1.0, 1.0)));
            last = state.force;
        }
        return largest;
    };
    EXPECT_LT(largest_turn(true), largest_turn(false));
}

TEST(VirtualProxy, IgnoresGoalsThatAreNoNumbers) {
    Touch touch(cube(0.05));
    (void)touch.go({0, 0, 0.06}, {0, 0, 0.04});
    const Vector3d before = touch.proxy.state().position;
    const ProxyState& state = touch.proxy.tick({0, std::nan(""), 0});
    EXPECT_TRUE(state.is_goal_ignored);
    EXPECT_EQ(state.status, StepStatus::InputIgnored);
    EXPECT_EQ(state.force, Vector3d::Zero());
    EXPECT_NEAR((state.position - before).norm(), 0, 1e-9);
    EXPECT_GT(touch.proxy.tick({0, 0, 0.04}).force.z(), 1);
}

TEST(VirtualProxy, ReachesAGoalAMetreAwayAndStopsAtWhatIsInBetween) {
    Touch touch(cube(0.05));
    EXPECT_EQ(touch.go({0, 0, 0.06}, {0.3, 0.2, 1.1}, 1).position, Vector3d(0.3, 0.2, 1.1));
    const ProxyState& state = touch.go({0.001, 0.002, 1.2}, {0.001, 0.002, -1.2}, 1);
    EXPECT_NEAR((state.position - Vector3d(0.001, 0.002, 0.055)).norm(), 0, 1e-6);
    EXPECT_LE(state.passes, 64);
    // as far as numbers go: it stays among them
    for (const double far : {1e10, 1e20, 1e30})
        EXPECT_TRUE(touch.proxy.tick({far, 0, 0}).position.allFinite());
}

/// Takes forces down.
double total_force_error(VirtualProxy& proxy, RigidBody& body) {
    proxy.apply_forces();
    return (body.next_load().force + proxy.state().force).norm();
}

TEST(VirtualProxy, GivesBodiesTheOppositeOfItsForceWithEveryMask) {
    for (const ForceMask mask :
         {ForceMask::Barycentric, ForceMask::InverseDistance, ForceMask::Smooth}) {
        RigidBodyOptions options;
        options.mass = RigidMass{1, Vector3d::Zero(), Eigen::Matrix3d::Identity()};
        RigidBody body(RigidShape::sphere(0.1), test::thin_plate(0.1, 0.02, 40), options);
        const auto surface = make_moving_surface(body);
        ProxyOptions proxy_options;
        proxy_options.mask = mask;
        VirtualProxy proxy({surface.get()}, proxy_options);
        proxy.reset({0.011, 0.007, 0.02});
        (void)proxy.tick({0.012, 0.006, 0.009});
        ASSERT_TRUE(proxy.state().is_touching());
        EXPECT_LT(total_force_error(proxy, body), 1e-12);
        // torque about the point of contact, in |F| r
        const ProxyContact& contact = proxy.state().contacts[0];
        const Wrench load = body.next_load();
        const double torque = (load.torque - contact.point.cross(load.force)).norm() /
                              (load.force.norm() * kProxyRadius);
        if (mask == ForceMask::Barycentric) EXPECT_LT(torque, 1e-6);
        EXPECT_LT(torque, 0.8);
    }
}

TEST(VirtualProxy, SharesItsForceAmongContactsOfSeveralBodies) {
    // a groove of two blocks
    RigidBodyOptions options;
    options.mass = RigidMass{1, Vector3d::Zero(), Eigen::Matrix3d::Identity()};
    options.pose.position = Vector3d(-0.05, 0, 0);
    options.pose.rotation = rotation_from_vector(Vector3d(0, 0.5, 0));
    RigidBody left(RigidShape::sphere(0.1), cube(0.04), options);
    options.pose.position = Vector3d(0.05, 0, 0);
    options.pose.rotation = rotation_from_vector(Vector3d(0, -0.5, 0));
    RigidBody right(RigidShape::sphere(0.1), cube(0.04), options);
    const auto a = make_moving_surface(left), b = make_moving_surface(right);
    VirtualProxy proxy({a.get(), b.get()});
    proxy.reset({0, 0.003, 0.1});
    for (int i = 0; i < 3; ++i) (void)proxy.tick({0, 0.003, 0.02});
    proxy.apply_forces();
    const Vector3d on_left = left.next_load().force, on_right = right.next_load().force;
    EXPECT_NEAR((on_left + on_right + proxy.state().force).norm(), 0, 1e-9);
    EXPECT_LT(on_left.z(), -0.9);
    EXPECT_NEAR(on_left.z(), on_right.z(), 0.02);
    EXPECT_NEAR(on_left.x(), -on_right.x(), 0.02);
}

TEST(VirtualProxy, PressesABodyThatGivesWay) {
    ReducedBody body(test::random_bar_model(6, false));
    const auto surface = make_moving_surface(body);
    const Vector3d tip = body.position(test::end_face()), n = body.normal(test::end_face());
    ProxyOptions options;
    options.stiffness = 100;
    VirtualProxy proxy({surface.get()}, options);
    proxy.reset(tip + 2 * kProxyRadius * n);
    for (int i = 0; i < 300; ++i) {
        (void)proxy.tick(tip + (kProxyRadius - 2e-5 * std::min(i, 100)) * n);
        proxy.apply_forces();
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
    }
    EXPECT_TRUE(proxy.state().is_touching());
    EXPECT_GT(proxy.state().force.dot(n), 0);
    EXPECT_LT((body.position(test::end_face()) - tip).dot(n), 0) << "pushed in";
}

TEST(VirtualProxy, TicksWithoutAllocation) {
    VertexSurface ring(test::bumpy_ring(0.1, 0.05, 0.02, 60));
    ReducedSurface shaped(test::waving_shapes(test::bumpy_ring(0.1, 0.05, 0.02, 60), 15, 1.0));
    ProxyOptions options;
    options.static_friction = options.dynamic_friction = 0.3;
    options.has_force_shading = true;
    VirtualProxy proxy({&ring, &shaped}, options);
    proxy.reset(test::ring_stroke(0, -0.02));
    std::array<double, 15> q = {};
    AllocationGuard guard;
    for (int i = 0; i < 200; ++i) {
        q[3] = 1e-3 * std::sin(0.1 * i);
        shaped.set_motion(Pose{}, q);
        (void)proxy.tick(test::ring_stroke(3e-4 * i, 4e-3));
        proxy.apply_forces();
    }
    (void)proxy.tick({std::nan(""), 0, 0});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(ProxyOptions, OutOfRangeAreNamed) {
    const auto message = [](ProxyOptions options) -> std::string {
        VertexSurface surface(cube(0.05));
        try {
            const VirtualProxy proxy({&surface}, options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    ProxyOptions options;
    options.sphere.radius = 0;
    EXPECT_EQ(message(options),
              "radius of the proxy = 0.000000 (expected more than 0 m, e.g. 0.005)");
    options = {};
    options.dynamic_friction = 0.4;
    EXPECT_EQ(
        message(options),
        "static friction of the proxy = 0.000000 (expected dynamic friction or more, up to 10)");
    options = {};
    options.stiffness = -1;
    EXPECT_EQ(message(options),
              "stiffness of the proxy = -1.000000 (expected 0 N/m or more, e.g. 500)");
}

TEST(ProxyOptions, OutOfRangeAreRefusedWhileItRunsAndThoseBeforeStay) {
    VertexSurface surface(cube(0.05));
    VirtualProxy proxy({&surface});
    ProxyOptions options;
    options.stiffness = 300;
    EXPECT_EQ(proxy.set_options(options), StepStatus::Ok);
    options.stiffness = 200;
    options.dynamic_friction = 0.4;  // more than the static one
    EXPECT_EQ(proxy.set_options(options), StepStatus::InputIgnored);
    EXPECT_EQ(proxy.options().stiffness, 300);
    EXPECT_EQ(proxy.options().dynamic_friction, 0);
    options.static_friction = 0.4;
    EXPECT_EQ(proxy.set_options(options), StepStatus::Ok);
    EXPECT_EQ(proxy.options().stiffness, 200);
}

}  // namespace
}  // namespace pliant
