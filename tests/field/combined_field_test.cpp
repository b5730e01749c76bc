#include "core/numbers.h"
#include "field/field_samples.h"
#include "input_error.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/error.h"
#include "pliant/field/analytic_field.h"
#include "pliant/field/distance_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using test::input_error;
using test::points_in_cube;
using test::QueryPoints;
using ::testing::HasSubstr;

FieldPointer ball_at(const Vector3d& centre, double radius) {
    return move_field(sphere_field(radius), centre, Quaterniond::Identity());
}
Quaterniond some_rotation() { return Quaterniond(0.9, 0.1, -0.3, 0.2).normalized(); }

/// A distance with waves of half the allowed height on it: near the surface small ones, beyond the
/// band large ones, as grids with bricks have.
FieldPointer wavy_ball(const Vector3d& centre, double radius, CullingMargin margin) {
    return std::make_shared<test::LambdaField>(
        [=](const Vector3d& x) {
            const double d = (x - centre).norm() - radius;
            const double wave = std::sin(60 * x[0]) * std::cos(70 * x[1]) * std::sin(80 * x[2]);
            const double height =
                std::abs(d) + 0.5 * margin.near < margin.band ? margin.near : margin.far;
            return d + 0.5 * height * wave;
        },
        margin);
}

/// Checks docs/field.md eq. (4) at random places: a point below zero within R of c limits c's
/// value.
void expect_margin_holds(const DistanceField& field, const std::string& name) {
    const QueryPoints points = points_in_cube(3000, 1.4, 7);
    const std::vector<float> d = test::distances_of(field, points);
    const CullingMargin margin = field.margin();
    std::vector<int> inside;
    for (int i = 0; i < points.count(); ++i)
        if (d[i] < 0) inside.push_back(i);
    ASSERT_GT(inside.size(), 20u) << name;
    for (int c = 0; c < points.count(); ++c) {
        double nearest = kInfinity;
        for (const int i : inside)
            nearest = std::min(nearest, (points.at(i) - points.at(c)).norm());
        ASSERT_LE(d[c], nearest + margin.at(d[c]) + 1e-6) << name << " at " << c;
    }
}

TEST(CombinedField, UnionTakesTheLeastAndIntersectionTheGreatestValue) {
    const FieldPointer a = ball_at({0.2, 0, 0}, 0.5), b = box_field({0.3, 0.6, 0.2}),
                       c = ball_at({0, 0, 0.4}, 0.3);
    const FieldPointer both = unite_fields({a, b, c}), common = intersect_fields({a, b, c});
    const QueryPoints points = points_in_cube(1000, 1, 5);
    const test::QuerySamples u = test::samples_of(*both, points),
                             n = test::samples_of(*common, points);
    const test::QuerySamples parts[3] = {test::samples_of(*a, points), test::samples_of(*b, points),
                                         test::samples_of(*c, points)};
    for (int i = 0; i < points.count(); ++i) {
        int least = 0, greatest = 0;
        for (int p = 1; p < 3; ++p) {
            if (parts[p].distance[i] < parts[least].distance[i]) least = p;
            if (parts[p].distance[i] > parts[greatest].distance[i]) greatest = p;
        }
        ASSERT_EQ(u.distance[i], parts[least].distance[i]);
        ASSERT_EQ(u.gradient(i), parts[least].gradient(i));
        ASSERT_EQ(n.distance[i], parts[greatest].distance[i]);
        ASSERT_EQ(n.gradient(i), parts[greatest].gradient(i));
    }
}

TEST(CombinedField, EqualPartsGiveTheGradientOfTheFirst) {
    const FieldPointer left = ball_at({-1, 0, 0}, 0.5), right = ball_at({1, 0, 0}, 0.5);
    EXPECT_EQ(unite_fields({left, right})->sample(Vector3d::Zero()).gradient, Vector3d::UnitX());
    EXPECT_EQ(intersect_fields({sphere_field(1), box_field({1, 1, 1})})
                  ->sample(Vector3d::Zero())
                  .gradient,
              Vector3d::UnitZ());
}

TEST(CombinedField, InverseExchangesInsideAndOutside) {
    const FieldPointer room = invert_field(box_field({1, 1, 1}));
    const DistanceSample sample = room->sample({0.8, 0, 0});
    EXPECT_FLOAT_EQ(static_cast<float>(sample.distance), 0.2f);
    EXPECT_EQ(sample.gradient, -Vector3d::UnitX());
    EXPECT_LT(room->distance({3, 0, 0}), 0);
    EXPECT_EQ(room->bounds().max(), Vector3d::Constant(kInfinity));
}

TEST(CombinedField, OffsetGrowsAndShrinks) {
    const FieldPointer box = box_field({1, 1, 1});
    EXPECT_FLOAT_EQ(offset_field(box, 0.25)->distance({2, 2, 1}),
                    static_cast<float>(std::sqrt(2.0) - 0.25));
    EXPECT_EQ(offset_field(box, 0.25)->bounds().max(), Vector3d::Constant(1.25));
    EXPECT_FLOAT_EQ(offset_field(box, -0.25)->distance(Vector3d::Zero()), -0.75f);
    EXPECT_TRUE(offset_field(box, -0.25)->bounds().contains(Vector3d::Constant(0.75)));
}

TEST(CombinedField, MovedFieldTurnsPointsAndGradients) {
    const Vector3d h(0.5, 0.3, 0.8), position(0.3, -0.2, 0.5);
    const Quaterniond rotation = some_rotation();
    const FieldPointer box = box_field(h);
    const FieldPointer moved =
        move_field(box, position, Quaterniond(2 * rotation.coeffs()));  // any length
    const QueryPoints points = points_in_cube(700, 1.5, 6);
    const test::QuerySamples s = test::samples_of(*moved, points);
    for (int i = 0; i < points.count(); ++i) {
        const DistanceSample at_home =
            box->sample(rotation.conjugate() * (points.at(i) - position));
        ASSERT_NEAR(s.distance[i], at_home.distance, 2e-6);
        // a kink between two roundings of the same point is rare, but may be met
        if ((s.gradient(i) - rotation * at_home.gradient).norm() > 1e-3)
            ADD_FAILURE() << "gradient at " << i;
    }
    const Box bounds = moved->bounds();
    for (int c = 0; c < 8; ++c) {
        const Vector3d corner((c & 1 ? 1 : -1) * h[0], (c & 2 ? 1 : -1) * h[1],
                              (c & 4 ? 1 : -1) * h[2]);
        EXPECT_LT(bounds.exteriorDistance((rotation * corner + position).eval()), 1e-12);
    }
    EXPECT_LT(bounds.diagonal().norm(), 2 * (2 * h).norm());
}

TEST(CombinedField, BoundsHoldTheSolid) {
    const FieldPointer left = ball_at({-1, 0, 0}, 0.5), right = ball_at({-0.4, 0, 0}, 0.5);
    EXPECT_TRUE(unite_fields({left, right})
                    ->bounds()
                    .isApprox(Box(Vector3d(-1.5, -0.5, -0.5), Vector3d(0.1, 0.5, 0.5))));
    EXPECT_TRUE(intersect_fields({left, right})
                    ->bounds()
                    .isApprox(Box(Vector3d(-0.9, -0.5, -0.5), Vector3d(-0.5, 0.5, 0.5))));
    const FieldPointer floor = plane_set_field({{Vector3d::UnitZ(), 0}});
    EXPECT_EQ(unite_fields({left, floor})->bounds().max()[0], kInfinity);
    EXPECT_EQ(intersect_fields({left, floor})->bounds().max()[2], 0);
    // an infinite box stays exact when shifted and gives up when turned
    const Box shifted = move_field(floor, {0, 0, 2}, Quaterniond::Identity())->bounds();
    EXPECT_EQ(shifted.max(), Vector3d(kInfinity, kInfinity, 2));
    const Box turned = move_field(floor, {0, 0, 2}, some_rotation())->bounds();
    EXPECT_EQ(turned.max(), Vector3d::Constant(kInfinity));
    EXPECT_EQ(turned.min(), Vector3d::Constant(-kInfinity));
}

TEST(CombinedField, MarginsHoldForPartsWithErrors) {
    const CullingMargin fine{0.02f, 0.2f, 0.3f}, rough{0.05f, 0.1f, 0.15f};
    const FieldPointer a = wavy_ball({-0.5, 0, 0}, 0.4, fine),
                       b = wavy_ball({0.5, 0.1, 0}, 0.5, rough),
                       c = wavy_ball({0, 0.2, 0.1}, 0.7, fine);
    expect_margin_holds(*a, "part");
    expect_margin_holds(*unite_fields({a, b}), "union");
    expect_margin_holds(*intersect_fields({b, c}), "intersection");
    expect_margin_holds(*invert_field(c), "inverse");
    expect_margin_holds(*offset_field(a, 0.1), "offset");
    expect_margin_holds(*offset_field(a, 0.5), "offset beyond the band");
    expect_margin_holds(*offset_field(c, -0.2), "shrunk");
    expect_margin_holds(*move_field(a, {0.5, 0.2, 0}, some_rotation()), "moved");
    expect_margin_holds(*unite_fields({intersect_fields({b, c}), offset_field(a, 0.1)}), "nested");
}

TEST(CombinedField, MarginsAreNotLargerThanNeeded) {
    const CullingMargin fine{0.02f, 0.2f, 0.3f}, rough{0.05f, 0.1f, 0.15f};
    const FieldPointer a = wavy_ball({-0.5, 0, 0}, 0.4, fine),
                       b = wavy_ball({0.3, 0.1, 0}, 0.5, rough);
    const auto expect = [](const CullingMargin& m, float near, float far, float band) {
        EXPECT_FLOAT_EQ(m.near, near);
        EXPECT_FLOAT_EQ(m.far, far);
        EXPECT_FLOAT_EQ(m.band, band);
    };
    expect(unite_fields({a, b})->margin(), 0.05f, 0.2f, 0.1f);  // 0.15 − (0.1 − 0.05)
    expect(intersect_fields({a, b})->margin(), 0.05f, 0.2f, 0.15f);
    expect(offset_field(a, 0.1)->margin(), 0.02f, 0.2f, 0.2f);
    expect(offset_field(a, 0.4)->margin(), 0.2f, 0.2f, -0.1f);
    EXPECT_LT(unite_fields({sphere_field(1), ball_at({3, 0, 0}, 1)})->margin().far, 1e-5f);
}

TEST(CombinedField, LongBatchesAndSinglePointsGiveTheSameBits) {
    const FieldPointer field = unite_fields(
        {move_field(intersect_fields({sphere_field(0.6), box_field({0.4, 0.4, 0.9})}),
                    {0.1, 0.2, 0}, some_rotation()),
         invert_field(offset_field(box_field({1, 1, 1}), 0.1)), capsule_field(0.1, 0.6)});
    const QueryPoints points = points_in_cube(1000, 1.3, 8);  // several chunks of 256 and a rest
    const std::vector<float> d = test::distances_of(*field, points);
    const test::QuerySamples s = test::samples_of(*field, points);
    EXPECT_EQ(d, s.distance);
    for (int i = 0; i < points.count(); ++i) {
        ASSERT_EQ(d[i], field->distance(points.at(i))) << i;
        ASSERT_EQ(s.gradient(i), field->sample(points.at(i)).gradient) << i;
    }
    AllocationGuard guard;
    std::array<float, 4> answer{};
    const float one = 1;
    field->distances(points.batch(), const_cast<float*>(d.data()));
    field->samples({&one, &one, &one, 1}, {&answer[0], &answer[1], &answer[2], &answer[3]});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
}

TEST(CombinedField, PointsThatAreNotFiniteAreOutsideEverything) {
    const Vector3d bad(std::numeric_limits<double>::quiet_NaN(), 0, 0), far(0, kInfinity, 0);
    const FieldPointer ball = sphere_field(1);
    for (const FieldPointer& field :
         {invert_field(ball), offset_field(ball, 1), move_field(ball, {1, 0, 0}, some_rotation()),
          unite_fields({ball, invert_field(ball)}), intersect_fields({ball, box_field({1, 1, 1})}),
          invert_field(invert_field(ball))}) {
        EXPECT_EQ(field->distance(bad), kInfinity);
        EXPECT_EQ(field->distance(far), kInfinity);
        EXPECT_EQ(field->sample(bad).gradient, Vector3d::Zero());
    }
}

TEST(CombinedField, OffsetOfAGridNeedsRoomInItsBox) {
    GridFrame frame;
    frame.low = Vector3d::Constant(-1);
    frame.cell = 0.25;
    std::vector<float> values;
    for (int k = 0; k <= 8; ++k)
        for (int j = 0; j <= 8; ++j)
            for (int i = 0; i <= 8; ++i)
                values.push_back(static_cast<float>(frame.vertex(i, j, k).norm() - 0.5));
    const auto grid =
        std::make_shared<DistanceGrid>(DistanceGrid::dense(frame, std::move(values), 0.5f));
    EXPECT_NEAR(offset_field(grid, 0.25)->distance({0.75, 0, 0}), 0, 1e-6);
    EXPECT_EQ(offset_field(grid, 0.25)->bounds().max(), Vector3d::Constant(1));
    const std::string error = input_error([&] { (void)offset_field(grid, 0.5); });
    EXPECT_THAT(error, HasSubstr("offset = 0.500000 m (expected less than 0.500000 m"));
    EXPECT_THAT(error, HasSubstr("build the field with a larger expansion"));
}

TEST(CombinedField, BadPartsAreNamed) {
    EXPECT_THAT(input_error([] { (void)unite_fields({}); }), HasSubstr("needs at least one part"));
    EXPECT_THAT(input_error([] {
                    (void)intersect_fields({sphere_field(1), nullptr});
                }),
                HasSubstr("a part that is missing"));
    EXPECT_THAT(input_error([] { (void)invert_field(nullptr); }),
                HasSubstr("a part that is missing"));
    EXPECT_THAT(input_error([] {
                    (void)intersect_fields({ball_at({5, 0, 0}, 1), sphere_field(1)});
                }),
                HasSubstr("do not meet"));
    EXPECT_THAT(input_error([] { (void)offset_field(sphere_field(1), kInfinity); }),
                HasSubstr("offset = inf"));
    EXPECT_THAT(input_error([] {
                    (void)move_field(sphere_field(1), Vector3d::Zero(), Quaterniond(0, 0, 0, 0));
                }),
                HasSubstr("finite position and rotation"));
}

}  // namespace
}  // namespace pliant
