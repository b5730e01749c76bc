#include "pliant/reduction/material_points.h"

#include "geometry/trilinear.h"
#include "pliant/core/parallel.h"

#include <Eigen/LU>
#include <algorithm>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Row a is ∇φ_a; tets use the first four.
using Gradients = Eigen::Matrix<double, 8, 3>;

/// Gradients of the shape functions that carry a point.
class ShapeGradients {
public:
    explicit ShapeGradients(const VolumeMesh& mesh) : mesh_(mesh) {}

    [[nodiscard]] Gradients at(int element, const Vector3d& p) const {
        return mesh_.kind == ElementKind::Tet4 ? of_tet(element) : of_hex(element, p);
    }

private:
    [[nodiscard]] Gradients of_tet(int element) const {
        const auto nodes = mesh_.element(element);
        const Vector3d& x0 = mesh_.vertices[nodes[0]];
        Matrix3d edges;
        for (int k = 0; k < 3; ++k) edges.col(k) = mesh_.vertices[nodes[k + 1]] - x0;
        Gradients gradients = Gradients::Zero();
        gradients.middleRows<3>(1) = edges.inverse();
        gradients.row(0) = -gradients.middleRows<3>(1).colwise().sum();
        return gradients;
    }
    [[nodiscard]] Gradients of_hex(int element, const Vector3d& p) const {
        const TrilinearMap map(mesh_, element);
        const Vector3d xi = natural_coordinates(map, p);
        return hex_shape_gradient(xi) * map.jacobian(xi).inverse();
    }
    /// Newton on x(ξ) = p, kept in the element: points outside end on its surface.
    static Vector3d natural_coordinates(const TrilinearMap& map, const Vector3d& p) {
        Vector3d xi = Vector3d::Zero();
        for (int iteration = 0; iteration < 25; ++iteration) {
            const Vector3d step = map.jacobian(xi).inverse() * (p - map.point(xi));
            const Vector3d next = (xi + step).cwiseMax(-1).cwiseMin(1);
            const double change = (next - xi).lpNorm<Eigen::Infinity>();
            xi = next;
            if (change < 1e-12) break;
        }
        return xi;
    }

    const VolumeMesh& mesh_;
};

/// U_a of each vertex, 3 × r by columns, one after the other; hanging vertices follow their
/// masters, as in Embedding.
std::vector<double> vertex_modes(const ReducedModel& model, const VolumeMesh& mesh) {
    const auto U = model.basis();
    const auto r = static_cast<std::size_t>(U.cols());
    std::vector<double> modes(3 * r * mesh.vertices.size());
    parallel_for(mesh.vertices.size(), 256, [&](std::size_t a) {
        double* const block = modes.data() + 3 * r * a;
        for (std::size_t j = 0; j < r; ++j) {
            const double* const u = U.col(static_cast<Eigen::Index>(j)).data() + 3 * a;
            std::copy(u, u + 3, block + 3 * j);
        }
    });
    for (const HangingNode& node : mesh.hanging) {
        double* const block = modes.data() + 3 * r * static_cast<std::size_t>(node.vertex);
        std::fill(block, block + 3 * r, 0.0);
        for (int m = 0; m < node.num_masters; ++m) {
            const double* const master =
                modes.data() + 3 * r * static_cast<std::size_t>(node.masters[m]);
            for (std::size_t k = 0; k < 3 * r; ++k) block[k] += node.weight * master[k];
        }
    }
    return modes;
}

/// F_j of a point, docs/reduction.md section "Material points".
void add_gradient_modes(std::span<const int> nodes, const Gradients& gradients,
                        const std::vector<double>& modes, std::size_t r, double* F) {
    for (std::size_t a = 0; a < nodes.size(); ++a) {
        const double* const U = modes.data() + 3 * r * static_cast<std::size_t>(nodes[a]);
        for (std::size_t j = 0; j < r; ++j)
            for (int k = 0; k < 3; ++k) {
                const double slope = gradients(static_cast<Eigen::Index>(a), k);
                for (std::size_t c = 0; c < 3; ++c)
                    F[9 * j + 3 * static_cast<std::size_t>(k) + c] += slope * U[3 * j + c];
            }
    }
}

}  // namespace

MaterialPoints material_points(const ReducedModel& model, const std::vector<Vector3d>& points,
                               bool has_gradients) {
    const VolumeMesh mesh = model.mesh();
    const Embedding embedding(mesh, points);
    const std::vector<double> modes = vertex_modes(model, mesh);
    const auto r = static_cast<std::size_t>(model.rank());
    const ShapeGradients shape_gradients(mesh);

    MaterialPoints result;
    result.r = model.rank();
    result.rest = points;
    result.num_outside = embedding.num_outside();
    result.modes.resize(3 * r * points.size());
    if (has_gradients) result.gradients.resize(9 * r * points.size());
    parallel_for(points.size(), 256, [&](std::size_t s) {
        // U_s = Σ_a w_a U_a
        double* const U = result.modes.data() + 3 * r * s;
        for (int k = embedding.start()[s]; k < embedding.start()[s + 1]; ++k) {
            const double w = embedding.weights()[k];
            const double* const block =
                modes.data() + 3 * r * static_cast<std::size_t>(embedding.vertices()[k]);
            for (std::size_t i = 0; i < 3 * r; ++i) U[i] += w * block[i];
        }
        if (!has_gradients) return;
        const int element = embedding.elements()[s];
        add_gradient_modes(mesh.element(element), shape_gradients.at(element, points[s]), modes, r,
                           result.gradients.data() + 9 * r * s);
    });
    return result;
}

}  // namespace pliant
