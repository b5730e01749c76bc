#include "pliant/greens/strain_monitor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <Eigen/Geometry>

#include "core/jacobi_eigen.h"
#include "core/numbers.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/greens/hierarchical_basis.h"

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void StrainReading::merge(const StrainReading& other) noexcept {
    strain = std::max(strain, other.strain);
    rotation = std::max(rotation, other.rotation);
    displacement = std::max(displacement, other.displacement);
    if (other.use > use) {
        use = other.use;
        triangle = other.triangle;
    }
}

StrainReading reading_of(const Matrix3d& gradient, const Vector3d& displacement,
                         const StrainLimits& limits, int triangle) noexcept {
    StrainReading reading;
    if (!gradient.allFinite() || !displacement.allFinite()) return reading;
    const Matrix3d strain = 0.5 * (gradient + gradient.transpose());
    const auto eigen = jacobi_eigen<3>(strain);
    reading.strain = std::max(std::abs(eigen.values[0]), std::abs(eigen.values[2]));
    reading.rotation =
        0.5 * Vector3d(gradient(2, 1) - gradient(1, 2), gradient(0, 2) - gradient(2, 0),
                       gradient(1, 0) - gradient(0, 1))
                  .norm();
    reading.displacement = displacement.norm();
    reading.use = std::max({reading.strain / limits.strain, reading.rotation / limits.rotation,
                            reading.displacement / limits.displacement});
    reading.triangle = triangle;
    return reading;
}

Matrix3d surface_gradient(const std::array<Vector3d, 3>& corners, const std::array<Vector3d, 3>& u,
                          const Vector3d& traction, double poisson_ratio) noexcept {
    const Vector3d area = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    const double square = area.squaredNorm();
    if (!(square > 0)) return Matrix3d::Zero();
    const Vector3d n = area / std::sqrt(square);
    // along the surface
    Matrix3d H = Matrix3d::Zero();
    for (std::size_t k = 0; k < 3; ++k)
        H += u[k] * area.cross(corners[(k + 2) % 3] - corners[(k + 1) % 3]).transpose() / square;
    // across it, from σ n = p
    const double nu = poisson_ratio;
    const double p_n = traction.dot(n);
    const Vector3d a_t = traction - p_n * n - H.transpose() * n;
    const double a_n = ((1 - 2 * nu) * p_n / 2 - nu * H.trace()) / (1 - nu);
    return H + (a_t + a_n * n) * n.transpose();
}

StrainMonitor::StrainMonitor(std::shared_ptr<const GreensModel> model,
                             const StrainMonitorOptions& options)
    : model_(std::move(model)), limits_(options.limits) {
    if (model_->reference.functions->block() != 3)
        throw InputError("", "a strain monitor needs an elastic body; this field is scalar");
    if (!(limits_.strain > 0 && limits_.rotation > 0 && limits_.displacement > 0))
        throw InputError("", "limits of strain, rotation and displacement must be positive");
    if (options.num_gauges < 1)
        throw InputError("", "num_gauges", std::to_string(options.num_gauges), "at least 1");
    add_gauges(options);
    add_rows();
}

/// Farthest from each other.
void StrainMonitor::add_gauges(const StrainMonitorOptions& options) {
    const SurfaceMesh& mesh = model_->surface.mesh;
    gauges_ = options.triangles;
    for (const int t : gauges_)
        if (t < 0 || t >= mesh.num_triangles())
            throw InputError(
                "", "gauges", std::to_string(t),
                "triangles of the surface, 0 to " + std::to_string(mesh.num_triangles() - 1));
    if (!gauges_.empty()) return;

    std::vector<int> candidates;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const auto num_fixed = std::ranges::count_if(model_->corner_nodes[at(t)], [&](int node) {
            return model_->reference.kinds[at(node)] == NodeKind::Fixed;
        });
        if (num_fixed == 0 || (options.covers_supports && num_fixed < 3)) candidates.push_back(t);
    }
    if (candidates.empty()) return;
    const auto centre = [&](int t) -> Vector3d {
        return (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3;
    };
    std::vector<double> distance(candidates.size(), kInfinity);
    std::size_t next = 0;
    while (static_cast<int>(gauges_.size()) < options.num_gauges && distance[next] > 0) {
        gauges_.push_back(candidates[next]);
        const Vector3d x = centre(candidates[next]);
        for (std::size_t i = 0; i < candidates.size(); ++i)
            distance[i] = std::min(distance[i], (centre(candidates[i]) - x).squaredNorm());
        next = static_cast<std::size_t>(std::max_element(distance.begin(), distance.end()) -
                                        distance.begin());
    }
}

/// The rows of all columns: what the gauge reads under a unit traction of a free node, or a unit
/// displacement of a fixed one, along each axis.
void StrainMonitor::add_rows() {
    const GreensModel& m = *model_;
    const ReferenceProblem& reference = m.reference;
    const GreensFunctions& functions = *reference.functions;
    const auto num_gauges = gauges_.size();
    place_.assign(at(functions.num_column_ids()), -1);
    std::vector<int> columns;
    for (int id = 0; id < functions.num_column_ids(); ++id)
        if (functions.has_column(id)) {
            place_[at(id)] = static_cast<int>(columns.size());
            columns.push_back(id);
        }
    const auto is_fixed = [&](int node) { return reference.kinds[at(node)] == NodeKind::Fixed; };
    // of the function of a column at a node
    const auto value_at = [&](int column, int node) -> double {
        if (column < m.num_nodes()) return column == node ? 1 : 0;
        return reference.hierarchy->value(column, node);
    };

    // what a gauge reads, from displacements of the vertices in lengths of the body
    const auto write = [&](int triangle, const auto& vertex_value, const Vector3d& traction,
                           const auto& put) {
        std::array<Vector3d, 3> x, u;
        Vector3d mean = Vector3d::Zero();
        for (int k = 0; k < 3; ++k) {
            x[at(k)] = m.surface.mesh.corner(triangle, k) / reference.length;
            u[at(k)] = vertex_value(k);
            mean += u[at(k)] / 3;
        }
        const Matrix3d gradient = surface_gradient(x, u, traction, m.poisson_ratio);
        for (int r = 0; r < 9; ++r) put(r, gradient(r / 3, r % 3));
        for (int r = 0; r < 3; ++r) put(9 + r, mean[r]);
    };
    // Σ over the nodes that move a vertex
    const auto at_vertex = [&](int v, auto sum, const auto& node_value) {
        for (int k = m.vertex_offsets[at(v)]; k < m.vertex_offsets[at(v) + 1]; ++k)
            sum += static_cast<double>(m.vertex_weights[at(k)]) * node_value(m.vertex_nodes[at(k)]);
        return sum;
    };

    rows_.assign(columns.size() * num_gauges * kFloats, 0.0f);
    parallel_for(columns.size(), 8, [&](std::size_t c) {
        const int column = columns[c];
        const auto known = [&](int node) -> Matrix3d {
            return value_at(column, node) * Matrix3d::Identity();
        };
        const auto unknown = [&](int node) -> Matrix3d {
            Eigen::Matrix<float, 3, 3, Eigen::RowMajor> block;
            functions.element(node, column, block.data());
            return block.cast<double>();
        };
        const auto displaced = [&](int node) -> Matrix3d {
            return is_fixed(node) ? known(node) : unknown(node);
        };
        for (std::size_t g = 0; g < num_gauges; ++g) {
            std::array<Matrix3d, 3> corners;
            Matrix3d traction = Matrix3d::Zero();  // at the gauge: loads, and reactions of supports
            for (int k = 0; k < 3; ++k) {
                const int v = m.surface.mesh.triangles[at(gauges_[g])][at(k)];
                corners[at(k)] = at_vertex(v, Matrix3d(Matrix3d::Zero()), displaced);
                const int node = m.corner_nodes[at(gauges_[g])][at(k)];
                traction += (is_fixed(node) ? unknown(node) : known(node)) / 3;
            }
            float* const to = rows_.data() + (c * num_gauges + g) * kFloats;
            for (int axis = 0; axis < 3; ++axis)
                write(
                    gauges_[g], [&](int k) -> Vector3d { return corners[at(k)].col(axis); },
                    traction.col(axis),
                    [&](int r, double value) { to[3 * r + axis] = static_cast<float>(value); });
        }
    });
    body_rows_.assign(at(functions.num_body_columns()) * num_gauges * kRows, 0.0f);
    for (int b = 0; b < functions.num_body_columns(); ++b)
        for (std::size_t g = 0; g < num_gauges; ++g) {
            const auto unknown = [&](int node) -> Vector3d {
                Eigen::Vector3f column;
                functions.body_element(node, b, column.data());
                return column.cast<double>();
            };
            const auto displaced = [&](int node) -> Vector3d {
                return is_fixed(node) ? Vector3d(Vector3d::Zero()) : unknown(node);
            };
            Vector3d traction = Vector3d::Zero();
            for (const int node : m.corner_nodes[at(gauges_[g])])
                if (is_fixed(node)) traction += unknown(node) / 3;
            float* const to = body_rows_.data() + (at(b) * num_gauges + g) * kRows;
            write(
                gauges_[g],
                [&](int k) {
                    return at_vertex(m.surface.mesh.triangles[at(gauges_[g])][at(k)],
                                     Vector3d(Vector3d::Zero()), displaced);
                },
                traction, [&](int r, double value) { to[r] = static_cast<float>(value); });
        }
}

void StrainMonitor::measure(int gauge, const WatchedLoads& loads, Matrix3d& gradient,
                            Vector3d& displacement) const noexcept {
    std::array<double, kRows> sums{};
    const auto add = [&](std::span<const int> ids, std::span<const Vector3d> values) {
        for (std::size_t i = 0; i < ids.size() && i < values.size(); ++i) {
            if (ids[i] < 0 || at(ids[i]) >= place_.size() || place_[at(ids[i])] < 0) continue;
            const float* const rows =
                rows_.data() + (at(place_[at(ids[i])]) * gauges_.size() + at(gauge)) * kFloats;
            const Vector3d& w = values[i];
            for (std::size_t r = 0; r < kRows; ++r)
                sums[r] += rows[3 * r] * w[0] + rows[3 * r + 1] * w[1] + rows[3 * r + 2] * w[2];
        }
    };
    add(loads.nodes, loads.tractions);
    add(loads.supports, loads.displacements);
    for (std::size_t k = 0; k < loads.body.size(); ++k) {
        const std::size_t first = (k * gauges_.size() + at(gauge)) * kRows;
        if (first + kRows > body_rows_.size()) break;
        for (std::size_t r = 0; r < kRows; ++r) sums[r] += loads.body[k] * body_rows_[first + r];
    }
    for (int r = 0; r < 9; ++r) gradient(r / 3, r % 3) = sums[at(r)];
    displacement = {sums[9], sums[10], sums[11]};
}

StrainReading StrainMonitor::read(int first, int count, const WatchedLoads& loads) const noexcept {
    StrainReading reading;
    const int end = std::min(first + std::max(count, 0), num_gauges());
    for (int g = std::max(first, 0); g < end; ++g) {
        Matrix3d gradient;
        Vector3d displacement;
        measure(g, loads, gradient, displacement);
        reading.merge(reading_of(gradient, displacement, limits_, gauges_[at(g)]));
    }
    return reading;
}

}  // namespace pliant
