#pragma once

#include "fem/step_set.h"
#include "pliant/fem/coupled_dynamics.h"
#include "pliant/fem/free_system.h"

namespace pliant {

/// The linear side of CoupledDynamics: which unknowns are free, products with M and D, factors.
/// Vectors named `…_free` have the free unknowns of FreeSystem, all others all 3n. Where A = A_s ⊗
/// I₃ (is_scalar()), the factors are those of the nodes, docs/fem.md eq. (T9), (T10).
class CoupledSystem {
public:
    using Ref = FemModel::Ref;
    using ConstRef = FemModel::ConstRef;
    using MatrixRef = Eigen::Ref<Eigen::MatrixXd>;
    using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
    /// Right-hand sides of solve() at once.
    static constexpr int kMaxColumns = 2;

    /// Throws InputError for a step set that StepSet refuses, for a largest step above the
    /// stability limit, and as FreeSystem does.
    CoupledSystem(const FemModel& model, const Constraints& constraints,
                  const CoupledOptions& options);

    [[nodiscard]] int num_free() const noexcept { return static_cast<int>(free_.size()); }
    [[nodiscard]] bool is_scalar() const noexcept { return is_scalar_; }
    [[nodiscard]] double stable_step() const noexcept { return stable_step_; }
    [[nodiscard]] StepSet& steps() noexcept { return *steps_; }
    [[nodiscard]] const StepSet& steps() const noexcept { return *steps_; }
    /// Row 3 i + c holds the free unknowns that component c of node i follows, with their weights.
    [[nodiscard]] const RowMatrix& T_by_rows() const noexcept { return T_by_rows_; }

    /// Places of the free unknowns, and of the prescribed ones that do not hang.
    [[nodiscard]] const std::vector<int>& free() const noexcept { return free_; }
    [[nodiscard]] const std::vector<int>& prescribed() const noexcept { return prescribed_; }
    /// Hanging nodes take the mean of their masters.
    void follow(Eigen::VectorXd& x) const noexcept;
    /// Free components from x_free, prescribed ones left as they are, hanging ones follow.
    void scatter(const ConstRef& x_free, Eigen::VectorXd& x) const noexcept;

    /// f −= D v.
    void subtract_damping(const Eigen::VectorXd& v, Eigen::VectorXd& f) noexcept;
    /// f −= M a for the accelerations of prescribed unknowns alone.
    void subtract_prescribed_inertia(const Eigen::VectorXd& a, Eigen::VectorXd& f) noexcept;
    /// Tᵀ f.
    void fold(const Eigen::VectorXd& f, Ref f_free) const { system_.fold(f, f_free); }
    /// One right-hand side per column, at most kMaxColumns: b = A(T/2^i)⁻¹ b.
    void solve(int i, MatrixRef b_free);
    void solve_mass(MatrixRef b_free);

    /// ½ v·M v.
    [[nodiscard]] double kinetic_energy(const Eigen::VectorXd& v) noexcept;

private:
    using Matrix = Eigen::SparseMatrix<double>;

    void build_matrices(const FemModel& model, const CoupledOptions& options);
    void build_factors(const FemModel& model, const CoupledOptions& options);
    /// Of a matrix of nodes or unknowns plus a diagonal: what StepSet factors.
    [[nodiscard]] Matrix folded(const Matrix& of_nodes, const Matrix& of_unknowns,
                                const Eigen::VectorXd& diagonal) const;
    [[nodiscard]] double find_stable_step(const FemModel& model);
    template <class Solve>
    void solve_by_components(MatrixRef b_free, const Solve& solve);

    FreeSystem system_;
    std::vector<HangingNode> hanging_;
    std::vector<int> free_, prescribed_;
    RowMatrix T_by_rows_;
    bool is_scalar_ = false;
    // M = M_nodes ⊗ I₃ + mass, D = D_nodes ⊗ I₃ + D_unknowns + drag; what is not used is empty, and
    // the diagonals are folded to the masters
    Matrix M_nodes_, D_nodes_, D_unknowns_;
    Eigen::VectorXd mass_, drag_;
    std::unique_ptr<StepSet> steps_;
    double stable_step_ = 0;
    Eigen::MatrixXd by_component_;
    Eigen::VectorXd product_, prescribed_motion_;
};

}  // namespace pliant
