#include "pliant/fem/linear_solver.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <new>
#include <string>

#include "fem/solver_backend.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"

namespace pliant {
namespace {

/// Unknowns from which MUMPS factors and solves faster than Eigen, docs/fem.md table (S2).
constexpr int kLargeMatrix = 600;

bool is_available(SolverKind kind) {
    const std::vector<SolverKind> kinds = available_solvers();
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

SolverKind choose_solver(int n, Definiteness definiteness) {
    const bool pivoting = definiteness == Definiteness::Any;
    return (pivoting || n >= kLargeMatrix) && is_available(SolverKind::Mumps)
               ? SolverKind::Mumps
               : SolverKind::EigenLdlt;
}

std::unique_ptr<SolverBackend> make_backend(SolverKind kind,
                                            [[maybe_unused]] const SolverOptions& options) {
#ifdef PLIANT_WITH_MUMPS
    if (kind == SolverKind::Mumps) return make_mumps_backend(options);
#endif
#ifdef PLIANT_WITH_CHOLMOD
    if (kind == SolverKind::Cholmod) return make_cholmod_backend(options);
#endif
    assert(kind == SolverKind::EigenLdlt);
    return make_eigen_backend();
}

std::uint64_t pattern_hash(const LinearSolver::Matrix& A) {
    const auto n = static_cast<std::size_t>(A.cols());
    const auto nonzeros = static_cast<std::size_t>(A.nonZeros());
    const std::uint64_t seed = hash_bytes(A.outerIndexPtr(), (n + 1) * sizeof(int));
    return hash_bytes(A.innerIndexPtr(), nonzeros * sizeof(int), seed);
}

/// On or below the diagonal.
bool has_entries(const LinearSolver::Matrix& A) {
    // rows ascend: the last one of each column decides
    for (int j = 0; j < A.outerSize(); ++j) {
        const int end = A.outerIndexPtr()[j + 1];
        if (end > A.outerIndexPtr()[j] && A.innerIndexPtr()[end - 1] >= j) return true;
    }
    return false;
}

[[maybe_unused]] bool is_permutation_of_all(std::span<const int> order, Eigen::Index n) {
    std::vector<char> seen(static_cast<std::size_t>(n), 0);
    for (const int i : order)
        if (i < 0 || i >= n || seen[i]++ != 0) return false;
    return std::ssize(order) == n;
}

class Stopwatch {
public:
    explicit Stopwatch(double& seconds) : seconds_(seconds) {}
    ~Stopwatch() {
        seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

private:
    double& seconds_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class DirectSolver final : public LinearSolver {
public:
    DirectSolver(SolverKind kind, const SolverOptions& options) : kind_(kind), options_(options) {}

    FactorResult analyse(const Matrix& A, std::span<const int> order) override {
        if (!A.isCompressed()) return analyse(compressed(A), order);
        assert(A.rows() == A.cols());
        assert(order.empty() || is_permutation_of_all(order, A.rows()));
        const Stopwatch stopwatch(statistics_.analyse_seconds);
        is_analysed_ = is_factored_ = false;
        const auto n = static_cast<int>(A.rows());
        const SolverKind kind =
            kind_ == SolverKind::Auto ? choose_solver(n, options_.definiteness) : kind_;
        try {
            if (backend_ == nullptr || statistics_.kind != kind)
                backend_ = make_backend(kind, options_);
            statistics_.kind = kind;
            statistics_.order_was_given = !order.empty();
            // without entries there is nothing to do, and factor() says why
            if (has_entries(A))
                backend_->analyse(A, order.empty() ? fill_reducing_order(A) : order, statistics_);
            scale_.resize(n);
            probe_.resize(n, 1);
        } catch (const std::bad_alloc&) {
            return {FactorStatus::OutOfMemory};
        }
        pattern_hash_ = pattern_hash(A);
        is_analysed_ = true;
        ++statistics_.num_analyses;
        return {};
    }

    FactorResult factor(const Matrix& A) override {
        if (!A.isCompressed()) return factor(compressed(A));
        if (!is_analysed_ || scale_.size() != A.cols() || pattern_hash_ != pattern_hash(A)) {
            const FactorResult analysed = analyse(A, {});
            if (!analysed.is_ok()) return analysed;
        }
        const Stopwatch stopwatch(statistics_.factor_seconds);
        ++statistics_.num_factorisations;
        is_factored_ = false;
        statistics_.negative_pivots = 0;
        statistics_.smallest_eigenvalue = 0;
        FactorResult result = examine_entries(A);
        if (!result.is_ok() || A.rows() == 0) {
            is_factored_ = result.is_ok();
            return result;
        }
        try {
            result = backend_->factor(A, statistics_);
            if (result.is_ok()) result = examine_factor(result.unknown);
        } catch (const std::bad_alloc&) {
            result = {FactorStatus::OutOfMemory};
        }
        is_factored_ = result.is_ok();
        return result;
    }

    bool is_factored() const noexcept override { return is_factored_; }

    void solve_in_place(Eigen::Ref<Eigen::MatrixXd> b) override {
        assert(is_factored_ && b.rows() == scale_.size());
        const Stopwatch stopwatch(statistics_.solve_seconds);
        if (b.size() > 0) backend_->solve(b);
    }

    const SolverStatistics& statistics() const noexcept override { return statistics_; }

private:
    static Matrix compressed(Matrix A) {
        A.makeCompressed();
        return A;
    }

    /// What the entries show by themselves; scale_[j] = sqrt |a_jj|.
    FactorResult examine_entries(const Matrix& A) {
        scale_.setZero();
        auto largest = probe_.col(0);  // of each row, both triangles
        largest.setZero();
        for (int j = 0; j < A.outerSize(); ++j)
            for (Matrix::InnerIterator it(A, j); it; ++it) {
                const auto i = static_cast<int>(it.row());
                if (i < j) continue;
                if (!std::isfinite(it.value())) return {FactorStatus::NotFinite, j};
                largest[i] = std::max(largest[i], std::abs(it.value()));
                largest[j] = std::max(largest[j], std::abs(it.value()));
                if (i == j) scale_[j] = it.value();
            }
        for (int j = 0; j < A.outerSize(); ++j) {
            if (largest[j] == 0) return {FactorStatus::Singular, j};
            if (options_.definiteness == Definiteness::Positive && scale_[j] <= 0)
                return {FactorStatus::NotPositiveDefinite, j};
            // rows of constraints have no diagonal
            scale_[j] = std::sqrt(scale_[j] != 0 ? std::abs(scale_[j]) : largest[j]);
        }
        return {};
    }

    /// Inverse iteration on the scaled matrix: docs/fem.md eq. (S3). The libraries do not show
    /// their pivots, and rounding makes those of a singular matrix small, not zero.
    FactorResult examine_factor(int first_negative) {
        // A start that no motion is orthogonal to: the fractional parts of multiples of the golden
        // ratio. Its share in the sought direction is about 1/sqrt(n), hence a second iteration
        // where the first one leaves a doubt.
        double phase = 0;
        for (int i = 0; i < probe_.rows(); ++i) {
            phase += 0.6180339887498949;
            phase -= std::floor(phase);
            probe_(i, 0) = phase - 0.5;
        }
        double eigenvalue = 0;
        int softest = -1;
        for (int iteration = 0; iteration < 2; ++iteration) {
            probe_ /= probe_.norm();
            probe_.array() *= scale_.array();
            backend_->solve(probe_);
            probe_.array() *= scale_.array();
            // infinite or not a number: the elimination divided by zero
            if (!probe_.allFinite() || !std::isfinite(probe_.norm())) {
                eigenvalue = 0;
                break;
            }
            eigenvalue = 1.0 / probe_.norm();
            probe_.col(0).cwiseAbs().maxCoeff(&softest);
            if (eigenvalue > 1e5 * options_.singular_tolerance) break;
        }
        statistics_.smallest_eigenvalue = eigenvalue;
        if (eigenvalue < options_.singular_tolerance) return {FactorStatus::Singular, softest};
        if (options_.definiteness == Definiteness::Positive && statistics_.negative_pivots > 0)
            return {FactorStatus::NotPositiveDefinite, first_negative};
        return {};
    }

    SolverKind kind_;
    SolverOptions options_;
    std::unique_ptr<SolverBackend> backend_;
    SolverStatistics statistics_;
    std::uint64_t pattern_hash_ = 0;
    bool is_analysed_ = false, is_factored_ = false;
    Eigen::VectorXd scale_;
    Eigen::MatrixXd probe_;
};

}  // namespace

std::string_view to_string(SolverKind kind) noexcept {
    switch (kind) {
        case SolverKind::Auto: return "auto";
        case SolverKind::EigenLdlt: return "eigen";
        case SolverKind::Mumps: return "mumps";
        case SolverKind::Cholmod: return "cholmod";
    }
    return "unknown solver";
}

std::string_view to_string(FactorStatus status) noexcept {
    switch (status) {
        case FactorStatus::Ok: return "ok";
        case FactorStatus::NotPositiveDefinite: return "not positive definite";
        case FactorStatus::Singular: return "singular";
        case FactorStatus::OutOfMemory: return "out of memory";
        case FactorStatus::NotFinite: return "not finite";
    }
    return "unknown status";
}

std::vector<SolverKind> available_solvers() {
    return {
        SolverKind::EigenLdlt,
#ifdef PLIANT_WITH_MUMPS
        SolverKind::Mumps,
#endif
#ifdef PLIANT_WITH_CHOLMOD
        SolverKind::Cholmod,
#endif
    };
}

std::unique_ptr<LinearSolver> make_linear_solver(SolverKind kind, const SolverOptions& options) {
    if (kind != SolverKind::Auto && !is_available(kind)) {
        std::string known = "auto";
        for (const SolverKind other : available_solvers())
            known += ", " + std::string(to_string(other));
        throw InputError("", "solver", std::string(to_string(kind)),
                         "one that this build has: " + known);
    }
    if (kind == SolverKind::Cholmod && options.definiteness != Definiteness::Positive)
        throw InputError("", "solver", "cholmod",
                         "another one for a matrix that may be indefinite");
    return std::make_unique<DirectSolver>(kind, options);
}

}  // namespace pliant
