#include "held_demos.h"

#include <algorithm>
#include <array>

#include "pliant/scene/scene_file.h"

namespace pliant::reproduce {
namespace {

constexpr double kFalling = 10;  // until a heap lies [s]
constexpr double kSwinging = 9;  // the serpent loses half of a swing in 2.8 s, cloth hangs down and
                                 // baskets slide and roll on for seconds [s]

bool is_among(const std::string& name, const auto& names) {
    return std::ranges::find(names, name) != std::end(names);
}

bool has_particles(const SceneDescription& scene) {
    return std::ranges::any_of(scene.bodies, [](const BodyDescription& body) {
        return std::holds_alternative<ParticleSource>(body.source);
    });
}

}  // namespace

std::vector<HeldDemo> held_demos() {
    constexpr std::array kThatSwing = {"serpent-figure", "serpent-creature", "cloth-catch"};
    std::vector<HeldDemo> demos;
    for (const DemoInfo& info : demo_list()) {
        const SceneDescription scene = demo_scene(info.name);
        if (!scene.held_tool) continue;
        const HeldToolDescription& tool = *scene.held_tool;
        HeldDemo demo{.name = info.name};
        const bool is_heap = tool.among.has_value();
        if (is_heap || is_among(info.name, kThatSwing)) demo.settling = kSwinging;
        if (is_heap || info.name == "cloth-catch") demo.falling = kFalling;
        demo.is_slow = is_heap || tool.fem || tool.spheres || has_particles(scene);
        demo.is_heap = info.name == "baskets";
        demos.push_back(std::move(demo));
    }
    return demos;
}

SceneDescription still_scene(const std::string& demo) {
    SceneDescription scene = demo_scene(demo);
    scene.script.clear();
    scene.wind.speed = 0;
    for (BodyDescription& body : scene.bodies) {
        if (auto* particles = std::get_if<ParticleSource>(&body.source))
            for (HeldParticles& held : particles->body.held) held.motion.reset();
        auto* solid = std::get_if<RigidSource>(&body.source);
        if (solid == nullptr || !solid->motion || body.name == scene.held_tool->body) continue;
        body.pose = solid->motion->at(0).pose;
        solid->motion.reset();
    }
    return scene;
}

ScriptedMotion way_of_hand(const SceneDescription& scene) {
    for (const BodyDescription& body : scene.bodies) {
        const auto* solid = std::get_if<RigidSource>(&body.source);
        if (body.name != scene.held_tool->body || solid == nullptr) continue;
        return solid->motion ? *solid->motion : ScriptedMotion({{0, body.pose}}, false);
    }
    throw InputError("", "the tool of demo " + scene.name + " is no rigid body");
}

}  // namespace pliant::reproduce
