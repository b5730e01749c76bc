#include "pliant/geometry/tet_mesh.h"

#include "geometry/bcc_lattice.h"
#include "geometry/test_meshes.h"
#include "geometry/tet_checks.h"
#include "input_error.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::check_tets;
using test::input_error;
using test::is_same_mesh;
using test::TetCheck;

/// Smooth noise between −1 and 1: random values on a lattice of the given spacing.
double noise(const Vector3d& x, double spacing) {
    const Vector3d y = x / spacing, floor = y.array().floor();
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        double weight = 1;
        std::uint64_t hash = 0x9e3779b97f4a7c15;
        for (int axis = 0; axis < 3; ++axis) {
            const int bit = corner >> axis & 1;
            weight *= std::abs(1 - bit - (y[axis] - floor[axis]));
            hash ^= static_cast<std::uint64_t>(static_cast<std::int64_t>(floor[axis]) + bit);
            hash *= 0xff51afd7ed558ccd;
            hash ^= hash >> 33;
        }
        sum += weight * (static_cast<double>(hash >> 11) * 0x1p-52 - 1);
    }
    return sum;
}

/// A function without Lipschitz bound is evaluated everywhere: the slow reference.
Implicit without_skipping(const Implicit& body) {
    return Implicit([body](const Vector3d& x) { return body(x); }, body.box(), 1e9);
}

/// What must hold for every body; pinched edges are allowed where parts are thinner than a cell.
TetCheck expect_sound(const VolumeMesh& mesh) {
    const TetCheck check = check_tets(mesh);
    EXPECT_GT(check.smallest_volume, 0);
    EXPECT_EQ(check.overused_faces, 0);
    EXPECT_EQ(check.open_edges, 0);
    EXPECT_EQ(check.orphans, 0);
    const auto [low, high] = dihedral_range(mesh);
    EXPECT_GT(low, kStuffingMinAngle);
    EXPECT_LT(high, kStuffingMaxAngle);
    return check;
}

TEST(BccLattice, TwelveTetsPerCellFillSpace) {
    const BccLattice lattice(Vector3d(1, 2, 3), 0.5, {4, 5, 6});
    double volume = 0;
    for (const auto& tet : lattice.tets()) {
        const int centre = lattice.node(2, 2, 2, 1);
        std::array<Vector3d, 4> x;
        for (std::size_t a = 0; a < 4; ++a) x[a] = lattice.position(centre + tet.offset[a]);
        const double six_volumes = (x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0]);
        EXPECT_NEAR(six_volumes / 6, 0.125 / 12, 1e-15);
        volume += six_volumes / 6;
        for (std::size_t a = 0; a < 4; ++a)
            for (std::size_t b = 0; b < 4; ++b)
                if (a != b) {
                    EXPECT_EQ(lattice.neighbour(centre + tet.offset[a], tet.direction[a][b]),
                              centre + tet.offset[b]);
                }
    }
    EXPECT_NEAR(volume, 0.125, 1e-15);
}

TEST(BccLattice, OppositeDirectionsLeadBack) {
    const BccLattice lattice(Vector3d::Zero(), 1.0, {4, 5, 6});
    for (int s = 0; s < 2; ++s)
        for (int d = 0; d < BccLattice::kNumDirections; ++d) {
            const int node = lattice.node(2, 3, 2, s), other = lattice.neighbour(node, d);
            EXPECT_EQ(lattice.neighbour(other, BccLattice::opposite(d)), node);
            EXPECT_NEAR((lattice.position(other) - lattice.position(node)).norm(),
                        BccLattice::is_long(d) ? 1.0 : std::sqrt(0.75), 1e-15);
        }
}

/// The angles of one lattice tet after warping and cutting, as a function of where its surface
/// nodes moved (direction and distance) and where its edges are cut; all parameters in [0, 1].
class StencilAngles {
public:
    StencilAngles(const std::array<int, 4>& sign, int warp_directions)
        : lattice_(Vector3d::Zero(), 1.0, {6, 6, 6}), shape_(lattice_.tets()[0]) {
        tet_.sign = sign;
        for (int a = 0; a < 4; ++a) {
            const auto k = static_cast<std::size_t>(a);
            const int node = lattice_.node(3, 3, 3, 1) + shape_.offset[k];
            tet_.corner[k] = a;
            base_.push_back(lattice_.position(node));
            if (sign[k] == 0) {
                const int d = warp_directions % BccLattice::kNumDirections;
                warp_directions /= BccLattice::kNumDirections;
                moves_.push_back({a, (BccLattice::is_long(d) ? kWarpLong : kWarpShort) *
                                         (lattice_.position(lattice_.neighbour(node, d)) -
                                          lattice_.position(node))});
            }
        }
        for (std::size_t a = 0; a < 4; ++a)
            for (std::size_t b = 0; b < 4; ++b)
                if (sign[a] > 0 && sign[b] < 0) cuts_.push_back({a, b});
    }
    [[nodiscard]] std::size_t num_parameters() const { return moves_.size() + cuts_.size(); }

    /// Smallest and largest angle; −1 and 181 for tets without volume.
    [[nodiscard]] std::pair<double, double> evaluate(const std::vector<double>& parameters) {
        VolumeMesh mesh;
        mesh.vertices = base_;
        auto next = parameters.begin();
        for (const auto& [a, move] : moves_)
            mesh.vertices[static_cast<std::size_t>(a)] += *next++ * move;
        for (const auto& [a, b] : cuts_) {
            const double margin =
                BccLattice::is_long(shape_.direction[a][b]) ? kWarpLong : kWarpShort;
            tet_.cut[a][b] = mesh.num_vertices();
            mesh.vertices.push_back(base_[a] +
                                    (margin + *next++ * (1 - 2 * margin)) * (base_[b] - base_[a]));
        }
        append_stencil(tet_, mesh.vertices, mesh.elements);
        for (int e = 0; e < mesh.num_elements(); ++e)
            if (!(element_volume(mesh, e) > 1e-6)) return {-1, 181};
        return dihedral_range(mesh);
    }

private:
    struct Move {
        int corner;
        Vector3d by;
    };
    BccLattice lattice_;
    BccLattice::Tet shape_;
    CutTet tet_{};
    std::vector<Vector3d> base_;
    std::vector<Move> moves_;
    std::vector<std::array<std::size_t, 2>> cuts_;
};

TEST(TetMesh, VerticesThatNoTriangleUsesDoNotCoarsenTheLattice) {
    SurfaceMesh surface = test::make_cube();
    const VolumeMesh mesh = build_tet_mesh(SurfaceQuery(surface), {.resolution = 8});
    surface.vertices.push_back({1000, 0, 0});
    EXPECT_TRUE(is_same_mesh(build_tet_mesh(SurfaceQuery(surface), {.resolution = 8}), mesh));
}

/// Descends from random starts to the worst angles of every stencil. This is how the two constants
/// were found; 15 to 500 times as many starts found nothing worse.
TEST(Stuffing, WorstAnglesOfAllStencilsAreTheStatedBounds) {
    test::Random random(7);
    double smallest = 180, largest = 0;
    for (int pattern = 0; pattern < 81; ++pattern) {
        const std::array<int, 4> sign{pattern % 3 - 1, pattern / 3 % 3 - 1, pattern / 9 % 3 - 1,
                                      pattern / 27 - 1};
        const auto on_surface = std::count(sign.begin(), sign.end(), 0);
        if (std::count(sign.begin(), sign.end(), 1) == 0) continue;
        // corner 0 stands for all four of a kind, which keeps the many warps of three nodes cheap
        if (on_surface == 3 && sign[0] == 0) continue;
        const int warps = static_cast<int>(std::pow(14, on_surface) + 0.5);
        for (int warp = 0; warp < warps; ++warp) {
            StencilAngles stencil(sign, warp);
            const int starts = on_surface == 0 ? 20 : on_surface == 1 ? 3 : 1;
            for (int start = 0; start < 2 * starts; ++start) {
                const bool wants_large = start % 2 == 1;
                std::vector<double> best(stencil.num_parameters());
                for (double& p : best) p = random.uniform(0, 1);
                auto angles = stencil.evaluate(best);
                for (double step = 0.5; step > 2e-3 && !best.empty();) {
                    bool improved = false;
                    for (std::size_t n = 0; n < 2 * best.size(); ++n) {
                        std::vector<double> trial = best;
                        double& p = trial[n / 2];
                        p = std::clamp(p + (n % 2 == 0 ? step : -step), 0.0, 1.0);
                        const auto found = stencil.evaluate(trial);
                        if (wants_large ? found.second <= angles.second
                                        : found.first >= angles.first)
                            continue;
                        angles = found;
                        best = trial;
                        improved = true;
                    }
                    if (!improved) step *= 0.5;
                }
                smallest = std::min(smallest, angles.first);
                largest = std::max(largest, angles.second);
            }
        }
    }
    EXPECT_GE(smallest, kStuffingMinAngle);
    EXPECT_LE(largest, kStuffingMaxAngle);
    // and they are not stated too wide
    EXPECT_LT(smallest, kStuffingMinAngle + 0.1);
    EXPECT_GT(largest, kStuffingMaxAngle - 0.1);
}

TEST(TetMesh, SpheresAnywhereOnTheLatticeAreSound) {
    for (const int resolution : {4, 9, 16, 24})
        for (const double shift : {0.0, 0.013, 0.21, 0.5}) {
            // the box decides where the lattice lies: enlarge it on one side only
            const Implicit exact = implicit::sphere(Vector3d::Zero(), 1.0);
            Box box = exact.box();
            box.extend(Vector3d(box.max().array() + shift / resolution));
            const Implicit body([&](const Vector3d& x) { return exact(x); }, box);
            const VolumeMesh mesh = build_tet_mesh(body, {resolution});
            const TetCheck check = expect_sound(mesh);
            EXPECT_EQ(check.pinched_edges, 0);
            // cut points are found to 1e-4 of an edge
            const double edge = box.sizes().maxCoeff() / resolution;
            for (const int v : check.boundary_vertices)
                EXPECT_NEAR(exact(mesh.vertices[static_cast<std::size_t>(v)]), 0, 2e-4 * edge);
        }
}

TEST(TetMesh, VolumeConvergesAtSecondOrder) {
    const double exact = 4.0 / 3.0 * std::numbers::pi;
    const Implicit body = implicit::sphere(Vector3d(0.1, 0.2, 0.3), 1.0);
    const double coarse = 1 - total_volume(build_tet_mesh(body, {12})) / exact;
    const double fine = 1 - total_volume(build_tet_mesh(body, {24})) / exact;
    EXPECT_GT(coarse, 0);
    EXPECT_NEAR(coarse / fine, 4.0, 0.6);
    EXPECT_LT(fine, 0.002);
}

TEST(TetMesh, BodiesWithThinPartsHolesAndEdgesAreSound) {
    const double pi = std::numbers::pi;
    const VolumeMesh ring =
        build_tet_mesh(implicit::torus(Vector3d(0.1, 0, 0), Vector3d(1, 2, 3), 1.0, 0.3), {32});
    EXPECT_EQ(expect_sound(ring).pinched_edges, 0);
    EXPECT_NEAR(total_volume(ring) / (2 * pi * pi * 0.09), 1, 0.01);

    const VolumeMesh plate =
        build_tet_mesh(implicit::box(Vector3d::Zero(), Vector3d(1, 0.61, 0.047)), {40});
    expect_sound(plate);
    EXPECT_NEAR(total_volume(plate) / (0.61 * 0.047), 1, 0.02);

    const auto gyroid = [](const Vector3d& x) {
        const Vector3d s = x.array().sin(), c = x.array().cos();
        return std::max(s[0] * c[1] + s[1] * c[2] + s[2] * c[0], x.cwiseAbs().maxCoeff() - 5.0);
    };
    expect_sound(build_tet_mesh(
        Implicit(gyroid, Box(Vector3d::Constant(-5), Vector3d::Constant(5)), 2.0), {30}));
}

TEST(TetMesh, BoxOnTheLatticeIsExact) {
    const VolumeMesh mesh =
        build_tet_mesh(implicit::box(Vector3d::Zero(), Vector3d(1, 0.5, 0.25)), {16});
    expect_sound(mesh);
    EXPECT_NEAR(total_volume(mesh), 0.125, 1e-6);
}

TEST(TetMesh, NoiseExercisesEveryStencilWithinTheBounds) {
    for (const double spacing : {0.03, 0.07, 0.15}) {
        const Implicit body(
            [&](const Vector3d& x) {
                return std::max(noise(x, spacing), x.cwiseAbs().maxCoeff() - 1.0);
            },
            Box(Vector3d::Constant(-1), Vector3d::Constant(1)), 1e9);
        expect_sound(build_tet_mesh(body, {24}));
    }
}

TEST(TetMesh, SkippingRegionsChangesNothing) {
    const Implicit ring = implicit::torus(Vector3d::Zero(), Vector3d::UnitZ(), 1.0, 0.35);
    EXPECT_TRUE(
        is_same_mesh(build_tet_mesh(ring, {40}), build_tet_mesh(without_skipping(ring), {40})));
    // balls of little more than a cell, easily missed
    test::Random random(2);
    std::vector<Implicit> balls;
    for (int n = 0; n < 60; ++n) balls.push_back(implicit::sphere(random.in_cube(1.0), 0.06));
    const Implicit cloud = implicit::unite(balls);
    EXPECT_TRUE(
        is_same_mesh(build_tet_mesh(cloud, {50}), build_tet_mesh(without_skipping(cloud), {50})));
}

TEST(TetMesh, SteepFunctionsAreMeshedLikeTheirDistance) {
    // values far beyond the largest float
    const Implicit ball = implicit::sphere(Vector3d::Zero(), 1.0);
    const Implicit steep([&](const Vector3d& x) { return 1e45 * ball(x); }, ball.box(), 1e45);
    EXPECT_NEAR(total_volume(build_tet_mesh(steep, {20})), total_volume(build_tet_mesh(ball, {20})),
                1e-3);
}

TEST(TetMesh, SurfaceMeshIsFilledToItsVolume) {
    const SurfaceMesh surface = test::make_torus(1.0, 0.4, 160, 64);
    const SurfaceQuery query(surface);
    const VolumeMesh mesh = build_tet_mesh(query, {48});
    const TetCheck check = expect_sound(mesh);
    EXPECT_EQ(check.pinched_edges, 0);
    EXPECT_NEAR(total_volume(mesh) / enclosed_volume(surface), 1, 0.003);
    const double edge = 2.8 / 48;
    for (const int v : check.boundary_vertices)
        EXPECT_LT(query.closest(mesh.vertices[static_cast<std::size_t>(v)]).distance, 2e-4 * edge);
}

TEST(TetMesh, HoleIsClosedWhereTheWindingNumberIsHalf) {
    SurfaceMesh surface = test::make_sphere(1.0, 24);
    std::erase_if(surface.triangles, [&](const Triangle& t) {
        return surface.vertices[static_cast<std::size_t>(t[0])].z() > 0.5;
    });
    const SurfaceQuery query(surface);
    ASSERT_EQ(query.sign_method(), SignMethod::WindingNumber);
    const VolumeMesh mesh = build_tet_mesh(query, {20});
    const TetCheck check = expect_sound(mesh);
    for (const int v : check.boundary_vertices) {
        const Vector3d& x = mesh.vertices[static_cast<std::size_t>(v)];
        // on a triangle, or at a winding number of 1/2 where an edge's 1e-4 does not show
        if (query.closest(x).distance > 1e-3) {
            EXPECT_NEAR(query.winding_number(x), 0.5, 1e-3);
        }
    }
    // following the sign through the hole finds what looking everywhere finds
    const Implicit everywhere([&](const Vector3d& x) { return query.signed_distance(x); },
                              box_of_triangles(surface), 1e9);
    const VolumeMesh reference = build_tet_mesh(everywhere, {20});
    EXPECT_EQ(mesh.elements, reference.elements);
    ASSERT_EQ(mesh.num_vertices(), reference.num_vertices());
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
        // cut points by ray are exact, those of the reference right to 1e-4 of an edge of 0.1
        EXPECT_LT((mesh.vertices[v] - reference.vertices[v]).norm(), 2e-5);
}

TEST(TetMesh, SheetsInsideOverlappingPartsLeaveNoTrace) {
    SurfaceMesh parts = test::make_sphere(1.0, 32);
    SurfaceMesh other = parts;
    for (Vector3d& x : other.vertices) x.x() += 0.3;
    append(parts, other);
    const SurfaceQuery query(parts, SignMethod::WindingNumber);
    const VolumeMesh mesh = build_tet_mesh(query, {30});
    expect_sound(mesh);
    // two balls minus the lens they share: V = 2 · 4π/3 − π (4 r + d)(2 r − d)² / 12
    const double exact = 8.0 / 3.0 * std::numbers::pi - std::numbers::pi * 4.3 * 1.7 * 1.7 / 12;
    EXPECT_NEAR(total_volume(mesh) / exact, 1, 0.01);
    for (const int v : check_tets(mesh).boundary_vertices) {
        const Vector3d& x = mesh.vertices[static_cast<std::size_t>(v)];
        const double outer = std::min(x.norm(), (x - Vector3d(0.3, 0, 0)).norm()) - 1;
        EXPECT_NEAR(outer, 0, 0.01);  // the facets' sagitta is 1 − cos(π/32)
    }
}

TEST(TetMesh, ResultDoesNotDependOnTheNumberOfThreads) {
    const SurfaceQuery query(test::make_torus(1.0, 0.4, 40, 20));
    set_num_threads(1);
    const VolumeMesh one = build_tet_mesh(query, {30});
    set_num_threads(3);
    const VolumeMesh three = build_tet_mesh(query, {30});
    set_num_threads(0);
    EXPECT_TRUE(is_same_mesh(one, three));
}

TEST(TetMesh, ResolutionOutOfRangeIsRefused) {
    const Implicit body = implicit::sphere(Vector3d::Zero(), 1.0);
    EXPECT_EQ(input_error([&] { (void)build_tet_mesh(body, {3}); }),
              "resolution = 3 (expected 4 to 512)");
    EXPECT_EQ(input_error([&] { (void)build_tet_mesh(body, {513}); }),
              "resolution = 513 (expected 4 to 512)");
}

TEST(TetMesh, BodyThinnerThanACellNamesTheResolutionItNeeds) {
    // off the middle of its box, where no layer of nodes can hit it by luck
    const Implicit plate([](const Vector3d& x) { return std::abs(x.z() - 0.016) - 0.003; },
                         Box(Vector3d(0, 0, 0), Vector3d(1, 1, 0.02)));
    const Implicit bounded =
        implicit::intersect(plate, implicit::box(Vector3d(0, 0, 0), Vector3d(1, 1, 0.1)));
    const std::string message = input_error([&] { (void)build_tet_mesh(bounded, {12}); });
    EXPECT_NE(message.find("resolution = 12 (expected at least about "), std::string::npos)
        << message;
    EXPECT_NE(message.find("thinner than a lattice cell everywhere"), std::string::npos);
    const int needed = std::stoi(message.substr(message.find("about ") + 6));
    EXPECT_GT(build_tet_mesh(bounded, {needed}).num_elements(), 0);
}

TEST(TetMesh, EmptyBodyIsRefused) {
    const Implicit nothing([](const Vector3d& x) { return std::abs(x.z()) + 1e-9; },
                           Box(Vector3d(0, 0, -0.01), Vector3d(1, 1, 0.01)));
    EXPECT_NE(input_error([&] {
                  (void)build_tet_mesh(nothing, {100});
              }).find("empty or too thin for lattice tetrahedra at any resolution up to 512"),
              std::string::npos);
}

TEST(TetMesh, SurfacesThatNoLatticeFillsAreRefused) {
    const auto error = [](const SurfaceMesh& surface) {
        return input_error([&] { (void)build_tet_mesh(SurfaceQuery(surface), {16}); });
    };
    EXPECT_EQ(error({}), "the surface has no triangles, so there is nothing to fill with cells");
    SurfaceMesh cube = test::make_cube();
    for (Vector3d& x : cube.vertices) x *= 1e-300;
    EXPECT_EQ(error(cube),
              "the surface has no size, all its vertices lie at one point; check its units");
    SurfaceMesh sphere = test::make_sphere(1.0, 12);
    for (Triangle& t : sphere.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(error(sphere),
              "points beyond the bounding box count as inside: the surface is inside out; repair "
              "it so that its triangles face outwards");
    EXPECT_EQ(error(test::make_stack_of_sheets()),
              "points beyond the bounding box count as inside: the body does not end there, as "
              "open surfaces may not; use voxels");
}

TEST(TetMesh, CancellingStopsTheWork) {
    Progress progress;
    progress.cancel();
    EXPECT_THROW(
        (void)build_tet_mesh(implicit::sphere(Vector3d::Zero(), 1.0), TetOptions{}, progress),
        Cancelled);
}

}  // namespace
}  // namespace pliant
