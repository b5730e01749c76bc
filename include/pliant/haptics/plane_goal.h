#pragma once

#include <Eigen/Core>
#include <array>
#include <span>

namespace pliant {

/// A half-space that a point must stay in: normal · x ≥ offset.
struct ConstraintPlane {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< unit
    double offset = 0;                                  ///< [m]
};

/// The nearest place to a goal within planes: position = goal + Σ multiplier · normal.
struct PlaneGoal {
    Eigen::Vector3d position;
    int num_active = 0;
    std::array<int, 3> active = {};         ///< numbers of planes
    std::array<double, 3> multiplier = {};  ///< [m], not negative
    bool is_found = true;  ///< false: planes leave no room; position is where it started
};

inline constexpr int kMaxPlanes = 12;

/// Exact for up to kMaxPlanes planes by trying active sets of none, one, two and three,
/// docs/proxy.md eq. (3). `start` should be feasible; tolerance [m]. No allocation.
[[nodiscard]] PlaneGoal nearest_feasible(const Eigen::Vector3d& goal,
                                         std::span<const ConstraintPlane> planes,
                                         const Eigen::Vector3d& start, double tolerance) noexcept;

}  // namespace pliant
