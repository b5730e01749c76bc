#ifdef PLIANT_WITH_CHOLMOD

#include <suitesparse/cholmod.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>
#include <string>

#include "fem/solver_backend.h"

namespace pliant {
namespace {

using Matrix = LinearSolver::Matrix;

/// The lower triangle of A, without a copy. CHOLMOD reads it only.
cholmod_sparse view_of(const Matrix& A) {
    cholmod_sparse view = {};
    view.nrow = view.ncol = static_cast<std::size_t>(A.rows());
    view.nzmax = static_cast<std::size_t>(A.nonZeros());
    view.p = const_cast<int*>(A.outerIndexPtr());
    view.i = const_cast<int*>(A.innerIndexPtr());
    view.x = const_cast<double*>(A.valuePtr());
    view.stype = -1;
    view.itype = CHOLMOD_INT;
    view.xtype = CHOLMOD_REAL;
    view.dtype = CHOLMOD_DOUBLE;
    view.sorted = view.packed = 1;
    return view;
}

cholmod_dense view_of(Eigen::Ref<Eigen::MatrixXd> b) {
    cholmod_dense view = {};
    view.nrow = static_cast<std::size_t>(b.rows());
    view.ncol = static_cast<std::size_t>(b.cols());
    view.d = static_cast<std::size_t>(b.cols() > 1 ? b.outerStride() : b.rows());
    view.nzmax = view.d * view.ncol;
    view.x = b.data();
    view.xtype = CHOLMOD_REAL;
    view.dtype = CHOLMOD_DOUBLE;
    return view;
}

class CholmodBackend final : public SolverBackend {
public:
    explicit CholmodBackend(const SolverOptions& options)
        : num_threads_(options.num_threads), singular_tolerance_(options.singular_tolerance) {
        cholmod_start(&common_);
        common_.print = 0;
        common_.supernodal = CHOLMOD_SUPERNODAL;
        common_.nmethods = 1;
        common_.method[0].ordering = CHOLMOD_GIVEN;
    }
    ~CholmodBackend() override {
        cholmod_free_factor(&factor_, &common_);
        cholmod_free_dense(&solution_, &common_);
        cholmod_free_dense(&work_, &common_);
        cholmod_free_dense(&work2_, &common_);
        cholmod_finish(&common_);
    }
    CholmodBackend(const CholmodBackend&) = delete;
    CholmodBackend& operator=(const CholmodBackend&) = delete;

    void analyse(const Matrix& A, std::span<const int> order,
                 SolverStatistics& statistics) override {
        cholmod_free_factor(&factor_, &common_);
        std::vector<int> permutation(order.begin(), order.end());
        cholmod_sparse view = view_of(A);
        factor_ = cholmod_analyze_p(&view, permutation.data(), nullptr, 0, &common_);
        throw_if_failed();
        statistics.factor_nonzeros = static_cast<std::int64_t>(common_.lnz);
        statistics.flops = common_.fl;
    }

    FactorResult factor(const Matrix& A, SolverStatistics& statistics) override {
        const ScopedBlasThreads threads(num_threads_);
        cholmod_sparse view = view_of(A);
        cholmod_factorize(&view, factor_, &common_);
        statistics.bytes = static_cast<std::int64_t>(common_.memory_usage);
        statistics.negative_pivots = 0;
        if (common_.status == CHOLMOD_NOT_POSDEF) return explain_failure(A);
        throw_if_failed();
        return {};
    }

    void solve(Eigen::Ref<Eigen::MatrixXd> b) override {
        const ScopedBlasThreads threads(num_threads_);
        cholmod_dense rhs = view_of(b);
        cholmod_solve2(CHOLMOD_A, factor_, &rhs, nullptr, &solution_, nullptr, &work_, &work2_,
                       &common_);
        throw_if_failed();
        b = Eigen::Map<const Eigen::MatrixXd>(static_cast<const double*>(solution_->x), b.rows(),
                                              b.cols());
    }

private:
    /// Singular if an addition to the diagonal as small as rounding makes the matrix definite.
    FactorResult explain_failure(const Matrix& A) {
        const int unknown = static_cast<const int*>(factor_->Perm)[factor_->minor];
        double shift[2] = {singular_tolerance_ * A.diagonal().cwiseAbs().maxCoeff(), 0};
        cholmod_sparse view = view_of(A);
        cholmod_factorize_p(&view, shift, nullptr, 0, factor_, &common_);
        const bool is_semidefinite = common_.status == CHOLMOD_OK;
        return {is_semidefinite ? FactorStatus::Singular : FactorStatus::NotPositiveDefinite,
                unknown};
    }

    void throw_if_failed() const {
        if (common_.status >= CHOLMOD_OK) return;
        if (common_.status == CHOLMOD_OUT_OF_MEMORY || common_.status == CHOLMOD_TOO_LARGE)
            throw std::bad_alloc();
        throw std::logic_error("CHOLMOD stopped with status " + std::to_string(common_.status));
    }

    cholmod_common common_ = {};
    cholmod_factor* factor_ = nullptr;
    cholmod_dense *solution_ = nullptr, *work_ = nullptr, *work2_ = nullptr;
    int num_threads_;
    double singular_tolerance_;
};

}  // namespace

std::unique_ptr<SolverBackend> make_cholmod_backend(const SolverOptions& options) {
    return std::make_unique<CholmodBackend>(options);
}

}  // namespace pliant

#endif
