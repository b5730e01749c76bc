#include "greens/outer_surface.h"

#include "core/numbers.h"
#include "geometry/disjoint_sets.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <tuple>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// One side of a triangle, from its corner `k` to the next one.
struct OuterSide {
    int low, high;  // ends, in ascending order
    int triangle, k;
    bool is_forward;  // from low to high

    [[nodiscard]] int corner(bool at_low) const {
        return 3 * triangle + (at_low == is_forward ? k : (k + 1) % 3);
    }
};

std::vector<OuterSide> sorted_sides(const std::vector<Triangle>& triangles) {
    std::vector<OuterSide> sides;
    for (int t = 0; t < static_cast<int>(triangles.size()); ++t)
        for (int k = 0; k < 3; ++k) {
            const int a = triangles[at(t)][at(k)], b = triangles[at(t)][at((k + 1) % 3)];
            sides.push_back({std::min(a, b), std::max(a, b), t, k, a < b});
        }
    std::sort(sides.begin(), sides.end(), [](const OuterSide& a, const OuterSide& b) {
        return std::tie(a.low, a.high, a.triangle, a.k) < std::tie(b.low, b.high, b.triangle, b.k);
    });
    return sides;
}

/// Calls `visit` with the sides of each edge.
template <class Visit>
void for_each_edge(const std::vector<OuterSide>& sides, const Visit& visit) {
    for (std::size_t first = 0; first < sides.size();) {
        std::size_t end = first;
        while (end < sides.size() && sides[end].low == sides[first].low &&
               sides[end].high == sides[first].high)
            ++end;
        visit(std::span(sides).subspan(first, end - first));
        first = end;
    }
}

/// Joins triangles across edges into fans around their corners.
class OuterFans {
public:
    OuterFans(const std::vector<Triangle>& triangles, const std::vector<Vector3d>& points)
        : triangles_(triangles),
          points_(points),
          fans_(3 * static_cast<int>(triangles.size())),
          sides_(sorted_sides(triangles)) {}

    /// Vertex of each corner: that of its node for the first fan of a node.
    [[nodiscard]] std::vector<Triangle> split(std::vector<Vector3d>& vertices) {
        join_all({});
        // fans that meet again beyond the ends of an edge are cut along it
        std::vector<char> is_cut;
        bool has_cuts = false;
        for_each_edge(sides_, [&](std::span<const OuterSide> around) {
            int same = 0;
            for (const OuterSide& side : around) same += is_same_edge(side, around.front()) ? 1 : 0;
            is_cut.push_back(same > 2 ? 1 : 0);
            has_cuts = has_cuts || same > 2;
        });
        if (has_cuts) {
            fans_ = DisjointSets(3 * static_cast<int>(triangles_.size()));
            join_all(is_cut);
        }

        std::vector<int> vertex_of_fan(3 * triangles_.size(), -1);
        std::vector<char> is_taken(points_.size(), 0);
        std::vector<Triangle> result = triangles_;
        for (int corner = 0; corner < 3 * static_cast<int>(triangles_.size()); ++corner) {
            int& node = result[at(corner / 3)][at(corner % 3)];
            int& vertex = vertex_of_fan[at(fans_.root(corner))];
            if (vertex < 0 && is_taken[at(node)] == 0) {
                vertex = node;
            } else if (vertex < 0) {
                vertex = static_cast<int>(vertices.size());
                vertices.push_back(points_[at(node)]);
            }
            is_taken[at(node)] = 1;
            node = vertex;
        }
        return result;
    }

private:
    [[nodiscard]] bool is_same_edge(const OuterSide& a, const OuterSide& b) {
        return fans_.root(a.corner(true)) == fans_.root(b.corner(true)) &&
               fans_.root(a.corner(false)) == fans_.root(b.corner(false));
    }

    void join_all(const std::vector<char>& is_cut) {
        std::size_t edge = 0;
        for_each_edge(sides_, [&](std::span<const OuterSide> around) {
            if (!is_cut.empty() && is_cut[edge++] != 0) return;
            for (const OuterSide& side : around) {
                if (!side.is_forward) continue;
                const OuterSide* mate = mate_of(side, around);
                if (mate == nullptr) continue;
                for (const bool at_low : {true, false})
                    fans_.join(side.corner(at_low), mate->corner(at_low));
            }
        });
    }

    /// The triangle on the other side of the body at this edge: the next one on turning about the
    /// edge into the body.
    [[nodiscard]] const OuterSide* mate_of(const OuterSide& side,
                                           std::span<const OuterSide> around) const {
        const Vector3d axis = (points_[at(side.high)] - points_[at(side.low)]).normalized();
        const auto across = [&](const OuterSide& s) -> Vector3d {
            const int node = triangles_[at(s.triangle)][at((s.k + 2) % 3)];
            const Vector3d r = points_[at(node)] - points_[at(side.low)];
            return r - axis.dot(r) * axis;
        };
        const Vector3d r = across(side), outward = axis.cross(r);
        const OuterSide* best = nullptr;
        double smallest = 3 * std::numbers::pi;
        for (const OuterSide& other : around) {
            if (other.is_forward) continue;
            const Vector3d q = across(other);
            double angle = std::atan2(-q.dot(outward), q.dot(r));
            if (angle <= 0) angle += 2 * std::numbers::pi;
            if (angle < smallest) {
                smallest = angle;
                best = &other;
            }
        }
        return best;
    }

    const std::vector<Triangle>& triangles_;
    const std::vector<Vector3d>& points_;
    DisjointSets fans_;
    std::vector<OuterSide> sides_;
};

/// Vertices nearer to each other than this part of the longest edge are spread, in so many rounds:
/// elements could hardly tell them apart.
constexpr double kCrowded = 0.25;
constexpr int kSpreads = 12;
/// Reach of a vertex over its longest edge, which may be but the side of a cell whose corner it is.
constexpr double kReach = 2;
/// Normals of a vertex and of the surface beside it: the same side, edges included.
constexpr double kSameSide = -0.3;
/// The way to the nearest point of a face is along its normal, to that of a sharp edge it is not.
constexpr double kOffNormal = 0.95;

/// How a vertex may move over the surface that it is drawn onto.
enum class Glide : std::uint8_t { Not, AlongEdge, Freely };

/// Vertices of a mesh on their way onto the surface that the mesh fills.
class OntoSurface {
public:
    OntoSurface(const SurfaceQuery& drawn, SurfaceMesh& mesh)
        : drawn_(drawn),
          mesh_(mesh),
          normals_(vertex_normals(mesh)),
          around_(mesh.vertices.size()),
          longest_(mesh.vertices.size(), 0.0),
          glides_(mesh.vertices.size(), Glide::Not) {
        for (const Triangle& triangle : mesh.triangles)
            for (int k = 0; k < 3; ++k) {
                const int a = triangle[at(k)], b = triangle[at((k + 1) % 3)];
                const double edge = (mesh.vertices[at(a)] - mesh.vertices[at(b)]).norm();
                around_[at(a)].push_back(b);
                for (const int v : {a, b}) longest_[at(v)] = std::max(longest_[at(v)], edge);
            }
    }
    /// To the nearest points.
    void project() {
        for (std::size_t v = 0; v < mesh_.vertices.size(); ++v) {
            const Vector3d x = mesh_.vertices[v];
            const auto place = nearest(v, x);
            if (!place) continue;
            mesh_.vertices[v] = place->point;
            const double off = std::abs((x - place->point).normalized().dot(normal_of(*place)));
            const bool is_sharp = place->distance > 0 && off < kOffNormal;
            glides_[v] = !is_sharp                            ? Glide::Freely
                         : place->feature == Feature::Vertex ? Glide::Not
                                                             : Glide::AlongEdge;
        }
    }
    /// Crowded vertices half the way towards the middle of those around them. False: none is.
    bool spread() {
        const std::vector<Vector3d> last = mesh_.vertices;
        bool has_moved = false;
        for (std::size_t v = 0; v < last.size(); ++v) {
            if (glides_[v] == Glide::Not) continue;
            Vector3d sum = Vector3d::Zero();
            int count = 0;
            double least = kInfinity;
            for (const int other : around_[v]) {
                if (glides_[v] == Glide::AlongEdge && glides_[at(other)] == Glide::Freely) continue;
                least = std::min(least, (last[at(other)] - last[v]).norm());
                sum += last[at(other)];
                ++count;
            }
            if (count < 2 || !(least < kCrowded * longest_[v])) continue;
            const auto place = nearest(v, 0.5 * (last[v] + sum / count));
            if (!place) continue;
            mesh_.vertices[v] = place->point;
            has_moved = true;
        }
        return has_moved;
    }

private:
    [[nodiscard]] Vector3d normal_of(const ClosestPoint& place) const {
        const SurfaceMesh& onto = drawn_.mesh();
        const Vector3d a = onto.corner(place.triangle, 0);
        return (onto.corner(place.triangle, 1) - a)
            .cross(onto.corner(place.triangle, 2) - a)
            .normalized();
    }
    [[nodiscard]] std::optional<ClosestPoint> nearest(std::size_t v, const Vector3d& x) const {
        const ClosestPoint place = drawn_.closest(x, kReach * longest_[v]);
        if (place.triangle < 0) return std::nullopt;
        const bool is_other_side =
            place.feature == Feature::Face && normal_of(place).dot(normals_[v]) < kSameSide;
        return is_other_side ? std::nullopt : std::optional(place);
    }

    const SurfaceQuery& drawn_;
    SurfaceMesh& mesh_;
    std::vector<Vector3d> normals_;  // of the mesh as it was
    std::vector<std::vector<int>> around_;
    std::vector<double> longest_;  // edges [m]
    std::vector<Glide> glides_;
};

}  // namespace

void draw_onto(const SurfaceQuery& drawn, OuterSurface& surface) {
    SurfaceMesh& mesh = surface.manifold;
    OntoSurface onto(drawn, mesh);
    onto.project();
    for (int round = 0; round < kSpreads && onto.spread(); ++round) {}
    // nodes are the first vertices; those behind are further sides of some of them
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (int k = 0; k < 3; ++k)
            mesh.vertices[at(mesh.triangles[t][at(k)])] =
                mesh.vertices[at(surface.triangles[t][at(k)])];
}

OuterSurface outer_surface(const VolumeMesh& mesh) {
    OuterSurface surface;
    surface.triangles = boundary_triangles(mesh);
    std::vector<int> node_of(mesh.vertices.size(), -1);
    for (const Triangle& triangle : surface.triangles)
        for (const int v : triangle) node_of[at(v)] = 0;
    std::vector<Vector3d> points;
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        if (node_of[at(v)] < 0) continue;
        node_of[at(v)] = static_cast<int>(surface.vertices.size());
        surface.vertices.push_back(v);
        points.push_back(mesh.vertices[at(v)]);
    }
    for (Triangle& triangle : surface.triangles)
        for (int& v : triangle) v = node_of[at(v)];
    surface.manifold.vertices = points;
    surface.manifold.triangles =
        OuterFans(surface.triangles, points).split(surface.manifold.vertices);
    return surface;
}

}  // namespace pliant
