#include "pliant/geometry/limit_surface.h"

#include "core/numbers.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/geometry/shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Octahedron with its vertices moved about, so that nothing is symmetric.
SurfaceMesh crooked_octahedron() {
    SurfaceMesh mesh;
    mesh.vertices = {{1.1, 0.1, 0},  {0, 0.9, 0.1}, {-1.2, 0, 0.1},
                     {0.1, -0.8, 0}, {0.1, 0.2, 1}, {0, -0.1, -1.3}};
    for (int k = 0; k < 4; ++k) {
        mesh.triangles.push_back({k, (k + 1) % 4, 4});
        mesh.triangles.push_back({(k + 1) % 4, k, 5});
    }
    return mesh;
}

struct ControlCase {
    std::string name;
    SurfaceMesh mesh;
    SubdivisionRules rules;
};

/// Interior vertices of 3 to 7 neighbours, creases, where a crease ends, corners.
std::vector<ControlCase> control_cases() {
    const SurfaceMesh octahedron = crooked_octahedron();
    const SurfaceMesh split = loop_subdivide(octahedron, 1).mesh;
    return {{"box", test::box_surface({0, 0, 0}, {1, 1.4, 0.7}), {}},
            {"torus", test::torus_surface(6, 5), {}},
            {"belt", octahedron, {.creases = {{0, 1}, {1, 2}, {2, 3}, {3, 0}}, .corners = {}}},
            {"meridian", octahedron, {.creases = {{0, 4}, {4, 2}, {2, 5}, {5, 0}}, .corners = {}}},
            {"dart", octahedron, {.creases = {{0, 1}, {1, 2}}, .corners = {}}},
            {"fine dart", split, {.creases = {{0, 6}, {6, 1}}, .corners = {}}},
            // creases with one and three edges between them, and with none and four
            {"bends",
             test::torus_surface(6, 5),
             {.creases = {{0, 5}, {0, 1}, {17, 22}, {17, 23}}, .corners = {}}},
            {"corners", octahedron, {.creases = {{0, 1}, {0, 4}, {0, 3}}, .corners = {2}}}};
}

/// Creases of the next level.
SubdivisionRules split_rules(const SubdivisionRules& rules, const SemiRegularMesh& once) {
    SubdivisionRules fine{.creases = {}, .corners = rules.corners};
    for (const auto& [p, q] : rules.creases)
        for (std::size_t i = 0; i < once.neighbourhood.size(); ++i) {
            const auto& near = once.neighbourhood[i];
            if (near[0] != std::min(p, q) || near[1] != std::max(p, q)) continue;
            const int middle = once.num_vertices[0] + static_cast<int>(i);
            fine.creases.push_back({p, middle});
            fine.creases.push_back({middle, q});
        }
    return fine;
}

TEST(LoopLimit, OfTheRefinedMeshIsThatOfTheCoarseOne) {
    for (const auto& [name, mesh, rules] : control_cases()) {
        SCOPED_TRACE(name);
        const LimitSurface coarse = loop_limit(mesh, rules);
        const SemiRegularMesh once = loop_subdivide(mesh, 1, rules);
        const LimitSurface fine = loop_limit(once.mesh, split_rules(rules, once));
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
            EXPECT_LT((coarse.positions[v] - fine.positions[v]).norm(), 4e-15) << v;
            // the corner's mean plane is that of its own ring
            if (name == "corners" && v == 0) continue;
            EXPECT_LT((coarse.normals[v] - fine.normals[v]).norm(), 2e-14) << v;
            EXPECT_NEAR(coarse.normals[v].norm(), 1, 1e-14);
        }
    }
}

TEST(LoopLimit, IsWhereManyRoundsLead) {
    for (const auto& [name, mesh, rules] : control_cases()) {
        SCOPED_TRACE(name);
        const LimitSurface limit = loop_limit(mesh, rules);
        const auto error = [&mesh = mesh, &rules = rules, &limit](int levels) {
            const SurfaceMesh fine = loop_subdivide(mesh, levels, rules).mesh;
            double largest = 0;
            for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
                largest = std::max(largest, (fine.vertices[v] - limit.positions[v]).norm());
            return largest;
        };
        const double before = error(4), after = error(5);
        EXPECT_LT(after, 3e-3);
        EXPECT_LT(after, 0.52 * before);  // 0.25 where regular, 0.5 where a crease ends
    }
}

TEST(LoopLimit, NormalsAreThoseOfManyRounds) {
    for (const auto& [name, mesh, rules] : control_cases()) {
        SCOPED_TRACE(name);
        const LimitSurface limit = loop_limit(mesh, rules);
        std::vector<int> num_creases(mesh.vertices.size(), 0);
        for (const auto& [a, b] : rules.creases) {
            ++num_creases[at(a)];
            ++num_creases[at(b)];
        }
        for (const int v : rules.corners) num_creases[at(v)] = 9;
        const SurfaceMesh fine = loop_subdivide(mesh, 6, rules).mesh;
        const std::vector<Vector3d> faces = face_normals(fine);
        std::vector<double> least(mesh.vertices.size(), 1), most(mesh.vertices.size(), -1);
        for (std::size_t t = 0; t < faces.size(); ++t)
            for (const int v : fine.triangles[t]) {
                if (at(v) >= mesh.vertices.size()) continue;
                const double cosine = faces[t].dot(limit.normals[at(v)]);
                least[at(v)] = std::min(least[at(v)], cosine);
                most[at(v)] = std::max(most[at(v)], cosine);
            }
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
            // smooth: all triangles around turn into the tangent plane; on a crease the normal is
            // as far from both sides. Convergence is slower where a crease ends or turns sharply.
            if (num_creases[v] < 2) {
                EXPECT_GT(least[v], num_creases[v] == 0 ? 0.993 : 0.985) << v;
            } else if (num_creases[v] == 2) {
                EXPECT_LT(most[v] - least[v], name == "bends" ? 0.1 : 0.03) << v;
            }
        }
    }
}

TEST(LoopLimit, NormalAcrossACreaseBisectsASymmetricFold) {
    // a roof: the ridge is a crease between two equal sides
    SurfaceMesh roof = crooked_octahedron();
    roof.vertices = {{1, 0, 0}, {0, 1, 0.4}, {-1, 0, 0}, {0, -1, 0.4}, {0, 0, 1}, {0, 0, -1}};
    const SubdivisionRules ridge{.creases = {{0, 4}, {4, 2}, {2, 5}, {5, 0}}, .corners = {}};
    const LimitSurface limit = loop_limit(roof, ridge);
    EXPECT_LT((limit.normals[4] - Vector3d::UnitZ()).norm(), 1e-15);
    EXPECT_LT((limit.positions[4] - Vector3d(0, 0, 2.0 / 3.0)).norm(), 1e-15);
    // the normal is square to the crease, a cubic spline, everywhere
    const ControlCase round = control_cases()[2];
    const LimitSurface belt = loop_limit(round.mesh, round.rules);
    const std::vector<Vector3d>& x = round.mesh.vertices;
    for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(belt.normals[k].dot(x[(k + 1) % 4] - x[(k + 3) % 4]), 0, 1e-15);
}

TEST(LoopLimit, TangentsOfARegularPatchMatchFiniteDifferences) {
    // positions of a fine level near a vertex, put on the limit, give the tangent plane
    const SurfaceMesh torus = test::torus_surface(8, 7);
    const LimitSurface limit = loop_limit(torus);
    const auto error = [&](int levels) {
        const SemiRegularMesh fine = loop_subdivide(torus, levels);
        const LimitSurface on_limit = loop_limit(fine.mesh);
        double largest = 0;
        for (const Triangle& t : fine.mesh.triangles)
            for (std::size_t k = 0; k < 3; ++k) {
                const int v = t[k];
                if (v >= torus.num_vertices()) continue;
                const Vector3d chord =
                    (on_limit.positions[at(t[(k + 1) % 3])] - limit.positions[at(v)]).normalized();
                largest = std::max(largest, std::abs(chord.dot(limit.normals[at(v)])));
            }
        return largest;
    };
    // first order: the chord leans from the tangent by half its curvature
    const double coarse = error(3), fine = error(4);
    EXPECT_LT(fine, 0.06);
    EXPECT_NEAR(fine / coarse, 0.5, 0.03);
}

TEST(DisplacedSurface, WithoutOffsetsIsTheLimitOfTheFineMesh) {
    for (const auto& [name, mesh, rules] : control_cases()) {
        SCOPED_TRACE(name);
        SubdivisionRules fine_rules = rules;
        SurfaceMesh fine = mesh;
        for (int level = 0; level < 3; ++level) {
            const SemiRegularMesh once = loop_subdivide(fine, 1, fine_rules);
            fine_rules = split_rules(fine_rules, once);
            fine = once.mesh;
        }
        const LimitSurface limit = loop_limit(fine, fine_rules);
        const DisplacedSurface surface(mesh, 3, rules);
        ASSERT_EQ(surface.num_vertices(), fine.num_vertices());
        EXPECT_EQ(surface.triangles(), fine.triangles);
        std::vector<Vector3d> x(fine.vertices.size()), normals(x), lifted(x);
        surface.evaluate(mesh.vertices, x, normals);
        DisplacedSurface raised = surface;
        raised.set_offsets(std::vector<double>(x.size(), 0.25));
        raised.evaluate(mesh.vertices, lifted);
        for (std::size_t v = 0; v < x.size(); ++v) {
            EXPECT_LT((x[v] - limit.positions[v]).norm(), 4e-15) << v;
            EXPECT_LT((lifted[v] - x[v] - 0.25 * limit.normals[v]).norm(), 3e-14) << v;
        }
    }
}

TEST(DisplacedSurface, NormalsAreThoseOfItsTriangles) {
    const SurfaceMesh control = test::torus_surface(7, 6);
    DisplacedSurface surface(control, 3);
    std::vector<double> offsets;
    for (int v = 0; v < surface.num_vertices(); ++v) offsets.push_back(0.02 * std::sin(0.7 * v));
    surface.set_offsets(offsets);
    SurfaceMesh fine{std::vector<Vector3d>(offsets.size()), surface.triangles()};
    std::vector<Vector3d> normals(offsets.size());
    surface.evaluate(control.vertices, fine.vertices, normals);
    const std::vector<Vector3d> weighted = vertex_normals(fine);  // by angle instead of area
    for (std::size_t v = 0; v < normals.size(); ++v) {
        EXPECT_NEAR(normals[v].norm(), 1, 1e-14);
        EXPECT_GT(normals[v].dot(weighted[v]), 0.9);
    }
}

TEST(DisplacedSurface, FollowsAffineAndRigidMotion) {
    const SurfaceMesh control = crooked_octahedron();
    DisplacedSurface surface(control, 4);
    std::vector<Vector3d> x(at(surface.num_vertices())), y(x), nx(x), ny(x);
    surface.evaluate(control.vertices, x, nx);
    // affine, without offsets
    Eigen::Matrix3d A;
    A << 1.2, 0.3, -0.1, 0.2, 0.8, 0.4, 0, -0.5, 1.1;
    const Vector3d b(3, -2, 5);
    std::vector<Vector3d> moved = control.vertices;
    for (Vector3d& v : moved) v = A * v + b;
    surface.evaluate(moved, y);
    for (std::size_t v = 0; v < x.size(); ++v) EXPECT_LT((y[v] - A * x[v] - b).norm(), 2e-14);
    // rigid, with offsets
    std::vector<double> offsets;
    for (std::size_t v = 0; v < x.size(); ++v) offsets.push_back(0.05 * std::cos(1.3 * double(v)));
    surface.set_offsets(offsets);
    surface.evaluate(control.vertices, x, nx);
    const Eigen::Matrix3d R = Eigen::AngleAxisd(2.1, Vector3d(1, 2, -1).normalized()).matrix();
    moved = control.vertices;
    for (Vector3d& v : moved) v = R * v + b;
    surface.evaluate(moved, y, ny);
    for (std::size_t v = 0; v < x.size(); ++v) {
        EXPECT_LT((y[v] - R * x[v] - b).norm(), 2e-14);
        EXPECT_LT((ny[v] - R * nx[v]).norm(), 1e-12);
    }
}

TEST(DisplacedSurface, FitFindsTheOffsetsItWasMadeWith) {
    const SurfaceMesh control = test::torus_surface(9, 6);
    DisplacedSurface surface(control, 3);
    std::vector<double> offsets;
    std::vector<Vector3d> x(at(surface.num_vertices()));
    surface.evaluate(control.vertices, x);
    for (const Vector3d& p : x) offsets.push_back(0.04 * std::sin(6 * p.x()) * std::cos(5 * p.y()));
    surface.set_offsets(offsets);
    surface.evaluate(control.vertices, x);
    const SurfaceQuery target(SurfaceMesh{x, surface.triangles()});
    surface.set_offsets(std::vector<double>(x.size(), 0.0));
    const DisplacementReport report = surface.fit(target, 0.1);
    EXPECT_EQ(report.num_pierced, surface.num_vertices());
    EXPECT_LT(report.max_distance, 1e-12);
    for (std::size_t v = 0; v < offsets.size(); ++v)
        EXPECT_NEAR(surface.offsets()[v], offsets[v], 1e-12);
}

TEST(DisplacedSurface, CoarseRabbitShowsTheFineOne) {
    const SemiRegularMesh rabbit = make_semi_regular("rabbit", 4);
    const SurfaceQuery fine(rabbit.mesh);
    DisplacedSurface surface(coarse_levels(rabbit, 2).mesh, 2);
    EXPECT_EQ(surface.num_vertices(), 2562);
    const DisplacementReport report = surface.fit(fine, 0.02);
    const double size = bounding_box(rabbit.mesh.vertices).diagonal().norm();
    EXPECT_GT(report.num_pierced, 0.98 * 2562);
    EXPECT_EQ(report.num_pierced + report.num_closest + report.num_averaged, 2562);
    EXPECT_LT(report.mean_distance, 1e-4 * size);
    // the vertices are on the surface and the surface on the vertices
    std::vector<Vector3d> x(2562);
    surface.evaluate(coarse_levels(rabbit, 2).mesh.vertices, x);
    const SurfaceMesh shown{x, surface.triangles()};
    EXPECT_NEAR(enclosed_volume(shown) / enclosed_volume(rabbit.mesh), 1, 0.01);
    const SurfaceQuery back(shown);
    double largest = 0;
    for (const Vector3d& v : rabbit.mesh.vertices)
        largest = std::max(largest, back.closest(v).distance);
    EXPECT_LT(largest, 0.02 * size);
}

TEST(DisplacedSurface, VerticesThatMeetNothingFollowTheirNeighbours) {
    // the target has a hole, with nothing behind it within reach
    SurfaceMesh control = test::torus_surface(9, 6);
    DisplacedSurface surface(control, 2);
    std::vector<Vector3d> x(at(surface.num_vertices()));
    surface.set_offsets(std::vector<double>(x.size(), 0.05));
    surface.evaluate(control.vertices, x);
    SurfaceMesh open{x, surface.triangles()};
    std::erase_if(open.triangles,
                  [&](const Triangle& t) { return (x[at(t[0])] - x[0]).norm() < 0.35; });
    const DisplacementReport report = surface.fit(SurfaceQuery(open), 0.08);
    EXPECT_GT(report.num_averaged, 3);
    EXPECT_EQ(report.num_pierced + report.num_closest + report.num_averaged,
              surface.num_vertices());
    for (const double offset : surface.offsets()) EXPECT_NEAR(offset, 0.05, 0.03);
}

TEST(DisplacedSurface, EvaluationAllocatesNothingAndStaysFinite) {
    const SurfaceMesh control = crooked_octahedron();
    DisplacedSurface surface(control, 4);
    surface.set_offsets(std::vector<double>(at(surface.num_vertices()), 0.1));
    std::vector<Vector3d> x(at(surface.num_vertices())), normals(x);
    std::vector<Vector3d> flat(control.vertices.size(), Vector3d(1, 2, 3));
    AllocationGuard guard;
    surface.evaluate(control.vertices, x, normals);
    surface.evaluate(flat, x, normals);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    for (const Vector3d& p : x) EXPECT_TRUE(p.allFinite());
    for (const Vector3d& n : normals) EXPECT_TRUE(n.allFinite());
}

TEST(DisplacedSurface, BadInputIsRefused) {
    SurfaceMesh open = crooked_octahedron();
    open.triangles.pop_back();
    EXPECT_NE(test::input_error([&] { (void)loop_limit(open); }).find("3 open edges"),
              std::string::npos);
    EXPECT_NE(test::input_error([&] { DisplacedSurface(open, 1); }).find("3 open edges"),
              std::string::npos);
    DisplacedSurface surface(crooked_octahedron(), 1);
    EXPECT_EQ(test::input_error([&] {
                  surface.set_offsets({1, 2});
              }),
              "offsets, length = 2 (expected 18, one for each fine vertex)");
    std::vector<double> bad(18, 0.0);
    bad[3] = kNan;
    EXPECT_EQ(test::input_error([&] { surface.set_offsets(bad); }),
              "offsets[3] = nan (expected a finite number)");
    const SurfaceQuery query(crooked_octahedron());
    EXPECT_EQ(test::input_error([&] { (void)surface.fit(query, 0); }),
              "reach = 0.000000 (expected a length > 0 [m])");
}

}  // namespace
}  // namespace pliant
