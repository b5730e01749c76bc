#include "pliant/geometry/remesh.h"

#include "core/numbers.h"
#include "geometry/decimate.h"
#include "geometry/pierce.h"
#include "geometry/surface_spread.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/limit_surface.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace pliant {
namespace {

using Eigen::Vector3d;

void require_one_closed_piece(const SurfaceMesh& mesh) {
    SurfaceReport report = check_surface(mesh);
    if (report.num_components > 1)
        throw InputError("", "a mesh to remesh must be in one piece, but this is in " +
                                 std::to_string(report.num_components) +
                                 "; remesh its parts one by one");
    std::string defects = report.text();
    // both faces of a sheet, say
    const double size = bounding_box(mesh.vertices).diagonal().norm();
    if (defects.empty() && !(enclosed_volume(mesh) > 1e-12 * size * size * size))
        throw InputError("",
                         "a mesh to remesh must be a body, but this encloses no volume; give the "
                         "sheet a thickness first");
    if (defects.empty()) return;
    for (std::size_t k; (k = defects.find('\n')) != std::string::npos;) defects.replace(k, 1, ", ");
    throw InputError("", "a mesh to remesh must be closed and manifold, but this has " + defects +
                             "; try 'pliant convert --repair', or make a closed surface of it "
                             "first, as 'pliant mesh --kind tet' does");
}

void require_options(const SurfaceMesh& mesh, const RemeshOptions& options) {
    if (options.base_vertices < 4 || options.base_vertices > mesh.num_vertices())
        throw InputError(
            "", "base_vertices", std::to_string(options.base_vertices),
            "4 … " + std::to_string(mesh.num_vertices()) + ", the number of vertices of the input");
    if (options.smoothing < 0 || options.smoothing > 10000)
        throw InputError("", "smoothing", std::to_string(options.smoothing), "0 … 10000 rounds");
    if (!(options.evenness >= 0 && options.evenness <= 1))
        throw InputError("", "evenness", std::to_string(options.evenness), "0 … 1");
    // the base has about two triangles a vertex
    if (options.levels < 0 || options.levels > 12 ||
        2.0 * options.base_vertices * std::pow(4.0, options.levels) > 5e7)
        throw InputError("", "levels", std::to_string(options.levels),
                         "a number of rounds that leaves at most 50 million triangles, each four "
                         "times those of the round before");
}

/// Places the vertices of a level that are new, first along the normals of the limit surface.
class LevelPlacement {
public:
    LevelPlacement(const PiercedSurface& target, const SemiRegularMesh& hierarchy,
                   RemeshReport& report)
        : target_(target), hierarchy_(hierarchy), report_(report) {}

    void place(int level, std::vector<Vector3d>& x) {
        const std::size_t num_old = x.size();
        x.resize(at(hierarchy_.num_vertices[at(level)]));
        for (std::size_t v = num_old; v < x.size(); ++v)
            x[v] = butterfly_point(x, hierarchy_.neighbourhood[v - at(hierarchy_.num_vertices[0])]);
        const std::vector<Triangle>& triangles = hierarchy_.triangles[at(level)];
        const std::vector<Vector3d> normals = loop_limit({x, triangles}).normals;

        // within two edges: farther away is another part
        std::vector<double> reach(x.size(), 0.0);
        for (const Triangle& t : triangles)
            for (std::size_t k = 0; k < 3; ++k)
                reach[at(t[k])] =
                    std::max(reach[at(t[k])], 2 * (x[at(t[k])] - x[at(t[(k + 1) % 3])]).norm());
        enum Way : char { Averaged, Pierced, Closest, Old };
        std::vector<char> way(x.size(), Old);
        std::vector<double> offset(x.size(), 0.0);
        std::vector<Vector3d> placed = x;
        parallel_for(x.size() - num_old, 256, [&](std::size_t k) {
            const std::size_t v = num_old + k;
            way[v] = Averaged;
            if (const auto along = target_.pierce(x[v], normals[v], reach[v])) {
                offset[v] = *along;
                placed[v] = x[v] + *along * normals[v];
                way[v] = Pierced;
            } else if (const auto near = target_.closest(x[v], normals[v], reach[v])) {
                offset[v] = normals[v].dot(*near - x[v]);
                placed[v] = *near;
                way[v] = Closest;
            }
        });
        report_.num_pierced += static_cast<int>(std::count(way.begin(), way.end(), Pierced));
        report_.num_closest += static_cast<int>(std::count(way.begin(), way.end(), Closest));
        report_.num_averaged +=
            fill_from_neighbours(triangles, std::vector<char>(way.begin(), way.end()), offset);
        for (std::size_t v = num_old; v < x.size(); ++v)
            if (way[v] == Averaged) placed[v] = x[v] + offset[v] * normals[v];
        x = std::move(placed);
    }

private:
    const PiercedSurface& target_;
    const SemiRegularMesh& hierarchy_;
    RemeshReport& report_;
};

/// Smooths where triangles face away from the input or are needles: every vertex within two rings
/// goes to the middle of its neighbours and back to the input, until there are none or for
/// kUntanglingRounds.
class Untangling {
public:
    Untangling(const SurfaceQuery& input, const std::vector<Triangle>& triangles)
        : input_(input), faces_(face_normals(input.mesh())), triangles_(triangles) {}

    void run(std::vector<Vector3d>& x) {
        constexpr int kUntanglingRounds = 20;
        for (int k = 0; k < kUntanglingRounds; ++k) {
            const std::vector<char> is_near = near_bad_triangles(x);
            if (is_near.empty()) return;
            std::vector<Vector3d> sum(x.size(), Vector3d::Zero());
            std::vector<int> count(x.size(), 0);
            for (const Triangle& t : triangles_)
                for (std::size_t c = 0; c < 3; ++c) {
                    sum[at(t[c])] += x[at(t[(c + 1) % 3])] + x[at(t[(c + 2) % 3])];
                    count[at(t[c])] += 2;
                }
            for (std::size_t v = 0; v < x.size(); ++v)
                if (is_near[v]) x[v] = input_.closest(sum[v] / count[v]).point;
        }
    }

private:
    [[nodiscard]] bool is_bad(const std::vector<Vector3d>& x, const Triangle& t) const {
        constexpr double kNeedle = 0.12;  // twice the area over the longest side squared
        const Vector3d &a = x[at(t[0])], &b = x[at(t[1])], &c = x[at(t[2])];
        const Vector3d normal = (b - a).cross(c - a);
        const double longest =
            std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
        if (normal.norm() < kNeedle * longest) return true;
        const int near = input_.closest((a + b + c) / 3).triangle;
        return normal.dot(faces_[at(near)]) < 0.1 * normal.norm();
    }
    /// Empty if none is bad.
    [[nodiscard]] std::vector<char> near_bad_triangles(const std::vector<Vector3d>& x) const {
        std::vector<char> is_triangle_bad(triangles_.size());
        parallel_for(triangles_.size(), 256,
                     [&](std::size_t t) { is_triangle_bad[t] = is_bad(x, triangles_[t]); });
        std::vector<char> is_near(x.size(), 0);
        bool is_any = false;
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            if (!is_triangle_bad[t]) continue;
            is_any = true;
            for (const int v : triangles_[t]) is_near[at(v)] = 1;
        }
        if (!is_any) return {};
        const std::vector<char> first = is_near;
        for (const Triangle& t : triangles_)
            if (first[at(t[0])] || first[at(t[1])] || first[at(t[2])])
                for (const int v : t) is_near[at(v)] = 1;
        return is_near;
    }

    const SurfaceQuery& input_;
    std::vector<Vector3d> faces_;
    const std::vector<Triangle>& triangles_;
};

struct Distances {
    double mean = 0, max = 0;
};

/// From vertices and centroids.
Distances distances(const SurfaceMesh& from, const SurfaceQuery& to) {
    const std::size_t n = from.vertices.size(), all = n + from.triangles.size();
    std::vector<double> d(all);
    parallel_for(all, 256, [&](std::size_t i) {
        const Vector3d x = i < n ? from.vertices[i]
                                 : Vector3d((from.corner(static_cast<int>(i - n), 0) +
                                             from.corner(static_cast<int>(i - n), 1) +
                                             from.corner(static_cast<int>(i - n), 2)) /
                                            3);
        d[i] = to.closest(x).distance;
    });
    Distances result;
    for (const double value : d) {
        result.mean += value / static_cast<double>(all);
        result.max = std::max(result.max, value);
    }
    return result;
}

void measure(const SurfaceMesh& result, const SurfaceQuery& input, RemeshReport& report) {
    const double diagonal = bounding_box(input.mesh().vertices).diagonal().norm();
    const Distances there = distances(result, input);
    const Distances back = distances(input.mesh(), SurfaceQuery(result));
    report.mean_distance = there.mean / diagonal;
    report.max_distance = there.max / diagonal;
    report.mean_distance_back = back.mean / diagonal;
    report.max_distance_back = back.max / diagonal;
    report.volume_ratio = enclosed_volume(result) / enclosed_volume(input.mesh());

    const std::vector<Vector3d> faces = face_normals(input.mesh()), own = face_normals(result);
    report.smallest_angle = 180;
    double shortest = kInfinity, longest = 0;
    for (int t = 0; t < result.num_triangles(); ++t) {
        for (int k = 0; k < 3; ++k) {
            const Vector3d e = result.corner(t, (k + 1) % 3) - result.corner(t, k);
            const Vector3d f = result.corner(t, (k + 2) % 3) - result.corner(t, k);
            const double angle = std::atan2(e.cross(f).norm(), e.dot(f)) * 180 / std::numbers::pi;
            report.smallest_angle = std::min(report.smallest_angle, angle);
            shortest = std::min(shortest, e.norm());
            longest = std::max(longest, e.norm());
        }
        const Vector3d centre =
            (result.corner(t, 0) + result.corner(t, 1) + result.corner(t, 2)) / 3;
        const ClosestPoint near = input.closest(centre);
        if (own[at(t)].dot(faces[at(near.triangle)]) < 0) ++report.num_flipped;
    }
    report.edge_ratio = shortest > 0 ? longest / shortest : kInfinity;
}

}  // namespace

double RemeshReport::fallback_fraction() const noexcept {
    const int all = num_pierced + num_closest + num_averaged;
    return all > 0 ? static_cast<double>(num_closest + num_averaged) / all : 0.0;
}

std::string RemeshReport::text() const {
    char text[600];
    std::snprintf(
        text, sizeof text,
        "%d base vertices, genus %d; %.1f %% of the new vertices not by piercing\n"
        "distance to the input %.3f %% of the diagonal in the mean, %.2f %% at most; back "
        "%.3f %% and %.2f %%; volume %+.2f %%\n"
        "smallest angle %.1f°, longest over shortest edge %.1f, %d triangles flipped",
        num_base_vertices, genus, 100 * fallback_fraction(), 100 * mean_distance,
        100 * max_distance, 100 * mean_distance_back, 100 * max_distance_back,
        100 * (volume_ratio - 1), smallest_angle, edge_ratio, num_flipped);
    return text;
}

SemiRegularMesh remesh(const SurfaceMesh& mesh, const RemeshOptions& options, Progress& progress,
                       RemeshReport* report) {
    require_one_closed_piece(mesh);
    require_options(mesh, options);
    RemeshReport found;
    const SurfaceMesh base = decimate(mesh, options.base_vertices, progress);
    found.num_base_vertices = base.num_vertices();
    found.genus = 1 - SurfaceTopology(base).euler_number() / 2;
    SemiRegularMesh result = midpoint_subdivide(base, options.levels);

    const SurfaceQuery input(mesh, SignMethod::PseudoNormal);
    const PiercedSurface target(input);
    const auto pull = [&](const Vector3d& x, const Vector3d& normal, double reach) -> Vector3d {
        if (const auto near = target.closest(x, normal, reach)) return *near;
        if (const auto along = target.pierce(x, normal, reach)) return x + *along * normal;
        return x;
    };
    const auto onto_input = [&](const Vector3d& x, const Vector3d&, double) -> Vector3d {
        return input.closest(x).point;
    };
    LevelPlacement placement(target, result, found);
    std::vector<Vector3d> x = base.vertices;
    const std::vector<char> is_pinned(result.mesh.vertices.size(), 0);
    for (int level = 0; level <= options.levels; ++level) {
        if (level > 0) placement.place(level, x);
        SurfaceSpread spread(result.triangles[at(level)], is_pinned, x);
        spread.keep_ridges();
        spread.pull(0, pull);
        const int rounds = options.smoothing >> 2 * level;
        progress.stage("evening out level " + std::to_string(level), at(rounds));
        for (int k = 0; k < rounds; ++k) {
            spread.round(options.evenness, pull);
            progress.advance();
        }
        if (level == options.levels) spread.pull(0, onto_input);
        if (level > 0 && options.smoothing > 0)
            Untangling(input, result.triangles[at(level)]).run(x);
    }
    result.mesh.vertices = std::move(x);
    if (report) {
        progress.stage("measuring");
        measure(result.mesh, input, found);
        *report = found;
    }
    progress.finish();
    return result;
}

}  // namespace pliant
