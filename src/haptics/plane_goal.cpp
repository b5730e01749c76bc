#include "pliant/haptics/plane_goal.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

/// One goal among planes: what all active sets share.
class PlaneProblem {
public:
    PlaneProblem(const Eigen::Vector3d& goal, std::span<const ConstraintPlane> planes,
                 double tolerance) noexcept
        : goal_(goal), planes_(planes), tolerance_(tolerance) {
        for (std::size_t i = 0; i < planes.size(); ++i)
            depth_[i] = planes[i].offset - planes[i].normal.dot(goal);
    }

    [[nodiscard]] bool is_feasible(const Eigen::Vector3d& x) const noexcept {
        return std::all_of(planes_.begin(), planes_.end(), [&](const ConstraintPlane& plane) {
            return plane.normal.dot(x) >= plane.offset - tolerance_;
        });
    }

    template <int K>
    bool try_set(const std::array<int, 3>& set, PlaneGoal& found) const noexcept {
        Eigen::Matrix<double, 3, K> N;
        Eigen::Matrix<double, K, 1> c;
        for (int k = 0; k < K; ++k) {
            const auto i = static_cast<std::size_t>(set[static_cast<std::size_t>(k)]);
            N.col(k) = planes_[i].normal;
            c[k] = depth_[i];
        }
        const Eigen::Matrix<double, K, K> gram = N.transpose() * N;
        const double determinant = gram.determinant();
        if (determinant < 1e-8) return false;
        const Eigen::Matrix<double, K, 1> lambda = adjugate(gram) * c / determinant;
        if (lambda.minCoeff() < 0) return false;
        const Eigen::Vector3d x = goal_ + N * lambda;
        if (!is_feasible(x)) return false;
        found.position = x;
        found.num_active = K;
        found.active = set;
        for (int k = 0; k < K; ++k) found.multiplier[static_cast<std::size_t>(k)] = lambda[k];
        found.is_found = true;
        return true;
    }

private:
    static Eigen::Matrix<double, 1, 1> adjugate(const Eigen::Matrix<double, 1, 1>&) noexcept {
        return Eigen::Matrix<double, 1, 1>::Ones();
    }
    static Eigen::Matrix2d adjugate(const Eigen::Matrix2d& m) noexcept {
        Eigen::Matrix2d a;
        a << m(1, 1), -m(0, 1), -m(1, 0), m(0, 0);
        return a;
    }
    static Eigen::Matrix3d adjugate(const Eigen::Matrix3d& m) noexcept {
        Eigen::Matrix3d a;
        a.row(0) = m.col(1).cross(m.col(2));
        a.row(1) = m.col(2).cross(m.col(0));
        a.row(2) = m.col(0).cross(m.col(1));
        return a;
    }

    const Eigen::Vector3d& goal_;
    std::span<const ConstraintPlane> planes_;
    double tolerance_;
    std::array<double, kMaxPlanes> depth_;  // of the goal below each plane
};

}  // namespace

PlaneGoal nearest_feasible(const Eigen::Vector3d& goal, std::span<const ConstraintPlane> planes,
                           const Eigen::Vector3d& start, double tolerance) noexcept {
    assert(planes.size() <= static_cast<std::size_t>(kMaxPlanes));
    const int n = static_cast<int>(planes.size());
    const PlaneProblem problem(goal, planes, tolerance);
    PlaneGoal found{.position = goal};
    if (problem.is_feasible(goal)) return found;
    // the optimum is unique: the first set that is feasible with multipliers ≥ 0 has it
    for (int i = 0; i < n; ++i)
        if (problem.try_set<1>({i}, found)) return found;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            if (problem.try_set<2>({i, j}, found)) return found;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            for (int k = j + 1; k < n; ++k)
                if (problem.try_set<3>({i, j, k}, found)) return found;
    return {.position = start, .is_found = false};
}

}  // namespace pliant
