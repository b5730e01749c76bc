#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <random>

namespace pliant::test {

/// Entries uniform in (−1, 1).
inline Eigen::Matrix3d random_matrix(std::mt19937& generator) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    return Eigen::Matrix3d::NullaryExpr([&] { return uniform(generator); });
}

inline Eigen::Matrix3d random_rotation(std::mt19937& generator) {
    std::normal_distribution<double> normal;
    const Eigen::Vector4d q = Eigen::Vector4d::NullaryExpr([&] { return normal(generator); });
    return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
}

}  // namespace pliant::test
