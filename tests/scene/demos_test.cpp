// Scenes that come with the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "input_error.h"
#include "pliant/scene/scene_file.h"
#include "scene/scene_files.h"

namespace pliant {
namespace {

using ::testing::HasSubstr;

TEST(Demos, AllLoadAndTheBridgeIsFirst) {
    const std::vector<DemoInfo>& demos = demo_list();
    ASSERT_FALSE(demos.empty());
    EXPECT_EQ(demos[0].name, "bridge");
    for (const DemoInfo& demo : demos) {
        EXPECT_GT(demo.description.size(), 10u) << demo.name;
        EXPECT_LT(demo.description.size(), 130u) << demo.name << ": one line";
        EXPECT_EQ(demo_scene(demo.name).name, demo.name);
    }
    std::set<std::string> listed, embedded;
    for (const DemoInfo& demo : demos) listed.insert(demo.name + ".json");
    for (const EmbeddedFile& file : scene_files())
        if (file.name != "scene.schema.json") embedded.insert(std::string(file.name));
    EXPECT_EQ(listed, embedded);
}

/// "shell body (points, levels) / field body (cells)" of each pair, exact fields without cells.
std::vector<std::string> contacts_of(const SceneDescription& scene) {
    const auto find = [&](const std::string& name) -> const BodyDescription& {
        return *std::find_if(scene.bodies.begin(), scene.bodies.end(),
                             [&](const BodyDescription& body) { return body.name == name; });
    };
    std::vector<std::string> found;
    for (const ContactDescription& one : scene.contacts) {
        const auto& contact = std::get<PairContactDescription>(one);
        const PointshellSource& shell = find(contact.shell).contact.pointshell.value();
        const auto& field = find(contact.field).contact.field;
        found.push_back(contact.shell + " (" + std::to_string(shell.points.num_points) + ", " +
                        std::to_string(shell.points.num_levels) + ") / " + contact.field +
                        (field ? " (" + std::to_string(field->build.resolution) + ")" : ""));
    }
    return found;
}

TEST(Demos, WithContactHaveThePublishedSizes) {
    using ::testing::ElementsAre;
    EXPECT_THAT(contacts_of(demo_scene("figure-axe")),
                ElementsAre("figure (1020000, 6) / axe (256)"));
    EXPECT_THAT(contacts_of(demo_scene("alpha-puzzle")),
                ElementsAre("second tube (5571, 4) / first tube (128)"));
    EXPECT_THAT(contacts_of(demo_scene("peg-hole")), ElementsAre("peg (64000, 5) / hole (256)"));
    EXPECT_THAT(contacts_of(demo_scene("hoses")), ElementsAre("hoses (80000, 4) / part (128)"));
    EXPECT_THAT(contacts_of(demo_scene("bridge-creature")),
                ElementsAre("bridge (85018, 4) / creature (128)"));
    EXPECT_THAT(contacts_of(demo_scene("serpent-figure")),
                ElementsAre("serpent (256000, 5) / figure (256)"));
    EXPECT_THAT(contacts_of(demo_scene("bridge-ball")), ElementsAre("bridge (41000, 4) / ball"));
}

TEST(Demos, ScriptsOfBodiesInContactRespectTheSpeedLimits) {
    int num_scripts = 0;
    for (const DemoInfo& demo : demo_list()) {
        const SceneDescription scene = demo_scene(demo.name);
        for (const ContactDescription& one : scene.contacts) {
            const auto* contact = std::get_if<PairContactDescription>(&one);
            if (contact == nullptr) continue;
            EXPECT_GT(contact->nodes, 0) << demo.name << ": a budget";
            for (const BodyDescription& body : scene.bodies) {
                const auto* rigid = std::get_if<RigidSource>(&body.source);
                if (rigid == nullptr || !rigid->motion) continue;
                if (body.name != contact->shell && body.name != contact->field) continue;
                const ScriptedMotion::Rates rates = rigid->motion->largest_rates();
                EXPECT_LE(rates.linear, 0.6) << demo.name << ", " << body.name;
                EXPECT_LE(rates.angular, 2 * std::numbers::pi) << demo.name << ", " << body.name;
                ++num_scripts;
            }
        }
    }
    EXPECT_GE(num_scripts, 9);
}

TEST(Demos, UnknownNamesSuggestTheNearest) {
    EXPECT_EQ(test::input_error([] { (void)demo_scene("brigde"); }),
              "there is no demo \"brigde\"; did you mean bridge?");
    EXPECT_THAT(test::input_error([] { (void)demo_scene("qqqqqqqqqq"); }),
                HasSubstr("there are bridge, spoon,"));
}

}  // namespace
}  // namespace pliant
