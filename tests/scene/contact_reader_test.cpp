#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "pliant/contact/contact_solver.h"
#include "pliant/scene/scene_file.h"

namespace pliant {
namespace {

using ::testing::HasSubstr;

/// A soft body with a shell, a solid with a field, others without, and one more loop.
std::string scene_with(const std::string& contacts, const std::string& soft_contact = "",
                       const std::string& solid_contact = R"("field": {})") {
    return R"({"pliant": 1, "loops": [{"name": "slow", "rate": 100}], "bodies": [
        {"name": "soft", "reduced": {"shape": "beam", "fixed": "x < 5 %"}, "contact": {"pointshell": {})" +
           (soft_contact.empty() ? "" : ", " + soft_contact) + R"(}},
        {"name": "solid", "rigid": {"shape": "figure"}, "contact": {)" +
           solid_contact + R"(}},
        {"name": "ball", "rigid": {"sphere": {"radius": 1}}},
        {"name": "plain", "rigid": {"shape": "figure"}},
        {"name": "heavy", "rigid": {"sphere": {"radius": 1}, "density": 1000}},
        {"name": "flying", "reduced": {"shape": "beam", "free": true}, "contact": {"pointshell": {}}},
        {"name": "block", "fem": {"box": {"sizes": [1, 1, 1], "cells": [2, 2, 2]}}},
        {"name": "far", "rigid": {"sphere": {"radius": 1}}, "loop": "slow"},
        {"name": "many", "rigid": {"sphere": {"radius": 1}}, "copies": {"counts": [2, 1, 1], "spacing": [3, 3, 3]}}],
        "contacts": [)" +
           contacts + "]}";
}
std::string pair(const std::string& shell, const std::string& field, const std::string& more = "") {
    return R"({"shell": ")" + shell + R"(", "field": ")" + field + "\"" + more + "}";
}
std::string error_of(const std::string& text, const std::filesystem::path& folder = {}) {
    return test::input_error([&] { (void)parse_scene(text, "scene.json", folder); });
}
std::string pair_error(const std::string& shell, const std::string& field,
                       const std::string& more = "") {
    return error_of(scene_with(pair(shell, field, more)));
}

TEST(ContactReader, TakesPrimitivesWithoutAFieldAndCopiesByTheirNumber) {
    const SceneDescription scene =
        parse_scene(scene_with(pair("soft", "ball") + ", " + pair("soft", "solid") + ", " +
                               pair("soft", "many[1]", R"(, "nodes": 500)")),
                    "scene.json");
    ASSERT_EQ(scene.contacts.size(), 3u);
    const auto pair_at = [&](std::size_t c) {
        return std::get<PairContactDescription>(scene.contacts[c]);
    };
    EXPECT_EQ(pair_at(2).field, "many[1]");
    EXPECT_EQ(pair_at(2).nodes, 500);
    EXPECT_EQ(pair_at(0).stiffness, 0) << "chosen when the field is known";
    EXPECT_TRUE(parse_scene(scene_with(""), "scene.json").contacts.empty());
}

TEST(ContactReader, NamesBodiesThatAreNotThere) {
    EXPECT_THAT(pair_error("sofd", "ball"),
                HasSubstr("scene.json: contacts[0].shell = \"sofd\" (expected a body of the scene: "
                          "\"soft\", \"solid\", \"ball\""));
    EXPECT_THAT(pair_error("soft", "many"),
                HasSubstr("contacts[0].field = \"many\" (expected a body of the scene"));
    EXPECT_THAT(pair_error("soft", "many"), HasSubstr("\"many[0]\" …"));
}

TEST(ContactReader, SaysWhatABodyLacks) {
    EXPECT_EQ(pair_error("solid", "ball"),
              "scene.json: contacts[0].shell = \"solid\" (expected a body with \"contact\": "
              "{\"pointshell\": …})");
    EXPECT_EQ(pair_error("soft", "plain"),
              "scene.json: contacts[0].field = \"plain\" (expected a body with \"contact\": "
              "{\"field\": …})");
}

TEST(ContactReader, SaysWhichKindOfContactABodyNeeds) {
    EXPECT_THAT(pair_error("soft", "soft"),
                HasSubstr("contacts[0].field = \"soft\" (expected another body than the shell; a "
                          "body touches itself with {\"self\": \"soft\"})"));
    EXPECT_THAT(
        pair_error("soft", "heavy"),
        HasSubstr("contacts[0].field = \"heavy\" (expected a body that forces do not throw "
                  "about; rigid bodies with \"density\" touch others in {\"among\": […]})"));
    EXPECT_THAT(pair_error("flying", "ball"),
                HasSubstr("contacts[0].shell = \"flying\" (expected a body that is held; bodies "
                          "that are \"free\" touch others in {\"among\": […]})"));
    EXPECT_THAT(pair_error("soft", "block"),
                HasSubstr("contacts[0].field = \"block\" (expected a rigid or reduced body"));
}

TEST(ContactReader, BothBodiesAreInOneLoop) {
    EXPECT_EQ(pair_error("soft", "far"),
              "scene.json: contacts[0].field = \"far\" (expected a body of the loop \"haptic\", as "
              "the shell; this one is in \"slow\")");
}

TEST(ContactReader, APairIsThereOnce) {
    EXPECT_THAT(error_of(scene_with(pair("soft", "ball") + ", " + pair("soft", "ball"))),
                HasSubstr("contacts[1].field = \"ball\" (expected a pair that is not there"));
}

TEST(ContactReader, KeysAreCheckedAgainstTheSchema) {
    EXPECT_THAT(pair_error("soft", "ball", R"(, "stifness": 3)"),
                HasSubstr("contacts[0].stifness: unknown key; did you mean \"stiffness\"?"));
    EXPECT_THAT(pair_error("soft", "ball", R"(, "exchange": "semi-implict")"),
                HasSubstr("contacts[0].exchange"));
    EXPECT_THAT(pair_error("soft", "ball", R"(, "nodes": 10, "budget_us": 10)"),
                HasSubstr("only one of the keys \"nodes\" and \"budget_us\" may be given"));
    EXPECT_THAT(pair_error("soft", "ball", R"(, "stiffness": 0)"),
                HasSubstr("contacts[0].stiffness = 0 (expected"));
    EXPECT_THAT(error_of(scene_with("", R"("feild": {})")),
                HasSubstr("bodies[0].contact.feild: unknown key; did you mean \"field\"?"));
    EXPECT_THAT(error_of(scene_with("", R"("field": {"resolutoin": 64})")),
                HasSubstr("contact.field.resolutoin: unknown key; did you mean \"resolution\"?"));
}

std::string among(const std::string& bodies, const std::string& more = "") {
    return R"({"among": [)" + bodies + "]" + more + "}";
}
std::string entry_error(const std::string& entries, const std::string& soft_contact = "") {
    return error_of(scene_with(entries, soft_contact));
}

TEST(ContactReader, TakesBodiesThatMoveAmongEachOther) {
    const SceneDescription scene = parse_scene(
        scene_with(among(R"("flying", "heavy", "many")") + ", " +
                   among(R"("soft", "ball")",
                         R"(, "name": "two", "stiffness": 300, "friction": 0.5, "iterations": 20,
                             "max_contacts": 400, "scaling": "none")")),
        "scene.json");
    ASSERT_EQ(scene.contacts.size(), 2u);
    const auto& first = std::get<AmongContactDescription>(scene.contacts[0]);
    EXPECT_EQ(first.bodies, (std::vector<std::string>{"flying", "heavy", "many"}));
    EXPECT_EQ(first.name, "flying+heavy+many");
    EXPECT_EQ(first.stiffness, 0) << "chosen when masses and fields are known";
    EXPECT_EQ(first.friction, std::nullopt) << "of the bodies";
    EXPECT_EQ(first.iterations, 0) << "as many as it takes where few touch";
    const auto& second = std::get<AmongContactDescription>(scene.contacts[1]);
    EXPECT_EQ(second.name, "two");
    EXPECT_EQ(second.stiffness, 300);
    EXPECT_EQ(second.friction, 0.5);
    EXPECT_EQ(second.iterations, 20);
    EXPECT_EQ(second.max_contacts, 400);
    EXPECT_EQ(second.scaling, ContactScaling::None);
}

TEST(ContactReader, SaysWhatIsWrongWithBodiesAmongEachOther) {
    EXPECT_EQ(entry_error(among(R"("soft", "bal")")),
              "scene.json: contacts[0].among[1] = \"bal\" (expected a body of the scene: \"soft\", "
              "\"solid\", \"ball\", \"plain\", \"heavy\", \"flying\", \"block\", \"far\", "
              "\"many\")");
    EXPECT_EQ(entry_error(among(R"("soft", "many[1]")")),
              "scene.json: contacts[0].among[1] = \"many[1]\" (expected a name without a number: "
              "all copies touch)");
    EXPECT_THAT(entry_error(among(R"("soft", "soft")")), HasSubstr("among[1] = \"soft\" (expected "
                                                                   "each body once)"));
    EXPECT_THAT(entry_error(among(R"("soft", "block")")),
                HasSubstr("among[1] = \"block\" (expected a rigid or reduced body"));
    EXPECT_THAT(entry_error(among(R"("soft", "plain")")),
                HasSubstr("among[1] = \"plain\" (expected a body with \"contact\": "
                          "{\"pointshell\": …}, {\"field\": …} or both)"));
    EXPECT_THAT(entry_error(among(R"("soft", "far")")),
                HasSubstr("among[1] = \"far\" (expected a body of the loop \"haptic\", as the "
                          "first; this one is in \"slow\")"));
    EXPECT_THAT(entry_error(among(R"("soft")")),
                HasSubstr("contacts[0].among = [\"soft\"] (expected at least two bodies, or one "
                          "with copies)"));
    EXPECT_EQ(entry_error(among(R"("heavy", "ball")")), "") << "primitives need no points";
    EXPECT_THAT(entry_error(among(R"("heavy", "solid")")),
                HasSubstr("expected at least one body with \"contact\": {\"pointshell\": …})"));
    EXPECT_THAT(entry_error(among(R"("soft", "flying")")),
                HasSubstr("expected at least one body with \"contact\": {\"field\": …})"));
    EXPECT_THAT(entry_error(among(R"("soft", "ball")", R"(, "name": "solid")")),
                HasSubstr("contacts[0].name = \"solid\" (expected a name that no body has"));
    EXPECT_THAT(entry_error(among(R"("soft", "ball")", R"(, "nodes": 100)")),
                HasSubstr("contacts[0].nodes: goes with \"shell\" only"));
    EXPECT_THAT(entry_error(among(R"("soft", "ball")", R"(, "exclusion": 1)")),
                HasSubstr("contacts[0].exclusion: goes with \"self\" only"));
    EXPECT_THAT(entry_error(among(R"("soft", "ball")", R"(, "itterations": 3)")),
                HasSubstr("contacts[0].itterations: unknown key; did you mean \"iterations\"?"));
    EXPECT_THAT(entry_error(R"({"among": []})"), HasSubstr("contacts[0].among = [] (expected"));
}

TEST(ContactReader, NothingTouchesTwice) {
    EXPECT_THAT(entry_error(among(R"("soft", "ball")") + ", " + among(R"("flying", "ball")")),
                HasSubstr("contacts[1].among[1] = \"ball\" (expected a body that is in no other "
                          "\"among\": all forces on it are found together)"));
    EXPECT_THAT(entry_error(among(R"("soft", "many")") + ", " + pair("soft", "many[0]")),
                HasSubstr("contacts[1].field = \"many[0]\" (expected a body that does not touch "
                          "\"soft\" already: both are in one \"among\")"));
    EXPECT_THAT(entry_error(pair("soft", "ball") + ", " + among(R"("soft", "ball")")),
                HasSubstr("contacts[1].among: \"soft\" and \"ball\" touch as a pair already; drop "
                          "that"));
    EXPECT_EQ(entry_error(among(R"("soft", "heavy")") + ", " + pair("soft", "ball")), "");
}

TEST(ContactReader, TakesABodyThatTouchesItself) {
    const std::string field = R"("field": {"domains": 0})";
    const SceneDescription scene = parse_scene(
        scene_with(R"({"self": "soft", "exclusion": 0.1, "nodes": 900, "stiffness": 50})", field),
        "scene.json");
    const auto& self = std::get<SelfContactDescription>(scene.contacts.at(0));
    EXPECT_EQ(self.body, "soft");
    EXPECT_EQ(self.exclusion, 0.1);
    EXPECT_EQ(self.nodes, 900);
    EXPECT_EQ(self.stiffness, 50);

    EXPECT_THAT(entry_error(R"({"self": "sofd"})"),
                HasSubstr("contacts[0].self = \"sofd\" (expected a body of the scene: \"soft\""));
    EXPECT_THAT(entry_error(R"({"self": "ball"})"),
                HasSubstr("contacts[0].self = \"ball\" (expected a reduced body"));
    EXPECT_THAT(entry_error(R"({"self": "soft"})"),
                HasSubstr("contacts[0].self = \"soft\" (expected a body with \"contact\": "
                          "{\"pointshell\": …, \"field\": {\"domains\": 0}})"));
    EXPECT_THAT(entry_error(R"({"self": "soft"})", R"("field": {})"),
                HasSubstr("contacts[0].self = \"soft\" (expected a body whose field has several "
                          "parts that can touch: \"field\": {\"domains\": 0} finds them)"));
    EXPECT_THAT(entry_error(R"({"self": "soft", "friction": 0.5})", field),
                HasSubstr("contacts[0].friction: goes with \"shell\" and \"among\": self-contact "
                          "has none"));
    EXPECT_THAT(entry_error(R"({"self": "soft"}, {"self": "soft"})", field),
                HasSubstr("contacts[1].self = \"soft\" (expected a body that does not touch itself "
                          "already)"));
}

TEST(ContactReader, AnEntryIsOfOneKind) {
    EXPECT_EQ(entry_error("{}"),
              "scene.json: contacts[0]: one of the keys \"shell\", \"among\", \"self\", \"greens\" "
              "is needed");
    EXPECT_THAT(entry_error(R"({"shell": "soft", "among": ["ball"]})"),
                HasSubstr("only one of the keys \"shell\" and \"among\" may be given"));
    EXPECT_EQ(entry_error(R"({"shell": "soft"})"),
              "scene.json: contacts[0].field: is needed beside \"shell\"");
    EXPECT_THAT(pair_error("soft", "ball", R"(, "iterations": 3)"),
                HasSubstr("contacts[0].iterations: goes with \"among\" only"));
}

TEST(ContactReader, OptionsThatDoNotGoTogetherAreSaid) {
    EXPECT_EQ(error_of(scene_with("", R"("field": {"resolution": 100})")),
              "scene.json: bodies[0].contact.field.resolution = 100 (expected a power of two from "
              "16 to 1024)");
    EXPECT_THAT(error_of(scene_with("", R"("field": {"resolution": 2048})")),
                HasSubstr("resolution = 2048 (expected a power of two from 16 to 1024)"));
    EXPECT_EQ(error_of(scene_with("", R"("field": {"offset_cells": 2})")),
              "scene.json: bodies[0].contact.field.offset_cells: goes with \"surface\": \"offset\" "
              "only");
    EXPECT_EQ(error_of(scene_with("", "", R"("field": {"proxies": 20})")),
              "scene.json: bodies[1].contact.field.proxies: goes with bodies that deform only");
    const auto body_error = [](const std::string& body) {
        return error_of(R"({"pliant": 1, "bodies": [{"name": "a", )" + body + "}]}");
    };
    EXPECT_EQ(body_error(R"("rigid": {"sphere": {"radius": 1}}, "contact": {"field": {}})"),
              "scene.json: bodies[0].contact.field: this shape has an exact field of its own; drop "
              "it");
    EXPECT_EQ(body_error(R"("rigid": {"ground": {}}, "contact": {"pointshell": {}})"),
              "scene.json: bodies[0].contact.pointshell: ground has no end to put points on");
    EXPECT_THAT(body_error(R"("fem": {"box": {"sizes": [1, 1, 1], "cells": [2, 2, 2]}},
                              "contact": {"field": {}})"),
                HasSubstr("bodies[0].contact: full FEM bodies touch all rigid bodies"));
}

TEST(ContactReader, FilesMustBeThereAndOfTheFormat) {
    const test::TemporaryDirectory folder;
    std::ofstream(folder / "notes.txt") << "x";
    const auto file_error = [&](const std::string& name) {
        return error_of(scene_with("", "", R"("field": ")" + name + "\""),
                        (folder / "x").parent_path());
    };
    EXPECT_THAT(file_error("none.pliant"),
                HasSubstr("bodies[1].contact.field = \"none.pliant\" (expected a file; there is "
                          "none at "));
    EXPECT_THAT(file_error("notes.txt"),
                HasSubstr("contact.field = \"notes.txt\" (expected a .pliant file that `pliant "
                          "build --kind field` made)"));
}

}  // namespace
}  // namespace pliant
