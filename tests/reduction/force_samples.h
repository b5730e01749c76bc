#pragma once

#include "pliant/reduction/reduced_coefficients.h"

#include <array>
#include <random>

/// Polynomials, bases and coordinates on which reduced forces are tested.
namespace pliant::test {

inline Eigen::VectorXd random_vector(Eigen::Index size, unsigned seed, double scale = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, scale);
    return Eigen::VectorXd::NullaryExpr(size, [&] { return normal(random); });
}
inline Eigen::MatrixXd random_basis(int rows, int columns, double scale) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, scale);
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); });
}
inline Eigen::MatrixXd definite_matrix(int n) {
    const Eigen::MatrixXd B = random_basis(n, n, 1);
    return B * B.transpose() + 0.1 * n * Eigen::MatrixXd::Identity(n, n);
}
inline ReducedCoefficients random_coefficients(int r, unsigned seed) {
    ReducedCoefficients c{r, std::vector<double>(static_cast<std::size_t>(num_quartic(r)))};
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double& w : c.w) w = uniform(random);
    return c;
}

/// Energy and derivatives, and beside each the same with all terms positive, to which rounding is
/// relative. Index 0 stands for q₀ = 1.
struct ObviousSums {
    long double energy = 0, energy_size = 0;
    Eigen::VectorXd gradient, gradient_size;
    Eigen::MatrixXd hessian, hessian_size;
};
inline ObviousSums obvious_sums(const ReducedCoefficients& c, const Eigen::VectorXd& q) {
    const int R = c.r + 1;
    Eigen::VectorXd p(R);
    p << 1, q;
    ObviousSums sums;
    sums.gradient = sums.gradient_size = Eigen::VectorXd::Zero(R);
    sums.hessian = sums.hessian_size = Eigen::MatrixXd::Zero(R, R);
    for (int l = 0; l < R; ++l)
        for (int k = 0; k <= l; ++k)
            for (int j = 0; j <= k; ++j)
                for (int i = 0; i <= j; ++i) {
                    const double w = c.w[static_cast<std::size_t>(quartic_index(i, j, k, l))];
                    const std::array<int, 4> index{i, j, k, l};
                    const double term = w * p[i] * p[j] * p[k] * p[l];
                    sums.energy += term;
                    sums.energy_size += std::abs(term);
                    for (int a = 0; a < 4; ++a) {
                        double first = w;
                        for (int b = 0; b < 4; ++b)
                            if (b != a) first *= p[index[b]];
                        sums.gradient[index[a]] += first;
                        sums.gradient_size[index[a]] += std::abs(first);
                        for (int b = 0; b < 4; ++b) {
                            if (b == a) continue;
                            double second = w;
                            for (int d = 0; d < 4; ++d)
                                if (d != a && d != b) second *= p[index[d]];
                            sums.hessian(index[a], index[b]) += second;
                            sums.hessian_size(index[a], index[b]) += std::abs(second);
                        }
                    }
                }
    return sums;
}

/// Bound of |computed − exact| / (sum of the sizes of all terms): every sum has at most some
/// hundred roundings in a row, which do not all go one way; the coefficient, its product and the
/// result round as well.
template <class T>
constexpr double kRoundingBound = 16.0 * std::numeric_limits<T>::epsilon();

}  // namespace pliant::test
