#include "pliant/reduction/thin_samples.h"

#include "core/dense_algebra.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<int> thin_samples(const MatrixXd& samples, double distance) {
    const auto n = static_cast<int>(samples.cols());
    const double reach = distance * distance;
    // Radial kernel that ends at `distance`: samples without a near neighbour have no density. In
    // whole numbers, so that densities stay exact while samples come and go.
    const auto kernel = [reach](double squared) {
        return squared < reach ? 1 + static_cast<std::int64_t>(0x1p40 * (1 - squared / reach)) : 0;
    };
    std::vector<std::int64_t> density(static_cast<std::size_t>(n), 0);
    const auto add_to_neighbours = [&](int i, int sign) {
        const VectorXd squared = (samples.colwise() - samples.col(i)).colwise().squaredNorm();
        for (int j = 0; j < n; ++j)
            if (j != i) density[j] += sign * kernel(squared[j]);
    };
    for (int i = 0; i < n; ++i) add_to_neighbours(i, 1);

    // drop the densest
    std::vector<char> is_kept(static_cast<std::size_t>(n), 1);
    std::vector<int> dropped;
    while (true) {
        int densest = -1;
        for (int i = 0; i < n; ++i)
            if (is_kept[i] && density[i] > 0 && (densest < 0 || density[i] >= density[densest]))
                densest = i;
        if (densest < 0) break;
        is_kept[densest] = 0;
        dropped.push_back(densest);
        add_to_neighbours(densest, -1);
    }

    // bring back those whose neighbours were all dropped after them
    std::reverse(dropped.begin(), dropped.end());
    for (const int i : dropped) {
        if (density[i] > 0) continue;
        is_kept[i] = 1;
        add_to_neighbours(i, 1);
    }

    std::vector<int> kept;
    for (int i = 0; i < n; ++i)
        if (is_kept[i]) kept.push_back(i);
    return kept;
}

std::vector<int> thin_shapes(const MatrixXd& shapes, const Eigen::SparseMatrix<double>& M,
                             double fraction) {
    if (shapes.cols() == 0) return {};
    // points with the same distances: Gram matrix XᵀMX = Q S Qᵀ, points S^½ Qᵀ
    const MatrixXd gram = shapes.transpose() * (M * shapes);
    const SymmetricEigen eigen = symmetric_eigen(gram);
    const VectorXd roots = eigen.values.cwiseMax(0.0).cwiseSqrt();
    const MatrixXd points = roots.asDiagonal() * eigen.vectors.transpose();
    return thin_samples(points, fraction * std::sqrt(gram.diagonal().maxCoeff()));
}

}  // namespace pliant
