#include "greens/triangle_crossing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/numbers.h"
#include "geometry/triangle.h"

namespace pliant {
namespace {

/// Distances below this share of the surface's size are contact.
constexpr double kTouchTolerance = 1e-10;
/// Neighbours that enclose a smaller angle [rad] lie on each other.
constexpr double kFoldAngle = 1e-6;

/// A triangle with the plane and the inward directions of its sides in it.
struct CrossingTriangle {
    std::array<Eigen::Vector3d, 3> corners;
    Eigen::Vector3d normal;
    std::array<Eigen::Vector3d, 3> inward;

    CrossingTriangle(const SurfaceMesh& mesh, int t)
        : corners{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)},
          normal(unit_or_zero(area_vector(corners[0], corners[1], corners[2]))) {
        for (std::size_t k = 0; k < 3; ++k)
            inward[k] = unit_or_zero(normal.cross(corners[(k + 1) % 3] - corners[k]));
    }
};

bool segment_meets(const CrossingTriangle& triangle, const Eigen::Vector3d& p,
                   const Eigen::Vector3d& q, double tolerance) {
    const double above_p = triangle.normal.dot(p - triangle.corners[0]);
    const double above_q = triangle.normal.dot(q - triangle.corners[0]);
    if (std::min(above_p, above_q) > tolerance || std::max(above_p, above_q) < -tolerance)
        return false;
    // the part of the segment that is in the plane: all of it, or one point
    double first = 0, last = 1;
    if (std::max(std::abs(above_p), std::abs(above_q)) > tolerance)
        first = last = std::clamp(above_p / (above_p - above_q), 0.0, 1.0);
    // cut off what is beyond the sides
    for (std::size_t k = 0; k < 3; ++k) {
        const double at_p = triangle.inward[k].dot(p - triangle.corners[k]) + tolerance;
        const double at_q = triangle.inward[k].dot(q - triangle.corners[k]) + tolerance;
        const double at_first = at_p + first * (at_q - at_p), at_last = at_p + last * (at_q - at_p);
        if (at_first < 0 && at_last < 0) return false;
        if (at_first < 0) first = at_p / (at_p - at_q);
        if (at_last < 0) last = at_p / (at_p - at_q);
    }
    return true;
}

bool triangles_cross(const SurfaceMesh& mesh, int s, int t, double tolerance) {
    const CrossingTriangle a(mesh, s), b(mesh, t);
    if (a.normal.isZero() || b.normal.isZero()) return false;
    // corners they share
    std::array<int, 3> mate{-1, -1, -1};  // of corners of a
    int num_shared = 0, last_shared = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (mesh.triangles[at(s)][at(i)] == mesh.triangles[at(t)][at(j)]) {
                mate[at(i)] = j;
                last_shared = i;
                ++num_shared;
            }
    if (num_shared >= 2)
        return std::atan2(a.normal.cross(b.normal).norm(), -a.normal.dot(b.normal)) < kFoldAngle;
    if (num_shared == 1) {
        // where two triangles leave a common corner together, one ends inside the other
        const auto i = at(last_shared), j = at(mate[i]);
        return segment_meets(a, b.corners[(j + 1) % 3], b.corners[(j + 2) % 3], tolerance) ||
               segment_meets(b, a.corners[(i + 1) % 3], a.corners[(i + 2) % 3], tolerance);
    }
    for (std::size_t k = 0; k < 3; ++k)
        if (segment_meets(a, b.corners[k], b.corners[(k + 1) % 3], tolerance) ||
            segment_meets(b, a.corners[k], a.corners[(k + 1) % 3], tolerance))
            return true;
    return false;
}

}  // namespace

std::optional<std::pair<int, int>> first_crossing_triangles(const SurfaceMesh& mesh) {
    if (mesh.triangles.empty()) return std::nullopt;
    const Box box = bounding_box(mesh.vertices);
    const double tolerance = kTouchTolerance * box.sizes().maxCoeff();
    std::vector<Box> boxes(mesh.triangles.size());
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        for (int k = 0; k < 3; ++k) boxes[at(t)].extend(mesh.corner(t, k));
        boxes[at(t)].min().array() -= tolerance;
        boxes[at(t)].max().array() += tolerance;
    }

    // sweep along the longest side: triangles in reach are those that have not ended yet
    Eigen::Index axis = 0;
    box.sizes().maxCoeff(&axis);
    std::vector<int> order(mesh.triangles.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](int s, int t) {
        return std::pair(boxes[at(s)].min()[axis], s) < std::pair(boxes[at(t)].min()[axis], t);
    });
    std::optional<std::pair<int, int>> lowest;
    std::vector<int> active;
    for (const int t : order) {
        std::erase_if(active,
                      [&](int s) { return boxes[at(s)].max()[axis] < boxes[at(t)].min()[axis]; });
        for (const int s : active) {
            const std::pair<int, int> pair = std::minmax(s, t);
            if ((lowest && pair > *lowest) || !boxes[at(s)].intersects(boxes[at(t)])) continue;
            if (triangles_cross(mesh, pair.first, pair.second, tolerance)) lowest = pair;
        }
        active.push_back(t);
    }
    return lowest;
}

}  // namespace pliant
