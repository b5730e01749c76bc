#include "pliant/fem/constraints.h"

#include "core/dense_algebra.h"
#include "core/jacobi_eigen.h"
#include "fem/check_node.h"
#include "geometry/disjoint_sets.h"
#include "pliant/core/error.h"

#include <cassert>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

/// Relative to the largest, eigenvalues and lengths below this count as zero.
constexpr double kZero = 1e-10;

/// `x`, or `(0.71, 0.71, 0)`.
std::string direction_name(const Vector3d& direction) {
    int axis = 0;
    const double largest = direction.cwiseAbs().maxCoeff(&axis);
    if (largest > 1 - 1e-6) return std::string(1, "xyz"[axis]);
    std::string text = "(";
    for (int k = 0; k < 3; ++k) {
        // the sign that makes the largest component positive; no −0
        const double value = std::round(100 * direction[k] * (direction[axis] < 0 ? -1 : 1)) / 100;
        char digits[16];
        std::snprintf(digits, sizeof digits, "%.3g", value == 0 ? 0.0 : value);
        text += digits + std::string(k < 2 ? ", " : ")");
    }
    return text;
}

/// Orthonormal directions that span the columns of A, coordinate axes first.
std::vector<Vector3d> spanning_directions(const MatrixXd& A) {
    std::vector<Vector3d> directions;
    if (A.cols() == 0) return directions;
    const SmallEigen<3> eigen = jacobi_eigen<3>(A * A.transpose());
    Matrix3d projector = Matrix3d::Zero();
    for (int k = 0; k < 3; ++k)
        if (eigen.values[k] > kZero)
            projector += eigen.vectors.col(k) * eigen.vectors.col(k).transpose();
    for (int k = 0; k < 3; ++k)
        if (projector(k, k) > 1 - 1e-6) {
            directions.push_back(Vector3d::Unit(k));
            projector.row(k).setZero();
            projector.col(k).setZero();
        }
    const SmallEigen<3> rest = jacobi_eigen<3>(projector);
    for (int k = 0; k < 3; ++k)
        if (rest.values[k] > 0.5) directions.push_back(rest.vectors.col(k));
    return directions;
}

/// Orthonormal columns (translation, rotation about `centre` times `size`) that violate none of the
/// conditions on the nodes of one part.
MatrixXd free_motions(const std::vector<Vector3d>& positions, const Constraints& constraints,
                      const std::vector<int>& nodes, const Vector3d& centre, double size) {
    Matrix6 gram = Matrix6::Zero();
    for (const int node : nodes)
        for (int axis = 0; axis < 3; ++axis) {
            if (!constraints.is_prescribed(node, axis)) continue;
            Eigen::Matrix<double, 6, 1> row;  // component of t + ω × r, linear in (t, ω)
            const Vector3d r = (positions[node] - centre) / size;
            row << Vector3d::Unit(axis), r.cross(Vector3d::Unit(axis));
            gram += row * row.transpose();
        }
    const SmallEigen<6> eigen = jacobi_eigen<6>(gram);
    int count = 0;  // eigenvalues ascend
    while (count < 6 && eigen.values[count] <= kZero * std::max(eigen.values[5], 1.0)) ++count;
    return eigen.vectors.leftCols(count);
}

std::vector<std::string> names_of(const MatrixXd& motions) {
    std::vector<std::string> names;
    if (motions.cols() == 0) return names;
    // translations are the combinations without rotation
    const MatrixXd rotations = motions.bottomRows(3);
    const SymmetricEigen eigen = symmetric_eigen(rotations.transpose() * rotations);
    int count = 0;
    while (count < motions.cols() && eigen.values[count] <= kZero) ++count;
    const MatrixXd translations = motions.topRows(3) * eigen.vectors.leftCols(count);
    for (const Vector3d& d : spanning_directions(translations))
        names.push_back("translation along " + direction_name(d));
    for (const Vector3d& d : spanning_directions(rotations))
        names.push_back("rotation about " + direction_name(d));
    return names;
}

/// Node lists of the parts, each ascending, ordered by their lowest node.
std::vector<std::vector<int>> connected_parts(const VolumeMesh& mesh) {
    DisjointSets sets(mesh.num_vertices());
    for (int e = 0; e < mesh.num_elements(); ++e)
        for (const int node : mesh.element(e)) sets.join(mesh.element(e)[0], node);
    const auto [part_of, num_parts] = sets.numbered();
    std::vector<std::vector<int>> parts(static_cast<std::size_t>(num_parts));
    for (int node = 0; node < mesh.num_vertices(); ++node) parts[part_of[node]].push_back(node);
    return parts;
}

}  // namespace

Constraints::Constraints(int num_nodes)
    : is_given_(3 * static_cast<std::size_t>(num_nodes), 0),
      displacements_(Eigen::VectorXd::Zero(3 * num_nodes)) {}

void Constraints::fix(std::span<const int> nodes) {
    for (const int node : nodes)
        for (int axis = 0; axis < 3; ++axis) prescribe(node, axis, 0.0);
}

void Constraints::prescribe(int node, int axis, double displacement) {
    assert(axis >= 0 && axis < 3);
    check_node(node, num_nodes());
    if (!std::isfinite(displacement)) {
        std::ostringstream text;
        text << displacement << " m";
        throw InputError(
            "", "displacement." + std::string(1, "xyz"[axis]) + " of node " + std::to_string(node),
            text.str(), "a finite value");
    }
    is_given_[3 * node + axis] = 1;
    displacements_[3 * node + axis] = displacement;
}

std::vector<int> Constraints::held_nodes() const {
    std::vector<int> nodes;
    for (int node = 0; node < num_nodes(); ++node)
        if (is_prescribed(node, 0) && is_prescribed(node, 1) && is_prescribed(node, 2))
            nodes.push_back(node);
    return nodes;
}

FreeMotions free_rigid_motions(const VolumeMesh& mesh, const Constraints& constraints) {
    assert(constraints.num_nodes() == mesh.num_vertices());
    const auto parts = connected_parts(mesh);
    for (const std::vector<int>& nodes : parts) {
        Vector3d low = mesh.vertices[nodes[0]], high = low;
        for (const int node : nodes) {
            low = low.cwiseMin(mesh.vertices[node]);
            high = high.cwiseMax(mesh.vertices[node]);
        }
        const double size = std::max((high - low).maxCoeff(), 1e-300);
        const MatrixXd motions =
            free_motions(mesh.vertices, constraints, nodes, 0.5 * (low + high), size);
        if (motions.cols() > 0) return {nodes[0], parts.size() == 1, names_of(motions)};
    }
    return {};
}

void check_supported(const VolumeMesh& mesh, const Constraints& constraints) {
    const FreeMotions motions = free_rigid_motions(mesh, constraints);
    if (motions.names.empty()) return;
    std::string text = motions.is_whole_body
                           ? "the body"
                           : "the part with vertex " + std::to_string(motions.vertex);
    text += " is free to move (";
    for (std::size_t k = 0; k < motions.names.size(); ++k)
        text += (k > 0 ? ", " : "") + motions.names[k];
    throw InputError("", text +
                             "), so that it has no static equilibrium; hold more of it, three "
                             "vertices that are not on a line at best");
}

}  // namespace pliant
