#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace pliant {

/// Contact forces λ of a symmetric positive semidefinite S, docs/fem.md eq. (C12):
///     λ ≥ 0,   S λ ≥ c,   λ · (S λ − c) = 0
/// by an active set: solve S_AA λ_A = c_A; drop the most negative λ; when there is none, add the
/// most violated row; repeat. The Cholesky factor of S_AA is updated row by row, so that a change
/// costs O(k²). A row that depends on the active ones stays out: they meet it already.
///
/// All memory is taken by the constructor.
class Complementarity {
public:
    using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
    using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
    using Ref = Eigen::Ref<Eigen::VectorXd>;

    struct Result {
        bool has_converged = true;  ///< otherwise the best that Gauss–Seidel found
        int num_changes = 0;        ///< of the active set
    };

    explicit Complementarity(int capacity);

    /// For k ≤ capacity rows. With `is_same_matrix` S must be that of the last call: its factor and
    /// active set are the start; otherwise all rows are active at first. After `max_changes`
    /// (negative: 4 k + 16) projected Gauss–Seidel takes over.
    Result solve(const ConstMatrixRef& S, const ConstRef& c, bool is_same_matrix, Ref lambda,
                 int max_changes = -1) noexcept;

    /// Rows that are met with equality, in the order in which they were added.
    [[nodiscard]] std::span<const int> active() const noexcept { return active_; }
    /// x = S_AA⁻¹ x on the active rows of the last solve, zero on the others.
    void solve_active(Ref x) noexcept;

private:
    bool add(const ConstMatrixRef& S, int row) noexcept;
    void drop(int position) noexcept;
    /// y = S_AA⁻¹ y.
    void back_substitute(Ref y) const noexcept;

    using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    RowMatrix L_;  // lower triangle of the factor of S_AA
    std::vector<int> active_;
    std::vector<char> is_active_, is_refused_;
    Eigen::VectorXd work_;
};

/// The same by `sweeps` of projected Gauss–Seidel from `lambda`; returns the largest violation of
/// the three conditions, those of rows relative to the largest |c|.
double project_gauss_seidel(const Complementarity::ConstMatrixRef& S,
                            const Complementarity::ConstRef& c, int sweeps,
                            Complementarity::Ref lambda) noexcept;

}  // namespace pliant
