#pragma once

#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"

namespace pliant {

/// The unknowns q that are left when essential conditions and hanging nodes are taken out,
/// docs/fem.md eq. (E12):
///     u = T q + s u_p,    f_free = Tᵀ f,    K_free = Tᵀ K T
/// Hanging nodes follow their masters (u_c = Σ w u_m), which collect their force, mass and
/// stiffness; s scales the prescribed displacements. Immutable; nothing allocates but the
/// constructor and make_…().
class FreeSystem {
public:
    using Matrix = FemModel::Matrix;
    using Ref = FemModel::Ref;
    using ConstRef = FemModel::ConstRef;
    struct Workspace {
        Eigen::VectorXd column;
        /// Without hanging nodes: for each entry of K_free its place in K.
        std::vector<int> selected;
    };

    /// Throws InputError for a condition on a hanging node whose masters are not all prescribed
    /// likewise; where they are, the node follows them.
    FreeSystem(FemModel model, Constraints constraints);

    [[nodiscard]] int num_unknowns() const noexcept { return static_cast<int>(T_.cols()); }
    /// Nothing is prescribed and nothing hangs: T = I.
    [[nodiscard]] bool is_whole() const noexcept { return T_.cols() == T_.rows(); }
    /// 3n × num_unknowns().
    [[nodiscard]] const Matrix& T() const noexcept { return T_; }
    [[nodiscard]] const Constraints& constraints() const noexcept { return constraints_; }

    /// u = T q + s u_p.
    void expand(const ConstRef& q, double s, Ref u) const;
    /// Tᵀ f: forces, and lumped masses.
    void fold(const ConstRef& f, Ref f_free) const;
    /// Tᵀ K T of a matrix at the places of FemModel::make_matrix().
    void fold(const Matrix& K, Matrix& K_free, Workspace& ws) const;

    /// Zeros at all places that Tᵀ K T may fill, both triangles.
    [[nodiscard]] Matrix make_matrix() const;
    [[nodiscard]] Workspace make_workspace() const;

private:
    [[nodiscard]] bool has_hanging() const noexcept { return !model_.mesh().hanging.empty(); }

    FemModel model_;
    Constraints constraints_;
    Matrix T_;
    Eigen::SparseMatrix<double, Eigen::RowMajor> T_by_rows_;
    Eigen::VectorXd prescribed_;
};

}  // namespace pliant
