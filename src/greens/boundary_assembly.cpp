#include "greens/boundary_assembly.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <numbers>
#include <numeric>

#include "core/numbers.h"
#include "geometry/triangle.h"
#include "greens/graded_quadrature.h"
#include "greens/kelvin.h"
#include "greens/singular_integrals.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_topology.h"

namespace pliant {
namespace {

/// Groups of targets that share the memory of one task.
constexpr std::size_t kGroupsPerTask = 4;

BlockFactors block_factors(const BoundaryOptions& options) {
    if (options.physics == BoundaryPhysics::Laplace) {
        const double factor = 1 / (4 * std::numbers::pi);
        return {factor, -factor, 0, 0};
    }
    const KelvinFactors kelvin(options.poisson_ratio);
    return {kelvin.displacement, kelvin.traction, kelvin.displacement_diagonal,
            kelvin.compressibility};
}

KernelTriangle kernel_triangle(const TriangleCorners& corners, const std::array<int, 3>& nodes,
                               bool is_exterior) {
    KernelTriangle triangle;
    const Eigen::Vector3d twice_area = area_vector(corners[0], corners[1], corners[2]);
    const Eigen::Vector3d centroid = triangle_centroid(corners);
    const double length = twice_area.norm(), side = longest_side(corners);
    triangle.area = length / 2;
    for (int k = 0; k < 3; ++k) {
        for (int s = 0; s < 3; ++s) triangle.corners[s][k] = corners[at(s)][k];
        triangle.normal[k] = (is_exterior ? -1 : 1) * twice_area[k] / length;
        triangle.centroid[k] = centroid[k];
        triangle.nodes[k] = nodes[at(k)];
    }
    triangle.split_squared = kSplitDistance * kSplitDistance * side * side;
    triangle.three_point_squared = kThreePointDistance * kThreePointDistance * side * side;
    return triangle;
}

TriangleCorners corners_of(const KernelTriangle& triangle) {
    TriangleCorners corners;
    for (int s = 0; s < 3; ++s) corners[at(s)] = Eigen::Vector3d(triangle.corners[s]);
    return corners;
}

}  // namespace

BoundaryAssembler::BoundaryAssembler(const SurfaceMesh& mesh, const BoundaryNodes& nodes,
                                     const BoundaryOptions& options)
    : is_elastic_(options.physics == BoundaryPhysics::Elastic),
      is_exterior_(options.is_exterior),
      num_nodes_(nodes.num_nodes()),
      block_(is_elastic_ ? 3 : 1),
      planes_(is_elastic_ ? kElasticPlanes : kLaplacePlanes),
      factors_(block_factors(options)) {
    triangles_.reserve(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t)
        triangles_.push_back(
            kernel_triangle({mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)},
                            nodes.corner_nodes[at(t)], is_exterior_));
    add_incidents(mesh, nodes);
    // triangles around nodes, each once
    node_offsets_.assign(at(num_nodes_ + 1), 0);
    const auto for_each_node = [&](auto&& function) {
        for (int t = 0; t < static_cast<int>(triangles_.size()); ++t) {
            const int* const n = triangles_[at(t)].nodes;
            for (int s = 0; s < 3; ++s)
                if (std::find(n, n + s, n[s]) == n + s) function(n[s], t);
        }
    };
    for_each_node([&](int node, int) { ++node_offsets_[at(node + 1)]; });
    for (int node = 0; node < num_nodes_; ++node)
        node_offsets_[at(node + 1)] += node_offsets_[at(node)];
    node_triangles_.resize(at(node_offsets_.back()));
    std::vector<int> next(node_offsets_.begin(), node_offsets_.end() - 1);
    for_each_node([&](int node, int t) { node_triangles_[at(next[at(node)]++)] = t; });
}

void BoundaryAssembler::add_incidents(const SurfaceMesh& mesh, const BoundaryNodes& nodes) {
    const SurfaceTopology topology(mesh);
    targets_.reserve(nodes.targets.size());
    for (std::size_t i = 0; i < nodes.targets.size(); ++i) {
        Target target{nodes.targets[i], {}, {}, static_cast<int>(incidents_.size()), 0};
        // the vertices it lies between
        Triangle vertices;
        const int home = nodes.target_triangles[i];
        for (int s = 0; s < 3; ++s) {
            const bool is_vertex = home < 0;
            vertices[at(s)] = is_vertex ? static_cast<int>(i) : mesh.triangles[at(home)][at(s)];
            target.home_nodes[s] =
                is_vertex ? static_cast<int>(i) : nodes.corner_nodes[at(home)][at(s)];
            target.home_weights[s] = is_vertex ? (s == 0 ? 1.0 : 0.0) : nodes.target_weights[i][s];
        }
        // triangles that have all of those
        const auto first = static_cast<std::size_t>(std::ranges::max_element(target.home_weights) -
                                                    target.home_weights);
        for (const int t : topology.triangles_at(vertices[first])) {
            Incident incident{t, Eigen::Vector3d::Zero()};
            bool has_all = true;
            for (int s = 0; s < 3; ++s) {
                if (target.home_weights[s] == 0) continue;
                const auto& corners = mesh.triangles[at(t)];
                const auto corner = std::ranges::find(corners, vertices[at(s)]) - corners.begin();
                if (corner < 3)
                    incident.weights[corner] = target.home_weights[s];
                else
                    has_all = false;
            }
            if (has_all) incidents_.push_back(incident);
        }
        target.end_incident = static_cast<int>(incidents_.size());
        targets_.push_back(target);
    }
}

void BoundaryAssembler::add_singular(int lane, const KernelTriangle& triangle,
                                     const Eigen::Vector3d& weights, Scratch& scratch) const {
    const SingularIntegrals integrals = singular_integrals(corners_of(triangle), weights);
    for (int s = 0; s < 3; ++s) {
        double* const to =
            scratch.sums.data() + (at(triangle.nodes[s]) * at(planes_)) * kTargetLanes + at(lane);
        const Eigen::Matrix3d& a = integrals.displacement[at(s)];
        if (!is_elastic_) {
            to[0] += a.trace();
            continue;
        }
        const Eigen::Vector3d c = integrals.traction[at(s)].cross(Eigen::Vector3d(triangle.normal));
        const double planes[6] = {a(0, 0), a(1, 1), a(2, 2), a(0, 1), a(1, 2), a(0, 2)};
        for (int k = 0; k < 6; ++k) to[k * kTargetLanes] += planes[k];
        for (int k = 0; k < 3; ++k) to[(12 + k) * kTargetLanes] += c[k];
    }
}

void BoundaryAssembler::flush(Scratch& scratch) const {
    PartIntegrals integrals;
    integrate_parts(is_elastic_, scratch.parts, integrals);
    for (int i = 0; i < scratch.num_parts; ++i)
        for (int s = 0; s < 3; ++s) {
            double* const to = scratch.sums.data() +
                               at(scratch.part_nodes[i][s]) * at(planes_) * kTargetLanes +
                               scratch.part_lanes[i];
            for (int k = 0; k < planes_; ++k) to[k * kTargetLanes] += integrals.values[s][k][i];
        }
    scratch.num_parts = 0;
}

void BoundaryAssembler::add_near(int target, const KernelTriangle& triangle, int lane,
                                 Scratch& scratch) const {
    const Eigen::Vector3d& x = targets_[at(target)].position;
    for_each_part({corners_of(triangle)}, x, [&](const TrianglePart& part) {
        PartBatch& batch = scratch.parts;
        const int i = scratch.num_parts;
        for (int k = 0; k < 3; ++k) {
            for (int s = 0; s < 3; ++s) {
                batch.corners[s][k][i] = part.corners[at(s)][k];
                batch.barycentric[k][s][i] = part.barycentric(k, s);
            }
            batch.normal[k][i] = triangle.normal[k];
            batch.target[k][i] = x[k];
        }
        batch.area[i] = triangle.area * part.share;
        scratch.part_lanes[i] = lane;
        scratch.part_nodes[i] = triangle.nodes;
        if (++scratch.num_parts == kTargetLanes) flush(scratch);
    });
}

void BoundaryAssembler::integrate_group(std::span<const int> targets,
                                        std::span<const KernelTriangle> triangles,
                                        std::span<const int> members, Scratch& scratch) const {
    const int num_targets = static_cast<int>(targets.size());
    // lanes without a target repeat the last one
    for (int lane = 0; lane < kTargetLanes; ++lane) {
        const Target& target = targets_[at(targets[at(std::min(lane, num_targets - 1))])];
        for (int k = 0; k < 3; ++k) scratch.group.position[k][lane] = target.position[k];
    }
    std::ranges::fill(scratch.sums, 0.0);
    add_distant_triangles(is_elastic_, triangles, scratch.group, scratch.sums.data(),
                          scratch.near_lanes.data());
    // singular ones before the parts of all near ones: the sums of a target then come in an order
    // that does not depend on the others of its group
    for (int lane = 0; lane < num_targets; ++lane) {
        const Target& target = targets_[at(targets[at(lane)])];
        for (int i = target.first_incident; i < target.end_incident; ++i) {
            const Incident& incident = incidents_[at(i)];
            std::size_t place = at(incident.triangle);
            if (!members.empty()) {
                const auto found = std::ranges::lower_bound(members, incident.triangle);
                if (found == members.end() || *found != incident.triangle) continue;
                place = static_cast<std::size_t>(found - members.begin());
            }
            add_singular(lane, triangles[place], incident.weights, scratch);
            scratch.near_lanes[place] &= static_cast<std::uint8_t>(~(1U << lane));
        }
    }
    for (std::size_t t = 0; t < triangles.size(); ++t)
        for (int lane = 0; lane < num_targets; ++lane)
            if ((scratch.near_lanes[t] >> lane & 1U) != 0)
                add_near(targets[at(lane)], triangles[t], lane, scratch);
    flush(scratch);
}

void BoundaryAssembler::set_patch(std::span<const int> nodes, Workspace& workspace) const {
    BoundaryPatch& patch = workspace.patch_;
    patch.num_nodes = static_cast<int>(nodes.size());
    patch.members.clear();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        workspace.place_of_[at(nodes[k])] = static_cast<int>(k);
        const auto around = triangles_of(nodes[k]);
        patch.members.insert(patch.members.end(), around.begin(), around.end());
    }
    std::ranges::sort(patch.members);
    const auto last = std::unique(patch.members.begin(), patch.members.end());
    patch.members.erase(last, patch.members.end());
    patch.triangles.clear();
    for (const int t : patch.members) {
        patch.triangles.push_back(triangles_[at(t)]);
        for (int& node : patch.triangles.back().nodes) {
            node = workspace.place_of_[at(node)];
            if (node < 0) node = patch.num_nodes;
        }
    }
    for (const int node : nodes) workspace.place_of_[at(node)] = -1;
    Scratch& scratch = workspace.scratch_;
    scratch.sums.resize(at(patch.num_nodes + 1) * at(planes_ * kTargetLanes));
    scratch.near_lanes.resize(std::max(scratch.near_lanes.size(), patch.members.size()));
}

void BoundaryAssembler::assemble_patch(std::span<const int> targets, Workspace& workspace,
                                       Eigen::MatrixXd& G, Eigen::MatrixXd& H) const {
    const BoundaryPatch& patch = workspace.patch_;
    const Eigen::Index num_rows = block_ * static_cast<Eigen::Index>(targets.size());
    const Eigen::Index num_columns = block_ * static_cast<Eigen::Index>(patch.num_nodes);
    for (Eigen::MatrixXd* matrix : {&G, &H})
        if (matrix->rows() < num_rows || matrix->cols() < num_columns)
            matrix->resize(std::max(num_rows, matrix->rows()),
                           std::max(num_columns, matrix->cols()));
    for (std::size_t first = 0; first < targets.size(); first += kTargetLanes) {
        const std::size_t count = std::min<std::size_t>(kTargetLanes, targets.size() - first);
        integrate_group(targets.subspan(first, count), patch.triangles, patch.members,
                        workspace.scratch_);
        const auto row = static_cast<Eigen::Index>(first) * block_;
        const GroupRows rows{G.data() + row, H.data() + row,
                             static_cast<std::size_t>(G.outerStride()),
                             static_cast<std::size_t>(H.outerStride()), static_cast<int>(count)};
        double unused[9][kTargetLanes];
        write_blocks(is_elastic_, workspace.scratch_.sums.data(), patch.num_nodes, factors_, rows,
                     unused);
    }
}

void BoundaryAssembler::assemble(int first_target, int num_targets, Eigen::Ref<Eigen::MatrixXd> G,
                                 Eigen::Ref<Eigen::MatrixXd> H) const {
    assert(first_target >= 0 && first_target + num_targets <= static_cast<int>(targets_.size()));
    assert(G.rows() == block_ * num_targets && G.cols() == block_ * num_nodes_);
    assert(H.rows() == block_ * num_targets && H.cols() == block_ * num_nodes_);
    const std::size_t num_groups = (at(num_targets) + kTargetLanes - 1) / kTargetLanes;
    parallel_ranges(num_groups, kGroupsPerTask, [&](std::size_t begin, std::size_t end) {
        Scratch scratch(num_nodes_, planes_, triangles_.size());
        for (std::size_t group = begin; group < end; ++group) {
            const int offset = static_cast<int>(group) * kTargetLanes;
            const int count = std::min(kTargetLanes, num_targets - offset);
            int targets[kTargetLanes];
            std::iota(targets, targets + count, first_target + offset);
            integrate_group({targets, at(count)}, triangles_, {}, scratch);
            const GroupRows rows{G.data() + block_ * offset, H.data() + block_ * offset,
                                 static_cast<std::size_t>(G.outerStride()),
                                 static_cast<std::size_t>(H.outerStride()), count};
            double sums[9][kTargetLanes];
            write_blocks(is_elastic_, scratch.sums.data(), num_nodes_, factors_, rows, sums);
            // translations need no traction (outside: that of a sphere far away), which gives what
            // has been left out at the target itself, docs/greens.md eq. (B6)
            for (int lane = 0; lane < count; ++lane) {
                const Target& target = targets_[at(first_target + offset + lane)];
                for (int s = 0; s < 3; ++s)
                    for (int i = 0; i < block_; ++i)
                        for (int j = 0; j < block_; ++j)
                            H(block_ * (offset + lane) + i, block_ * target.home_nodes[s] + j) +=
                                target.home_weights[s] *
                                ((is_exterior_ && i == j ? 1 : 0) - sums[block_ * i + j][lane]);
            }
        }
    });
}

}  // namespace pliant
