#include "field/field_slice.h"

#include "field/field_samples.h"
#include "input_error.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/field/analytic_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using test::input_error;
using ::testing::HasSubstr;

std::array<int, 3> pixel(const Picture& picture, int column, int row) {
    const std::uint8_t* p =
        picture.rgb.data() + 3 * (static_cast<std::size_t>(row) * picture.width + column);
    return {p[0], p[1], p[2]};
}
int brightness(const std::array<int, 3>& p) { return p[0] + p[1] + p[2]; }

/// The ball of radius 0.5 through its middle, 200 × 200 pixels of 0.01 m.
FieldSlice ball_slice() {
    return slice_field(*sphere_field(0.5), {-1, -1, 0}, {2, 0, 0}, {0, 2, 0}, 200, 200);
}

TEST(FieldSlice, PixelCentresAreSampledFromTheTopLeft) {
    const test::LambdaField field(
        [](const Vector3d& x) { return x[0] + 100 * x[1] + 10000 * x[2]; });
    const FieldSlice slice = slice_field(field, {1, 2, 3}, {4, 0, 0}, {0, 0, 2}, 4, 2);
    ASSERT_EQ(slice.values.size(), 8u);
    EXPECT_FLOAT_EQ(slice.values[0], 1.5f + 200 + 10000 * 4.5f);  // top left
    EXPECT_FLOAT_EQ(slice.values[3], 4.5f + 200 + 10000 * 4.5f);  // top right
    EXPECT_FLOAT_EQ(slice.values[4], 1.5f + 200 + 10000 * 3.5f);  // bottom left
}

TEST(FieldSlice, InsideIsBlueOutsideWarmAndTheSurfaceDark) {
    const Picture picture = draw_slice(ball_slice(), 0.01, 10);  // no line but the surface
    const auto inside = pixel(picture, 100, 100), outside = pixel(picture, 5, 5),
               surface = pixel(picture, 149, 100);
    EXPECT_GT(inside[2], inside[0] + 60);
    EXPECT_GT(outside[0], outside[2] + 60);
    EXPECT_LT(brightness(surface), 200);
    // as wide everywhere around: no gap and no blot
    for (int step = 0; step < 64; ++step) {
        const double angle = step * std::acos(-1.0) / 32;
        const int column = static_cast<int>(std::floor(100 + 50 * std::cos(angle)));
        const int row = static_cast<int>(std::floor(100 - 50 * std::sin(angle)));
        EXPECT_LT(brightness(pixel(picture, column, row)), 300) << step;
    }
}

TEST(FieldSlice, LinesAreASpacingApartAndEveryFifthIsStronger) {
    const Picture plain = draw_slice(ball_slice(), 0.01, 10),
                  lined = draw_slice(ball_slice(), 0.01, 0.05);
    // how much darker a row through the middle becomes, at 0.05 m and 0.25 m outside
    const auto darker = [&](int column) {
        return brightness(pixel(plain, column, 100)) - brightness(pixel(lined, column, 100));
    };
    EXPECT_GT(std::max(darker(154), darker(155)), 30);
    EXPECT_EQ(std::max(darker(152), darker(157)), 0);
    EXPECT_GT(std::max(darker(174), darker(175)), std::max(darker(154), darker(155)) + 20);
}

TEST(FieldSlice, SpacingIsChosenForThePicture) {
    // ten pixels of 0.01 m between lines
    const Picture chosen = draw_slice(ball_slice(), 0.01, 0),
                  same = draw_slice(ball_slice(), 0.01, 0.1);
    EXPECT_EQ(chosen.rgb, same.rgb);
}

TEST(FieldSlice, ValuesThatAreNotFiniteAreGrey) {
    FieldSlice slice = ball_slice();
    slice.values[0] = std::nanf("");
    slice.values[2] = std::numeric_limits<float>::infinity();
    const Picture picture = draw_slice(slice, 0.01, 0);
    for (const int column : {0, 2}) {
        const auto grey = pixel(picture, column, 0);
        EXPECT_EQ(grey[0], grey[1]);
        EXPECT_EQ(grey[1], grey[2]);
    }
    const FieldSlice flat{3, 1, {0, 0, 0}};  // a range of nothing
    EXPECT_LT(brightness(pixel(draw_slice(flat, 1, 0), 1, 0)), 100);
}

TEST(FieldSlice, IsSavedAsPng) {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / "pliant_field_slice.png";
    save_slice_png(ball_slice(), path, 0.01);
    EXPECT_EQ(read_file(path).substr(1, 3), "PNG");
    std::filesystem::remove(path);
}

TEST(FieldSlice, BadSizesAreNamed) {
    const FieldPointer ball = sphere_field(1);
    EXPECT_THAT(input_error([&] {
                    (void)slice_field(*ball, Vector3d::Zero(), Vector3d::UnitX(), Vector3d::UnitY(),
                                      0, 5);
                }),
                HasSubstr("slice size = 0 × 5"));
    EXPECT_THAT(input_error([&] {
                    (void)slice_field(*ball, Vector3d::Constant(std::nan("")), Vector3d::UnitX(),
                                      Vector3d::UnitY(), 5, 5);
                }),
                HasSubstr("the plane of a slice must be finite"));
    EXPECT_THAT(input_error([] { (void)draw_slice(ball_slice(), 0, 0); }), HasSubstr("pixel_size"));
    EXPECT_THAT(input_error([] { (void)draw_slice(ball_slice(), 1, -1); }), HasSubstr("spacing"));
    EXPECT_THAT(input_error([] {
                    (void)draw_slice({2, 2, {1, 2, 3}}, 1, 0);
                }),
                HasSubstr("cannot hold 3 values"));
}

}  // namespace
}  // namespace pliant
