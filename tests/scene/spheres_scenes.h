#pragma once

#include <string>

#include "core/temporary_directory.h"
#include "pliant/particles/particle_layout.h"
#include "scene/proxy_scenes.h"

namespace pliant::test {

/// A plate of 4 x 2 x 1 cm as eight balls, linked along its sides; placing them takes longer.
inline ParticleLayout plate_spheres() {
    ParticleLayout layout;
    for (int i = 0; i < 8; ++i) {
        layout.particles.push_back({.position = {0.01 * (i / 2) - 0.015, 0.01 * (i % 2) - 0.005, 0},
                                    .radii = Eigen::Vector3d::Constant(0.005),
                                    .mass = 0.1,
                                    .stiffness = 0.6});
        if (i % 2 == 1) layout.links.push_back({i - 1, i});
        if (i >= 2) layout.links.push_back({i - 2, i});
    }
    return layout;
}
/// In a file that lasts as long as the program.
inline std::string plate_file() {
    static const TemporaryDirectory folder;
    static const std::string name = [] {
        const auto path = folder / "plate.json";
        save_layout(plate_spheres(), path);
        return path.string();
    }();
    return name;
}

/// Such a plate in a hand above a body whose top is at z = 0: it comes down until its lower side is
/// `depth` below, at x.
inline std::string spheres_scene(const std::string& body, const std::string& spheres = "",
                                 const std::string& more = "", double depth = 0.003,
                                 double x = 0.001, const std::string& tool = "") {
    const std::string end = std::to_string(0.005 - depth), at = std::to_string(x);
    return R"({"pliant": 1, "gravity": [0, 0, 0], "bodies": [)" + body + R"(,
        {"name": "plate", "rigid": {"box": {"sizes": [0.04, 0.02, 0.01]}, "motion": {"path":
            {"keyframes": [{"time": 0, "position": [)" +
           at + R"(, 0.002, 0.012]}, {"time": 0.3, "position": [)" + at + R"(, 0.002, )" + end +
           R"(]}]}}}}],
        "tool": {"body": "plate", )" +
           tool + R"("spheres": {"layout": ")" + plate_file() + R"(")" +
           (spheres.empty() ? "" : ", " + spheres) + R"(}}, "device": {"hand": "firm"})" + more +
           "}";
}

}  // namespace pliant::test
