#pragma once

#include "pliant/fem/fem_model.h"

namespace pliant {

/// Forces against the motion, beside the drag c_v of the materials, docs/fem.md eq. (D1)–(D3).
struct Damping {
    double mass = 0;            ///< α [1/s]: Rayleigh, α M v
    double stiffness = 0;       ///< β [s]: Rayleigh, β K v
    bool is_tangential = true;  ///< K of the present shape; otherwise of the rest shape
    /// φ and ψ [Pa s]: stress φ tr(Ė) I + 2ψ Ė against the rate of the Green strain E. No force in
    /// any rigid motion.
    double bulk_viscosity = 0, shear_viscosity = 0;

    [[nodiscard]] bool has_stiffness_part() const noexcept {
        return stiffness > 0 || bulk_viscosity > 0 || shear_viscosity > 0;
    }
};
/// Throws InputError for a coefficient that is negative or not finite.
void check_damping(const Damping& damping);

/// f += β K v + ∫ Bᵀ (φ tr(Ė) I + 2ψ Ė) dV for velocities v at displacements u, all 3n unknowns:
/// everything but the drag and α M v, which are diagonal when mass is lumped. `scratch` has 3n
/// places. Allocates nothing.
void add_stiffness_damping(const FemModel& model, const Damping& damping,
                           const FemModel::ConstRef& u, const FemModel::ConstRef& v,
                           Eigen::VectorXd& scratch, FemModel::Ref f);
/// Its derivative with respect to v, added to a matrix of FemModel::make_matrix(); symmetric and
/// positive semidefinite where K is. `K` is the tangent at u, or at rest, as `is_tangential` says.
void add_damping_matrix(const FemModel& model, const Damping& damping, const FemModel::ConstRef& u,
                        const FemModel::Matrix& K, FemModel::Matrix& D);

}  // namespace pliant
