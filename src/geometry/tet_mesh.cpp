#include "pliant/geometry/tet_mesh.h"

#include "core/numbers.h"
#include "geometry/bcc_lattice.h"
#include "geometry/fill_check.h"
#include "geometry/lattice_values.h"
#include "geometry/option_check.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace pliant {
namespace {

constexpr int kMinResolution = 4, kMaxResolution = 512;
constexpr int kMarginCells = 2;  // cells beyond the box on each side
// of the search for a recommendation: half a second, some hundred megabytes
constexpr std::size_t kMostSearchedNodes = 50'000'000;

BccLattice make_lattice(const Box& box, int resolution) {
    const Eigen::Vector3d sides = box.sizes();
    const double cell = sides.maxCoeff() / resolution;
    std::array<int, 3> cells{};
    Eigen::Vector3d origin;
    for (int axis = 0; axis < 3; ++axis) {
        // a side of 39.9999999 or 40.0000001 cells counts as 40
        cells[at(axis)] = static_cast<int>(std::ceil(sides[axis] / cell - 1e-6)) + 2 * kMarginCells;
        origin[axis] = box.center()[axis] - 0.5 * cell * cells[at(axis)];
    }
    return {origin, cell, cells};
}

/// The points where edges from an inside to an outside node meet the surface.
struct CutPoints {
    std::vector<int> nodes;            // inside nodes with cut edges, ascending
    std::vector<std::uint16_t> masks;  // their cut directions
    std::vector<std::size_t> first;    // their first entry in `t`
    std::vector<float> t;              // fraction of the edge from the inside node
    std::vector<int> slot;             // of each lattice node: index in `nodes` or −1

    [[nodiscard]] float& fraction(int inside_node, int direction) {
        const std::size_t n = at(slot[at(inside_node)]);
        return t[first[n] + rank(masks[n], direction)];
    }
    static std::size_t rank(std::uint16_t mask, int direction) {
        return at(std::popcount(static_cast<unsigned>(mask) & ((1u << direction) - 1u)));
    }
};

/// Where the function changes sign on the way from a (inside) to b (outside), as a fraction of the
/// way: regula falsi with the Illinois modification. Small values alone are not trusted, because
/// the signed distance of overlapping parts also vanishes on sheets that have the inside on both
/// sides, and across the holes of open surfaces it jumps from one sign to the other.
double find_crossing(const Implicit& body, const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                     double value_a, double value_b) {
    constexpr double kTolerance = 1e-4;  // of the edge
    const double small = kTolerance * (value_b - value_a);
    double low = 0, high = 1, t = 0.5;
    int last_side = 0;
    for (int iteration = 0; iteration < 40 && high - low > kTolerance; ++iteration) {
        t = low + (high - low) * value_a / (value_a - value_b);
        const double value = body(a + t * (b - a));
        const bool is_small = std::abs(value) <= small;
        if (value >= 0) {
            if (is_small) break;
            high = t;
            value_b = value;
            if (last_side == 1) value_a *= 0.5;
            last_side = 1;
        } else {
            if (is_small && body(a + (t + 2 * kTolerance) * (b - a)) >= 0) break;
            low = t;
            value_a = value;
            if (last_side == -1) value_b *= 0.5;
            last_side = -1;
        }
    }
    return t;
}

/// The first triangle met on the way from b (outside) to a (inside). On open or overlapping parts
/// it counts only if the inside begins there.
double find_crossing(const SurfaceQuery& surface, const Implicit& distance,
                     const Eigen::Vector3d& a, const Eigen::Vector3d& b, double value_a,
                     double value_b) {
    constexpr double kStep = 1e-3;  // of the edge
    const auto hit = surface.segment(b, a);
    if (!hit) return find_crossing(distance, a, b, value_a, value_b);
    const auto is_inside_at = [&](double t) {
        return surface.is_inside(b + std::clamp(t, 0.0, 1.0) * (a - b));
    };
    const bool begins_inside = surface.sign_method() == SignMethod::PseudoNormal ||
                               (is_inside_at(hit->t + kStep) && !is_inside_at(hit->t - kStep));
    return begins_inside ? 1 - hit->t : find_crossing(distance, a, b, value_a, value_b);
}

/// Fraction of the way from an inside point to an outside one, with the values at both.
using Crossing =
    std::function<double(const Eigen::Vector3d&, const Eigen::Vector3d&, double, double)>;

CutPoints find_cut_points(const Crossing& crossing, const BccLattice& lattice,
                          const NodeValues& values, Progress& progress) {
    CutPoints cuts;
    const auto cut_directions = [&](int node) {
        unsigned mask = 0;
        for (int d = 0; d < BccLattice::kNumDirections; ++d)
            if (values[at(lattice.neighbour(node, d))] > 0) mask |= 1u << d;
        return static_cast<std::uint16_t>(mask);
    };
    cuts.nodes = join_layers<int>(lattice, [&](int k, std::vector<int>& list) {
        lattice.for_each_inner_node(k, [&](int node) {
            if (values[at(node)] < 0 && cut_directions(node) != 0) list.push_back(node);
        });
    });
    cuts.slot.assign(lattice.num_nodes(), -1);
    std::size_t total = 0;
    for (std::size_t n = 0; n < cuts.nodes.size(); ++n) {
        cuts.slot[at(cuts.nodes[n])] = static_cast<int>(n);
        cuts.masks.push_back(cut_directions(cuts.nodes[n]));
        cuts.first.push_back(total);
        total += at(std::popcount(static_cast<unsigned>(cuts.masks[n])));
    }
    cuts.t.resize(total);

    progress.stage("surface points", cuts.nodes.size());
    constexpr std::size_t kGrain = 256;
    parallel_ranges(cuts.nodes.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t n = begin; n < end; ++n) {
            const int node = cuts.nodes[n];
            for (int d = 0; d < BccLattice::kNumDirections; ++d) {
                if ((cuts.masks[n] >> d & 1) == 0) continue;
                const int other = lattice.neighbour(node, d);
                cuts.fraction(node, d) = static_cast<float>(crossing(
                    lattice.position(node), lattice.position(other),
                    lattice.cell() * values[at(node)], lattice.cell() * values[at(other)]));
            }
        }
        progress.advance(end - begin);
    });
    return cuts;
}

struct WarpedNode {
    int node;
    Eigen::Vector3d position;
};

/// Moves every node that has a cut point too near onto the nearest one; its value becomes zero and
/// the cut points on all its edges lose their meaning. One node after the other, in their order:
/// a move may save a neighbour from moving.
std::vector<WarpedNode> warp_nodes(const BccLattice& lattice, NodeValues& values, CutPoints& cuts) {
    std::vector<int> candidates = cuts.nodes;
    for (std::size_t n = 0; n < cuts.nodes.size(); ++n)
        for (int d = 0; d < BccLattice::kNumDirections; ++d)
            if (cuts.masks[n] >> d & 1) candidates.push_back(lattice.neighbour(cuts.nodes[n], d));
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());

    std::vector<WarpedNode> warped;
    for (const int node : candidates) {
        const bool is_inside = values[at(node)] < 0;
        double nearest = std::numeric_limits<double>::infinity(), nearest_fraction = 0;
        int nearest_neighbour = -1;
        for (int d = 0; d < BccLattice::kNumDirections; ++d) {
            const int other = lattice.neighbour(node, d);
            if (is_inside ? !(values[at(other)] > 0) : !(values[at(other)] < 0)) continue;
            const double fraction = is_inside ? cuts.fraction(node, d)
                                              : 1.0 - cuts.fraction(other, BccLattice::opposite(d));
            if (fraction > (BccLattice::is_long(d) ? kWarpLong : kWarpShort)) continue;
            const double length = BccLattice::is_long(d) ? 1.0 : std::sqrt(0.75);
            if (fraction * length < nearest) {
                nearest = fraction * length;
                nearest_fraction = fraction;
                nearest_neighbour = other;
            }
        }
        if (nearest_neighbour < 0) continue;
        const Eigen::Vector3d from = lattice.position(node);
        warped.push_back(
            {node, from + nearest_fraction * (lattice.position(nearest_neighbour) - from)});
        values[at(node)] = 0;
    }
    return warped;
}

/// The mesh vertices of a lattice node: itself, if it is used, then the cut points on its edges.
struct VertexNumbers {
    std::vector<int> first;                // of each node; −1 when it has none
    std::vector<std::uint16_t> cut_masks;  // directions that are still cut after the warp
};

VertexNumbers number_vertices(const BccLattice& lattice, const NodeValues& values,
                              const std::vector<WarpedNode>& warped, CutPoints& cuts,
                              std::vector<Eigen::Vector3d>& vertices) {
    VertexNumbers numbers{std::vector<int>(lattice.num_nodes(), -1),
                          std::vector<std::uint16_t>(lattice.num_nodes(), 0)};
    const auto touches_inside = [&](int node) {
        for (int d = 0; d < BccLattice::kNumDirections; ++d)
            if (values[at(lattice.neighbour(node, d))] < 0) return true;
        return false;
    };
    auto next_warped = warped.begin();
    for (int k = 0; k < lattice.cells()[2]; ++k)
        lattice.for_each_inner_node(k, [&](int node) {
            const bool is_warped = next_warped != warped.end() && next_warped->node == node;
            const Eigen::Vector3d* moved = is_warped ? &(next_warped++)->position : nullptr;
            const float value = values[at(node)];
            if (value > 0 || (value == 0 && !touches_inside(node))) return;
            numbers.first[at(node)] = static_cast<int>(vertices.size());
            const Eigen::Vector3d position = lattice.position(node);
            vertices.push_back(moved ? *moved : position);
            if (!(value < 0) || cuts.slot[at(node)] < 0) return;
            for (int d = 0; d < BccLattice::kNumDirections; ++d) {
                const int other = lattice.neighbour(node, d);
                if (!(values[at(other)] > 0)) continue;
                numbers.cut_masks[at(node)] |= static_cast<std::uint16_t>(1u << d);
                vertices.push_back(position + static_cast<double>(cuts.fraction(node, d)) *
                                                  (lattice.position(other) - position));
            }
        });
    return numbers;
}

std::vector<int> fill_tets(const BccLattice& lattice, const NodeValues& values,
                           const VertexNumbers& numbers,
                           const std::vector<Eigen::Vector3d>& vertices, Progress& progress) {
    const auto& n = lattice.cells();
    progress.stage("tetrahedra", at(n[2]));
    return join_layers<int>(lattice, [&](int k, std::vector<int>& elements) {
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i)
                for (const BccLattice::Tet& shape : lattice.tets()) {
                    CutTet tet{};
                    std::array<int, 4> node{};
                    bool any_inside = false;
                    for (std::size_t a = 0; a < 4; ++a) {
                        node[a] = lattice.node(i, j, k, 1) + shape.offset[a];
                        const float value = values[at(node[a])];
                        tet.sign[a] = value < 0 ? 1 : (value > 0 ? -1 : 0);
                        any_inside = any_inside || value < 0;
                    }
                    if (!any_inside) continue;
                    for (std::size_t a = 0; a < 4; ++a) {
                        tet.corner[a] = numbers.first[at(node[a])];
                        if (tet.sign[a] <= 0) continue;
                        for (std::size_t b = 0; b < 4; ++b)
                            if (tet.sign[b] < 0)
                                tet.cut[a][b] =
                                    tet.corner[a] + 1 +
                                    static_cast<int>(CutPoints::rank(numbers.cut_masks[at(node[a])],
                                                                     shape.direction[a][b]));
                    }
                    append_stencil(tet, vertices, elements);
                }
        progress.advance();
    });
}

/// The whole method. The mesh is empty when no node lies inside and clear of the surface.
VolumeMesh stuff(const Implicit& body, const Crossing& crossing, int resolution,
                 Progress& progress) {
    const BccLattice lattice = make_lattice(body.box(), resolution);
    NodeValues values = sample_nodes(body, lattice, progress);
    // 6 tets per node, 4 indices each, numbered by int; some room for the surface
    const auto num_inside =
        std::count_if(values.begin(), values.end(), [](float value) { return value < 0; });
    check_option(num_inside < std::numeric_limits<int>::max() / (6 * 4) - 1'000'000, "resolution",
                 resolution, "fewer cells: the body would need over 500 million tetrahedra");

    VolumeMesh mesh;
    mesh.kind = ElementKind::Tet4;
    CutPoints cuts = find_cut_points(crossing, lattice, values, progress);
    const std::vector<WarpedNode> warped = warp_nodes(lattice, values, cuts);
    if (std::none_of(values.begin(), values.end(), [](float value) { return value < 0; }))
        return mesh;
    const VertexNumbers numbers = number_vertices(lattice, values, warped, cuts, mesh.vertices);
    mesh.elements = fill_tets(lattice, values, numbers, mesh.vertices, progress);
    return mesh;
}

VolumeMesh build(const Implicit& body, const Crossing& crossing, const TetOptions& options,
                 Progress& progress) {
    check_option(options.resolution >= kMinResolution && options.resolution <= kMaxResolution,
                 "resolution", options.resolution, "4 to 512");
    VolumeMesh mesh = stuff(body, crossing, options.resolution, progress);
    if (mesh.num_elements() > 0) return mesh;

    // too thin: find the resolution to recommend
    for (int finer = 2 * options.resolution; finer <= kMaxResolution; finer *= 2) {
        if (make_lattice(body.box(), finer).num_nodes() > kMostSearchedNodes)
            throw InputError("", nothing_to_fill(finer / 2));
        if (stuff(body, crossing, finer, progress).num_elements() > 0)
            throw InputError("", "resolution", std::to_string(options.resolution),
                             "at least about " + std::to_string(finer) +
                                 ", because the body is thinner than a lattice cell everywhere");
    }
    throw InputError("", nothing_to_fill(kMaxResolution));
}

}  // namespace

VolumeMesh build_tet_mesh(const Implicit& body, const TetOptions& options, Progress& progress) {
    const Crossing crossing = [&](const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                  double value_a, double value_b) {
        return find_crossing(body, a, b, value_a, value_b);
    };
    return build(body, crossing, options, progress);
}

VolumeMesh build_tet_mesh(const SurfaceQuery& surface, const TetOptions& options,
                          Progress& progress) {
    require_fillable_outwards(surface);
    const Box box = box_of_triangles(surface.mesh());
    const Implicit distance([&](const Eigen::Vector3d& x) { return surface.signed_distance(x); },
                            box);
    const Crossing crossing = [&](const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                  double value_a, double value_b) {
        return find_crossing(surface, distance, a, b, value_a, value_b);
    };
    return build(distance, crossing, options, progress);
}

}  // namespace pliant
