#include "fem/polar_rotation.h"

#include "core/jacobi_eigen.h"
#include "fem/cofactor.h"

#include <Eigen/Geometry>
#include <numbers>

namespace pliant {
namespace {

/// tr RᵀF is the quadratic form qᵀKq of the unit quaternion of R, so that the eigenvector of the
/// largest eigenvalue of K is the answer for every F; docs/fem.md eq. (M12).
Eigen::Matrix3d rotation_from_quaternion_form(const Eigen::Matrix3d& F) noexcept {
    Eigen::Matrix4d K;  // order (w, x, y, z); the solver reads the lower triangle
    K << F(0, 0) + F(1, 1) + F(2, 2), 0, 0, 0,                                 //
        F(2, 1) - F(1, 2), F(0, 0) - F(1, 1) - F(2, 2), 0, 0,                  //
        F(0, 2) - F(2, 0), F(1, 0) + F(0, 1), F(1, 1) - F(0, 0) - F(2, 2), 0,  //
        F(1, 0) - F(0, 1), F(2, 0) + F(0, 2), F(2, 1) + F(1, 2), F(2, 2) - F(0, 0) - F(1, 1);
    const Eigen::Matrix4d symmetric = K.selfadjointView<Eigen::Lower>();
    const Eigen::Vector4d q = jacobi_eigen<4>(symmetric).vectors.col(3);
    return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

}  // namespace

Eigen::Matrix3d polar_rotation(const Eigen::Matrix3d& F) noexcept {
    // every rotation is as near to a vanishing F (and to one that is not finite)
    const double size = F.norm();
    if (!(size > 1e-100)) return Eigen::Matrix3d::Identity();
    Eigen::Matrix3d X = F * (std::numbers::sqrt3 / size);

    // Newton's iteration X ← (X + X⁻ᵀ)/2 first halves, then squares the error; from this
    // determinant up every singular value is above 0.03 and 10 steps suffice
    constexpr double kSmallestDeterminant = 0.05;
    constexpr int kMaxSteps = 12;
    Eigen::Matrix3d C = cofactor(X);
    double det = X.col(0).dot(C.col(0));
    if (det > kSmallestDeterminant) {
        for (int step = 0; step < kMaxSteps; ++step) {
            const Eigen::Matrix3d previous = X;
            X = 0.5 * previous + (0.5 / det) * C;
            // the error left is half the square of the last change
            if ((X - previous).squaredNorm() < 1e-16) return X;
            C = cofactor(X);
            det = X.col(0).dot(C.col(0));
        }
    }
    return rotation_from_quaternion_form(X);
}

}  // namespace pliant
