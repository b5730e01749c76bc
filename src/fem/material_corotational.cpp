// Corotational linear law, docs/fem.md eq. (M10):
//     W = μ |F − R|² + λ/2 (tr S − 3)²,   F = R S,  R the nearest rotation, S symmetric

#include "core/jacobi_eigen.h"
#include "fem/cofactor.h"
#include "fem/material_laws.h"
#include "fem/polar_rotation.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// The rotation is not defined where two singular values sum to zero (the smallest counts negative
/// in an inverted element), and its derivative grows as one over the sum. Smaller sums are replaced
/// by this one in derivatives, never in energy and stress.
constexpr double kSmallestSum = 1e-3;

double dot(const Matrix3d& A, const Matrix3d& B) noexcept { return A.cwiseProduct(B).sum(); }

/// v with [v]× = A − Aᵀ.
Vector3d twice_axial(const Matrix3d& A) noexcept {
    return {A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1)};
}

/// Inverse of a symmetric G ≥ 0 whose eigenvalues below kSmallestSum are raised to it.
Matrix3d guarded_inverse(const Matrix3d& G) noexcept {
    // the norm of the inverse bounds its largest eigenvalue: nothing to raise in the usual case
    const Matrix3d adjugate = cofactor(G);
    const double det = G.col(0).dot(adjugate.col(0));
    if (kSmallestSum * adjugate.norm() < det) return adjugate / det;

    const SmallEigen<3> eigen = jacobi_eigen<3>(G);
    const Vector3d inverse = eigen.values.cwiseMax(kSmallestSum).cwiseInverse();
    return eigen.vectors * inverse.asDiagonal() * eigen.vectors.transpose();
}

/// R and what its derivatives need: dR = R [w]×, G w = 2 axial(Rᵀ dF), G = tr(S) I − S, eq. (M13).
struct Polar {
    Matrix3d R, S, G_inverse;
};

Polar polar(const Matrix3d& F) noexcept {
    Polar p;
    p.R = polar_rotation(F);
    const Matrix3d RtF = p.R.transpose() * F;
    p.S = 0.5 * (RtF + RtF.transpose());
    p.G_inverse = guarded_inverse(p.S.trace() * Matrix3d::Identity() - p.S);
    return p;
}

}  // namespace

double CorotationalLaw::energy_density(const Material& m, const Matrix3d& F) noexcept {
    const Matrix3d R = polar_rotation(F);
    const double stretch = dot(R, F) - 3.0;
    return m.mu * (F - R).squaredNorm() + 0.5 * m.lambda * stretch * stretch;
}

Matrix3d CorotationalLaw::stress(const Material& m, const Matrix3d& F) noexcept {
    // R is stationary for W, so that its derivative drops out
    const Matrix3d R = polar_rotation(F);
    return (2.0 * m.mu) * (F - R) + (m.lambda * (dot(R, F) - 3.0)) * R;
}

Matrix9d CorotationalLaw::stress_gradient(const Material& m, const Matrix3d& F) noexcept {
    // ∂P/∂F = 2μ I + λ R⊗R + (λ (tr S − 3) − 2μ) ∂R/∂F, eq. (M14)
    const Polar p = polar(F);
    const Matrix3d& R = p.R;
    const double rotation_factor = m.lambda * (p.S.trace() - 3.0) - 2.0 * m.mu;

    // ∂R/∂F = Lᵀ G⁻¹ L, row k of L is R [e_k]×
    Eigen::Matrix<double, 9, 3> Lt;
    const Vector3d zero = Vector3d::Zero();
    Lt << zero, -R.col(2), R.col(1), R.col(2), zero, -R.col(0), -R.col(1), R.col(0), zero;
    const Eigen::Matrix<double, 9, 3> Lt_G = Lt.lazyProduct(rotation_factor * p.G_inverse);
    const Eigen::Map<const Eigen::Matrix<double, 9, 1>> vec_R(R.data());
    Matrix9d K;
    K.noalias() = vec_R * (m.lambda * vec_R).transpose();
    K.noalias() += Lt_G.lazyProduct(Lt.transpose());
    K.diagonal().array() += 2.0 * m.mu;
    return K;
}

Matrix3d CorotationalLaw::stress_second_gradient(const Material& m, const Matrix3d& F,
                                                 const Matrix3d& dF1,
                                                 const Matrix3d& dF2) noexcept {
    const Polar p = polar(F);
    const Matrix3d A1 = p.R.transpose() * dF1, A2 = p.R.transpose() * dF2;
    const Vector3d w1 = p.G_inverse * twice_axial(A1), w2 = p.G_inverse * twice_axial(A2);
    const Matrix3d W1 = cross_matrix(w1), W2 = cross_matrix(w2);

    // derivative of G w₁ = 2 axial(RᵀdF₁) in direction dF₂
    const Matrix3d dRtF = A2 - W2 * p.S;
    const Matrix3d dS2 = 0.5 * (dRtF + dRtF.transpose());
    const Vector3d dG_w1 = dS2.trace() * w1 - dS2 * w1;
    const Vector3d dw1 = p.G_inverse * (twice_axial(-W2 * A1) - dG_w1);

    // product rule on dP₁ = 2μ dF₁ + λ (R : dF₁) R + (λ (tr S − 3) − 2μ) dR₁
    const Matrix3d ddR = p.R * (W2 * W1 + cross_matrix(dw1));
    const Matrix3d dR1 = p.R * W1, dR2 = p.R * W2;
    return m.lambda * (dot(dR2, dF1) * p.R + A1.trace() * dR2 + A2.trace() * dR1) +
           (m.lambda * (p.S.trace() - 3.0) - 2.0 * m.mu) * ddR;
}

}  // namespace pliant
