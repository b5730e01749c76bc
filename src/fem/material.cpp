#include "pliant/fem/material.h"

#include "core/jacobi_eigen.h"
#include "fem/material_laws.h"
#include "geometry/option_check.h"

#include <Eigen/LU>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

constexpr const char* kVoigtNames[6] = {"xx", "yy", "zz", "yz", "zx", "xy"};

void check_positive(const std::string& field, double value) {
    check_option(value > 0 && std::isfinite(value), field.c_str(), value, "a finite value > 0");
}

void check_finite(const std::string& field, double value) {
    check_option(std::isfinite(value), field.c_str(), value, "a finite value");
}

std::string entry(const char* field, int i, int j) {
    return std::string(field) + "[" + kVoigtNames[i] + "][" + kVoigtNames[j] + "]";
}

std::string number(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

/// Largest difference between mirrored entries, relative to the largest entry, that counts as
/// rounding of the user's numbers.
constexpr double kSymmetryTolerance = 1e-8;

void check_stiffness(const Matrix6d& C) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) check_finite(entry("stiffness", i, j), C(i, j));
    const double largest = C.cwiseAbs().maxCoeff();
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j)
            if (std::abs(C(i, j) - C(j, i)) > kSymmetryTolerance * largest)
                throw InputError("", entry("stiffness", i, j), number(C(i, j)),
                                 number(C(j, i)) + " like " + entry("stiffness", j, i) +
                                     ", since the matrix is symmetric");
    const Matrix6d symmetric = 0.5 * (C + C.transpose());
    const Vector6d eigenvalues = jacobi_eigen<6>(symmetric).values;
    // eigenvalues this small are indistinguishable from zero
    const double smallest = 100 * std::numeric_limits<double>::epsilon() * largest;
    for (int i = 0; i < 6; ++i)
        if (!(eigenvalues[i] > smallest))
            throw InputError("", "stiffness eigenvalue " + std::to_string(i + 1) + " of 6",
                             number(eigenvalues[i]),
                             "a value > 0: the matrix must be positive definite");
}

}  // namespace

std::string_view to_string(Law law) noexcept {
    switch (law) {
        case Law::StVenantKirchhoff: return "st-venant-kirchhoff";
        case Law::SmallStrain: return "small-strain";
        case Law::NeoHookean: return "neo-hookean";
        case Law::Corotational: return "corotational";
    }
    return "unknown";
}

double Material::youngs_modulus() const noexcept {
    return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
}

double Material::poisson_ratio() const noexcept { return 0.5 * lambda / (lambda + mu); }

void check_material(const Material& material) {
    check_positive("density", material.density);
    check_option(material.viscosity >= 0 && std::isfinite(material.viscosity), "viscosity",
                 material.viscosity, "a finite value >= 0");
    if (material.anisotropy) {
        const bool is_linear =
            material.law == Law::StVenantKirchhoff || material.law == Law::SmallStrain;
        check_option(is_linear, "law", to_string(material.law),
                     "st-venant-kirchhoff or small-strain for an anisotropic material");
        check_stiffness(material.anisotropy->stiffness);
        for (int i = 0; i < 6; ++i) {
            const std::string index = std::string("[") + kVoigtNames[i] + "]";
            check_finite("initial_strain" + index, material.anisotropy->initial_strain[i]);
            check_finite("initial_stress" + index, material.anisotropy->initial_stress[i]);
        }
    } else {
        check_positive("mu", material.mu);
        check_option(3 * material.lambda + 2 * material.mu > 0 && std::isfinite(material.lambda),
                     "lambda", material.lambda, "a finite value > -2/3 mu");
    }
}

Material isotropic(double youngs_modulus, double poisson_ratio, double density, Law law) {
    check_positive("youngs_modulus", youngs_modulus);
    check_option(poisson_ratio > -1 && poisson_ratio < 0.5, "poisson_ratio", poisson_ratio,
                 "-1 < value < 0.5");
    Material material;
    material.law = law;
    material.density = density;
    material.mu = youngs_modulus / (2 * (1 + poisson_ratio));
    material.lambda = material.mu * (2 * poisson_ratio / (1 - 2 * poisson_ratio));
    check_material(material);
    return material;
}

Material anisotropic(const Matrix6d& stiffness, double density, Law law) {
    Material material;
    material.law = law;
    material.density = density;
    material.anisotropy.emplace().stiffness = stiffness;
    check_material(material);
    Matrix6d& C = material.anisotropy->stiffness;
    C = 0.5 * (stiffness + stiffness.transpose());
    // Voigt's average over all directions, docs/fem.md eq. (M5)
    const double normal = C(0, 0) + C(1, 1) + C(2, 2), coupling = C(1, 2) + C(2, 0) + C(0, 1);
    material.mu = (normal - coupling + 3 * (C(3, 3) + C(4, 4) + C(5, 5))) / 15;
    material.lambda = (normal + 2 * coupling) / 9 - 2.0 / 3.0 * material.mu;
    return material;
}

Matrix6d orthotropic_stiffness(const OrthotropicConstants& constants) {
    const Eigen::Vector3d &E = constants.youngs_modulus, &nu = constants.poisson_ratio;
    const std::string axis[] = {"x", "y", "z"};
    for (int i = 0; i < 3; ++i) {
        check_positive("youngs_modulus." + axis[i], E[i]);
        check_positive("shear_modulus." + axis[(i + 1) % 3] + axis[(i + 2) % 3],
                       constants.shear_modulus[i]);
    }
    // compliance of the normal strains in units of 1/√(E_i E_j): ones on the diagonal
    Eigen::Matrix3d compliance = Eigen::Matrix3d::Identity();
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double limit = std::sqrt(E[i] / E[j]);
        if (!(std::abs(nu[k]) < limit))
            throw InputError(
                "", "poisson_ratio." + axis[i] + axis[j], number(nu[k]),
                "|value| < sqrt(E_" + axis[i] + "/E_" + axis[j] + ") = " + number(limit));
        compliance(i, j) = compliance(j, i) = -nu[k] / limit;
    }
    // each pair may be admissible and the three together still be too much
    check_option(compliance.determinant() > 1e-12, "poisson_ratio", nu.transpose(),
                 "smaller ratios: together they make the stiffness indefinite");

    const Eigen::Matrix3d inverse = compliance.inverse();
    Matrix6d C = Matrix6d::Zero();
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            C(i, j) = 0.5 * (inverse(i, j) + inverse(j, i)) * std::sqrt(E[i] * E[j]);
    C.diagonal().tail<3>() = constants.shear_modulus;
    return C;
}

Matrix6d isotropic_stiffness(double lambda, double mu) {
    Matrix6d C = Matrix6d::Zero();
    C.topLeftCorner<3, 3>().setConstant(lambda);
    C.diagonal() << lambda + 2 * mu, lambda + 2 * mu, lambda + 2 * mu, mu, mu, mu;
    return C;
}

double energy_density(const Material& material, const Eigen::Matrix3d& F) noexcept {
    return with_law(material.law, [&](auto law) { return law.energy_density(material, F); });
}

Eigen::Matrix3d stress(const Material& material, const Eigen::Matrix3d& F) noexcept {
    return with_law(material.law, [&](auto law) { return law.stress(material, F); });
}

Matrix9d stress_gradient(const Material& material, const Eigen::Matrix3d& F) noexcept {
    return with_law(material.law, [&](auto law) { return law.stress_gradient(material, F); });
}

Eigen::Matrix3d stress_second_gradient(const Material& material, const Eigen::Matrix3d& F,
                                       const Eigen::Matrix3d& dF1,
                                       const Eigen::Matrix3d& dF2) noexcept {
    return with_law(material.law,
                    [&](auto law) { return law.stress_second_gradient(material, F, dF1, dF2); });
}

}  // namespace pliant
