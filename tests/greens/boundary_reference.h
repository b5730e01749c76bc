#pragma once

#include <algorithm>
#include <array>
#include <numbers>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "core/numbers.h"
#include "greens/boundary_nodes.h"
#include "greens/graded_quadrature.h"
#include "greens/kelvin.h"
#include "greens/triangle_rules.h"
#include "pliant/greens/boundary_elements.h"

namespace pliant::test {

/// Rows of H u = G p, one kernel at a time, plainly.
class BoundaryReference {
public:
    BoundaryReference(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                      const BoundaryOptions& options)
        : mesh_(mesh), nodes_(nodes), options_(options), factors_(options.poisson_ratio) {}

    struct Row {
        Eigen::MatrixXd G, H;  // block rows
    };
    [[nodiscard]] Row row(int target) const {
        const int block = options_.physics == BoundaryPhysics::Elastic ? 3 : 1;
        Row row;
        row.G = row.H = Eigen::MatrixXd::Zero(block, block * nodes_.num_nodes());
        const Eigen::Vector3d x = nodes_.targets[at(target)];
        for (int t = 0; t < mesh_.num_triangles(); ++t) {
            const TriangleCorners corners{mesh_.corner(t, 0), mesh_.corner(t, 1),
                                          mesh_.corner(t, 2)};
            const Eigen::Vector3d area_normal =
                (corners[1] - corners[0]).cross(corners[2] - corners[0]) / 2;
            const double area = area_normal.norm();
            const Eigen::Vector3d n = (options_.is_exterior ? -1 : 1) * area_normal / area;
            const auto add = [&](const Eigen::Vector3d& y, double weight_g, double weight_h,
                                 int node) {
                if (block == 1) {
                    row.G(0, node) += weight_g * laplace_potential(y - x);
                    row.H(0, node) += weight_h * laplace_flux(y - x, n);
                } else {
                    row.G.middleCols<3>(3 * node) +=
                        weight_g * kelvin_displacement(factors_, y - x);
                    row.H.middleCols<3>(3 * node) += weight_h * kelvin_traction(factors_, y - x, n);
                }
            };
            const Eigen::Vector3d home = barycentric(target, t);
            if (home.isZero()) {
                for_each_point(corners, x,
                               [&](const Eigen::Vector3d& y, const Eigen::Vector3d& phi, double w) {
                                   for (int s = 0; s < 3; ++s)
                                       add(y, area * w * phi[s], area * w * phi[s],
                                           nodes_.corner_nodes[at(t)][at(s)]);
                               });
                continue;
            }
            // triangles between x and the sides, y = x + τ (side point): the integrands are smooth
            // in τ and in the place on the side, but for φ_s(x) times the traction kernel, which
            // the sum of the row stands for
            for (int k = 0; k < 3; ++k) {
                if (home[k] == 0) continue;
                for (const LinePoint& along : side_points())
                    for (const LinePoint& radial : gauss_points_12()) {
                        Eigen::Vector3d side = Eigen::Vector3d::Zero();
                        side[(k + 1) % 3] = 1 - along.position;
                        side[(k + 2) % 3] = along.position;
                        const Eigen::Vector3d phi = home + radial.position * (side - home);
                        const Eigen::Vector3d y =
                            phi[0] * corners[0] + phi[1] * corners[1] + phi[2] * corners[2];
                        const double w =
                            2 * area * home[k] * radial.position * radial.weight * along.weight;
                        for (int s = 0; s < 3; ++s)
                            add(y, w * phi[s], w * (phi[s] - home[s]),
                                nodes_.corner_nodes[at(t)][at(s)]);
                    }
            }
        }
        close_row(target, block, row.H);
        return row;
    }

private:
    /// Of the target in a triangle; zero where it is not on it.
    [[nodiscard]] Eigen::Vector3d barycentric(int target, int t) const {
        const int home = nodes_.target_triangles[at(target)];
        Eigen::Vector3d weights = Eigen::Vector3d::Zero();
        double sum = 0;
        for (int s = 0; s < 3; ++s) {
            const int vertex = mesh_.triangles[at(t)][at(s)];
            if (home < 0)
                weights[s] = vertex == target ? 1 : 0;
            else
                for (int c = 0; c < 3; ++c)
                    if (mesh_.triangles[at(home)][at(c)] == vertex)
                        weights[s] = nodes_.target_weights[at(target)][c];
            sum += weights[s];
        }
        return sum > 1 - 1e-12 ? weights : Eigen::Vector3d::Zero();
    }
    /// Gauss's rule on short pieces, so that thin triangles are no matter.
    [[nodiscard]] static std::vector<LinePoint> side_points() {
        constexpr int kPieces = 16;
        std::vector<LinePoint> points;
        for (int piece = 0; piece < kPieces; ++piece)
            for (const LinePoint& point : gauss_points_12())
                points.push_back({(piece + point.position) / kPieces, point.weight / kPieces});
        return points;
    }
    /// A translation needs no traction (outside: that of the far sphere).
    void close_row(int target, int block, Eigen::MatrixXd& H) const {
        Eigen::MatrixXd rest = Eigen::MatrixXd::Zero(block, block);
        if (options_.is_exterior) rest.setIdentity();
        for (int node = 0; node < nodes_.num_nodes(); ++node)
            rest -= H.middleCols(block * node, block);
        const int home = nodes_.target_triangles[at(target)];
        if (home < 0)
            H.middleCols(block * target, block) += rest;
        else
            for (int s = 0; s < 3; ++s)
                H.middleCols(block * nodes_.corner_nodes[at(home)][at(s)], block) +=
                    nodes_.target_weights[at(target)][s] * rest;
    }

    const SurfaceMesh& mesh_;
    const BoundaryNodes& nodes_;
    BoundaryOptions options_;
    KelvinFactors factors_;
};

}  // namespace pliant::test
