#include "server/field_slices.h"

#include <gtest/gtest.h>

#include <cmath>

#include "server/viewer_samples.h"

namespace pliant {
namespace {

using test::number_at;

TEST(FieldSlices, CutThroughTheFieldOfABall) {
    const auto world = test::pressed_world();
    FieldSlices slices(*world);
    for (int axis = 0; axis < 3; ++axis) {
        const SharedBytes bytes = slices.find(std::string("0/slice/") + "xyz"[axis]);
        ASSERT_NE(bytes, nullptr);
        const auto width = number_at<std::uint32_t>(*bytes, 0);
        const auto height = number_at<std::uint32_t>(*bytes, 4);
        ASSERT_EQ(bytes->size(), 8 + 4 * (9 + std::size_t{width} * height));
        EXPECT_GE(width, 190u);
        Eigen::Vector3d frame[3];
        for (std::size_t i = 0; i < 9; ++i)
            frame[i / 3][static_cast<int>(i % 3)] =
                static_cast<double>(number_at<float>(*bytes, 8 + 4 * i));
        // a fifth around the ball of 16 cm, whose surface has flat facets
        EXPECT_NEAR(frame[1].norm(), 0.224, 0.002);
        EXPECT_NEAR(frame[2].norm(), 0.224, 0.002);
        EXPECT_NEAR(frame[0][axis], 0, 0.001) << "through the middle";
        EXPECT_EQ(frame[1][axis], 0);
        EXPECT_EQ(frame[2][axis], 0);
        // the field is that of the ball, exact to float numbers; rows from the top
        for (const auto& [i, j] : {std::pair{0u, 0u}, {40u, 100u}, {96u, 96u}, {150u, 20u}}) {
            const double s = (i + 0.5) / width, t = 1 - (j + 0.5) / height;
            const Eigen::Vector3d x = frame[0] + s * frame[1] + t * frame[2];
            const float value = number_at<float>(*bytes, 8 + 4 * (9 + std::size_t{j} * width + i));
            EXPECT_NEAR(static_cast<double>(value), x.norm() - 0.08, 1e-6);
        }
        EXPECT_EQ(slices.find(std::string("0/slice/") + "xyz"[axis]), bytes) << "made once";
    }
}

TEST(FieldSlices, OthersDoNotExist) {
    const auto world = test::pressed_world();
    FieldSlices slices(*world);
    for (const char* path : {"", "0", "0/", "0/slice", "0/slice/", "0/slice/w", "0/slice/xy",
                             "0/slice/x/", "1/slice/x", "-1/slice/x", "x/slice/x",
                             "99999999999999999999999/slice/x", "0/surface", "/slice/x"})
        EXPECT_EQ(slices.find(path), nullptr) << path;
    const auto none = test::small_world();
    EXPECT_EQ(FieldSlices(*none).find("0/slice/x"), nullptr);
}

}  // namespace
}  // namespace pliant
