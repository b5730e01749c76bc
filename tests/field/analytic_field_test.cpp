#include "pliant/field/analytic_field.h"

#include "core/numbers.h"
#include "field/field_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using test::points_in_cube;
using test::QueryPoints;
using ::testing::HasSubstr;

constexpr double kRounding = 1e-6;  // a few units of single precision at coordinates of up to 2 m

/// Distance to a solid whose nearest surface point is known in closed form, in double precision.
double sphere_distance(const Vector3d& x, double r) { return x.norm() - r; }
double capsule_distance(const Vector3d& x, double r, double h) {
    return (x - Vector3d(0, 0, std::clamp(x[2], -h, h))).norm() - r;
}
double box_distance(const Vector3d& x, const Vector3d& h) {
    const Vector3d nearest = x.cwiseMax(-h).cwiseMin(h);
    if (nearest != x) return (x - nearest).norm();
    return -(h - x.cwiseAbs()).minCoeff();
}

struct FieldCase {
    std::string name;
    FieldPointer field;
    std::function<double(const Vector3d&)> exact;
};
std::vector<FieldCase> exact_fields() {
    const Vector3d h(0.5, 0.3, 0.8);
    return {
        {"sphere", sphere_field(0.7), [](const Vector3d& x) { return sphere_distance(x, 0.7); }},
        {"capsule", capsule_field(0.3, 0.5),
         [](const Vector3d& x) { return capsule_distance(x, 0.3, 0.5); }},
        {"point capsule", capsule_field(0.4, 0),
         [](const Vector3d& x) { return sphere_distance(x, 0.4); }},
        {"box", box_field(h), [h](const Vector3d& x) { return box_distance(x, h); }},
        {"half-space", plane_set_field({{Vector3d(0, 3, 4), 0.2}}),
         [](const Vector3d& x) { return x.dot(Vector3d(0, 0.6, 0.8)) - 0.2; }}};
}

std::vector<FieldPlane> box_planes(const Vector3d& h) {
    std::vector<FieldPlane> planes;
    for (int axis = 0; axis < 3; ++axis)
        for (const double sign : {-1.0, 1.0})
            planes.push_back({2 * sign * Vector3d::Unit(axis), h[axis]});
    return planes;
}

TEST(AnalyticField, DistancesAreExact) {
    const QueryPoints points = points_in_cube(2000, 1.5);
    for (const FieldCase& c : exact_fields()) {
        const std::vector<float> d = test::distances_of(*c.field, points);
        for (int i = 0; i < points.count(); ++i)
            ASSERT_NEAR(d[i], c.exact(points.at(i)), kRounding) << c.name << " at " << i;
    }
}

TEST(AnalyticField, GradientsAreUnitAndMatchCentralDifferences) {
    const QueryPoints points = points_in_cube(2000, 1.5, 2);
    const double h = 1e-6;
    for (const FieldCase& c : exact_fields()) {
        const test::QuerySamples s = test::samples_of(*c.field, points);
        int num_kinks = 0;
        for (int i = 0; i < points.count(); ++i) {
            ASSERT_NEAR(s.gradient(i).norm(), 1, 1e-6) << c.name << " at " << i;
            Vector3d difference;
            for (int axis = 0; axis < 3; ++axis) {
                const Vector3d step = h * Vector3d::Unit(axis);
                difference[axis] =
                    (c.exact(points.at(i) + step) - c.exact(points.at(i) - step)) / (2 * h);
            }
            num_kinks += (difference - s.gradient(i)).norm() > 1e-4;
        }
        // a step over a kink is rare: 2 h of a thickness of about a metre
        EXPECT_LE(num_kinks, 1) << c.name;
    }
}

TEST(AnalyticField, SamplesAndBatchesOfAnyLengthGiveTheSameBits) {
    const QueryPoints points = points_in_cube(777, 1.2, 3);
    std::vector<FieldCase> cases = exact_fields();
    cases.push_back({"polytope", plane_set_field(box_planes({0.4, 0.5, 0.6})), {}});
    for (const FieldCase& c : cases) {
        const std::vector<float> d = test::distances_of(*c.field, points);
        const test::QuerySamples s = test::samples_of(*c.field, points);
        EXPECT_EQ(d, s.distance) << c.name;
        for (int i = 0; i < points.count(); ++i)
            ASSERT_EQ(d[i], c.field->distance(points.at(i))) << c.name << " at " << i;
    }
}

TEST(AnalyticField, KinksHaveAStatedGradient) {
    const auto gradient = [](const FieldPointer& field, const Vector3d& x) {
        return field->sample(x).gradient;
    };
    EXPECT_EQ(gradient(sphere_field(1), Vector3d::Zero()), Vector3d::UnitZ());
    EXPECT_EQ(gradient(capsule_field(1, 2), {0, 0, 1}), Vector3d::UnitX());
    EXPECT_EQ(gradient(capsule_field(1, 2), {0, 0, 2}), Vector3d::UnitX());
    // equally near faces: the first axis; no side: the positive one
    EXPECT_EQ(gradient(box_field({1, 1, 1}), Vector3d::Zero()), Vector3d::UnitX());
    EXPECT_EQ(gradient(box_field({1, 1, 1}), {0, -0.5, 0.5}), -Vector3d::UnitY());
    EXPECT_EQ(gradient(box_field({1, 2, 1}), {1, 0, 0}), Vector3d::UnitX());  // on the surface
    // equal planes: the first
    EXPECT_EQ(gradient(plane_set_field({{{0, 1, 0}, 1}, {{1, 0, 0}, 1}}), {0.5, 0.5, 0}),
              Vector3d::UnitY());
}

TEST(PlaneSet, IsExactInsideAndOverFacesAndABoundElsewhere) {
    const Vector3d h(0.5, 0.3, 0.8);
    const FieldPointer planes = plane_set_field(box_planes(h)), box = box_field(h);
    const QueryPoints points = points_in_cube(3000, 1.2, 4);
    const std::vector<float> a = test::distances_of(*planes, points),
                             b = test::distances_of(*box, points);
    int num_smaller = 0;
    for (int i = 0; i < points.count(); ++i) {
        const int num_beyond =
            static_cast<int>((points.at(i).cwiseAbs() - h).array().cwiseSign().sum() + 3) / 2;
        if (num_beyond <= 1)
            ASSERT_NEAR(a[i], b[i], kRounding);
        else
            ASSERT_LE(a[i], b[i] + kRounding);
        num_smaller += a[i] < b[i] - 0.1;
    }
    EXPECT_GT(num_smaller, 100);
}

TEST(PlaneSet, BoundsAreThoseOfTheSolid) {
    const Box half = plane_set_field({{{0, 0, 1}, 0.5}})->bounds();
    EXPECT_EQ(half.max(), Vector3d(kInfinity, kInfinity, 0.5));
    EXPECT_EQ(half.min(), Vector3d::Constant(-kInfinity));
    const Box slab = plane_set_field({{{1, 0, 0}, 0.5}, {{-1, 0, 0}, 0.25}})->bounds();
    EXPECT_EQ(slab.min()[0], -0.25);
    EXPECT_EQ(slab.max()[0], 0.5);
    EXPECT_EQ(slab.max()[1], kInfinity);
    // x, y, z ≥ 0 and x + y + z ≤ 1, with a plane that touches nothing
    const double third = 1 / std::sqrt(3.0);
    const Box simplex =
        plane_set_field(
            {{{-1, 0, 0}, 0}, {{0, -1, 0}, 0}, {{0, 0, -1}, 0}, {{1, 1, 1}, third}, {{1, 0, 1}, 5}})
            ->bounds();
    EXPECT_LT((simplex.min() - Vector3d::Zero()).norm(), 1e-12);
    EXPECT_LT((simplex.max() - Vector3d::Ones()).norm(), 1e-12);
}

TEST(AnalyticField, PointsThatAreNotFiniteAreInfinitelyFarOutside) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<FieldCase> cases = exact_fields();
    cases.push_back({"polytope", plane_set_field(box_planes({0.4, 0.5, 0.6})), {}});
    for (const FieldCase& c : cases) {
        for (const Vector3d& x : {Vector3d(nan, 0, 0), Vector3d(0, nan, 0), Vector3d(0, 0, nan),
                                  Vector3d(0, 0, -kInfinity), Vector3d(kInfinity, 0, 0)}) {
            const DistanceSample sample = c.field->sample(x);
            EXPECT_EQ(sample.distance, kInfinity) << c.name;
            EXPECT_EQ(sample.gradient, Vector3d::Zero()) << c.name;
        }
        const DistanceSample far = c.field->sample({1e38, 1e38, -1e38});
        EXPECT_TRUE(std::isfinite(far.distance)) << c.name;
        EXPECT_NEAR(far.gradient.norm(), 1, 1e-6) << c.name;
    }
}

TEST(AnalyticField, BoundsAndMarginAndResolutionSayThatItIsExact) {
    EXPECT_EQ(sphere_field(0.5)->bounds().max(), Vector3d::Constant(0.5));
    EXPECT_EQ(box_field({1, 2, 3})->bounds().min(), Vector3d(-1, -2, -3));
    EXPECT_EQ(capsule_field(0.5, 2)->bounds().max(), Vector3d(0.5, 0.5, 2.5));
    for (const FieldCase& c : exact_fields()) {
        EXPECT_EQ(c.field->resolution(), 0) << c.name;
        EXPECT_LT(c.field->margin().near, 1e-6) << c.name;
        EXPECT_EQ(c.field->margin().near, c.field->margin().far) << c.name;
    }
}

TEST(AnalyticField, AnswersAllocateNothing) {
    const QueryPoints points = points_in_cube(1000, 1);
    std::vector<float> d(1000), gx(1000), gy(1000), gz(1000);
    for (const FieldCase& c : exact_fields()) {
        AllocationGuard guard;
        c.field->distances(points.batch(), d.data());
        c.field->samples(points.batch(), {d.data(), gx.data(), gy.data(), gz.data()});
        const auto allocations = guard.count();
        EXPECT_EQ(allocations, 0u) << c.name;
    }
}

TEST(AnalyticField, BadSizesAreNamed) {
    EXPECT_THAT(input_error([] { (void)sphere_field(-1); }),
                HasSubstr("radius = -1.000000 (expected a positive number of metres)"));
    EXPECT_THAT(input_error([] { (void)sphere_field(std::nan("")); }), HasSubstr("radius = nan"));
    EXPECT_THAT(input_error([] { (void)box_field({1, 0, 1}); }), HasSubstr("half_sizes[1] = 0"));
    EXPECT_THAT(input_error([] { (void)capsule_field(1, -0.5); }),
                HasSubstr("half_length = -0.500000 (expected 0 m or more)"));
    EXPECT_THAT(input_error([] { (void)capsule_field(1, kInfinity); }),
                HasSubstr("half_length = inf"));
    EXPECT_THAT(input_error([] { (void)plane_set_field({}); }),
                HasSubstr("planes = 0 (expected 1 to 64 of them)"));
    EXPECT_THAT(input_error([] { (void)plane_set_field(std::vector<FieldPlane>(65)); }),
                HasSubstr("planes = 65"));
    EXPECT_THAT(input_error([] {
                    (void)plane_set_field({{}, {Vector3d::Zero(), 1}});
                }),
                HasSubstr("planes[1].normal"));
    EXPECT_THAT(input_error([] {
                    (void)plane_set_field({{Vector3d::UnitX(), kInfinity}});
                }),
                HasSubstr("planes[0].offset = inf"));
    EXPECT_THAT(input_error([] {
                    (void)plane_set_field({{Vector3d::UnitX(), -1}, {-Vector3d::UnitX(), -1}});
                }),
                HasSubstr("the planes leave no room between them"));
}

}  // namespace
}  // namespace pliant
