#include "fem/material_dilation.h"

#include "fem/cofactor.h"
#include "fem/material_laws.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;

/// With λ = 0 and μ = 1/2 the stress of the corotational law is F − R.
Material corotational_unit() noexcept {
    Material m;
    m.law = Law::Corotational;
    m.mu = 0.5;
    return m;
}

}  // namespace

Material without_dilation_part(const Material& m) {
    Material rest = m;
    if (has_dilation_part(m)) rest.lambda = 0;
    return rest;
}

double dilation(Law law, const Matrix3d& F) noexcept {
    const Matrix3d H = F - Matrix3d::Identity();
    switch (law) {
        case Law::SmallStrain: return H.trace();
        case Law::NeoHookean: {
            const Matrix3d cof_H = cofactor(H);
            return H.trace() + cof_H.trace() + H.col(0).dot(cof_H.col(0));
        }
        case Law::Corotational: return dilation_gradient(law, F).cwiseProduct(F).sum() - 3.0;
        case Law::StVenantKirchhoff: break;
    }
    return H.trace() + 0.5 * H.squaredNorm();
}

Matrix3d dilation_gradient(Law law, const Matrix3d& F) noexcept {
    switch (law) {
        case Law::SmallStrain: return Matrix3d::Identity();
        case Law::NeoHookean: return cofactor(F);
        case Law::Corotational: return F - CorotationalLaw::stress(corotational_unit(), F);
        case Law::StVenantKirchhoff: break;
    }
    return F;
}

Matrix9d dilation_hessian(Law law, const Matrix3d& F) noexcept {
    Matrix9d K = Matrix9d::Zero();
    switch (law) {
        case Law::SmallStrain: break;
        case Law::NeoHookean:
            for (int a = 0; a < 3; ++a) {
                const int b = (a + 1) % 3, c = (a + 2) % 3;
                const Matrix3d X = cross_matrix(F.col(a));  // C_b = F_c × F_a,  C_c = F_a × F_b
                K.block<3, 3>(3 * b, 3 * c) -= X;
                K.block<3, 3>(3 * c, 3 * b) += X;
            }
            break;
        case Law::Corotational:
            K = Matrix9d::Identity() - CorotationalLaw::stress_gradient(corotational_unit(), F);
            break;
        case Law::StVenantKirchhoff: K.setIdentity();
    }
    return K;
}

Matrix3d dilation_third(Law law, const Matrix3d& F, const Matrix3d& dF1,
                        const Matrix3d& dF2) noexcept {
    switch (law) {
        case Law::NeoHookean: return cofactor_derivative(dF1, dF2);
        case Law::Corotational:
            return -CorotationalLaw::stress_second_gradient(corotational_unit(), F, dF1, dF2);
        case Law::SmallStrain:
        case Law::StVenantKirchhoff: break;
    }
    return Matrix3d::Zero();
}

}  // namespace pliant
