#include "scene/contact_store.h"

#include <gmock/gmock.h>

#include <fstream>

#include "input_error.h"
#include "tests/scene/contact_scenes.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ContactStoreTest : public test::ContactScenes {
protected:
    [[nodiscard]] std::string build_error(const std::string& text) {
        return test::input_error([&] { (void)build(text); });
    }
    [[nodiscard]] const ContactPair& first_pair(const World& world) const {
        return *world.loop(0).contact(0).pair();
    }
    /// The field of a rigid shape, as a contact has it.
    [[nodiscard]] float distance(const std::string& shape, const Vector3d& x) {
        const World world = build(scene(bar() + R"(, {"name": "solid", "rigid": {)" + shape + "}}",
                                        R"({"shell": "bar", "field": "solid"})"));
        return first_pair(world).traversal().field().distance(x);
    }
};

TEST_F(ContactStoreTest, PrimitivesHaveTheirExactFields) {
    EXPECT_NEAR(distance(R"("sphere": {"radius": 0.2})", {0, 0.5, 0}), 0.3, 1e-6);
    EXPECT_NEAR(distance(R"("box": {"sizes": [1, 2, 3]})", {0, 0, 1.2}), -0.3, 1e-6);
    EXPECT_NEAR(distance(R"("capsule": {"radius": 0.1, "length": 0.4})", {0, 0, 0.5}), 0.2, 1e-6);
    EXPECT_NEAR(distance(R"("ground": {})", {5, 5, 0.25}), 0.25, 1e-6);
    // a wedge as wide as it is high has slopes of 1 : 2
    const std::string wedge = R"("wedge": {"sizes": [1, 4, 1]})";
    EXPECT_NEAR(distance(wedge, {0.5, 0, 0}), 0, 1e-6);
    EXPECT_NEAR(distance(wedge, {0, 1, 1}), 0, 1e-6);
    EXPECT_NEAR(distance(wedge, {-0.5, 0, 1}), 1 / std::sqrt(5), 1e-6);
    EXPECT_NEAR(distance(wedge, {0, 0, 0.1}), -0.1, 1e-6);
    EXPECT_NEAR(distance(wedge, {0, 2.3, 0.1}), 0.3, 1e-6);
}

TEST_F(ContactStoreTest, ShellsAndFieldsAreBuiltOnceAndThenMappedFromTheCache) {
    const std::string text = scene(
        bar() + ", " +
            ball(R"("surface": "block.obj")", R"(, "contact": {"field": {"resolution": 32}})"),
        R"({"shell": "bar", "field": "ball"})");
    {
        const World world = build(text);
        ASSERT_EQ(lines.size(), 3u);
        EXPECT_THAT(lines[1], StartsWith("bar: 2,"));
        EXPECT_THAT(lines[1], HasSubstr(" points in 3 levels, "));
        EXPECT_THAT(lines[1], HasSubstr(" MB · built in "));
        EXPECT_THAT(lines[2], StartsWith("ball: field 32³, "));
        EXPECT_THAT(lines[2], HasSubstr(" · built in "));
    }
    World again = build(text);
    ASSERT_EQ(lines.size(), 3u);
    for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr("from the cache, "));
    again.advance_to(2);
    World other = build(text);
    other.advance_to(2);
    EXPECT_EQ(again.state_hash(), other.state_hash());
    EXPECT_GT(first_pair(again).loads().num_contacts, 0);

    // damaged files are built anew and give the same
    for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
        std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
        file.write("\x55\xaa\x55\xaa", 4);
    }
    World rebuilt = build(text);
    for (const std::string& line : lines) EXPECT_THAT(line, HasSubstr("built in "));
    rebuilt.advance_to(2);
    EXPECT_EQ(rebuilt.state_hash(), again.state_hash());
}

TEST_F(ContactStoreTest, OptionsSurfaceAndBasisMakeAnotherShell) {
    (void)build(press());
    const auto points_line = [&](const std::string& text) {
        (void)build(text);
        return lines.at(1);
    };
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = press();
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    EXPECT_THAT(points_line(press()), HasSubstr("from the cache"));
    EXPECT_THAT(points_line(changed("2500", "1500")), HasSubstr("built in"));
    EXPECT_THAT(points_line(changed("\"levels\": 3", "\"levels\": 2")), HasSubstr("built in"));
    EXPECT_THAT(points_line(changed("\"rank\": 6", "\"rank\": 5")), HasSubstr("built in"));
    save_surface(box_surface(Vector3d(0.1, 0.1, 0.42)), folder / "bar.obj");
    EXPECT_THAT(points_line(press()), HasSubstr("built in"));
}

TEST_F(ContactStoreTest, CopiesShareOneShell) {
    const World world = build(
        scene(bar(R"(, "copies": {"counts": [2, 1, 1], "spacing": [1, 1, 1]})") + ", " + ball(),
              R"({"shell": "bar[0]", "field": "ball"}, {"shell": "bar[1]", "field": "ball"})"));
    EXPECT_EQ(lines.size(), 2u) << "model and points, each once";
    ASSERT_EQ(world.loop(0).num_contacts(), 2);
    EXPECT_EQ(world.loop(0).contact(0).pair()->traversal().tree().row(0),
              world.loop(0).contact(1).pair()->traversal().tree().row(0));
    EXPECT_EQ(world.loop(0).contact(1).name, "bar[1]/ball");
}

TEST_F(ContactStoreTest, TakesFilesThatWereBuiltBefore) {
    const std::string with_grid = scene(
        bar() + ", " +
            ball(R"("surface": "block.obj")", R"(, "contact": {"field": {"resolution": 32}})"),
        R"({"shell": "bar", "field": "ball"})");
    World built = build(with_grid);
    first_pair(built).traversal().tree().save(folder / "points.pliant");
    dynamic_cast<const DistanceGrid&>(first_pair(built).traversal().field())
        .save(folder / "grid.pliant");
    std::string text = with_grid;
    const auto replace = [&](const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
    };
    replace(R"({"points": 2500, "levels": 3, "resolution": 32})", R"("points.pliant")");
    replace(R"({"resolution": 32})", R"("grid.pliant")");
    World world = build(text);
    EXPECT_THAT(lines.at(1), HasSubstr(" · from points.pliant, "));
    EXPECT_THAT(lines.at(2), HasSubstr(" · from grid.pliant, "));
    built.advance_to(0.4);
    world.advance_to(0.4);
    EXPECT_EQ(world.state_hash(), built.state_hash());

    // points of another basis
    replace("\"rank\": 6", "\"rank\": 5");
    EXPECT_THAT(build_error(text),
                HasSubstr("contacts[0]: point-tree = 6 vectors (expected 5, as its body"));
}

TEST_F(ContactStoreTest, HeldBodiesMeetTheDeformedFieldsOfOthers) {
    const std::string text = scene(
        bar() +
            R"(, {"name": "other", "reduced": {"surface": "bar.obj", "fixed": "z < 5 %", "modes": 4, "rank": 6,
            "material": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "density": 1000}, "mesh": {"resolution": 8},
            "damping": {"mass": 6, "stiffness": 0.005}}, "pose": {"position": [0.11, 0, 0]},
            "contact": {"field": {"resolution": 32, "proxies": 20}}})",
        R"({"shell": "bar", "field": "other", "stiffness": 2000})",
        R"(, "script": [{"time": 0, "grab": {"body": "other", "at": [0.11, 0, 0.2], "target": [0.05, 0, 0.2], "duration": 0.3}}])");
    World world = build(text);
    EXPECT_THAT(lines.at(2), StartsWith("other: deformed field of 20 proxies in 1 domain · built"));
    const SurfacePoint top = world.nearest_point(0, {0.05, 0, 0.2});
    world.advance_to(2);
    const ContactLoads& loads = first_pair(world).loads();
    EXPECT_GT(loads.num_contacts, 0);
    // both bars lean the same way, and the forces on them are opposite
    EXPECT_LT(world.body(0).position(top).x(), 0.04);
    EXPECT_LT(loads.on_shell.force.x(), 0);
    EXPECT_NEAR((loads.on_shell.force + loads.on_field.force).norm(), 0,
                1e-9 * loads.on_shell.force.norm());
    const std::uint64_t hash = world.state_hash();
    World again = build(text);
    EXPECT_THAT(lines.at(2), HasSubstr("from the cache"));
    again.advance_to(2);
    EXPECT_EQ(again.state_hash(), hash);
}

TEST_F(ContactStoreTest, StiffnessIsTheForceOfADeviceAtHalfACellOrThatOfTheSofterBody) {
    const auto stiffness = [&](const std::string& text) {
        return first_pair(build(text)).forces().options().stiffness;
    };
    const auto of_modulus = [](std::string text, const std::string& modulus) {
        const std::string firm = "\"youngs_modulus\": 1e5";
        return text.replace(text.find(firm), firm.size(), "\"youngs_modulus\": " + modulus);
    };
    const auto on = [&](const std::string& shape, const std::string& more) {
        return scene(bar() + ", " + ball(shape, more), R"({"shell": "bar", "field": "ball"})");
    };
    const std::string on_a_grid =
        on(R"("surface": "block.obj")", R"(, "contact": {"field": {"resolution": 32}})");
    // 10 E b: the bar and what presses it are 0.1 m wide
    EXPECT_NEAR(stiffness(press()), 1e5, 1e-6);
    EXPECT_NEAR(stiffness(of_modulus(press(), "3e6")), 3e6, 1e-5);
    EXPECT_NEAR(stiffness(on_a_grid), 1e5, 1e-6);
    // a ball of 4 cm is the narrower one
    EXPECT_NEAR(stiffness(on(R"("sphere": {"radius": 0.02})", "")), 4e4, 1e-6);
    // a bar that is softer than a hand: 2 F / c of 8.5 N
    const World soft = build(of_modulus(press(), "1e3"));
    const double spacing = first_pair(soft).traversal().tree().shell().spacing;
    EXPECT_NEAR(first_pair(soft).forces().options().stiffness, 17 / spacing, 1e-6);
    // the cube around a block of 0.2 m, one and a half times as large
    EXPECT_NEAR(stiffness(of_modulus(on_a_grid, "1e3")), 17 / (0.3 / 32), 1e-6);
    // and with explicit exchange, however firm the bar is
    EXPECT_NEAR(stiffness(press(R"(, "exchange": "explicit")")), 17 / spacing, 1e-6);
    EXPECT_EQ(stiffness(press(R"(, "stiffness": 123)")), 123);
}

TEST_F(ContactStoreTest, BudgetsAreKeptInNodesOrMeasuredFromTime) {
    const World nodes = build(press(R"(, "nodes": 900)"));
    EXPECT_EQ(first_pair(nodes).traversal().options().budget, 900);
    const World timed = build(press(R"(, "budget_us": 5)"));
    const int budget = first_pair(timed).traversal().options().budget;
    EXPECT_GE(budget, first_pair(timed).traversal().tree().level_start(1));
    EXPECT_LT(budget, first_pair(timed).traversal().tree().num_nodes());
    EXPECT_THAT(build_error(press(R"(, "nodes": 5)")),
                HasSubstr("contacts[0]: nodes = 5 (expected at least "));
    // options reach the pair
    const World other = build(press(R"(, "friction": 0.5, "scaling": "none", "coherence": false)"));
    EXPECT_EQ(first_pair(other).forces().options().friction, 0.5);
    EXPECT_EQ(first_pair(other).forces().options().scaling, ContactScaling::None);
    EXPECT_FALSE(first_pair(other).traversal().options().has_coherence);
}

TEST_F(ContactStoreTest, MotionsThatAreTooFastAreRefused) {
    const auto swung = [&](const std::string& motion) {
        return scene(bar() +
                         R"(, {"name": "ball", "rigid": {"sphere": {"radius": 0.05}, "motion": )" +
                         motion + "}}",
                     R"({"shell": "bar", "field": "ball"})");
    };
    EXPECT_THAT(
        build_error(swung(R"({"oscillation": {"amplitude": [0.2, 0, 0], "frequency": 1}})")),
        HasSubstr("contacts[0]: the motion of \"ball\" reaches 1.3 m/s and 0 °/s; a body in "
                  "contact may move at 0.6 m/s and 360 °/s at most"));
    EXPECT_THAT(
        build_error(swung(
            R"({"path": {"keyframes": [{"time": 0}, {"time": 0.2, "rotation": {"axis": [0, 0, 1], "degrees": 90}}]}})")),
        HasSubstr("°/s"));
    EXPECT_EQ(
        build_error(swung(R"({"oscillation": {"amplitude": [0.19, 0, 0], "frequency": 0.5}})")),
        "");
}

TEST_F(ContactStoreTest, WhatCannotBeBuiltIsNamed) {
    save_surface(box_surface(Vector3d(0.2, 0.2, 0.002)), folder / "sheet.obj");
    EXPECT_THAT(
        build_error(scene(
            bar() +
                R"(, {"name": "sheet", "rigid": {"surface": "sheet.obj"}, "contact": {"field": {}}})",
            R"({"shell": "bar", "field": "sheet"})")),
        AllOf(HasSubstr("contacts[0]: field of \"sheet\": "), HasSubstr("resolution")));
    // two boxes that overlap have no inside of their own
    SurfaceMesh soup = box_surface(Vector3d(0.2, 0.1, 0.1));
    const SurfaceMesh other = box_surface(Vector3d(0.1, 0.2, 0.1));
    const int first = soup.num_vertices();
    soup.vertices.insert(soup.vertices.end(), other.vertices.begin(), other.vertices.end());
    for (const auto& [a, b, c] : other.triangles)
        soup.triangles.push_back({a + first, b + first, c + first});
    save_surface(soup, folder / "soup.obj");
    EXPECT_THAT(
        build_error(scene(
            bar() +
                R"(, {"name": "soup", "rigid": {"surface": "soup.obj"}, "contact": {"field": {}}})",
            R"({"shell": "bar", "field": "soup"})")),
        AllOf(HasSubstr("contacts[0]: field of \"soup\": "),
              HasSubstr("(\"surface\": \"offset\")")));
    EXPECT_EQ(
        build_error(scene(
            bar() +
                R"(, {"name": "soup", "rigid": {"surface": "soup.obj"}, "contact": {"field": {"surface": "offset", "resolution": 32}}})",
            R"({"shell": "bar", "field": "soup"})")),
        "");
    SceneDescription unknown = parse_scene(press(), "scene.json", (folder / "x").parent_path());
    std::get<PairContactDescription>(unknown.contacts[0]).field = "nobody";
    EXPECT_THAT(test::input_error([&] { (void)World(unknown, {.cache = folder / "cache"}); }),
                HasSubstr("contacts[0].field = \"nobody\" (expected the name of a body"));
}

}  // namespace
}  // namespace pliant
