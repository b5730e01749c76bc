#include "cli/command_line.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cli_test {
namespace {

class Reproduce : public CommandLine {
protected:
    [[nodiscard]] std::string page(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

/// Every element is closed, in order; void elements of HTML aside.
std::string first_unbalanced_tag(const std::string& html) {
    std::vector<std::string> open;
    for (std::size_t at = html.find("<body"); (at = html.find('<', at)) != std::string::npos;
         ++at) {
        const std::size_t end = html.find('>', at);
        if (end == std::string::npos) return "no end";
        std::string tag = html.substr(at + 1, end - at - 1);
        if (tag.ends_with('/')) continue;
        tag.resize(std::min(tag.size(), tag.find(' ')));
        if (!tag.starts_with('/')) {
            open.push_back(tag);
            continue;
        }
        if (open.empty() || "/" + open.back() != tag) return tag;
        open.pop_back();
        if (open.empty()) break;
    }
    return open.empty() ? "" : open.back();
}

TEST_F(Reproduce, CompressionPageHoldsCurveTableAndPeak) {
    const Output made =
        pliant("reproduce fem --quick --only compression --progress none -o " + path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "2 numbers compared with references, 0 beyond")) << made.text;
    const std::string html = page("page.html");
    EXPECT_TRUE(html.starts_with("<!doctype html>"));
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part :
         {"<section id=\"compression\">", "St. Venant–Kirchhoff", "neo-Hookean", "corotational",
          "<td class=\"num\">0.5774</td>", "<td class=\"num\">0.1925</td>", "<td>collapsed</td>",
          "2 numbers are compared with references: 2 within their tolerances, 0 beyond.",
          "prefers-color-scheme: dark"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    // nothing is loaded from elsewhere
    for (const char* part : {"<script", "http", "src="})
        EXPECT_EQ(html.find(part), std::string::npos) << part;
}

TEST_F(Reproduce, SeveralExperimentsGoIntoAFolderInTheOrderOfThePage) {
    const Output made = pliant(
        "reproduce fem --quick --only compression --only strain --progress none -o " + path("new"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    const std::string html = page("new/fem.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    EXPECT_LT(html.find("<section id=\"strain\">"), html.find("<section id=\"compression\">"));
    EXPECT_NE(html.find("<polygon class=\"mesh\""), std::string::npos);
    EXPECT_EQ(html.find("<section id=\"orderings\">"), std::string::npos);
}

TEST_F(Reproduce, JsonHasOneLinePerTableRow) {
    const Output made =
        pliant("reproduce fem --quick --only strain --json -o " + path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    std::istringstream lines(made.text);
    int rows = 0;
    for (std::string line; std::getline(lines, line); ++rows) {
        EXPECT_EQ(line.front(), '{') << line;
        EXPECT_EQ(line.back(), '}') << line;
    }
    EXPECT_EQ(rows, 4 + 4 + 1);  // cantilever, twist, summary
    EXPECT_TRUE(contains(made,
                         "{\"experiment\":\"strain\",\"table\":\"cantilever\","
                         "\"youngs_modulus_pa\":"))
        << made.text;
    EXPECT_TRUE(contains(made, "\"comparisons\":28,\"beyond_tolerance\":0}")) << made.text;
}

TEST_F(Reproduce, ReducedModelsHaveAPageToo) {
    const Output made = pliant("reproduce reduction --quick --only materials --progress none -o " +
                               path("page.html"));
    EXPECT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, ", 0 beyond their tolerances")) << made.text;
    EXPECT_TRUE(contains(pliant("reproduce reduction --list"), "spoon")) << "names";
    const Output baskets =
        pliant("reproduce reduction --quick --only baskets --json --progress none -o " +
               path("baskets.html"));
    EXPECT_EQ(baskets.exit_code, 0) << baskets.text;
    // 2 s at 120 Hz, of the loop of the baskets alone
    EXPECT_TRUE(contains(baskets, "\"when\":\"falling\",\"steps\":179,")) << baskets.text;
    EXPECT_TRUE(contains(baskets, "\"when\":\"in the heap\",\"steps\":61,")) << baskets.text;
}

TEST_F(Reproduce, ContactHasAPageWithPeaksForEveryBump) {
    const Output made =
        pliant("reproduce contact --quick --only bumps --progress none -o " + path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "5 numbers compared with references, 0 beyond")) << made.text;
    const std::string html = page("page.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part : {"<section id=\"bumps\">", "Six bumps under a sliding bar",
                             "Force while the bar slides", "Peaks of the force across the slide"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    const Output list = pliant("reproduce contact --list");
    for (const char* name : {"configurations", "convergence", "asymmetry", "bumps", "degradation",
                             "insertion", "coherence", "deformed-field", "normals", "generators",
                             "voxmap", "cables", "bent-hose", "rest"})
        EXPECT_TRUE(contains(list, name)) << name;
}

TEST_F(Reproduce, FieldsAreSmootherThanVoxmapsAndDrawnAsIsoLines) {
    const Output made =
        pliant("reproduce contact --quick --only voxmap --only deformed-field --progress none -o " +
               path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, ", 0 beyond their tolerances")) << made.text;
    const std::string html = page("page.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    // rest, spread and bent with one domain and with those found
    std::size_t pictures = 0;
    for (std::size_t at = 0; (at = html.find("<path class=\"line s4\"", at)) != std::string::npos;
         ++at)
        ++pictures;
    EXPECT_EQ(pictures, 6u);
}

TEST_F(Reproduce, PolesAreFeltAsFourSpringsInARow) {
    const Output made =
        pliant("reproduce haptics --quick --only pole --only couplings --progress none -o " +
               path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, ", 0 beyond their tolerances")) << made.text;
    const std::string html = page("page.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part : {"<section id=\"pole\">", "four springs, N/m", "dynamic, 50 g"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    const Output list = pliant("reproduce haptics --list");
    for (const char* name : {"alpha-puzzle", "alpha-pushes", "pole", "rod", "couplings", "solves",
                             "limits", "bumps", "degradation", "virtual-hand", "delay",
                             "demo-depth", "ticks", "stability", "demo-stability"})
        EXPECT_TRUE(contains(list, name)) << name;
}

TEST_F(Reproduce, RodsStayBetweenTheirPostsAndDynamicToolsOnFullFemAreQuiet) {
    const Output made =
        pliant("reproduce haptics --quick --only rod --only virtual-hand --progress none -o " +
               path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    // the published coupling, kinematic, is not quiet in either hand, and is told so
    EXPECT_TRUE(contains(made, "26 numbers compared with references, 4 beyond")) << made.text;
    EXPECT_TRUE(contains(made, "virtual-hand: kinematic, loose hand: force above 15 Hz"))
        << made.text;
    EXPECT_FALSE(contains(made, "virtual-hand: dynamic")) << made.text;
    EXPECT_EQ(first_unbalanced_tag(page("page.html")), "");
}

TEST_F(Reproduce, GreensFunctionsAreFeltWithoutTheirMesh) {
    const Output made =
        pliant("reproduce greens --quick --only masks --only analytic --progress none -o " +
               path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, ", 0 beyond their tolerances")) << made.text;
    const std::string html = page("page.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part :
         {"<section id=\"masks\">", "correlation with areas", "<polygon class=\"mesh\"",
          "cylinder in torsion, ν = 0.5", "radius 2 edges"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    const Output list = pliant("reproduce greens --list");
    for (const char* name :
         {"analytic", "reciprocity", "methods", "precomputation", "stiffness", "masks",
          "suboperations", "updates", "cost-ratios", "cost-model", "sequence", "strokes"})
        EXPECT_TRUE(contains(list, name)) << name;
}

TEST_F(Reproduce, WaveletsKeepFewBlocksAndLongExperimentsWaitToBeAskedFor) {
    const Output made = pliant("reproduce wavelets --quick --only patterns --progress none -o " +
                               path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, "1 numbers compared with references, 0 beyond")) << made.text;
    const std::string html = page("page.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part : {"<section id=\"patterns\">", "Blocks kept", "of 133 × 133"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    const Output list = pliant("reproduce wavelets --list");
    for (const char* name : {"patterns", "gallery", "rabbit", "finger", "levels", "measured",
                             "summation", "tubes (with --only)"})
        EXPECT_TRUE(contains(list, name)) << name;
    EXPECT_TRUE(contains(list, "9,920 vertices\n")) << "the serpent is part of the page";
}

TEST_F(Reproduce, ProxiesAreHeldByWedgesAndEdgesAndRecorded) {
    const Output made = pliant(
        "reproduce proxy --quick --only edges --only wedge --only failures --only cloth --logs "
        "--progress none -o " +
        path("page.html"));
    ASSERT_EQ(made.exit_code, 0) << made.text;
    EXPECT_TRUE(contains(made, ", 0 beyond their tolerances")) << made.text;
    const std::string html = page("page.html");
    EXPECT_EQ(first_unbalanced_tag(html), "");
    for (const char* part : {"<section id=\"cloth\">", "over |f| Δs / d", "half-space",
                             "In a wedge of one degree", "Force on the hand"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
    // two recordings of the cloth, one line for each step
    const std::string log = page("page-cloth.csv");
    EXPECT_TRUE(log.starts_with("time_s,hand_x_m,hand_y_m,hand_z_m,proxy_x_m"))
        << log.substr(0, 80);
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 301);
    EXPECT_TRUE(std::filesystem::exists(path("page-cloth-without-ccd.csv")));
    const Output list = pliant("reproduce proxy --list");
    for (const char* name :
         {"cloth", "fold", "pop-out-times", "failures", "fish-tail", "fish-stroke", "four-fish",
          "sides", "trials", "5,000 trials of each (with --only)", "stroke", "edges", "wedge",
          "rates", "curtain", "proxies", "drag", "tools"})
        EXPECT_TRUE(contains(list, name)) << name;
}

TEST_F(Reproduce, UnknownNamesAreRefusedWithTheList) {
    EXPECT_FAILS_WITH(
        "reproduce fem --only compresion -o " + path("page.html"),
        "no experiment is called compresion; did you mean compression?; there are "
        "strain, statics, compression, orderings, impact, bounce, collision, penalty, realtime, "
        "graded, graded-tets, viscoelastic, stability");
    EXPECT_FAILS_WITH("reproduce water",
                      "module = water (expected fem, reduction, contact, haptics, greens, "
                      "wavelets, proxy or all)");
    EXPECT_FAILS_WITH("reproduce", "needs more operands");
    EXPECT_FAILS_WITH("reproduce fem --only strain -o /no/such/folder/page.html",
                      "/no/such/folder");
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    const Output list = pliant("reproduce fem --list");
    EXPECT_EQ(list.exit_code, 0);
    EXPECT_TRUE(contains(list, "compression   One cube in compression")) << list.text;
    EXPECT_TRUE(contains(pliant("reproduce fem --list --json"), "{\"name\":\"strain\",\"title\":"));
}

TEST_F(Reproduce, InterruptedRunLeavesNoPage) {
    const Output output = interrupted(
        {"reproduce", "fem", "--only", "orderings", "--progress", "json", "-o", path("page.html")});
    EXPECT_EQ(output.exit_code, 130) << output.text;
    EXPECT_TRUE(contains(output, "interrupted; no file is half-written")) << output.text;
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace cli_test
