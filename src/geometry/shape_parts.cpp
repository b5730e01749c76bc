#include "geometry/shape_parts.h"

#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <numbers>

namespace pliant::shape_parts {

Vector3d on_surface(const Implicit& body, Vector3d x) {
    const double e = 1e-5 * body.box().sizes().maxCoeff();
    for (int step = 0; step < 30; ++step) {
        const double value = body(x);
        if (std::abs(value) < e) break;
        Vector3d gradient;
        for (int i = 0; i < 3; ++i)
            gradient[i] =
                (body(x + e * Vector3d::Unit(i)) - body(x - e * Vector3d::Unit(i))) / (2.0 * e);
        if (gradient.squaredNorm() < 1e-4) break;
        x -= gradient * (value / gradient.squaredNorm());
    }
    return x;
}

Implicit vein(const Implicit& body, const std::vector<implicit::SplinePoint>& points) {
    // project a fine curve rather than its few control points
    std::vector<Vector3d> line;
    for (const implicit::SplinePoint& p : points) line.push_back(p.position);
    constexpr int kPieces = 8;
    line = smooth_curve(line, kPieces);
    std::vector<implicit::SplinePoint> path;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const std::size_t k = std::min(i / kPieces, points.size() - 2);
        const double t = static_cast<double>(i) / kPieces - static_cast<double>(k);
        path.push_back(
            {on_surface(body, line[i]), (1.0 - t) * points[k].radius + t * points[k + 1].radius});
    }
    return implicit::sweep(path, false, 2);
}

Implicit squashed(const Implicit& body, int axis, double factor) {
    assert(factor > 0.0 && factor <= 1.0);
    Vector3d low = body.box().min(), high = body.box().max();
    low[axis] *= factor;
    high[axis] *= factor;
    return {[=](Vector3d x) {
                x[axis] /= factor;
                return factor * body(x);
            },
            Box(low, high), body.lipschitz()};
}

Implicit fan(const FanEnds& ends, int rays, double root_radius, double tip_radius) {
    std::vector<Implicit> parts;
    for (int i = 0; i < rays; ++i) {
        const double t = rays > 1 ? static_cast<double>(i) / (rays - 1) : 0.0;
        // rays in the middle are a little longer, which rounds the rim
        const Vector3d root = ends.root0 + t * (ends.root1 - ends.root0);
        const Vector3d tip = ends.tip0 + t * (ends.tip1 - ends.tip0);
        const double longer = 1.0 + 0.6 * t * (1.0 - t);
        parts.push_back(
            implicit::capsule(root, root + longer * (tip - root), root_radius, tip_radius));
    }
    return implicit::smooth_unite(parts, 1.5 * root_radius);
}

std::vector<Vector3d> smooth_curve(const std::vector<Vector3d>& points, int segments, bool closed) {
    const int n = static_cast<int>(points.size());
    assert(n >= 2);
    const auto at = [&](int i) -> Vector3d {
        if (closed) return points[(i + n) % n];
        if (i < 0) return 2.0 * points[0] - points[1];
        if (i >= n) return 2.0 * points[n - 1] - points[n - 2];
        return points[i];
    };
    std::vector<Vector3d> line;
    for (int i = 0; i < (closed ? n : n - 1); ++i)
        for (int k = 0; k < segments; ++k) {
            const double t = static_cast<double>(k) / segments;
            const Vector3d p0 = at(i - 1), p1 = at(i), p2 = at(i + 1), p3 = at(i + 2);
            line.push_back(0.5 * (2.0 * p1 + (p2 - p0) * t +
                                  (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3) * t * t +
                                  (3.0 * p1 - p0 - 3.0 * p2 + p3) * t * t * t));
        }
    if (!closed) line.push_back(points.back());
    return line;
}

void BarMesh::beam(const Vector3d& a, const Vector3d& b, double width, double height) {
    const Vector3d along = (b - a).normalized();
    Vector3d side = along.cross(Vector3d::UnitZ());
    side = side.norm() > 1e-6 ? side.normalized() : Vector3d::UnitY();
    const Vector3d up = side.cross(along), u = 0.5 * width * side, v = 0.5 * height * up;
    const int n = mesh_.num_vertices();
    for (const Vector3d& end : {a, b})
        for (const Vector3d& corner :
             {Vector3d(-u - v), Vector3d(u - v), Vector3d(u + v), Vector3d(-u + v)})
            mesh_.vertices.push_back(end + corner);
    const auto quad = [&](int i, int j, int k, int l) {
        mesh_.triangles.push_back({n + i, n + j, n + k});
        mesh_.triangles.push_back({n + i, n + k, n + l});
    };
    // seen against the direction, −u −v → u −v → u +v runs clockwise
    quad(0, 1, 2, 3);
    quad(4, 7, 6, 5);
    for (int i = 0; i < 4; ++i) quad(i, 4 + i, 4 + (i + 1) % 4, (i + 1) % 4);
}

void BarMesh::box(const Vector3d& low, const Vector3d& high) {
    const Vector3d size = high - low, middle = 0.5 * (low + high);
    beam({low.x(), middle.y(), middle.z()}, {high.x(), middle.y(), middle.z()}, size.y(), size.z());
}

void BarMesh::round(const Vector3d& a, const Vector3d& b, double radius, int sides) {
    tube({a, b}, radius, sides);
}

void BarMesh::tube(const std::vector<Vector3d>& line, double radius, int sides, bool closed) {
    const int rings = static_cast<int>(line.size()), n = mesh_.num_vertices();
    assert(rings >= 2 && sides >= 3);
    // a frame carried along the line without turning about it
    const auto direction = [&](int i) -> Vector3d {
        const int before = closed ? (i + rings - 1) % rings : std::max(0, i - 1);
        const int after = closed ? (i + 1) % rings : std::min(rings - 1, i + 1);
        return (line[after] - line[before]).normalized();
    };
    Vector3d t = direction(0);
    Vector3d u =
        t.cross(std::abs(t.z()) < 0.9 ? Vector3d::UnitZ() : Vector3d::UnitX()).normalized();
    for (int i = 0; i < rings; ++i) {
        const Vector3d next = direction(i);
        u = (Eigen::Quaterniond::FromTwoVectors(t, next) * u).normalized();
        t = next;
        const Vector3d v = t.cross(u);
        for (int k = 0; k < sides; ++k) {
            const double angle = 2.0 * std::numbers::pi * k / sides;
            mesh_.vertices.push_back(line[i] +
                                     radius * (std::cos(angle) * u + std::sin(angle) * v));
        }
    }
    for (int i = 0; i < (closed ? rings : rings - 1); ++i)
        for (int k = 0; k < sides; ++k) {
            const int j = (i + 1) % rings, l = (k + 1) % sides;
            const int a = n + i * sides + k, b = n + i * sides + l, c = n + j * sides + l,
                      d = n + j * sides + k;
            mesh_.triangles.push_back({a, b, c});
            mesh_.triangles.push_back({a, c, d});
        }
    if (closed) return;
    const int last = n + (rings - 1) * sides;
    for (int k = 1; k + 1 < sides; ++k) {
        mesh_.triangles.push_back({n, n + k + 1, n + k});
        mesh_.triangles.push_back({last, last + k, last + k + 1});
    }
}

SurfaceMesh grid_box(const Vector3d& low, const Vector3d& high, int cells) {
    const Vector3d size = high - low;
    const double cell = size.maxCoeff() / cells;
    const Eigen::Vector3i n = (size / cell).array().round().cast<int>().max(1);
    SurfaceMesh mesh;
    std::map<std::array<int, 3>, int> index;
    const auto vertex = [&](const Eigen::Vector3i& at) {
        const auto [it, is_new] = index.try_emplace({at[0], at[1], at[2]}, mesh.num_vertices());
        if (is_new)
            mesh.vertices.push_back(
                low + size.cwiseProduct(at.cast<double>().cwiseQuotient(n.cast<double>())));
        return it->second;
    };
    for (int axis = 0; axis < 3; ++axis)
        for (const bool upper : {false, true}) {
            const Eigen::Vector3i u = Eigen::Vector3i::Unit((axis + 1) % 3),
                                  v = Eigen::Vector3i::Unit((axis + 2) % 3);
            for (int j = 0; j < n[(axis + 2) % 3]; ++j)
                for (int i = 0; i < n[(axis + 1) % 3]; ++i) {
                    const Eigen::Vector3i at =
                        i * u + j * v + (upper ? n[axis] : 0) * Eigen::Vector3i::Unit(axis);
                    const int a = vertex(at), b = vertex(at + u), c = vertex(at + u + v),
                              d = vertex(at + v);
                    if (upper) {
                        mesh.triangles.push_back({a, b, c});
                        mesh.triangles.push_back({a, c, d});
                    } else {
                        mesh.triangles.push_back({a, c, b});
                        mesh.triangles.push_back({a, d, c});
                    }
                }
        }
    return mesh;
}

}  // namespace pliant::shape_parts
