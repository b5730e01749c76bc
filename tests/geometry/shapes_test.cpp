#include "pliant/geometry/shapes.h"

#include "geometry/shape_parts.h"
#include "geometry/test_meshes.h"
#include "input_error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/tet_mesh.h"
#include "pliant/geometry/voxel_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::fingerprint;
using testing::HasSubstr;

class EveryShape : public testing::TestWithParam<std::string> {};

TEST_P(EveryShape, IsWellFormedSizedAndPlaced) {
    const ShapeInfo& info = shape_info(GetParam());
    const int resolution =
        info.kind == ShapeKind::Soup ? 6 : std::max(24, info.default_resolution / 2);
    const SurfaceMesh mesh = make_shape(info.name, resolution);
    const SurfaceReport report = check_surface(mesh);
    // soups too are made of closed, consistently oriented parts
    EXPECT_TRUE(report.is_closed() && report.is_manifold() && report.is_clean()) << report.text();
    EXPECT_GT(report.volume, 0.0);
    if (info.kind == ShapeKind::Closed) {
        EXPECT_EQ(report.num_components, 1);
    }
    EXPECT_NEAR(report.box.sizes().maxCoeff(), info.size, 0.02 * info.size);

    // on the ground and over the origin, except the linked tubes and hoses, which keep their place
    const bool is_tube = info.name.starts_with("alpha-tube");
    const Vector3d middle = report.box.center();
    EXPECT_LT(middle.head<2>().norm(), (is_tube ? 0.5 : 0.03) * info.size);
    if (info.name != "alpha-tube-1") {
        EXPECT_NEAR(report.box.min().z(), 0.0, 0.02 * info.size);
    }
}

TEST_P(EveryShape, IsTheSameEveryTime) {
    const ShapeInfo& info = shape_info(GetParam());
    const int resolution = info.kind == ShapeKind::Soup ? 5 : 20;
    set_num_threads(1);
    const std::uint64_t first = fingerprint(make_shape(info.name, resolution));
    set_num_threads(2);
    const std::uint64_t second = fingerprint(make_shape(info.name, resolution));
    set_num_threads(0);
    EXPECT_EQ(first, second);
}

/// The large versions are the same bodies at another resolution; their size has a test below.
std::vector<std::string> small_names() {
    std::vector<std::string> names;
    for (const ShapeInfo& info : shape_list())
        if (!info.name.ends_with("-150k")) names.push_back(info.name);
    return names;
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const ShapeInfo& info : shape_list()) names.push_back(info.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryShape, testing::ValuesIn(small_names()),
                         [](const auto& param) {
                             std::string name = param.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Shapes, RegistryHoldsTheModelsOfTheDemos) {
    const std::vector<std::string> names = all_names();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    for (const std::string name :
         {"beam",          "spoon",   "bridge",       "tower",        "heart",           "basket",
          "chair",         "hoses",   "bracket",      "alpha-tube-1", "alpha-tube-2",    "creature",
          "creature-150k", "serpent", "serpent-150k", "figure",       "figure-with-axe", "axe",
          "peg",           "hole",    "fish",         "hand"})
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
    for (const ShapeInfo& info : shape_list()) EXPECT_FALSE(info.description.empty()) << info.name;
}

TEST(Shapes, LargeVersionsHave150ThousandTriangles) {
    for (const std::string name : {"creature-150k", "serpent-150k"}) {
        const SurfaceReport report = check_surface(make_shape(name));
        EXPECT_NEAR(report.num_triangles, 150000, 3000) << name;
        EXPECT_EQ(report.num_components, 1) << name;
        EXPECT_TRUE(report.is_clean()) << name << "\n" << report.text();
    }
}

TEST(Shapes, LargeVersionsAreTheSameEveryTime) {
    for (const std::string name : {"creature-150k", "serpent-150k"}) {
        set_num_threads(1);
        const std::uint64_t first = fingerprint(make_shape(name, 40));
        set_num_threads(2);
        const std::uint64_t second = fingerprint(make_shape(name, 40));
        set_num_threads(0);
        EXPECT_EQ(first, second) << name;
    }
}

TEST(Shapes, LargeSerpentIsFilledToItsVolume) {
    const SurfaceMesh serpent = make_shape("serpent-150k");
    const SurfaceQuery query(serpent);
    const double volume = enclosed_volume(serpent);
    EXPECT_NEAR(total_volume(build_tet_mesh(query, {120})), volume, 0.02 * volume);
    EXPECT_NEAR(total_volume(build_voxel_mesh(query, {120}), true), volume, 0.02 * volume);
}

TEST(Shapes, HigherResolutionGivesMoreTriangles) {
    for (const std::string name : {"beam", "bridge", "chair"})
        EXPECT_GT(make_shape(name, 24).num_triangles(), 1.5 * make_shape(name, 12).num_triangles())
            << name;
}

TEST(Shapes, BeamIsAnExactBox) {
    const SurfaceMesh beam = make_shape("beam", 10);
    EXPECT_NEAR(enclosed_volume(beam), 0.04, 1e-12);
    EXPECT_NEAR(surface_area(beam), 4 * 0.2 + 2 * 0.04, 1e-12);
}

TEST(Shapes, PegFitsTheHoleWithItsClearance) {
    const SurfaceMesh peg = make_shape("peg", 50), hole = make_shape("hole", 40);
    // below the collar, away from the key: radius of the pin against that of the bore
    double pin = 0.0, bore = 1.0;
    for (const Vector3d& v : peg.vertices)
        if (v.z() > 0.02 && v.z() < 0.06 && v.x() < 0.0) pin = std::max(pin, v.head<2>().norm());
    for (const Vector3d& v : hole.vertices)
        if (v.z() > 0.02 && v.z() < 0.03 && v.x() < 0.0) bore = std::min(bore, v.head<2>().norm());
    EXPECT_NEAR(pin, 0.015, 2e-5);
    EXPECT_NEAR(bore - pin, 0.0006, 4e-5);
    // and the key against the keyway
    double key = 0.0, keyway = 0.0;
    for (const Vector3d& v : peg.vertices)
        if (v.z() > 0.02 && v.z() < 0.06) key = std::max(key, v.x());
    for (const Vector3d& v : hole.vertices)
        if (v.z() > 0.02 && v.z() < 0.03 && std::abs(v.y()) < 0.004 && v.x() < 0.03)
            keyway = std::max(keyway, v.x());
    EXPECT_NEAR(keyway - key, 0.0006, 2e-4);
}

/// Gauss linking integral of two closed polygons: a whole number, here to about 1e-3.
double linking_number(const std::vector<Vector3d>& p, const std::vector<Vector3d>& q) {
    constexpr int kPieces = 60;  // of each side
    const auto pieces = [&](const std::vector<Vector3d>& loop) {
        std::vector<std::pair<Vector3d, Vector3d>> list;  // middle, step
        for (std::size_t i = 0; i < loop.size(); ++i) {
            const Vector3d step = (loop[(i + 1) % loop.size()] - loop[i]) / kPieces;
            for (int k = 0; k < kPieces; ++k) list.emplace_back(loop[i] + (k + 0.5) * step, step);
        }
        return list;
    };
    double sum = 0;
    for (const auto& [x, dx] : pieces(p))
        for (const auto& [y, dy] : pieces(q))
            sum += (x - y).dot(dx.cross(dy)) / std::pow((x - y).norm(), 3);
    return sum / (4 * std::numbers::pi);
}

TEST(Shapes, AlphaTubesAreCongruentAndApart) {
    const SurfaceMesh first = make_shape("alpha-tube-1", 40),
                      second = make_shape("alpha-tube-2", 40);
    EXPECT_NEAR(enclosed_volume(first), enclosed_volume(second), 1e-3 * enclosed_volume(first));
    double gap = 1.0;
    for (std::size_t i = 0; i < first.vertices.size(); i += 5)
        for (std::size_t j = 0; j < second.vertices.size(); j += 5)
            gap = std::min(gap, (first.vertices[i] - second.vertices[j]).norm());
    EXPECT_GT(gap, 0.005);
}

TEST(Shapes, LoopsOfTheAlphaTubesAreLinkedAndTheirCrossingsLetATubePass) {
    std::vector<std::vector<Vector3d>> loops;
    for (const bool is_second : {false, true}) {
        std::vector<Vector3d> line = shape_parts::alpha_line(is_second);
        const SurfaceQuery tube(make_shape(is_second ? "alpha-tube-2" : "alpha-tube-1", 40));
        for (const Vector3d& x : line) EXPECT_LT(tube.signed_distance(x), -0.008);
        // the tubes are open curves: the loop runs from one passage of the crossing to the other,
        // and the gap there, wider than a tube, is the way out of the puzzle
        const Vector3d gap = line[2] - line[line.size() - 3];
        EXPECT_NEAR(gap.norm() - 0.02, 0.022, 1e-9);
        loops.emplace_back(line.begin() + 2, line.end() - 2);
    }
    // closed across the gap, the loops cannot come apart
    EXPECT_NEAR(std::abs(linking_number(loops[0], loops[1])), 1.0, 0.01);
}

TEST(Shapes, BracketIsWhereTheHosesHaveTheirs) {
    const Box bracket = bounding_box(make_shape("bracket", 40).vertices);
    const Box hoses = bounding_box(make_shape("hoses", 60).vertices);
    EXPECT_NEAR(bracket.min().z(), hoses.min().z(), 1e-3);
    EXPECT_TRUE(hoses.contains(bracket.center()));
}

TEST(Shapes, UnknownNameSuggestsTheNearest) {
    const auto message = [](const std::string& name) {
        return test::input_error([&] { (void)shape_info(name); });
    };
    EXPECT_THAT(message("brigde"), HasSubstr("shape = 'brigde'"));
    EXPECT_THAT(message("brigde"), HasSubstr("did you mean 'bridge'?"));
    EXPECT_THAT(message("zeppelin"), HasSubstr("a name from 'pliant shape list'"));
    EXPECT_THAT(message("zeppelin"), testing::Not(HasSubstr("did you mean")));
    EXPECT_THROW((void)make_shape("zeppelin"), InputError);
}

TEST(Shapes, ResolutionOutOfRangeIsRefused) {
    for (const std::string name : {"bridge", "beam", "heart"})
        for (const int resolution : {-1, 3, 5000})
            EXPECT_EQ(test::input_error([&] { (void)make_shape(name, resolution); }),
                      "resolution = " + std::to_string(resolution) +
                          " (expected 4 to 2048, or 0 for the default)")
                << name;
}

}  // namespace
}  // namespace pliant
