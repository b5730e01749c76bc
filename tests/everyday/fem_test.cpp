// Bodies of full finite elements as anybody would drop, throw and press them, with defaults: they
// neither explode nor collapse, and come to rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everyday/everyday_scene.h"
#include "pliant/fem/fem_body.h"
#include "pliant/scene/body_watch.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::kFloor;
using test::EverydayScene;
using test::SeenBody;


/// One body above the ground.
std::string above_ground(const std::string& fem, double height, const std::string& more = "") {
    return R"({"pliant": 1, "bodies": [)" + kFloor + R"(, {"name": "b", "fem": {)" + fem +
           R"(}, "pose": {"position": [0, 0, )" + std::to_string(height) + "]}" + more + "}]}";
}
const FemBody& fem_body(EverydayScene& scene) {
    return dynamic_cast<const FemBody&>(scene.body("b"));
}
std::uint64_t count(EverydayScene& scene, StepStatus status) {
    return scene.body("b").report().counts[static_cast<std::size_t>(status)];
}

struct Drop {
    const char* fem;
    double height;    ///< of the origin of the shape [m]
    double duration;  ///< [s]
    double least_volume;
};

class Dropped : public testing::TestWithParam<Drop> {};

TEST_P(Dropped, StaysInOnePieceAndComesToRest) {
    const Drop& drop = GetParam();
    EverydayScene scene(above_ground(drop.fem, drop.height));
    const double top = scene.see("b").highest();
    double highest = top;
    int tick = 0;
    scene.run(drop.duration, [&] {
        if (++tick % 50 != 0) return;
        const SeenBody now = scene.see("b");
        ASSERT_TRUE(now.box.min().allFinite() && now.box.max().allFinite());
        highest = std::max(highest, now.highest());
    });
    const SeenBody end = scene.see("b");
    EXPECT_LT(highest, 1.1 * top) << "nothing jumps above where it was dropped";
    EXPECT_GT(end.shape.volume, drop.least_volume);
    EXPECT_LT(end.shape.volume, 1.02);
    EXPECT_LT(end.speed, 0.3);
    EXPECT_GT(fem_body(scene).inversions().worst.value, 0) << "no element is ever inside out";
    EXPECT_EQ(count(scene, StepStatus::StateReset), 0u);
    EXPECT_EQ(count(scene, StepStatus::StepRejected), 0u);
}

// volumes: of soft materials gravity itself takes some per cent, and a drawn surface reaches beyond
// its tetrahedra where it touches
INSTANTIATE_TEST_SUITE_P(
    Everyday, Dropped,
    testing::Values(
        Drop{R"("shape": "kidney", "size": 0.1, "material": "tissue")", 0.15, 1.5, 0.98},
        Drop{R"("shape": "heart", "size": 0.1, "material": "tissue")", 0.15, 1.5, 0.97},
        Drop{R"("box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]}, "material": "tissue")", 0.1,
             1.5, 0.98},
        Drop{R"("shape": "heart", "size": 0.12, "mesh": {"kind": "tet", "resolution": 12},
                "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.4, "density": 1000})",
             0.08, 2, 0.92},
        Drop{R"("box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]}, "material": "brain")", 1.05,
             2.5, 0.9},
        Drop{R"("box": {"sizes": [0.2, 0.1, 0.1], "cells": [8, 4, 4]}, "material": "liver")", 0.55,
             2, 0.9},
        Drop{R"("shape": "kidney", "size": 0.1, "material": "gelatin",
                "mesh": {"kind": "graded", "resolution": 16})",
             0.5, 1.5, 0.95},
        Drop{R"("shape": "figure", "size": 0.1, "material": "muscle")", 0.2, 2.5, 0.9},
        Drop{R"("box": {"sizes": [0.1, 0.1, 0.1], "cells": [4, 4, 4]}, "material": "rubber")", 0.3,
             1.5, 0.98},
        Drop{R"("box": {"sizes": [0.1, 0.1, 0.1], "cells": [4, 4, 4]}, "material": "foam")", 0.3,
             1.5, 0.95}));

TEST(EverydayFem, AThrownBoxFliesAsAStoneDoesAndKeepsItsSpin) {
    EverydayScene scene(above_ground(
        R"("box": {"sizes": [0.1, 0.06, 0.06], "cells": [5, 3, 3]}, "material": "rubber")", 1.5,
        R"(, "velocity": {"linear": [2, 0, 1], "angular": [0, 0, 6]})"));
    const Vector3d start = scene.see("b").box.center();
    scene.run(0.4);
    const SeenBody now = scene.see("b");
    // the first tick begins at rest positions; gravity acts from then on
    const Vector3d expected = start + Vector3d(0.8, 0, 0.4 - 0.5 * 9.81 * 0.16);
    EXPECT_LT((now.box.center() - expected).norm(), 0.005) << now.box.center().transpose();
    EXPECT_NEAR(now.shape.volume, 1, 0.005);
    // the fastest corner: the centre's speed and that of the spin
    const double centre = std::hypot(2.0, 1 - 9.81 * 0.4);
    EXPECT_GT(now.speed, centre);
    EXPECT_NEAR(fem_body(scene).energy().kinetic,
                0.5 * 0.36e-3 * 1100 * (centre * centre + 36 * (0.01 + 0.0036) / 12), 0.01 * 2.5);
    EXPECT_EQ(scene.num_troubled_steps("b"), 0u);
}

TEST(EverydayFem, AHeldBodyHasNoVelocity) {
    EXPECT_THROW(EverydayScene(above_ground(R"("shape": "spoon", "size": 0.2, "fixed": "x < 5 %")",
                                            0.5, R"(, "velocity": {"linear": [1, 0, 0]})")),
                 InputError);
}

TEST(EverydayFem, ALawPastItsLimitIsSaidInOneSentence) {
    EverydayScene scene(above_ground(
        R"("box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]},
           "material": {"preset": "tissue", "law": "st-venant-kirchhoff"})",
        0.1));
    BodyWatch watch(scene.world());
    scene.run(1);
    watch.look_at_all();
    EXPECT_THAT(watch.texts(), testing::Contains(testing::HasSubstr("softens below 57 %")));
    EXPECT_GT(scene.see("b").shape.volume, 0.9);
}

TEST(EverydayFem, AHardImpactReplaysBitForBitFromASavedState) {
    EverydayScene scene(above_ground(
        R"("box": {"sizes": [0.1, 0.1, 0.1], "cells": [5, 5, 5]}, "material": "brain")", 0.6));
    // in the middle of the impact
    scene.run(0.38);
    Body& body = scene.body("b");
    ASSERT_GT(fem_body(scene).care().stiffening, 1.3) << "the case must stretch elements";
    std::vector<double> saved(static_cast<std::size_t>(body.state_size()));
    body.save_state(saved);
    const auto after = [&] {
        for (int k = 0; k < 50; ++k) (void)body.step(1e-3);
        std::vector<double> state(saved.size());
        body.save_state(state);
        return state;
    };
    const std::vector<double> first = after();
    ASSERT_TRUE(body.restore_state(saved));
    EXPECT_EQ(after(), first);
}

}  // namespace
}  // namespace pliant
