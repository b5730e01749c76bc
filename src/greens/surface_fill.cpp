#include "greens/surface_fill.h"

#include <Eigen/Geometry>
#include <Eigen/SparseCholesky>

#include "core/numbers.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {

using Eigen::MatrixXd;
using Eigen::Vector3d;

SurfaceFill::SurfaceFill(const SurfaceMesh& mesh) : component_(mesh.vertices.size(), 0) {
    const SurfaceTopology topology(mesh);
    num_components_ = topology.num_components();
    std::vector<Eigen::Triplet<double>> entries;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const Triangle& corners = mesh.triangles[at(t)];
            component_[at(corners[at(k)])] = topology.components()[at(t)];
            // half the cotangent of the angle across the side
            const Vector3d a = mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k),
                           b = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, k);
            const double twice_area = a.cross(b).norm();
            if (!(twice_area > 0)) continue;
            const double weight = 0.5 * a.dot(b) / twice_area;
            const int i = corners[at((k + 1) % 3)], j = corners[at((k + 2) % 3)];
            entries.emplace_back(i, i, weight);
            entries.emplace_back(j, j, weight);
            entries.emplace_back(i, j, -weight);
            entries.emplace_back(j, i, -weight);
        }
    laplacian_.resize(mesh.num_vertices(), mesh.num_vertices());
    laplacian_.setFromTriplets(entries.begin(), entries.end());
}

bool SurfaceFill::fill(const std::vector<char>& is_known, Eigen::Ref<MatrixXd> values) const {
    std::vector<char> has_known(at(num_components_), 0);
    std::vector<int> place(is_known.size(), -1), unknown;
    for (std::size_t v = 0; v < is_known.size(); ++v)
        if (is_known[v]) {
            has_known[at(component_[v])] = 1;
        } else {
            place[v] = static_cast<int>(unknown.size());
            unknown.push_back(static_cast<int>(v));
        }
    if (unknown.empty()) return true;
    for (const int v : unknown)
        if (!has_known[at(component_[at(v)])]) return false;

    const auto size = static_cast<Eigen::Index>(unknown.size());
    std::vector<Eigen::Triplet<double>> entries;
    MatrixXd loads = MatrixXd::Zero(size, values.cols());
    for (Eigen::Index c = 0; c < size; ++c)
        for (Eigen::SparseMatrix<double>::InnerIterator entry(laplacian_, unknown[at(int(c))]);
             entry; ++entry) {
            const auto row = static_cast<int>(entry.row());
            if (place[at(row)] >= 0)
                entries.emplace_back(place[at(row)], static_cast<int>(c), entry.value());
            else
                loads.row(c) -= entry.value() * values.row(row);
        }
    Eigen::SparseMatrix<double> inner(size, size);
    inner.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(inner);
    if (factors.info() != Eigen::Success) return false;
    const MatrixXd found = factors.solve(loads);
    for (Eigen::Index c = 0; c < size; ++c) values.row(unknown[at(int(c))]) = found.row(c);
    return true;
}

}  // namespace pliant
