#include "geometry/surface_orientation.h"

#include "geometry/triangle.h"
#include "geometry/triangle_scene.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Triangles connected over edges that exactly two of them share.
struct Patch {
    std::vector<int> triangles;
    bool is_closed = true;
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
                const bool disagree = uses[0].is_forward == uses[1].is_forward;
                result.is_turned[other] = static_cast<char>(result.is_turned[t] != disagree);
                result.patch_of[other] = patch;
                queue.push_back(other);
            }
        }
        result.patches.push_back({std::move(queue)});
    }
    return result;
}

/// A patch is closed when it runs along each of its edges as often one way as the other.
void find_closed(Orientation& orientation, const SurfaceTopology& topology) {
    std::vector<std::pair<int, int>> runs;  // patch, ±1
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        runs.clear();
        for (const SurfaceTopology::EdgeUse& use : topology.uses(edge)) {
            const bool is_forward = use.is_forward != (orientation.is_turned[use.triangle] != 0);
            runs.emplace_back(orientation.patch_of[use.triangle], is_forward ? 1 : -1);
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

/// The closed patches that wind around a point, ascending.
std::vector<int> patches_around(const Vector3d& x, const detail::TriangleScene& scene,
                                const std::vector<int>& patch_of) {
    std::vector<detail::TriangleScene::Passage> passages;
    scene.passages(x, passages);
    std::vector<std::pair<int, int>> turns;  // patch, its share of the winding number
    for (const auto& passage : passages)
        turns.emplace_back(patch_of[passage.triangle], passage.turns);
    std::ranges::sort(turns);
    std::vector<int> around;
    for (std::size_t i = 0; i < turns.size();) {
        int winding = 0;
        const int patch = turns[i].first;
        for (; i < turns.size() && turns[i].first == patch; ++i) winding += turns[i].second;
        if (winding != 0) around.push_back(patch);
    }
    return around;
}

/// Number of closed patches around each closed patch: all its outposts are inside them.
std::vector<int> nesting_depths(const SurfaceMesh& mesh, const Orientation& orientation) {
    const std::vector<Patch>& patches = orientation.patches;
    std::vector<int> depths(patches.size(), 0);
    if (std::ranges::count(patches, true, &Patch::is_closed) < 2) return depths;

    // all closed patches, each with neighbours that agree
    SurfaceMesh closed{mesh.vertices, {}};
    std::vector<int> patch_of;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        if (!patches[orientation.patch_of[t]].is_closed) continue;
        closed.triangles.push_back(mesh.triangles[t]);
        if (orientation.is_turned[t])
            std::swap(closed.triangles.back()[1], closed.triangles.back()[2]);
        patch_of.push_back(orientation.patch_of[t]);
    }
    const detail::TriangleScene scene(closed);
    parallel_for(patches.size(), 16, [&](std::size_t i) {
        if (!patches[i].is_closed) return;
        const std::array<Vector3d, 6> points = outposts(mesh, patches[i]);
        std::vector<int> around = patches_around(points[0], scene, patch_of);
        std::erase(around, static_cast<int>(i));
        for (std::size_t k = 1; k < points.size() && !around.empty(); ++k) {
            const std::vector<int> here = patches_around(points[k], scene, patch_of);
            std::erase_if(around, [&](int p) { return !std::ranges::binary_search(here, p); });
        }
        depths[i] = static_cast<int>(around.size());
    });
    return depths;
}

}  // namespace

int orient_surface(SurfaceMesh& mesh) {
    const SurfaceTopology topology(mesh);
    Orientation orientation = flood_fill(mesh, topology);
    find_closed(orientation, topology);
    const std::vector<int> depths = nesting_depths(mesh, orientation);

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
