#include "pliant/core/error.h"
#include "pliant/reduction/reduced_force.h"
#include "reduction/aligned_array.h"
#include "reduction/quartic_kernels.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace pliant {
namespace {

constexpr int kMaxSize = 256;

/// The coefficients in the order of the kernels.
template <class T>
AlignedArray<T> arrange(const ReducedCoefficients& coefficients) {
    const int R = coefficients.r + 1;
    const QuarticLayout<T> layout{R};
    std::vector<int> k_of(static_cast<std::size_t>(layout.num_columns())), l_of(k_of);
    for (int k = 0, column = 0; k < R; ++k)
        for (int l = k; l < R; ++l, ++column) {
            k_of[column] = k;
            l_of[column] = l;
        }
    AlignedArray<T> w(layout.size());
    T* to = w.data();
    layout.for_each_tile([&](int first_i, int first_j, int num_i, int first, int count) {
        const int num_rows = layout.rows_of_tile(first_i, first_j, num_i);
        const int end = std::min(first + count, layout.num_columns());
        for (int row = 0; row < num_rows; ++row) {
            const bool is_corner = row == 2 * num_i;
            const int j = first_j + (is_corner ? 1 : row % 2);
            const int i = is_corner ? j : first_i + row / 2;
            if (j == R) continue;
            for (int column = std::max(first, layout.column_of(j)); column < end; ++column) {
                const int granule = (column - first) / layout.kGranule;
                const int lane = (column - first) % layout.kGranule;
                to[(static_cast<std::size_t>(granule) * num_rows + row) * layout.kGranule + lane] =
                    static_cast<T>(coefficients.w[static_cast<std::size_t>(
                        quartic_index(i, j, k_of[column], l_of[column]))]);
            }
        }
        to += static_cast<std::size_t>(num_rows) * static_cast<std::size_t>(count);
    });
    return w;
}

/// Coordinates beyond it count as at it: there forces would no longer be finite numbers. With all
/// |q| at most this (and at least 1), 12 Σ|w| |q|³ bounds every sum of the force and 12 Σ|w| |q|⁴
/// the energy, which is a double at any precision.
template <class T>
double coordinate_limit(double sum) {
    const double largest = 1e-2 * std::numeric_limits<T>::max() / (12 * std::max(sum, 1.0));
    return std::is_same_v<T, double> ? std::sqrt(std::sqrt(largest)) : std::cbrt(largest);
}

template <class T>
class PolynomialForce final : public ReducedForce {
public:
    explicit PolynomialForce(const ReducedCoefficients& coefficients)
        : r_(coefficients.r), w_(arrange<T>(coefficients)) {
        double sum = 0;
        for (const double w : coefficients.w) sum += std::abs(w);
        limit_ = coordinate_limit<T>(sum);
        // also NaN
        if (!(limit_ >= 1))
            throw InputError("", "the coefficients of the reduced energy add up to " +
                                     std::to_string(sum) + " J, beyond the range of " +
                                     (std::is_same_v<T, double> ? "numbers; check the material and "
                                                                  "the scale of the basis"
                                                                : "single precision; use double"));
    }

    [[nodiscard]] int size() const noexcept override { return r_; }
    [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
        return std::make_unique<Scratch>(r_ + 1);
    }

    [[nodiscard]] double energy(const ConstRef& q, Workspace& ws) const noexcept override {
        // Euler: 4 W = Σ q_a ∂W/∂q_a, with q₀ = 1
        const QuarticEvaluation<T> evaluation = prepare(q, ws);
        quartic_gradient(evaluation);
        double sum = 0;
        for (int a = 0; a <= r_; ++a)
            sum += static_cast<double>(evaluation.gradient[a]) * evaluation.q[a];
        return sum / 4;
    }

    void force(const ConstRef& q, Eigen::Ref<Eigen::VectorXd> R,
               Workspace& ws) const noexcept override {
        const QuarticEvaluation<T> evaluation = prepare(q, ws);
        quartic_gradient(evaluation);
        copy_force(evaluation, R);
    }

    void force_and_stiffness(const ConstRef& q, Eigen::Ref<Eigen::VectorXd> R,
                             Eigen::Ref<Eigen::MatrixXd> K, Workspace& ws) const noexcept override {
        assert(K.rows() == r_ && K.cols() == r_);
        const QuarticEvaluation<T> evaluation = prepare(q, ws);
        quartic_hessian(evaluation, K.data(), K.outerStride());
        copy_force(evaluation, R);
    }

private:
    struct Scratch final : Workspace {
        explicit Scratch(int R)
            : q(static_cast<std::size_t>(QuarticLayout<T>{R}.padded())),
              products(QuarticLayout<T>{R}.num_products()),
              sums(QuarticLayout<T>{R}.num_sums()),
              matrix(QuarticLayout<T>{R}.matrix_size()),
              gradient(static_cast<std::size_t>(QuarticLayout<T>{R}.padded())) {}
        AlignedArray<T> q, products, sums, matrix, gradient;
    };

    QuarticEvaluation<T> prepare(const ConstRef& q, Workspace& ws) const noexcept {
        assert(q.size() == r_);
        auto& scratch = static_cast<Scratch&>(ws);
        T* const variables = scratch.q.data();
        variables[0] = 1;
        // what is not finite stays so, for the caller to see
        for (int i = 0; i < r_; ++i)
            variables[i + 1] = static_cast<T>(
                std::isfinite(q[i]) ? std::min(std::max(q[i], -limit_), limit_) : q[i]);
        return {r_ + 1,
                w_.data(),
                variables,
                scratch.products.data(),
                scratch.sums.data(),
                scratch.matrix.data(),
                scratch.gradient.data()};
    }

    void copy_force(const QuarticEvaluation<T>& evaluation,
                    Eigen::Ref<Eigen::VectorXd> R) const noexcept {
        assert(R.size() == r_);
        for (int i = 0; i < r_; ++i) R[i] = evaluation.gradient[i + 1];
    }

    int r_;
    AlignedArray<T> w_;
    double limit_ = 0;
};

}  // namespace

std::unique_ptr<ReducedForce> make_polynomial_force(const ReducedCoefficients& coefficients,
                                                    Precision precision) {
    if (coefficients.r < 1 || coefficients.r > kMaxSize)
        throw InputError(
            "", "reduced coordinates of a polynomial", std::to_string(coefficients.r),
            "1 to " + std::to_string(kMaxSize) + "; direct evaluation takes any number");
    assert(std::ssize(coefficients.w) == num_quartic(coefficients.r));
    if (precision == Precision::Single)
        return std::make_unique<PolynomialForce<float>>(coefficients);
    return std::make_unique<PolynomialForce<double>>(coefficients);
}

}  // namespace pliant
