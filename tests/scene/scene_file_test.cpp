#include "pliant/scene/scene_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <regex>
#include <set>
#include <sstream>

#include "input_error.h"
#include "pliant/geometry/shapes.h"
#include "scene/greens_scenes.h"
#include "scene/held_tool_samples.h"
#include "scene/json_schema.h"
#include "scene/scene_file_fixture.h"
#include "scene/scene_files.h"
#include "scene/scene_reader.h"

namespace pliant {
namespace {

namespace fs = std::filesystem;
using Eigen::Vector3d;
using test::SceneFile;
using ::testing::HasSubstr;

/// Uses every key of the format.
const char* const kEveryKey = R"({
  "$schema": "scene.schema.json", "pliant": 1, "name": "everything", "description": "all keys",
  "gravity": [0, 0, -1], "wind": {"direction": [0, 2, 0], "speed": 3, "gusts": 0.5},
  "rate": 500, "seed": 42, "loops": [{"name": "slow", "rate": 50}],
  "bodies": [
    {"name": "file", "model": "liver.pliant", "pose": {"position": [1, 2, 3], "rotation": [0.5, 0.5, 0.5, 0.5]}},
    {"name": "part", "model": {"path": "liver.pliant", "rank": 7, "damping": {"mass": 1, "stiffness": 0.1},
                               "linear": true, "coupling": "decoupled"}, "colour": "#ff8000"},
    {"name": "built", "reduced": {"shape": "spoon", "size": 0.3, "material": "steel",
        "regions": [{"where": "x > 90 %", "material": {"preset": "rubber", "density": 900}}],
        "fixed": "x < 5 %", "mesh": {"kind": "graded", "resolution": 32, "hollow": false, "growth": 1.5, "levels": 2},
        "keep_largest": true, "modes": 8, "rank": 9, "storage": "int16",
        "damping": {"mass": 0.5, "stiffness": 0.01}, "linear": true, "coupling": "coupled",
        "elements": "plain"},
        "contact": {"pointshell": {"points": 5000, "levels": 3, "resolution": 64, "surface": "offset", "offset_cells": 2},
                    "field": {"resolution": 32, "surface": "offset", "offset_cells": 1, "expansion": 2,
                              "domains": 2, "proxies": 50}}},
    {"name": "thrown", "reduced": {"surface": "liver.obj", "free": true,
        "material": {"youngs_modulus": 2e5, "poisson_ratio": 0.3, "density": 800, "law": "neo-hookean"}},
        "velocity": {"linear": [1, 0, 0], "angular": [0, 0, 2]}, "loop": "slow", "colour": [0, 0.5, 1],
        "copies": {"counts": [2, 3, 4], "spacing": [1, 1, 2], "speed": 0.5, "spin": 0.25}},
    {"name": "block", "fem": {"box": {"sizes": [1, 1, 1], "cells": [4, 4, 4], "graded_layers": 1},
        "material": "tissue", "elements": "plain", "fixed": "z < 1 %", "friction": 0.4,
        "damping": {"mass": 1, "stiffness": 0.001, "bulk_viscosity": 2, "shear_viscosity": 3,
                    "ratio": 0.2}}},
    {"name": "soft", "fem": {"shape": {"name": "heart", "resolution": 20}, "size": 0.2, "mesh": {"resolution": 10}}},
    {"name": "soft2", "fem": {"surface": "liver.obj"}},
    {"name": "ball", "rigid": {"sphere": {"radius": 0.1}, "density": 500}},
    {"name": "crate", "rigid": {"box": {"sizes": [1, 2, 3]}, "motion": {"path": {"repeat": true, "keyframes": [
        {"time": 0, "position": [0, 0, 1], "rotation": {"axis": [0, 0, 2], "degrees": 90}}, {"time": 1},
        {"time": 2, "position": [0, 0, 1], "rotation": {"axis": [0, 0, 2], "degrees": 90}}]}}}},
    {"name": "pill", "rigid": {"capsule": {"radius": 0.1, "length": 0.5}}},
    {"name": "wedge", "rigid": {"wedge": {"sizes": [1, 2, 3]}, "motion": {"oscillation":
        {"amplitude": [1, 0, 0], "rotation_degrees": [0, 0, 90], "frequency": 2, "phase_degrees": 90}}}},
    {"name": "floor", "rigid": {"ground": {"size": 4}}},
    {"name": "statue", "rigid": {"shape": "figure", "size": 1},
        "contact": {"pointshell": "liver.pliant", "field": "liver.pliant"}},
    {"name": "rock", "rigid": {"surface": "liver.obj", "size": 1},
        "contact": {"material": "stone", "friction": 0.6, "restitution": 0.2, "stiffness": 1e5}}
  ],
  "contacts": [
    {"shell": "built", "field": "statue", "stiffness": 400, "friction": 0.2, "nodes": 3000, "exchange": "explicit",
     "scaling": "single-count", "coherence": false},
    {"shell": "built", "field": "pill", "budget_us": 100, "scaling": "none"},
    {"among": ["ball", "statue"], "name": "solids", "iterations": 30, "max_contacts": 500,
     "restitution": 0.4},
    {"self": "built", "exclusion": 0.2}
  ],
  "ignore_contact": [["ball", "soft"]],
  "pull": {"stiffness": 5, "damping": 0.5, "force_limit": 9},
  "poke": {"force": 2},
  "tool": {"radius": 0.05, "start": [0, 0, 1], "speed_limit": 2, "loop": "slow",
           "motion": {"path": {"keyframes": [{"time": 0}, {"time": 2, "position": [0, 0, 0.5]}]}}},
  "camera": {"eye": [1, 1, 1], "target": [0, 0, 0.5]},
  "ground": {"height": -1},
  "script": [
    {"time": 3, "drag": {"target": [0, 1, 0], "duration": 0.5, "slot": 1}},
    {"time": 1, "grab": {"body": "built", "at": [0, 0, 0], "target": [0, 0, 1], "duration": 0.25, "slot": 1}},
    {"time": 2, "poke": {"body": "thrown[23]", "at": [0, 0, 1], "force": 3, "slot": 2}},
    {"time": 4, "release": {"slot": 1}},
    {"time": 5, "tool": {"target": [1, 0, 0], "duration": 1}},
    {"time": 6, "set": {"parameter": "built.stiffness", "value": 2}},
    {"time": 7, "reset": true}
  ]
})";

/// Paths of all keys of a value: "bodies[3].name".
void collect_keys(const JsonValue& value, const std::string& path, std::set<std::string>& keys) {
    if (value.is(JsonValue::Type::Array))
        for (std::size_t i = 0; i < value.array().size(); ++i)
            collect_keys(value.array()[i], item_path(path, i), keys);
    if (!value.is(JsonValue::Type::Object)) return;
    for (const auto& [key, member] : value.object()) {
        keys.insert(member_path(path, key));
        collect_keys(member, member_path(path, key), keys);
    }
}

/// A part of the schema and its shortest name: shared parts have one, wherever they are used.
struct Part {
    const JsonValue* schema;
    std::string name;
};

/// The part with what it refers to and its alternatives.
std::vector<Part> unfolded(const JsonValue& root, const Part& part) {
    if (const JsonValue* reference = part.schema->find("$ref"))
        return unfolded(root, {find_part(root, reference->string()), reference->string()});
    std::vector<Part> all = {part};
    if (const JsonValue* alternatives = part.schema->find("oneOf"))
        for (const JsonValue& alternative : alternatives->array())
            for (const Part& inner : unfolded(root, {&alternative, part.name}))
                all.push_back(inner);
    return all;
}

void collect_schema_keys(const JsonValue& root, const Part& start, std::set<std::string>& keys) {
    for (const Part& part : unfolded(root, start)) {
        if (const JsonValue* items = part.schema->find("items"))
            collect_schema_keys(root, {items, part.name + "[]"}, keys);
        if (const JsonValue* properties = part.schema->find("properties"))
            for (const auto& [key, property] : properties->object()) {
                keys.insert(part.name + "." + key);
                collect_schema_keys(root, {&property, part.name + "." + key}, keys);
            }
    }
}

/// Every key of bodies of particles.
const char* const kParticleKeys = R"({
    "pliant": 1,
    "bodies": [
        {"name": "placed", "particles": {"shape": "fish", "size": 0.4, "count": 50, "links": 6,
            "density": 900, "stiffness": 0.5, "spheres": true,
            "parts": [{"where": "x > 70 %", "stiffness": 0.9}],
            "objects": [{"position": [0, 0, 1], "rotation": [1, 0, 0, 0]}],
            "held": [{"where": "x < 20 %",
                      "motion": {"oscillation": {"amplitude": [0, 0, 0.1], "frequency": 1}}}],
            "passes": 3, "damping": 1, "friction": 0.2, "cloth_stiffness": 0.5,
            "planes": [{"normal": [0, 0, 1], "offset": 0.1}]}},
        {"name": "by hand", "particles": {"surface": "liver.obj", "layout": "notes.txt",
            "cloth_compliance": 1e-4}},
        {"name": "cloth", "particles": {"sheet": {"sizes": [2, 1], "cells": [8, 4]},
            "double_faced": true, "cloth": {"mass": 0.3, "radius": 0.02, "keeps_lengths": false}}},
        {"name": "fan", "particles": {"fan": {"radius": 2, "sectors": 8}, "cloth": {}}},
        {"name": "ball", "particles": {"ball": {"radius": 0.1}}},
        {"name": "file", "particles": {"model": "liver.pliant"}}
    ]
})";

/// The name in the schema of a path in a scene, or the path when there is none.
std::string name_in_schema(const JsonValue& root, const std::string& path) {
    std::vector<Part> parts = unfolded(root, {&root, "#"});
    std::istringstream tokens(std::regex_replace(path, std::regex("\\[[0-9]+\\]|\\."), " $& "));
    std::string token, name;
    while (tokens >> token) {
        if (token == ".") continue;
        const bool is_item = token[0] == '[';
        std::vector<Part> next;
        for (const Part& part : parts) {
            const JsonValue* properties = part.schema->find("properties");
            const JsonValue* inner = is_item      ? part.schema->find("items")
                                     : properties ? properties->find(token)
                                                  : nullptr;
            if (!inner) continue;
            name = part.name + (is_item ? "[]" : "." + token);
            for (const Part& found : unfolded(root, {inner, name})) next.push_back(found);
        }
        if (next.empty()) return path + " (not in the schema)";
        parts = next;
    }
    return name;
}

TEST_F(SceneFile, ReaderAndSchemaKnowTheSameKeys) {
    const JsonValue root = parse_json(scene_schema(), "schema");
    std::set<std::string> in_schema, in_scene, in_reader;
    collect_schema_keys(root, {&root, "#"}, in_schema);
    std::vector<std::string> scenes = test::held_tool_scenes();
    scenes.push_back(kEveryKey);
    scenes.push_back(kParticleKeys);
    for (const std::string& text : test::greens_key_scenes()) scenes.push_back(text);
    for (const std::string& text : scenes) {
        const JsonValue scene = parse_json(text, "scene.json");
        std::set<std::string> paths_in_scene;
        collect_keys(scene, "", paths_in_scene);
        for (const std::string& path : paths_in_scene) in_scene.insert(name_in_schema(root, path));
        std::vector<std::string> asked;
        const JsonSource source{.file = "scene.json", .asked = &asked};
        (void)read_scene(JsonObject(scene, "", source), folder_);
        for (const std::string& path : asked) in_reader.insert(name_in_schema(root, path));
    }
    using ::testing::ContainerEq;
    EXPECT_THAT(in_scene, ContainerEq(in_schema)) << "the scenes of this test must have every key";
    EXPECT_THAT(in_reader, ContainerEq(in_schema));
    EXPECT_GT(in_schema.size(), 100u);
}

TEST_F(SceneFile, ReadsEveryKey) {
    const SceneDescription scene = parse(kEveryKey);
    EXPECT_EQ(scene.name, "everything");
    EXPECT_EQ(scene.description, "all keys");
    EXPECT_EQ(scene.text, kEveryKey);
    EXPECT_EQ(scene.folder, folder_);
    EXPECT_EQ(scene.gravity, Vector3d(0, 0, -1));
    EXPECT_EQ(scene.wind.direction, Vector3d(0, 1, 0)) << "made unit";
    EXPECT_EQ(scene.wind.speed, 3);
    EXPECT_EQ(scene.wind.gusts, 0.5);
    EXPECT_EQ(scene.rate, 500);
    EXPECT_EQ(scene.seed, 42u);
    ASSERT_EQ(scene.loops.size(), 1u);
    EXPECT_EQ(scene.loops[0].name, "slow");
    EXPECT_EQ(scene.loops[0].rate, 50);
    ASSERT_EQ(scene.bodies.size(), 14u);

    const auto reduced = [&](std::size_t i) {
        return std::get<ReducedSource>(scene.bodies[i].source);
    };
    EXPECT_EQ(std::get<ModelFile>(reduced(0).model).path, folder_ / "liver.pliant");
    EXPECT_EQ(std::get<ModelFile>(reduced(0).model).rank, 0);
    EXPECT_EQ(reduced(0).damping.stiffness, 0.002);
    EXPECT_EQ(scene.bodies[0].pose.position, Vector3d(1, 2, 3));
    EXPECT_EQ(scene.bodies[0].pose.rotation.w(), 0.5);
    EXPECT_EQ(scene.bodies[0].pose.rotation.z(), 0.5);
    EXPECT_EQ(std::get<ModelFile>(reduced(1).model).rank, 7);
    EXPECT_EQ(reduced(1).damping.mass, 1);
    EXPECT_TRUE(reduced(1).is_linear);
    EXPECT_EQ(reduced(1).coupling, FlightCoupling::Decoupled);
    EXPECT_EQ(scene.bodies[1].colour[0], 1.0f);
    EXPECT_NEAR(scene.bodies[1].colour[1], 128.0 / 255, 1e-6);
    EXPECT_EQ(scene.bodies[1].colour[2], 0.0f);

    const auto spoon = std::get<ReducedRecipe>(reduced(2).model);
    EXPECT_EQ(spoon.surface.shape, "spoon");
    EXPECT_EQ(spoon.build.size, 0.3);
    EXPECT_EQ(spoon.build.material.youngs_modulus(), material_preset("steel").youngs_modulus());
    ASSERT_EQ(spoon.build.regions.size(), 1u);
    EXPECT_EQ(spoon.build.regions[0].selection, "x > 90 %");
    EXPECT_EQ(spoon.build.regions[0].material.density, 900);
    EXPECT_EQ(spoon.build.regions[0].material.lambda, material_preset("rubber").lambda);
    EXPECT_EQ(spoon.build.fixed, "x < 5 %");
    EXPECT_FALSE(spoon.build.is_free);
    EXPECT_EQ(spoon.build.mesh.kind, "graded");
    EXPECT_EQ(spoon.build.mesh.resolution, 32);
    EXPECT_EQ(spoon.build.mesh.growth, 1.5);
    EXPECT_EQ(spoon.build.mesh.levels, 2);
    EXPECT_TRUE(spoon.build.keeps_largest);
    EXPECT_EQ(spoon.build.num_modes, 8);
    EXPECT_EQ(spoon.build.rank, 9);
    EXPECT_EQ(spoon.build.storage, ShapeStorage::Int16);
    EXPECT_EQ(spoon.build.elements, ElementFormulation::Plain);
    EXPECT_EQ(reduced(2).damping.stiffness, 0.01);

    const auto thrown = std::get<ReducedRecipe>(reduced(3).model);
    EXPECT_EQ(thrown.surface.file, folder_ / "liver.obj");
    EXPECT_TRUE(thrown.build.is_free);
    EXPECT_EQ(thrown.build.material.law, Law::NeoHookean);
    EXPECT_NEAR(thrown.build.material.youngs_modulus(), 2e5, 1e-6);
    EXPECT_EQ(scene.bodies[3].velocity.linear, Vector3d(1, 0, 0));
    EXPECT_EQ(scene.bodies[3].velocity.angular, Vector3d(0, 0, 2));
    EXPECT_EQ(scene.bodies[3].loop, "slow");
    EXPECT_EQ(scene.bodies[3].copies->counts, (std::array{2, 3, 4}));
    EXPECT_EQ(scene.bodies[3].copies->spacing, Vector3d(1, 1, 2));
    EXPECT_EQ(scene.bodies[3].copies->speed, 0.5);
    EXPECT_EQ(scene.bodies[3].copies->spin, 0.25);

    const auto block = std::get<FemSource>(scene.bodies[4].source);
    EXPECT_EQ(std::get<FemBox>(block.shape).cells, (std::array{4, 4, 4}));
    EXPECT_EQ(std::get<FemBox>(block.shape).graded_layers, 1);
    EXPECT_EQ(block.fixed, "z < 1 %");
    EXPECT_EQ(block.friction, 0.4);
    EXPECT_EQ(block.damping.bulk_viscosity, 2);
    EXPECT_EQ(block.damping.shear_viscosity, 3);
    EXPECT_EQ(block.damping_ratio, 0.2);
    EXPECT_EQ(block.elements, ElementFormulation::Plain);
    const auto soft = std::get<FemSource>(scene.bodies[5].source);
    EXPECT_EQ(std::get<SurfaceSource>(soft.shape).shape_resolution, 20);
    EXPECT_EQ(soft.mesh.resolution, 10);
    EXPECT_EQ(soft.size, 0.2);
    EXPECT_EQ(soft.damping_ratio, 0.1) << "where no damping is given";
    EXPECT_EQ(soft.elements, ElementFormulation::Accurate);

    const auto rigid = [&](std::size_t i) { return std::get<RigidSource>(scene.bodies[i].source); };
    EXPECT_EQ(std::get<RigidSphere>(rigid(7).shape).radius, 0.1);
    EXPECT_EQ(rigid(7).density, 500);
    EXPECT_EQ(std::get<RigidBox>(rigid(8).shape).sizes, Vector3d(1, 2, 3));
    EXPECT_EQ(std::get<RigidCapsule>(rigid(9).shape).length, 0.5);
    EXPECT_EQ(std::get<RigidWedge>(rigid(10).shape).sizes, Vector3d(1, 2, 3));
    EXPECT_EQ(std::get<RigidGround>(rigid(11).shape).size, 4);
    EXPECT_EQ(std::get<SurfaceSource>(rigid(12).shape).shape, "figure");
    // a quarter turn about z at the first key; nothing of the pose is left out at the second
    const Pose start = rigid(8).motion->at(0).pose, end = rigid(8).motion->at(1).pose;
    EXPECT_NEAR((start.to_world({1, 0, 0}) - Vector3d(0, 1, 1)).norm(), 0, 1e-12);
    EXPECT_NEAR((end.to_world({1, 0, 0}) - Vector3d(1, 0, 0)).norm(), 0, 1e-9);
    // the sine at a phase of 90° starts at its amplitude
    const Pose swing = rigid(10).motion->at(0).pose;
    EXPECT_NEAR((swing.to_world({1, 0, 0}) - Vector3d(1, 1, 0)).norm(), 0, 1e-12);

    const BodyContact& built = scene.bodies[2].contact;
    EXPECT_EQ(built.pointshell->points.num_points, 5000);
    EXPECT_EQ(built.pointshell->points.num_levels, 3);
    EXPECT_EQ(built.pointshell->field.resolution, 64);
    EXPECT_EQ(built.pointshell->field.surface, FieldSurface::Offset);
    EXPECT_EQ(built.pointshell->field.offset_cells, 2);
    EXPECT_EQ(built.field->build.resolution, 32);
    EXPECT_EQ(built.field->build.surface, FieldSurface::Offset);
    EXPECT_EQ(built.field->build.offset_cells, 1);
    EXPECT_EQ(built.field->build.expansion, 2);
    EXPECT_EQ(built.field->deformed.num_domains, 2);
    EXPECT_EQ(built.field->deformed.num_proxies, 50);
    EXPECT_EQ(scene.bodies[12].contact.pointshell->file, folder_ / "liver.pliant");
    EXPECT_EQ(scene.bodies[12].contact.field->file, folder_ / "liver.pliant");
    ASSERT_EQ(scene.contacts.size(), 4u);
    const auto& pair = std::get<PairContactDescription>(scene.contacts[0]);
    EXPECT_EQ(pair.shell, "built");
    EXPECT_EQ(pair.field, "statue");
    EXPECT_EQ(pair.stiffness, 400);
    EXPECT_EQ(pair.friction, 0.2);
    EXPECT_EQ(pair.nodes, 3000);
    EXPECT_EQ(pair.exchange, ContactExchange::Explicit);
    EXPECT_EQ(pair.scaling, ContactScaling::SingleCount);
    EXPECT_FALSE(pair.has_coherence);
    EXPECT_NEAR(std::get<PairContactDescription>(scene.contacts[1]).budget, 1e-4, 1e-12);
    EXPECT_EQ(std::get<PairContactDescription>(scene.contacts[1]).scaling, ContactScaling::None);
    const auto& among = std::get<AmongContactDescription>(scene.contacts[2]);
    EXPECT_EQ(among.bodies, (std::vector<std::string>{"ball", "statue"}));
    EXPECT_EQ(among.name, "solids");
    EXPECT_EQ(among.iterations, 30);
    EXPECT_EQ(among.max_contacts, 500);
    EXPECT_EQ(std::get<SelfContactDescription>(scene.contacts[3]).body, "built");
    EXPECT_EQ(std::get<SelfContactDescription>(scene.contacts[3]).exclusion, 0.2);

    EXPECT_EQ(scene.pull.stiffness, 5);
    EXPECT_EQ(scene.pull.damping, 0.5);
    EXPECT_EQ(scene.pull.force_limit, 9);
    EXPECT_EQ(scene.poke_force, 2);
    ASSERT_TRUE(scene.tool);
    EXPECT_EQ(scene.tool->radius, 0.05);
    EXPECT_EQ(scene.tool->start, Vector3d(0, 0, 1));
    EXPECT_EQ(scene.tool->speed_limit, 2);
    EXPECT_EQ(scene.tool->loop, "slow");
    EXPECT_NEAR(scene.tool->script->at(0).pose.position[2], 1, 1e-12) << "default: the start";
    EXPECT_EQ(scene.camera.eye, Vector3d(1, 1, 1));
    EXPECT_EQ(scene.camera.target, Vector3d(0, 0, 0.5));
    EXPECT_TRUE(scene.has_ground);
    EXPECT_EQ(scene.ground_height, -1);

    ASSERT_EQ(scene.script.size(), 7u);
    EXPECT_EQ(scene.script[0].kind, Command::Kind::Grab) << "sorted by time";
    EXPECT_EQ(scene.script[0].body, "built");
    EXPECT_EQ(scene.script[0].target, Vector3d(0, 0, 1));
    EXPECT_EQ(scene.script[0].duration, 0.25);
    EXPECT_EQ(scene.script[0].slot, 1);
    EXPECT_EQ(scene.script[1].kind, Command::Kind::Poke);
    EXPECT_EQ(scene.script[1].at, Vector3d(0, 0, 1));
    EXPECT_EQ(scene.script[1].value, 3);
    EXPECT_EQ(scene.script[2].kind, Command::Kind::Drag);
    EXPECT_EQ(scene.script[3].kind, Command::Kind::Release);
    EXPECT_EQ(scene.script[4].kind, Command::Kind::MoveTool);
    EXPECT_EQ(scene.script[5].kind, Command::Kind::SetParameter);
    EXPECT_EQ(scene.script[5].parameter, "built.stiffness");
    EXPECT_EQ(scene.script[6].kind, Command::Kind::Reset);
}

/// Adds to a value of this schema what the schema says a missing key means.
JsonValue with_defaults(const JsonValue& root, const JsonValue& unresolved,
                        const JsonValue& value) {
    const JsonValue* reference = unresolved.find("$ref");
    const JsonValue& schema = reference ? *find_part(root, reference->string()) : unresolved;
    if (value.is(JsonValue::Type::Array) && schema.find("items")) {
        JsonValue::Array items;
        for (const JsonValue& item : value.array())
            items.push_back(with_defaults(root, *schema.find("items"), item));
        return JsonValue(items);
    }
    if (!value.is(JsonValue::Type::Object)) return value;
    const JsonValue* properties = schema.find("properties");
    if (!properties) {
        for (const JsonValue& alternative : schema.find("oneOf")->array())
            if (const JsonValue* type = alternative.find("type");
                type && type->string() == "object")
                return with_defaults(root, alternative, value);
        return value;
    }
    JsonValue::Object members;
    for (const auto& [key, property] : properties->object()) {
        if (const JsonValue* given = value.find(key))
            members.emplace_back(key, with_defaults(root, property, *given));
        else if (const JsonValue* otherwise = property.find("default"))
            members.emplace_back(key, *otherwise);
    }
    return JsonValue(members);
}

/// Everything that a missing key could change, as text.
std::string fingerprint(const SceneDescription& scene) {
    std::ostringstream out;
    const auto put = [&](const auto& x) { out << x << ' '; };
    const auto vector = [&](const Vector3d& x) { out << x.transpose() << ' '; };
    vector(scene.gravity), vector(scene.wind.direction);
    put(scene.wind.speed), put(scene.wind.gusts), put(scene.rate), put(scene.seed);
    put(scene.loops.size()), put(scene.pull.stiffness), put(scene.pull.damping);
    put(scene.tool->radius), vector(scene.tool->start), put(scene.tool->speed_limit);
    put(scene.tool->loop), vector(scene.camera.target), put(scene.has_ground);
    put(scene.ground_height), put(scene.description);
    for (const BodyDescription& body : scene.bodies) {
        out << '\n' << body.name << ' ';
        vector(body.pose.position), vector(body.velocity.linear), vector(body.velocity.angular);
        vector(body.pose.rotation.vec()), put(body.pose.rotation.w());
        for (const float c : body.colour) put(c);
        put(body.loop);
        if (body.copies) put(body.copies->speed), put(body.copies->spin);
        const auto field = [&](const FieldBuildOptions& o) {
            put(o.resolution), put(static_cast<int>(o.surface)), put(o.offset_cells);
            put(o.expansion);
        };
        if (const auto& shell = body.contact.pointshell)
            field(shell->field), put(shell->points.num_points), put(shell->points.num_levels);
        if (const auto& solid = body.contact.field) {
            field(solid->build);
            put(solid->deformed.num_domains), put(solid->deformed.num_proxies);
        }
        const auto mesh = [&](const SimulationMeshOptions& m) {
            put(m.kind), put(m.is_hollow), put(m.growth), put(m.levels), put(m.resolution);
        };
        const auto material = [&](const Material& m) {
            put(m.density), put(m.lambda), put(m.mu), put(to_string(m.law));
        };
        if (const auto* reduced = std::get_if<ReducedSource>(&body.source)) {
            put(reduced->damping.mass), put(reduced->damping.stiffness), put(reduced->is_linear);
            put(static_cast<int>(reduced->coupling));
            if (const auto* recipe = std::get_if<ReducedRecipe>(&reduced->model)) {
                mesh(recipe->build.mesh), material(recipe->build.material);
                put(recipe->build.num_modes), put(recipe->build.rank);
                put(recipe->build.keeps_largest), put(static_cast<int>(recipe->build.storage));
                put(recipe->build.regions.size());
            }
        } else if (const auto* fem = std::get_if<FemSource>(&body.source)) {
            mesh(fem->mesh), material(fem->material), put(fem->friction);
            put(fem->damping.mass), put(fem->damping.stiffness);
            put(fem->damping.bulk_viscosity), put(fem->damping.shear_viscosity);
            put(fem->damping_ratio);
            if (const auto* box = std::get_if<FemBox>(&fem->shape)) put(box->graded_layers);
        } else {
            const auto& rigid = std::get<RigidSource>(body.source);
            if (const auto* ground = std::get_if<RigidGround>(&rigid.shape)) put(ground->size);
            if (rigid.motion)
                for (const double t : {0.0, 0.3, 1.7}) vector(rigid.motion->at(t).pose.position);
        }
    }
    for (const ContactDescription& any : scene.contacts) {
        const auto& contact = std::get<PairContactDescription>(any);
        put(contact.friction.value_or(-1)), put(contact.has_coherence);
        put(static_cast<int>(contact.exchange)), put(static_cast<int>(contact.scaling));
    }
    for (const ScriptEvent& event : scene.script) put(event.slot), put(event.duration);
    return out.str();
}

std::string written(const JsonValue& value) { return to_text(value, std::size_t{1} << 20); }

TEST_F(SceneFile, DefaultsAreThoseOfTheSchema) {
    const JsonValue root = parse_json(scene_schema(), "schema");
    const std::string text =
        R"({"pliant": 1, "wind": {}, "pull": {}, "tool": {}, "camera": {"eye": [1, 1, 1]}, "bodies": [
        {"name": "a", "reduced": {"shape": "spoon", "fixed": "x < 5 %", "mesh": {}, "damping": {}}, "pose": {},
         "contact": {"pointshell": {"surface": "offset"}, "field": {"surface": "offset"}}},
        {"name": "b", "reduced": {"shape": "spoon", "free": true}, "velocity": {},
         "copies": {"counts": [1, 1, 1], "spacing": [1, 1, 1]}},
        {"name": "c", "model": {"path": "liver.pliant", "damping": {}}},
        {"name": "d", "fem": {"shape": "heart", "mesh": {}, "damping": {}}},
        {"name": "e", "fem": {"box": {"sizes": [1, 1, 1], "cells": [2, 2, 2]}}},
        {"name": "f", "rigid": {"ground": {}, "motion": {"oscillation": {"frequency": 1}}}},
        {"name": "g", "rigid": {"sphere": {"radius": 1}, "motion": {"path": {"keyframes":
            [{"time": 0}, {"time": 1, "position": [1, 1, 1]}]}}}}],
        "contacts": [{"shell": "a", "field": "g"}],
        "script": [{"time": 0, "grab": {"body": "a", "at": [0, 0, 0]}}, {"time": 0, "release": {}},
                   {"time": 0, "poke": {"body": "a", "at": [0, 0, 0]}}, {"time": 0, "drag": {"target": [0, 0, 0]}},
                   {"time": 0, "tool": {"target": [0, 0, 0]}}]})";
    const JsonValue value = parse_json(text, "scene.json");
    const std::string explicit_text = written(with_defaults(root, root, value));
    EXPECT_THAT(explicit_text, HasSubstr(R"("storage":"float32")"));
    EXPECT_THAT(explicit_text, HasSubstr(R"("phase_degrees":0)"));
    EXPECT_EQ(fingerprint(parse(explicit_text)), fingerprint(parse(text)));
    // a ground that is an object has a default of its own
    EXPECT_EQ(
        parse(
            R"({"pliant": 1, "ground": {}, "bodies": [{"name": "a", "rigid": {"sphere": {"radius": 1}}}]})")
            .ground_height,
        0);
}

TEST_F(SceneFile, SchemaListsWhatTheLibraryKnows) {
    const JsonValue root = parse_json(scene_schema(), "schema");
    const auto names = [&](const char* part) {
        std::vector<std::string> result;
        for (const JsonValue& name : find_part(root, part)->find("enum")->array())
            result.push_back(name.string());
        return result;
    };
    EXPECT_EQ(names("#/$defs/material_name"), material_names());
    std::vector<std::string> shapes;
    for (const ShapeInfo& shape : shape_list()) shapes.push_back(shape.name);
    EXPECT_EQ(names("#/$defs/shape_name"), shapes);
    for (const std::string& law : names("#/$defs/law")) {
        const SceneDescription scene =
            with_body(R"("fem": {"shape": "heart", "material": {"preset": "rubber", "law": ")" +
                      law + "\"}}");
        EXPECT_EQ(to_string(std::get<FemSource>(scene.bodies[0].source).material.law), law);
    }
    EXPECT_EQ(find_part(root, "#/$defs/slot")->find("maximum")->number(), Command::kMaxSlots - 1);
    EXPECT_EQ(find_part(root, "#/$defs/reduced/properties/rank")->find("maximum")->number(),
              SurfaceShapes::kMaxSize);
}

TEST_F(SceneFile, LoadsScriptsFromFilesOfTheirOwn) {
    const SceneDescription scene = with_body(R"("rigid": {"ground": {}})");
    const fs::path good = write("good.json", R"([{"time": 2, "release": {}},
        {"time": 1, "grab": {"body": "a", "at": [1, 2, 3]}}])");
    const std::vector<ScriptEvent> script = load_script(good, scene);
    ASSERT_EQ(script.size(), 2u);
    EXPECT_EQ(script[0].kind, Command::Kind::Grab);
    EXPECT_EQ(script[0].target, Vector3d(1, 2, 3)) << "default: where it is";
    const fs::path bad =
        write("bad.json", R"([{"time": 1, "grab": {"body": "b", "at": [1, 2, 3]}}])");
    EXPECT_THAT(test::input_error([&] { (void)load_script(bad, scene); }),
                HasSubstr("bad.json: script[0].grab.body = \"b\""));
    const fs::path wrong = write("wrong.json", R"([{"time": 1, "rlease": {}}])");
    EXPECT_THAT(test::input_error([&] { (void)load_script(wrong, scene); }),
                HasSubstr("wrong.json: [0].rlease: unknown key; did you mean \"release\"?"));
}

TEST_F(SceneFile, AModelFileAloneIsAScene) {
    ReducedBuildOptions options;
    options.fixed = "x < 5 %";
    options.mesh.resolution = 8;
    options.num_modes = 2;
    options.rank = 3;
    build_reduced_model(make_shape("beam"), options).save(folder_ / "my.beam.pliant");
    const SceneDescription scene = scene_of_model(folder_ / "my.beam.pliant");
    ASSERT_EQ(scene.bodies.size(), 1u);
    EXPECT_EQ(scene.bodies[0].name, "my_beam")
        << "a dot would end the body's name in a parameter's";
    const auto source = std::get<ReducedSource>(scene.bodies[0].source);
    EXPECT_EQ(std::get<ModelFile>(source.model).path, folder_ / "my.beam.pliant");
    EXPECT_NEAR((scene.camera.target - Vector3d(0, 0, 0.1)).norm(), 0, 1e-6);
    EXPECT_LT(scene.ground_height, 0);
    EXPECT_NE(scene.gravity.norm(), 0);
    EXPECT_EQ(parse_scene(scene.text, "again").bodies[0].name, "my_beam");
    EXPECT_THAT(test::input_error([&] { (void)scene_of_model(folder_ / "none.pliant"); }),
                HasSubstr("none.pliant"));
}

TEST(WithModelFile, ReplacesARecipeInDescriptionAndText) {
    const SceneDescription before = demo_scene("bridge");
    const SceneDescription after = with_model_file(before, 0, "sketches/new.pliant");
    const fs::path path = fs::absolute("sketches/new.pliant");
    const auto& source = std::get<ReducedSource>(after.bodies[0].source);
    EXPECT_EQ(std::get<ModelFile>(source.model).path, path);
    EXPECT_EQ(source.damping.mass, 0.3);
    EXPECT_EQ(after.script.size(), before.script.size());
    EXPECT_THAT(after.text, HasSubstr(R"("model":{"path":")" + path.string() +
                                      R"(","damping":{"mass":0.3,"stiffness":0.002}})"));
    EXPECT_THAT(after.text, ::testing::Not(HasSubstr(R"("reduced")")));
    // again, for a scene that names a file already
    const SceneDescription twice = with_model_file(after, 0, "/other.pliant");
    EXPECT_THAT(twice.text, HasSubstr(R"("model":{"path":"/other.pliant","damping":{"mass":0.3)"));
}

TEST_F(SceneFile, TextWithAnotherModelFileIsAScene) {
    const SceneDescription scene = with_model_file(demo_scene("bridge"), 0, write("a.pliant", "x"));
    const SceneDescription read = parse_scene(scene.text, "text");
    const auto& source = std::get<ReducedSource>(read.bodies[0].source);
    EXPECT_EQ(std::get<ModelFile>(source.model).path, folder_ / "a.pliant");
    EXPECT_EQ(source.damping.stiffness, 0.002);
    EXPECT_EQ(read.bodies[0].colour, scene.bodies[0].colour);
    EXPECT_EQ(read.script.size(), scene.script.size());
}

}  // namespace
}  // namespace pliant
