#include "geometry/ray_triangle.h"

#include "geometry/test_meshes.h"

#include <gtest/gtest.h>

namespace pliant {
namespace {

using detail::ShearedRay;
using detail::signed_area;
using Eigen::Vector3d;

TEST(SignedArea, SignIsRightWherePlainProductsCancel) {
    // (1 + e)(1 − e) − 1 = −e², which plain products round to zero
    const double e = 0x1p-40;
    EXPECT_EQ((1 + e) * (1 - e) - 1.0 * 1.0, 0.0);
    EXPECT_EQ(signed_area(1 + e, 1, 1, 1 - e), -e * e);
    EXPECT_EQ(signed_area(1, 1 - e, 1 + e, 1), e * e);
    EXPECT_EQ(signed_area(3, 5, 3, 5), 0.0);
    EXPECT_EQ(signed_area(2, 1, 1, 3), 5.0);
}

TEST(SignedArea, SwappingTheVectorsFlipsTheSign) {
    test::Random random(1);
    for (int i = 0; i < 10000; ++i) {
        // nearly parallel, so that all digits cancel
        const double x = random.uniform(-1, 1), y = random.uniform(-1, 1), s = random.uniform(1, 2);
        const double left = signed_area(x, y, s * x, s * y),
                     right = signed_area(s * x, s * y, x, y);
        EXPECT_EQ(left > 0, right < 0);
        EXPECT_EQ(left == 0, right == 0);
    }
}

TEST(ShearedRayTest, HitsWithParameterAndWeights) {
    const Vector3d a(0, 0, 2), b(4, 0, 2), c(0, 4, 2);
    for (const double step : {1.0, -1.0}) {
        RayHit hit;
        const ShearedRay ray({1, 2, 0}, {0, 0, step});
        ASSERT_TRUE(ray.hits(a, b, c, hit));
        EXPECT_EQ(hit.t, 2 * step);
        EXPECT_EQ(hit.barycentric, Vector3d(0.25, 0.25, 0.5));
        ASSERT_TRUE(ray.hits(a, c, b, hit));  // from behind
    }
    RayHit hit;
    EXPECT_TRUE(ShearedRay({2, 2, 0}, {0, 0, 3}).hits(a, b, c, hit));  // side
    EXPECT_TRUE(ShearedRay({0, 4, 0}, {0, 0, 3}).hits(a, b, c, hit));  // corner
    EXPECT_FALSE(ShearedRay({2, 2.001, 0}, {0, 0, 3}).hits(a, b, c, hit));
    EXPECT_FALSE(ShearedRay({1, 1, 2}, {1, 0, 0}).hits(a, b, c, hit));  // in its plane
    EXPECT_FALSE(ShearedRay({1, 0, 0}, {0, 0, 1}).hits(a, b, b, hit));  // no area
}

}  // namespace
}  // namespace pliant
