#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>

#include "pliant/geometry/structured_mesh.h"
#include "pliant/greens/capacitance_solver.h"
#include "tests/greens/synthetic_greens.h"

namespace pliant::test {

/// A box of linear tetrahedra condensed to its surface, K u − M p = f with lumped areas, standing
/// on fixed nodes at z = 0; in units of its length and shear modulus.
struct ElasticBox {
    Eigen::MatrixXd K;        // condensed
    Eigen::VectorXd gravity;  // condensed load of a unit body force along −z
    Eigen::VectorXd M;        // diagonal
    std::vector<NodeKind> kinds;
    SyntheticGreens greens;  // one body column

    [[nodiscard]] ReferenceProblem reference(double length = 1, double modulus = 1) const {
        ReferenceProblem problem;
        problem.functions = greens.functions;
        problem.kinds = kinds;
        for (const Eigen::Vector3d& x : greens.positions) problem.positions.push_back(length * x);
        for (int node = 0; node < static_cast<int>(kinds.size()); ++node)
            problem.areas.push_back(M[3 * node] * length * length);
        problem.length = length;
        problem.modulus = modulus;
        return problem;
    }
};

inline ElasticBox elastic_box() {
    const int nx = 4, ny = 3, nz = 3;
    const double nu = 0.3, lambda = 2 * nu / (1 - 2 * nu);
    const VolumeMesh mesh =
        tet_box(nx, ny, nz, Box(Eigen::Vector3d(0, 0, 0), Eigen::Vector3d(1, 0.75, 0.75)));
    // surface nodes first
    std::vector<int> place(at(mesh.num_vertices()), -1);
    ElasticBox box;
    const auto is_surface = [&](int v) {
        const int i = v % (nx + 1), j = v / (nx + 1) % (ny + 1), k = v / ((nx + 1) * (ny + 1));
        return i % nx == 0 || j % ny == 0 || k % nz == 0;
    };
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (is_surface(v)) {
            place[at(v)] = static_cast<int>(box.greens.positions.size());
            box.greens.positions.push_back(mesh.vertices[at(v)]);
        }
    const int num_surface = static_cast<int>(box.greens.positions.size());
    int next = num_surface;
    for (int& p : place)
        if (p < 0) p = next++;

    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(3 * next, 3 * next);
    Eigen::VectorXd f = Eigen::VectorXd::Zero(3 * next);
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const auto nodes = mesh.element(e);
        Eigen::Matrix3d edges;
        for (int k = 0; k < 3; ++k)
            edges.col(k) = mesh.vertices[at(nodes[at(k + 1)])] - mesh.vertices[at(nodes[0])];
        const double volume = edges.determinant() / 6;
        Eigen::Matrix<double, 3, 4> gradients;
        gradients.rightCols<3>() = edges.inverse().transpose();
        gradients.col(0) = -gradients.rightCols<3>().rowwise().sum();
        for (int a = 0; a < 4; ++a) {
            const int row = 3 * place[at(nodes[at(a)])];
            f[row + 2] -= volume / 4;
            for (int b = 0; b < 4; ++b) {
                const Eigen::Vector3d ga = gradients.col(a), gb = gradients.col(b);
                K.block<3, 3>(row, 3 * place[at(nodes[at(b)])]) +=
                    volume * (lambda * ga * gb.transpose() + gb * ga.transpose() +
                              ga.dot(gb) * Eigen::Matrix3d::Identity());
            }
        }
    }
    const int s = 3 * num_surface, inner = 3 * next - s;
    const Eigen::MatrixXd eliminated = solve_dense(K.bottomRightCorner(inner, inner),
                                                   Eigen::MatrixXd(K.bottomLeftCorner(inner, s)));
    box.K = K.topLeftCorner(s, s) - K.topRightCorner(s, inner) * eliminated;
    box.gravity = f.head(s) - eliminated.transpose() * f.tail(inner);
    box.M = Eigen::VectorXd::Constant(s, 4.125 / num_surface);

    Eigen::MatrixXd A = box.K, A_bar = -Eigen::MatrixXd(box.M.asDiagonal());
    for (int node = 0; node < num_surface; ++node) {
        const bool is_fixed = box.greens.positions[at(node)].z() < 1e-9;
        box.kinds.push_back(is_fixed ? NodeKind::Fixed : NodeKind::Free);
        if (is_fixed)
            for (int k = 3 * node; k < 3 * node + 3; ++k) A.col(k).swap(A_bar.col(k));
    }
    const auto positions = box.greens.positions;
    box.greens = finish_synthetic(-solve_dense(A, A_bar), solve_dense(A, box.gravity), 3, 1);
    box.greens.positions = positions;
    box.greens.A = A;
    box.greens.A_bar = A_bar;
    box.greens.B = box.gravity;
    return box;
}

}  // namespace pliant::test
