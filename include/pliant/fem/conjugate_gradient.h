#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <memory>
#include <string_view>
#include <type_traits>

namespace pliant {

enum class Preconditioner {
    Diagonal,
    BlockDiagonal,       ///< 3 × 3 blocks of consecutive unknowns: the components of one node
    IncompleteCholesky,  ///< on the pattern of 3 × 3 blocks, docs/fem.md eq. (S5)
};

struct CgOptions {
    Preconditioner preconditioner = Preconditioner::BlockDiagonal;
    double tolerance = 1e-6;  ///< stop when |b − A x| ≤ tolerance |b|
    int max_iterations = 1000;
};

enum class CgStatus {
    Converged,
    IterationLimit,       ///< x is the last iterate
    NotPositiveDefinite,  ///< a direction of no or negative curvature; x is the iterate before it
    NotFinite,            ///< load, matrix or result; x is the last finite iterate, or zero
};
[[nodiscard]] std::string_view to_string(CgStatus status) noexcept;

struct CgResult {
    CgStatus status = CgStatus::Converged;
    int iterations = 0;
    /// |b − A x| / |b|: recomputed when Converged, else by recursion; 1 when NotFinite.
    double relative_residual = 0;
};

/// Preconditioned conjugate gradients [HestenesStiefel1952] for symmetric positive definite A, for
/// use inside a step: after analyse() nothing allocates, and x stays finite. Deterministic on one
/// machine; instruction sets differ in the last digits. One object per thread.
class ConjugateGradient {
public:
    using Matrix = Eigen::SparseMatrix<double>;

    explicit ConjugateGradient(const CgOptions& options = {});
    ConjugateGradient(ConjugateGradient&&) noexcept;
    ConjugateGradient& operator=(ConjugateGradient&&) noexcept;
    ~ConjugateGradient();

    /// Takes over the pattern, sizes all work space. Allocates. Compressed matrices only, here and
    /// below; entries on and below the diagonal are read.
    void analyse(const Matrix& A);
    /// Takes over the values. Same pattern as in analyse(). Without `renews_factor` the incomplete
    /// factor is left as it is: dear to renew, and good for matrices that are near the old one.
    void set_values(const Matrix& A, bool renews_factor = true) noexcept;

    /// `x` holds the start on entry and the solution on return. Start from the last solution, or
    /// from zero.
    [[nodiscard]] CgResult solve(const Eigen::Ref<const Eigen::VectorXd>& b,
                                 Eigen::Ref<Eigen::VectorXd> x) noexcept;

    /// Without a matrix: `apply(p, q)` sets q = A p, both VectorXd. The matrix of set_values() then
    /// serves the preconditioner alone; its diagonal, or its diagonal blocks, are enough.
    template <class Apply>
    [[nodiscard]] CgResult solve(const Apply& apply, const Eigen::Ref<const Eigen::VectorXd>& b,
                                 Eigen::Ref<Eigen::VectorXd> x) noexcept {
        static_assert(std::is_invocable_v<const Apply&, const Eigen::VectorXd&, Eigen::VectorXd&>);
        return solve_with([](const void* context, const Eigen::VectorXd& p,
                             Eigen::VectorXd& q) { (*static_cast<const Apply*>(context))(p, q); },
                          &apply, b, x);
    }

    [[nodiscard]] const CgOptions& options() const noexcept;
    void set_tolerance(double tolerance) noexcept;
    /// By how much the incomplete factor's diagonal had to be raised, relative to it, the last
    /// time.
    [[nodiscard]] double diagonal_shift() const noexcept;

private:
    using ApplyFunction = void (*)(const void* context, const Eigen::VectorXd& p,
                                   Eigen::VectorXd& q);
    [[nodiscard]] CgResult solve_with(ApplyFunction apply, const void* context,
                                      const Eigen::Ref<const Eigen::VectorXd>& b,
                                      Eigen::Ref<Eigen::VectorXd> x) noexcept;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
