#include "reduction/block_lanczos.h"

#include "core/dense_algebra.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

/// M X, a few columns per task.
MatrixXd mass_times(const Sparse& M, const Eigen::Ref<const MatrixXd>& X) {
    MatrixXd MX(X.rows(), X.cols());
    parallel_for(static_cast<std::size_t>(X.cols()), 1, [&](std::size_t j) {
        const auto column = static_cast<Eigen::Index>(j);
        MX.col(column).noalias() = M * X.col(column);
    });
    return MX;
}

/// The block that the iteration works on, and everything it has found.
class Iteration {
public:
    Iteration(const Sparse& M, const MatrixXd& deflated, int block, int capacity)
        : M_(M), deflated_(deflated), V_(M.rows(), capacity), AV_(M.rows(), capacity) {
        // fixed seed: the same modes on every run
        std::mt19937_64 random(20040715);
        std::normal_distribution<double> normal;
        next_ = MatrixXd::NullaryExpr(M.rows(), block, [&] { return normal(random); });
        if (deflated_.cols() > 0) M_deflated_ = mass_times(M, deflated_);
    }

    [[nodiscard]] int size() const noexcept { return size_; }

    /// Appends `next`, made M-orthonormal to all vectors, and its image under the operator.
    void append(const std::function<void(Eigen::Ref<MatrixXd>)>& solve) {
        orthonormalise(next_);
        const auto b = static_cast<int>(next_.cols());
        V_.middleCols(size_, b) = next_;
        MatrixXd image = mass_times(M_, next_);
        solve(image);
        if (deflated_.cols() > 0) image -= deflated_ * (M_deflated_.transpose() * image);
        AV_.middleCols(size_, b) = image;
        size_ += b;
        // Rayleigh's quotient grows by the new columns
        const MatrixXd M_image = mass_times(M_, image);
        const MatrixXd columns = V_.leftCols(size_).transpose() * M_image;
        H_.conservativeResize(size_, size_);
        H_.rightCols(b) = columns;
        H_.bottomRows(b) = columns.transpose();
        next_ = std::move(image);
    }

    void solve_projected() {
        const SymmetricEigen eigen = symmetric_eigen(0.5 * (H_ + H_.transpose()));
        ritz_values_ = eigen.values.reverse();
        ritz_vectors_ = eigen.vectors.rowwise().reverse();
    }
    [[nodiscard]] const VectorXd& ritz_values() const noexcept { return ritz_values_; }
    [[nodiscard]] MatrixXd ritz_columns(int count) const {
        return V_.leftCols(size_) * ritz_vectors_.leftCols(count);
    }
    /// |A x − θ x|_M of the first Ritz pairs.
    [[nodiscard]] VectorXd residuals(int count) const {
        const MatrixXd Y = ritz_vectors_.leftCols(count);
        MatrixXd R = AV_.leftCols(size_) * Y;
        R -= V_.leftCols(size_) * (Y * ritz_values_.head(count).asDiagonal());
        const MatrixXd MR = mass_times(M_, R);
        return (R.cwiseProduct(MR)).colwise().sum().transpose().cwiseMax(0.0).cwiseSqrt();
    }

    /// Keeps the first Ritz vectors only; `next` stays.
    void restart(int keep) {
        const MatrixXd Y = ritz_vectors_.leftCols(keep);
        // the residuals of all Ritz pairs lie in the span of what comes next
        next_ -= V_.leftCols(size_) * (V_.leftCols(size_).transpose() * mass_times(M_, next_));
        const MatrixXd V = V_.leftCols(size_) * Y, AV = AV_.leftCols(size_) * Y;
        V_.leftCols(keep) = V;
        AV_.leftCols(keep) = AV;
        H_ = ritz_values_.head(keep).asDiagonal();
        size_ = keep;
    }

private:
    /// Twice, because once leaves what cancellation left.
    void orthonormalise(MatrixXd& X) const {
        for (int pass = 0; pass < 2; ++pass) {
            if (deflated_.cols() > 0) X -= deflated_ * (M_deflated_.transpose() * X);
            if (size_ > 0) {
                const MatrixXd overlap = V_.leftCols(size_).transpose() * mass_times(M_, X);
                X -= V_.leftCols(size_) * overlap;
            }
            // scaled first, so that the triangular factor sees columns of equal length
            MatrixXd MX = mass_times(M_, X);
            const VectorXd lengths =
                X.cwiseProduct(MX).colwise().sum().transpose().cwiseMax(1e-300).cwiseSqrt();
            X *= lengths.cwiseInverse().asDiagonal();
            MX *= lengths.cwiseInverse().asDiagonal();
            MatrixXd gram = X.transpose() * MX;
            gram.diagonal().array() += 1e-14;
            const MatrixXd L = lower_cholesky(gram);
            L.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(X);
        }
    }

    const Sparse& M_;
    const MatrixXd& deflated_;
    MatrixXd M_deflated_, V_, AV_, H_, next_, ritz_vectors_;
    VectorXd ritz_values_;
    int size_ = 0;
};

}  // namespace

EigenPairs largest_eigenpairs(const std::function<void(Eigen::Ref<MatrixXd>)>& solve,
                              const Sparse& M, int count, double tolerance,
                              const MatrixXd& deflated, Progress& progress) {
    const auto n = static_cast<int>(M.rows() - deflated.cols());
    const int block = std::clamp(count / 2, 4, 12);
    const int keep = std::min(count + block, n);
    const int capacity = std::min(std::max(3 * count, count + 6 * block), n);
    constexpr int kMaxBlocks = 200;

    Iteration iteration(M, deflated, std::min(block, n), capacity + block);
    EigenPairs result;
    progress.stage("modes", static_cast<std::size_t>(count));
    int converged = 0;
    for (int step = 0; step < kMaxBlocks; ++step) {
        iteration.append(solve);
        result.num_solves += block;
        if (iteration.size() < std::min(count + block, n)) {
            progress.advance(0);
            continue;
        }
        iteration.solve_projected();
        const VectorXd residuals = iteration.residuals(count);
        int now = 0;
        while (now < count && residuals[now] <= tolerance * iteration.ritz_values()[now]) ++now;
        if (now > converged) {
            progress.advance(static_cast<std::size_t>(now - converged));
            converged = now;
        }
        if (now == count || iteration.size() >= n) {
            result.values = iteration.ritz_values().head(count);
            result.vectors = iteration.ritz_columns(count);
            return result;
        }
        if (iteration.size() + block > capacity) iteration.restart(keep);
    }
    throw std::runtime_error("the eigenvalue iteration did not converge");
}

}  // namespace pliant
