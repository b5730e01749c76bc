#pragma once

#include <string>
#include <vector>

#include "core/temporary_directory.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

namespace pliant::test {

/// Scenes with every key of bodies with Green's functions and of what touches them.
inline std::vector<std::string> greens_key_scenes() {
    return {R"({"pliant": 1, "bodies": [
        {"name": "nodule", "greens": {"shape": "nodule", "levels": 1, "size": 0.1,
            "material": {"preset": "liver", "youngs_modulus": 9000, "poisson_ratio": 0.5, "density": 1100},
            "fixed": "z < 1 %", "contactable": "z > 40 %", "method": "bem", "elements": "linear",
            "crease_degrees": 60, "mask_radius": 0.02}},
        {"name": "lump", "greens": {"surface": "liver.obj", "material": "fat", "fixed": "lowest 5 %",
            "method": "fem", "mesh": {"resolution": 9}}},
        {"name": "stored", "greens": {"file": "liver.pliant"}},
        {"name": "finger", "rigid": {"sphere": {"radius": 0.01}}},
        {"name": "thumb", "rigid": {"sphere": {"radius": 0.01}}},
        {"name": "glove", "hand": {"size": 0.2, "joint_stiffness": 2, "wrist_stiffness": 900,
            "motion": {"path": {"keyframes": [{"time": 0}, {"time": 1, "position": [0, 0, 0.1]}]}},
            "closing": {"keyframes": [{"time": 0, "value": 0}, {"time": 2, "value": 0.5}, {"time": 3, "value": 0}],
                        "repeat": true}}},
        {"name": "probed", "greens": {"shape": "kidney", "levels": 1, "fixed": "x < 33 %",
            "measured": {"probes": 5, "noise": 1e-5, "hidden": 0.25, "seed": 3},
            "wavelet": "lifted-linear", "base_threshold": true}},
        {"name": "levels", "greens": {"shape": "rabbit", "levels": 3, "fixed": "z < 15 %", "solver": "iterative",
            "wavelet": "lifted-butterfly", "tolerance": 0.1, "constraint_level": 1,
            "finest_constraint_level": 2, "display_level": 5}},
        {"name": "scanned", "greens": {"surface": "liver.obj", "fixed": "lowest 5 %", "measured": "liver.obj"}},
        {"name": "ball", "rigid": {"sphere": {"radius": 0.01}}}],
      "contacts": [{"greens": "nodule", "points": ["finger", "thumb"], "friction": 0.4, "pull": true,
                    "detail": {"period": 0.004, "height": 1e-4, "max_slope": 0.5, "friction_depth": 0.2}},
                   {"greens": "lump", "tools": ["glove"], "sliding": true},
                   {"greens": "levels", "tools": ["ball"], "budget": 1e-3}]})",
            R"({"pliant": 1, "bodies": [
        {"name": "finger", "zones": {
            "bones": [{"name": "root", "joint": [0, 0, 0]},
                      {"name": "end", "parent": "root", "joint": [0.03, 0, 0], "axis": [0, 1, 0],
                       "angle": {"keyframes": [{"time": 0, "degrees": 0}, {"time": 1, "degrees": 20},
                                               {"time": 2, "degrees": 0}], "repeat": true}}],
            "parts": [{"name": "pad", "bone": "end", "pose": {"position": [0.03, 0, 0]},
                       "greens": {"pad": {"length": 0.03, "width": 0.02, "height": 0.02}, "fixed": "z > 60 %"}}],
            "blend": 0.01,
            "motion": {"path": {"keyframes": [{"time": 0}, {"time": 1, "position": [0, 0, 0.1]}]}}}},
        {"name": "bar", "zones": {"seams": "bonded", "bones": [{"name": "root", "joint": [0, 0, 0]}],
            "parts": [{"name": "pad", "bone": "root", "greens": {"pad": {}, "fixed": "z > 60 %"}}]}},
        {"name": "hybrid", "zones": {"seams": "bonded", "bones": [{"name": "root", "joint": [0, 0, 0]}],
            "parts": [{"name": "pad", "bone": "root", "greens": {"pad": {}, "fixed": "z > 60 %"}},
                      {"name": "tip", "bone": "root", "reduced": {"surface": "liver.obj", "fixed": "x > 99 %"}},
                      {"name": "end", "bone": "root", "model": "liver.pliant"}]}},
        {"name": "plate", "rigid": {"box": {"sizes": [1, 1, 0.1]}}},
        {"name": "tip", "rigid": {"sphere": {"radius": 0.01}}}],
      "contacts": [{"greens": "finger", "tools": ["plate"]}, {"greens": "bar", "points": ["tip"]}]})"};
}

/// A nodule of 34 vertices; what else the scene has, and one cache for all tests.
class GreensScenes {
public:
    [[nodiscard]] static std::string scene(const std::string& bodies, const std::string& more,
                                           const std::string& loop = "haptic") {
        return R"({"pliant": 1, "name": "nodule", "gravity": [0, 0, 0],
            "loops": [{"name": "grasp", "rate": 100}], "bodies": [
            {"name": "nodule", "greens": {"shape": "nodule", "levels": 1, "fixed": "z < 1 %",
             "material": {"youngs_modulus": 20000, "poisson_ratio": 0.4, "density": 1000}},
             "loop": ")" +
               loop + R"("},)" + bodies + "], " + more + "}";
    }
    /// A ball that goes down along z from 7 cm to `depth` in 0.3 s and then 9 mm sideways.
    [[nodiscard]] static std::string ball(const std::string& name, double depth = 0.046,
                                          const std::string& loop = "haptic") {
        const std::string z = std::to_string(depth);
        return R"({"name": ")" + name +
               R"(", "rigid": {"sphere": {"radius": 0.01}, "motion": {"path":
            {"keyframes": [{"time": 0, "position": [0.003, 0.002, 0.07]},
                           {"time": 0.3, "position": [0.003, 0.002, )" +
               z + R"(]}, {"time": 0.6, "position": [0.012, -0.004, )" + z +
               R"(]}]}}}, "loop": ")" + loop + R"("})";
    }
    /// A ball that presses a side of the nodule, +x or −x, 7 mm in within 0.3 s and then moves up.
    [[nodiscard]] static std::string pinch(const std::string& name, int side) {
        const std::string out = std::to_string(0.04 * side), in = std::to_string(0.024 * side);
        return R"({"name": ")" + name +
               R"(", "rigid": {"sphere": {"radius": 0.01}, "motion": {"path":
            {"keyframes": [{"time": 0, "position": [)" +
               out + R"(, 0.002, 0.03]}, {"time": 0.3, "position": [)" + in +
               R"(, 0.002, 0.03]}, {"time": 0.6, "position": [)" + in + R"(, 0.002, 0.038]}]}}}})";
    }
    [[nodiscard]] World build(const std::string& text) {
        lines.clear();
        return World(parse_scene(text, "scene.json", (folder_ / "x").parent_path()),
                     {.cache = folder_ / "cache",
                      .say = [this](const std::string& line) { lines.push_back(line); }});
    }
    [[nodiscard]] std::filesystem::path file(const char* name) const { return folder_ / name; }

    std::vector<std::string> lines;

private:
    TemporaryDirectory folder_;
};

}  // namespace pliant::test
