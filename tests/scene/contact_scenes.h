#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/temporary_directory.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "scene/primitive_surfaces.h"

namespace pliant::test {

/// A soft bar that stands on its fixed foot, 0.1 × 0.1 × 0.4 m with its middle at the origin, and
/// what is pressed against it, from scene files with a cache of their own.
class ContactScenes : public ::testing::Test {
protected:
    ContactScenes() {
        save_surface(pliant::box_surface(Eigen::Vector3d(0.1, 0.1, 0.4)), folder / "bar.obj");
        save_surface(pliant::box_surface(Eigen::Vector3d(0.1, 0.2, 0.2)), folder / "block.obj");
    }

    [[nodiscard]] World build(const std::string& text) {
        lines.clear();
        return World(parse_scene(text, "scene.json", (folder / "x").parent_path()),
                     {.cache = folder / "cache",
                      .say = [this](const std::string& line) { lines.push_back(line); }});
    }

    [[nodiscard]] static std::string bar(const std::string& more = "",
                                         const std::string& field = "") {
        return R"({"name": "bar", "reduced": {"surface": "bar.obj", "fixed": "z < 5 %", "modes": 4, "rank": 6,
            "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000}, "mesh": {"resolution": 8},
            "damping": {"mass": 6, "stiffness": 0.005}},
            "contact": {"pointshell": {"points": 2500, "levels": 3, "resolution": 32})" +
               field + "}" + more + "}";
    }
    /// Comes from +x at half the height to x = 0.09, which is `0.01` m inside the bar at rest.
    static constexpr double kPressed = 0.01;
    [[nodiscard]] static std::string ball(
        const std::string& shape = R"("sphere": {"radius": 0.05})", const std::string& more = "") {
        return R"({"name": "ball", "rigid": {)" + shape + R"(, "motion": {"path": {"keyframes": [
            {"time": 0, "position": [0.12, 0, 0.15]}, {"time": 0.4, "position": [0.09, 0, 0.15]}]}}})" +
               more + "}";
    }
    [[nodiscard]] static std::string scene(const std::string& bodies, const std::string& contacts,
                                           const std::string& more = "") {
        return R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [)" + bodies +
               R"(], "contacts": [)" + contacts + "]" + more + "}";
    }
    [[nodiscard]] static std::string press(const std::string& options = "",
                                           const std::string& more = "") {
        return scene(bar() + ", " + ball(), R"({"shell": "bar", "field": "ball")" + options + "}",
                     more);
    }

    test::TemporaryDirectory folder;
    std::vector<std::string> lines;
};

}  // namespace pliant::test
