// Bodies of particles in scenes that come to mind first.
#include <gtest/gtest.h>

#include <cmath>

#include "everyday/everyday_scene.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::box_file, test::EverydayScene, test::SeenBody;

/// One body of particles over the plane z = `height`.
EverydayScene body_over_plane(const std::string& shape, double start, double height,
                              const std::string& more = "") {
    return EverydayScene(R"({"pliant": 1, "bodies": [{"name": "b", "particles": {)" + shape +
                         R"(, "planes": [{"offset": )" + std::to_string(height) +
                         R"(}]}, "pose": {"position": [0, 0, )" + std::to_string(start) + "]}" +
                         more + "}]}");
}

TEST(EverydayParticles, ASlabPutOnAPlaneIsNotThrown) {
    // 12 m high before: its ellipsoids began below the plane
    EverydayScene scene = body_over_plane(
        R"("surface": ")" + box_file({0.6, 0.6, 0.1}) + R"(", "count": 40)", 0, -0.05);
    double most = 0;
    scene.run(2, [&] { most = std::max(most, scene.see("b").highest()); });
    EXPECT_LT(most, 0.051);
    EXPECT_NEAR(scene.see("b").lowest(), -0.05, 0.5e-3);
}

TEST(EverydayParticles, PutInAPlaneTheyComeOutGently) {
    // half of the ball begins below
    EverydayScene scene = body_over_plane(R"("ball": {"radius": 0.05}, "count": 60)", 0, 0);
    double most = 0;
    scene.run(3, [&] {
        if (std::fmod(scene.time(), 0.02) < 1e-3) most = std::max(most, scene.see("b").highest());
    });
    EXPECT_LT(most, 0.1 + 0.01) << "was thrown up";
    const SeenBody ball = scene.see("b");
    EXPECT_NEAR(ball.lowest(), 0, 0.5e-3);
    EXPECT_LT(ball.speed, 0.1) << "rolls from facet to facet at most";
}

TEST(EverydayParticles, ADroppedBodyNeverRisesAboveItsStartAndRestsOnItsDrawnSurface) {
    EverydayScene scene = body_over_plane(R"("shape": "fish", "size": 0.3)", 0.3, 0);
    const double start = scene.see("b").highest();
    double most = 0;
    scene.run(3, [&] {
        if (std::fmod(scene.time(), 0.02) < 1e-3) most = std::max(most, scene.see("b").highest());
    });
    EXPECT_LE(most, start + 1e-3);
    EXPECT_NEAR(scene.see("b").lowest(), 0, 0.5e-3);
    EXPECT_LT(scene.see("b").speed, 0.02);
}

TEST(EverydayParticles, ABallRollsDownASlopeAsTheoryHasIt) {
    // 20 degrees: 5/7 g sin(20°) along the slope, 43 % less before. The drawn ball has facets, which
    // cost some of it
    const double angle = 20 * M_PI / 180;
    const Vector3d normal(std::sin(angle), 0, std::cos(angle));
    EverydayScene scene(R"({"pliant": 1, "bodies": [{"name": "b",
        "particles": {"ball": {"radius": 0.05}, "count": 100, "stiffness": 1, "friction": 0.5,
                      "planes": [{"normal": [)" +
                        std::to_string(normal.x()) + ", 0, " + std::to_string(normal.z()) +
                        R"(]}]}, "pose": {"position": [)" + std::to_string(0.05 * normal.x()) +
                        ", 0, " + std::to_string(0.05 * normal.z()) + "]}}]}");
    const Vector3d before = scene.see("b").box.center();
    scene.run(1);
    const double way = (scene.see("b").box.center() - before).norm();
    EXPECT_NEAR(way, 0.5 * 5 / 7 * 9.81 * std::sin(angle), 0.1 * way);
}

TEST(EverydayParticles, ABoxLiesOnASlopeThatFrictionHolds) {
    EverydayScene scene(R"({"pliant": 1, "bodies": [{"name": "b",
        "particles": {"surface": ")" + box_file({0.1, 0.1, 0.1}) +
                        R"(", "count": 60, "friction": 0.6,
                      "planes": [{"normal": [0.342, 0, 0.94]}]},
        "pose": {"position": [0, 0, 0.07], "rotation": {"axis": [0, 1, 0], "degrees": 20}}}]})");
    scene.run(1);
    const Vector3d before = scene.see("b").box.center();
    scene.run(1);
    EXPECT_LT((scene.see("b").box.center() - before).norm(), 2e-3);
}

TEST(EverydayParticles, AThrownBodyFliesAParabola) {
    EverydayScene scene(R"({"pliant": 1, "bodies": [{"name": "b",
        "particles": {"ball": {"radius": 0.05}, "count": 40},
        "velocity": {"linear": [2, 0, 3], "angular": [0, 0, 5]}}]})");
    scene.run(0.5);
    const Vector3d centre = scene.see("b").box.center();
    EXPECT_NEAR(centre.x(), 1, 2e-3);
    EXPECT_NEAR(centre.z(), 3 * 0.5 - 0.5 * 9.81 * 0.25, 5e-3);
}

}  // namespace
}  // namespace pliant
