#include "fem/material_laws.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;

constexpr int kVoigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

/// Engineering shears: twice the tensor components.
Vector6d strain_to_voigt(const Matrix3d& E) noexcept {
    Vector6d e;
    e << E(0, 0), E(1, 1), E(2, 2), 2 * E(1, 2), 2 * E(2, 0), 2 * E(0, 1);
    return e;
}

Matrix3d stress_from_voigt(const Vector6d& s) noexcept {
    Matrix3d S;
    S << s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2];
    return S;
}

/// C : E of a symmetric E.
Matrix3d elastic_stress(const Material& m, const Matrix3d& E) noexcept {
    if (m.anisotropy)
        return stress_from_voigt(m.anisotropy->stiffness.lazyProduct(strain_to_voigt(E)));
    Matrix3d S = (2 * m.mu) * E;
    S.diagonal().array() += m.lambda * E.trace();
    return S;
}

/// S = C : (E − E₀) + S₀, docs/fem.md eq. (M3).
Matrix3d total_stress(const Material& m, const Matrix3d& E) noexcept {
    if (!m.anisotropy) return elastic_stress(m, E);
    const Vector6d e = strain_to_voigt(E) - m.anisotropy->initial_strain;
    return stress_from_voigt(m.anisotropy->stiffness.lazyProduct(e) + m.anisotropy->initial_stress);
}

/// W = ½ (E − E₀) : C : (E − E₀) + S₀ : E, eq. (M4).
double strain_energy(const Material& m, const Matrix3d& E) noexcept {
    if (!m.anisotropy) {
        const double trace = E.trace();
        return 0.5 * m.lambda * trace * trace + m.mu * E.squaredNorm();
    }
    const Vector6d e = strain_to_voigt(E);
    const Vector6d e_elastic = e - m.anisotropy->initial_strain;
    return 0.5 * e_elastic.dot(m.anisotropy->stiffness.lazyProduct(e_elastic)) +
           m.anisotropy->initial_stress.dot(e);
}

/// The 3×3 matrix M with M_cd = C_cabd.
Matrix3d stiffness_slice(const Matrix6d& C, int a, int b) noexcept {
    Matrix3d M;
    for (int d = 0; d < 3; ++d)
        for (int c = 0; c < 3; ++c) M(c, d) = C(kVoigt[c][a], kVoigt[b][d]);
    return M;
}

/// Symmetric part of AᵀB.
Matrix3d symmetric_product(const Matrix3d& A, const Matrix3d& B) noexcept {
    const Matrix3d P = A.transpose() * B;
    return 0.5 * (P + P.transpose());
}

/// E = ½ (FᵀF − I), six dot products.
Matrix3d green_strain(const Matrix3d& F) noexcept {
    Matrix3d E;
    for (int a = 0; a < 3; ++a) {
        E(a, a) = 0.5 * (F.col(a).squaredNorm() - 1.0);
        for (int b = 0; b < a; ++b) E(a, b) = E(b, a) = 0.5 * F.col(a).dot(F.col(b));
    }
    return E;
}

Matrix3d linear_strain(const Matrix3d& F) noexcept {
    return 0.5 * (F + F.transpose()) - Matrix3d::Identity();
}

}  // namespace

double StVenantKirchhoffLaw::energy_density(const Material& m, const Matrix3d& F) noexcept {
    return strain_energy(m, green_strain(F));
}

Matrix3d StVenantKirchhoffLaw::stress(const Material& m, const Matrix3d& F) noexcept {
    return F * total_stress(m, green_strain(F));
}

Matrix9d StVenantKirchhoffLaw::stress_gradient(const Material& m, const Matrix3d& F) noexcept {
    // blocks over pairs of columns of F, eq. (M6)
    const Matrix3d S = total_stress(m, green_strain(F));
    Matrix9d K;
    if (m.anisotropy) {
        for (int b = 0; b < 3; ++b)
            for (int a = 0; a <= b; ++a) {
                const Matrix3d FM = F * stiffness_slice(m.anisotropy->stiffness, a, b);
                Matrix3d block = FM * F.transpose();
                block.diagonal().array() += S(a, b);
                K.block<3, 3>(3 * a, 3 * b) = block;
                if (a < b) K.block<3, 3>(3 * b, 3 * a) = block.transpose();
            }
        return K;
    }
    const Matrix3d mu_F = m.mu * F, mu_FFt = mu_F * F.transpose();
    for (int b = 0; b < 3; ++b)
        for (int j = 0; j < 3; ++j) {
            const double lambda_Fjb = m.lambda * F(j, b);
            double* const column = K.col(3 * b + j).data();
            for (int a = 0; a < 3; ++a) {
                const double mu_Fja = mu_F(j, a);
                for (int i = 0; i < 3; ++i)
                    column[3 * a + i] = lambda_Fjb * F(i, a) + mu_Fja * F(i, b);
                column[3 * a + j] += S(a, b);
            }
            for (int i = 0; i < 3; ++i) column[3 * b + i] += mu_FFt(i, j);
        }
    return K;
}

Matrix3d StVenantKirchhoffLaw::stress_second_gradient(const Material& m, const Matrix3d& F,
                                                      const Matrix3d& dF1,
                                                      const Matrix3d& dF2) noexcept {
    const Matrix3d dS1 = elastic_stress(m, symmetric_product(F, dF1));
    const Matrix3d dS2 = elastic_stress(m, symmetric_product(F, dF2));
    const Matrix3d ddS = elastic_stress(m, symmetric_product(dF1, dF2));
    Matrix3d ddP = F * ddS;
    ddP.noalias() += dF1 * dS2;
    ddP.noalias() += dF2 * dS1;
    return ddP;
}

double SmallStrainLaw::energy_density(const Material& m, const Matrix3d& F) noexcept {
    return strain_energy(m, linear_strain(F));
}

Matrix3d SmallStrainLaw::stress(const Material& m, const Matrix3d& F) noexcept {
    return total_stress(m, linear_strain(F));
}

Matrix9d SmallStrainLaw::stress_gradient(const Material& m, const Matrix3d&) noexcept {
    const Matrix6d C = m.anisotropy ? m.anisotropy->stiffness : isotropic_stiffness(m.lambda, m.mu);
    Matrix9d K;
    for (int b = 0; b < 3; ++b)
        for (int a = 0; a < 3; ++a) K.block<3, 3>(3 * a, 3 * b) = stiffness_slice(C, a, b);
    return K;
}

Matrix3d SmallStrainLaw::stress_second_gradient(const Material&, const Matrix3d&, const Matrix3d&,
                                                const Matrix3d&) noexcept {
    return Matrix3d::Zero();
}

}  // namespace pliant
