#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/particles/particle_layout.h"

#include <gmock/gmock.h>

namespace pliant {
namespace {

using Eigen::Vector3d;

TEST(PlaceParticles, FillsABodyWithItsMassAndMiddle) {
    const SurfaceMesh fish = make_shape("fish", 40);
    PlacementOptions options;
    options.count = 80;
    const ParticleLayout layout = place_particles(fish, options);
    EXPECT_EQ(layout.num_particles(), 80);
    EXPECT_NO_THROW(check_layout(layout));
    EXPECT_NO_THROW(check_layout_inside(layout, fish));
    double mass = 0;
    for (const Particle& p : layout.particles) mass += p.mass;
    EXPECT_NEAR(mass, 1000 * enclosed_volume(fish), 1e-6 * mass);
    // every vertex is near a particle: a few of their spacings at most
    const double spacing = std::cbrt(enclosed_volume(fish) / 80);
    for (const Vector3d& x : fish.vertices) {
        double nearest = kInfinity;
        for (const Particle& p : layout.particles)
            nearest = std::min(nearest, (p.position - x).norm());
        EXPECT_LT(nearest, 2 * spacing);
    }
    std::vector<int> links(80, 0);
    for (const auto& [a, b] : layout.links) {
        ++links[at(a)];
        ++links[at(b)];
    }
    EXPECT_GE(*std::ranges::min_element(links), 3);
    EXPECT_GE(2 * static_cast<int>(layout.links.size()), 8 * 80);
}

TEST(PlaceParticles, EllipsoidsHaveTheSecondMomentsOfTheBody) {
    const SurfaceMesh body = make_shape("fish", 40);
    const ParticleLayout layout = place_particles(body, {.count = 60});
    // ∫ ρ x xᵀ about the middle, from all tetrahedra with the origin
    double mass = 0;
    Vector3d middle = Vector3d::Zero();
    Eigen::Matrix3d moment = Eigen::Matrix3d::Zero(), expected = moment;
    for (const Triangle& t : body.triangles) {
        const Vector3d &a = body.vertices[at(t[0])], &b = body.vertices[at(t[1])],
                       &c = body.vertices[at(t[2])];
        const double v = 1000 * a.dot(b.cross(c)) / 6;
        const Vector3d s = a + b + c;
        expected += v / 20 *
                    (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
        middle += v * s / 4;
        mass += v;
    }
    middle /= mass;
    expected -= mass * middle * middle.transpose();
    Vector3d found_middle = Vector3d::Zero();
    for (const Particle& p : layout.particles) found_middle += p.mass * p.position / mass;
    for (const Particle& p : layout.particles) {
        const Eigen::Matrix3d Q = p.rotation.toRotationMatrix();
        const Vector3d arm = p.position - found_middle;
        moment += p.mass * (arm * arm.transpose() +
                            Q * p.radii.cwiseAbs2().asDiagonal() * Q.transpose() / 5);
    }
    EXPECT_LT((found_middle - middle).norm(), 0.02 * 0.3);
    EXPECT_LT((moment - expected).norm(), 0.1 * expected.norm());
}

TEST(PlaceParticles, SpheresStayInside) {
    const SurfaceMesh body = make_shape("fish", 40);
    PlacementOptions options{.count = 40};
    options.has_spheres = true;
    for (const Particle& p : place_particles(body, options).particles) {
        EXPECT_EQ(p.radii[0], p.radii[2]);
        EXPECT_GT(p.radii[0], 0);
    }
    options.radius = 0.004;
    EXPECT_EQ(place_particles(body, options).particles[5].radii[1], 0.004);
}

TEST(PlaceParticles, SurfacesWithoutVolumeAreRefusedWithARemedy) {
    SurfaceMesh sheet;
    sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    sheet.triangles = {{0, 1, 2}};
    try {
        static_cast<void>(place_particles(sheet));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("encloses no volume"));
        EXPECT_THAT(error.what(), testing::HasSubstr("A sheet needs two faces"));
    }
    EXPECT_THROW(static_cast<void>(place_particles(make_shape("fish", 30), {.count = 1})),
                 InputError);
}

TEST(PlaceParticles, SheetsHaveOneParticleForEachVertexAndEightLinks) {
    SurfaceMesh sheet;
    const int n = 9;
    for (int face = 0; face < 2; ++face)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) sheet.vertices.emplace_back(0.1 * i, 0.1 * j, 0);
    const ParticleLayout layout = particles_of_vertices(sheet, 0.2, 0.02, 0.8);
    EXPECT_EQ(layout.num_particles(), n * n);
    EXPECT_TRUE(layout.is_cloth);
    // rows, columns and both diagonals
    EXPECT_EQ(static_cast<int>(layout.links.size()), 2 * n * (n - 1) + 2 * (n - 1) * (n - 1));
    EXPECT_NEAR(layout.particles[7].mass, 0.2 / (n * n), 1e-12);
}

}  // namespace
}  // namespace pliant
