#include "pliant/particles/place_spheres.h"

#include "core/numbers.h"
#include "geometry/simple_surfaces.h"
#include "input_error.h"
#include "pliant/geometry/shapes.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

TEST(PlaceSpheres, FillABlockUpToItsSkin) {
    const SurfaceMesh block = test::box_surface(Vector3d(0, 0, 0), Vector3d(0.4, 0.1, 0.1));
    const ParticleLayout four = place_spheres(block, {.count = 4});
    const SphereCoverage coverage = sphere_coverage(four, block);
    EXPECT_LT(coverage.largest_overhang, 1e-9) << "all are inside";
    // in a corner √3/2 of the side are left over at least
    EXPECT_GT(coverage.largest_gap, 0.5 * (std::sqrt(3.0) - 1) * 0.1 - 1e-3);
    EXPECT_LT(coverage.largest_gap, 0.06);
    EXPECT_LT(coverage.mean_gap, 0.02);
    double mass = 0;
    for (const Particle& p : four.particles) mass += p.mass;
    EXPECT_NEAR(mass, 1, 1e-12);
    check_layout(four);
    // a single one is the largest that fits
    const ParticleLayout one = place_spheres(block, {.count = 1});
    EXPECT_NEAR(one.particles[0].radii[0], 0.05, 1e-3);
}

TEST(PlaceSpheres, MoreOfThemLeaveLess) {
    const SurfaceMesh hand = make_shape("hand", 30);
    double last = kInfinity;
    for (const int count : {10, 37}) {
        const ParticleLayout layout = place_spheres(hand, {.count = count});
        ASSERT_EQ(layout.num_particles(), count);
        check_layout(layout);
        const SphereCoverage coverage = sphere_coverage(layout, hand);
        EXPECT_LT(coverage.mean_gap, last);
        EXPECT_LT(coverage.largest_overhang, 1e-9);
        last = coverage.mean_gap;
    }
    EXPECT_LT(last, 4e-3) << "of 0.2 m";
}

TEST(PlaceSpheres, AreAlwaysTheSame) {
    const SurfaceMesh hand = make_shape("hand", 30);
    const ParticleLayout a = place_spheres(hand, {.count = 12}),
                         b = place_spheres(hand, {.count = 12});
    for (int i = 0; i < 12; ++i)
        EXPECT_EQ(a.particles[at(i)].position, b.particles[at(i)].position);
    EXPECT_EQ(a.links, b.links);
}

TEST(PlaceSpheres, SayWhatIsWrong) {
    const SurfaceMesh block = test::box_surface(Vector3d(0, 0, 0), Vector3d(0.4, 0.1, 0.1));
    const auto message = [](const SurfaceMesh& mesh, const SpherePlacementOptions& options) {
        return test::input_error([&] { (void)place_spheres(mesh, options); });
    };
    EXPECT_EQ(message(block, {.count = 0}), "count = 0 (expected 1 to 500)");
    EXPECT_EQ(message(block, {.least_radius = -1}), "least_radius = -1 (expected at least 0 m)");
    EXPECT_NE(message(block, {.least_radius = 0.2}).find("the surface has room for 0 of 37"),
              std::string::npos);
    SurfaceMesh inside_out = block;
    for (Triangle& t : inside_out.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(message(inside_out, {}),
              "the surface encloses no volume to place spheres in; it must be closed and face "
              "outwards");
}

TEST(SphereCoverage, NamesTheFarthestPlaceAndWhatSticksOut) {
    const SurfaceMesh block = test::box_surface(Vector3d(0, 0, 0), Vector3d(1, 0.2, 0.2));
    ParticleLayout layout;
    Particle p;
    p.position = Vector3d(0.1, 0.1, 0.1);
    p.radii.setConstant(0.12);
    p.mass = 1;
    layout.particles.push_back(p);
    const SphereCoverage coverage = sphere_coverage(layout, block);
    EXPECT_NEAR(coverage.largest_overhang, 0.02, 1e-9);
    EXPECT_NEAR(coverage.largest_gap, Vector3d(0.9, 0.1, 0.1).norm() - 0.12, 1e-9) << "a corner";
    EXPECT_EQ(coverage.gap_place.x(), 1);
}

}  // namespace
}  // namespace pliant
