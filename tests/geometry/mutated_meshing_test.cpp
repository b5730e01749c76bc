#include "geometry/mutated_surfaces.h"
#include "input_error.h"
#include "pliant/geometry/tet_mesh.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pliant {
namespace {

using test::kMesherNames;

/// A message that says what to do, or what would be right.
bool has_remedy(const std::string& message) {
    for (const char* words : {"; ", "expected ", "use ", "repair "})
        if (message.find(words) != std::string::npos) return true;
    return false;
}

TEST(MutatedMeshing, CubeWithEverySecondTriangleFlippedNeverEndsBadly) {
    SurfaceMesh surface = test::make_cube();
    for (std::size_t t = 0; t < surface.triangles.size(); t += 2)
        std::swap(surface.triangles[t][1], surface.triangles[t][2]);
    for (int mesher = 0; mesher < test::kNumMeshers; ++mesher)
        for (const int resolution : {4, 6, 9, 16, 31, 64}) {
            std::string fault;
            const std::string refusal = test::input_error(
                [&] { fault = test::mesh_and_check(surface, mesher, resolution, 2, false); });
            EXPECT_EQ(fault, "") << kMesherNames[mesher] << " at " << resolution;
            EXPECT_TRUE(refusal.empty() || has_remedy(refusal)) << refusal;
        }
}

/// Inside a cell beyond its box, so that a node that moves has neighbours off the lattice.
TEST(MutatedMeshing, InsideThatReachesTheEdgeOfTheLatticeIsRefused) {
    const Box box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Ones());
    const Implicit larger(
        [](const Eigen::Vector3d& x) {
            return (x - Eigen::Vector3d::Constant(0.5)).cwiseAbs().maxCoeff() - 0.5 - 1.4 / 8;
        },
        box);
    EXPECT_EQ(test::input_error([&] { (void)build_tet_mesh(larger, {8}); }),
              "points beyond the bounding box count as inside: the body does not end there, as "
              "open surfaces may not; use voxels");
}

/// The same surfaces on every machine. Longest and slowest are bounded, so that nothing hangs.
TEST(MutatedMeshing, EveryMesherGivesASoundMeshOrOneErrorWithARemedy) {
    constexpr int kSurfaces = 120;
    int num_meshed = 0;
    for (int seed = 0; seed < kSurfaces; ++seed) {
        test::Random random(static_cast<std::uint64_t>(seed));
        const SurfaceMesh surface = test::mutated_surface(random);
        const int resolution = 4 + random.below(8), levels = random.below(12);
        const bool is_repaired = random.below(2) == 0;
        for (int mesher = 0; mesher < test::kNumMeshers; ++mesher) {
            std::string fault;
            const auto start = std::chrono::steady_clock::now();
            const std::string refusal = test::input_error([&] {
                fault = test::mesh_and_check(surface, mesher, resolution, levels, is_repaired);
            });
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            const std::string what = "seed " + std::to_string(seed) + ", " + kMesherNames[mesher];
            EXPECT_EQ(fault, "") << what;
            EXPECT_LT(taken.count(), 20) << what;
            EXPECT_TRUE(refusal.empty() || has_remedy(refusal)) << what << ": " << refusal;
            num_meshed += refusal.empty() ? 1 : 0;
        }
    }
    EXPECT_GT(num_meshed, kSurfaces) << "not all are refused";
}

}  // namespace
}  // namespace pliant
