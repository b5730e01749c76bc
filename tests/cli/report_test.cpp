#include "apps/pliant/reproduce/report.h"

#include "apps/pliant/reproduce/mesh_picture.h"
#include "apps/pliant/reproduce/plot.h"
#include "pliant/geometry/structured_mesh.h"

#include <gtest/gtest.h>
#include <limits>

namespace pliant::reproduce {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

TEST(Report, NumbersBeyondTheirToleranceAreMarkedAndListed) {
    Section section("test", "A test");
    Table table{"values", "Values", {{"value", "value"}, {"limit", "limit"}}};
    table.add({section.compared("inside", 1.04, 1, 0.05), section.at_most("low", 2, 3)});
    table.add({section.compared("outside", 1.06, 1, 0.05), section.at_most("high", 4, 3)});
    table.add({section.compared("not a number", kNan, 1, 0.05), section.at_least("too low", 2, 3)});
    section.table(table);
    const std::string html = section.html();
    EXPECT_EQ(count(html, "class=\"off\""), 4);
    EXPECT_EQ(count(html, "<li>"), 4);
    EXPECT_NE(html.find("<li>outside: measured 1.06, expected 1 ± 0.05</li>"), std::string::npos);
    EXPECT_NE(html.find("<li>high: measured 4, expected at most 3</li>"), std::string::npos);
    EXPECT_NE(html.find("<li>too low: measured 2, expected at least 3</li>"), std::string::npos);
    const std::string page = html_page("Title", "Text", {section});
    EXPECT_NE(
        page.find("6 numbers are compared with references: 2 within their tolerances, 4 beyond."),
        std::string::npos)
        << page;
    EXPECT_NE(page.find("4 beyond tolerance</span>"), std::string::npos);
}

TEST(Report, JsonLinesHoldFullNumbersAndDeviations) {
    Section section("test", "A test");
    Table table{"values", "Values", {{"name", "Name"}, {"value", "Value"}, {"none", "None"}}};
    table.add(
        {"a \"b\"", section.compared("off", 0.123456789, 1, 0.1, "%.2f"), Cell::number(kNan)});
    section.table(table);
    EXPECT_EQ(
        section.json_lines(),
        (std::vector<std::string>{
            R"({"experiment":"test","table":"values","name":"a \"b\"","value":0.123456789,"none":null})",
            R"({"experiment":"test","deviation":"off","measured":0.123456789,"expected":"1 ± 0.1"})"}));
}

TEST(Report, TextIsEscapedEverywhere) {
    Section section("test", "a < b");
    section.text("c & d");
    section.figure({drawn({.title = "<e>", .x_label = "\"f\"", .y_label = "y"})}, "g > h");
    const std::string html = section.html();
    for (const char* part : {"a &lt; b", "c &amp; d", "&lt;e&gt;", "&quot;f&quot;", "g &gt; h"})
        EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(Plot, PointsThatHaveNoPlaceBreakTheLine) {
    const Series series{"", {{1, 1}, {2, 4}, {3, kNan}, {4, 16}, {5, 0}, {6, 36}, {7, 49}}};
    const auto pieces = [&](bool is_log) {
        const std::string svg = drawn(
            {.title = "t", .x_label = "x", .y_label = "y", .series = {series}, .log_y = is_log});
        EXPECT_EQ(svg.find("nan"), std::string::npos);
        EXPECT_EQ(svg.find("inf"), std::string::npos);
        const std::size_t start = svg.find("<path class=\"line");
        return count(svg.substr(start, svg.find("/>", start) - start), "M");
    };
    EXPECT_EQ(pieces(false), 2);
    EXPECT_EQ(pieces(true), 3);  // zero has no place on a logarithmic axis
}

TEST(Plot, LogarithmicAxesPutPowersAtEqualDistances) {
    const std::string svg =
        drawn({.title = "t",
               .x_label = "x",
               .y_label = "y",
               .series = {{"s", {{1, 1}, {10, 100}, {100, 10000}}, 0, Stroke::Dots}},
               .log_x = true,
               .log_y = true});
    std::vector<std::pair<double, double>> places;
    for (std::size_t at = svg.find("<circle"); at != std::string::npos;
         at = svg.find("<circle", at + 1)) {
        double x = 0, y = 0;
        ASSERT_EQ(std::sscanf(svg.c_str() + at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
        places.emplace_back(x, y);
    }
    ASSERT_EQ(places.size(), 4u);  // and one in the legend
    EXPECT_NEAR(places[1].first - places[0].first, places[2].first - places[1].first, 0.11);
    EXPECT_NEAR(places[1].second - places[0].second, places[2].second - places[1].second, 0.11);
    EXPECT_GT(places[1].first, places[0].first);
    EXPECT_LT(places[1].second, places[0].second);  // upwards
}

TEST(Plot, NumbersOfAnAxisAreWrittenAlike) {
    const auto has = [](const Plot& plot, const std::string& text) {
        return drawn(plot).find(">" + text + "</text>") != std::string::npos;
    };
    Plot plot{.title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {{0, 1}, {1, 1e6}}}}};
    plot.log_y = true;
    for (const char* text : {"1", "1e1", "1e4", "1e5", "0", "0.2", "0.8"})
        EXPECT_TRUE(has(plot, text)) << text;
    for (const char* text : {"10", "10000", "100000"}) EXPECT_FALSE(has(plot, text)) << text;

    plot = {
        .title = "t", .x_label = "x", .y_label = "y", .series = {{"s", {{0, -1e-3}, {1, 1e-3}}}}};
    for (const char* text : {"-1e-3", "-5e-4", "0", "5e-4", "1e-3"})
        EXPECT_TRUE(has(plot, text)) << text;
    for (const char* text : {"0.001", "-0"}) EXPECT_FALSE(has(plot, text)) << text;
}

TEST(Plot, EmptyAndConstantDataStillMakeAPlot) {
    for (const bool is_log : {false, true})
        for (const auto& points :
             {std::vector<std::pair<double, double>>{}, {{2.0, 3.0}, {2.0, 3.0}}}) {
            const std::string svg = drawn({.title = "t",
                                           .x_label = "x",
                                           .y_label = "y",
                                           .series = {{"s", points}},
                                           .log_x = is_log,
                                           .log_y = is_log});
            EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
            EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
        }
}

TEST(MeshPicture, ACubeShowsThreeOfItsFacesFromACorner) {
    const VolumeMesh cube = hex_box(1, 1, 1, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Ones()));
    const Drawn body{&cube, {}};
    const std::string svg =
        picture({body}, box_around({body}), {.azimuth = 30, .elevation = 30}, "cube");
    EXPECT_EQ(count(svg, "<polygon class=\"mesh\""), 3);
    // twice the size in every direction: red
    Drawn grown{&cube, Eigen::VectorXd::Zero(24)};
    for (int i = 0; i < 8; ++i)
        grown.u.segment<3>(3 * i) = cube.vertices[static_cast<std::size_t>(i)];
    const std::string red = picture({grown}, box_around({grown}), {}, "cube");
    unsigned r = 0, g = 0, b = 0;
    ASSERT_EQ(std::sscanf(red.c_str() + red.find("fill=\"#"), "fill=\"#%2x%2x%2x", &r, &g, &b), 3);
    EXPECT_GT(r, 2 * g);
    EXPECT_GT(r, 2 * b);
}

}  // namespace
}  // namespace pliant::reproduce
