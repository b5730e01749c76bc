#include <Eigen/IterativeLinearSolvers>
#include <memory>
#include <stdexcept>

#include "benchmarks/fem_bench.h"
#include "pliant/fem/conjugate_gradient.h"
#include "pliant/fem/linear_solver.h"
#include "tests/fem/solver_samples.h"
#ifdef PLIANT_WITH_MUMPS
#include <dmumps_c.h>

#include "src/fem/solver_backend.h"
#endif

namespace pliant::bench {
namespace {

using Matrix = Eigen::SparseMatrix<double>;

#ifdef PLIANT_WITH_MUMPS
/// Everything from the matrix to the solution, as the manual of MUMPS shows it, with the order that
/// MUMPS finds itself: METIS if it was built with it, else Scotch.
Eigen::VectorXd solve_with_mumps_alone(const Matrix& A, Eigen::VectorXd b) {
    const ScopedBlasThreads threads(1);
    std::vector<MUMPS_INT> rows, columns;
    std::vector<double> values;
    for (int j = 0; j < A.outerSize(); ++j)
        for (Matrix::InnerIterator it(A, j); it; ++it)
            if (it.row() >= j) {
                rows.push_back(static_cast<MUMPS_INT>(it.row()) + 1);
                columns.push_back(j + 1);
                values.push_back(it.value());
            }
    DMUMPS_STRUC_C mumps = {};
    const auto call = [&](int job) {
        mumps.job = job;
        dmumps_c(&mumps);
        if (mumps.infog[0] < 0) throw std::runtime_error("MUMPS failed");
    };
    mumps.sym = mumps.par = 1;
    mumps.comm_fortran = -987654;
    call(-1);
    mumps.icntl[0] = mumps.icntl[1] = mumps.icntl[2] = -1;
    mumps.icntl[3] = 0;
    mumps.icntl[6] = 5;
    mumps.n = static_cast<MUMPS_INT>(A.rows());
    mumps.nnz = static_cast<MUMPS_INT8>(values.size());
    mumps.irn = rows.data();
    mumps.jcn = columns.data();
    mumps.a = values.data();
    mumps.rhs = b.data();
    call(6);
    call(-2);
    return b;
}

Workload direct_solution_workload() {
    const auto A = std::make_shared<Matrix>(test::elasticity_matrix(20, 20, 80));
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(A->rows());
    Workload workload;
    workload.run = [A, b] {
        const auto solver = make_linear_solver(SolverKind::Mumps);
        if (!solver->factor(*A).is_ok()) throw std::runtime_error("factorisation failed");
        return solver->solve(b).sum();
    };
    workload.run_reference = [A, b] { return solve_with_mumps_alone(*A, b).sum(); };
    return workload;
}
#endif

/// From a cold start to 1e-6, preconditioner included.
template <class EigenPreconditioner>
Workload gradient_workload(Preconditioner preconditioner) {
    const auto A = std::make_shared<Matrix>(test::elasticity_matrix(10, 10, 10));
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(A->rows());
    const auto x = std::make_shared<Eigen::VectorXd>(A->rows());
    const auto ours = std::make_shared<ConjugateGradient>(CgOptions{preconditioner, 1e-6, 1000});
    ours->analyse(*A);
    const auto theirs = std::make_shared<
        Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, EigenPreconditioner>>();
    theirs->setTolerance(1e-6);
    theirs->analyzePattern(*A);
    Workload workload;
    workload.run = [=] {
        ours->set_values(*A);
        x->setZero();
        const CgResult result = ours->solve(b, *x);
        if (result.status != CgStatus::Converged) throw std::runtime_error("not converged");
        return x->sum();
    };
    workload.run_reference = [=] {
        theirs->factorize(*A);
        *x = theirs->solve(b);
        return x->sum();
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> solver_benchmarks() {
    return {
#ifdef PLIANT_WITH_MUMPS
        {.module = "fem",
         .name = "solver/mumps/n=105840",
         .setup = direct_solution_workload,
         .reference = "MUMPS called directly",
         .min_ratio = 1 / 1.15,
         .samples = 2},
#endif
        {.module = "fem",
         .name = "solver/cg/diagonal/n=3630",
         .setup =
             [] {
                 return gradient_workload<Eigen::DiagonalPreconditioner<double>>(
                     Preconditioner::Diagonal);
             },
         .reference = "Eigen's CG",
         .min_ratio = 1.5,
         .samples = 20},
        {.module = "fem",
         .name = "solver/cg/incomplete_cholesky/n=3630",
         .setup =
             [] {
                 return gradient_workload<Eigen::IncompleteCholesky<double>>(
                     Preconditioner::IncompleteCholesky);
             },
         .reference = "Eigen's CG",
         .min_ratio = 1.5,
         .samples = 20},
    };
}

}  // namespace pliant::bench
