#include "contact/contact_facing.h"

#include <gtest/gtest.h>

#include "pliant/field/analytic_field.h"

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3f;

/// What a field says about points, and what is made of it.
struct Facing {
    struct Point {
        Vector3d x, n;  ///< and unit normal into the shell
    };
    Facing(const DistanceField& field, const std::vector<Point>& points)
        : facing(static_cast<int>(points.size())) {
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Vector3f x = points[i].x.cast<float>(), n = points[i].n.cast<float>();
            for (int c = 0; c < 3; ++c) place[c].push_back(x[c]);
            facing.nx()[i] = n.x();
            facing.ny()[i] = n.y();
            facing.nz()[i] = n.z();
        }
        for (auto* list : {&distance, &g[0], &g[1], &g[2], &share, &entry})
            list->resize(points.size());
        const PointBatch batch{place[0].data(), place[1].data(), place[2].data(),
                               static_cast<int>(points.size())};
        const SampleBatch samples{distance.data(), g[0].data(), g[1].data(), g[2].data()};
        field.samples(batch, samples);
        facing.turn(field, batch, samples, share.data(), entry.data());
    }
    [[nodiscard]] Vector3d gradient(std::size_t i) const {
        return Vector3f(g[0][i], g[1][i], g[2][i]).cast<double>();
    }

    ContactFacing facing;
    std::vector<float> place[3], distance, g[3], share, entry;
};

const Vector3d kUp = Vector3d::UnitZ(), kAlong = Vector3d::UnitX();

TEST(ContactFacing, LeavesPointsAloneThatFaceTheNearestFace) {
    const FieldPointer box = box_field(Vector3d(1, 1, 1));
    const Facing f(*box, {{{0, 0, 0.99}, kUp},
                          {{0.5, 0, 0.98}, Vector3d(0.5, 0, 1).normalized()},
                          {{-0.995, 0, 0}, -kAlong}});
    EXPECT_NEAR(f.distance[0], -0.01, 1e-7);
    EXPECT_NEAR(f.distance[1], -0.02, 1e-7);
    EXPECT_NEAR(f.distance[2], -0.005, 1e-7);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(f.share[i], 1) << i;
        EXPECT_EQ(f.entry[i], 1) << i;
    }
    EXPECT_EQ(f.gradient(1), kUp);
    EXPECT_EQ(f.gradient(2), -kAlong);
}

TEST(ContactFacing, APointNearAnEdgeIsOfTheFaceItCameThrough) {
    // 10 mm below the top, 2 mm from the side
    const FieldPointer box = box_field(Vector3d(1, 1, 1));
    const Facing f(*box, {{{0, 0, 0.99}, kUp}, {{0.998, 0, 0.99}, kUp}, {{0.99999, 0, 0.99}, kUp}});
    EXPECT_EQ(f.gradient(1), kUp);
    EXPECT_NEAR(f.distance[1], -0.01, 1e-6);
    EXPECT_EQ(f.share[1], 1);
    EXPECT_NEAR(f.entry[1], 0.2, 1e-4) << "less the nearer to the edge it is found first";
    EXPECT_NEAR(f.entry[2], 0.001, 1e-4);
    // and is as before where both faces are equally near
    const Facing even(*box, {{{0, 0, 0.99}, kUp}, {{0.990001, 0, 0.99}, kUp}});
    EXPECT_NEAR(even.entry[1], 1, 1e-3);
    EXPECT_NEAR(even.distance[1], -0.01, 1e-6);
}

TEST(ContactFacing, DistancesChangeAsTheirGradientsSay) {
    // of a box that is turned, so that nothing is along an axis
    const Quaternion turn(Eigen::AngleAxisd(0.7, Vector3d(1, 2, 3).normalized()));
    const FieldPointer box = move_field(box_field(Vector3d(1, 1, 1)), Vector3d::Zero(), turn);
    const Vector3d x = turn * Vector3d(0.998, 0.3, 0.99), n = turn * kUp;
    const Vector3d middle = turn * Vector3d(0, 0, 0.98);
    const auto at = [&](const Vector3d& p) { return Facing(*box, {{middle, n}, {p, n}}); };
    const Facing here = at(x);
    EXPECT_LT((here.gradient(1) - n).norm(), 1e-6);
    for (int c = 0; c < 3; ++c) {
        const Vector3d shift = 1e-3 * Vector3d::Unit(c);
        const double slope =
            (double{at(x + shift).distance[1]} - double{at(x - shift).distance[1]}) / 2e-3;
        EXPECT_NEAR(slope, here.gradient(1)[c], 1e-3) << c;
    }
}

TEST(ContactFacing, APointBeyondTheMiddleOfAWallIsPushedBack) {
    // 20 mm thick, entered from above by 15 mm; others are 9 mm deep
    const FieldPointer wall = box_field(Vector3d(1, 1, 0.01));
    const Facing f(*wall, {{{0, 0, 0.001}, kUp}, {{0.1, 0, -0.005}, kUp}});
    EXPECT_EQ(f.gradient(1), kUp);
    EXPECT_EQ(f.share[1], 1);
    EXPECT_EQ(f.entry[1], 1);
    EXPECT_NEAR(f.distance[1], -0.009, 1e-6) << "as deep as the deepest that is certain";
}

TEST(ContactFacing, PointsOnTheBackOfSomethingDoNotCount) {
    // on the side of a box that stands on an equal one, a little inside
    const FieldPointer box = box_field(Vector3d(1, 1, 1));
    const Facing f(*box, {{{0, 0, 0.999}, kUp}, {{0.9995, 0, 0.999}, -kAlong}});
    EXPECT_EQ(f.share[0], 1);
    EXPECT_EQ(f.share[1], 0);
    // a side that sinks into the ground stays with its only face
    const FieldPointer ground = plane_set_field({{kUp, 0}});
    const Facing side(*ground, {{{0, 0, -0.01}, kUp}, {{1, 0, -0.01}, -kAlong}});
    EXPECT_EQ(side.share[1], 1);
    EXPECT_EQ(side.gradient(1), kUp);
}

}  // namespace
}  // namespace pliant
