#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace pliant {

/// Libraries that factor sparse symmetric matrices, docs/fem.md "Linear solvers".
enum class SolverKind {
    Auto,       ///< EigenLdlt for small matrices, Mumps for large and for indefinite ones
    EigenLdlt,  ///< always there; solves without allocation; no pivoting
    Mumps,      ///< multifrontal, pivots where the matrix is not known to be definite
    Cholmod,    ///< supernodal, positive definite only; GPL, therefore off unless asked for
};
[[nodiscard]] std::string_view to_string(SolverKind kind) noexcept;
/// Those of this build, in the order of the enumeration; never Auto.
[[nodiscard]] std::vector<SolverKind> available_solvers();

/// What is known of the matrix in advance.
enum class Definiteness {
    Positive,  ///< anything else is reported as an error
    Any,       ///< symmetric; the signs of the pivots are counted
};

struct SolverOptions {
    Definiteness definiteness = Definiteness::Positive;
    /// The matrix counts as singular when, scaled to a unit diagonal, its smallest eigenvalue is
    /// estimated to be less than this. Rounding alone gives up to about 1e-14.
    double singular_tolerance = 1e-13;
    /// Of the numerical kernels of Mumps and Cholmod; last digits may depend on it.
    int num_threads = 1;
};

enum class FactorStatus {
    Ok,
    NotPositiveDefinite,
    Singular,     ///< for a stiffness matrix: not enough of the body is held
    OutOfMemory,  ///< or more entries than the back end can count
    NotFinite,    ///< an entry of the matrix is infinite or not a number
};
[[nodiscard]] std::string_view to_string(FactorStatus status) noexcept;

struct FactorResult {
    FactorStatus status = FactorStatus::Ok;
    /// Where it happened, −1 if not known. Singular: the unknown that moves most in the motion
    /// without resistance; NotPositiveDefinite: that of the failing pivot.
    int unknown = -1;

    [[nodiscard]] bool is_ok() const noexcept { return status == FactorStatus::Ok; }
};

/// Times are of the last call, counts since construction.
struct SolverStatistics {
    SolverKind kind = SolverKind::Auto;  ///< the library at work, once a matrix is analysed
    bool order_was_given = false;        ///< otherwise METIS
    int num_analyses = 0, num_factorisations = 0;
    std::int64_t factor_nonzeros = 0;  ///< of L with its diagonal, padding of dense blocks included
    double flops = 0;                  ///< of a factorisation, Σ d_j²: docs/fem.md eq. (S1)
    std::int64_t bytes = 0;            ///< peak of a factorisation
    int negative_pivots = 0;           ///< eigenvalues below zero
    /// Estimate of its size from above, matrix scaled to a unit diagonal; close where it is tiny.
    double smallest_eigenvalue = 0;
    double analyse_seconds = 0, factor_seconds = 0, solve_seconds = 0;
};

/// Solves A x = b by factoring a symmetric sparse A. Entries on and below the diagonal are read;
/// those above may be there or not. One object per thread.
///
///     const auto solver = make_linear_solver();
///     if (const FactorResult factored = solver->factor(A); !factored.is_ok()) …
///     const Eigen::VectorXd x = solver->solve(b);
class LinearSolver {
public:
    using Matrix = Eigen::SparseMatrix<double>;

    virtual ~LinearSolver() = default;

    /// Everything that depends on the pattern alone. `order` lists the unknowns in the order of
    /// their elimination; without it METIS finds one, seeing unknowns with the same neighbours as
    /// one node. Fails with OutOfMemory only.
    [[nodiscard]] virtual FactorResult analyse(const Matrix& A,
                                               std::span<const int> order = {}) = 0;
    /// Analyses first, with METIS, unless the pattern is that of the last analysis.
    [[nodiscard]] virtual FactorResult factor(const Matrix& A) = 0;
    [[nodiscard]] virtual bool is_factored() const noexcept = 0;

    /// One right-hand side per column; many at once are several times faster than one by one.
    /// Needs is_factored(). No allocation with EigenLdlt. Throws std::bad_alloc.
    virtual void solve_in_place(Eigen::Ref<Eigen::MatrixXd> b) = 0;
    template <class Derived>
    [[nodiscard]] auto solve(const Eigen::MatrixBase<Derived>& b) {
        typename Derived::PlainObject x = b;
        solve_in_place(x);
        return x;
    }

    [[nodiscard]] virtual const SolverStatistics& statistics() const noexcept = 0;
};

/// Throws InputError for a library that this build lacks, and for Cholmod with Definiteness::Any.
[[nodiscard]] std::unique_ptr<LinearSolver> make_linear_solver(SolverKind kind = SolverKind::Auto,
                                                               const SolverOptions& options = {});

}  // namespace pliant
