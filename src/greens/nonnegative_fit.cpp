#include "greens/nonnegative_fit.h"

#include <algorithm>
#include <vector>

#include "core/dense_algebra.h"
#include "core/numbers.h"

namespace pliant {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd nonnegative_fit(const MatrixXd& A, const VectorXd& b) {
    const Index n = A.cols();
    const VectorXd scale = A.colwise().norm().cwiseMax(1e-300).cwiseInverse();
    const MatrixXd M = A * scale.asDiagonal();
    const MatrixXd gram = M.transpose() * M;
    const VectorXd load = M.transpose() * b;
    VectorXd x = VectorXd::Zero(n);
    std::vector<Index> free;
    const double tolerance = 1e-10 * std::max(1e-300, load.lpNorm<Eigen::Infinity>());

    // least squares over the free columns; a trace of regularisation for columns that are alike
    const auto solve_free = [&] {
        const Index size = static_cast<Index>(free.size());
        MatrixXd part(size, size);
        VectorXd right(size);
        for (Index i = 0; i < size; ++i) {
            right[i] = load[free[at(static_cast<int>(i))]];
            for (Index j = 0; j < size; ++j)
                part(i, j) = gram(free[at(static_cast<int>(i))], free[at(static_cast<int>(j))]);
            part(i, i) += 1e-13;
        }
        return VectorXd(solve_dense(part, right));
    };
    for (Index round = 0; round < 3 * n; ++round) {
        // free the column that helps most
        const VectorXd slope = load - gram * x;
        Index best = -1;
        for (Index j = 0; j < n; ++j)
            if (std::find(free.begin(), free.end(), j) == free.end() && slope[j] > tolerance &&
                (best < 0 || slope[j] > slope[best]))
                best = j;
        if (best < 0) break;
        free.push_back(best);
        for (;;) {
            const VectorXd z = solve_free();
            if (z.minCoeff() > 0) {
                x.setZero();
                for (std::size_t i = 0; i < free.size(); ++i) x[free[i]] = z[static_cast<Index>(i)];
                break;
            }
            // as far towards z as all stay non-negative; what reaches zero is bound again
            double step = 1;
            for (std::size_t i = 0; i < free.size(); ++i) {
                const double to = z[static_cast<Index>(i)], from = x[free[i]];
                if (to <= 0) step = std::min(step, from / std::max(from - to, 1e-300));
            }
            for (std::size_t i = 0; i < free.size(); ++i)
                x[free[i]] += step * (z[static_cast<Index>(i)] - x[free[i]]);
            const auto bound = [&](Index j) { return x[j] <= 1e-14; };
            for (const Index j : free)
                if (bound(j)) x[j] = 0;
            free.erase(std::remove_if(free.begin(), free.end(), bound), free.end());
            if (free.empty()) break;
        }
    }
    return scale.cwiseProduct(x);
}

}  // namespace pliant
