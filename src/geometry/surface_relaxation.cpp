#include "geometry/surface_relaxation.h"

#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr std::size_t kRelaxationGrain = 512;
constexpr double kLongestMove = 0.3;     // of the lattice spacing, per move
constexpr double kTangentialRate = 0.6;  // part of the way to the middle of the neighbours
constexpr double kFlattest = 0.2;        // shape below which no move may make a triangle worse
constexpr double kLargestTurn = 0.3;     // cosine of the largest turn of a triangle in one move

/// 1 for an equilateral triangle, 0 for a flat one.
double triangle_shape(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
    const double edges = (b - a).squaredNorm() + (c - b).squaredNorm() + (a - c).squaredNorm();
    return 2.0 * std::sqrt(3.0) * (b - a).cross(c - a).norm() / edges;
}

class Relaxation {
public:
    Relaxation(SurfaceMesh& mesh, const Implicit& body, double spacing)
        : mesh_(mesh),
          body_(body),
          spacing_(spacing),
          normals_(mesh.vertices.size(), Vector3d::Zero()),
          targets_(mesh.vertices),
          start_(mesh.vertices.size() + 1, 0) {
        // triangles around each vertex
        for (const Triangle& t : mesh.triangles)
            for (const int v : t) ++start_[v + 1];
        for (std::size_t v = 0; v < mesh.vertices.size(); ++v) start_[v + 1] += start_[v];
        fans_.resize(3 * mesh.triangles.size());
        std::vector<int> fill(start_.begin(), start_.end() - 1);
        for (int t = 0; t < mesh.num_triangles(); ++t)
            for (const int v : mesh.triangles[t]) fans_[fill[v]++] = t;
    }

    void project() {
        for_each_vertex([&](std::size_t v) { targets_[v] = on_surface(v, mesh_.vertices[v]); });
        move_towards_targets();
    }

    void even_out() {
        for_each_vertex([&](std::size_t v) {
            // area-weighted middle of the triangles around, along the surface only
            Vector3d middle = Vector3d::Zero();
            double weight = 0.0;
            for (int i = start_[v]; i < start_[v + 1]; ++i) {
                const Vector3d &a = mesh_.corner(fans_[i], 0), &b = mesh_.corner(fans_[i], 1),
                               &c = mesh_.corner(fans_[i], 2);
                const double area = (b - a).cross(c - a).norm();
                middle += area * (a + b + c) / 3.0;
                weight += area;
            }
            const Vector3d& x = mesh_.vertices[v];
            Vector3d move = weight > 0.0 ? Vector3d(middle / weight - x) : Vector3d::Zero();
            move -= normals_[v] * normals_[v].dot(move);
            targets_[v] = on_surface(v, x + limited(kTangentialRate * move));
        });
        move_towards_targets();
    }

private:
    template <class Action>
    void for_each_vertex(Action&& action) {
        parallel_for(mesh_.vertices.size(), kRelaxationGrain, action);
    }

    [[nodiscard]] Vector3d limited(const Vector3d& move) const {
        const double length = move.norm(), limit = kLongestMove * spacing_;
        return length > limit ? Vector3d(move * (limit / length)) : move;
    }

    /// One Newton step from x; value and gradient from the corners of a small tetrahedron.
    Vector3d on_surface(std::size_t v, const Vector3d& x) {
        const double e = 1e-3 * spacing_;
        const double a = body_(x + Vector3d(e, e, e)), b = body_(x + Vector3d(e, -e, -e)),
                     c = body_(x + Vector3d(-e, e, -e)), d = body_(x + Vector3d(-e, -e, e));
        const Vector3d gradient = Vector3d(a + b - c - d, a - b + c - d, a - b - c + d) / (4.0 * e);
        const double value = 0.25 * (a + b + c + d), slope2 = gradient.squaredNorm();
        // a ridge or the medial sheet of a thin part: no direction to go
        if (!(slope2 > 1e-4)) return x;
        normals_[v] = gradient / std::sqrt(slope2);
        return x - limited(gradient * (value / slope2));
    }

    /// Moves every vertex as far towards its target as keeps all triangles in shape: all the way,
    /// half, or not at all. The last always succeeds, so the loop ends.
    void move_towards_targets() {
        const std::vector<Vector3d> before = mesh_.vertices;
        std::vector<unsigned char> level(before.size(), 2);
        std::vector<unsigned char> is_bad(mesh_.triangles.size());
        const auto place = [&](std::size_t v) {
            mesh_.vertices[v] = before[v] + 0.5 * level[v] * (targets_[v] - before[v]);
        };
        for_each_vertex(place);
        for (bool any_bad = true; any_bad;) {
            parallel_for(mesh_.triangles.size(), kRelaxationGrain, [&](std::size_t t) {
                const auto [i, j, k] = mesh_.triangles[t];
                is_bad[t] = level[i] + level[j] + level[k] > 0 && spoils(before, {i, j, k});
            });
            any_bad = false;
            std::vector<int> changed;
            for (std::size_t t = 0; t < is_bad.size(); ++t) {
                if (!is_bad[t]) continue;
                any_bad = true;
                for (const int v : mesh_.triangles[t]) changed.push_back(v);
            }
            std::sort(changed.begin(), changed.end());
            changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
            for (const int v : changed) {
                if (level[v] > 0) --level[v];
                place(v);
            }
        }
    }

    [[nodiscard]] bool spoils(const std::vector<Vector3d>& before, const Triangle& t) const {
        const Vector3d &a0 = before[t[0]], &b0 = before[t[1]], &c0 = before[t[2]];
        const Vector3d &a = mesh_.vertices[t[0]], &b = mesh_.vertices[t[1]],
                       &c = mesh_.vertices[t[2]];
        const Vector3d n0 = (b0 - a0).cross(c0 - a0), n = (b - a).cross(c - a);
        if (n.dot(n0) < kLargestTurn * n.norm() * n0.norm()) return true;
        const double shape = triangle_shape(a, b, c);
        return shape < kFlattest && shape < triangle_shape(a0, b0, c0);
    }

    SurfaceMesh& mesh_;
    const Implicit& body_;
    double spacing_;
    std::vector<Vector3d> normals_, targets_;
    std::vector<int> start_, fans_;
};

}  // namespace

void relax_onto_surface(SurfaceMesh& mesh, const Implicit& body, double spacing, int rounds,
                        Progress& progress) {
    progress.stage("smooth surface", static_cast<std::size_t>(rounds) + 1);
    Relaxation relaxation(mesh, body, spacing);
    relaxation.project();
    progress.advance();
    for (int round = 0; round < rounds; ++round) {
        relaxation.even_out();
        progress.advance();
    }
}

}  // namespace pliant
