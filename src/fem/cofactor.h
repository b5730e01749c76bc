#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace pliant {

/// cof A = ∂ det A / ∂A; equals det A · A⁻ᵀ where the inverse exists.
inline Eigen::Matrix3d cofactor(const Eigen::Matrix3d& A) noexcept {
    Eigen::Matrix3d C;
    C.col(0) = A.col(1).cross(A.col(2));
    C.col(1) = A.col(2).cross(A.col(0));
    C.col(2) = A.col(0).cross(A.col(1));
    return C;
}

/// Derivative of cof A in direction B: bilinear and symmetric, (A, A) gives 2 cof A.
inline Eigen::Matrix3d cofactor_derivative(const Eigen::Matrix3d& A,
                                           const Eigen::Matrix3d& B) noexcept {
    Eigen::Matrix3d C;
    C.col(0) = A.col(1).cross(B.col(2)) + B.col(1).cross(A.col(2));
    C.col(1) = A.col(2).cross(B.col(0)) + B.col(2).cross(A.col(0));
    C.col(2) = A.col(0).cross(B.col(1)) + B.col(0).cross(A.col(1));
    return C;
}

/// [v]× with [v]× w = v × w.
inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& v) noexcept {
    Eigen::Matrix3d A;
    A << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
    return A;
}

}  // namespace pliant
