#include "geometry/shape_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant::shape_parts {

using namespace implicit;

namespace {

constexpr int kPieces = 12;  // of a span of a spine

/// Centre line of an animal with the radius and the direction of its back.
struct SpinePoint {
    Vector3d position, tangent, back;
    double radius, length;  ///< length from the start
};

/// Fine points of the spline through `points`; `back(position)` need not be square to the line.
template <class Back>
std::vector<SpinePoint> spine_line(const std::vector<SplinePoint>& points, Back&& back) {
    std::vector<Vector3d> positions;
    for (const SplinePoint& p : points) positions.push_back(p.position);
    const std::vector<Vector3d> line = smooth_curve(positions, kPieces);
    const int n = static_cast<int>(line.size());
    std::vector<SpinePoint> spine;
    double length = 0.0;
    for (int i = 0; i < n; ++i) {
        if (i > 0) length += (line[i] - line[i - 1]).norm();
        const Vector3d tangent =
            (line[std::min(i + 1, n - 1)] - line[std::max(i - 1, 0)]).normalized();
        Vector3d up = back(line[i]);
        up = (up - tangent * tangent.dot(up)).normalized();
        const int span = std::min(i / kPieces, static_cast<int>(points.size()) - 2);
        const double t = static_cast<double>(i - span * kPieces) / kPieces;
        const double radius =
            points[span].radius +
            t * t * (3.0 - 2.0 * t) * (points[span + 1].radius - points[span].radius);
        spine.push_back({line[i], tangent, up, radius, length});
    }
    return spine;
}

/// The spine's point nearest to `length` from its start.
const SpinePoint& at_length(const std::vector<SpinePoint>& spine, double length) {
    const auto it = std::lower_bound(spine.begin(), spine.end(), length,
                                     [](const SpinePoint& p, double l) { return p.length < l; });
    return it == spine.end() ? spine.back() : *it;
}

/// Direction at `angle` from the back, towards the left of the animal.
Vector3d outward(const SpinePoint& p, double angle) {
    return std::cos(angle) * p.back + std::sin(angle) * p.back.cross(p.tangent);
}

/// Cone that grows out of the skin.
Implicit spike(const SpinePoint& p, double angle, double height, double radius, double lean) {
    const Vector3d out = outward(p, angle);
    const Vector3d root = p.position + (p.radius - 0.5 * radius) * out;
    return capsule(root, root + height * (out + lean * p.tangent).normalized(), radius,
                   0.3 * radius);
}

}  // namespace

// A spiny four-legged reptile about 11 units long, head towards +x.
Implicit creature() {
    const std::vector<SplinePoint> line = {{{-6.3, 0.9, 1.5}, 0.1},   {{-5.3, 0.7, 1.0}, 0.26},
                                           {{-4.0, 0.2, 1.05}, 0.48}, {{-2.7, 0.0, 1.7}, 0.82},
                                           {{-1.3, 0.0, 2.35}, 1.22}, {{0.2, 0.0, 2.5}, 1.38},
                                           {{1.5, 0.0, 2.3}, 1.12},   {{2.4, 0.0, 2.55}, 0.8},
                                           {{3.1, 0.0, 3.05}, 0.62},  {{3.6, 0.0, 3.35}, 0.6}};
    const std::vector<SpinePoint> spine =
        spine_line(line, [](const Vector3d&) { return Vector3d::UnitZ().eval(); });
    std::vector<Implicit> flesh = {sweep(line)};
    std::vector<Implicit> hard;

    // head: skull, snout, open jaw, cheeks
    flesh.push_back(sweep({{{3.5, 0, 3.45}, 0.66},
                           {{4.3, 0, 3.42}, 0.54},
                           {{5.1, 0, 3.22}, 0.38},
                           {{5.55, 0, 3.1}, 0.28}}));
    flesh.push_back(
        sweep({{{3.5, 0, 3.05}, 0.46}, {{4.3, 0, 2.72}, 0.33}, {{5.15, 0, 2.48}, 0.22}}));
    flesh.push_back(mirror(ellipsoid({3.75, 0.42, 3.2}, {0.5, 0.32, 0.4}), 1));
    for (const double side : {-1.0, 1.0}) {
        hard.push_back(sphere({4.28, 0.44 * side, 3.66}, 0.17));  // eye
        hard.push_back(
            capsule({3.95, 0.42 * side, 3.88}, {4.6, 0.36 * side, 3.78}, 0.14, 0.1));  // brow
        hard.push_back(
            capsule({3.6, 0.46 * side, 3.85}, {3.05, 0.85 * side, 4.55}, 0.2, 0.05));  // horn
        hard.push_back(
            capsule({3.4, 0.6 * side, 3.3}, {2.8, 1.15 * side, 3.6}, 0.18, 0.05));  // cheek
        hard.push_back(capsule({3.5, 0.55 * side, 2.95}, {3.1, 1.0 * side, 2.75}, 0.15, 0.05));
        hard.push_back(sphere({5.5, 0.16 * side, 3.36}, 0.1));  // nostril
        for (int i = 0; i < 4; ++i) {                           // teeth
            const double x = 4.45 + 0.28 * i, y = side * (0.36 - 0.05 * i);
            hard.push_back(
                capsule({x, y, 3.08 - 0.06 * i}, {x + 0.03, y, 2.86 - 0.06 * i}, 0.085, 0.045));
        }
        for (int i = 0; i < 5; ++i)  // bumps on the snout
            hard.push_back(sphere({4.55 + 0.22 * i, 0.2 * side, 3.86 - 0.09 * i}, 0.095));
    }
    hard.push_back(capsule({5.2, 0, 3.5}, {5.42, 0, 3.95}, 0.16, 0.05));

    // legs with three toes
    const auto leg = [&](const std::vector<SplinePoint>& joints) {
        for (const double side : {-1.0, 1.0}) {
            std::vector<SplinePoint> points = joints;
            for (SplinePoint& p : points) p.position.y() *= side;
            flesh.push_back(sweep(points));
            const Vector3d foot = points.back().position;
            for (int toe = -1; toe <= 1; ++toe) {
                const Vector3d tip = foot + Vector3d(0.62 - 0.08 * std::abs(toe), 0.3 * toe, -0.1);
                flesh.push_back(capsule(foot, tip, 0.22, 0.15));
                hard.push_back(capsule(tip, tip + Vector3d(0.24, 0.06 * toe, -0.06), 0.12, 0.05));
            }
        }
    };
    leg({{{-1.3, 0.75, 2.2}, 0.85},
         {{-0.75, 1.25, 1.35}, 0.58},
         {{-1.35, 1.35, 0.7}, 0.34},
         {{-1.1, 1.4, 0.24}, 0.3}});
    leg({{{1.5, 0.75, 2.1}, 0.62},
         {{1.15, 1.2, 1.3}, 0.42},
         {{1.55, 1.3, 0.65}, 0.29},
         {{1.75, 1.35, 0.23}, 0.27}});

    // spines: one tall row on the back, two smaller on the flanks, four on the end of the tail
    const double total = spine.back().length;
    for (int i = 0; i < 19; ++i) {
        const double s = (0.09 + 0.9 * i / 18.0) * total;
        const SpinePoint& p = at_length(spine, s);
        const double grow = std::sin(std::numbers::pi * std::pow(s / total, 1.25));
        hard.push_back(spike(p, 0.0, 0.42 + 1.05 * grow, 0.17 + 0.12 * grow, -0.35));
        if (i < 2 || i > 16) continue;
        for (const double side : {-1.0, 1.0}) {
            const SpinePoint& q = at_length(spine, s + 0.25 * total / 18.0);
            hard.push_back(spike(q, 0.62 * side, 0.3 + 0.42 * grow, 0.13 + 0.06 * grow, -0.35));
            if (i > 2 && i < 15)
                hard.push_back(spike(q, 1.2 * side, 0.12 + 0.22 * grow, 0.11 + 0.05 * grow, -0.4));
        }
    }
    for (const double side : {-1.0, 1.0})
        for (const double s : {0.035, 0.085})
            hard.push_back(spike(at_length(spine, s * total), 1.1 * side, 0.85, 0.14, -0.5));
    return smooth_unite({smooth_unite(flesh, 0.35), unite(hard)}, 0.1);
}

// A horned serpent about 8 units high: two coils on the ground and a raised neck, head towards +x.
Implicit serpent() {
    std::vector<SplinePoint> line;
    // tail and coils, anticlockwise; the inner coil lies higher
    constexpr int kCoil = 22;
    for (int i = 0; i <= kCoil; ++i) {
        const double t = static_cast<double>(i) / kCoil;
        const double angle = std::numbers::pi * (-0.35 + 3.75 * t);
        const double fade = std::min(1.0, t / 0.55);
        const double r = 3.3 - 1.5 * t;
        const double radius = 0.1 + 0.54 * std::pow(fade, 0.8);
        const double tail = std::max(0.0, 1.0 - t / 0.12);
        line.push_back(
            {{r * std::cos(angle), r * std::sin(angle), radius + 1.45 * t * t + 0.5 * tail * tail},
             radius});
    }
    // neck
    for (const SplinePoint& p : std::vector<SplinePoint>{{{0.5, -1.4, 2.45}, 0.64},
                                                         {{1.25, -0.7, 3.2}, 0.63},
                                                         {{1.0, 0.05, 4.15}, 0.6},
                                                         {{0.15, 0.2, 5.05}, 0.57},
                                                         {{-0.35, 0.05, 6.0}, 0.54},
                                                         {{-0.1, 0.0, 6.9}, 0.52},
                                                         {{0.7, 0.0, 7.6}, 0.52}})
        line.push_back(p);
    const auto back = [](const Vector3d& x) -> Vector3d {
        // up in the coils, backwards on the neck
        const double w = std::clamp((x.z() - 2.4) / 1.2, 0.0, 1.0);
        return (1.0 - w) * Vector3d::UnitZ() + w * Vector3d(-1.0, 0.0, 0.35);
    };
    const std::vector<SpinePoint> spine = spine_line(line, back);
    const double total = spine.back().length;

    // belly rings: the radius ripples along the body
    std::vector<SplinePoint> rings;
    for (const SpinePoint& p : spine)
        rings.push_back({p.position, p.radius * (1.0 + 0.022 * std::cos(2.0 * std::numbers::pi *
                                                                        p.length / 0.42))});
    const Implicit body = sweep(rings, false, 1);

    // scales in staggered rows on both flanks, smaller towards the tail
    std::vector<Implicit> hard;
    int row = 0;
    for (double s = 0.05 * total; s < 0.985 * total; s += 0.36, ++row) {
        const SpinePoint& p = at_length(spine, s);
        for (const double angle : {0.42, 0.84, 1.26, 1.68, 2.1}) {
            const double stagger = row % 2 ? 0.0 : 0.21;
            for (const double side : {-1.0, 1.0}) {
                const Vector3d out = outward(p, side * (angle + stagger));
                const double size = 0.27 * p.radius;
                const Vector3d centre = p.position + (p.radius - 0.55 * size) * out;
                hard.push_back(capsule(centre, centre - 0.75 * size * p.tangent, size, 0.8 * size));
            }
        }
        // ridge of blades along the back
        const double grow = 0.35 + 0.65 * std::sin(std::numbers::pi * std::pow(s / total, 2.0));
        hard.push_back(
            spike(p, 0.0, (0.3 + 0.42 * grow) * p.radius / 0.6, 0.2 * p.radius / 0.6, -0.8));
    }

    // head: skull, snout, lower jaw of a wide open mouth
    std::vector<Implicit> horns;
    std::vector<Implicit> head = {sweep({{{0.5, 0, 7.1}, 0.55},
                                         {{1.15, 0, 7.35}, 0.66},
                                         {{2.0, 0, 7.35}, 0.52},
                                         {{2.75, 0, 7.2}, 0.38},
                                         {{3.2, 0, 7.1}, 0.29}}),
                                  sweep({{{0.7, 0, 6.85}, 0.48},
                                         {{1.35, 0, 6.45}, 0.42},
                                         {{2.1, 0, 6.0}, 0.31},
                                         {{2.75, 0, 5.75}, 0.23}})};
    head.push_back(mirror(ellipsoid({1.0, 0.5, 6.95}, {0.55, 0.32, 0.5}), 1));
    for (const double side : {-1.0, 1.0}) {
        const auto at = [&](double x, double y, double z) { return Vector3d(x, side * y, z); };
        // great horns, brow horns, jaw spikes
        horns.push_back(sweep({{at(1.0, 0.38, 7.75), 0.27},
                               {at(0.55, 0.75, 8.35), 0.22},
                               {at(-0.25, 1.0, 8.65), 0.16},
                               {at(-1.0, 0.95, 8.5), 0.11},
                               {at(-1.5, 0.75, 8.15), 0.055}}));
        horns.push_back(capsule(at(1.75, 0.42, 7.72), at(1.35, 0.62, 8.2), 0.16, 0.05));
        horns.push_back(capsule(at(0.85, 0.68, 7.0), at(0.15, 1.15, 7.15), 0.2, 0.055));
        horns.push_back(capsule(at(0.95, 0.6, 6.6), at(0.35, 1.0, 6.45), 0.17, 0.055));
        horns.push_back(capsule(at(1.45, 0.5, 7.72), at(2.25, 0.36, 7.66), 0.15, 0.11));
        horns.push_back(sphere(at(1.95, 0.42, 7.5), 0.19));
        horns.push_back(sphere(at(3.15, 0.17, 7.34), 0.11));
        // fangs and teeth
        horns.push_back(capsule(at(2.85, 0.22, 6.95), at(2.8, 0.2, 6.42), 0.12, 0.05));
        horns.push_back(capsule(at(2.62, 0.15, 5.9), at(2.66, 0.16, 6.22), 0.095, 0.05));
        for (int i = 0; i < 3; ++i)
            horns.push_back(capsule(at(2.45 - 0.3 * i, 0.3 + 0.05 * i, 6.98),
                                    at(2.43 - 0.3 * i, 0.29 + 0.05 * i, 6.72), 0.09, 0.05));
        // forked tongue
        horns.push_back(sweep({{{1.5, 0, 6.65}, 0.15},
                               {{2.3, 0, 6.38}, 0.12},
                               {{2.9, 0, 6.35}, 0.1},
                               {at(3.35, 0.2, 6.5), 0.07}}));
    }
    const Vector3d neck_end(0.2, 0.0, 0.55);
    hard.push_back(translate(unite(horns), neck_end));
    const Implicit skull = translate(smooth_unite(head, 0.25), neck_end);
    return smooth_unite({smooth_unite({body, skull}, 0.3), unite(hard)}, 0.08);
}

}  // namespace pliant::shape_parts
