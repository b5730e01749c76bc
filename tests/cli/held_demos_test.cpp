#include "apps/pliant/reproduce/held_demos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pliant/scene/scene_file.h"

// Which demos `pliant reproduce haptics --only demo-stability` holds in simulated hands.

namespace pliant::reproduce {
namespace {

TEST(HeldDemos, AreAllDemosWhoseToolIsInAHand) {
    const std::vector<HeldDemo> held = held_demos();
    std::set<std::string> kinds;
    for (const DemoInfo& info : demo_list()) {
        const SceneDescription scene = demo_scene(info.name);
        EXPECT_EQ(std::ranges::count(held, info.name, &HeldDemo::name), scene.held_tool ? 1 : 0)
            << info.name;
        if (!scene.held_tool) continue;
        const HeldToolDescription& tool = *scene.held_tool;
        const bool is_point = std::ranges::any_of(scene.contacts, [](const auto& contact) {
            return std::holds_alternative<GreensContactDescription>(contact);
        });
        kinds.insert(tool.fem       ? "fem"
                     : tool.among   ? "among"
                     : tool.proxy   ? "proxy"
                     : tool.spheres ? "spheres"
                     : is_point     ? "point"
                                    : "pair");
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"fem", "among", "proxy", "spheres", "point", "pair"}));
}

TEST(HeldDemos, OnlyTheHandMoves) {
    for (const HeldDemo& demo : held_demos()) {
        const SceneDescription scene = still_scene(demo.name);
        EXPECT_TRUE(scene.script.empty());
        EXPECT_EQ(scene.wind.speed, 0);
        for (const BodyDescription& body : scene.bodies) {
            if (const auto* particles = std::get_if<ParticleSource>(&body.source))
                for (const HeldParticles& held : particles->body.held)
                    EXPECT_FALSE(held.motion) << demo.name;
            const auto* solid = std::get_if<RigidSource>(&body.source);
            if (solid && body.name != scene.held_tool->body)
                EXPECT_FALSE(solid->motion) << demo.name;
        }
        EXPECT_NO_THROW(static_cast<void>(way_of_hand(scene))) << demo.name;
    }
}

}  // namespace
}  // namespace pliant::reproduce
