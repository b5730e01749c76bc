#pragma once

#include <Eigen/Core>
#include <array>

namespace pliant::test {

inline Eigen::Vector3d vector(const std::array<double, 3>& x) { return {x[0], x[1], x[2]}; }

}  // namespace pliant::test
