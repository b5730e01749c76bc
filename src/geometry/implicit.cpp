#include "pliant/geometry/implicit.h"

#include "geometry/part_tree.h"

#include <cassert>
#include <cmath>
#include <numbers>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Implicit::Implicit(Function value, const Box& box, double lipschitz)
    : value_(std::make_shared<const Function>(std::move(value))), box_(box), lipschitz_(lipschitz) {
    assert(!box.isEmpty() && lipschitz > 0.0);
}

namespace implicit {
namespace {

Box box_around(const Vector3d& a, double radius_a, const Vector3d& b, double radius_b) {
    Box box(a.array() - radius_a, a.array() + radius_a);
    box.extend(Box(b.array() - radius_b, b.array() + radius_b));
    return box;
}

Box inflated(const Box& box, double by) { return {box.min().array() - by, box.max().array() + by}; }

Box rotated(const Box& box, const Matrix3d& R) {
    // |R| maps the half sides of a box to those of the box around its image
    const Vector3d centre = R * box.center();
    const Vector3d half = R.cwiseAbs() * (0.5 * box.sizes());
    return {centre - half, centre + half};
}

/// Cone with spherical ends: the union of the balls of linearly varying radius along a segment.
struct RoundCone {
    RoundCone(const Vector3d& a, const Vector3d& b, double ra, double rb)
        : box(box_around(a, ra, b, rb)),
          core(a.cwiseMin(b), a.cwiseMax(b)),
          reach(std::max(ra, rb)),
          start(a),
          length((b - a).norm()),
          radius(ra) {
        if (length <= std::abs(ra - rb)) {  // one end swallows the other
            if (rb > ra) start = b;
            radius = std::max(ra, rb);
            length = 0.0;
            return;
        }
        direction = (b - a) / length;
        slope = (ra - rb) / length;
        shift = slope / std::sqrt(1.0 - slope * slope);
    }

    [[nodiscard]] double value(const Vector3d& x) const {
        const Vector3d d = x - start;
        const double along = d.dot(direction);
        const double across = std::sqrt(std::max(0.0, d.squaredNorm() - along * along));
        // the ball whose surface is nearest, docs/geometry-shapes.md
        const double t = std::clamp(along - across * shift, 0.0, length);
        const double past = along - t;
        return std::sqrt(past * past + across * across) - (radius - slope * t);
    }

    Box box, core;
    double reach;
    Vector3d start, direction = Vector3d::Zero();
    double length, radius, slope = 0.0, shift = 0.0;
};

/// Distance to an ellipsoid with its centre at the origin, by the root of the secular equation
/// |p(s)| = 1, p_i = r_i y_i / (s + r_i² − r_min²); 1/|p| is concave and nearly linear, so Newton's
/// method from the left converges monotonically in a few steps.
double ellipsoid_distance(const Vector3d& x, const Vector3d& r) {
    const double r_min = r.minCoeff(), r_max = r.maxCoeff();
    // symmetry, and off the medial sheet, where the root would not determine the closest point
    const Vector3d y = x.cwiseAbs().cwiseMax(1e-10 * r_max);
    const Vector3d ry = r.cwiseProduct(y);
    const Vector3d d = r.array().square() - r_min * r_min;
    double s = (ry - d).maxCoeff();
    for (int iteration = 0; iteration < 40; ++iteration) {
        const Vector3d p = ry.array() / (s + d.array());
        const double norm2 = p.squaredNorm();
        if (norm2 <= 1.0 + 1e-14) break;
        const double slope = (p.array().square() / (s + d.array())).sum();
        const double step = (std::sqrt(norm2) - 1.0) * norm2 / slope;
        s += step;
        if (step <= 1e-15 * s) break;
    }
    const Vector3d closest = r.array() * ry.array() / (s + d.array());
    const double distance = (y - closest).norm();
    return s < r_min * r_min ? -distance : distance;
}

/// A body as a part of a union.
struct BodyPart {
    Box box, core;
    double reach;
    Implicit body;
    [[nodiscard]] double value(const Vector3d& x) const { return body(x); }
};

PartTree<BodyPart> body_tree(const std::vector<Implicit>& parts, double lipschitz) {
    std::vector<BodyPart> list;
    list.reserve(parts.size());
    for (const Implicit& part : parts) list.push_back({part.box(), part.box(), 0.0, part});
    return {std::move(list), lipschitz};
}

double steepest(const std::vector<Implicit>& parts) {
    double lipschitz = 1.0;
    for (const Implicit& part : parts) lipschitz = std::max(lipschitz, part.lipschitz());
    return lipschitz;
}

/// Value of the body, at least the distance to its box outside of it.
double boxed_value(const Implicit& body, const Vector3d& x) {
    const double d = box_distance(body.box(), x);
    return d > 0.0 ? std::max(d, body(x)) : body(x);
}

/// Minimum over weights w ≥ 0, Σw = 1 of Σ w_i g_i − (k/2)(1 − Σ w_i²); docs/geometry.md section
/// "Shapes". For two values min(a, b) − h² k/4 with h = max(0, 1 − |a − b|/k). Sorts `g`.
double smooth_minimum(double* g, int count, double k) {
    std::sort(g, g + count);
    // the weights are (τ − g_i)/k, positive for the first `used` values
    double sum = g[0], tau = k + g[0];
    int used = 1;
    while (used < count && g[used] < tau) {
        sum += g[used++];
        tau = (k + sum) / used;
    }
    double value = -0.5 * k;
    for (int i = 0; i < used; ++i) {
        const double w = (tau - g[i]) / k;
        value += w * (g[i] + 0.5 * k * w);
    }
    return value;
}

/// x with its parts across the axis turned by `angle` from axis + 1 towards axis + 2.
Vector3d turned(const Vector3d& x, int axis, double angle) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double c = std::cos(angle), s = std::sin(angle);
    Vector3d y = x;
    y[u] = c * x[u] - s * x[v];
    y[v] = s * x[u] + c * x[v];
    return y;
}

}  // namespace

Implicit sphere(const Vector3d& centre, double radius) {
    return {[=](const Vector3d& x) { return (x - centre).norm() - radius; },
            box_around(centre, radius, centre, radius)};
}

Implicit ellipsoid(const Vector3d& centre, const Vector3d& radii) {
    assert(radii.minCoeff() > 0.0);
    return {[=](const Vector3d& x) { return ellipsoid_distance(x - centre, radii); },
            Box(centre - radii, centre + radii)};
}

Implicit capsule(const Vector3d& a, const Vector3d& b, double ra, double rb) {
    const RoundCone cone(a, b, ra, rb);
    return {[=](const Vector3d& x) { return cone.value(x); }, cone.box};
}

Implicit box(const Vector3d& low, const Vector3d& high, double rounding) {
    assert((high - low).minCoeff() > 0.0 && 2.0 * rounding <= (high - low).minCoeff());
    const Box core(low.array() + rounding, high.array() - rounding);
    return {[=](const Vector3d& x) { return box_distance(core, x) - rounding; }, Box(low, high)};
}

Implicit cylinder(const Vector3d& a, const Vector3d& b, double radius, double rounding) {
    const Vector3d centre = 0.5 * (a + b), direction = (b - a).normalized();
    const double half = 0.5 * (b - a).norm();
    assert(half > 0.0 && rounding <= std::min(half, radius));
    // a disc with normal n reaches r √(1 − n_i²) along axis i
    const Vector3d reach =
        radius * (1.0 - direction.array().square()).max(0.0).sqrt() + (0.5 * (b - a)).array().abs();
    return {[=](const Vector3d& x) {
                const Vector3d d = x - centre;
                const double along = d.dot(direction);
                const double across = std::sqrt(std::max(0.0, d.squaredNorm() - along * along));
                const double qa = std::abs(along) - half + rounding,
                             qr = across - radius + rounding;
                return std::min(std::max(qa, qr), 0.0) +
                       std::hypot(std::max(qa, 0.0), std::max(qr, 0.0)) - rounding;
            },
            Box(centre - reach, centre + reach)};
}

Implicit torus(const Vector3d& centre, const Vector3d& axis, double major_radius,
               double minor_radius) {
    const Vector3d normal = axis.normalized();
    const Vector3d reach =
        major_radius * (1.0 - normal.array().square()).max(0.0).sqrt() + minor_radius;
    return {[=](const Vector3d& x) {
                const Vector3d d = x - centre;
                const double along = d.dot(normal);
                const double across = std::sqrt(std::max(0.0, d.squaredNorm() - along * along));
                return std::hypot(across - major_radius, along) - minor_radius;
            },
            Box(centre - reach, centre + reach)};
}

Implicit sweep(const std::vector<SplinePoint>& points, bool is_closed, int segments) {
    const int n = static_cast<int>(points.size());
    assert(n >= 2 && segments >= 1 && (!is_closed || n >= 3));
    // beyond the ends of an open spline, mirrored points
    const auto at = [&](int i) -> Vector3d {
        if (is_closed) return points[(i + n) % n].position;
        if (i < 0) return 2.0 * points[0].position - points[1].position;
        if (i >= n) return 2.0 * points[n - 1].position - points[n - 2].position;
        return points[i].position;
    };
    std::vector<SplinePoint> line;
    const int spans = is_closed ? n : n - 1;
    for (int i = 0; i < spans; ++i) {
        const Vector3d p0 = at(i - 1), p1 = at(i), p2 = at(i + 1), p3 = at(i + 2);
        for (int k = 0; k < segments; ++k) {
            const double t = static_cast<double>(k) / segments, blend = t * t * (3.0 - 2.0 * t);
            const Vector3d position =
                0.5 * (2.0 * p1 + (p2 - p0) * t + (2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3) * t * t +
                       (3.0 * p1 - p0 - 3.0 * p2 + p3) * t * t * t);
            const double r1 = points[i].radius, r2 = points[(i + 1) % n].radius;
            line.push_back({position, r1 + (r2 - r1) * blend});
        }
    }
    line.push_back(is_closed ? line.front() : points.back());

    std::vector<RoundCone> cones;
    for (std::size_t i = 0; i + 1 < line.size(); ++i)
        cones.emplace_back(line[i].position, line[i + 1].position, line[i].radius,
                           line[i + 1].radius);
    const auto tree = std::make_shared<const PartTree<RoundCone>>(std::move(cones), 1.0);
    return {[tree](const Vector3d& x) { return tree->minimum(x); }, tree->box()};
}

Implicit unite(const std::vector<Implicit>& parts) {
    const double lipschitz = steepest(parts);
    const auto tree = std::make_shared<const PartTree<BodyPart>>(body_tree(parts, lipschitz));
    return {[tree](const Vector3d& x) { return tree->minimum(x); }, tree->box(), lipschitz};
}

Implicit smooth_unite(const std::vector<Implicit>& parts, double blend) {
    assert(blend > 0.0);
    const double lipschitz = steepest(parts);
    const auto tree = std::make_shared<const PartTree<BodyPart>>(body_tree(parts, lipschitz));
    const auto value = [tree, blend](const Vector3d& x) {
        // a stack of values shared by nested unions, so that no call allocates
        thread_local std::vector<double> values;
        const std::size_t base = values.size();
        tree->near_minimum(x, blend, [](double v) { values.push_back(v); });
        const double result =
            smooth_minimum(values.data() + base, static_cast<int>(values.size() - base), blend);
        values.resize(base);
        return result;
    };
    // the value is at most (k/2)(1 − 1/n) below the plain union's
    const double growth = 0.5 * blend * (1.0 - 1.0 / static_cast<double>(parts.size()));
    return {value, inflated(tree->box(), growth), lipschitz};
}

Implicit intersect(const Implicit& a, const Implicit& b) {
    Box common = a.box().intersection(b.box());
    if (common.isEmpty()) common = Box(a.box().center());
    return {[=](const Vector3d& x) { return std::max(a(x), b(x)); }, common,
            std::max(a.lipschitz(), b.lipschitz())};
}

Implicit subtract(const Implicit& from, const Implicit& what, double blend) {
    return {[=](const Vector3d& x) {
                const double a = from(x);
                // too far away to matter
                const double gap = box_distance(what.box(), x);
                if (gap > 0.0 && gap >= blend - a) return a;
                const double b = -boxed_value(what, x);
                if (blend <= 0.0) return std::max(a, b);
                std::array<double, 2> g = {-a, -b};
                return -smooth_minimum(g.data(), 2, blend);
            },
            from.box(), std::max({1.0, from.lipschitz(), what.lipschitz()})};
}

Implicit shell(const Implicit& body, double thickness) {
    return {[=](const Vector3d& x) { return std::abs(boxed_value(body, x)) - 0.5 * thickness; },
            inflated(body.box(), 0.5 * thickness), std::max(1.0, body.lipschitz())};
}

Implicit offset(const Implicit& body, double distance) {
    return {[=](const Vector3d& x) { return boxed_value(body, x) - distance; },
            inflated(body.box(), std::max(0.0, distance)), std::max(1.0, body.lipschitz())};
}

Implicit translate(const Implicit& body, const Vector3d& by) {
    return {[=](const Vector3d& x) { return body(x - by); },
            Box(body.box().min() + by, body.box().max() + by), body.lipschitz()};
}

Implicit rotate(const Implicit& body, const Vector3d& rotation_vector) {
    const double angle = rotation_vector.norm();
    if (angle == 0.0) return body;
    const Matrix3d R = Eigen::AngleAxisd(angle, rotation_vector / angle).toRotationMatrix();
    return {[body, R](const Vector3d& x) { return body(R.transpose() * x); },
            rotated(body.box(), R), body.lipschitz()};
}

Implicit scale(const Implicit& body, double factor) {
    assert(factor > 0.0);
    return {[=](const Vector3d& x) { return factor * body(x / factor); },
            Box(factor * body.box().min(), factor * body.box().max()), body.lipschitz()};
}

Implicit mirror(const Implicit& body, int axis) {
    const auto reflected = [axis](Vector3d x) {
        x[axis] = -x[axis];
        return x;
    };
    Box image(reflected(body.box().min()));
    image.extend(reflected(body.box().max()));
    return unite({body, Implicit([=](const Vector3d& x) { return body(reflected(x)); }, image,
                                 body.lipschitz())});
}

Implicit repeat(const Implicit& body, const Vector3d& step, int count) {
    assert(count >= 1);
    std::vector<Implicit> copies;
    copies.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) copies.push_back(translate(body, i * step));
    return unite(copies);
}

Implicit repeat_around(const Implicit& body, int axis, int count) {
    assert(count >= 1);
    std::vector<Implicit> copies;
    copies.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        copies.push_back(rotate(body, 2.0 * std::numbers::pi * i / count * Vector3d::Unit(axis)));
    return unite(copies);
}

Implicit twist(const Implicit& body, int axis, double radians_per_metre) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const Vector3d reach = body.box().min().cwiseAbs().cwiseMax(body.box().max().cwiseAbs());
    const double radius = std::hypot(reach[u], reach[v]);
    const auto value = [=](const Vector3d& x) {
        // beyond the cylinder that holds the body, its value on the cylinder: the shear stays
        // bounded
        const double rho = std::hypot(x[u], x[v]);
        Vector3d y = x;
        if (rho > radius) {
            y[u] *= radius / rho;
            y[v] *= radius / rho;
        }
        return std::max(body(turned(y, axis, -radians_per_metre * x[axis])), rho - radius);
    };
    // largest singular value of a shear by `slope`
    const double slope = std::abs(radians_per_metre) * radius;
    const double stretch = 0.5 * (slope + std::sqrt(slope * slope + 4.0));
    Vector3d low = Vector3d::Constant(-radius), high = Vector3d::Constant(radius);
    low[axis] = body.box().min()[axis];
    high[axis] = body.box().max()[axis];
    return {value, Box(low, high), std::max(1.0, stretch * body.lipschitz())};
}

}  // namespace implicit
}  // namespace pliant
