// Reduced bodies in scenes that come to mind first.
#include <gtest/gtest.h>

#include "everyday/everyday_scene.h"

namespace pliant {
namespace {

using test::box_file, test::EverydayScene, test::SeenBody;

/// A cube of 10 cm dropped on the ground.
EverydayScene dropped_cube(double rate, double modulus, const std::string& damping,
                           double height = 0.55) {
    return EverydayScene(R"({"pliant": 1, "rate": )" + std::to_string(rate) + R"(, "bodies": [
        {"name": "floor", "rigid": {"ground": {}}},
        {"name": "b", "reduced": {"surface": ")" +
                         box_file({0.1, 0.1, 0.1}) +
                         R"(", "size": 0.1, "free": true,
           "material": {"youngs_modulus": )" +
                         std::to_string(modulus) +
                         R"(, "poisson_ratio": 0.3, "density": 1000},
           "mesh": {"kind": "voxel", "resolution": 6}, "modes": 10, "rank": 20, "damping": )" +
                         damping + R"(},
         "contact": {"pointshell": {"points": 600, "levels": 2, "resolution": 32},
                     "field": {"resolution": 32}},
         "pose": {"position": [0, 0, )" +
                         std::to_string(height) + R"(]}}],
        "contacts": [{"among": ["b", "floor"], "friction": 0.3}]})");
}

TEST(EverydayReduced, AnUndampedCubeStaysInBoundsAtAnyRate) {
    for (const double rate : {30.0, 60.0, 170.0, 250.0, 333.0, 500.0, 1000.0}) {
        EverydayScene scene = dropped_cube(rate, 1e6, R"({"mass": 0, "stiffness": 0})");
        double highest = 0, volume = 1;
        scene.run(2, [&] {
            const SeenBody cube = scene.see("b");
            highest = std::max(highest, cube.highest());
            volume = std::min(volume, cube.shape.volume);
        });
        EXPECT_LT(highest, 0.66) << rate << " Hz: higher than it was dropped from";
        EXPECT_GT(volume, 0.5) << rate << " Hz";
        EXPECT_GT(scene.see("b").lowest(), -0.05) << rate << " Hz: through the floor";
    }
}

TEST(EverydayReduced, ACubeTooSoftForItsWeightIsSaidToBeWhenTheSceneIsLoaded) {
    // 10 cm of 1 kPa: the weight is as much as the modulus
    EverydayScene soft = dropped_cube(1000, 1e3, R"({"mass": 0, "stiffness": 0.002})", 0.06);
    std::string said;
    for (const std::string& warning : soft.world().warnings()) said += warning + "\n";
    EXPECT_NE(said.find("its own weight"), std::string::npos) << said;
    EXPECT_NE(said.find("take a stiffer material"), std::string::npos) << said;
    EverydayScene firm = dropped_cube(1000, 1e5, R"({"mass": 0, "stiffness": 0.002})", 0.06);
    for (const std::string& warning : firm.world().warnings())
        EXPECT_EQ(warning.find("its own weight"), std::string::npos) << warning;
}

}  // namespace
}  // namespace pliant
