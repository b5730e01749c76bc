#include "pliant/haptics/plane_goal.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

/// Sines of angles between normals below this are none: planes of a smooth fine surface are nearly
/// parallel, and must still be told apart.
constexpr double kParallel = 1e-7;

/// One goal among planes, seen from the start, where numbers are small.
class PlaneProblem {
public:
    PlaneProblem(const Eigen::Vector3d& goal, std::span<const ConstraintPlane> planes,
                 const Eigen::Vector3d& start, double tolerance) noexcept
        : goal_(goal - start), start_(start), planes_(planes), tolerance_(tolerance) {
        for (std::size_t i = 0; i < planes.size(); ++i)
            offset_[i] = planes[i].offset - planes[i].normal.dot(start);
    }

    [[nodiscard]] bool is_feasible(const Eigen::Vector3d& y) const noexcept {
        for (std::size_t i = 0; i < planes_.size(); ++i)
            if (planes_[i].normal.dot(y) < offset_[i] - tolerance_) return false;
        return true;
    }
    [[nodiscard]] bool is_goal_feasible() const noexcept { return is_feasible(goal_); }

    bool try_one(int i, PlaneGoal& found) const noexcept {
        const double lambda = depth(i);
        return accept({i}, Eigen::Vector3d(lambda, 0, 0), goal_ + lambda * normal(i), 1, found);
    }

    /// goal + λ_i n_i + λ_j n_j on both planes: by the part of n_j across n_i.
    bool try_two(int i, int j, PlaneGoal& found) const noexcept {
        const Eigen::Vector3d edge = normal(i).cross(normal(j));
        const double sine = edge.norm();
        if (sine < kParallel) return false;
        const Eigen::Vector3d across = edge.cross(normal(i)) / sine;  // unit
        const double cosine = normal(i).dot(normal(j));
        const double w = (depth(j) - cosine * depth(i)) / sine;  // along it
        const double lambda_j = w / sine, lambda_i = depth(i) - cosine * lambda_j;
        return accept({i, j}, Eigen::Vector3d(lambda_i, lambda_j, 0),
                      goal_ + depth(i) * normal(i) + w * across, 2, found);
    }

    /// Where three planes meet.
    bool try_three(int i, int j, int k, PlaneGoal& found) const noexcept {
        const Eigen::Vector3d a = normal(j).cross(normal(k)), b = normal(k).cross(normal(i)),
                              c = normal(i).cross(normal(j));
        const double determinant = normal(i).dot(a);
        if (std::abs(determinant) < kParallel * kParallel) return false;
        const Eigen::Vector3d move =
            (depth(i) * a + depth(j) * b + depth(k) * c) / determinant;  // from the goal
        const Eigen::Vector3d lambda(move.dot(a), move.dot(b), move.dot(c));
        return accept({i, j, k}, lambda / determinant, goal_ + move, 3, found);
    }

private:
    [[nodiscard]] const Eigen::Vector3d& normal(int i) const noexcept {
        return planes_[static_cast<std::size_t>(i)].normal;
    }
    /// Of the goal below the plane.
    [[nodiscard]] double depth(int i) const noexcept {
        return offset_[static_cast<std::size_t>(i)] - normal(i).dot(goal_);
    }
    bool accept(const std::array<int, 3>& set, const Eigen::Vector3d& lambda,
                const Eigen::Vector3d& y, int size, PlaneGoal& found) const noexcept {
        if (lambda.minCoeff() < 0 || !is_feasible(y)) return false;
        found.position = start_ + y;
        found.num_active = size;
        found.active = set;
        for (int k = 0; k < size; ++k) found.multiplier[static_cast<std::size_t>(k)] = lambda[k];
        return true;
    }

    Eigen::Vector3d goal_, start_;
    std::span<const ConstraintPlane> planes_;
    double tolerance_;
    std::array<double, kMaxPlanes> offset_;
};

}  // namespace

PlaneGoal nearest_feasible(const Eigen::Vector3d& goal, std::span<const ConstraintPlane> planes,
                           const Eigen::Vector3d& start, double tolerance) noexcept {
    assert(planes.size() <= static_cast<std::size_t>(kMaxPlanes));
    const int n = static_cast<int>(planes.size());
    const PlaneProblem problem(goal, planes, start, tolerance);
    PlaneGoal found{.position = goal};
    if (problem.is_goal_feasible()) return found;
    // the optimum is unique: the first set that is feasible with multipliers ≥ 0 has it
    for (int i = 0; i < n; ++i)
        if (problem.try_one(i, found)) return found;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            if (problem.try_two(i, j, found)) return found;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            for (int k = j + 1; k < n; ++k)
                if (problem.try_three(i, j, k, found)) return found;
    return {.position = start, .is_found = false};
}

}  // namespace pliant
