// Bodies of particles in scenes that come to mind first.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

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
    // 20 degrees: 5/7 g sin(20°) along the slope, 43 % less before. The drawn ball has facets,
    // which cost some of it
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
        "particles": {"surface": ")" +
                        box_file({0.1, 0.1, 0.1}) +
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

TEST(EverydayParticles, NoneOfManyBodiesIsThrownUp) {
    // all shapes, sizes and numbers of particles, on, in and above the plane, at any rate
    std::mt19937 random(5);
    const auto pick = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const std::vector<std::string> shapes{R"("surface": ")" + box_file({0.1, 0.1, 0.1}) + '"',
                                          R"("surface": ")" + box_file({0.6, 0.6, 0.1}) + '"',
                                          R"("shape": {"name": "fish", "resolution": 40})",
                                          R"("shape": {"name": "heart", "resolution": 24})"};
    for (int k = 0; k < 16; ++k) {
        const double size = std::pow(10, pick(-2, 0.3)), rate = std::pow(10, pick(1.5, 3));
        const double height = k % 3 == 0 ? -0.3 * size : k % 3 == 1 ? 0 : pick(0.02, 1);
        std::ostringstream text;
        text << R"({"pliant": 1, "rate": )" << rate
             << R"(, "bodies": [{"name": "b", "particles": {)"
             << shapes[static_cast<std::size_t>(k) % shapes.size()] << R"(, "size": )" << size
             << R"(, "count": )" << 20 + 20 * (k % 5) << R"(, "stiffness": )" << 0.2 + 0.2 * (k % 4)
             << R"(, "planes": [{}]}, "pose": {"position": [0, 0, )" << height + 0.5 * size
             << R"(], "rotation": {"axis": [1, 0.5, 0.1], "degrees": )" << 30 * (k % 7) << "}}}]}";
        EverydayScene scene(text.str());
        const SeenBody first = scene.see("b");
        // what begins in the plane comes out of it, and what tips over may be as high as it is long
        const double most = std::max(first.highest() + std::max(-first.lowest(), 0.0), 1.9 * size);
        double highest = 0;
        int ticks = 0;
        scene.run(2, [&] {
            if (++ticks % 8 == 0) highest = std::max(highest, scene.see("b").highest());
        });
        EXPECT_LT(highest, most + 0.1 * size + 0.01) << text.str();
        EXPECT_EQ(scene.num_troubled_steps("b"), 0u) << text.str();
    }
}

}  // namespace
}  // namespace pliant
