#pragma once

#include "pliant/fem/linear_solver.h"

namespace pliant {

/// One library. The caller sees to what they have in common: same pattern, at least one entry, all
/// finite, a valid order, times, and the test for singular matrices.
class SolverBackend {
public:
    using Matrix = LinearSolver::Matrix;

    virtual ~SolverBackend() = default;

    /// Fills in nonzeros, flops and bytes as far as the pattern tells. Throws std::bad_alloc.
    virtual void analyse(const Matrix& A, std::span<const int> order,
                         SolverStatistics& statistics) = 0;
    /// Reports Singular only where the elimination broke down. Counts negative pivots and goes on
    /// where it can: Ok then, with the unknown of the first one if known. Throws std::bad_alloc.
    [[nodiscard]] virtual FactorResult factor(const Matrix& A, SolverStatistics& statistics) = 0;
    virtual void solve(Eigen::Ref<Eigen::MatrixXd> b) = 0;
};

[[nodiscard]] std::unique_ptr<SolverBackend> make_eigen_backend();
[[nodiscard]] std::unique_ptr<SolverBackend> make_mumps_backend(const SolverOptions& options);
[[nodiscard]] std::unique_ptr<SolverBackend> make_cholmod_backend(const SolverOptions& options);

/// Order of elimination by METIS on the graph of the lower triangle of A.
[[nodiscard]] std::vector<int> fill_reducing_order(const LinearSolver::Matrix& A);

/// While alive, OpenBLAS works with so many threads; the count is that of the whole process, the
/// first scope to open decides. Does nothing with another BLAS.
class ScopedBlasThreads {
public:
    explicit ScopedBlasThreads(int num_threads);
    ~ScopedBlasThreads();
    ScopedBlasThreads(const ScopedBlasThreads&) = delete;
    ScopedBlasThreads& operator=(const ScopedBlasThreads&) = delete;
};

}  // namespace pliant
