#pragma once

#include "pliant/fem/fem_model.h"

namespace pliant {

/// How mass and drag become diagonal, docs/fem.md eq. (E8), (E9). Equal for parallelepipeds and
/// tetrahedra.
enum class Lumping {
    RowSum,  ///< m_a = ∫ ρ φ_a dV: exact total
    Nodal,   ///< quadrature at the corners, m_a = ρ det J(corner a)
};

/// Consistent mass M_ab = ∫ ρ φ_a φ_b dV [kg] of nodes, n × n. The matrix of all 3n unknowns is
/// M ⊗ I₃.
[[nodiscard]] Eigen::SparseMatrix<double> node_mass_matrix(const FemModel& model);
/// M ⊗ I₃ at the places of FemModel::make_matrix(), so that values add to those of K.
[[nodiscard]] Eigen::SparseMatrix<double> mass_matrix(const FemModel& model);
/// Of all 3n unknowns.
[[nodiscard]] Eigen::VectorXd lumped_mass(const FemModel& model, Lumping lumping = Lumping::RowSum);

/// The same with the viscosity c_v in place of ρ: drag D u̇ [kg/s].
[[nodiscard]] Eigen::SparseMatrix<double> node_drag_matrix(const FemModel& model);
[[nodiscard]] Eigen::SparseMatrix<double> drag_matrix(const FemModel& model);
[[nodiscard]] Eigen::VectorXd lumped_drag(const FemModel& model, Lumping lumping = Lumping::RowSum);

}  // namespace pliant
