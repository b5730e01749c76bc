#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/fem_model.h"

namespace pliant {

/// Strain-rate damping in reduced coordinates, docs/reduction.md eq. (20): the stress
/// φ tr(Ė) I + 2ψ Ė against the rate of the Green strain, as in Damping of the full body,
///     D(q) = Uᵀ (∂E/∂u)ᵀ : C_φψ : (∂E/∂u) U,    a polynomial of degree two in q.
/// No force in any rigid motion that the subspace can show. Immutable; r²(r + 1)²/4 numbers and as
/// many multiply-adds.
class ReducedViscosity {
public:
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

    /// `bulk` φ and `shear` ψ [Pa s]. Throws InputError for values that are negative or not finite.
    ReducedViscosity(const FemModel& model, const Eigen::MatrixXd& U, double bulk, double shear,
                     Progress& progress = Progress::none());

    [[nodiscard]] int size() const noexcept { return size_; }
    /// Number of products q_i q_j, i ≤ j, with q₀ = 1.
    [[nodiscard]] int num_pairs() const noexcept { return (size_ + 1) * (size_ + 2) / 2; }
    /// D, symmetric and positive semidefinite, both triangles. `pairs` is scratch of num_pairs()
    /// places. Allocates nothing.
    void damping_matrix(const ConstRef& q, Eigen::Ref<Eigen::MatrixXd> D,
                        Eigen::Ref<Eigen::VectorXd> pairs) const noexcept;

private:
    int size_ = 0;
    Eigen::MatrixXd coefficients_;  ///< upper triangle of D by columns, times pairs
};

}  // namespace pliant
