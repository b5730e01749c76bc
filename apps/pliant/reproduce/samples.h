#pragma once

#include "pliant/fem/fem_model.h"
#include "pliant/geometry/volume_mesh.h"

#include <functional>
#include <numbers>

namespace pliant::reproduce {

// Bodies and measurements that several experiments share.

inline constexpr double kDegree = std::numbers::pi / 180;

/// The published works have plain displacement elements.
inline constexpr FemOptions kPublishedElements{ElementFormulation::Plain};

/// 8 × 2 × 2 cubes of 0.1 m along x: the bar of the reference tables.
[[nodiscard]] VolumeMesh reference_bar();
/// n³ equal hexes in a cube of the given side, its lowest corner at the origin.
[[nodiscard]] VolumeMesh soft_cube(int n, double side);

[[nodiscard]] std::vector<int> vertices_where(
    const VolumeMesh& mesh, const std::function<bool(const Eigen::Vector3d&)>& is_chosen);
/// The vertex at a place; there must be one within 1e-9 m.
[[nodiscard]] int vertex_at(const VolumeMesh& mesh, const Eigen::Vector3d& x);
/// The elements with centres beyond y, to show the inside; all vertices.
[[nodiscard]] VolumeMesh cut_open(const VolumeMesh& mesh, double y);
[[nodiscard]] VolumeMesh deformed(VolumeMesh mesh, const Eigen::VectorXd& u);

/// Power of n with which a value grows from one size to another.
[[nodiscard]] double growth_power(double n, double value, double other_n, double other_value);

/// Thread CPU time of one call in microseconds: the best of calls that take `budget_us` together,
/// three at least. Other processes make times longer, never shorter.
[[nodiscard]] double best_time_us(const std::function<void()>& call, double budget_us = 5e4);

}  // namespace pliant::reproduce
