#include "pliant/contact/moving_surface.h"

#include "fem/contact_samples.h"
#include "geometry/closest_on_triangle.h"
#include "geometry/simple_surfaces.h"
#include "haptics/proxy_samples.h"
#include "pliant/body/rigid_body.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/simd.h"
#include "pliant/fem/fem_body.h"
#include "reduction/body_samples.h"

#include <gtest/gtest.h>

#include <set>

namespace pliant {
namespace {

using test::bumpy_ring;

std::vector<float> flat(const SurfaceMesh& mesh) {
    std::vector<float> x;
    for (const Eigen::Vector3d& v : mesh.vertices)
        for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(v[k]));
    return x;
}

/// Triangles near a place at some time of the tick, one by one.
std::set<int> slowly_near(const MovingSurface& surface, const Eigen::Vector3d& p, double radius,
                          bool is_swept) {
    std::set<int> found;
    for (int t = 0; t < surface.num_triangles(); ++t) {
        const Corners from = surface.corners(t, TickMoment::Start),
                      to = surface.corners(t, TickMoment::End);
        for (int k = is_swept ? 0 : 10; k <= 10; ++k) {
            const double s = 0.1 * k;
            const Eigen::Vector3d a = from.a + s * (to.a - from.a),
                                  b = from.b + s * (to.b - from.b),
                                  c = from.c + s * (to.c - from.c);
            if (detail::nearest_on_triangle(p, a, b, c).distance_squared < radius * radius) {
                found.insert(t);
                break;
            }
        }
    }
    return found;
}

void expect_all_found(MovingSurface& surface, const std::vector<Eigen::Vector3d>& places) {
    TrianglePatch patch(surface.num_triangles());
    int total = 0;
    for (const Eigen::Vector3d& p : places)
        for (const double radius : {0.004, 0.02})
            for (const SurfaceMoment moment : {SurfaceMoment::Swept, SurfaceMoment::End}) {
                patch.clear();
                surface.gather(p, radius, moment, 3, patch);
                std::set<int> found;
                for (int i = 0; i < patch.size(); ++i) {
                    EXPECT_EQ(patch.surface(i), 3);
                    EXPECT_TRUE(found.insert(patch.triangle(i)).second) << "listed twice";
                    const Corners end = surface.corners(patch.triangle(i), TickMoment::End);
                    EXPECT_EQ(patch.end(i).b, end.b);
                    if (moment == SurfaceMoment::Swept)
                        EXPECT_EQ(patch.start(i).c,
                                  surface.corners(patch.triangle(i), TickMoment::Start).c);
                }
                const bool is_swept = moment == SurfaceMoment::Swept;
                for (const int t : slowly_near(surface, p, radius, is_swept))
                    EXPECT_TRUE(found.count(t)) << "triangle " << t << " is missing";
                total += patch.size();
            }
    EXPECT_GT(total, 20);
}

std::vector<Eigen::Vector3d> places_near(const SurfaceMesh& mesh) {
    std::vector<Eigen::Vector3d> places;
    for (std::size_t v = 0; v < mesh.vertices.size(); v += mesh.vertices.size() / 12)
        places.push_back(1.02 * mesh.vertices[v] + Eigen::Vector3d(1e-3, 2e-3, -1e-3));
    return places;
}

TEST(VertexSurface, FindsEveryTriangleAfterEveryRewrite) {
    for (const std::string& target : simd_targets()) {
        SCOPED_TRACE(target);
        const ScopedSimdTarget scoped(target);
        SurfaceMesh mesh = bumpy_ring(0.1, 0.05, 0.05, 40);
        VertexSurface surface(mesh);
        for (int step = 0; step < 3; ++step) {
            for (Eigen::Vector3d& v : mesh.vertices)
                v = Eigen::AngleAxisd(0.05, Eigen::Vector3d::UnitX()) * (1.01 * v) +
                    Eigen::Vector3d(0, 0, 0.003 * std::sin(30 * v.x()));
            ASSERT_TRUE(surface.set_positions(flat(mesh)));
            surface.advance();
            expect_all_found(surface, places_near(mesh));
        }
    }
}

TEST(VertexSurface, StartsWhereItEndedAndRestsWithoutNews) {
    SurfaceMesh mesh = bumpy_ring(0.1, 0.05, 0.05, 12);
    VertexSurface surface(mesh);
    const Eigen::Vector3d first = surface.position(17, TickMoment::End);
    mesh.vertices[17] += Eigen::Vector3d(0.01, 0, 0);
    surface.set_positions(flat(mesh));
    EXPECT_EQ(surface.position(17, TickMoment::End), first) << "before advance()";
    surface.advance();
    EXPECT_EQ(surface.position(17, TickMoment::Start), first);
    const Eigen::Vector3d second = surface.position(17, TickMoment::End);
    EXPECT_NEAR((second - first).x(), 0.01, 1e-7);
    surface.advance();
    EXPECT_EQ(surface.position(17, TickMoment::Start), second);
    EXPECT_EQ(surface.position(17, TickMoment::End), second);
    // written twice before the next tick: the last one counts, the start is that of the last tick
    mesh.vertices[17] += Eigen::Vector3d(0, 0.02, 0);
    surface.set_positions(flat(mesh));
    mesh.vertices[17] += Eigen::Vector3d(0, 0.02, 0);
    surface.set_positions(flat(mesh));
    surface.advance();
    EXPECT_EQ(surface.position(17, TickMoment::Start), second);
    EXPECT_NEAR(surface.position(17, TickMoment::End).y() - second.y(), 0.04, 1e-7);
    expect_all_found(surface, {mesh.vertices[17]});
}

TEST(VertexSurface, IgnoresPositionsThatAreNotFinite) {
    const SurfaceMesh mesh = bumpy_ring(0.1, 0.05, 0.05, 12);
    VertexSurface surface(mesh);
    for (const std::size_t at : {std::size_t{0}, 3 * mesh.vertices.size() - 1}) {
        std::vector<float> x = flat(mesh);
        x[at] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_FALSE(surface.set_positions(x));
        x[at] = std::numeric_limits<float>::infinity();
        EXPECT_FALSE(surface.set_positions(x));
    }
    surface.advance();
    EXPECT_NEAR((surface.position(5, TickMoment::End) - mesh.vertices[5]).norm(), 0, 1e-7);
}

TEST(ReducedSurface, FindsEveryTriangleInEveryShapeAndPose) {
    const SurfaceMesh mesh = bumpy_ring(0.1, 0.05, 0.05, 40);
    ReducedSurface surface(test::waving_shapes(mesh, 15, 1.0));
    std::mt19937 random(4);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::array<double, 15> q;
    for (const double size : {0.0, 0.0003, 0.02}) {
        const Pose pose{Eigen::Vector3d(size, 0.1, -0.2),
                        rotation_from_vector(Eigen::Vector3d(0.3, 5 * size, 0.1))};
        for (double& x : q) x = size * uniform(random);
        ASSERT_TRUE(surface.set_motion(pose, q));
        surface.advance();
        std::vector<Eigen::Vector3d> places;
        for (int v = 0; v < mesh.num_vertices(); v += mesh.num_vertices() / 12)
            places.push_back(surface.position(v, TickMoment::End) + Eigen::Vector3d(0.002, 0, 0));
        expect_all_found(surface, places);
    }
    q[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(surface.set_motion({}, q));
}

TEST(MovingSurfaceOfBody, FollowsRigidAndReducedBodies) {
    RigidBodyOptions options;
    options.velocity.linear = Eigen::Vector3d(0.5, 0, 0);
    options.mass = RigidMass{1, Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity()};
    RigidBody rigid(RigidShape::sphere(0.1), test::box_surface(), options);
    ReducedBody reduced(test::random_bar_model(6, false));
    for (Body* body : std::initializer_list<Body*>{&rigid, &reduced}) {
        const auto surface = make_moving_surface(*body);
        EXPECT_EQ(surface->body(), body);
        for (int k = 0; k < 5; ++k) {
            body->add_force(SurfacePoint::at_vertex(7), Eigen::Vector3d(1, 5, 3));
            ASSERT_EQ(body->step(1e-3), StepStatus::Ok);
            surface->advance();
        }
        for (int v = 0; v < surface->num_vertices(); ++v)
            for (const TickMoment moment : {TickMoment::Start, TickMoment::End})
                EXPECT_NEAR((surface->position(v, moment) -
                             body->position(SurfacePoint::at_vertex(v), moment))
                                .norm(),
                            0, 1e-6)
                    << body->kind();
    }
}

TEST(MovingSurfaceOfBody, FollowsWhatOthersDisplay) {
    FemBody body(test::hex_cube(3, 0.1, {-0.05, -0.05, 0}), {isotropic(2e4, 0.3, 1000)}, {}, {});
    const auto surface = make_moving_surface(body);
    EXPECT_NE(dynamic_cast<VertexSurface*>(surface.get()), nullptr);
    for (int k = 0; k < 20; ++k) {
        body.add_force(SurfacePoint::at_vertex(3), Eigen::Vector3d(1, 2, -1));
        ASSERT_EQ(body.step(1e-3), StepStatus::Ok);
        surface->advance();
    }
    for (int v = 0; v < surface->num_vertices(); ++v)
        for (const TickMoment moment : {TickMoment::Start, TickMoment::End})
            EXPECT_NEAR(
                (surface->position(v, moment) - body.position(SurfacePoint::at_vertex(v), moment))
                    .norm(),
                0, 1e-6);
}

TEST(MovingSurface, AdvancesAndGathersWithoutAllocation) {
    const SurfaceMesh mesh = bumpy_ring(0.1, 0.05, 0.05, 40);
    VertexSurface written(mesh);
    ReducedSurface shaped(test::waving_shapes(mesh, 15, 1.0));
    const std::vector<float> x = flat(mesh);
    const std::array<double, 15> q = {0.01, -0.02};
    TrianglePatch patch(mesh.num_triangles());
    AllocationGuard guard;
    written.set_positions(x);
    written.advance();
    written.gather(mesh.vertices[0], 0.02, SurfaceMoment::Swept, 0, patch);
    shaped.set_motion({}, q);
    shaped.advance();
    patch.clear();
    shaped.gather(mesh.vertices[0], 0.02, SurfaceMoment::Swept, 0, patch);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_GT(patch.size(), 10);
}

std::string refusal(const SurfaceMesh& mesh) {
    try {
        const VertexSurface surface(mesh);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(MovingSurface, RefusesOpenSheetsAndTellsHowToDoubleThem) {
    const SurfaceMesh sheet = test::flat_sheet(1, 3);
    EXPECT_EQ(refusal(sheet),
              "surface to be touched = 12 open edges (expected a closed surface oriented outwards; "
              "first at triangle 0 of 18; sheets need two faces: \"double_faced\": true for "
              "\"particles\" "
              "of a scene, pliant convert IN OUT --double-faced for mesh files, double_faced() in "
              "code; repair_surface() or --repair orients triangles)");
    EXPECT_EQ(refusal(double_faced(sheet)), "accepted");
}

TEST(MovingSurface, RefusesTrianglesThatAreTurnedOver) {
    SurfaceMesh mesh = bumpy_ring(0.1, 0.05, 0, 12);
    std::swap(mesh.triangles[20][0], mesh.triangles[20][1]);
    EXPECT_NE(refusal(mesh).find("3 edges between triangles of opposite orientation"),
              std::string::npos)
        << refusal(mesh);
    EXPECT_EQ(refusal({}), "surface to be touched = no triangles (expected at least four)");
    mesh.triangles[0][1] = 9999;
    EXPECT_EQ(refusal(mesh), "triangle 0 of the surface = vertex 9999 (expected 0 to 143)");
}

TEST(MovingSurface, NeighboursOfASheetStayOnTheirFace) {
    const VertexSurface surface(double_faced(test::flat_sheet(1, 3)));
    for (int t = 0; t < surface.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const int other = surface.neighbour(t, k);
            const bool is_same_face = (t < 18) == (other < 18);
            const bool is_border = !is_same_face;
            if (is_border) EXPECT_EQ(other % 18, t % 18) << "round the border to its own back";
        }
    EXPECT_EQ(surface.neighbour(0, 2), 1) << "the diagonal of the first square";
    EXPECT_EQ(surface.neighbour(18, 0), 19);
}

}  // namespace
}  // namespace pliant
