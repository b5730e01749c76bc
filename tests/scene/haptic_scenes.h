#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/temporary_directory.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"
#include "scene/primitive_surfaces.h"

namespace pliant::test {

/// A block of 4 cm above the ground in a hand that presses it 5 mm below: from scene files, with
/// one cache for all tests.
class HapticScenes : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<TemporaryDirectory>();
        save_surface(pliant::box_surface(Eigen::Vector3d::Constant(0.04)), *folder / "block.obj");
    }
    static void TearDownTestSuite() { folder.reset(); }

    /// The middle of the block is 22 mm above the ground at the start, its lower side 2 mm.
    [[nodiscard]] static std::string press(const std::string& tool = "",
                                           const std::string& device = R"("hand": "firm")",
                                           const std::string& more = "") {
        return R"({"pliant": 1, "name": "press", "gravity": [0, 0, 0], "bodies": [
            {"name": "block", "rigid": {"surface": "block.obj", "motion": {"path": {"keyframes": [
                {"time": 0, "position": [0, 0, 0.022]}, {"time": 0.2, "position": [0, 0, 0.022]},
                {"time": 0.6, "position": [0, 0, 0.015]}]}}},
             "contact": {"pointshell": {"points": 800, "levels": 3, "resolution": 32}}},
            {"name": "floor", "rigid": {"ground": {}}}],
            "contacts": [{"shell": "block", "field": "floor"}],
            "tool": {"body": "block")" +
               tool + R"(}, "device": {)" + device + "}" + more + "}";
    }
    [[nodiscard]] static SceneDescription parse(const std::string& text) {
        return parse_scene(text, "scene.json", (*folder / "x").parent_path());
    }
    [[nodiscard]] static World build(const std::string& text,
                                     std::optional<DeviceDescription> device = {}) {
        lines.clear();
        return World(parse(text), {.cache = *folder / "cache",
                                   .say = [](const std::string& line) { lines.push_back(line); },
                                   .device = std::move(device)});
    }
    static void set(World& world, const std::string& name, double value) {
        world.apply({.kind = Command::Kind::SetParameter,
                     .parameter = world.find_parameter(name),
                     .value = value});
    }

    inline static std::unique_ptr<TemporaryDirectory> folder;
    inline static std::vector<std::string> lines;
};

}  // namespace pliant::test
