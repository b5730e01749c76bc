#include "apps/pliant/compare/object.h"
#include "cli/command_line.h"
#include "core/sanitizers.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/json_value.h"
#include "pliant/geometry/shapes.h"

#include <map>
#include <sstream>

namespace cli_test {
namespace {

using pliant::JsonValue;

class Compare : public CommandLine {
protected:
    /// A beam held at one end, pressed by 1 % of its length at the other.
    static constexpr const char* kBeam =
        "compare beam --size 0.2 --fix \"x < 15 %\" --material rubber --resolution 6 --rank 6 "
        "--depth 0.002 --progress none ";
};

TEST_F(Compare, HelpNamesMethodsAndReference) {
    const Output help = pliant("compare --help");
    EXPECT_EQ(help.exit_code, 0);
    for (const char* part : {"pliant compare kidney -o compare.html", "--only METHODS",
                             "rigid,linear,reduced,fem,greens,particles", "--resolution"})
        EXPECT_TRUE(contains(help, part)) << part << "\n" << help.text;
    EXPECT_TRUE(contains(pliant("--help"), "compare")) << "in the overview";
}

TEST_F(Compare, BadInputIsNamedWithItsRemedy) {
    EXPECT_FAILS_WITH("compare", "MESH");
    EXPECT_FAILS_WITH("compare kidny",
                      "there is no file or shape \"kidny\"; did you mean 'kidney'?");
    EXPECT_FAILS_WITH("compare beam --only reduced,gren",
                      "--only = gren (expected some of rigid,linear,reduced,fem,greens,particles");
    EXPECT_FAILS_WITH("compare beam --material jelly", "--material = 'jelly' (expected one of");
    EXPECT_FAILS_WITH("compare bridge --resolution 14 --progress none",
                      "--resolution = 14 (expected at least");
    EXPECT_FAILS_WITH("compare beam --rank 0", "--rank = 0");
    EXPECT_FAILS_WITH("compare beam --resolution 4 --depth 0.5 --progress none",
                      "--depth = 0.5 (expected metres, more than 0 and at most a third of the "
                      "size: 0.333)");
    EXPECT_FAILS_WITH("compare beam --resolution 4 --fix \"z < 100 %\" --progress none",
                      "--fix = z < 100 % (expected a selection that leaves some of the surface "
                      "free to be pressed)");
    EXPECT_FAILS_WITH("compare beam --resolution 4 --fix \"z < banana\" --progress none",
                      "cannot read the selection");
}

TEST_F(Compare, LinearMethodsAgreeWithFullFemOnASmallPress) {
    const Output made =
        pliant(kBeam + std::string("--only reduced,greens,linear,particles --json -o ") +
               path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    std::map<std::string, JsonValue> methods;
    std::string recommended;
    std::istringstream lines(made.text);
    for (std::string line; std::getline(lines, line);) {
        const JsonValue value = pliant::parse_json(line, "line");
        if (const JsonValue* method = value.find("method"))
            methods.emplace(method->string(), value);
        else if (const JsonValue* name = value.find("recommended"))
            recommended = name->string();
    }
    ASSERT_EQ(methods.size(), 5u) << made.text;
    const auto number = [&](const std::string& method, const char* key) {
        return methods.at(method).find(key)->number();
    };
    for (const auto& [name, value] : methods) {
        EXPECT_NEAR(number(name, "depth_m"), 0.002, 2e-6) << name;
        EXPECT_EQ(number(name, "not_ok"), 0) << name;
        EXPECT_GT(number(name, "tick_p50_us"), 0) << name;
        EXPECT_GE(number(name, "tick_p999_us"), number(name, "tick_p50_us")) << name;
        EXPECT_GT(number(name, "ticks"), 1800) << name;
        EXPECT_GT(number(name, "build_s"), 0) << name;
        // the sanitizer's allocator does not tell how much is in use
        if (!PLIANT_ADDRESS_SANITIZER) EXPECT_GT(number(name, "memory_bytes"), 1e4) << name;
        EXPECT_LT(number(name, "memory_bytes"), 1e8) << name;
        EXPECT_GE(number(name, "shape_max"), number(name, "shape_rms")) << name;
        // the curve ends where the press does
        const JsonValue& last = value.find("press")->array().back();
        EXPECT_NEAR(last.array()[0].number(), number(name, "depth_m"), 1e-9) << name;
        EXPECT_NEAR(last.array()[1].number(), number(name, "force_n"), 1e-9) << name;
    }
    // the stroke begins where the press ended, and goes on along the surface under force
    const auto stroke = [&](const std::string& name) {
        return methods.at(name).find("stroke")->array();
    };
    for (const auto& [name, value] : methods) {
        const JsonValue::Array points = stroke(name);
        ASSERT_GT(points.size(), 50u) << name;
        double way = -1;
        for (const JsonValue& point : points) {
            EXPECT_GE(point.array()[0].number(), way) << name;
            EXPECT_GT(point.array()[1].number(), 0) << name;
            way = point.array()[0].number();
        }
        EXPECT_GT(way, 0.005) << name;
        EXPECT_EQ(way, stroke("fem").back().array()[0].number()) << name;
        EXPECT_NEAR(points.front().array()[1].number(), number(name, "force_n"),
                    0.1 * number(name, "force_n"))
            << name;
    }
    // shapes compare though particles have no material
    EXPECT_LT(number("particles", "shape_rms"), 0.1);
    EXPECT_GT(number("particles", "shape_max"), 1e-3);
    EXPECT_EQ(number("fem", "shape_rms"), 0);
    EXPECT_EQ(number("fem", "shape_max"), 0);
    EXPECT_EQ(number("fem", "force_ratio"), 1);
    // the same elements and the same law for small displacements
    EXPECT_NEAR(number("greens", "force_ratio"), 1, 0.02);
    EXPECT_LT(number("greens", "shape_rms"), 0.02);
    EXPECT_GT(number("greens", "shape_rms"), 1e-5);
    // a subspace is stiffer than the whole
    for (const char* name : {"reduced", "linear"}) {
        EXPECT_GT(number(name, "stiffness_n_per_m"), 0.999 * number("fem", "stiffness_n_per_m"));
        EXPECT_LT(number(name, "force_ratio"), 1.2);
        EXPECT_LT(number(name, "shape_rms"), 0.1);
    }
    EXPECT_TRUE(methods.contains(recommended)) << recommended;

    const std::string html = pliant::read_file(path("page.html"));
    EXPECT_TRUE(html.starts_with("<!doctype html>"));
    for (const char* part :
         {"Recommendation", "Take ", "depth [mm]", "shape RMS", "full FEM",
          "Particles have no material", "<title>Press</title>",
          "<title>Stroke at the full depth</title>",
          "<title>Press, force over that at the full depth</title>", "<title>particles</title>"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST_F(Compare, WhatDoesNotGiveWayIsRecommendedRigid) {
    const Output made = pliant(
        "compare beam --fix \"z < 5 %\" --material steel --resolution 5 --only rigid "
        "--depth 0.0001 --progress none");
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "Take rigid: under 10 N it gives ")) << made.text;
}

TEST_F(Compare, InterruptedLeavesNoPage) {
    const Output stopped = interrupted(
        {"compare", "kidney", "--only", "fem", "--progress", "json", "-o", path("page.html")});
    EXPECT_EQ(stopped.exit_code, 130) << stopped.text;
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(CommandLine, ThinBodiesGetAsManyTetrahedraAsTheyNeed) {
    // 2 mm thick and 0.2 m long: 14 cells along it find nothing inside
    pliant::compare::ObjectOptions options;
    options.material = pliant::material_preset("rubber");
    options.fixed = "x < 10 %";
    const auto spoon = [&] {
        return make_object(pliant::make_shape("spoon"), options, pliant::Progress::none());
    };
    EXPECT_GT(spoon().share_of_length, 0.9);
    EXPECT_GT(spoon().resolution, 28);
    options.resolution = 28;
    EXPECT_LT(spoon().share_of_length, 0.9);
    const Output torn = pliant(
        "compare spoon --material rubber --only rigid --progress none --json --resolution 28");
    ASSERT_EQ(torn.exit_code, 0) << torn.text;
    EXPECT_TRUE(contains(torn, "thin parts fell off. Choose a finer --resolution than 28"))
        << torn.text;
}

}  // namespace
}  // namespace cli_test
