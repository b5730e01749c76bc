#include "pliant/contact/sphere_carry.h"

#include "contact/rough_sheets.h"
#include "geometry/closest_on_triangle.h"
#include "geometry/simple_surfaces.h"
#include "haptics/proxy_trials.h"
#include "pliant/contact/sphere_sweep.h"
#include "pliant/core/allocation_guard.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// A surface that is moved point by point.
struct Moved {
    explicit Moved(SurfaceMesh given) : mesh(std::move(given)), surface(mesh), near({&surface}) {}
    template <class Map>
    void move(const Map& map) {
        std::vector<float> x;
        for (Vector3d& v : mesh.vertices) {
            v = map(v);
            for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(v[k]));
        }
        surface.set_positions(x);
        surface.advance();
        near.forget();
    }
    CarryResult carry(const Vector3d& p, const SphereCarryOptions& options = {}) {
        near.gather_swept(p, 1.1 * options.radius);
        return carry_sphere(near, p, options);
    }
    SurfaceMesh mesh;
    VertexSurface surface;
    SurfaceNeighbourhood near;
};

TEST(CarrySphere, GoesOnWithTheFaceOfAPlateThatPassesThroughIt) {
    for (const double side : {1.0, -1.0}) {
        Moved plate(test::thin_plate(0.2, 0.002, 10));
        const Vector3d p(0.013, 0.008, side * 0.007);
        plate.move([&](const Vector3d& v) { return Vector3d(v + Vector3d(0.01, 0, side * 0.1)); });
        const CarryResult carried = plate.carry(p);
        EXPECT_EQ(carried.event, CarryEvent::Face);
        EXPECT_NEAR(carried.time, 0.06, 1e-6);
        // the material point moved by the whole step, the centre stands on it
        EXPECT_NEAR(
            (carried.position - Vector3d(0.013 + 0.01 * 0.94, 0.008, side * (0.101 + 0.005)))
                .norm(),
            0, 1e-7);
    }
}

TEST(CarrySphere, LeavesASphereAloneThatNothingCrosses) {
    Moved plate(test::thin_plate(0.2, 0.002, 10));
    plate.move([](const Vector3d& v) { return Vector3d(v + Vector3d(0.05, 0, 0)); });
    const Vector3d p(0, 0, 0.0061);
    EXPECT_EQ(plate.carry(p).event, CarryEvent::None);
    EXPECT_EQ(plate.carry(p).position, p);
}

TEST(CarrySphere, StepsAsideForAnEdgeThatPassesNearItsCentre) {
    // the border of the plate passes 2 mm beside the centre
    Moved plate(test::thin_plate(0.2, 0.002, 10));
    const Vector3d p(0.102, 0.003, 0.05);
    plate.move([](const Vector3d& v) { return Vector3d(v + Vector3d(0, 0, 0.2)); });
    const CarryResult carried = plate.carry(p);
    EXPECT_EQ(carried.event, CarryEvent::Edge);
    EXPECT_NEAR((carried.position - Vector3d(0.105, 0.003, 0.05)).norm(), 0, 1e-7);
}

TEST(CarrySphere, StandsInTheMiddleWhereThereIsNoRoomForItsRadius) {
    // a box whose inside is a slot of 6 mm: two plates facing each other, moving together
    SurfaceMesh walls = test::thin_plate(0.2, 0.002, 10);
    for (Vector3d& v : walls.vertices) v.z() -= 0.004;
    SurfaceMesh above = test::thin_plate(0.2, 0.002, 10);
    for (Vector3d& v : above.vertices) v.z() += 0.02;
    append(walls, above);
    Moved slot(walls);
    const Vector3d p(0.001, 0.002, 0.004);
    slot.move([](const Vector3d& v) {
        return Vector3d(v.x(), v.y(), v.z() > 0.01 ? v.z() - 0.005 : v.z() + 0.01);
    });
    // lower face at 0.007, upper one at 0.014
    const CarryResult carried = slot.carry(p);
    EXPECT_EQ(carried.event, CarryEvent::Face);
    EXPECT_NEAR(carried.position.z(), 0.007 + 0.005, 1e-6);
    slot.move([](const Vector3d& v) {
        return Vector3d(v.x(), v.y(), v.z() > 0.0135 ? v.z() - 0.005 : v.z());
    });
    // faces at 0.007 and 0.009
    const CarryResult pressed = slot.carry(Vector3d(0.001, 0.002, 0.0105));
    EXPECT_EQ(pressed.event, CarryEvent::Face);
    EXPECT_NEAR(pressed.position.z(), 0.008, 1e-6);
}

TEST(CarrySphere, SurvivesATriangleThatLosesItsArea) {
    Moved ball(test::bumpy_ball(0.05, 0, 10, 1));
    const Vector3d p = 1.12 * ball.mesh.vertices[40];
    ball.move([](const Vector3d& v) { return Vector3d(Vector3d(1, 2, 3) + 0 * v); });
    for (const PopOutMode mode : {PopOutMode::Plain, PopOutMode::HalfSpace, PopOutMode::Guarded}) {
        SphereCarryOptions options;
        options.pop_out = mode;
        const CarryResult carried = ball.carry(p, options);
        EXPECT_TRUE(carried.position.allFinite());
        EXPECT_TRUE(pop_out(ball.near, carried.position, options).position.allFinite());
        EXPECT_TRUE(pop_out(ball.near, Vector3d(1, 2, 3), options).position.allFinite());
    }
}

TEST(CarrySphere, NeighboursDecideWhereTheTriangleThatHitsLosesItsArea) {
    // a slope rises through the centre; the triangle that meets it shrinks to its own long side
    const Eigen::AngleAxisd slope(0.4, Vector3d::UnitY());
    SurfaceMesh sheet = test::thin_plate(0.2, 0.04, 10);
    for (Vector3d& v : sheet.vertices) v = slope * v;
    Moved plate(sheet);
    const Triangle hit = plate.mesh.triangles[110];
    const auto corner = [&](int k) {
        return plate.mesh.vertices[static_cast<std::size_t>(hit[static_cast<std::size_t>(k)])];
    };
    const Vector3d a = corner(0), b = corner(1), c = corner(2), up = slope * Vector3d::UnitZ();
    ASSERT_NEAR((b - a).cross(c - a).normalized().dot(up), 1, 1e-6);
    const Vector3d p = (a + b + c) / 3 + 0.004 * up;
    plate.move([&](const Vector3d& v) {
        return Vector3d((v == b ? Vector3d((a + c) / 2) : v) + 0.05 * up);
    });
    const CarryResult carried = plate.carry(p);
    ASSERT_EQ(carried.event, CarryEvent::Face);
    ASSERT_EQ(carried.triangle, 110);
    ASSERT_LT(plate.surface.corners(110, TickMoment::End).area_vector().norm(), 1e-9);
    EXPECT_NEAR((carried.position - a).dot(up), 0.05 + 0.005, 1e-6);
}

TEST(CarrySphere, SharpSidesAndCornersCarryAlongTheMeanOfTheirFaces) {
    // numbers that floats have exactly: the centre meets the edge or corner itself
    const double half = 0.0625, gap = 1.0 / 128;
    for (const Vector3d& diagonal : {Vector3d(1, 0, 1), Vector3d(0, 1, -1), Vector3d(1, 1, 1),
                                     Vector3d(-1, 1, 1), Vector3d(1, -1, -1)}) {
        Moved box(test::box_surface(Vector3d::Constant(-half), Vector3d::Constant(half)));
        // off the middle of an edge
        Vector3d along = Vector3d::Zero();
        for (int k = 0; k < 3; ++k)
            if (diagonal[k] == 0) along[k] = 1.0 / 64;
        const Vector3d met = half * diagonal + along, p = met + gap * diagonal;
        Vector3d mean = Vector3d::Zero();
        for (int t = 0; t < box.mesh.num_triangles(); ++t) {
            const Vector3d u = box.mesh.corner(t, 0), v = box.mesh.corner(t, 1),
                           w = box.mesh.corner(t, 2);
            if (std::sqrt(detail::nearest_on_triangle(met, u, v, w).distance_squared) < 1e-9)
                mean += (v - u).cross(w - u).normalized();
        }
        box.move([&](const Vector3d& v) { return Vector3d(v + 4 * gap * diagonal); });
        const CarryResult carried = box.carry(p);
        ASSERT_EQ(carried.event, CarryEvent::Face);
        const Vector3d expected = met + 4 * gap * diagonal + 5e-3 * mean.normalized();
        EXPECT_LT((carried.position - expected).norm(), 1e-9) << diagonal.transpose();
    }
}

TEST(CarrySphere, WrongSidesOfRoughSheetsAreAsRareAsPublished) {
    test::RoughSheets sheets;
    constexpr int kCases = 8000;
    const auto percent = [&](PopOutMode mode, bool has_facing, bool has_ccd, bool pops) {
        SphereCarryOptions options;
        options.pop_out = mode;
        options.has_facing_test = has_facing;
        const test::RoughSheetCounts counts = sheets.run(kCases, 11, options, has_ccd, pops);
        EXPECT_EQ(pops ? counts.intersecting : 0, 0);
        return 100.0 * counts.wrong_side / kCases;
    };
    EXPECT_NEAR(percent(PopOutMode::Plain, true, false, false), 84.1, 8);
    EXPECT_NEAR(percent(PopOutMode::Plain, false, true, false), 42.5, 8);
    // rare, but the guard must have something to do: one in 8,000 is 0.0125 %
    const auto expect_rare = [](double measured, double reference) {
        EXPECT_GT(measured, 0);
        EXPECT_LE(measured, 2 * reference);
    };
    expect_rare(percent(PopOutMode::Plain, true, true, false), 0.115);
    expect_rare(percent(PopOutMode::Plain, true, true, true), 0.125);
    expect_rare(percent(PopOutMode::HalfSpace, true, true, true), 0.135);
    EXPECT_EQ(percent(PopOutMode::Guarded, true, true, true), 0);
}

TEST(PopOut, PlainTakesTrianglesInTheOrderOfTheMeshAndGuardedTheNearestFirst) {
    // a floor at z = 0 and a slope of 45° through the same line; the floor is the nearest
    const auto first_push = [](bool has_floor_first, PopOutMode mode) {
        SurfaceMesh mesh;
        mesh.vertices = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {1, -1, -1}, {1, 1, -1}, {-1, 0, 1}};
        mesh.triangles = {{0, 1, 2}, {3, 4, 5}};
        if (!has_floor_first) std::swap(mesh.triangles[0], mesh.triangles[1]);
        Moved corner(double_faced(mesh));
        SphereCarryOptions options;
        options.pop_out = mode;
        const double r = options.radius;
        const Vector3d p(0.2 * r, 0, 0.3 * r);
        corner.near.require(p, 2 * r, 0);
        options.max_pops = 1;
        return Vector3d(pop_out(corner.near, p, options).position / r);
    };
    // the floor lifts to z = 1, where the slope is 1.2/√2 away; the slope pushes by 1 − 0.5/√2,
    // then the floor lifts the rest
    const double h = std::sqrt(0.5), by_slope = 1 - 1.2 * h, at_first = 1 - 0.5 * h;
    EXPECT_LT(
        (first_push(true, PopOutMode::Plain) - Vector3d(0.2 + by_slope * h, 0, 1 + by_slope * h))
            .norm(),
        1e-5);
    EXPECT_LT((first_push(false, PopOutMode::Plain) - Vector3d(0.2 + at_first * h, 0, 1)).norm(),
              1e-5);
    EXPECT_LT(
        (first_push(true, PopOutMode::Guarded) - first_push(false, PopOutMode::Guarded)).norm(),
        1e-9);
}

TEST(PopOut, LeavesAFaceByExactlyItsRadius) {
    for (const PopOutMode mode : {PopOutMode::Plain, PopOutMode::HalfSpace, PopOutMode::Guarded}) {
        Moved plate(test::thin_plate(0.2, 0.02, 10));
        SphereCarryOptions options;
        options.pop_out = mode;
        const PopOutResult out = pop_out(plate.near, Vector3d(0.011, 0.004, 0.012), options);
        EXPECT_TRUE(out.has_arrived);
        EXPECT_EQ(out.rounds, 1);
        // triangles in turn push aside as well, before the one below has its turn
        const double aside = mode == PopOutMode::Guarded ? 1e-9 : 5e-4;
        EXPECT_NEAR((out.position - Vector3d(0.011, 0.004, 0.015)).norm(), 0, aside);
    }
}

TEST(PopOut, ParallelWallsKeepTheLastSafePlaceAndSaySo) {
    SurfaceMesh walls = test::thin_plate(0.2, 0.002, 10);
    SurfaceMesh above = walls;
    for (Vector3d& v : above.vertices) v.z() += 0.008;  // 6 mm for a sphere of 10 mm
    append(walls, above);
    Moved slot(walls);
    const Vector3d p(0.003, 0.001, 0.0035);
    const PopOutResult out = pop_out(slot.near, p, {});
    EXPECT_FALSE(out.has_arrived);
    EXPECT_LE(out.rounds, SphereCarryOptions{}.max_pops);
    EXPECT_GT(out.position.z(), 0.001);
    EXPECT_LT(out.position.z(), 0.007);
    EXPECT_GE(slot.near.clearance(out.position), slot.near.clearance(p));
}

TEST(PopOut, GuardKeepsTheCentreInFrontOfAThinSheet) {
    // a wall beside a sheet pushes the sphere towards the sheet and beyond
    SurfaceMesh walls = double_faced(test::flat_sheet(0.2, 10));
    SurfaceMesh wall = test::thin_plate(0.2, 0.002, 10);
    for (Vector3d& v : wall.vertices) v.z() += 0.005;
    append(walls, wall);
    Moved both(walls);
    const Vector3d p(0.001, 0.002, 0.0015);
    SphereCarryOptions options;
    EXPECT_GT(pop_out(both.near, p, options).position.z(), 0);
    both.near.require(p, 0.02, 0);
    EXPECT_GT(both.near.guarded_move(p, Vector3d(0.001, 0.002, -0.003), 5e-3).z(), 0);
}

TEST(PopOut, LeavesEachSurfaceInItsOwnWay) {
    // a sheet below the centre, and a block that clips through it and ends above the centre: its
    // top pushes down
    constexpr double r = 5e-3;
    const auto lifted = [](SurfaceMesh mesh, double height) {
        for (Vector3d& v : mesh.vertices) v.z() += height;
        return mesh;
    };
    VertexSurface sheet(double_faced(lifted(test::flat_sheet(20 * r, 8), -0.4 * r)));
    VertexSurface block(lifted(test::thin_plate(10 * r, 5 * r, 6), 0.1 * r - 2.5 * r));
    SurfaceNeighbourhood near({&block, &sheet});  // in turn, where none is guarded
    struct Case {
        std::optional<PopOutMode> sheet, block;
        bool stays;
    };
    using enum PopOutMode;
    for (const PopOutMode otherwise : {Plain, HalfSpace, Guarded})
        for (const Case& c :
             {Case{Plain, Plain, false}, Case{Plain, HalfSpace, true},
              Case{HalfSpace, Plain, false}, Case{Guarded, Plain, true},
              Case{Plain, Guarded, false}, Case{std::nullopt, Plain, otherwise == Guarded},
              Case{Plain, std::nullopt, otherwise == HalfSpace}}) {
            sheet.set_pop_out(c.sheet);
            block.set_pop_out(c.block);
            SphereCarryOptions options;
            options.radius = r;
            options.pop_out = otherwise;
            const Vector3d p(5e-4, 3e-4, 0);
            near.forget();
            const AllocationGuard guard;
            const PopOutResult out = pop_out(near, p, options);
            const auto allocations = guard.count();
            EXPECT_EQ(allocations, 0u);
            EXPECT_LE(out.rounds, options.max_pops);
            EXPECT_EQ(out.position.z() > -0.4 * r, c.stays)
                << out.position.transpose() << " otherwise " << static_cast<int>(otherwise);
        }
}

TEST(CarrySphere, OnlyGuardedSurfacesLimitTheRoomItIsPutInto) {
    // a plate rises through the centre and ends 4 mm below a ceiling
    SurfaceMesh plate = test::thin_plate(0.2, 0.002, 10), ceiling = plate;
    for (Vector3d& v : ceiling.vertices) v.z() += 0.056;  // from 0.055
    VertexSurface moving(plate), above(ceiling);
    SurfaceNeighbourhood near({&moving, &above});
    std::vector<float> x;
    for (const Vector3d& v : plate.vertices)
        x.insert(x.end(), {static_cast<float>(v.x()), static_cast<float>(v.y()),
                           static_cast<float>(v.z() + 0.05)});
    moving.set_positions(x);
    moving.advance();
    above.advance();
    const Vector3d p(0.013, 0.008, 0.007);
    for (const bool is_guarded : {true, false}) {
        above.set_pop_out(is_guarded ? PopOutMode::Guarded : PopOutMode::HalfSpace);
        near.gather_swept(p, 6e-3);
        const CarryResult carried = carry_sphere(near, p, {});
        ASSERT_EQ(carried.event, CarryEvent::Face);
        EXPECT_NEAR(carried.position.z(), 0.051 + (is_guarded ? 0.002 : 0.005), 1e-7);
    }
}

TEST(SweepSphere, HitsAtExactlyTheRadiusAndMissesNothing) {
    std::mt19937 random(9);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Moved ball(test::bumpy_ball(0.05, 0.25, 16, 4));
    const double rho = 0.006;
    int hits = 0;
    for (int i = 0; i < 400; ++i) {
        Vector3d p = Vector3d(uniform(random), uniform(random), uniform(random)).normalized();
        p *= 0.11;
        const Vector3d to = 0.08 * Vector3d(uniform(random), uniform(random), uniform(random));
        ball.near.require(p, 0.3, 0);
        const SphereHit hit = sweep_sphere(ball.near, p, to, rho);
        const auto clearance = [&](const Vector3d& x) {
            double least = 1;
            for (int t = 0; t < ball.mesh.num_triangles(); ++t) {
                const Corners c = ball.surface.corners(t, TickMoment::End);
                least = std::min(
                    least,
                    std::sqrt(detail::nearest_on_triangle(x, c.a, c.b, c.c).distance_squared));
            }
            return least;
        };
        const double end = hit.index < 0 ? 1 : hit.s;
        for (int k = 0; k < 20; ++k)
            EXPECT_GT(clearance(p + end * k / 20 * (to - p)), rho * (1 - 1e-6));
        if (hit.index < 0) continue;
        EXPECT_NEAR(clearance(p + hit.s * (to - p)), rho, 1e-9);
        EXPECT_NEAR((p + hit.s * (to - p) - hit.point).norm(), rho, 1e-9);
        hits += 1;
    }
    EXPECT_GT(hits, 150);
}

TEST(SphereCarryOptions, OutOfRangeAreNamed) {
    const auto message = [](const SphereCarryOptions& options) -> std::string {
        try {
            check(options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message({.radius = 0}),
              "radius of the proxy = 0.000000 (expected more than 0 m, e.g. 0.005)");
    EXPECT_EQ(message({.radius = std::nan("")}),
              "radius of the proxy = nan (expected more than 0 m, e.g. 0.005)");
    EXPECT_EQ(message({.shrink = 1.5}),
              "shrink of the proxy = 1.500000 (expected 0.5 < value <= 1)");
    EXPECT_EQ(message({}), "");
}

}  // namespace
}  // namespace pliant
