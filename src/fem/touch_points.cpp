#include "fem/touch_points.h"

#include "geometry/triangle.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Cosine of the angle below which faces count as one plane: a degree.
constexpr double kFlat = 0.99985;
/// Facets that meet at less [rad] may stand for something round.
constexpr double kBlunt = 0.2;
/// Of the radius of what is round: with points any closer, those of the other side feel it all.
constexpr double kRound = 0.04;
/// Along all edges of one body.
constexpr double kMostPoints = 20000;
/// Of the size of the shape: points are at least as dense as that.
constexpr double kFine = 0.05;
/// Of the size of the shape: a surface that is farther from it is another's.
constexpr double kOtherSurface = 0.02;

/// Flat, or of something so round that it cannot reach in between the vertices of the other side:
/// facets of width w that meet at the angle a have the radius w / a.
bool is_smooth(const SurfaceMesh& surface, const SurfaceTopology::Edge& edge,
               std::span<const SurfaceTopology::EdgeUse> uses, double spacing) {
    if (uses.size() != 2) return false;
    std::array<Vector3d, 2> area;
    for (std::size_t k = 0; k < 2; ++k) {
        const int t = uses[k].triangle;
        area[k] = area_vector(surface.corner(t, 0), surface.corner(t, 1), surface.corner(t, 2));
    }
    const double cosine = unit_or_zero(area[0]).dot(unit_or_zero(area[1]));
    if (cosine > kFlat) return true;
    const double angle = std::acos(std::clamp(cosine, -1.0, 1.0));
    const double length = (surface.vertices[static_cast<std::size_t>(edge.b)] -
                           surface.vertices[static_cast<std::size_t>(edge.a)])
                              .norm();
    const double width = std::min(area[0].norm(), area[1].norm()) / length;
    return angle < kBlunt && angle * spacing < kRound * width;
}

}  // namespace

std::vector<Vector3d> touch_points(const SurfaceMesh& surface, const RigidShape& shape,
                                   double spacing) {
    std::vector<Vector3d> points;
    const double size = shape.bounds().diagonal().norm();
    if (surface.num_triangles() == 0 || !std::isfinite(size)) return points;
    // on the shape, where the surface is its own
    const auto add = [&](const Vector3d& x) {
        const ShapeSample sample = shape.sample(x);
        if (std::abs(sample.gap) <= kOtherSurface * size)
            points.push_back(x - sample.gap * sample.normal);
    };

    const SurfaceTopology topology(surface);
    std::vector<char> is_corner(surface.vertices.size(), 0);
    std::vector<char> num_sides(surface.triangles.size(), 0);  // that are edges of the body
    std::vector<std::array<Vector3d, 2>> edges;
    double length = 0;
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        const auto uses = topology.uses(edge);
        if (is_smooth(surface, edge, uses, spacing)) continue;
        const auto a = static_cast<std::size_t>(edge.a), b = static_cast<std::size_t>(edge.b);
        is_corner[a] = is_corner[b] = 1;
        for (const auto& use : uses) ++num_sides[static_cast<std::size_t>(use.triangle)];
        edges.push_back({surface.vertices[a], surface.vertices[b]});
        length += (edges.back()[1] - edges.back()[0]).norm();
    }
    for (std::size_t v = 0; v < is_corner.size(); ++v)
        if (is_corner[v]) add(surface.vertices[v]);

    spacing = std::max(std::min(spacing, kFine * size), length / kMostPoints);
    for (const auto& [a, b] : edges) {
        const double parts = std::ceil((b - a).norm() / spacing * (1 - 1e-9));
        if (!(parts > 1)) continue;
        for (int i = 1; i < static_cast<int>(parts); ++i) add(a + i / parts * (b - a));
    }
    // the middle of facets that stand for something round
    for (int t = 0; t < surface.num_triangles(); ++t) {
        const Vector3d middle =
            (surface.corner(t, 0) + surface.corner(t, 1) + surface.corner(t, 2)) / 3;
        if (num_sides[static_cast<std::size_t>(t)] == 3 &&
            (surface.corner(t, 0) - middle).norm() > spacing)
            add(middle);
    }
    return points;
}

}  // namespace pliant
