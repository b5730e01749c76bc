#include "pliant/reduction/modal_derivatives.h"

#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/basis.h"
#include "reduction/rigid_motions.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

/// Right-hand sides solved together: enough for dense kernels, little memory.
constexpr int kBatch = 32;

/// Matrices of the body at rest, in its free unknowns.
struct RestSystem {
    RestSystem(const FemModel& model, const Constraints& constraints)
        : system(model, constraints), K(system.make_matrix()), M(system.make_matrix()) {
        auto ws = system.make_workspace();
        Sparse all = model.make_matrix();
        model.tangent(VectorXd::Zero(model.num_unknowns()), all);
        system.fold(all, K, ws);
        system.fold(mass_matrix(model), M, ws);
    }
    FreeSystem system;
    Sparse K, M;
};

/// −(H : Ψ^j) Ψ^i in the free unknowns.
VectorXd second_order_load(const FemModel& model, const FreeSystem& system, const MatrixXd& shapes,
                           int i, int j) {
    VectorXd all(model.num_unknowns()), free(system.num_unknowns());
    model.hessian_contraction(VectorXd::Zero(model.num_unknowns()), shapes.col(j), shapes.col(i),
                              all);
    system.fold(all, free);
    return -free;
}

void factor(LinearSolver& solver, const Sparse& A) {
    if (const FactorResult factored = solver.factor(A); !factored.is_ok())
        throw InputError("", "the matrix of the modal derivatives cannot be factored (" +
                                 std::string(to_string(factored.status)) + ")");
}

/// (K − λ_i M) is singular in the directions of the modes whose eigenvalue is λ_i, or nearly so.
std::vector<int> cluster_of(const VectorXd& eigenvalues, int i, double tolerance) {
    std::vector<int> members;
    for (int m = 0; m < static_cast<int>(eigenvalues.size()); ++m)
        if (std::abs(eigenvalues[m] - eigenvalues[i]) <= tolerance * eigenvalues[i])
            members.push_back(m);
    return members;
}

/// Solves A x = b for a symmetric A with known null space N (M-orthonormal columns) and b = P b,
/// where P takes out M N Nᵀ: a few unknowns are held instead, as many as N has columns, and what
/// that leaves of N is taken out of x. The sparse pattern stays as it is.
class DeflatedSolver {
public:
    DeflatedSolver(const Sparse& A, const Sparse& M, MatrixXd null_space)
        : N_(std::move(null_space)),
          MN_(M * N_),
          held_(independent_rows(N_)),
          solver_(make_linear_solver(SolverKind::Auto, {.definiteness = Definiteness::Any})) {
        Sparse held = A;  // NOLINT(performance-unnecessary-copy-initialization): changed below
        std::vector<char> is_held(static_cast<std::size_t>(A.rows()), 0);
        for (const int row : held_) is_held[row] = 1;
        double diagonal = 0;
        for (Eigen::Index j = 0; j < A.outerSize(); ++j)
            diagonal = std::max(diagonal, std::abs(A.coeff(j, j)));
        for (Eigen::Index j = 0; j < held.outerSize(); ++j)
            for (Sparse::InnerIterator it(held, j); it; ++it)
                if (is_held[it.row()] || is_held[it.col()])
                    it.valueRef() = it.row() == it.col() ? diagonal : 0.0;
        factor(*solver_, held);
    }

    /// Overwrites each column by the solution that is M-orthogonal to the null space.
    void solve(Eigen::Ref<MatrixXd> B) const {
        B -= MN_ * (N_.transpose() * B);
        for (const int row : held_) B.row(row).setZero();
        solver_->solve_in_place(B);
        B -= N_ * (MN_.transpose() * B);
    }

private:
    /// Rows on which N is best conditioned, by elimination with complete pivoting.
    static std::vector<int> independent_rows(MatrixXd N) {
        std::vector<int> rows;
        for (Eigen::Index step = 0; step < N.cols(); ++step) {
            Eigen::Index row = 0, column = 0;
            N.cwiseAbs().maxCoeff(&row, &column);
            const VectorXd pivot = N.col(column) / N(row, column);
            const Eigen::RowVectorXd values = N.row(row);
            N -= pivot * values;
            N.row(row).setZero();
            rows.push_back(static_cast<int>(row));
        }
        return rows;
    }

    MatrixXd N_, MN_;
    std::vector<int> held_;
    std::unique_ptr<LinearSolver> solver_;
};

}  // namespace

MatrixXd modal_derivatives(const FemModel& model, const Constraints& constraints,
                           const LinearModes& modes, const DerivativeOptions& options,
                           Progress& progress) {
    const int k = modes.size(), num_pairs = k * (k + 1) / 2;
    if (modes.is_free() && options.free == FreeDerivatives::InertiaRetaining) {
        // one vector for each pair: the mean of both orders, which span the same to leading order
        const MatrixXd ordered = inertia_retaining_derivatives(model, modes, options, progress);
        MatrixXd derivatives(model.num_unknowns(), num_pairs);
        for (int j = 0; j < k; ++j)
            for (int i = 0; i <= j; ++i)
                derivatives.col(derivative_column(i, j)) =
                    0.5 * (ordered.col(i * k + j) + ordered.col(j * k + i));
        return derivatives;
    }

    progress.stage("factorisation");
    const RestSystem rest(model, constraints);
    std::unique_ptr<DeflatedSolver> relieved;
    std::unique_ptr<LinearSolver> solver;
    if (modes.is_free()) {
        relieved =
            std::make_unique<DeflatedSolver>(rest.K, rest.M, free_rows(rest.system, modes.rigid));
    } else {
        solver = make_linear_solver(options.solver);
        factor(*solver, rest.K);
    }

    progress.stage("modal derivatives", static_cast<std::size_t>(num_pairs));
    MatrixXd derivatives(model.num_unknowns(), num_pairs);
    MatrixXd batch(rest.system.num_unknowns(), std::min(kBatch, num_pairs));
    int i = 0, j = 0;
    for (int first = 0; first < num_pairs; first += kBatch) {
        const int count = std::min(kBatch, num_pairs - first);
        for (int column = 0; column < count; ++column) {
            batch.col(column) = second_order_load(model, rest.system, modes.shapes, i, j);
            progress.advance();
            if (++i > j) i = 0, ++j;
        }
        if (relieved)
            relieved->solve(batch.leftCols(count));
        else
            solver->solve_in_place(batch.leftCols(count));
        derivatives.middleCols(first, count) = rest.system.T() * batch.leftCols(count);
    }
    return derivatives;
}

MatrixXd inertia_retaining_derivatives(const FemModel& model, const LinearModes& modes,
                                       const DerivativeOptions& options, Progress& progress) {
    const int k = modes.size();
    const RestSystem rest(model, Constraints(model.num_nodes()));
    const MatrixXd shapes = free_rows(rest.system, modes.shapes);
    const MatrixXd rigid = free_rows(rest.system, modes.rigid);
    const MatrixXd M_rigid = rest.M * rigid;

    progress.stage("modal derivatives", static_cast<std::size_t>(k) * static_cast<std::size_t>(k));
    MatrixXd derivatives(model.num_unknowns(), k * k);
    MatrixXd batch(rest.system.num_unknowns(), k);
    for (int i = 0; i < k; ++i) {
        const std::vector<int> cluster =
            cluster_of(modes.eigenvalues, i, options.cluster_tolerance);
        const MatrixXd null_space = shapes(Eigen::all, cluster);
        const Sparse A = rest.K - modes.eigenvalues[i] * rest.M;
        const DeflatedSolver solver(A, rest.M, null_space);
        for (int j = 0; j < k; ++j) {
            batch.col(j) = second_order_load(model, rest.system, modes.shapes, i, j);
            progress.advance();
        }
        solver.solve(batch);
        if (rigid.cols() > 0) batch -= rigid * (M_rigid.transpose() * batch);
        derivatives.middleCols(i * k, k) = rest.system.T() * batch;
    }
    return derivatives;
}

}  // namespace pliant
