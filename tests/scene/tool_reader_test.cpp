#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input_error.h"
#include "pliant/scene/scene_file.h"
#include "scene/held_tool_samples.h"
#include "scene/scene_reader.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::held_tool_scenes, test::input_error;
using ::testing::HasSubstr;

SceneDescription parse_tool_scene(const std::string& text) {
    return parse_scene(text, "scene.json", "somewhere");
}
std::string tool_error_of(const std::string& text) {
    return input_error([&] { (void)parse_tool_scene(text); });
}

TEST(ToolReader, ReadsAToolInAHandAndItsDevice) {
    const std::vector<std::string> scenes = held_tool_scenes();
    const SceneDescription scene = parse_tool_scene(scenes[0]);
    EXPECT_FALSE(scene.tool);
    ASSERT_TRUE(scene.held_tool);
    const HeldToolDescription& tool = *scene.held_tool;
    EXPECT_EQ(tool.body, "peg");
    EXPECT_EQ(*tool.grasp, Vector3d(0, 0, 0.5));
    EXPECT_EQ(tool.coupling, ToolCoupling::Dynamic);
    EXPECT_EQ(tool.scale, 3);
    EXPECT_EQ(tool.max_depth, 0.001);
    EXPECT_EQ(tool.stiffness_factor, 2);
    EXPECT_EQ(tool.angular_stiffness_factor, 0.5);
    EXPECT_FALSE(tool.has_injection || tool.has_back_off || tool.has_passivity || tool.has_force);
    const auto& simulated = std::get<SimulatedDescription>(scene.device);
    EXPECT_EQ(simulated.model.mass, 0.2);
    EXPECT_EQ(simulated.model.inertia, 1e-4);
    EXPECT_EQ(simulated.model.damping, 0.2);
    EXPECT_EQ(simulated.model.friction, 0.01);
    EXPECT_EQ(simulated.model.motor_bandwidth, 300);
    EXPECT_EQ(simulated.model.rate, 2000);
    EXPECT_EQ(simulated.model.delay, 2);
    EXPECT_EQ(simulated.model.seed, 7u);
    EXPECT_EQ(simulated.model.capabilities.position_step, 1e-5);
    EXPECT_EQ(simulated.model.capabilities.angle_step, 1e-4);
    EXPECT_EQ(simulated.model.capabilities.workspace, Vector3d(0.1, 0.2, 0.3));
    EXPECT_EQ(simulated.model.capabilities.max_force, 5);
    EXPECT_EQ(simulated.model.capabilities.max_torque, 0.1);
    EXPECT_EQ(simulated.model.capabilities.continuous_force, 2);
    EXPECT_EQ(simulated.model.capabilities.max_stiffness, 900);
    EXPECT_EQ(simulated.hand.stiffness, 50);
    EXPECT_EQ(simulated.hand.damping, 3);
    EXPECT_EQ(simulated.hand.angular_stiffness, 2);
    EXPECT_EQ(simulated.hand.angular_damping, 0.02);
    EXPECT_EQ(simulated.hand.mass, 0.04);
    EXPECT_EQ(simulated.hand.tremor, 1e-4);
    EXPECT_EQ(scene.script[0].buttons, 3u);
    EXPECT_NEAR(rotation_vector(scene.script[0].rotation).z(), 1.5707963, 1e-6);

    const auto network = std::get<NetworkDescription>(parse_tool_scene(scenes[1]).device);
    EXPECT_EQ(network.address, "0.0.0.0");
    EXPECT_EQ(network.port, 9000);
    EXPECT_EQ(network.timeout, 0.5);
    const auto haply = std::get<HaplyDescription>(parse_tool_scene(scenes[2]).device);
    EXPECT_EQ(haply.url, "ws://10.0.0.2:10001");
    EXPECT_EQ(haply.device_id, "A1");
    const auto dimension = std::get<ForceDimensionDescription>(parse_tool_scene(scenes[3]).device);
    EXPECT_EQ(dimension.library, "somewhere/./libdhd.so");
    EXPECT_EQ(dimension.serial, 17);
    const auto haptics = std::get<OpenHapticsDescription>(parse_tool_scene(scenes[4]).device);
    EXPECT_EQ(haptics.library, "libHD.so") << "the system finds it";
    EXPECT_EQ(haptics.name, "Left");
}

TEST(ToolReader, ToolsInHandsThatCannotBeAreRefused) {
    const auto error = [](const std::string& tool, const std::string& more = "") {
        return tool_error_of(R"({"pliant": 1, "bodies": [
            {"name": "peg", "rigid": {"sphere": {"radius": 1}}, "contact": {"pointshell": {}}},
            {"name": "hole", "rigid": {"sphere": {"radius": 2}}},
            {"name": "stone", "rigid": {"sphere": {"radius": 2}, "density": 9}},
            {"name": "spare", "rigid": {"sphere": {"radius": 2}}},
            {"name": "soft", "fem": {"shape": "heart"}}],
            "contacts": [{"shell": "peg", "field": "hole"}], "tool": {)" +
                             tool + "}" + more + "}");
    };
    const std::string peg = R"("body": "peg")";
    EXPECT_EQ(error(peg), "");
    EXPECT_EQ(error(R"("body": "pge")"),
              "scene.json: tool.body = \"pge\" (expected a body of the scene: \"peg\", \"hole\", "
              "\"stone\", \"spare\", \"soft\")");
    EXPECT_EQ(error(R"("body": "soft")"),
              "scene.json: tool.body = \"soft\" (expected a rigid body; this one deforms)");
    EXPECT_EQ(error(R"("body": "stone")"),
              "scene.json: tool.body = \"stone\" (expected a body that the hand moves; forces move "
              "this one: leave out its density)");
    EXPECT_EQ(error(R"("body": "spare")"),
              "scene.json: tool.body = \"spare\" (expected a body with something to feel: one that "
              "is \"shell\" or \"field\" of one of the contacts)");
    EXPECT_EQ(error(peg + R"(, "radius": 0.1)"),
              "scene.json: tool.radius: is of the sphere tool, which has no \"body\"");
    EXPECT_EQ(error(R"("radius": 0.1, "grasp": [0, 0, 0])"),
              "scene.json: tool.grasp: is of a tool in a hand; name the body with \"body\"");
    EXPECT_THAT(error(peg + R"(, "coupling": "statik")"), HasSubstr("did you mean \"static\"?"));
    EXPECT_THAT(error(peg + R"(, "stiffness_factor": 0)"),
                HasSubstr("tool.stiffness_factor = 0 (expected "));
    EXPECT_THAT(error(peg + R"(, "stiffness_factor": -2)"),
                HasSubstr("tool.stiffness_factor = -2 (expected "));
    EXPECT_THAT(error(peg + R"(, "max_depth": 5)"), HasSubstr("tool.max_depth = 5 (expected "));

    const auto device = [&](const std::string& keys) {
        return error(peg, R"(, "device": {)" + keys + "}");
    };
    EXPECT_EQ(device(R"("hand": "firm")"), "");
    EXPECT_THAT(device(R"("kind": "simulatd")"), HasSubstr("did you mean \"simulated\"?"));
    EXPECT_THAT(device(R"("kind": "openhaptic")"), HasSubstr("did you mean \"openhaptics\"?"));
    EXPECT_THAT(device(R"("hand": "lose")"), HasSubstr("did you mean \"loose\"?"));
    EXPECT_EQ(device(R"("kind": "haply", "mass": 0.1)"),
              "scene.json: device.mass: is of a simulated device, not of a haply one");
    EXPECT_EQ(device(R"("port": 7717)"),
              "scene.json: device.port: is of a network device, not of a simulated one");
    EXPECT_EQ(device(R"("max_force": 2, "continuous_force": 3)"),
              "scene.json: device.continuous_force = 3 (expected at most max_force)");
    EXPECT_THAT(device(R"("mass": -1)"), HasSubstr("device.mass = -1 (expected "));
    EXPECT_EQ(error(R"("radius": 0.1)", R"(, "device": {})"),
              "scene.json: device: nothing is held in a hand; name a rigid body with \"tool\": "
              "{\"body\": …}");
}

TEST(ToolReader, AnotherDeviceGoesIntoTheTextOfTheScene) {
    const SceneDescription scene = parse_tool_scene(held_tool_scenes()[1]);
    const SceneDescription firm = with_device(scene, "simulated", "firm");
    EXPECT_EQ(std::get<SimulatedDescription>(firm.device).hand.stiffness,
              HandModel::firm().stiffness);
    EXPECT_EQ(firm.name, scene.name);
    EXPECT_EQ(std::get<SimulatedDescription>(parse_tool_scene(firm.text).device).hand.stiffness,
              HandModel::firm().stiffness);
    // the hand alone leaves the rest
    const SceneDescription loose =
        with_device(parse_tool_scene(held_tool_scenes()[0]), "", "loose");
    EXPECT_EQ(std::get<SimulatedDescription>(loose.device).model.mass, 0.2);
    EXPECT_EQ(std::get<SimulatedDescription>(loose.device).hand.stiffness,
              HandModel::loose().stiffness);
    EXPECT_THAT(input_error([&] { (void)with_device(scene, "netwrk", ""); }),
                HasSubstr("did you mean \"network\"?"));
    EXPECT_THAT(input_error([&] { (void)with_device(scene, "network", "firm"); }),
                HasSubstr("device.hand: is of a simulated device, not of a network one"));
    EXPECT_THAT(input_error([&] { (void)with_device(demo_scene("bridge"), "network", ""); }),
                HasSubstr("nothing in the scene \"bridge\" is held in a hand"));
}

TEST(ToolReader, EveryDemoWithARigidToolIsHeldInAHand) {
    for (const char* name :
         {"bridge-ball", "bridge-creature", "hoses", "chair-walls", "serpent-figure",
          "serpent-creature", "figure-axe", "alpha-puzzle", "peg-hole"}) {
        const SceneDescription scene = demo_scene(name);
        ASSERT_TRUE(scene.held_tool) << name;
        EXPECT_STREQ(kind(scene.device), "simulated") << name;
        const int body = find_description(scene, scene.held_tool->body);
        EXPECT_TRUE(
            std::get<RigidSource>(scene.bodies[static_cast<std::size_t>(body)].source).motion)
            << name;
    }
}

}  // namespace
}  // namespace pliant
