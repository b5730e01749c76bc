#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/temporary_directory.h"
#include "input_error.h"
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
    EXPECT_EQ(scene.contacts[2].field, "many[1]");
    EXPECT_EQ(scene.contacts[2].nodes, 500);
    EXPECT_EQ(scene.contacts[0].stiffness, 0) << "chosen when the field is known";
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

TEST(ContactReader, SaysWhatCannotCollideYet) {
    EXPECT_THAT(pair_error("soft", "soft"),
                HasSubstr("contacts[0].field = \"soft\" (expected another body than the shell"));
    EXPECT_THAT(pair_error("soft", "heavy"),
                HasSubstr("contacts[0].field = \"heavy\" (expected a body that forces do not throw "
                          "about; rigid bodies with \"density\" do not collide yet)"));
    EXPECT_THAT(pair_error("flying", "ball"),
                HasSubstr("contacts[0].shell = \"flying\" (expected a body that is held; bodies "
                          "that are \"free\" do not collide yet)"));
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
