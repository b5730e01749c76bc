#include "geometry/surface_orientation.h"

#include "geometry/triangle.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Triangles connected over edges that exactly two of them share.
struct Patch {
    std::vector<int> triangles;
    bool is_closed = true;
    Box box;
};

struct Orientation {
    std::vector<int> patch_of;
    std::vector<char> is_turned;
    std::vector<Patch> patches;
};

/// Flood fill from the lowest triangle of each patch, turning neighbours to agree.
Orientation flood_fill(const SurfaceMesh& mesh, const SurfaceTopology& topology) {
    Orientation result;
    result.patch_of.assign(mesh.triangles.size(), -1);
    result.is_turned.assign(mesh.triangles.size(), 0);
    for (int seed = 0; seed < mesh.num_triangles(); ++seed) {
        if (result.patch_of[seed] >= 0) continue;
        const int patch = static_cast<int>(result.patches.size());
        std::vector<int> queue{seed};
        result.patch_of[seed] = patch;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const int t = queue[head];
            for (int side = 0; side < 3; ++side) {
                const int other = topology.neighbour(t, side);
                if (other < 0 || result.patch_of[other] >= 0) continue;
                const auto uses = topology.uses(topology.edges()[topology.edge_of(t, side)]);
                const bool disagree = uses[0].forward == uses[1].forward;
                result.is_turned[other] = static_cast<char>(result.is_turned[t] != disagree);
                result.patch_of[other] = patch;
                queue.push_back(other);
            }
        }
        result.patches.push_back({std::move(queue), true, {}});
    }
    return result;
}

/// A patch is closed when it runs along each of its edges as often one way as the other.
void find_closed(Orientation& orientation, const SurfaceTopology& topology) {
    std::vector<std::pair<int, int>> runs;  // patch, ±1
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        runs.clear();
        for (const SurfaceTopology::EdgeUse& use : topology.uses(edge)) {
            const bool forward = use.forward != (orientation.is_turned[use.triangle] != 0);
            runs.emplace_back(orientation.patch_of[use.triangle], forward ? 1 : -1);
        }
        std::ranges::sort(runs);
        for (std::size_t i = 0; i < runs.size();) {
            int balance = 0;
            const int patch = runs[i].first;
            for (; i < runs.size() && runs[i].first == patch; ++i) balance += runs[i].second;
            if (balance != 0) orientation.patches[patch].is_closed = false;
        }
    }
}

double patch_volume(const SurfaceMesh& mesh, const Orientation& orientation, const Patch& patch) {
    const Vector3d apex = mesh.corner(patch.triangles[0], 0);
    double volume = 0;
    for (const int t : patch.triangles) {
        const Vector3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
        volume += (orientation.is_turned[t] ? -1 : 1) * (a - apex).dot(area_vector(a, b, c));
    }
    return volume;
}

/// Does a ray from p along +x pass the edge seen along z? Compares y in a half-open way and takes
/// the ends in one order, so that the triangles on both sides of an edge get the same answer.
bool passes_edge(const Vector3d& p, const Vector3d* a, const Vector3d* b) {
    if ((a->y() > p.y()) == (b->y() > p.y())) return false;
    if (b < a) std::swap(a, b);
    const double t = (p.y() - a->y()) / (b->y() - a->y());
    return a->x() + t * (b->x() - a->x()) > p.x();
}

/// Is a point inside a closed patch? Counts the triangles above it; those are looked up in strips
/// of equal width along y.
class InsideTest {
public:
    InsideTest(const SurfaceMesh& mesh, const Patch& patch)
        : mesh_(mesh),
          low_(patch.box.min().y()),
          num_strips_(static_cast<int>(
              std::clamp(std::sqrt(static_cast<double>(patch.triangles.size())), 1.0, 1000.0))),
          width_(patch.box.sizes().y() / num_strips_),
          strips_(num_strips_) {
        for (const int t : patch.triangles) {
            const auto [low, high] =
                std::minmax({mesh.corner(t, 0).y(), mesh.corner(t, 1).y(), mesh.corner(t, 2).y()});
            for (int s = strip(low); s <= strip(high); ++s) strips_[s].push_back(t);
        }
    }

    bool operator()(const Vector3d& p) const {
        bool inside = false;
        for (const int t : strips_[strip(p.y())]) {
            const Vector3d &a = mesh_.corner(t, 0), &b = mesh_.corner(t, 1),
                           &c = mesh_.corner(t, 2);
            if (passes_edge(p, &a, &b) != (passes_edge(p, &b, &c) != passes_edge(p, &c, &a))) {
                const Vector3d n = area_vector(a, b, c);
                // above p when the height n · (a − p) / n.z is positive
                inside ^= n.z() != 0 && (n.dot(a - p) > 0) == (n.z() > 0);
            }
        }
        return inside;
    }

private:
    int strip(double y) const {
        return width_ > 0 ? std::clamp(static_cast<int>((y - low_) / width_), 0, num_strips_ - 1)
                          : 0;
    }

    const SurfaceMesh& mesh_;
    double low_;
    int num_strips_;
    double width_;
    std::vector<std::vector<int>> strips_;
};

/// Centroids of the triangles that reach farthest in the six directions: if all of them are inside
/// another patch, the two hardly cross.
std::array<Vector3d, 6> outposts(const SurfaceMesh& mesh, const Patch& patch) {
    std::array<Vector3d, 6> points;
    points.fill(mesh.corner(patch.triangles[0], 0));
    bool is_first = true;
    for (const int t : patch.triangles) {
        const Vector3d centroid = (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3;
        for (int k = 0; k < 3; ++k) {
            if (is_first || centroid[k] < points[2 * k][k]) points[2 * k] = centroid;
            if (is_first || centroid[k] > points[2 * k + 1][k]) points[2 * k + 1] = centroid;
        }
        is_first = false;
    }
    return points;
}

/// Number of closed patches around each patch.
std::vector<int> nesting_depths(const SurfaceMesh& mesh, std::vector<Patch>& patches) {
    std::vector<int> by_left_end;
    for (int i = 0; i < static_cast<int>(patches.size()); ++i) {
        if (!patches[i].is_closed) continue;
        by_left_end.push_back(i);
        for (const int t : patches[i].triangles)
            for (int k = 0; k < 3; ++k) patches[i].box.extend(mesh.corner(t, k));
    }
    // a box comes before those inside it
    std::ranges::stable_sort(by_left_end, {}, [&](int i) {
        return std::pair(patches[i].box.min().x(), -patches[i].box.max().x());
    });

    std::vector<int> depths(patches.size(), 0);
    for (std::size_t i = 0; i < by_left_end.size(); ++i) {
        const Patch& outer = patches[by_left_end[i]];
        std::optional<InsideTest> is_inside;
        for (std::size_t j = i + 1; j < by_left_end.size(); ++j) {
            const Patch& inner = patches[by_left_end[j]];
            if (inner.box.min().x() > outer.box.max().x()) break;
            if (!outer.box.contains(inner.box)) continue;
            if (!is_inside) is_inside.emplace(mesh, outer);
            depths[by_left_end[j]] += std::ranges::all_of(
                outposts(mesh, inner), [&](const Vector3d& p) { return (*is_inside)(p); });
        }
    }
    return depths;
}

}  // namespace

int orient_surface(SurfaceMesh& mesh) {
    const SurfaceTopology topology(mesh);
    Orientation orientation = flood_fill(mesh, topology);
    find_closed(orientation, topology);
    const std::vector<int> depths = nesting_depths(mesh, orientation.patches);

    // which way round each patch as a whole
    for (std::size_t i = 0; i < orientation.patches.size(); ++i) {
        const Patch& patch = orientation.patches[i];
        bool turn_all = false;
        if (patch.is_closed) {
            const double volume = patch_volume(mesh, orientation, patch);
            turn_all = depths[i] % 2 == 0 ? volume < 0 : volume > 0;
        } else {
            const auto num_turned = std::ranges::count_if(
                patch.triangles, [&](int t) { return orientation.is_turned[t] != 0; });
            turn_all = 2 * num_turned > static_cast<std::ptrdiff_t>(patch.triangles.size());
        }
        if (turn_all)
            for (const int t : patch.triangles) orientation.is_turned[t] ^= 1;
    }

    int num_turned = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t)
        if (orientation.is_turned[t]) {
            std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
            ++num_turned;
        }
    return num_turned;
}

}  // namespace pliant
