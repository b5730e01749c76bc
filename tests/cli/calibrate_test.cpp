#include "apps/pliant/calibrate_data.h"
#include "apps/pliant/settle.h"
#include "cli/command_line.h"
#include "input_error.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/json_value.h"

#include <cmath>
#include <fstream>
#include <numbers>

namespace cli_test {
namespace {

using pliant::cli::parse_press;
using pliant::test::input_error;

const std::string kBar = "calibrate beam --size 0.1 --progress none ";

struct Found {
    double value = NAN, low = NAN, high = NAN;
    bool is_identified = false;
};
/// A parameter of a line of --json.
Found found(const Output& output, const std::string& name) {
    EXPECT_EQ(output.exit_code, 0) << output.text;
    if (output.exit_code != 0) return {};
    // the other stream may say which files were written
    const std::size_t start = output.text.find('{');
    const pliant::JsonValue json = pliant::parse_json(
        output.text.substr(start, output.text.find('\n', start) - start), "output");
    for (const pliant::JsonValue& p : json.find("parameters")->array())
        if (p.find("name")->string() == name) {
            const pliant::JsonValue* high = p.find("high95");
            return {p.find("value")->number(), p.find("low95")->number(),
                    high->is(pliant::JsonValue::Type::Number) ? high->number() : INFINITY,
                    p.find("identified")->boolean()};
        }
    ADD_FAILURE() << "no " << name << " in " << output.text;
    return {};
}

/// A list of numbers of a line of --json.
std::vector<double> numbers(const Output& output, const std::string& name) {
    const std::size_t start = output.text.find('{');
    const pliant::JsonValue json = pliant::parse_json(
        output.text.substr(start, output.text.find('\n', start) - start), "output");
    std::vector<double> result;
    for (const pliant::JsonValue& value : json.find(name)->array())
        result.push_back(value.number());
    return result;
}

void write_text(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

TEST(PressData, ColumnsAreFoundByNameAndConvertedByUnit) {
    const auto data = parse_press(
        "# a comment\ntime [ms]; load [mN]; note; indentation "
        "[mm]\n0;0;a;0\n10;500;b;1\n20;900;c;3\n",
        "x.csv");
    ASSERT_EQ(data.depth.size(), 3u);
    EXPECT_DOUBLE_EQ(data.depth[2], 3e-3);
    EXPECT_DOUBLE_EQ(data.force[1], 0.5);
    EXPECT_DOUBLE_EQ(data.velocity[1], 0.15);
    EXPECT_DOUBLE_EQ(data.velocity[2], 0.2);
    EXPECT_TRUE(parse_press("depth [m], force [N]\n1,1\n2,2\n", "x.csv").velocity.empty());
}

TEST(PressData, WhatIsWrongIsSaidWithItsLineAndARemedy) {
    const auto refused = [](const std::string& text) {
        return input_error([&] { (void)parse_press(text, "x.csv"); });
    };
    EXPECT_EQ(
        refused("depth, force\n1,2\n"),
        "x.csv:1: column \"depth\" has no unit; write a header such as: depth [mm], force [N]");
    EXPECT_EQ(refused("depth [inch], force [N]\n1,2\n"),
              "x.csv:1: depth = [inch] (expected a unit of cm, m, mm, um, µm)");
    EXPECT_EQ(refused("1,2\n3,4\n"),
              "x.csv:1: has no column of depth with its unit; write a header such as: depth [mm], "
              "force [N]");
    EXPECT_EQ(refused("depth [m], force [N]\n1,2\n3,x\n"), "x.csv:3: \"x\" is not a number");
    EXPECT_EQ(refused("depth [m], force [N]\n1,2,3\n"), "x.csv:2: has 3 cells; the header has 2");
    EXPECT_EQ(refused("depth [m], force [N]\n1,2\n"),
              "x.csv: has 1 rows of numbers; at least 2 are needed");
    EXPECT_EQ(refused("time [s], depth [m], force [N]\n1,1,2\n1,2,2\n"),
              "x.csv:3: time does not go on; sort the rows by it");
    EXPECT_NE(refused("depth [m], force [N]\n-1,2\n-2,2\n").find("no depth is positive"),
              std::string::npos);
}

TEST(Settle, TheLastRoundCounts) {
    // 1, 1/2, 1/4, …: differences fall below 0.1 in round 4
    int rounds = 0;
    const auto halved = [&](double x) {
        ++rounds;
        return x / 2;
    };
    EXPECT_FALSE(pliant::cli::settles(1, halved, 0.1, 3));
    EXPECT_EQ(rounds, 3);
    rounds = 0;
    EXPECT_TRUE(pliant::cli::settles(1, halved, 0.1, 4));
    EXPECT_TRUE(pliant::cli::settles(1, halved, 0.1, 9));
    EXPECT_EQ(rounds, 8);
}

TEST_F(CommandLine, ABarPulledAlongItsAxisGivesTheModulusOfTheTextbook) {
    // F = E A / L d with E = 1 MPa, A = 4 cm², L = 10 cm
    write_text(path("bar.csv"), "depth [mm], force [N]\n0.02,0.08\n0.05,0.2\n0.1,0.4\n");
    const Output output = pliant(kBar + "--data " + path("bar.csv") +
                                 " --fix \"x < 0.1 %\" --direction \"-1 0 0\" --radius 0.015 "
                                 "--poisson 0.01 --law small-strain --young 3e4 --json");
    EXPECT_NEAR(found(output, "modulus").value, 1e6, 1e4) << output.text;
}

TEST_F(CommandLine, EveryMethodFindsTheNumberThatMadeItsData) {
    struct Case {
        std::string method, truth, start, name;
        double value;
    };
    const std::string kNodule =
        "calibrate nodule --progress none --kind greens --fix \"z < 10 %\" --mask-radius 0.013";
    for (const Case& c :
         {Case{"--kind fem --fix \"x < 5 %\"", "--young 2e5 --depth 0.005", "--young 3e6",
               "modulus", 2e5},
          {"--kind reduced --fix \"x < 5 %\" --modes 6 --rank 8 --resolution 12",
           "--young 2e5 --depth 0.003", "--young 4e4", "modulus", 2e5},
          {kNodule, "--young 2e5", "--young 4e4", "modulus", 2e5},
          {"--kind fem --fix \"x < 5 %\" --law small-strain", "--poisson 0.4",
           "--poisson 0.2 --fit poisson", "poisson", 0.4},
          // its shapes change with the ratio
          {"--kind reduced --fix \"x < 5 %\" --modes 6 --rank 8", "--poisson 0.4 --depth 0.003",
           "--poisson 0.2 --fit poisson", "poisson", 0.4},
          {kNodule, "--poisson 0.45", "--poisson 0.2 --fit poisson", "poisson", 0.45},
          {"--kind particles --fix \"x < 20 %\" --particles 12 --at \"0.05 0 0.01\"",
           "--stiffness 0.3 --force 0.5", "--stiffness 0.7", "stiffness", 0.3}}) {
        const std::string csv = path("press.csv"),
                          base = (c.method.starts_with("calibrate") ? "" : kBar) + c.method;
        const Output simulated = pliant(base + " " + c.truth + " --simulate " + csv);
        ASSERT_EQ(simulated.exit_code, 0) << simulated.text;
        const Output output = pliant(base + " " + c.start + " --json --data " + csv);
        const Found parameter = found(output, c.name);
        EXPECT_NEAR(parameter.value, c.value, 0.01 * c.value) << c.method;
        EXPECT_TRUE(parameter.is_identified) << c.method;
    }
}

TEST_F(CommandLine, MaskRadiusFollowsFromTheStiffnessOfAPoint) {
    const std::string base =
        "calibrate nodule --progress none --kind greens --fix \"z < 10 %\" --young 2e4 ";
    const std::string csv = path("press.csv");
    ASSERT_EQ(pliant(base + "--mask-radius 0.013 --simulate " + csv).exit_code, 0);
    const Output output =
        pliant(base + "--fit mask-radius --mask-radius 0.02 --json --data " + csv);
    EXPECT_NEAR(found(output, "mask-radius").value, 0.013, 1e-4);
}

TEST_F(CommandLine, NoiseWidensTheIntervalThatHoldsTheTruth) {
    const std::string csv = path("press.csv"),
                      base = kBar + "--fix \"x < 5 %\" --law small-strain ";
    ASSERT_EQ(pliant(base + "--young 2e5 --noise 3 --simulate " + csv).exit_code, 0);
    const Output output = pliant(base + "--json --data " + csv + " -o " + path("page.html"));
    const Found modulus = found(output, "modulus");
    EXPECT_LT(modulus.low, 2e5);
    EXPECT_GT(modulus.high, 2e5);
    EXPECT_GT(modulus.high - modulus.low, 1e3);
    EXPECT_LT(modulus.high - modulus.low, 4e4);
    // one dot for each datum about a line at zero, as far from it as the JSON says
    const std::string html = pliant::read_file(path("page.html"));
    const std::size_t title = html.find("<title>Residuals: model minus data</title>");
    ASSERT_NE(title, std::string::npos);
    const std::string drawing = html.substr(title, html.find("</svg>", title) - title);
    std::vector<double> heights;
    for (std::size_t at = drawing.find("<circle"); at != std::string::npos;
         at = drawing.find("<circle", at + 1))
        heights.push_back(std::stod(drawing.substr(drawing.find("cy=\"", at) + 4)));
    const std::vector<double> data = numbers(output, "data"), model = numbers(output, "model");
    ASSERT_EQ(heights.size(), data.size());
    ASSERT_EQ(data.size(), 20u);
    // upwards on the page is a smaller number; any two dots give the scale
    const auto residual = [&](std::size_t i) { return model[i] - data[i]; };
    std::size_t low = 0, high = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (residual(i) < residual(low)) low = i;
        if (residual(i) > residual(high)) high = i;
    }
    const double scale = (heights[low] - heights[high]) / (residual(high) - residual(low));
    EXPECT_GT(scale, 0);
    for (std::size_t i = 0; i < data.size(); ++i)
        EXPECT_NEAR(heights[low] - heights[i], scale * (residual(i) - residual(low)), 0.2) << i;
    // a linear press tells no Poisson ratio beside the modulus
    const Output both = pliant(base + "--fit modulus,poisson --data " + csv);
    EXPECT_TRUE(contains(both, "the data do not tell poisson")) << both.text;
}

TEST_F(CommandLine, FrequenciesTellModulusPoissonRatioAndDamping) {
    // bending and torsion differ in how they take modulus and ratio
    const Output built =
        pliant("build beam --material custom --young 2.8133e7 --poisson 0.42 --density 1000 --fix "
               "\"x < 5 %\" --mesh voxel --resolution 12 --modes 6 --rank 6 --no-cache --progress "
               "none --json -o " +
               path("beam.pliant"));
    ASSERT_EQ(built.exit_code, 0) << built.text;
    std::string frequencies, ratios;
    for (const double f : numbers(built, "frequencies_hz")) {
        if (!ratios.empty()) frequencies += ",", ratios += ",";
        frequencies += std::to_string(f);
        ratios += std::to_string(std::numbers::pi * 1e-3 * f);
    }
    for (const char* kind : {"fem", "reduced"}) {
        const Output output =
            pliant(std::string("calibrate beam --progress none --fix \"x < 5 %\" --kind ") + kind +
                   " --frequencies " + frequencies +
                   " --fit modulus,poisson,damping --json --ratios " + ratios);
        EXPECT_NEAR(found(output, "modulus").value, 2.8133e7, 3e4) << kind;
        EXPECT_NEAR(found(output, "poisson").value, 0.42, 0.003) << kind;
        // ζ = π β f
        EXPECT_NEAR(found(output, "damping").value, 1e-3, 1e-5) << kind;
    }
}

TEST_F(CommandLine, DampingFollowsFromForcesThatDependOnSpeed) {
    for (const char* kind : {"fem", "reduced --modes 6 --rank 8"}) {
        const std::string base = kBar + "--fix \"x < 5 %\" --law small-strain --kind " + kind + " ";
        ASSERT_EQ(pliant(base + "--young 2e5 --simulate " + path("k.csv")).exit_code, 0);
        const auto still = parse_press(pliant::read_file(path("k.csv")), "k.csv");
        const double stiffness = still.force.back() / still.depth.back();
        std::string text = "time [s], depth [m], force [N]\n";
        for (int i = 0; i < 100; ++i) {
            const double t = 0.005 * i, d = 1e-3 * (1.5 - std::cos(6 * t)),
                         v = 6e-3 * std::sin(6 * t);
            text += std::to_string(t) + "," + std::to_string(d) + "," +
                    std::to_string(stiffness * (d + 0.02 * v)) + "\n";
        }
        write_text(path("swing.csv"), text);
        const Output output =
            pliant(base + "--fit modulus,damping --json --data " + path("swing.csv"));
        EXPECT_NEAR(found(output, "damping").value, 0.02, 4e-4) << kind;
        EXPECT_NEAR(found(output, "modulus").value, 2e5, 2e3) << kind;
        EXPECT_FAILS_WITH(base + "--fit damping --data " + path("k.csv"), "add a column: time [s]");
    }
}

TEST_F(CommandLine, ParticleDataTooSmallToSayAnythingAreRefused) {
    const std::string base =
        kBar + "--kind particles --fix \"x < 20 %\" --particles 12 --at \"0.05 0 0.01\" --data ";
    write_text(path("shallow.csv"), "depth [um], force [N]\n0.2,0.1\n0.4,0.2\n");
    EXPECT_FAILS_WITH(base + path("shallow.csv"),
                      "shallow.csv: the deepest press, 0.4 µm, is too small to tell the stiffness "
                      "of particles (at least 1 µm); press deeper");
    write_text(path("weak.csv"), "depth [mm], force [mN]\n1,1e-6\n2,2e-6\n");
    EXPECT_FAILS_WITH(
        base + path("weak.csv"),
        "weak.csv: the strongest force, 2e-09 N, moves even the softest particles by");
    EXPECT_FAILS_WITH(base + path("weak.csv"),
                      "too little to tell their stiffness (at least 1 µm); measure with larger "
                      "forces, or check --density");
}

TEST_F(CommandLine, CalibrationsThatCannotBeAreRefusedWithARemedy) {
    write_text(path("no-units.csv"), "depth, force\n1,2\n2,4\n");
    write_text(path("good.csv"), "depth [mm], force [N]\n1,2\n2,4\n");
    const std::string data = " --data " + path("good.csv");
    EXPECT_FAILS_WITH(kBar + "--data " + path("no-units.csv") + " --fix \"x < 5 %\"",
                      "no-units.csv:1: column \"depth\" has no unit; write a header such as: "
                      "depth [mm], force [N]");
    EXPECT_FAILS_WITH(kBar + "--fix \"x < 5 %\"", "needs one of --data FILE.csv");
    EXPECT_FAILS_WITH(kBar + data, "needs --fix \"z < 5 %\"");
    EXPECT_FAILS_WITH(kBar + data + " --fix \"x < 5 %\" --kind jelly",
                      "--kind = jelly (expected fem, reduced, greens or particles)");
    EXPECT_FAILS_WITH(kBar + data + " --fix \"x < 5 %\" --fit stiffness",
                      "--fit stiffness is for --kind particles, not for --kind fem; drop it");
    EXPECT_FAILS_WITH(kBar + "--frequencies 5,3 --fix \"x < 5 %\"",
                      "--frequencies = 5,3 (expected positive numbers, ascending");
    EXPECT_FAILS_WITH(kBar + "--frequencies 3,5x --fix \"x < 5 %\"",
                      "--frequencies = 3,5x (expected positive numbers, ascending");
    EXPECT_FAILS_WITH(kBar + "--frequencies 3,5 --kind greens --fix \"x < 5 %\"",
                      "--frequencies are for --kind fem or reduced; greens has none");
}

TEST_F(CommandLine, VectorsOfACalibrationAreThreeNumbersAndNothingMore) {
    write_text(path("good.csv"), "depth [mm], force [N]\n1,2\n2,4\n");
    const std::string base = kBar + "--data " + path("good.csv") + " --fix \"x < 5 %\" ";
    for (const std::string option : {"--at", "--direction"})
        for (const std::string text : {"1 2", "0 0 0.1 5", "0 0 -1x", "0,0,-1,", "0 0 inf", ""})
            EXPECT_FAILS_WITH(base + option + " \"" + text + "\"",
                              option + (text.empty() ? "" : " = " + text) +
                                  " (expected three numbers, as in \"0 0 -1\")");
    // commas and blanks at the ends do no harm
    for (const std::string text : {"0 0 0", "0,0, 0", " 0 0 0 "})
        EXPECT_FAILS_WITH(base + "--direction \"" + text + "\"",
                          "--direction = " + text + " (expected a direction, not zero)");
}

TEST_F(CommandLine, GradedMeshesOfACalibrationHaveTheLevelsThatFit) {
    const Output simulated = pliant(kBar +
                                    "--fix \"x < 5 %\" --mesh graded --depth 0.002 "
                                    "--simulate " +
                                    path("press.csv"));
    EXPECT_EQ(simulated.exit_code, 0) << simulated.text;
}

TEST_F(CommandLine, OptionsThatACalibrationWouldNotReadAreRefused) {
    write_text(path("good.csv"), "depth [mm], force [N]\n1,2\n2,4\n");
    const std::string base = kBar + "--fix \"x < 5 %\" ",
                      data = base + "--data " + path("good.csv") + " ",
                      frequencies = base + "--frequencies 6,6,25,32 ",
                      simulate = base + "--simulate " + path("press.csv") + " ";
    struct Case {
        std::string command, option, readers, not_by;
    };
    for (const Case& c : {
             Case{data + "--ratios 0.02", "--ratios", "--frequencies", "--data"},
             {data + "--noise 3", "--noise", "--simulate", "--data"},
             {data + "--depth 0.001", "--depth", "--simulate", "--data"},
             {data + "--force 2", "--force", "--simulate", "--data"},
             {frequencies + "--noise 3", "--noise", "--simulate", "--frequencies"},
             {frequencies + "--at \"0 0 1\"", "--at", "--data or --simulate", "--frequencies"},
             {frequencies + "--direction \"0 0 1\"", "--direction", "--data or --simulate",
              "--frequencies"},
             {frequencies + "--radius 0.01", "--radius", "--data or --simulate", "--frequencies"},
             {frequencies + "--kind reduced --modes 6", "--modes", "--data or --simulate",
              "--frequencies"},
             {simulate + "--ratios 0.02", "--ratios", "--frequencies", "--simulate"},
             {simulate + "--fit poisson", "--fit", "--data or --frequencies", "--simulate"},
             {simulate + "--damping 0.1", "--damping", "--data or --frequencies", "--simulate"},
             {simulate + "-o " + path("pages"), "-o", "--data or --frequencies", "--simulate"},
             {simulate + "--force 2", "--force", "--kind particles", "--kind fem"},
             {simulate + "--kind particles --depth 0.001", "--depth",
              "--kind fem, reduced or greens", "--kind particles"},
             {data + "--kind greens --law small-strain", "--law", "--kind fem or reduced",
              "--kind greens"},
             {data + "--kind particles --law small-strain", "--law", "--kind fem or reduced",
              "--kind particles"},
             {data + "--kind greens --resolution 8", "--resolution", "--kind fem or reduced",
              "--kind greens"},
             {data + "--kind particles --young 1e5", "--young", "--kind fem, reduced or greens",
              "--kind particles"},
             {data + "--rank 8", "--rank", "--kind reduced", "--kind fem"},
             {data + "--particles 8", "--particles", "--kind particles", "--kind fem"},
             {data + "--stiffness 0.5", "--stiffness", "--kind particles", "--kind fem"},
             {data + "--mask-radius 0.01", "--mask-radius", "--kind greens", "--kind fem"},
         })
        EXPECT_FAILS_WITH(
            c.command, c.option + " is for " + c.readers + ", not for " + c.not_by + "; drop it");
    EXPECT_FAILS_WITH(data + "--damping 0.1",
                      "--damping is where --fit damping begins; add that or drop it");
    EXPECT_FAILS_WITH(data + "--mesh prism",
                      "--mesh = prism (expected voxel, graded, tet or graded-tet)");
    // before anything is written
    EXPECT_FALSE(std::filesystem::exists(path("press.csv")));
    EXPECT_FALSE(std::filesystem::exists(path("pages")));
}

}  // namespace
}  // namespace cli_test
