#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

using Vector6d =
    Eigen::Matrix<double, 6, 1>;  ///< Voigt order (xx, yy, zz, yz, zx, xy), engineering shears
using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Matrix9d = Eigen::Matrix<double, 9, 9>;  ///< acts on 3×3 matrices stacked by columns

/// How stress follows from the deformation gradient F = I + ∇u; docs/fem.md section "Materials".
enum class Law {
    StVenantKirchhoff,  ///< Green strain, linear stress: exact for large rotations, softens in
                        ///< compression
    SmallStrain,        ///< linear strain, linear stress: small motions only, fastest
    NeoHookean,         ///< stable neo-Hookean [Smith2018]: resists collapse and inversion
    Corotational,       ///< linear in the polar-decomposed stretch
};

/// `st-venant-kirchhoff`, `small-strain`, `neo-hookean`, `corotational`.
[[nodiscard]] std::string_view to_string(Law law) noexcept;

/// A linear law S = C (E − E₀) + S₀ with any of the 21 constants.
struct Anisotropy {
    Matrix6d stiffness = Matrix6d::Zero();       ///< C [Pa], symmetric positive definite
    Vector6d initial_strain = Vector6d::Zero();  ///< E₀
    Vector6d initial_stress = Vector6d::Zero();  ///< S₀ [Pa]
};

/// One elastic material, SI units. Made by the functions below, which check every number.
struct Material {
    Law law = Law::StVenantKirchhoff;
    double density = 1000.0;    ///< ρ [kg/m³]
    double lambda = 0, mu = 0;  ///< Lamé constants [Pa]; if anisotropic, averaged over directions
    double viscosity = 0;       ///< c_v [kg/(m³ s)]: drag force per volume and velocity
    std::optional<Anisotropy> anisotropy;  ///< StVenantKirchhoff and SmallStrain only

    [[nodiscard]] double youngs_modulus() const noexcept;
    [[nodiscard]] double poisson_ratio() const noexcept;
};

/// Throw InputError for a modulus or density that is not positive and finite or a Poisson ratio
/// outside (−1, 1/2).
[[nodiscard]] Material isotropic(double youngs_modulus, double poisson_ratio, double density,
                                 Law law = Law::StVenantKirchhoff);
/// Any of the 21 constants; throws InputError unless C is symmetric (to 1e-8 of its largest entry,
/// the rest is averaged away) and positive definite. Initial stress and strain may be set
/// afterwards.
[[nodiscard]] Material anisotropic(const Matrix6d& stiffness, double density,
                                   Law law = Law::StVenantKirchhoff);
/// Loaded along i, the body strains by −ν_ij times the strain of i along j: ν_ij / E_i = ν_ji /
/// E_j.
struct OrthotropicConstants {
    Eigen::Vector3d youngs_modulus;  ///< E_x, E_y, E_z [Pa]
    Eigen::Vector3d poisson_ratio;   ///< ν_yz, ν_zx, ν_xy
    Eigen::Vector3d shear_modulus;   ///< G_yz, G_zx, G_xy [Pa]
};
/// 6×6 matrix for `anisotropic`; throws InputError for constants that store negative energy.
[[nodiscard]] Matrix6d orthotropic_stiffness(const OrthotropicConstants& constants);
/// 6×6 matrix of an isotropic material.
[[nodiscard]] Matrix6d isotropic_stiffness(double lambda, double mu);

/// Throws InputError for the first number of a material, however made, that no solver can use.
void check_material(const Material& material);

/// Typical constants of a named material ("rubber", "tissue", "steel", …; table in docs/fem.md).
/// "wood" is orthotropic with the grain along x. Throws InputError for an unknown name.
[[nodiscard]] Material material_preset(const std::string& name, Law law = Law::StVenantKirchhoff);
/// All names that `material_preset` knows, softest first.
[[nodiscard]] std::vector<std::string> material_names();

// Pointwise response. Nothing below allocates or throws, and results are finite for every finite F
// up to |F| = 1e40: collapsed, inverted or zero.

/// Strain energy per rest volume [J/m³].
[[nodiscard]] double energy_density(const Material& material, const Eigen::Matrix3d& F) noexcept;
/// First Piola–Kirchhoff stress P = ∂W/∂F [Pa].
[[nodiscard]] Eigen::Matrix3d stress(const Material& material, const Eigen::Matrix3d& F) noexcept;
/// ∂P/∂F, symmetric.
[[nodiscard]] Matrix9d stress_gradient(const Material& material, const Eigen::Matrix3d& F) noexcept;
/// (∂²P/∂F² : dF₁) : dF₂, symmetric in dF₁ and dF₂.
[[nodiscard]] Eigen::Matrix3d stress_second_gradient(const Material& material,
                                                     const Eigen::Matrix3d& F,
                                                     const Eigen::Matrix3d& dF1,
                                                     const Eigen::Matrix3d& dF2) noexcept;

}  // namespace pliant
