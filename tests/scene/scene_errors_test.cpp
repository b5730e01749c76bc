// What is wrong with a scene file, in words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scene/held_tool_samples.h"
#include "scene/scene_file_fixture.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using Eigen::Vector3d;
using test::SceneFile;
using ::testing::HasSubstr;

TEST_F(SceneFile, TyposNameThePlaceAndTheNearestKey) {
    EXPECT_EQ(
        error_of(R"({"pliant": 1, "bodies": [{"name": "b", "rigid": {"sphere": {"radius": 1}}},
                  {"name": "a", "reduced": {"shape": "spoon", "fixed": "x < 5 %", "rnak": 3}}]})"),
        "scene.json: bodies[1].reduced.rnak: unknown key; did you mean \"rank\"?");
    EXPECT_EQ(error_of(R"({"pliant": 1, "bodeis": []})"),
              "scene.json: bodeis: unknown key; did you mean \"bodies\"?");
    EXPECT_EQ(body_error(R"("reduced": {"shape": "spon", "fixed": "x < 5 %"})").substr(0, 60),
              std::string("scene.json: bodies[0].reduced.shape = \"spon\" (expected \"beam\",")
                  .substr(0, 60));
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spon", "fixed": "x < 5 %"})"),
                HasSubstr("did you mean \"spoon\"?"));
    EXPECT_THAT(body_error(R"("fem": {"shape": "heart", "material": "ruber"})"),
                HasSubstr("did you mean \"rubber\"?"));
    EXPECT_THAT(body_error(R"("fem": {"shape": "heart", "mesh": {"kind": "voxels"}})"),
                HasSubstr("bodies[0].fem.mesh.kind = \"voxels\""));
}

TEST_F(SceneFile, WhatIsNotASceneIsSaid) {
    EXPECT_EQ(error_of("{\n  \"pliant\": 1,\n}"),
              "scene.json:3:1: a key is expected after the comma; remove the comma");
    EXPECT_EQ(error_of("[]"), "scene.json: [] (expected a scene: an object {…})");
    EXPECT_EQ(error_of(R"({"bodies": []})"),
              "scene.json: bodies = [] (expected an array […] of 1 to 256 items)");
    EXPECT_THAT(error_of(R"({"pliant": 1})"), HasSubstr("the key \"bodies\" is missing"));
    EXPECT_THAT(scene_error(R"("name": "x")"), testing::IsEmpty());
    EXPECT_EQ(error_of(R"({"pliant": 2, "bodies": []})"),
              "scene.json: pliant = 2 (expected 1, the format that this program reads)");
    EXPECT_THAT(test::input_error([&] { (void)load_scene(folder_ / "none.json"); }),
                HasSubstr("none.json"));
}

TEST_F(SceneFile, ExactlyOneKindOfBodyIsNeeded) {
    EXPECT_EQ(body_error(R"("loop": "haptic")"),
              "scene.json: bodies[0]: one of the keys \"model\", \"reduced\", \"fem\", \"rigid\", "
              "\"greens\", \"hand\", \"zones\", \"particles\" is needed");
    EXPECT_EQ(body_error(R"("model": "liver.pliant", "fem": {"shape": "heart"})"),
              "scene.json: bodies[0]: only one of the keys \"model\" and \"fem\" may be given");
    EXPECT_EQ(body_error(R"("rigid": {})"),
              "scene.json: bodies[0].rigid: one of the keys \"sphere\", \"box\", \"capsule\", "
              "\"wedge\", \"ground\", \"shape\", \"surface\" is needed");
    EXPECT_EQ(body_error(R"("reduced": {"shape": "spoon"})"),
              "scene.json: bodies[0].reduced: one of the keys \"fixed\", \"free\" is needed");
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spoon", "fixed": "z < 5 %", "free": true})"),
                HasSubstr("only one of the keys \"fixed\" and \"free\" may be given"));
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spoon", "free": false})"),
                HasSubstr("bodies[0].reduced.free = false (expected true)"));
}

TEST_F(SceneFile, NumbersOutOfRangeNameTheRange) {
    EXPECT_EQ(scene_error(R"("rate": 0)"),
              "scene.json: rate = 0 (expected a number from 1 to 10000)");
    EXPECT_EQ(scene_error(R"("gravity": [0, 0])"),
              "scene.json: gravity = [0,0] (expected three numbers [x, y, z])");
    EXPECT_EQ(scene_error(R"("gravity": [0, "x", 0])"),
              "scene.json: gravity[1] = \"x\" (expected a number from -1e+06 to 1e+06)");
    EXPECT_EQ(scene_error(R"("seed": -1)"),
              "scene.json: seed = -1 (expected an integer from 0 to 9007199254740991)");
    EXPECT_EQ(body_error(R"("rigid": {"sphere": {"radius": 0}})"),
              "scene.json: bodies[0].rigid.sphere.radius = 0 (expected a number > 0 and ≤ 10000)");
    EXPECT_EQ(body_error(R"("rigid": {"sphere": {"radius": "5 cm"}})"),
              "scene.json: bodies[0].rigid.sphere.radius = \"5 cm\" (expected a number > 0 and ≤ "
              "10000)")
        << "lengths are numbers in metres";
    EXPECT_THAT(
        body_error(
            R"("fem": {"shape": "heart", "material": {"preset": "rubber", "poisson_ratio": 0.62}})"),
        HasSubstr("poisson_ratio = 0.62 (expected a number > -1 and < 0.5)"));
}

TEST_F(SceneFile, OptionsThatTheLibraryRefusesNameTheirPlace) {
    EXPECT_EQ(
        body_error(R"("reduced": {"shape": "spoon", "fixed": "x < 5 %", "modes": 2, "rank": 9})"),
        "scene.json: bodies[0].reduced.rank = 9 (expected 1 to 5, what 2 modes and their "
        "derivatives span at most; more modes allow more)");
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spoon", "fixed": "left end"})"),
                HasSubstr("scene.json: bodies[0].reduced.fixed"));
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spoon", "fixed": "left end"})"),
                HasSubstr("z < 5 %"));
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spoon", "free": true,
                    "regions": [{"where": "up", "material": "steel"}]})"),
                HasSubstr("bodies[0].reduced.regions[0].where"));
    EXPECT_THAT(body_error(R"("fem": {"shape": "heart", "mesh": {"kind": "tet", "hollow": true}})"),
                HasSubstr("bodies[0].fem.mesh: hollow works with voxel meshes only"));
    EXPECT_THAT(
        body_error(R"("fem": {"shape": "heart", "mesh": {"kind": "tet", "resolution": 2}})"),
        HasSubstr("bodies[0].fem.mesh.resolution = 2 (expected 4 to 512 for tet)"));
    EXPECT_EQ(
        body_error(
            R"("fem": {"shape": "heart", "material": {"density": 1000, "poisson_ratio": 0.3}})"),
        "scene.json: bodies[0].fem.material.youngs_modulus: is missing; without a \"preset\" a "
        "material needs youngs_modulus, poisson_ratio and density");
    EXPECT_THAT(
        body_error(
            R"("fem": {"shape": "heart", "material": {"preset": "wood", "youngs_modulus": 1}})"),
        HasSubstr("bodies[0].fem.material: this preset is stiffer along one direction"));
    EXPECT_THAT(
        body_error(
            R"("fem": {"shape": "heart", "material": {"preset": "wood", "law": "neo-hookean"}})"),
        HasSubstr("scene.json: bodies[0].fem.material"));
}

TEST_F(SceneFile, RotationsMustBeUnitQuaternionsOrAxisAndAngle) {
    const std::string ball = R"("rigid": {"sphere": {"radius": 1}}, "pose": {"rotation": )";
    EXPECT_EQ(
        body_error(ball + "[1, 1, 0, 0]}"),
        "scene.json: bodies[0].pose.rotation = [1,1,0,0] (expected a unit quaternion [w, x, y, "
        "z]; the length of this one is 1.4142135623730951, not 1)");
    EXPECT_THAT(body_error(ball + "[0, 0, 0, 0]}"),
                HasSubstr("the length of this one is 0, not 1"));
    EXPECT_THAT(body_error(ball + "[1, 0, 0]}"), HasSubstr("expected a unit quaternion"));
    EXPECT_THAT(body_error(ball + "90}"),
                HasSubstr("expected a unit quaternion [w, x, y, z], or {\"axis\": [x, y, z]"));
    EXPECT_EQ(
        body_error(ball + R"({"axis": [0, 0, 0], "degrees": 9}})"),
        "scene.json: bodies[0].pose.rotation.axis = [0,0,0] (expected a direction, not zero)");
    const SceneDescription rounded = with_body(ball + "[0.7071, 0, 0, 0.7071]}");
    EXPECT_NEAR(rounded.bodies[0].pose.rotation.norm(), 1, 1e-15);
    const SceneDescription turned = with_body(ball + R"({"axis": [0, 0, 5], "degrees": 90}})");
    EXPECT_NEAR((turned.bodies[0].pose.to_world({1, 0, 0}) - Vector3d(0, 1, 0)).norm(), 0, 1e-15);
}

TEST_F(SceneFile, FilesThatAreNotThereAreNamed) {
    EXPECT_EQ(body_error(R"("model": "lver.pliant")"),
              "scene.json: bodies[0].model = \"lver.pliant\" (expected a file; there is none at " +
                  (folder_ / "lver.pliant").string() + ")");
    EXPECT_THAT(body_error(R"("model": {"path": "sub/x.pliant"})"),
                HasSubstr("bodies[0].model.path = \"sub/x.pliant\""));
    EXPECT_THAT(body_error(R"("model": "notes.txt")"),
                HasSubstr("(expected a .pliant file that `pliant build` made)"));
    EXPECT_THAT(body_error(R"("rigid": {"surface": "notes.txt"})"),
                HasSubstr("(expected a surface mesh: .obj, .ply, .stl or .off)"));
    EXPECT_THAT(body_error(R"("rigid": {"surface": "."})"), HasSubstr("expected a file"));
    EXPECT_THAT(body_error(R"("fem": {"surface": "none.obj"})"),
                HasSubstr("bodies[0].fem.surface = \"none.obj\""));
}

TEST_F(SceneFile, FilesAreFoundFromTheScene) {
    const fs::path file =
        write("one.json", R"({"pliant": 1, "bodies": [{"name": "a", "model": "liver.pliant"}]})");
    const SceneDescription scene = load_scene(file);
    EXPECT_EQ(scene.name, "one") << "the file's name where the scene has none";
    const auto source = std::get<ReducedSource>(scene.bodies[0].source);
    EXPECT_EQ(std::get<ModelFile>(source.model).path, folder_ / "liver.pliant");
    write("bad.json", R"({"pliant": 1, "bodies": 7})");
    EXPECT_THAT(test::input_error([&] { (void)load_scene(folder_ / "bad.json"); }),
                HasSubstr((folder_ / "bad.json").string() + ": bodies = 7 (expected"));
}

TEST_F(SceneFile, NamesAreUniqueAndLoopsExist) {
    EXPECT_EQ(error_of(R"({"pliant": 1, "bodies": [{"name": "a", "rigid": {"ground": {}}},
                          {"name": "a", "rigid": {"ground": {}}}]})"),
              "scene.json: bodies[1].name = \"a\" (expected a name that no other body has)");
    EXPECT_EQ(error_of(R"({"pliant": 1, "bodies": [{"name": "a.b", "rigid": {"ground": {}}}]})"),
              "scene.json: bodies[0].name = \"a.b\" (expected a name of 1 to 60 characters without "
              ". [ ])");
    EXPECT_EQ(scene_error(R"("loops": [{"name": "haptic", "rate": 5}])"),
              "scene.json: loops[0].name = \"haptic\" (expected a name that no other loop has; "
              "\"haptic\" is always there)");
    EXPECT_THAT(scene_error(R"("loops": [{"name": "a", "rate": 5}, {"name": "a", "rate": 6}])"),
                HasSubstr("loops[1].name"));
    EXPECT_EQ(body_error(R"("rigid": {"ground": {}}, "loop": "slow")"),
              "scene.json: bodies[0].loop = \"slow\" (expected the name of a loop of the scene: "
              "\"haptic\")");
    EXPECT_THAT(scene_error(R"("loops": [{"name": "slow", "rate": 5}], "tool": {"loop": "sow"})"),
                HasSubstr("tool.loop = \"sow\" (expected the name of a loop of the scene: "
                          "\"haptic\", \"slow\")"));
}

TEST_F(SceneFile, KeysThatDoNotGoTogetherAreSaid) {
    EXPECT_EQ(body_error(R"("rigid": {"sphere": {"radius": 1}, "density": 1,
                  "motion": {"oscillation": {"frequency": 1}}})"),
              "scene.json: bodies[0].rigid: only one of the keys \"density\" and \"motion\" may be "
              "given");
    EXPECT_THAT(body_error(R"("rigid": {"ground": {}, "density": 1})"), HasSubstr("no mass"));
    EXPECT_EQ(body_error(R"("rigid": {"sphere": {"radius": 1}, "size": 1})"),
              "scene.json: bodies[0].rigid.size: goes with \"shape\" or \"surface\" only");
    const std::string box = R"("fem": {"box": {"sizes": [1, 1, 2], "cells": [4, 4, 4])";
    EXPECT_THAT(body_error(box + R"(}, "mesh": {}})"), HasSubstr("fem.mesh: goes with"));
    EXPECT_THAT(body_error(box + R"(, "graded_layers": 1}})"),
                HasSubstr("fem.box.sizes = [1,1,2] (expected three equal lengths"));
    EXPECT_THAT(
        body_error(
            R"("fem": {"box": {"sizes": [1, 1, 1], "cells": [4, 4, 6], "graded_layers": 1}})"),
        HasSubstr("fem.box.cells = [4,4,6] (expected three equal numbers"));
    EXPECT_THAT(body_error(R"("fem": {"box": {"sizes": [1, 1, 1], "cells": [256, 256, 256]}})"),
                HasSubstr("at most 1,000,000 cells"));
    EXPECT_THAT(body_error(R"("fem": {"shape": "heart", "fixed": "x < 5 %"},
                              "velocity": {"linear": [1, 0, 0]})"),
                HasSubstr("bodies[0].velocity: only reduced bodies that are \"free\""));
    EXPECT_THAT(body_error(R"("reduced": {"shape": "spoon", "fixed": "x < 5 %"}, "velocity": {})"),
                HasSubstr("bodies[0].velocity"));
    EXPECT_THAT(
        body_error(
            R"("rigid": {"ground": {}}, "copies": {"counts": [20, 20, 20], "spacing": [1, 1, 1]})"),
        HasSubstr("copies.counts = [20,20,20] (expected at most 4096 copies together)"));
    EXPECT_THAT(body_error(R"("rigid": {"ground": {}}, "colour": "red")"),
                HasSubstr("colour = \"red\" (expected a colour as in \"#4080c0\")"));
    EXPECT_THAT(scene_error(R"("camera": {"eye": [0, 0, 0]})"),
                HasSubstr("camera.eye = [0,0,0] (expected another place than the target)"));
    EXPECT_THAT(scene_error(R"("wind": {"direction": [0, 0, 0]})"),
                HasSubstr("wind.direction = [0,0,0] (expected a direction, not zero)"));
}

TEST_F(SceneFile, MotionsNeedRisingTimes) {
    EXPECT_EQ(
        body_error(R"("rigid": {"ground": {}, "motion": {"path": {"keyframes":
                  [{"time": 0}, {"time": 1}, {"time": 1}]}}})"),
        "scene.json: bodies[0].rigid.motion.path.keyframes[2].time = 1 (expected a time after "
        "that of the frame before)");
    EXPECT_THAT(body_error(R"("rigid": {"ground": {}, "motion": {"path": {"keyframes": []}}})"),
                HasSubstr("of 1 to 10000 items"));
    EXPECT_THAT(body_error(R"("rigid": {"ground": {}, "motion": {}})"),
                HasSubstr("one of the keys \"path\", \"oscillation\" is needed"));
}

TEST_F(SceneFile, ScriptsNameBodiesAndToolsOfTheScene) {
    EXPECT_EQ(scene_error(R"("script": [{"time": 0, "grab": {"body": "bll", "at": [0, 0, 0]}}])"),
              "scene.json: script[0].grab.body = \"bll\" (expected a body of the scene: \"ball\")");
    EXPECT_EQ(scene_error(R"("script": [{"time": 0, "tool": {"target": [0, 0, 0]}}])"),
              "scene.json: script[0].tool: the scene has no tool");
    EXPECT_EQ(scene_error(R"("script": [{"time": 0}])"),
              "scene.json: script[0]: one of the keys \"grab\", \"poke\", \"drag\", \"release\", "
              "\"tool\", \"set\", \"reset\" is needed");
    EXPECT_THAT(scene_error(R"("script": [{"time": 0, "release": {"slot": 4}}])"),
                HasSubstr("script[0].release.slot = 4 (expected an integer from 0 to 3)"));
    const std::string copies =
        R"({"pliant": 1, "bodies": [{"name": "a", "rigid": {"ground": {}},
            "copies": {"counts": [2, 1, 1], "spacing": [1, 1, 1]}}],
            "script": [{"time": 0, "grab": {"at": [0, 0, 0], "body": ")";
    EXPECT_EQ(error_of(copies + "a[1]\"}}]}"), "");
    EXPECT_THAT(error_of(copies + "a[2]\"}}]}"), HasSubstr("a body of the scene: \"a[0]\" …"));
    EXPECT_THAT(error_of(copies + "a\"}}]}"), HasSubstr("a body of the scene"));
}

}  // namespace
}  // namespace pliant
