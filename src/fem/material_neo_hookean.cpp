// Stable neo-Hookean law [Smith2018] §3.4, docs/fem.md eq. (M7):
//     W = μ'/2 (I − 3) − μ'/2 ln((I + 1)/4) − ¾ μ' (J − 1) + λ'/2 (J − 1)²,   I = F:F,  J = det F
// with μ' = 4/3 μ and λ' = λ + 5/6 μ, which make the rest state stress-free and its tangent that of
// linear elasticity. No term is singular anywhere, so inverted elements are pushed back.

#include "fem/cofactor.h"
#include "fem/material_laws.h"

#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Vector9d = Eigen::Matrix<double, 9, 1>;

/// P = a F + b cof F, eq. (M8), and the derivatives of the two factors.
struct Factors {
    double a;       ///< μ' (1 − 1/(I + 1))
    double da;      ///< da/dI
    double dda;     ///< d²a/dI²
    double b;       ///< λ' (J − 1) − ¾ μ'
    double lambda;  ///< λ' = db/dJ
    Matrix3d C;     ///< cof F
};

Factors factors(const Material& m, const Matrix3d& F) noexcept {
    Factors f;
    const double mu = m.mu * (4.0 / 3.0);
    f.lambda = m.lambda + m.mu * (5.0 / 6.0);
    const double r = 1.0 / (F.squaredNorm() + 1.0);
    f.a = mu * (1.0 - r);
    f.da = mu * r * r;
    f.dda = -2.0 * f.da * r;
    f.C = cofactor(F);
    f.b = f.lambda * (F.col(0).dot(f.C.col(0)) - 1.0) - 0.75 * mu;
    return f;
}

}  // namespace

double NeoHookeanLaw::energy_density(const Material& m, const Matrix3d& F) noexcept {
    // in terms of H = F − I, so that the parts linear in H, which cancel, never appear:
    // W = μ'/2 (x − ln(1 + x)) + ¾ μ' (2x − (J − 1)) + λ'/2 (J − 1)²,   x = (I − 3)/4
    const Matrix3d H = F - Matrix3d::Identity();
    const Matrix3d cof_H = cofactor(H);
    const double mu = m.mu * (4.0 / 3.0), lambda = m.lambda + m.mu * (5.0 / 6.0);
    const double trace = H.trace(), half_square = 0.5 * H.squaredNorm();
    const double higher = cof_H.trace() + H.col(0).dot(cof_H.col(0));  // J − 1 = tr H + higher
    const double x = 0.5 * (trace + half_square);
    const double dilation = trace + higher;
    return 0.5 * mu * (x - std::log1p(x)) + 0.75 * mu * (half_square - higher) +
           0.5 * lambda * dilation * dilation;
}

Matrix3d NeoHookeanLaw::stress(const Material& m, const Matrix3d& F) noexcept {
    const Factors f = factors(m, F);
    return f.a * F + f.b * f.C;
}

Matrix9d NeoHookeanLaw::stress_gradient(const Material& m, const Matrix3d& F) noexcept {
    // ∂P/∂F = a I + 2a' F⊗F + λ' C⊗C + b ∂(cof F)/∂F, eq. (M9)
    const Factors f = factors(m, F);
    const Eigen::Map<const Vector9d> vec_F(F.data()), vec_C(f.C.data());
    Matrix9d K;
    K.noalias() = vec_F * (2.0 * f.da * vec_F).transpose();
    K.noalias() += vec_C * (f.lambda * vec_C).transpose();
    K.diagonal().array() += f.a;
    for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const Matrix3d X = cross_matrix(f.b * F.col(a));  // C_b = F_c × F_a,  C_c = F_a × F_b
        K.block<3, 3>(3 * b, 3 * c) -= X;
        K.block<3, 3>(3 * c, 3 * b) += X;
    }
    return K;
}

Matrix3d NeoHookeanLaw::stress_second_gradient(const Material& m, const Matrix3d& F,
                                               const Matrix3d& dF1, const Matrix3d& dF2) noexcept {
    const Factors f = factors(m, F);
    const double dI1 = 2.0 * F.cwiseProduct(dF1).sum(), dI2 = 2.0 * F.cwiseProduct(dF2).sum();
    const double ddI = 2.0 * dF1.cwiseProduct(dF2).sum();
    const Matrix3d dC1 = cofactor_derivative(F, dF1), dC2 = cofactor_derivative(F, dF2);
    const double dJ1 = f.C.cwiseProduct(dF1).sum(), dJ2 = f.C.cwiseProduct(dF2).sum();
    const double ddJ = dC2.cwiseProduct(dF1).sum();
    // product rule on a F + b cof F
    return (f.dda * dI1 * dI2 + f.da * ddI) * F + (f.da * dI1) * dF2 + (f.da * dI2) * dF1 +
           (f.lambda * ddJ) * f.C + (f.lambda * dJ1) * dC2 + (f.lambda * dJ2) * dC1 +
           f.b * cofactor_derivative(dF1, dF2);
}

}  // namespace pliant
