#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "input_error.h"
#include "scene/greens_scenes.h"

namespace pliant {
namespace {

using test::input_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GreensReader : public ::testing::Test {
protected:
    GreensReader() {
        for (const char* name : {"liver.obj", "liver.pliant"}) std::ofstream(folder_ / name) << "x";
    }
    [[nodiscard]] SceneDescription parse_greens(const std::string& text) const {
        return parse_scene(text, "scene.json", (folder_ / "x").parent_path());
    }
    /// Of a body with these keys.
    [[nodiscard]] std::string greens_error(const std::string& greens,
                                           const std::string& more = "") const {
        return input_error([&] {
            (void)parse_greens(R"({"pliant": 1, "bodies": [{"name": "a", "greens": {)" + greens +
                               "}" + more + "}]}");
        });
    }
    [[nodiscard]] std::string touch_error(const std::string& touch) const {
        return input_error([&] {
            (void)parse_greens(
                R"({"pliant": 1, "loops": [{"name": "slow", "rate": 50}], "bodies": [
                {"name": "nodule", "greens": {"shape": "nodule", "fixed": "z < 1 %"}},
                {"name": "beam", "reduced": {"shape": "beam", "fixed": "x < 1 %"}},
                {"name": "lump", "greens": {"shape": "kidney", "fixed": "x < 33 %"}},
                {"name": "finger", "rigid": {"sphere": {"radius": 0.01}}},
                {"name": "thumb", "rigid": {"sphere": {"radius": 0.01}}, "loop": "slow"},
                {"name": "rock", "rigid": {"shape": "axe"}},
                {"name": "glove", "hand": {}},
                {"name": "stone", "rigid": {"sphere": {"radius": 0.01}, "density": 1000}}],
                "contacts": [)" +
                touch + "]}");
        });
    }
    test::TemporaryDirectory folder_;
};

TEST_F(GreensReader, ReadsEveryKey) {
    const SceneDescription scene = parse_greens(test::greens_key_scenes()[0]);
    const auto& nodule = std::get<GreensSource>(scene.bodies[0].source);
    EXPECT_EQ(nodule.mask_radius, 0.02);
    const auto& recipe = std::get<GreensRecipe>(nodule.model);
    EXPECT_EQ(recipe.surface.shape, "nodule");
    EXPECT_EQ(recipe.levels, 1);
    EXPECT_EQ(recipe.build.size, 0.1);
    EXPECT_EQ(recipe.build.youngs_modulus, 9000);
    EXPECT_EQ(recipe.build.poisson_ratio, 0.5);
    EXPECT_EQ(recipe.build.density, 1100);
    EXPECT_EQ(recipe.build.fixed, "z < 1 %");
    EXPECT_EQ(recipe.build.contactable, "z > 40 %");
    EXPECT_EQ(recipe.build.method, GreensMethod::BoundaryElements);
    EXPECT_EQ(recipe.build.elements, BoundaryElements::Linear);
    EXPECT_NEAR(recipe.build.crease_angle, 1.0471976, 1e-7);
    const auto& lump = std::get<GreensRecipe>(std::get<GreensSource>(scene.bodies[1].source).model);
    EXPECT_EQ(lump.build.method, GreensMethod::FiniteElements);
    EXPECT_EQ(lump.build.mesh.resolution, 9);
    EXPECT_EQ(lump.build.youngs_modulus, material_preset("fat").youngs_modulus());
    EXPECT_EQ(std::get<std::filesystem::path>(std::get<GreensSource>(scene.bodies[2].source).model),
              folder_ / "liver.pliant");
    const auto& hand = std::get<HandSource>(scene.bodies[5].source);
    EXPECT_EQ(hand.size, 0.2);
    EXPECT_EQ(hand.springs.joint_stiffness, 2);
    EXPECT_EQ(hand.springs.wrist_stiffness, 900);
    EXPECT_EQ(hand.motion->at(1).pose.position.z(), 0.1);
    EXPECT_EQ(hand.closing->at(2).pose.position.x(), 0.5);
    EXPECT_EQ(hand.closing->at(3).pose.position.x(), 0);

    const auto& probed =
        std::get<GreensRecipe>(std::get<GreensSource>(scene.bodies[6].source).model);
    const auto& probing = std::get<SyntheticProbing>(probed.measured);
    EXPECT_EQ(probing.num_probes, 5);
    EXPECT_EQ(probing.noise, 1e-5);
    EXPECT_EQ(probing.hidden_share, 0.25);
    EXPECT_EQ(probing.seed, 3u);
    ASSERT_TRUE(probed.build.wavelet);
    EXPECT_TRUE(probed.build.wavelet->thresholds_base);
    const auto& levels = std::get<GreensSource>(scene.bodies[7].source);
    EXPECT_EQ(levels.constraint_level, 1);
    EXPECT_EQ(levels.display_level, 5);
    const GreensBuildOptions& build = std::get<GreensRecipe>(levels.model).build;
    EXPECT_EQ(build.solver, GreensSolver::Iterative);
    ASSERT_TRUE(build.wavelet);
    EXPECT_EQ(build.wavelet->kind, WaveletKind::LiftedButterfly);
    EXPECT_EQ(build.wavelet->tolerance, 0.1);
    EXPECT_EQ(build.coarsest_level, 1);
    EXPECT_EQ(build.finest_level, 2);
    const auto& scanned =
        std::get<GreensRecipe>(std::get<GreensSource>(scene.bodies[8].source).model);
    EXPECT_EQ(std::get<std::filesystem::path>(scanned.measured), folder_ / "liver.obj");
    EXPECT_FALSE(scanned.has_material);

    const auto& points = std::get<GreensContactDescription>(scene.contacts[0]);
    ASSERT_TRUE(points.detail);
    EXPECT_EQ(points.detail->felt({0, 0, 0}, 0, {1, 0, 0}, {0, 0, 1}, 0.4).friction, 0.4);
    EXPECT_EQ(points.body, "nodule");
    EXPECT_EQ(points.kind, GreensContactDescription::Kind::Points);
    EXPECT_THAT(points.by, ElementsAre("finger", "thumb"));
    EXPECT_EQ(points.friction, 0.4);
    EXPECT_TRUE(points.is_pulling);
    const auto& tools = std::get<GreensContactDescription>(scene.contacts[1]);
    EXPECT_EQ(tools.kind, GreensContactDescription::Kind::Tools);
    EXPECT_THAT(tools.by, ElementsAre("glove"));
    EXPECT_TRUE(tools.is_sliding);
    EXPECT_EQ(tools.budget, 0);
    EXPECT_EQ(std::get<GreensContactDescription>(scene.contacts[2]).budget, 1e-3);
}

TEST_F(GreensReader, LevelsNeedASurfaceThatHasThem) {
    const std::string rabbit = R"("shape": "rabbit", "levels": 2, "fixed": "z < 15 %")";
    EXPECT_EQ(greens_error(rabbit + R"(, "tolerance": 0.1)"),
              "scene.json: bodies[0].greens.tolerance: goes with \"wavelet\": compressed functions "
              "have one");
    EXPECT_EQ(
        greens_error(rabbit + R"(, "base_threshold": true)"),
        "scene.json: bodies[0].greens.base_threshold: goes with \"wavelet\": functions that are "
        "compressed");
    EXPECT_EQ(greens_error(rabbit + R"(, "constraint_level": 3)"),
              "scene.json: bodies[0].greens.constraint_level = 3 (expected 0 to 2, levels of the "
              "surface)");
    EXPECT_EQ(greens_error(rabbit + R"(, "finest_constraint_level": 1)"),
              "scene.json: bodies[0].greens.finest_constraint_level: goes with "
              "\"constraint_level\"");
    EXPECT_EQ(greens_error(rabbit + R"(, "constraint_level": 1, "finest_constraint_level": 0)"),
              "scene.json: bodies[0].greens.finest_constraint_level = 0 (expected at least "
              "\"constraint_level\", 1)");
    EXPECT_THAT(greens_error(rabbit + R"(, "wavelet": "haar")"),
                HasSubstr("bodies[0].greens.wavelet = \"haar\""));
    EXPECT_THAT(greens_error(rabbit + R"(, "wavelet": "linear", "elements": "constant")"),
                HasSubstr("wavelets need one node at each vertex"));
    for (const char* key :
         {R"("wavelet": "linear")", R"("constraint_level": 0)", R"("display_level": 3)"})
        EXPECT_THAT(greens_error(std::string(R"("shape": "beam", "fixed": "x < 1 %", )") + key),
                    HasSubstr("needs levels of subdivision"));
    EXPECT_THAT(greens_error(R"("shape": "kidney", "levels": 1, "fixed": "x < 33 %",
                             "measured": {}, "constraint_level": 0)"),
                HasSubstr("goes with bodies that are computed, not \"measured\""));
    EXPECT_THAT(greens_error(R"("file": "liver.pliant", "wavelet": "linear")"),
                HasSubstr("the file says it"));
    // a finer surface to show comes from shapes alone: neither answer sends people to the other
    EXPECT_EQ(greens_error(R"("shape": "beam", "fixed": "x < 1 %", "display_level": 3)"),
              "scene.json: bodies[0].greens.display_level: needs levels of subdivision: a shape "
              "that has them, as \"rabbit\"");
    EXPECT_EQ(greens_error(R"("file": "liver.pliant", "display_level": 3)"),
              "scene.json: bodies[0].greens.display_level: goes with a \"shape\" that has levels, "
              "as \"rabbit\"; a file is shown as the surface that it was built from");
}

TEST_F(GreensReader, RefusesBodiesThatCannotBe) {
    EXPECT_EQ(greens_error(R"("shape": "nodule")"),
              "scene.json: bodies[0].greens.fixed: is needed: something must hold the body, as in "
              "\"z < 5 %\"");
    EXPECT_EQ(greens_error(R"("shape": "beam", "levels": 2, "fixed": "x < 1 %")"),
              "scene.json: bodies[0].greens.levels: goes with shapes that are subdivision "
              "surfaces, as \"nodule\" and \"rabbit\", without \"resolution\"");
    EXPECT_THAT(greens_error(R"("shape": "beam", "fixed": "x < 1 %", "mesh": {"resolution": 9})"),
                HasSubstr("mesh: goes with \"method\": \"fem\" only"));
    EXPECT_THAT(
        greens_error(
            R"("shape": "beam", "fixed": "x < 1 %", "method": "fem", "elements": "linear")"),
        HasSubstr("elements: goes with \"method\": \"bem\" only"));
    EXPECT_THAT(
        greens_error(
            R"("shape": "beam", "fixed": "x < 1 %", "elements": "constant", "crease_degrees": 30)"),
        HasSubstr("crease_degrees: goes with \"elements\": \"linear\" only"));
    EXPECT_THAT(greens_error(R"("file": "liver.pliant", "fixed": "x < 1 %")"),
                HasSubstr("fixed: goes with \"shape\" or \"surface\"; the file says it"));
    EXPECT_THAT(greens_error(R"("shape": "beam", "fixed": "x < 1 %", "measured": {})"),
                HasSubstr("measured: with synthetic probes goes with shapes that are subdivision "
                          "surfaces"));
    EXPECT_THAT(
        greens_error(R"("shape": "nodule", "fixed": "z < 1 %", "method": "fem", "measured": {})"),
        HasSubstr("method: goes with bodies that are computed, not \"measured\""));
    EXPECT_THAT(greens_error(R"("file": "liver.obj")"),
                HasSubstr("(expected a .pliant file that `pliant build --kind greens` made)"));
    EXPECT_THAT(greens_error(R"("shape": "beam", "fixed": "x < 1 %", "material": "wood")"),
                HasSubstr("one that is the same along all directions"));
    EXPECT_THAT(
        greens_error(R"("shape": "nodule", "fixed": "z < 1 %")", R"(, "contact": {})"),
        HasSubstr("contact: bodies of the kind \"greens\" are touched without it; drop it"));
    EXPECT_THAT(greens_error(R"("shape": "nodule", "fixed": "z < 1 %")",
                             R"(, "velocity": {"linear": [1, 0, 0]})"),
                HasSubstr("velocity: only reduced bodies that are \"free\""));
    EXPECT_THAT(greens_error(R"("shape": "nodule", "fixed": "z < 1 %", "method": "fem",
                                "material": {"poisson_ratio": 0.5})"),
                HasSubstr("bodies[0].greens"));
}

TEST_F(GreensReader, RefusesContactsThatCannotBe) {
    EXPECT_EQ(
        touch_error(R"({"greens": "nodul", "points": ["finger"]})"),
        "scene.json: contacts[0].greens = \"nodul\" (expected a body of the scene: "
        "\"nodule\", \"beam\", \"lump\", \"finger\", \"thumb\", \"rock\", \"glove\", \"stone\")");
    EXPECT_EQ(
        touch_error(R"({"greens": "beam", "points": ["finger"]})"),
        "scene.json: contacts[0].greens = \"beam\" (expected a body of the kind \"greens\" or "
        "\"zones\")");
    EXPECT_EQ(touch_error(R"({"greens": "nodule"})"),
              "scene.json: contacts[0].greens: needs \"points\" or \"tools\" beside it: rigid "
              "bodies that touch it");
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["beam"]})"),
                HasSubstr("points[0] = \"beam\" (expected a rigid body; this one deforms)"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["stone"]})"),
                HasSubstr("leave out its \"density\""));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["thumb"]})"),
                HasSubstr("a body of the loop \"haptic\", as \"nodule\"; this one is in \"slow\""));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["finger", "finger"]})"),
                HasSubstr("each body once"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "tools": ["rock"]})"),
                HasSubstr("a sphere, box, capsule or wedge: these are convex"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "tools": ["glove", "finger"]})"),
                HasSubstr("a hand without other tools beside it"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["glove"]})"),
                HasSubstr("a rigid body; this one deforms"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "tools": ["finger"], "friction": 0.2})"),
                HasSubstr("friction: goes with \"points\" only"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["finger"], "sliding": true})"),
                HasSubstr("sliding: goes with \"tools\" only"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["finger"], "budget": 1e-3})"),
                HasSubstr("budget: goes with \"tools\" only"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "tools": ["finger"], "budget": 1e-3})"),
                HasSubstr("budget: goes with a body that has \"constraint_level\""));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "tools": ["finger"], "budget": 0})"),
                HasSubstr("budget = 0"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["finger"], "stiffness": 3})"),
                HasSubstr("does not go with \"greens\": the body gives the force"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["finger"]},
                               {"greens": "nodule", "tools": ["finger"]})"),
                HasSubstr("a body that is in no other contact"));
    EXPECT_THAT(touch_error(R"({"greens": "nodule", "points": ["finger"]},
                               {"greens": "lump", "tools": ["finger"]})"),
                HasSubstr("contacts[1].greens: \"finger\" touches \"nodule\" already"));
    EXPECT_THAT(touch_error(R"({"shell": "nodule", "field": "finger"})"),
                HasSubstr("bodies of the kind \"greens\" are touched in"));
    EXPECT_THAT(touch_error(R"({"among": ["glove", "stone"]})"),
                HasSubstr("hands touch bodies of the kind \"greens\""));
    EXPECT_THAT(touch_error(R"({"self": "beam", "points": ["finger"]})"),
                HasSubstr("points: goes with \"greens\" only"));
}

}  // namespace
}  // namespace pliant
