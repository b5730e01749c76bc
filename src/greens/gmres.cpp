#include "greens/gmres.h"

#include "core/numbers.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Corrections after the first space.
constexpr int kMaxCorrections = 2;

/// Krylov space of one right-hand side.
class KrylovSpace {
public:
    explicit KrylovSpace(VectorXd residual) : norm_(residual.norm()) {
        basis_.push_back(std::move(residual) / norm_);
        right_.push_back(norm_);
    }
    [[nodiscard]] const VectorXd& last() const { return basis_.back(); }
    [[nodiscard]] int size() const { return static_cast<int>(rotations_.size()); }
    /// Of the least-squares problem.
    [[nodiscard]] double residual() const { return std::abs(right_.back()); }

    /// Takes A M⁻¹ last(); false: the space holds the solution.
    [[nodiscard]] bool add(VectorXd w) {
        const double before = w.norm();
        VectorXd h = VectorXd::Zero(size() + 2);
        // Gram and Schmidt, a second time where much was cancelled
        for (int pass = 0; pass < 2; ++pass) {
            for (int i = 0; i <= size(); ++i) {
                const double part = basis_[at(i)].dot(w);
                w -= part * basis_[at(i)];
                h[i] += part;
            }
            if (w.norm() > 0.1 * before) break;
        }
        h[size() + 1] = w.norm();
        // the triangular factor of the Hessenberg matrix, column by column
        for (int i = 0; i < size(); ++i) {
            const double a = h[i], b = h[i + 1];
            h[i] = rotations_[at(i)].c * a + rotations_[at(i)].s * b;
            h[i + 1] = -rotations_[at(i)].s * a + rotations_[at(i)].c * b;
        }
        const int k = size();
        const double length = std::hypot(h[k], h[k + 1]);
        const bool goes_on = h[k + 1] > 1e-14 * before && length > 0;
        if (length > 0) {
            const double next = h[k + 1];
            rotations_.push_back({h[k] / length, next / length});
            h[k] = length;
            const double value = right_.back();
            right_.back() = rotations_.back().c * value;
            right_.push_back(-rotations_.back().s * value);
            columns_.push_back(h.head(k + 1));
            if (goes_on) basis_.push_back(w / next);
        }
        return goes_on;
    }

    /// The combination of the basis with the least residual; frees the space.
    [[nodiscard]] VectorXd take_combination() {
        const int m = size();
        VectorXd y(m);
        for (int i = m - 1; i >= 0; --i) {
            double value = right_[at(i)];
            for (int j = i + 1; j < m; ++j) value -= columns_[at(j)][i] * y[j];
            y[i] = value / columns_[at(i)][i];
        }
        VectorXd sum = VectorXd::Zero(basis_.front().size());
        for (int i = 0; i < m; ++i) sum += y[i] * basis_[at(i)];
        *this = KrylovSpace();
        return sum;
    }

private:
    struct Rotation {
        double c, s;
    };
    KrylovSpace() = default;
    double norm_ = 0;
    std::vector<VectorXd> basis_, columns_;
    std::vector<Rotation> rotations_;
    std::vector<double> right_;
};

/// Solves for the columns of B in `active`; adds to X and counts.
class GmresCycle {
public:
    GmresCycle(const BoundaryOperator& A, const BlockPreconditioner* M, const GmresOptions& options,
               const std::function<void(int, double)>& told)
        : A_(A), M_(M), options_(options), told_(told) {}

    void run(const MatrixXd& residuals, const std::vector<double>& limits,
             const std::vector<double>& sizes, std::vector<int>& iterations, MatrixXd& X) {
        std::vector<KrylovSpace> spaces;
        std::vector<std::size_t> active;
        for (std::size_t c = 0; c < limits.size(); ++c) {
            spaces.emplace_back(residuals.col(static_cast<Eigen::Index>(c)));
            if (iterations[c] < options_.max_iterations) active.push_back(c);
        }
        while (!active.empty()) {
            const auto count = static_cast<Eigen::Index>(active.size());
            MatrixXd V(X.rows(), count), W(X.rows(), count);
            for (std::size_t k = 0; k < active.size(); ++k)
                V.col(static_cast<Eigen::Index>(k)) = spaces[active[k]].last();
            if (M_) {
                M_->apply(V, W);
                A_.apply(W, V);
            } else {
                A_.apply(V, W);
                V.swap(W);
            }
            std::vector<char> goes_on(active.size());
            parallel_for(active.size(), 1, [&](std::size_t k) {
                const std::size_t c = active[k];
                ++iterations[c];
                goes_on[k] = spaces[c].add(V.col(static_cast<Eigen::Index>(k))) &&
                             spaces[c].residual() > limits[c] &&
                             iterations[c] < options_.max_iterations;
            });
            if (told_) {
                double largest = 0;
                for (const std::size_t c : active)
                    largest = std::max(largest, spaces[c].residual() / sizes[c]);
                told_(iterations[active.front()], largest);
            }
            std::vector<std::size_t> left;
            for (std::size_t k = 0; k < active.size(); ++k)
                if (goes_on[k]) left.push_back(active[k]);
            active = std::move(left);
        }
        MatrixXd combined(X.rows(), X.cols());
        parallel_for(spaces.size(), 1, [&](std::size_t c) {
            combined.col(static_cast<Eigen::Index>(c)) = spaces[c].take_combination();
        });
        if (M_)
            M_->apply(combined, X);
        else
            X = combined;
    }

private:
    const BoundaryOperator& A_;
    const BlockPreconditioner* M_;
    const GmresOptions& options_;
    const std::function<void(int, double)>& told_;
};

}  // namespace

bool GmresReport::is_solved(double tolerance) const {
    return std::ranges::all_of(residuals, [&](double r) { return r <= tolerance; });
}

GmresReport gmres(const BoundaryOperator& A, const BlockPreconditioner* M,
                  const Eigen::Ref<const MatrixXd>& B, Eigen::Ref<MatrixXd> X,
                  const GmresOptions& options, const std::function<void(int, double)>& told) {
    const auto num_columns = static_cast<std::size_t>(B.cols());
    GmresReport report{std::vector<int>(num_columns, 0), std::vector<double>(num_columns, 0.0)};
    X.setZero();
    MatrixXd R = B;
    const VectorXd size = B.colwise().norm();
    std::vector<Eigen::Index> unsolved;
    for (Eigen::Index c = 0; c < B.cols(); ++c)
        if (size[c] > 0) unsolved.push_back(c);
    GmresCycle cycle(A, M, options, told);
    for (int k = 0; k <= kMaxCorrections && !unsolved.empty(); ++k) {
        const auto count = static_cast<Eigen::Index>(unsolved.size());
        MatrixXd residuals(B.rows(), count), step = MatrixXd::Zero(B.rows(), count),
                                             product(B.rows(), count);
        std::vector<double> limits, sizes;
        std::vector<int> iterations;
        for (Eigen::Index i = 0; i < count; ++i) {
            const Eigen::Index c = unsolved[static_cast<std::size_t>(i)];
            residuals.col(i) = R.col(c);
            // a little less, so that rounding does not ask for a correction
            limits.push_back(0.9 * options.tolerance * size[c]);
            sizes.push_back(size[c]);
            iterations.push_back(report.iterations[static_cast<std::size_t>(c)]);
        }
        cycle.run(residuals, limits, sizes, iterations, step);
        A.apply(step, product);
        std::vector<Eigen::Index> left;
        for (Eigen::Index i = 0; i < count; ++i) {
            const Eigen::Index c = unsolved[static_cast<std::size_t>(i)];
            const auto place = static_cast<std::size_t>(c);
            X.col(c) += step.col(i);
            R.col(c) -= product.col(i);
            report.iterations[place] = iterations[static_cast<std::size_t>(i)];
            report.residuals[place] = R.col(c).norm() / size[c];
            if (report.residuals[place] > options.tolerance &&
                report.iterations[place] < options.max_iterations)
                left.push_back(c);
        }
        unsolved = std::move(left);
    }
    return report;
}

}  // namespace pliant
