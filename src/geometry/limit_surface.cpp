#include "pliant/geometry/limit_surface.h"

#include "core/numbers.h"
#include "geometry/pierce.h"
#include "geometry/sharp_features.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Neighbours of a vertex, anticlockwise seen from outside; with creases, one of them comes first.
struct OrderedRing {
    std::vector<int> vertices;
    std::vector<int> creases;  ///< places in `vertices`, ascending
};

class RingFinder {
public:
    RingFinder(const SurfaceMesh& mesh, const SharpFeatures& sharp)
        : mesh_(mesh), topology_(mesh), sharp_(sharp) {}

    [[nodiscard]] OrderedRing ring(int vertex) const {
        // triangle (v, a, b) says that b follows a
        const auto triangles = topology_.triangles_at(vertex);
        std::vector<std::array<int, 2>> follows;
        for (const int t : triangles)
            for (std::size_t k = 0; k < 3; ++k)
                if (const Triangle& c = mesh_.triangles[at(t)]; c[k] == vertex)
                    follows.push_back({c[(k + 1) % 3], c[(k + 2) % 3]});
        int first = follows.front()[0];
        for (const auto& [a, b] : follows)
            if (sharp_.is_crease(vertex, a)) first = a;
        OrderedRing ring;
        for (int at_vertex = first; ring.vertices.size() < follows.size();) {
            if (sharp_.is_crease(vertex, at_vertex))
                ring.creases.push_back(static_cast<int>(ring.vertices.size()));
            ring.vertices.push_back(at_vertex);
            at_vertex = (*std::find_if(follows.begin(), follows.end(),
                                       [&](const auto& pair) { return pair[0] == at_vertex; }))[1];
        }
        return ring;
    }

private:
    const SurfaceMesh& mesh_;
    SurfaceTopology topology_;
    const SharpFeatures& sharp_;
};

/// Weights of a vertex (first) and its ring that give its limit and two tangents there;
/// tangent 1 × tangent 2 points outwards. On a crease tangent 1 runs along it, tangent 2 and
/// `other_side` away from it to its left and right.
struct LimitMask {
    explicit LimitMask(std::size_t valence)
        : position(valence + 1, 0.0), tangent1(valence + 1, 0.0), tangent2(valence + 1, 0.0) {}
    std::vector<double> position, tangent1, tangent2, other_side;
};

void set_round_tangents(LimitMask& mask) {
    const std::size_t k = mask.position.size() - 1;
    for (std::size_t i = 0; i < k; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(k);
        mask.tangent1[i + 1] = std::cos(angle);
        mask.tangent2[i + 1] = std::sin(angle);
    }
}

/// Sets the tangent from a crease into the sector between the places `from` and `to` of the ring,
/// docs/geometry-subdivision.md eq. (7).
void set_sector_tangent(std::vector<double>& tangent, std::size_t from, std::size_t to) {
    const std::size_t k = tangent.size() - 1, inner = to - from - 1;
    const double step = std::numbers::pi / static_cast<double>(inner + 1);
    const double lambda = inner == 0 ? 0.25 : 0.375 + 0.25 * std::cos(step);
    double sum = 0;
    for (std::size_t i = 1; i <= inner; ++i) sum += std::sin(step * static_cast<double>(i));
    // left eigenvector: columns of a crease neighbour and of the vertex itself
    double at_crease = 1, at_vertex = -2;
    if (inner > 0) {
        const double first = -0.125 * std::sin(step), second = -0.375 * sum;
        const double determinant = (0.5 - lambda) * (0.75 - lambda) - 0.125;
        at_crease = (first * (0.75 - lambda) - 0.125 * second) / determinant;
        at_vertex = ((0.5 - lambda) * second - first) / determinant;
    }
    for (std::size_t i = 1; i <= inner; ++i)
        tangent[(from + i) % k + 1] = std::sin(step * static_cast<double>(i));
    tangent[from % k + 1] = tangent[to % k + 1] = at_crease;
    tangent[0] = at_vertex;
}

/// Where one crease ends, at place 0 of the ring: eigenvectors of one round on what is symmetric to
/// it. There is no closed form.
void set_dart(LimitMask& mask) {
    const auto k = static_cast<int>(mask.position.size()) - 1;
    const int classes = k / 2 + 2;  // the vertex; neighbours by their distance from the crease
    const auto class_of = [&](int i) { return 1 + std::min((i % k + k) % k, k - (i % k + k) % k); };
    Eigen::MatrixXd round = Eigen::MatrixXd::Zero(classes, classes);
    const double beta = loop_weight(k);
    round(0, 0) = 1 - k * beta;
    for (int i = 0; i < k; ++i) round(0, class_of(i)) += beta;
    for (int c = 1; c < classes; ++c) {
        const int i = c - 1;
        round(c, 0) += i == 0 ? 0.5 : 0.375;
        round(c, c) += i == 0 ? 0.5 : 0.375;
        if (i == 0) continue;
        round(c, class_of(i - 1)) += 0.125;
        round(c, class_of(i + 1)) += 0.125;
    }
    const Eigen::EigenSolver<Eigen::MatrixXd> eigen(round.transpose());
    std::vector<int> order;
    for (int c = 0; c < classes; ++c) order.push_back(c);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        return eigen.eigenvalues()[a].real() > eigen.eigenvalues()[b].real();
    });
    // a class's weight is shared out among its vertices
    const auto spread = [&](const Eigen::VectorXd& weights, std::vector<double>& out) {
        std::vector<int> size(at(classes), 0);
        size[0] = 1;
        for (int i = 0; i < k; ++i) ++size[at(class_of(i))];
        out[0] = weights[0];
        for (int i = 0; i < k; ++i) out[at(i) + 1] = weights[class_of(i)] / size[at(class_of(i))];
    };
    set_round_tangents(mask);  // the second one is right
    Eigen::VectorXd w = eigen.eigenvectors().col(order[0]).real();
    spread(w / w.sum(), mask.position);
    w = eigen.eigenvectors().col(order[1]).real();
    spread(w / w[1], mask.tangent1);  // towards the crease
}

LimitMask limit_mask(const OrderedRing& ring, bool is_corner) {
    const std::size_t k = ring.vertices.size();
    LimitMask mask(k);
    if (is_corner || ring.creases.size() > 2) {
        mask.position[0] = 1;
        set_round_tangents(mask);
    } else if (ring.creases.size() == 2) {
        // docs/geometry-subdivision.md eq. (6)
        const std::size_t other = at(ring.creases[1]);
        mask.position[0] = 2.0 / 3.0;
        mask.position[1] = mask.position[other + 1] = 1.0 / 6.0;
        mask.tangent1[1] = 1;
        mask.tangent1[other + 1] = -1;
        set_sector_tangent(mask.tangent2, 0, other);
        mask.other_side.assign(k + 1, 0.0);
        set_sector_tangent(mask.other_side, other, k);
    } else if (ring.creases.size() == 1) {
        set_dart(mask);
    } else {
        // docs/geometry-subdivision.md eq. (5)
        const double beta = loop_weight(static_cast<int>(k));
        const double chi = 1 / (0.375 / beta + static_cast<double>(k));
        std::fill(mask.position.begin(), mask.position.end(), chi);
        mask.position[0] = 1 - static_cast<double>(k) * chi;
        set_round_tangents(mask);
    }
    return mask;
}

Vector3d unit_or_zero(const Vector3d& x) {
    const double length = x.norm();
    return length > 0 && std::isfinite(length) ? Vector3d(x / length) : Vector3d(Vector3d::Zero());
}

/// In the middle between both sides of a crease.
Vector3d crease_normal(const Vector3d& along, const Vector3d& left, const Vector3d& right) {
    return unit_or_zero(unit_or_zero(along.cross(left)) + unit_or_zero(right.cross(along)));
}

/// Rows of a sparse matrix over the control vertices.
struct SparseRows {
    std::vector<int> start{0}, column;
    std::vector<double> weight;
};

/// Adds up multiples of rows.
class RowSum {
public:
    explicit RowSum(int num_columns) : value_(at(num_columns), 0.0), is_used_(at(num_columns), 0) {}

    void add(const SparseRows& rows, int row, double factor) {
        for (int e = rows.start[at(row)]; e < rows.start[at(row) + 1]; ++e) {
            const int c = rows.column[at(e)];
            if (!is_used_[at(c)]) used_.push_back(c);
            is_used_[at(c)] = 1;
            value_[at(c)] += factor * rows.weight[at(e)];
        }
    }
    /// Columns in use, ascending; `value` reads and clears one.
    [[nodiscard]] const std::vector<int>& columns() {
        std::sort(used_.begin(), used_.end());
        return used_;
    }
    [[nodiscard]] double value(int column) const { return value_[at(column)]; }
    void clear() {
        for (const int c : used_) {
            value_[at(c)] = 0;
            is_used_[at(c)] = 0;
        }
        used_.clear();
    }
    void append_to(SparseRows& rows) {
        for (const int c : columns()) {
            rows.column.push_back(c);
            rows.weight.push_back(value(c));
        }
        rows.start.push_back(static_cast<int>(rows.column.size()));
        clear();
    }

private:
    std::vector<double> value_;
    std::vector<char> is_used_;
    std::vector<int> used_;
};

/// One round of Loop's scheme on rows: docs/geometry-subdivision.md eqs. (1)–(3). `edges` are those
/// that the new vertices split.
SparseRows refined(const SparseRows& coarse, const std::vector<SurfaceTopology::Edge>& edges,
                   std::span<const std::array<int, 8>> near, int num_control,
                   const SharpFeatures& sharp) {
    const std::size_t n = coarse.start.size() - 1;
    std::vector<std::vector<int>> smooth(n), crease(n);
    for (const SurfaceTopology::Edge& edge : edges) {
        const bool is_crease = sharp.is_crease(edge);
        for (const auto& [v, u] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
            smooth[at(v)].push_back(u);
            if (is_crease) crease[at(v)].push_back(u);
        }
    }
    SparseRows fine;
    RowSum sum(num_control);
    for (int v = 0; v < static_cast<int>(n); ++v) {
        if (sharp.is_corner(v) || crease[at(v)].size() > 2) {
            sum.add(coarse, v, 1);
        } else if (crease[at(v)].size() == 2) {
            sum.add(coarse, v, 0.75);
            for (const int u : crease[at(v)]) sum.add(coarse, u, 0.125);
        } else {
            const auto k = static_cast<int>(smooth[at(v)].size());
            sum.add(coarse, v, 1 - k * loop_weight(k));
            for (const int u : smooth[at(v)]) sum.add(coarse, u, loop_weight(k));
        }
        sum.append_to(fine);
    }
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const bool is_crease = sharp.is_crease(edges[e]);
        for (std::size_t k = 0; k < (is_crease ? 2u : 4u); ++k)
            sum.add(coarse, near[e][k], is_crease ? 0.5 : k < 2 ? 0.375 : 0.125);
        sum.append_to(fine);
    }
    return fine;
}

}  // namespace

LimitSurface loop_limit(const SurfaceMesh& control, const SubdivisionRules& rules) {
    (void)loop_subdivide(control, 0, rules);  // checks
    const SharpFeatures sharp(control, rules);
    const RingFinder rings(control, sharp);
    LimitSurface limit;
    limit.positions.resize(control.vertices.size());
    limit.normals.resize(control.vertices.size());
    parallel_for(control.vertices.size(), 256, [&](std::size_t v) {
        const OrderedRing ring = rings.ring(static_cast<int>(v));
        const LimitMask mask = limit_mask(ring, sharp.is_corner(static_cast<int>(v)));
        const auto weighted = [&](const std::vector<double>& weights) {
            Vector3d sum = weights[0] * control.vertices[v];
            for (std::size_t i = 0; i < ring.vertices.size(); ++i)
                sum += weights[i + 1] * control.vertices[at(ring.vertices[i])];
            return sum;
        };
        limit.positions[v] = weighted(mask.position);
        const Vector3d t1 = weighted(mask.tangent1), t2 = weighted(mask.tangent2);
        limit.normals[v] = mask.other_side.empty()
                               ? unit_or_zero(t1.cross(t2))
                               : crease_normal(t1, t2, weighted(mask.other_side));
    });
    return limit;
}

DisplacedSurface::DisplacedSurface(const SurfaceMesh& control, int levels,
                                   const SubdivisionRules& rules)
    : num_control_(control.num_vertices()), rest_(control.vertices) {
    const SemiRegularMesh fine = loop_subdivide(control, levels, rules);
    SharpFeatures sharp(control, rules);
    SparseRows rows;
    for (int v = 0; v < num_control_; ++v) {
        rows.column.push_back(v);
        rows.weight.push_back(1);
        rows.start.push_back(v + 1);
    }
    for (int level = 0; level < levels; ++level) {
        const std::size_t begin = at(fine.num_vertices[at(level)] - num_control_);
        const std::size_t end = at(fine.num_vertices[at(level) + 1] - num_control_);
        const auto near = std::span(fine.neighbourhood).subspan(begin, end - begin);
        std::vector<SurfaceTopology::Edge> edges;
        for (const std::array<int, 8>& eight : near) edges.push_back({eight[0], eight[1], 0, 0});
        rows = refined(rows, edges, near, num_control_, sharp);
        sharp.split(edges, fine.num_vertices[at(level)]);
    }

    // limits in terms of the control vertices
    triangles_ = fine.mesh.triangles;
    offsets_.assign(fine.mesh.vertices.size(), 0.0);
    const RingFinder rings(fine.mesh, sharp);
    RowSum position(num_control_), tangent1(num_control_), tangent2(num_control_);
    RowSum other_side(num_control_);
    start_ = side_start_ = {0};
    for (int v = 0; v < num_vertices(); ++v) {
        const OrderedRing ring = rings.ring(v);
        const LimitMask mask = limit_mask(ring, sharp.is_corner(v));
        for (std::size_t i = 0; i <= ring.vertices.size(); ++i) {
            const int u = i == 0 ? v : ring.vertices[i - 1];
            position.add(rows, u, mask.position[i]);
            tangent1.add(rows, u, mask.tangent1[i]);
            tangent2.add(rows, u, mask.tangent2[i]);
            if (!mask.other_side.empty()) other_side.add(rows, u, mask.other_side[i]);
        }
        for (const int c : position.columns())
            entries_.push_back({c, position.value(c), tangent1.value(c), tangent2.value(c)});
        for (const int c : other_side.columns()) side_entries_.push_back({c, other_side.value(c)});
        for (RowSum* sum : {&position, &tangent1, &tangent2, &other_side}) sum->clear();
        start_.push_back(static_cast<int>(entries_.size()));
        side_start_.push_back(static_cast<int>(side_entries_.size()));
    }
}

void DisplacedSurface::set_offsets(std::vector<double> offsets) {
    if (offsets.size() != offsets_.size())
        throw InputError("", "offsets, length", std::to_string(offsets.size()),
                         std::to_string(offsets_.size()) + ", one for each fine vertex");
    for (std::size_t v = 0; v < offsets.size(); ++v)
        if (!std::isfinite(offsets[v]))
            throw InputError("", "offsets[" + std::to_string(v) + "]", std::to_string(offsets[v]),
                             "a finite number");
    offsets_ = std::move(offsets);
}

DisplacementReport DisplacedSurface::fit(const SurfaceQuery& surface, double reach,
                                         Progress& progress) {
    if (!(reach > 0) || !std::isfinite(reach))
        throw InputError("", "reach", std::to_string(reach), "a length > 0 [m]");
    const std::size_t count = offsets_.size();
    std::vector<Vector3d> smooth(count), lifted(count);
    offsets_.assign(count, 0.0);
    evaluate(rest_, smooth);
    offsets_.assign(count, 1.0);
    evaluate(rest_, lifted);

    progress.stage("piercing the surface", count);
    const PiercedSurface target(surface);
    std::vector<char> is_known(count, 0);
    std::atomic<int> num_pierced{0}, num_closest{0};
    parallel_ranges(count, 512, [&](std::size_t begin, std::size_t end) {
        for (std::size_t v = begin; v < end; ++v) {
            const Vector3d normal = lifted[v] - smooth[v];
            if (const auto way = target.pierce(smooth[v], normal, reach)) {
                offsets_[v] = *way;
                is_known[v] = 1;
                ++num_pierced;
            } else if (const auto near = target.closest(smooth[v], normal, reach)) {
                offsets_[v] = normal.dot(*near - smooth[v]);
                is_known[v] = 1;
                ++num_closest;
            }
        }
        progress.advance(end - begin);
    });
    for (std::size_t v = 0; v < count; ++v)
        if (!is_known[v]) offsets_[v] = 0;
    DisplacementReport report;
    report.num_averaged = fill_from_neighbours(triangles_, is_known, offsets_);
    report.num_pierced = num_pierced;
    report.num_closest = num_closest;
    evaluate(rest_, lifted);
    for (const Vector3d& x : lifted) {
        const double distance = surface.closest(x).distance;
        report.max_distance = std::max(report.max_distance, distance);
        report.mean_distance += distance / static_cast<double>(count);
    }
    return report;
}

void DisplacedSurface::evaluate(std::span<const Vector3d> control,
                                std::span<Vector3d> positions) const noexcept {
    assert(control.size() == rest_.size() && positions.size() == offsets_.size());
    for (std::size_t v = 0; v < positions.size(); ++v) {
        Vector3d s = Vector3d::Zero(), t1 = Vector3d::Zero(), t2 = Vector3d::Zero();
        for (int e = start_[v]; e < start_[v + 1]; ++e) {
            const Entry& entry = entries_[at(e)];
            const Vector3d& x = control[at(entry.vertex)];
            s += entry.position * x;
            t1 += entry.tangent1 * x;
            t2 += entry.tangent2 * x;
        }
        Vector3d normal;
        if (side_start_[v] == side_start_[v + 1]) {
            normal = unit_or_zero(t1.cross(t2));
        } else {
            Vector3d right = Vector3d::Zero();
            for (int e = side_start_[v]; e < side_start_[v + 1]; ++e)
                right += side_entries_[at(e)].tangent * control[at(side_entries_[at(e)].vertex)];
            normal = crease_normal(t1, t2, right);
        }
        positions[v] = s + offsets_[v] * normal;
    }
}

void DisplacedSurface::evaluate(std::span<const Vector3d> control, std::span<Vector3d> positions,
                                std::span<Vector3d> normals) const noexcept {
    assert(normals.size() == offsets_.size());
    evaluate(control, positions);
    std::fill(normals.begin(), normals.end(), Vector3d::Zero());
    for (const auto& [a, b, c] : triangles_) {
        const Vector3d normal =
            (positions[at(b)] - positions[at(a)]).cross(positions[at(c)] - positions[at(a)]);
        normals[at(a)] += normal;
        normals[at(b)] += normal;
        normals[at(c)] += normal;
    }
    for (Vector3d& n : normals) n = unit_or_zero(n);
}

}  // namespace pliant
