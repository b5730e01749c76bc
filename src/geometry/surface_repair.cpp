#include "geometry/surface_orientation.h"
#include "geometry/triangle.h"
#include "geometry/wording.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace pliant {
namespace {

using Eigen::Vector3d;

int remove_invalid(SurfaceMesh& mesh) {
    return static_cast<int>(std::erase_if(mesh.triangles, [&](const Triangle& t) {
        return std::ranges::any_of(t, [&](int v) {
            return v < 0 || v >= mesh.num_vertices() || !is_usable(mesh.vertices[v]);
        });
    }));
}

std::vector<char> used_vertices(const SurfaceMesh& mesh) {
    std::vector<char> is_used(mesh.vertices.size(), 0);
    for (const Triangle& t : mesh.triangles)
        for (const int v : t) is_used[v] = 1;
    return is_used;
}

/// Finds, for each vertex, the lowest earlier one that stays and lies within `distance`. Buckets
/// are grid cells four distances wide, named by a hash of their place: a collision costs a look at
/// a vertex that is too far away, nothing else.
class Welder {
public:
    Welder(const Vector3d& origin, double distance, double diagonal)
        : origin_(origin), distance_(distance), cell_(4 * distance) {
        // exact welding still needs cells, no finer than the coordinates themselves
        cell_ = std::max(cell_, 1e-15 * diagonal);
        if (cell_ == 0) cell_ = 1;
    }

    std::vector<int> targets(const SurfaceMesh& mesh, const std::vector<char>& is_used) {
        for (int v = 0; v < mesh.num_vertices(); ++v)
            if (is_used[v]) names_.push_back(name(cell_of(mesh.vertices[v])));
        std::ranges::sort(names_);
        names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
        newest_.assign(names_.size(), -1);
        older_.assign(mesh.vertices.size(), -1);

        std::vector<int> target(mesh.vertices.size());
        for (int v = 0; v < mesh.num_vertices(); ++v) {
            target[v] = is_used[v] ? lowest_near(mesh, v) : v;
            if (!is_used[v] || target[v] != v) continue;
            const int bucket = find(name(cell_of(mesh.vertices[v])));
            older_[v] = std::exchange(newest_[bucket], v);
        }
        return target;
    }

private:
    using Cell = std::array<std::int64_t, 3>;

    Cell cell_of(const Vector3d& x) const {
        Cell cell;
        for (int k = 0; k < 3; ++k)
            cell[k] = static_cast<std::int64_t>(std::floor((x[k] - origin_[k]) / cell_));
        return cell;
    }
    static std::uint64_t name(const Cell& cell) {
        std::uint64_t hash = 0;
        for (const std::int64_t k : cell) {
            hash = (hash ^ static_cast<std::uint64_t>(k)) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
        return hash;
    }
    int find(std::uint64_t wanted) const {
        const auto place = std::ranges::lower_bound(names_, wanted);
        if (place == names_.end() || *place != wanted) return -1;
        return static_cast<int>(place - names_.begin());
    }
    int lowest_near(const SurfaceMesh& mesh, int v) const {
        const Vector3d& x = mesh.vertices[v];
        const Cell low = cell_of(x - Vector3d::Constant(distance_));
        const Cell high = cell_of(x + Vector3d::Constant(distance_));
        int lowest = v;
        for (Cell c = low; c[2] <= high[2]; ++c[2])
            for (c[1] = low[1]; c[1] <= high[1]; ++c[1])
                for (c[0] = low[0]; c[0] <= high[0]; ++c[0]) {
                    const int bucket = find(name(c));
                    for (int w = bucket < 0 ? -1 : newest_[bucket]; w >= 0; w = older_[w])
                        if (w < lowest && (mesh.vertices[w] - x).norm() <= distance_) lowest = w;
                }
        return lowest;
    }

    Vector3d origin_;
    double distance_, cell_;
    std::vector<std::uint64_t> names_;  // sorted
    std::vector<int> newest_, older_;   // list of the vertices that stay, for each bucket
};

int weld(SurfaceMesh& mesh, double relative_distance) {
    const std::vector<char> is_used = used_vertices(mesh);
    Box box;
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (is_used[v]) box.extend(mesh.vertices[v]);
    if (box.isEmpty()) return 0;
    const double diagonal = box.diagonal().norm();
    Welder welder(box.min(), relative_distance * diagonal, diagonal);
    const std::vector<int> target = welder.targets(mesh, is_used);
    for (Triangle& t : mesh.triangles)
        for (int& v : t) v = target[v];
    int count = 0;
    for (int v = 0; v < mesh.num_vertices(); ++v) count += target[v] != v;
    return count;
}

bool is_flat(const SurfaceMesh& mesh, const Triangle& t) {
    return has_no_area(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]);
}

/// A flat triangle with three different corners has one of them on its longest side. Dropping it
/// would tear the surface there, so the triangle across that side is first cut at the corner and
/// closes the gap. Rounds, because flat triangles may lie next to each other.
int bridge_flat_triangles(SurfaceMesh& mesh) {
    int num_bridged = 0;
    for (std::size_t num_before = mesh.triangles.size() + 1;;) {
        std::vector<int> flat;
        for (int t = 0; t < mesh.num_triangles(); ++t)
            if (is_flat(mesh, mesh.triangles[t])) flat.push_back(t);
        if (flat.empty() || flat.size() >= num_before) return num_bridged;
        num_before = flat.size();

        const SurfaceTopology topology(mesh);
        std::vector<char> is_busy(mesh.triangles.size(), 0);
        for (const int t : flat) is_busy[t] = 1;
        for (const int t : flat) {
            const auto length = [&](int k) {
                return (mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k)).squaredNorm();
            };
            int side = 0;
            for (int k = 1; k < 3; ++k)
                if (length(k) > length(side)) side = k;
            const int across = topology.neighbour(t, side);
            if (across < 0 || is_busy[across]) continue;
            is_busy[across] = 1;
            const int middle = mesh.triangles[t][(side + 2) % 3];
            int k = 0;
            while (topology.edge_of(across, k) != topology.edge_of(t, side)) ++k;
            // (p, q, apex) shrinks to (p, middle, apex); (middle, q, apex) replaces the flat one
            mesh.triangles[t] = mesh.triangles[across];
            mesh.triangles[across][(k + 1) % 3] = middle;
            mesh.triangles[t][k] = middle;
            ++num_bridged;
        }
    }
}

int remove_degenerate(SurfaceMesh& mesh) {
    const auto num_repeating = std::erase_if(mesh.triangles, has_repeated_corner);
    const int num_bridged = bridge_flat_triangles(mesh);
    const auto num_flat =
        std::erase_if(mesh.triangles, [&](const Triangle& t) { return is_flat(mesh, t); });
    return static_cast<int>(num_repeating + num_flat) + num_bridged;
}

/// Corners in ascending order and the triangle they are of, likewise.
using SortedTriangles = std::vector<std::pair<Triangle, int>>;
SortedTriangles sorted_triangles(const SurfaceMesh& mesh) {
    SortedTriangles sorted;
    sorted.reserve(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        sorted.emplace_back(mesh.triangles[t], t);
        std::ranges::sort(sorted.back().first);
    }
    std::ranges::sort(sorted);
    return sorted;
}

/// All triangles come in pairs that face opposite ways, and one of each pair leaves a border.
/// Without one it is a solid that was written twice.
bool has_two_faces(const SurfaceMesh& mesh, const SortedTriangles& sorted) {
    if (sorted.empty() || sorted.size() % 2 != 0) return false;
    // whether the corners run up, but for where they begin
    const auto runs_up = [&](int t) {
        const Triangle& v = mesh.triangles[t];
        return (v[0] < v[1]) + (v[1] < v[2]) + (v[2] < v[0]) == 2;
    };
    for (std::size_t i = 0; i < sorted.size(); i += 2) {
        if (sorted[i].first != sorted[i + 1].first) return false;
        if (i > 0 && sorted[i].first == sorted[i - 1].first) return false;
        if (runs_up(sorted[i].second) == runs_up(sorted[i + 1].second)) return false;
    }
    std::map<std::pair<int, int>, int> uses;
    for (std::size_t i = 0; i < sorted.size(); i += 2) {
        const Triangle& v = sorted[i].first;
        for (const auto& side :
             {std::pair(v[0], v[1]), std::pair(v[1], v[2]), std::pair(v[0], v[2])})
            ++uses[side];
    }
    return std::ranges::any_of(uses, [](const auto& side) { return side.second == 1; });
}

int remove_duplicate(SurfaceMesh& mesh) {
    const SortedTriangles sorted = sorted_triangles(mesh);
    if (has_two_faces(mesh, sorted)) return 0;
    std::vector<char> is_copy(mesh.triangles.size(), 0);
    for (std::size_t i = 1; i < sorted.size(); ++i)
        if (sorted[i].first == sorted[i - 1].first) is_copy[sorted[i].second] = 1;
    std::vector<Triangle> kept;
    kept.reserve(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t)
        if (!is_copy[t]) kept.push_back(mesh.triangles[t]);
    mesh.triangles.swap(kept);
    return static_cast<int>(kept.size() - mesh.triangles.size());
}

int remove_unused(SurfaceMesh& mesh) {
    const std::vector<char> is_used = used_vertices(mesh);
    std::vector<int> place(mesh.vertices.size(), -1);
    int kept = 0;
    for (int v = 0; v < mesh.num_vertices(); ++v)
        if (is_used[v]) {
            mesh.vertices[kept] = mesh.vertices[v];
            place[v] = kept++;
        }
    const int removed = mesh.num_vertices() - kept;
    mesh.vertices.resize(kept);
    for (Triangle& t : mesh.triangles)
        for (int& v : t) v = place[v];
    return removed;
}

}  // namespace

bool RepairReport::has_changed() const noexcept {
    return welded_vertices + removed_vertices + removed_degenerate + removed_duplicate +
               removed_invalid + flipped_triangles >
           0;
}

std::string RepairReport::text() const {
    std::string text;
    const auto add = [&](const std::string& verb, int count, const std::string& singular,
                         const std::string& plural) {
        if (count > 0)
            text += (text.empty() ? "" : "; ") + verb + " " + counted(count, singular, plural);
    };
    add("removed", removed_invalid, "invalid triangle", "invalid triangles");
    add("welded", welded_vertices, "vertex", "vertices");
    add("removed", removed_degenerate, "degenerate triangle", "degenerate triangles");
    add("removed", removed_duplicate, "duplicate triangle", "duplicate triangles");
    add("removed", removed_vertices, "unused vertex", "unused vertices");
    add("flipped", flipped_triangles, "triangle", "triangles");
    return text.empty() ? "nothing to repair" : text;
}

RepairReport repair_surface(SurfaceMesh& mesh, const RepairOptions& options) {
    assert(options.weld_distance >= 0);
    RepairReport report;
    report.removed_invalid = remove_invalid(mesh);
    report.welded_vertices = weld(mesh, options.weld_distance);
    report.removed_degenerate = remove_degenerate(mesh);
    report.removed_duplicate = remove_duplicate(mesh);
    report.removed_vertices = remove_unused(mesh) - report.welded_vertices;
    report.flipped_triangles = orient_surface(mesh);
    return report;
}

bool is_double_faced(const SurfaceMesh& mesh) {
    return has_two_faces(mesh, sorted_triangles(mesh));
}

SurfaceMesh double_faced(const SurfaceMesh& sheet) {
    SurfaceMesh mesh = sheet;
    if (is_double_faced(sheet)) return mesh;
    mesh.triangles.reserve(2 * sheet.triangles.size());
    for (const Triangle& t : sheet.triangles) mesh.triangles.push_back({t[0], t[2], t[1]});
    return mesh;
}

}  // namespace pliant
