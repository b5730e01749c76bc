#include "pliant/greens/hierarchical_basis.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "core/numbers.h"
#include "greens/domain_borders.h"
#include "pliant/core/error.h"
#include "pliant/greens/wavelet_greens.h"

namespace pliant {

using Eigen::Vector3d;

WeightedVertices HierarchicalBasis::Rows::row(int index) const noexcept {
    const std::size_t first = offsets[at(index)], count = offsets[at(index) + 1] - first;
    return {std::span(vertices).subspan(first, count), std::span(weights).subspan(first, count)};
}

void HierarchicalBasis::Rows::push(int vertex, double weight) {
    vertices.push_back(vertex);
    weights.push_back(weight);
}

HierarchicalBasis::HierarchicalBasis(const SemiRegularMesh& mesh, std::span<const NodeKind> kinds)
    : HierarchicalBasis(mesh, domain_labels(kinds)) {}

HierarchicalBasis::HierarchicalBasis(const SemiRegularMesh& mesh, std::vector<int> domains)
    : num_levels_(mesh.num_levels()), counts_(mesh.num_vertices), domains_(std::move(domains)) {
    if (num_levels_ < 1)
        throw InputError("",
                         "hierarchical constraints need a surface with subdivision connectivity, "
                         "and this one has a single level; build it with --levels, or take what "
                         "pliant mesh --kind semiregular makes of it");
    if (domains_.size() != mesh.mesh.vertices.size() || num_vertices() != mesh.mesh.num_vertices())
        throw InputError("", "hierarchical constraints: nodes", std::to_string(domains_.size()),
                         "one for each of " + std::to_string(mesh.mesh.num_vertices()) +
                             " vertices; constant elements and doubled nodes have no levels");
    find_stencils(mesh);
    for (int level = 0; level <= num_levels_; ++level) find_values(level);
}

/// Linear interpolation with the rules at borders of domains, eq. (H1).
void HierarchicalBasis::find_stencils(const SemiRegularMesh& mesh) {
    const auto push_stencil = [&](int m, int num_coarser) {
        const auto [first, second] = aunts_in_domain(mesh, domains_, m, num_coarser);
        if (first != second) {
            stencils_.push(first, 0.5);
            stencils_.push(second, 0.5);
        } else if (first != m) {
            stencils_.push(first, 1);
        }
    };
    for (int v = 0; v < counts_[0]; ++v) stencils_.finish_row();
    for (int level = 0; level < num_levels_; ++level)
        for (int m = counts_[at(level)]; m < counts_[at(level) + 1]; ++m) {
            if (domains_[at(m)] >= 0) push_stencil(m, counts_[at(level)]);
            stencils_.finish_row();
        }
}

/// The cascade of stencils from a level to the finest one, and its transpose.
void HierarchicalBasis::find_values(int level) {
    const int count = counts_[at(level)];
    Rows covering, values;
    std::vector<std::pair<int, double>> row;
    std::vector<std::size_t> sizes(at(count) + 1, 0);
    for (int i = 0; i < num_vertices(); ++i) {
        row.clear();
        if (i < count) {
            if (domains_[at(i)] >= 0) row.emplace_back(i, 1);
        } else {
            const WeightedVertices from = stencil(i);
            for (std::size_t p = 0; p < from.vertices.size(); ++p) {
                const WeightedVertices parent = covering.row(from.vertices[p]);
                for (std::size_t q = 0; q < parent.vertices.size(); ++q)
                    row.emplace_back(parent.vertices[q], from.weights[p] * parent.weights[q]);
            }
            std::sort(row.begin(), row.end());
        }
        for (std::size_t q = 0; q < row.size(); ++q) {
            if (q > 0 && row[q].first == row[q - 1].first) {
                covering.weights.back() += row[q].second;
                continue;
            }
            covering.push(row[q].first, row[q].second);
            ++sizes[at(row[q].first) + 1];
        }
        covering.finish_row();
    }
    for (std::size_t k = 1; k < sizes.size(); ++k) sizes[k] += sizes[k - 1];
    values.offsets = sizes;
    values.vertices.resize(covering.vertices.size());
    values.weights.resize(covering.weights.size());
    for (int i = 0; i < num_vertices(); ++i) {
        const WeightedVertices at_i = covering.row(i);
        for (std::size_t q = 0; q < at_i.vertices.size(); ++q) {
            const std::size_t place = sizes[at(at_i.vertices[q])]++;
            values.vertices[place] = i;
            values.weights[place] = at_i.weights[q];
        }
    }
    covering_.push_back(std::move(covering));
    values_.push_back(std::move(values));
}

int HierarchicalBasis::vertex_level(int vertex) const noexcept {
    return static_cast<int>(std::upper_bound(counts_.begin(), counts_.end(), vertex) -
                            counts_.begin());
}

WeightedVertices HierarchicalBasis::stencil(int vertex) const noexcept {
    return stencils_.row(vertex);
}

WeightedVertices HierarchicalBasis::values(int id) const noexcept {
    assert(has(id));
    return values_[at(level_of(id))].row(vertex_of(id));
}

WeightedVertices HierarchicalBasis::covering(int level, int vertex) const noexcept {
    return covering_[at(level)].row(vertex);
}

double HierarchicalBasis::value(int id, int vertex) const noexcept {
    const WeightedVertices found = covering(level_of(id), vertex);
    for (std::size_t q = 0; q < found.vertices.size(); ++q)
        if (found.vertices[q] == vertex_of(id)) return found.weights[q];
    return 0;
}

std::vector<double> HierarchicalBasis::areas(std::span<const double> vertex_areas) const {
    assert(vertex_areas.size() == at(num_vertices()));
    std::vector<double> result(at(num_ids()), 0), sums(vertex_areas.begin(), vertex_areas.end());
    for (int level = num_levels_; level >= 0; --level) {
        for (int k = 0; k < num_vertices(level); ++k)
            if (domains_[at(k)] >= 0) result[at(id(level, k))] = sums[at(k)];
        if (level == 0) break;
        for (int m = num_vertices(level - 1); m < num_vertices(level); ++m) {
            const WeightedVertices from = stencil(m);
            for (std::size_t p = 0; p < from.vertices.size(); ++p)
                sums[at(from.vertices[p])] += from.weights[p] * sums[at(m)];
        }
    }
    return result;
}

std::vector<Vector3d> HierarchicalBasis::centres(std::span<const double> vertex_areas,
                                                 std::span<const Vector3d> positions) const {
    std::vector<Vector3d> result(at(num_ids()), Vector3d::Zero());
    for (int i = 0; i < num_ids(); ++i) {
        if (!has(i)) continue;
        result[at(i)] = positions[at(vertex_of(i))];
        const WeightedVertices support = values(i);
        double area = 0;
        Vector3d moment = Vector3d::Zero();
        for (std::size_t q = 0; q < support.vertices.size(); ++q) {
            const double share = support.weights[q] * vertex_areas[at(support.vertices[q])];
            area += share;
            // from its own vertex: exact for the vertices themselves
            moment += share * (positions[at(support.vertices[q])] - positions[at(vertex_of(i))]);
        }
        if (area > 0) result[at(i)] += moment / area;
    }
    return result;
}

void HierarchicalBasis::refine_up(int level, int block, Eigen::Ref<Eigen::MatrixXd> columns) const {
    assert(level >= 0 && level < num_levels_ && columns.cols() >= block * num_vertices(level + 1));
    for (int m = num_vertices(level); m < num_vertices(level + 1); ++m) {
        const WeightedVertices from = stencil(m);
        for (std::size_t p = 0; p < from.vertices.size(); ++p)
            columns.middleCols(block * from.vertices[p], block) +=
                from.weights[p] * columns.middleCols(block * m, block);
    }
}

}  // namespace pliant
