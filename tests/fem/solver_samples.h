#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/// Symmetric matrices on which solvers are tested and measured.
namespace pliant::test {

/// Stiffness of a trilinear unit cube of isotropic material with Young's modulus 1. Node a sits at
/// (a & 1, a >> 1 & 1, a >> 2).
inline Eigen::Matrix<double, 24, 24> cube_stiffness(double poisson_ratio) {
    const double mu = 0.5 / (1 + poisson_ratio);
    const double lambda = poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
    Eigen::Matrix<double, 24, 24> K = Eigen::Matrix<double, 24, 24>::Zero();
    for (int point = 0; point < 8; ++point) {
        // gradients of the shape functions at a Gauss point
        Eigen::Matrix<double, 3, 8> G;
        for (int a = 0; a < 8; ++a) {
            double value[3], slope[3];
            for (int axis = 0; axis < 3; ++axis) {
                const double x = 0.5 + ((point >> axis & 1) != 0 ? 0.5 : -0.5) / std::sqrt(3.0);
                const bool upper = (a >> axis & 1) != 0;
                value[axis] = upper ? x : 1 - x;
                slope[axis] = upper ? 1 : -1;
            }
            G.col(a) << slope[0] * value[1] * value[2], value[0] * slope[1] * value[2],
                value[0] * value[1] * slope[2];
        }
        for (int a = 0; a < 8; ++a)
            for (int b = 0; b < 8; ++b)
                K.block<3, 3>(3 * a, 3 * b) +=
                    0.125 * (lambda * G.col(a) * G.col(b).transpose() +
                             mu * G.col(b) * G.col(a).transpose() +
                             mu * G.col(a).dot(G.col(b)) * Eigen::Matrix3d::Identity());
    }
    return K;
}

/// Stiffness of nx × ny × nz cubes, three unknowns per node. With `clamped` the nodes of the face
/// z = 0 are left out; without, the six rigid motions are in the kernel.
inline Eigen::SparseMatrix<double> elasticity_matrix(int nx, int ny, int nz, bool clamped = true,
                                                     double poisson_ratio = 0.3) {
    const Eigen::Matrix<double, 24, 24> K = cube_stiffness(poisson_ratio);
    const int layer = (nx + 1) * (ny + 1), first = clamped ? layer : 0;
    const int n = 3 * (layer * (nz + 1) - first);
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(static_cast<std::size_t>(nx) * ny * nz * 576);
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) {
                int nodes[8];
                for (int a = 0; a < 8; ++a)
                    nodes[a] = (z + (a >> 2)) * layer + (y + (a >> 1 & 1)) * (nx + 1) + x +
                               (a & 1) - first;
                for (int a = 0; a < 24; ++a)
                    for (int b = 0; b < 24; ++b)
                        if (nodes[a / 3] >= 0 && nodes[b / 3] >= 0)
                            entries.emplace_back(3 * nodes[a / 3] + a % 3, 3 * nodes[b / 3] + b % 3,
                                                 K(a, b));
            }
    Eigen::SparseMatrix<double> A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

/// Seven-point Laplacian of an m × m × m grid with zero values around it.
inline Eigen::SparseMatrix<double> laplacian(int m) {
    std::vector<Eigen::Triplet<double>> entries;
    const int stride[3] = {1, m, m * m};
    for (int i = 0; i < m * m * m; ++i) {
        entries.emplace_back(i, i, 6.0);
        for (const int s : stride)
            if (i / s % m + 1 < m) {
                entries.emplace_back(i, i + s, -1.0);
                entries.emplace_back(i + s, i, -1.0);
            }
    }
    Eigen::SparseMatrix<double> A(m * m * m, m * m * m);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

/// Each pair of unknowns is coupled with the given probability; strictly diagonally dominant.
inline Eigen::SparseMatrix<double> random_definite(int n, double probability, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<double> sums(static_cast<std::size_t>(n), 0.1);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j)
            if (uniform() < probability) {
                const double value = 2 * uniform() - 1;
                entries.emplace_back(i, j, value);
                entries.emplace_back(j, i, value);
                sums[i] += std::abs(value);
                sums[j] += std::abs(value);
            }
    for (int i = 0; i < n; ++i) entries.emplace_back(i, i, sums[i]);
    Eigen::SparseMatrix<double> A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    return A;
}

/// Numbers between −1 and 1, the same on every platform.
inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    return Eigen::MatrixXd::NullaryExpr(
        rows, columns, [&] { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1; });
}

}  // namespace pliant::test
