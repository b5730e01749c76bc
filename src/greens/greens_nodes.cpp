#include "greens/greens_nodes.h"

#include "core/numbers.h"
#include "greens/column_batches.h"
#include "greens/iterative_source.h"
#include "pliant/core/error.h"
#include "pliant/geometry/selection.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Three nodes that are not on a line hold a body; thinner triangles than this do not in single
/// precision. Over the length of the body.
constexpr double kThinnestSupport = 1e-4;
/// Below this, products of the iterative solver are for too few right-hand sides.
constexpr double kLeastKrylovVectors = 24 * 200;

bool has_triangle(const std::vector<Vector3d>& points, double smallest_height) {
    const auto farthest = [&](const auto& distance) {
        return *std::max_element(
            points.begin(), points.end(),
            [&](const Vector3d& a, const Vector3d& b) { return distance(a) < distance(b); });
    };
    if (points.size() < 3) return false;
    const Vector3d a = points.front();
    const Vector3d b = farthest([&](const Vector3d& x) { return (x - a).norm(); });
    if (!((b - a).norm() > smallest_height)) return false;
    const Vector3d along = (b - a).normalized();
    const auto height = [&](const Vector3d& x) { return (x - a).cross(along).norm(); };
    return height(farthest(height)) > smallest_height;
}

std::string greens_gigabytes(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, bytes < 1e9 ? "%.2f GB" : "%.1f GB", bytes / 1e9);
    return text;
}

}  // namespace

std::vector<NodeKind> node_kinds(const std::vector<Vector3d>& positions, double length,
                                 const GreensBuildOptions& options) {
    std::vector<NodeKind> kinds(positions.size(), NodeKind::Free);
    std::vector<Vector3d> held;
    for (const int node : select_some(options.fixed, positions, "fixed")) {
        kinds[at(node)] = NodeKind::Fixed;
        held.push_back(positions[at(node)]);
    }
    if (!has_triangle(held, kThinnestSupport * length))
        throw InputError("", "fixed", options.fixed,
                         "three nodes or more that are not on a line, but it selects " +
                             std::to_string(held.size()) + (held.size() == 1 ? " node" : " nodes") +
                             (held.size() < 3 ? "" : " on one") +
                             ", about which the body could turn; widen the selection");
    if (held.size() == positions.size())
        throw InputError("", "fixed", options.fixed,
                         "a part of the body, but it selects all of its " +
                             std::to_string(held.size()) + " nodes; narrow the selection");
    return kinds;
}

std::vector<int> column_nodes(const std::vector<Vector3d>& positions,
                              const std::vector<NodeKind>& kinds,
                              const GreensBuildOptions& options) {
    std::vector<char> is_wanted(positions.size(), options.contactable.empty() ? 1 : 0);
    if (!options.contactable.empty())
        for (const int node : select_some(options.contactable, positions, "contactable"))
            is_wanted[at(node)] = 1;
    bool has_free = false;
    std::vector<int> nodes;
    for (int node = 0; node < static_cast<int>(positions.size()); ++node) {
        const bool is_free = kinds[at(node)] == NodeKind::Free;
        has_free = has_free || (is_free && is_wanted[at(node)] != 0);
        if (is_free ? is_wanted[at(node)] != 0 : options.has_fixed_columns) nodes.push_back(node);
    }
    if (!has_free)
        throw InputError("", "contactable", options.contactable,
                         "free nodes too, but it selects only nodes that are fixed by \"" +
                             options.fixed + "\"; widen the selection");
    return nodes;
}

void connect_vertices(GreensModel& model) {
    const SurfaceMesh& mesh = model.surface.mesh;
    const bool has_face_nodes = model.method == GreensMethod::BoundaryElements &&
                                model.elements == BoundaryElements::Constant;
    std::vector<std::vector<std::pair<int, double>>> nodes_of(mesh.vertices.size());
    for (int t = 0; t < mesh.num_triangles(); ++t)
        for (int k = 0; k < 3; ++k) {
            const int node = model.corner_nodes[at(t)][at(k)];
            auto& nodes = nodes_of[at(mesh.triangles[at(t)][at(k)])];
            if (has_face_nodes)
                nodes.emplace_back(node, model.reference.areas[at(node)]);
            else if (nodes.empty())
                nodes.emplace_back(node, 1.0);
            else
                nodes.front().first = std::min(nodes.front().first, node);
        }
    model.vertex_offsets.assign(1, 0);
    for (const auto& nodes : nodes_of) {
        double sum = 0;
        for (const auto& [node, weight] : nodes) sum += weight;
        for (const auto& [node, weight] : nodes) {
            model.vertex_nodes.push_back(node);
            model.vertex_weights.push_back(static_cast<float>(weight / sum));
        }
        model.vertex_offsets.push_back(static_cast<int>(model.vertex_nodes.size()));
    }
}

GreensMemory boundary_memory(double num_nodes, double num_columns, double num_kept) noexcept {
    const double rows = 3 * num_nodes;
    return {8 * rows * rows, 8 * rows * 3 * (num_kept + kBatchNodes), 4 * rows * 3 * num_columns};
}

GreensMemory iterative_memory(double num_nodes, double num_columns) noexcept {
    const double rows = 3 * num_nodes, columns = 3 * num_columns;
    // right-hand sides and solutions of a batch, and Krylov spaces for few of them at a time
    const double loads = 8 * rows * (2.0 * 3 * kBatchNodes + kLeastKrylovVectors);
    return {iterative_matrix_bytes(num_nodes), loads, 4 * rows * columns, true};
}

bool solves_iteratively(GreensSolver solver, const GreensMemory& direct,
                        double available) noexcept {
    return solver == GreensSolver::Iterative ||
           (solver == GreensSolver::Auto && direct.total() > available);
}

GreensMemory finite_memory(double num_unknowns, double num_nodes, double num_columns) noexcept {
    // entries of factors of a mesh of equal sides under nested dissection, and their work space
    const double entries = 60 * std::pow(num_unknowns, 4.0 / 3);
    return {8 * entries, 8 * (num_unknowns + 3 * num_nodes) * 3 * kBatchNodes,
            4 * 9 * num_nodes * num_columns};
}

void check_greens_memory(const GreensMemory& memory, double available, GreensMethod method,
                         int num_nodes, int num_columns) {
    if (memory.total() <= available) return;
    const bool is_boundary = method == GreensMethod::BoundaryElements;
    throw InputError(
        "", "Green's functions of " + std::to_string(num_nodes) + " nodes with " +
                std::to_string(num_columns) + " columns by " + std::string(to_string(method)) +
                " need " + greens_gigabytes(memory.total()) + " (" +
                greens_gigabytes(memory.matrix) +
                (memory.is_iterative ? " of them for the matrix, " : " of them to be factored, ") +
                greens_gigabytes(memory.columns) + " for the result), and " +
                greens_gigabytes(available) + " may be used; " +
                (!is_boundary ? "lower the resolution, or make the contactable region smaller"
                 : memory.is_iterative
                     ? "take a coarser surface, or make the contactable region smaller"
                     : "take a coarser surface, make the contactable region smaller, or use the "
                       "iterative solver or finite elements"));
}

}  // namespace pliant
