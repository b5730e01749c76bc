#include "fem/lanczos.h"

#include "core/dense_algebra.h"

#include <cmath>
#include <vector>

namespace pliant {
namespace {

constexpr int kMaxIterations = 300;
/// Between two looks at the Ritz values, which cost more than small iterations.
constexpr int kInterval = 5;

/// Fractional parts of multiples of the golden ratio: no motion is orthogonal to them.
Eigen::VectorXd start_vector(int n) {
    Eigen::VectorXd x(n);
    double phase = 0;
    for (double& component : x) {
        phase += 0.6180339887498949;
        phase -= std::floor(phase);
        component = phase - 0.5;
    }
    return x;
}

struct Ritz {
    double value, residual;
};
Ritz largest_ritz(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal) {
    const auto m = static_cast<Eigen::Index>(diagonal.size());
    const Eigen::Map<const Eigen::VectorXd> alpha(diagonal.data(), m);
    const Eigen::Map<const Eigen::VectorXd> beta(off_diagonal.data(), m - 1);
    const SymmetricEigen eigen = tridiagonal_eigen(alpha, beta);
    return {eigen.values[m - 1], off_diagonal.back() * std::abs(eigen.vectors(m - 1, m - 1))};
}

}  // namespace

double largest_eigenvalue(
    int n, const std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& Kx)>& multiply,
    const std::function<void(Eigen::VectorXd& x)>& solve_mass, double tolerance) {
    if (n == 0) return 0;
    // x and z = M x
    Eigen::VectorXd z = start_vector(n), x = z, Kx(n), z_last = Eigen::VectorXd::Zero(n);
    solve_mass(x);
    double beta = std::sqrt(x.dot(z));
    x /= beta;
    z /= beta;
    beta = 0;

    std::vector<double> diagonal, off_diagonal;
    Ritz ritz{0, 0};
    const int iterations = std::min(n, kMaxIterations);
    for (int k = 1; k <= iterations; ++k) {
        multiply(x, Kx);
        const double alpha = x.dot(Kx);
        z_last = Kx - alpha * z - beta * z_last;
        z_last.swap(z);
        x = z;
        solve_mass(x);
        const double square = x.dot(z);
        beta = square > 0 ? std::sqrt(square) : 0.0;
        diagonal.push_back(alpha);
        off_diagonal.push_back(beta);
        const bool is_invariant = beta <= 1e-12 * std::abs(alpha);
        if (k % kInterval == 0 || k == iterations || is_invariant) {
            ritz = largest_ritz(diagonal, off_diagonal);
            if (ritz.residual <= tolerance * ritz.value || is_invariant) break;
        }
        x /= beta;
        z /= beta;
    }
    return ritz.value + ritz.residual;
}

}  // namespace pliant
