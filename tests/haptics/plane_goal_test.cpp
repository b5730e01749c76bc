#include "pliant/haptics/plane_goal.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Dykstra's alternating projections: slow, and sure for sets of half-spaces.
Vector3d slowly_nearest(const Vector3d& goal, const std::vector<ConstraintPlane>& planes) {
    std::vector<Vector3d> corrections(planes.size(), Vector3d::Zero());
    Vector3d x = goal;
    for (int i = 0; i < 3000; ++i) {
        for (std::size_t k = 0; k < planes.size(); ++k) {
            const Vector3d y = x + corrections[k];
            const double depth = planes[k].offset - planes[k].normal.dot(y);
            x = y + std::max(0.0, depth) * planes[k].normal;
            corrections[k] = y - x;
        }
    }
    return x;
}

TEST(NearestFeasible, IsNeverWorseThanAlternatingProjections) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    const auto vector = [&] { return Vector3d(normal(random), normal(random), normal(random)); };
    int without = 0, with_three = 0, compared = 0;
    for (int i = 0; i < 3000; ++i) {
        std::vector<ConstraintPlane> planes;
        const int count = 1 + static_cast<int>(random() % 6);
        // all planes have the start on their good side
        for (int k = 0; k < count; ++k) {
            const Vector3d n = vector().normalized();
            planes.push_back({n, -std::abs(normal(random))});
        }
        const Vector3d goal = 3 * vector();
        const PlaneGoal found = nearest_feasible(goal, planes, Vector3d::Zero(), 1e-9);
        without += !found.is_found;
        if (!found.is_found) continue;
        with_three += found.num_active == 3;
        Vector3d sum = goal;
        for (int k = 0; k < found.num_active; ++k) {
            const auto at = static_cast<std::size_t>(k);
            EXPECT_GE(found.multiplier[at], 0);
            sum += found.multiplier[at] * planes[static_cast<std::size_t>(found.active[at])].normal;
        }
        EXPECT_NEAR((sum - found.position).norm(), 0, 1e-9);
        for (const ConstraintPlane& plane : planes)
            EXPECT_GE(plane.normal.dot(found.position), plane.offset - 1e-8);
        const Vector3d slow = slowly_nearest(goal, planes);
        // some cones are too narrow for it
        double outside = 0;
        for (const ConstraintPlane& plane : planes)
            outside = std::max(outside, plane.offset - plane.normal.dot(slow));
        if (outside > 1e-7) continue;
        compared += 1;
        EXPECT_LE((found.position - goal).norm(), (slow - goal).norm() + 1e-6) << "case " << i;
    }
    EXPECT_LE(without, 2);
    EXPECT_GT(compared, 2900);
    EXPECT_GT(with_three, 50);
}

TEST(NearestFeasible, ParallelPlanesAndNoRoomKeepTheStart) {
    const Vector3d start(0.1, 0.2, 0.3);
    // twice the same plane
    const std::vector<ConstraintPlane> twice(2, {Vector3d::UnitZ(), 0});
    EXPECT_TRUE(nearest_feasible(Vector3d(1, 2, -1), twice, start, 1e-9)
                    .position.isApprox(Vector3d(1, 2, 0)));
    // z ≥ 1 and z ≤ 0
    const std::vector<ConstraintPlane> none{{Vector3d::UnitZ(), 1}, {-Vector3d::UnitZ(), 0}};
    const PlaneGoal found = nearest_feasible(Vector3d(1, 2, -1), none, start, 1e-9);
    EXPECT_FALSE(found.is_found);
    EXPECT_EQ(found.position, start);
    EXPECT_EQ(nearest_feasible(Vector3d(1, 2, -1), {}, start, 1e-9).position, Vector3d(1, 2, -1));
}

}  // namespace
}  // namespace pliant
