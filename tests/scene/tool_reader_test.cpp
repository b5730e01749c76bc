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
    EXPECT_EQ(network.address, "127.0.0.2");
    EXPECT_EQ(network.port, 9000);
    EXPECT_EQ(network.timeout, 0.5);
    const auto haply = std::get<HaplyDescription>(parse_tool_scene(scenes[2]).device);
    EXPECT_EQ(haply.url, "ws://127.0.0.1:10002");
    EXPECT_EQ(haply.device_id, "A1");
    const auto dimension = std::get<ForceDimensionDescription>(parse_tool_scene(scenes[3]).device);
    EXPECT_EQ(dimension.library, "");
    EXPECT_EQ(dimension.serial, 17);
    const auto haptics = std::get<OpenHapticsDescription>(parse_tool_scene(scenes[4]).device);
    EXPECT_EQ(haptics.name, "Left");
}

TEST(ToolReader, PointsOnGreensFunctionsHaveNoGraspAndNoDepth) {
    const auto scene = [](const std::string& tool) {
        return R"({"pliant": 1, "bodies": [
            {"name": "nodule", "greens": {"shape": "nodule", "fixed": "z < 1 %"}},
            {"name": "finger", "rigid": {"sphere": {"radius": 0.01}}},
            {"name": "ball", "rigid": {"sphere": {"radius": 0.01}}}],
            "contacts": [{"greens": "nodule", "points": ["finger"]}], "tool": {)" +
               tool + "}}";
    };
    const SceneDescription read =
        parse_tool_scene(scene(R"("body": "finger", "stiffness_factor": 0.5)"));
    ASSERT_TRUE(read.held_tool);
    EXPECT_EQ(read.held_tool->stiffness_factor, 0.5);
    EXPECT_EQ(tool_error_of(scene(R"("body": "finger", "max_depth": 0.001)")),
              "scene.json: tool.max_depth: does not go with a tool that touches a body of the kind "
              "\"greens\" as a point");
    EXPECT_THAT(tool_error_of(scene(R"("body": "finger", "grasp": [0, 0, 1])")),
                HasSubstr("tool.grasp: does not go with"));
    EXPECT_THAT(tool_error_of(scene(R"("body": "ball")")),
                HasSubstr("a body with something to feel"));
    EXPECT_THAT(tool_error_of(scene(R"("body": "nodule")")), HasSubstr("this one deforms"));
}

TEST(ToolReader, ToolsInHandsThatCannotBeAreRefused) {
    const auto error = [](const std::string& tool, const std::string& more = "") {
        return tool_error_of(R"({"pliant": 1, "loops": [{"name": "slow", "rate": 100}], "bodies": [
            {"name": "peg", "rigid": {"sphere": {"radius": 1}}, "contact": {"pointshell": {}}},
            {"name": "hole", "rigid": {"sphere": {"radius": 2}}},
            {"name": "stone", "rigid": {"sphere": {"radius": 2}, "density": 9}},
            {"name": "spare", "rigid": {"sphere": {"radius": 2}}},
            {"name": "soft", "fem": {"shape": "heart"}, "loop": "slow"}],
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
              "is \"shell\" or \"field\" of one of the contacts or in an \"among\", one of the "
              "\"points\" on a body of the kind \"greens\", or in the loop of a full FEM body; a "
              "sphere with \"proxy\": {} or any body with \"spheres\": {} feels bodies of every "
              "kind)");
    EXPECT_EQ(error(peg + R"(, "radius": 0.1)"),
              "scene.json: tool.radius: is of the sphere tool, which has no \"body\"");
    EXPECT_EQ(error(R"("radius": 0.1, "grasp": [0, 0, 0])"),
              "scene.json: tool.grasp: is of a tool in a hand; name the body with \"body\"");
    EXPECT_EQ(error(peg + R"(, "parts": ["spare"])"),
              "scene.json: tool.parts: is of a tool that full FEM bodies feel; this one is in "
              "contact pairs");
    EXPECT_EQ(error(peg + R"(, "coupling": "kinematic")"),
              "scene.json: tool.coupling = \"kinematic\" (expected \"static\", \"dynamic\" or "
              "\"direct\")");
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

TEST(ToolReader, ReadsAToolThatFullFemBodiesFeel) {
    const SceneDescription scene = parse_tool_scene(held_tool_scenes().back());
    ASSERT_TRUE(scene.held_tool && scene.held_tool->fem);
    const FemToolDescription& fem = *scene.held_tool->fem;
    EXPECT_EQ(fem.parts, std::vector<std::string>{"finger"});
    EXPECT_EQ(fem.mass, 0.1);
    EXPECT_EQ(fem.watchdog.timeout, 0.1);
    EXPECT_EQ(fem.watchdog.fade_time, StepInterpolationOptions().fade_time);
    EXPECT_FALSE(parse_tool_scene(held_tool_scenes()[0]).held_tool->fem);
}

TEST(ToolReader, ToolsAmongFullFemBodiesThatCannotBeAreRefused) {
    const auto error = [](const std::string& tool) {
        return tool_error_of(R"({"pliant": 1, "loops": [{"name": "slow", "rate": 500}], "bodies": [
            {"name": "palm", "rigid": {"box": {"sizes": [1, 1, 1]}}, "loop": "slow"},
            {"name": "finger", "rigid": {"sphere": {"radius": 1}}, "loop": "slow"},
            {"name": "stone", "rigid": {"sphere": {"radius": 1}, "density": 9}, "loop": "slow"},
            {"name": "wheel", "rigid": {"sphere": {"radius": 1},
             "motion": {"oscillation": {"frequency": 1}}}, "loop": "slow"},
            {"name": "far", "rigid": {"sphere": {"radius": 1}}},
            {"name": "soft", "fem": {"shape": "heart"}, "loop": "slow"}], "tool": {"body": "palm")" +
                             tool + "}}");
    };
    EXPECT_EQ(error(""), "");
    EXPECT_EQ(error(R"(, "parts": ["finger"], "coupling": "dynamic")"), "");
    EXPECT_EQ(error(R"(, "parts": ["fingr"])"),
              "scene.json: tool.parts[0] = \"fingr\" (expected a body of the scene: \"palm\", "
              "\"finger\", \"stone\", \"wheel\", \"far\", \"soft\")");
    EXPECT_EQ(error(R"(, "parts": ["finger", "soft"])"),
              "scene.json: tool.parts[1] = \"soft\" (expected a rigid body; this one deforms)");
    EXPECT_EQ(error(R"(, "parts": ["stone"])"),
              "scene.json: tool.parts[0] = \"stone\" (expected a body that the hand moves; forces "
              "move this one: leave out its density)");
    EXPECT_EQ(error(R"(, "parts": ["wheel"])"),
              "scene.json: tool.parts[0] = \"wheel\" (expected a body that moves with \"palm\"; "
              "leave out its motion)");
    EXPECT_EQ(error(R"(, "parts": ["far"])"),
              "scene.json: tool.parts[0] = \"far\" (expected a body of the loop \"slow\", as "
              "\"palm\"; this one is in \"haptic\")");
    EXPECT_EQ(error(R"(, "parts": ["finger", "finger"])"),
              "scene.json: tool.parts[1] = \"finger\" (expected a body that is not in the tool "
              "yet)");
    EXPECT_EQ(error(R"(, "parts": ["palm"])"),
              "scene.json: tool.parts[0] = \"palm\" (expected a body that is not in the tool yet)");
    EXPECT_EQ(error(R"(, "coupling": "static")"),
              "scene.json: tool.coupling = \"static\" (expected \"dynamic\", which is all that a "
              "tool felt by full FEM bodies has; one that is where the hand is oscillates on all "
              "but the softest)");
    EXPECT_EQ(error(R"(, "max_depth": 0.001)"),
              "scene.json: tool.max_depth: is of a tool in contact pairs; full FEM bodies feel "
              "this one");
    EXPECT_THAT(error(R"(, "watchdog": 0)"), HasSubstr("tool.watchdog = 0 (expected "));
    EXPECT_THAT(error(R"(, "mass": 0)"), HasSubstr("tool.mass = 0 (expected "));
}

TEST(ToolReader, ToolsInAnAmongAreReadAndWhatTheyCannotHaveIsRefused) {
    const auto text = [](const std::string& tool, const std::string& body = "paddle") {
        return R"({"pliant": 1, "bodies": [
            {"name": "floor", "rigid": {"ground": {}}},
            {"name": "paddle", "rigid": {"box": {"sizes": [1, 1, 1]}}},
            {"name": "crate", "rigid": {"box": {"sizes": [1, 1, 1]}, "density": 500},
             "contact": {"pointshell": {}}, "copies": {"counts": [2, 1, 1], "spacing": [2, 2, 2]}}],
            "contacts": [{"among": ["crate", "paddle", "floor"]}], "tool": {"body": ")" +
               body + "\"" + tool + "}}";
    };
    const SceneDescription scene = parse_tool_scene(text(R"(, "mass": 0.3, "watchdog": 0.2)"));
    ASSERT_TRUE(scene.held_tool && scene.held_tool->among);
    EXPECT_FALSE(scene.held_tool->fem);
    EXPECT_EQ(scene.held_tool->among->mass, 0.3);
    EXPECT_EQ(scene.held_tool->among->watchdog.timeout, 0.2);
    EXPECT_EQ(parse_tool_scene(text("")).held_tool->among->mass, 0) << "by rule";

    const auto error = [&](const std::string& tool, const std::string& body = "paddle") {
        return tool_error_of(text(tool, body));
    };
    EXPECT_EQ(error(R"(, "coupling": "dynamic")"), "");
    EXPECT_EQ(error(R"(, "coupling": "static")"),
              "scene.json: tool.coupling = \"static\" (expected \"dynamic\", which is all that a "
              "tool in an \"among\" has)");
    EXPECT_EQ(error(R"(, "max_depth": 0.001)"),
              "scene.json: tool.max_depth: is of a tool in contact pairs; this one is in an "
              "\"among\"");
    EXPECT_EQ(error(R"(, "parts": ["floor"])"),
              "scene.json: tool.parts: is of a tool that full FEM bodies feel; this one is in an "
              "\"among\"");
    EXPECT_EQ(error("", "floor"),
              "scene.json: tool.body = \"floor\" (expected a body that can be moved; ground "
              "cannot)");
    EXPECT_EQ(error("", "crate[1]"),
              "scene.json: tool.body = \"crate[1]\" (expected a body that the hand moves; forces "
              "move this one: leave out its density)");
    EXPECT_THAT(error(R"(, "mass": 0)"), HasSubstr("tool.mass = 0 (expected "));
}

TEST(ToolReader, AnotherDeviceGoesIntoTheTextOfTheScene) {
    const SceneDescription scene = parse_tool_scene(held_tool_scenes()[1]);
    const SceneDescription firm = with_device(scene, {.kind = "simulated", .hand = "firm"});
    EXPECT_EQ(std::get<SimulatedDescription>(firm.device).hand.stiffness,
              HandModel::firm().stiffness);
    EXPECT_EQ(firm.name, scene.name);
    EXPECT_EQ(std::get<SimulatedDescription>(parse_tool_scene(firm.text).device).hand.stiffness,
              HandModel::firm().stiffness);
    // the hand alone leaves the rest
    const SceneDescription loose =
        with_device(parse_tool_scene(held_tool_scenes()[0]), {.hand = "loose"});
    EXPECT_EQ(std::get<SimulatedDescription>(loose.device).model.mass, 0.2);
    EXPECT_EQ(std::get<SimulatedDescription>(loose.device).hand.stiffness,
              HandModel::loose().stiffness);
    // nor does it undo what a program has changed
    SceneDescription slower = scene;
    slower.rate = 500;
    slower.held_tool->scale = 2;
    slower.bodies.front().name = "renamed";
    const SceneDescription held = with_device(slower, {.kind = "simulated", .hand = "firm"});
    EXPECT_EQ(held.rate, 500);
    EXPECT_EQ(held.held_tool->scale, 2);
    EXPECT_EQ(held.bodies.front().name, "renamed");
    EXPECT_THAT(input_error([&] { (void)with_device(scene, {.kind = "netwrk"}); }),
                HasSubstr("did you mean \"network\"?"));
    EXPECT_THAT(input_error([&] { (void)with_device(scene, {.kind = "network", .hand = "firm"}); }),
                HasSubstr("device.hand: is of a simulated device, not of a network one"));
    EXPECT_THAT(input_error([&] { (void)with_device(demo_scene("bridge"), {.kind = "network"}); }),
                HasSubstr("nothing in the scene \"bridge\" is held in a hand"));
}

TEST(ToolReader, EveryDemoWithARigidToolIsHeldInAHand) {
    for (const char* name : {"bridge-ball", "bridge-creature", "hoses", "chair-walls",
                             "serpent-figure", "serpent-creature", "figure-axe", "alpha-puzzle",
                             "peg-hole", "soft-hand", "squeeze", "baskets", "basket-heap"}) {
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
