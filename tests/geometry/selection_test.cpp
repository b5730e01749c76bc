#include "pliant/geometry/selection.h"

#include "input_error.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;

/// 11 × 11 × 11 points over [0, 1]³, x fastest.
std::vector<Vector3d> lattice() {
    std::vector<Vector3d> points;
    for (int i = 0; i < 1331; ++i)
        points.emplace_back(0.1 * (i % 11), 0.1 * (i / 11 % 11), 0.1 * (i / 121));
    return points;
}

std::vector<int> pick(const std::string& text) { return select(parse_selection(text), lattice()); }

std::vector<int> where(const std::function<bool(const Vector3d&)>& condition) {
    std::vector<int> indices;
    const auto points = lattice();
    for (int i = 0; i < 1331; ++i)
        if (condition(points[i])) indices.push_back(i);
    return indices;
}

std::string refusal(const std::string& text) {
    return input_error([&] { (void)parse_selection(text); });
}

TEST(Selection, PercentagesAreOfTheExtentAndIncludeTheLimit) {
    const auto low = where([](const Vector3d& x) { return x.z() < 0.31; });
    EXPECT_EQ(pick("z < 30 %"), low);
    EXPECT_EQ(pick("z<30%"), low);
    EXPECT_EQ(pick("  z  <  30.0  %  "), low);
    EXPECT_EQ(pick("lowest 30%"), low);
    EXPECT_EQ(pick("lowest 30 % z"), low);
    const auto high = where([](const Vector3d& x) { return x.y() > 0.69; });
    EXPECT_EQ(pick("y > 70 %"), high);
    EXPECT_EQ(pick("highest 30 % y"), high);
    EXPECT_EQ(pick("z < 0 %").size(), 121u);
    EXPECT_EQ(pick("z < 100 %").size(), 1331u);
    EXPECT_EQ(pick("highest 0 %").size(), 121u);
}

TEST(Selection, PercentagesFollowTheBodyWhereverItIs) {
    std::vector<Vector3d> points = lattice();
    for (Vector3d& x : points) x = 0.01 * x + Vector3d(3, -5, 7);
    EXPECT_EQ(select(parse_selection("x < 20 %"), points), pick("x < 20 %"));
}

TEST(Selection, MetresAreStrict) {
    EXPECT_EQ(pick("x < 0.25"), where([](const Vector3d& x) { return x.x() < 0.25; }));
    EXPECT_EQ(pick("x>0.75"), where([](const Vector3d& x) { return x.x() > 0.75; }));
    EXPECT_TRUE(pick("x < 0").empty());
    EXPECT_EQ(pick("z < -1e-3").size(), 0u);
}

TEST(Selection, BoxSphereAndPlane) {
    EXPECT_EQ(pick("box 0 0 0 0.15 1 1"), where([](const Vector3d& x) { return x.x() < 0.15; }));
    EXPECT_EQ(pick("box 0,0,0, 0.15,1,1"), pick("box 0 0 0 0.15 1 1"));
    EXPECT_EQ(pick("sphere 0.5 0.5 0.5 0.21"),
              where([](const Vector3d& x) { return (x - Vector3d(.5, .5, .5)).norm() < 0.21; }));
    EXPECT_EQ(pick("plane 1 1 0 0.35"),
              where([](const Vector3d& x) { return x.x() + x.y() < 0.35; }));
    EXPECT_EQ(pick("sphere 0 0 0 0"), std::vector{0});
}

TEST(Selection, ListsAreSortedAndUnique) {
    EXPECT_EQ(pick("list 7-9, 1,2,8"), (std::vector{1, 2, 7, 8, 9}));
    EXPECT_EQ(pick("list 1330"), std::vector{1330});
    EXPECT_EQ(pick("list 3-3 0"), (std::vector{0, 3}));
}

TEST(Selection, FunctionsGiveTheSameAsText) {
    const auto points = lattice();
    EXPECT_EQ(select(lowest(0.05), points), pick("lowest 5 %"));
    EXPECT_EQ(select(highest(0.2, 0), points), pick("x > 80 %"));
    EXPECT_EQ(select(in_box({0, 0, 0}, {0.5, 0.5, 0.5}), points), pick("box 0 0 0 .5 .5 .5"));
    EXPECT_EQ(select(in_sphere({0, 0, 0}, 0.5), points), pick("sphere 0 0 0 0.5"));
    EXPECT_EQ(select(below_plane({0, 0, 1}, 0.35), points), pick("z < 0.35"));
    EXPECT_EQ(select(vertex_list({5, 3, 5}), points), pick("list 3,5"));
}

TEST(Selection, UnreadableTextIsRefusedWithReasonAndExamples) {
    EXPECT_EQ(refusal("bottom"),
              "cannot read the selection \"bottom\": \"bottom\" is not known; examples: \"z < 5 "
              "%\", \"x > 0.02\" (metres), \"lowest 5 %\", \"box 0 0 0 1 1 0.1\", \"sphere 0 0 0 "
              "0.1\", \"plane 0 0 1 0.02\", \"list 1,2,7-9\"");
    const std::pair<const char*, const char*> cases[] = {
        {"", "a selection is missing at the end"},
        {"z", "\"<\" or \">\" is missing at the end"},
        {"z = 3", "expected \"<\" or \">\", not \"=\""},
        {"z <", "a number is missing at the end"},
        {"z < low", "\"low\" is not a number"},
        {"z < 5 % 7", "\"7\" is left over at the end"},
        {"z < 0.1 x < 0.2", "\"x\" is left over"},
        {"z < 3mm", "\"3mm\" is not a number"},
        {"z < nan", "\"nan\" is not a finite number"},
        {"z < -inf", "\"-inf\" is not a finite number"},
        {"z < 101 %", "percentage = 101 (expected 0 to 100 %)"},
        {"z > -5 %", "percentage = -5 (expected 0 to 100 %)"},
        {"lowest 130 %", "percentage = 130 (expected 0 to 100 %)"},
        {"lowest 5", "\"%\" is missing at the end"},
        {"lowest 5 x", "\"lowest\" needs a percentage"},
        {"highest 5 % up", "the axis must be x, y or z, not \"up\""},
        {"box 0 0 0 1 1", "a number is missing"},
        {"box 0 0 1 1 1 0", "the box runs backwards along z: from 1 to 0"},
        {"sphere 0 0 0 -1", "sphere radius = -1 (expected a finite number, not negative)"},
        {"plane 0 0 0 1", "length of the plane normal = 0 (expected more than 0)"},
        {"list", "a vertex index is missing"},
        {"list 1,two", "\"two\" is not a vertex index"},
        {"list -4", "vertex index = -4 (expected 0 or more)"},
        {"list 9-7", "the range 9-7 runs backwards"},
        {"list 0-2000000000", "the range 0-2000000000 is longer than any mesh"},
        {"list -2000000000-2000000000", "the range -2000000000-2000000000 is longer than any mesh"},
        {"list -1-2147483647", "the range -1-2147483647 is longer than any mesh"},
        {"list 99999999999", "\"99999999999\" is not a vertex index"},
    };
    for (const auto& [text, reason] : cases)
        EXPECT_NE(refusal(text).find(reason), std::string::npos) << text << ": " << refusal(text);
}

TEST(Selection, FunctionsRefuseNonsenseToo) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(input_error([&] { (void)lowest(nan); }).find("percentage"), std::string::npos);
    EXPECT_NE(input_error([&] { (void)lowest(0.1, 3); }).find("axis = 3"), std::string::npos);
    EXPECT_NE(input_error([&] {
                  (void)in_box({0, nan, 0}, {1, 1, 1});
              }).find("finite"),
              std::string::npos);
    EXPECT_NE(input_error([&] {
                  (void)in_sphere({0, 0, 0}, nan);
              }).find("radius"),
              std::string::npos);
    EXPECT_NE(input_error([&] {
                  (void)below_plane({0, 0, 1}, nan);
              }).find("offset"),
              std::string::npos);
}

TEST(Selection, ListEntriesBeyondTheMeshAreRefused) {
    EXPECT_EQ(input_error([] { (void)pick("list 3,1331"); }),
              "vertex 1331 of the list does not exist; there are 1331 vertices, numbered from "
              "0");
}

TEST(SelectSome, EmptySelectionSaysWhereTheVerticesAreAndWhatToTry) {
    std::vector<Vector3d> points = lattice();
    for (Vector3d& x : points) x *= 0.1414;
    const auto message = [&](const std::string& text) {
        return input_error([&] { (void)select_some(text, points, "--fix"); });
    };
    EXPECT_EQ(message("z < -3"),
              "--fix \"z < -3\" selects no vertex; z runs from 0.000 to 0.141 m. Try \"z < 5 %\" "
              "for the lowest 5 %.");
    EXPECT_EQ(message("x > 2"),
              "--fix \"x > 2\" selects no vertex; x runs from 0.000 to 0.141 m. Try \"x > 95 %\" "
              "for the highest 5 %.");
    EXPECT_EQ(message("sphere 9 9 9 1"),
              "--fix \"sphere 9 9 9 1\" selects no vertex; x runs from 0.000 to 0.141 m, y runs "
              "from 0.000 to 0.141 m, z runs from 0.000 to 0.141 m. Try \"lowest 5 %\" for those "
              "at the bottom.");
    EXPECT_EQ(message("z < 5 %"), "");
    EXPECT_EQ(message("bottom").substr(0, 40), "--fix: cannot read the selection \"bottom");
    EXPECT_NE(message("list 5000").find("--fix: vertex 5000 of the list"), std::string::npos);
    for (Vector3d& x : points) x *= 0.001;
    EXPECT_NE(message("z < -3").find("z runs from 0.000000 to 0.000141 m"), std::string::npos)
        << message("z < -3");
    points.clear();
    EXPECT_EQ(message("z < 5 %"), "--fix \"z < 5 %\" selects no vertex; there are none.");
}

}  // namespace
}  // namespace pliant
