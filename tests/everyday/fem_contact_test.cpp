// Soft bodies of full finite elements and rigid things that lie on them, fall on them, press them.
#include <gtest/gtest.h>

#include "everyday/everyday_scene.h"
#include "pliant/fem/fem_body.h"

namespace pliant {
namespace {

using test::EverydayScene, test::SeenBody;

/// The deepest point of a rigid body's drawn vertices and of points all over a soft one's facets
/// inside the other [m].
double depth_in_solid(Body& soft, const RigidBody& rigid) {
    double depth = 0;
    for (int t = 0; t < soft.surface().num_triangles(); ++t)
        for (int i = 0; i <= 8; ++i)
            for (int j = 0; j <= 8 - i; ++j) {
                const auto point =
                    SurfacePoint::on_triangle(t, Eigen::Vector3d(i, j, 8 - i - j) / 8);
                const Eigen::Vector3d x = rigid.motion().pose.to_body(soft.position(point));
                depth = std::max(depth, -rigid.shape().sample(x).gap);
            }
    return depth;
}

/// The scene that threw a box of 60 g 5.9 m high, for boxes from 1.5 to 600 g.
TEST(EverydayFemContact, ABoxDroppedOnASoftPadStaysThere) {
    for (const char* density : {"5", "200", "2000"})
        for (const char* rate : {"250", "1000"}) {
            EverydayScene scene(R"({"pliant": 1, "loops": [{"name": "dynamics", "rate": )" +
                                std::string(rate) + R"(}], "bodies": [
        {"name": "box", "rigid": {"box": {"sizes": [0.1, 0.1, 0.03]}, "density": )" +
                                density + R"(},
         "loop": "dynamics", "pose": {"position": [0, 0, 0.16]}},
        {"name": "pad", "fem": {"box": {"sizes": [0.2, 0.2, 0.1], "cells": [6, 6, 3]},
         "material": {"youngs_modulus": 20000, "poisson_ratio": 0.3, "density": 1000},
         "fixed": "z < 1 %", "damping": {"mass": 8}}, "loop": "dynamics"}]})");
            double highest = 0;
            scene.run(3, [&] {
                highest = std::max(highest,
                                   scene.body("box").position(SurfacePoint::at_vertex(0)).z());
            });
            const SeenBody box = scene.see("box");
            EXPECT_LT(highest, 0.18) << density << " kg/m³ at " << rate << " Hz";
            EXPECT_LT(box.speed, 0.002) << density << " kg/m³ at " << rate << " Hz";
            EXPECT_GT(box.lowest(), 0.08);
            EXPECT_LT(box.lowest(), scene.see("pad").highest() + 1e-4);
        }
}

/// A tonne on hard rubber.
TEST(EverydayFemContact, AHeavyBlockStandsOnRubber) {
    EverydayScene scene(R"({"pliant": 1, "bodies": [
        {"name": "block", "rigid": {"box": {"sizes": [0.5, 0.5, 0.5]}, "density": 8000},
         "pose": {"position": [0, 0, 0.455]}},
        {"name": "mat", "fem": {"box": {"sizes": [0.8, 0.8, 0.2], "cells": [4, 4, 2]},
         "material": {"youngs_modulus": 5e6, "poisson_ratio": 0.3, "density": 1200},
         "fixed": "z < 1 %", "damping": {"mass": 100}}}]})");
    scene.run(3);
    const SeenBody block = scene.see("block");
    EXPECT_GT(block.lowest(), 0.19);
    EXPECT_LT(block.lowest(), 0.2);
    EXPECT_LT(block.speed, 0.01);
    EXPECT_EQ(scene.num_troubled_steps("mat"), 0u);
}

/// It fell through cells of 5 cm.
TEST(EverydayFemContact, ABoxSmallerThanACellLiesOnIt) {
    EverydayScene scene(R"({"pliant": 1, "bodies": [
        {"name": "box", "rigid": {"box": {"sizes": [0.04, 0.04, 0.04]}, "density": 1000},
         "pose": {"position": [0.025, 0.025, 0.09]}},
        {"name": "mat", "fem": {"box": {"sizes": [0.4, 0.4, 0.1], "cells": [8, 8, 2]},
         "material": {"youngs_modulus": 200000, "poisson_ratio": 0.3, "density": 1000},
         "fixed": "z < 5 %", "damping": {"mass": 20}}, "pose": {"position": [0, 0, -0.05]}}]})");
    scene.run(2);
    const SeenBody box = scene.see("box");
    EXPECT_NEAR(box.lowest(), 0.05, 0.001);
    EXPECT_LT(box.speed, 0.001);
    EXPECT_LT(depth_in_solid(scene.body("mat"), dynamic_cast<RigidBody&>(scene.body("box"))),
              0.005 * 0.04);
}

/// It was 49.5 mm deep.
TEST(EverydayFemContact, AWedgesRidgeBetweenNodesIsFelt) {
    EverydayScene scene(R"({"pliant": 1, "loops": [{"name": "dynamics", "rate": 500}], "bodies": [
        {"name": "block", "fem": {"box": {"sizes": [0.24, 0.24, 0.24], "cells": [8, 8, 8]},
         "material": {"youngs_modulus": 2e5, "poisson_ratio": 0.3, "density": 1000},
         "damping": {"mass": 2}, "friction": 0.6}, "pose": {"position": [0.01, 0, 0.17]},
         "loop": "dynamics"},
        {"name": "wedge", "rigid": {"wedge": {"sizes": [0.08, 0.6, 0.16]}}, "loop": "dynamics"}]})");
    double depth = 0, force = 0;
    const auto& wedge = dynamic_cast<RigidBody&>(scene.body("wedge"));
    scene.run(0.3, [&] {
        depth = std::max(depth, depth_in_solid(scene.body("block"), wedge));
        force = std::max(force, -wedge.last_load().force.z());
    });
    EXPECT_LT(depth, 0.005 * 0.24);
    EXPECT_GT(force, 50) << "of 136 N that it weighs";
}

/// Bodies of voxels hovered 9.9 mm above the ground, of tetrahedra sank 15 mm into it.
TEST(EverydayFemContact, SoftShapesRestOnTheGroundAsTheyAreDrawn) {
    for (const char* mesh : {R"("kind": "voxel", "resolution": 8)", R"("kind": "tet", "resolution": 6)",
                             R"("kind": "graded", "resolution": 16)"}) {
        EverydayScene scene(R"({"pliant": 1, "bodies": [
            {"name": "floor", "rigid": {"ground": {}}},
            {"name": "kidney", "fem": {"shape": "kidney", "size": 0.1, "mesh": {)" +
                            std::string(mesh) + R"(},
             "material": {"youngs_modulus": 200000, "poisson_ratio": 0.3, "density": 1000},
             "damping": {"mass": 20}}, "pose": {"position": [0, 0, 0.1]}}]})");
        double deepest = 0;
        scene.run(1.5, [&] {
            if (scene.world().loop(0).ticks() % 50 == 0)
                deepest = std::min(deepest, scene.see("kidney").lowest());
        });
        const SeenBody kidney = scene.see("kidney");
        EXPECT_NEAR(kidney.lowest(), 0, 1e-5) << mesh;
        EXPECT_GT(deepest, -1e-4) << mesh;
        EXPECT_LT(kidney.highest(), 0.12) << mesh;
    }
}

/// A ball of 16 mm in a hand, pressed between nodes 4 cm apart: 50 mm deep with 0 N.
TEST(EverydayFemContact, ASmallBallIsFeltBetweenNodes) {
    EverydayScene scene(R"({"pliant": 1, "gravity": [0, 0, 0],
        "loops": [{"name": "dynamics", "rate": 500}], "bodies": [
        {"name": "pad", "fem": {"box": {"sizes": [0.2, 0.2, 0.1], "cells": [5, 5, 3]},
         "material": {"youngs_modulus": 20000, "poisson_ratio": 0.3, "density": 1000},
         "fixed": "z < 1 %", "damping": {"mass": 8}}, "loop": "dynamics"},
        {"name": "ball", "rigid": {"sphere": {"radius": 0.008}, "motion": {"path": {"keyframes": [
         {"time": 0, "position": [0, 0, 0.12]}, {"time": 1, "position": [0, 0, 0.098]}]}}},
         "loop": "dynamics"}]})");
    scene.run(1.5);
    const auto& ball = dynamic_cast<RigidBody&>(scene.body("ball"));
    EXPECT_GT(ball.last_load().force.z(), 0.1);
    EXPECT_LT(depth_in_solid(scene.body("pad"), ball), 0.005 * 0.1);
}

/// A hand on a soft beam whose loop has 500 to 30 steps a second: at 50 it shook with 2 N.
TEST(EverydayFemContact, AHandOnASoftBeamIsCalmAtEveryRate) {
    for (const double rate : {500.0, 200.0, 100.0, 50.0, 30.0}) {
        SceneDescription scene = demo_scene("soft-hand");
        scene.loops.at(0).rate = rate;
        World world(std::move(scene), {.cache = {}});
        double oscillation = 0, force = 0;
        bool is_lowered = false;
        while (world.loop(0).time() < 4) {
            if (world.advance() != 0) continue;
            const HapticTick& felt = *world.loop(0).haptic_tick();
            oscillation = std::max(oscillation, felt.oscillation);
            force = std::max(force, felt.contact.force.norm());
            is_lowered = is_lowered || felt.gain_scale < 1;
        }
        EXPECT_LT(oscillation, 0.1) << rate << " Hz";
        EXPECT_FALSE(is_lowered) << rate << " Hz";
        EXPECT_GT(force, 0.3) << rate << " Hz";
    }
}

}  // namespace
}  // namespace pliant
