#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "core/dense_algebra.h"
#include "core/numbers.h"
#include "pliant/greens/capacitance_inverse.h"

namespace pliant::test {

/// A reference problem A₀ v + Ā₀ v̄ = B β whose Green's functions are exact in single precision, so
/// that results in double can be compared to rounding.
struct SyntheticGreens {
    Eigen::MatrixXd A, A_bar, B, Xi;
    std::vector<Eigen::Vector3d> positions;
    std::shared_ptr<const DenseGreensFunctions> functions;
};

inline Eigen::MatrixXd random_matrix(int rows, int cols, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Eigen::MatrixXd matrix(rows, cols);
    for (int j = 0; j < cols; ++j)
        for (int i = 0; i < rows; ++i) matrix(i, j) = uniform(random);
    return matrix;
}

inline Eigen::MatrixXd rounded_to_float(const Eigen::MatrixXd& matrix) {
    return matrix.cast<float>().cast<double>();
}

/// Fills in what follows from Ξ and the columns of body forces A⁻¹B.
inline SyntheticGreens finish_synthetic(const Eigen::MatrixXd& Xi, const Eigen::MatrixXd& body,
                                        int block, unsigned seed) {
    SyntheticGreens greens;
    const int size = static_cast<int>(Xi.rows()), num_nodes = size / block;
    greens.Xi = rounded_to_float(Xi);
    const Eigen::MatrixXd rounded_body = rounded_to_float(body);
    greens.A = Eigen::MatrixXd::Identity(size, size) +
               0.5 / std::sqrt(size) * random_matrix(size, size, seed + 1);
    greens.A_bar = -greens.A * greens.Xi;
    greens.B = greens.A * rounded_body;
    DenseGreensLayout layout{.num_nodes = num_nodes,
                             .block = block,
                             .columns = {},
                             .num_body_columns = static_cast<int>(body.cols()),
                             .num_readouts = 0};
    for (int node = 0; node < num_nodes; ++node) layout.columns.push_back(node);
    auto functions = std::make_shared<DenseGreensFunctions>(layout);
    for (int node = 0; node < num_nodes; ++node)
        functions->set_column(node, greens.Xi.middleCols(block * node, block));
    for (int k = 0; k < body.cols(); ++k) functions->set_body_column(k, rounded_body.col(k));
    greens.functions = functions;
    return greens;
}

/// Any system whose principal submatrices are well-conditioned.
inline SyntheticGreens random_greens(int num_nodes, unsigned seed, int block = 3) {
    const int size = block * num_nodes;
    const Eigen::MatrixXd Xi = Eigen::MatrixXd::Identity(size, size) +
                               0.6 / std::sqrt(size) * random_matrix(size, size, seed);
    return finish_synthetic(Xi, random_matrix(size, 2, seed + 2), block, seed);
}

/// Compliance of a full space between points of a sphere, smoothed over their spacing: as smooth
/// and as conditioned as that of an elastic body.
inline SyntheticGreens sphere_greens(int num_nodes) {
    const double spacing = std::sqrt(4 * std::numbers::pi / num_nodes), nu = 0.3;
    std::vector<Eigen::Vector3d> points;
    for (int i = 0; i < num_nodes; ++i) {
        const double z = 1 - (2 * i + 1.0) / num_nodes, turn = 2.399963229728653 * i;
        const double ring = std::sqrt(1 - z * z);
        points.emplace_back(ring * std::cos(turn), ring * std::sin(turn), z);
    }
    Eigen::MatrixXd Xi(3 * num_nodes, 3 * num_nodes);
    for (int i = 0; i < num_nodes; ++i)
        for (int j = 0; j < num_nodes; ++j) {
            const Eigen::Vector3d r = points[at(i)] - points[at(j)];
            const double smooth = std::sqrt(r.squaredNorm() + 0.3 * spacing * spacing);
            Xi.block<3, 3>(3 * i, 3 * j) = spacing * spacing /
                                           (16 * std::numbers::pi * (1 - nu) * smooth) *
                                           ((3 - 4 * nu) * Eigen::Matrix3d::Identity() +
                                            r * r.transpose() / (smooth * smooth));
        }
    SyntheticGreens greens = finish_synthetic(Xi, Eigen::MatrixXd(3 * num_nodes, 0), 3, 1);
    greens.positions = points;
    return greens;
}

/// The three axes of each node.
inline std::vector<ChangedDof> whole_nodes(const std::vector<int>& nodes) {
    std::vector<ChangedDof> dofs;
    for (const int node : nodes)
        for (int k = 0; k < 3; ++k) dofs.push_back({node, Eigen::Vector3d::Unit(k)});
    return dofs;
}

/// The first `count` of a shuffled 0 … num_nodes − 1, from `first`.
inline std::vector<int> some_nodes(int num_nodes, int first, int count, unsigned seed) {
    std::vector<int> all;
    for (int node = 0; node < num_nodes; ++node) all.push_back(node);
    std::mt19937 random(seed);
    for (int k = num_nodes - 1; k > 0; --k) std::swap(all[at(k)], all[random() % at(k + 1)]);
    return {all.begin() + first, all.begin() + first + count};
}

/// Columns d of E, one for each condition.
inline Eigen::MatrixXd selector(const std::vector<ChangedDof>& dofs, int num_nodes, int block = 3) {
    Eigen::MatrixXd E =
        Eigen::MatrixXd::Zero(block * num_nodes, static_cast<Eigen::Index>(dofs.size()));
    for (std::size_t k = 0; k < dofs.size(); ++k)
        E.col(static_cast<Eigen::Index>(k)).segment(block * dofs[k].node, block) =
            dofs[k].direction.head(block);
    return E;
}

inline Eigen::MatrixXd dense_inverse(const Eigen::MatrixXd& matrix) {
    return solve_dense(matrix, Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols()));
}

}  // namespace pliant::test
