#include "geometry/shape_parts.h"

#include <cmath>
#include <numbers>

namespace pliant::shape_parts {

using namespace implicit;

namespace {

/// Prism with six sides about the x axis: the head of a bolt or a nut.
Implicit hex_nut(double x0, double x1, double across_flats) {
    const double h = 0.5 * across_flats, r = across_flats;
    const Implicit flats = box({x0, -r, -h}, {x1, r, h});
    const double third = std::numbers::pi / 3.0;
    return intersect(intersect(flats, rotate(flats, {third, 0, 0})), rotate(flats, {-third, 0, 0}));
}

}  // namespace

// Millimetres: handle along x, bowl at +x.
Implicit spoon() {
    // the lower part of an ellipsoid's shell, with a rounded rim
    const Implicit hull = shell(ellipsoid({70, 0, 16}, {27.5, 16.5, 13}), 5.4);
    const Implicit bowl = subtract(hull, box({0, -60, 16}, {140, 60, 80}), 3.5);
    constexpr double kFlatness = 0.6;
    std::vector<SplinePoint> handle = {{{-98, 0, 11}, 7.5}, {{-86, 0, 15}, 8.5},
                                       {{-60, 0, 22}, 6.5}, {{-20, 0, 26}, 4.8},
                                       {{20, 0, 22}, 4.8},  {{46, 0, 12.5}, 5.5}};
    for (SplinePoint& p : handle) p.position.z() /= kFlatness;
    return smooth_unite({bowl, squashed(sweep(handle), 2, kFlatness)}, 5.0);
}

// Metres: a wooden chair with turned spindles.
Implicit chair() {
    std::vector<Implicit> parts;
    const Implicit seat = box({-0.215, -0.22, 0.43}, {0.225, 0.22, 0.468}, 0.016);
    parts.push_back(subtract(seat, ellipsoid({0.01, 0, 0.62}, {0.26, 0.27, 0.165}), 0.01));
    for (const double side : {-1.0, 1.0}) {
        const auto at = [&](double x, double y, double z) { return Vector3d(x, side * y, z); };
        // front leg, turned
        parts.push_back(sweep({{at(0.185, 0.18, 0.44), 0.018},
                               {at(0.19, 0.185, 0.36), 0.023},
                               {at(0.195, 0.19, 0.22), 0.019},
                               {at(0.2, 0.197, 0.10), 0.021},
                               {at(0.205, 0.2, 0.016), 0.015}}));
        // rear leg and back post in one
        parts.push_back(sweep({{at(-0.225, 0.2, 0.016), 0.016},
                               {at(-0.205, 0.19, 0.22), 0.02},
                               {at(-0.19, 0.18, 0.45), 0.022},
                               {at(-0.215, 0.185, 0.7), 0.019},
                               {at(-0.27, 0.2, 0.94), 0.017}}));
        parts.push_back(capsule(at(0.195, 0.19, 0.2), at(-0.207, 0.19, 0.2), 0.0125, 0.0125));
    }
    parts.push_back(capsule({0.197, -0.19, 0.3}, {0.197, 0.19, 0.3}, 0.0125, 0.0125));
    parts.push_back(capsule({0.0, -0.19, 0.2}, {0.0, 0.19, 0.2}, 0.0125, 0.0125));
    parts.push_back(capsule({-0.2, -0.185, 0.28}, {-0.2, 0.185, 0.28}, 0.0125, 0.0125));
    // curved rails, the upper one broad
    parts.push_back(sweep({{{-0.262, -0.2, 0.9}, 0.02},
                           {{-0.29, -0.1, 0.93}, 0.026},
                           {{-0.298, 0.0, 0.94}, 0.029},
                           {{-0.29, 0.1, 0.93}, 0.026},
                           {{-0.262, 0.2, 0.9}, 0.02}}));
    parts.push_back(sweep({{{-0.203, -0.185, 0.58}, 0.014},
                           {{-0.225, 0.0, 0.59}, 0.015},
                           {{-0.203, 0.185, 0.58}, 0.014}}));
    for (int i = -2; i <= 2; ++i) {
        const double y = 0.062 * i, sag = 0.02 * (1.0 - 0.2 * i * i);
        parts.push_back(sweep({{{-0.206 - sag, y, 0.59}, 0.0115},
                               {{-0.235 - sag, y, 0.74}, 0.0155},
                               {{-0.268 - sag, y, 0.92}, 0.0115}}));
    }
    return smooth_unite(parts, 0.012);
}

// Metres: a base plate with two clamps for hoses of 21 mm radius that pass along x.
Implicit bracket() {
    Implicit body = box({-0.032, -0.1, 0.0}, {0.032, 0.1, 0.01}, 0.003);
    std::vector<Implicit> parts = {body};
    for (const double y : {-0.04, 0.04}) {
        parts.push_back(cylinder({-0.014, y, 0.045}, {0.014, y, 0.045}, 0.0285, 0.003));
        parts.push_back(box({-0.014, y - 0.0285, 0.004}, {0.014, y + 0.0285, 0.04}, 0.003));
        // flange with the clamping bolt on top
        parts.push_back(box({-0.014, y - 0.009, 0.065}, {0.014, y + 0.009, 0.089}, 0.003));
    }
    body = smooth_unite(parts, 0.005);
    for (const double y : {-0.04, 0.04})
        body = subtract(body, cylinder({-0.05, y, 0.045}, {0.05, y, 0.045}, 0.0205), 0.001);
    for (const double y : {-0.085, 0.0, 0.085})
        for (const double x : {-0.02, 0.02})
            if (y != 0.0 || x > 0.0)
                body = subtract(
                    body,
                    cylinder({y == 0.0 ? 0.0 : x, y, -0.01}, {y == 0.0 ? 0.0 : x, y, 0.02}, 0.0062),
                    0.001);
    std::vector<Implicit> all = {body};
    for (const double y : {-0.04, 0.04}) {
        const Implicit bolt = unite({hex_nut(-0.021, -0.008, 0.019), hex_nut(0.008, 0.019, 0.019),
                                     cylinder({-0.02, 0, 0}, {0.0255, 0, 0}, 0.0055, 0.001)});
        all.push_back(rotate(bolt, {0, 0, 0.5 * std::numbers::pi}));
        all.back() = translate(all.back(), {0.0, y, 0.078});
    }
    return smooth_unite(all, 0.0015);
}

Implicit hoses() {
    std::vector<Implicit> parts = {bracket()};
    for (const double side : {-1.0, 1.0}) {
        // one hose bends up, the other out and down
        const std::vector<Vector3d> points =
            side > 0.0 ? std::vector<Vector3d>{{-0.26, 0.13, 0.17},   {-0.2, 0.075, 0.09},
                                               {-0.11, 0.042, 0.042}, {0.0, 0.04, 0.045},
                                               {0.11, 0.043, 0.05},   {0.19, 0.07, 0.12},
                                               {0.2, 0.12, 0.2}}
                       : std::vector<Vector3d>{{-0.21, -0.16, 0.04},  {-0.17, -0.09, 0.042},
                                               {-0.1, -0.048, 0.045}, {0.0, -0.04, 0.045},
                                               {0.11, -0.045, 0.04},  {0.2, -0.1, 0.05},
                                               {0.26, -0.16, 0.1}};
        // ribs, which stop at the clamp
        const std::vector<Vector3d> line = smooth_curve(points, 24);
        std::vector<SplinePoint> path;
        double length = 0.0;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (i > 0) length += (line[i] - line[i - 1]).norm();
            const double rib = std::abs(line[i].x()) > 0.018
                                   ? 0.0022 * std::cos(2.0 * std::numbers::pi * length / 0.0115)
                                   : 0.0015;
            path.push_back({line[i], 0.021 + rib});
        }
        Implicit hose = sweep(path, false, 1);
        // ferrules with an open bore at both ends
        for (const bool at_end : {false, true}) {
            const Vector3d end = at_end ? line.back() : line.front();
            const Vector3d inner = at_end ? line[line.size() - 2] : line[1];
            const Vector3d out = (end - inner).normalized();
            hose = unite({hose, cylinder(end - 0.03 * out, end + 0.004 * out, 0.0285, 0.003),
                          cylinder(end - 0.01 * out, end + 0.032 * out, 0.0235, 0.002)});
            hose =
                subtract(hose, capsule(end + 0.015 * out, end + 0.06 * out, 0.0125, 0.0125), 0.001);
        }
        parts.push_back(hose);
    }
    return smooth_unite(parts, 0.002);
}

// Metres: a keyed pin of 15 mm radius with a knob. It goes tip down into `hole`.
Implicit peg() {
    const Implicit pin = cylinder({0, 0, 0}, {0, 0, 0.08}, 0.015, 0.0035);
    const Implicit key = box({0.0, -0.0045, 0.004}, {0.0205, 0.0045, 0.075}, 0.0012);
    const Implicit collar = cylinder({0, 0, 0.071}, {0, 0, 0.079}, 0.026, 0.002);
    Implicit knob = cylinder({0, 0, 0.084}, {0, 0, 0.11}, 0.021, 0.004);
    const Implicit groove = cylinder({0.0245, 0, 0.07}, {0.0245, 0, 0.13}, 0.005);
    knob = subtract(knob, repeat_around(groove, 2, 10), 0.0015);
    return unite({smooth_unite({pin, key}, 0.001), collar,
                  cylinder({0, 0, 0.07}, {0, 0, 0.09}, 0.013), knob});
}

// Metres: a block with a keyed hole through it, 0.6 mm wider than the pin all round.
Implicit hole() {
    constexpr double kClearance = 0.0006;
    const Implicit block = box({-0.04, -0.04, 0.0}, {0.04, 0.04, 0.05}, 0.004);
    const Implicit bore = cylinder({0, 0, -0.02}, {0, 0, 0.07}, 0.015 + kClearance);
    const Implicit keyway =
        box({0.0, -0.0045 - kClearance, -0.02}, {0.0205 + kClearance, 0.0045 + kClearance, 0.07});
    return subtract(block, unite({bore, keyway}), 0.003);
}

// Metres: a tube bent like the letter alpha; where it crosses itself there is room for the other.
std::vector<Vector3d> alpha_line(bool second) {
    constexpr double kUnit = 0.1, kGap = 0.21;
    std::vector<Vector3d> line = {{1.0, 0.66, kGap}, {0.68, 0.38, kGap}, {0.3, 0.0, kGap}};
    constexpr int kLoop = 7;  // a round loop between the two passages of the crossing
    for (int i = 0; i < kLoop; ++i) {
        const double t = static_cast<double>(i) / (kLoop - 1),
                     angle = std::numbers::pi * (-0.36 - 1.28 * t);
        line.emplace_back(-0.31 + 0.55 * std::cos(angle), 0.55 * std::sin(angle),
                          kGap * (1.0 - 2.0 * t) * 0.6);
    }
    for (const Vector3d& p :
         {Vector3d(0.3, 0.0, -kGap), Vector3d(0.68, -0.38, -kGap), Vector3d(1.0, -0.66, -kGap)})
        line.push_back(p);
    // the second one is turned a quarter about x and half about z; its loop hangs in the first's
    const Eigen::Quaterniond turn(Eigen::AngleAxisd(std::numbers::pi, Vector3d::UnitZ()) *
                                  Eigen::AngleAxisd(0.5 * std::numbers::pi, Vector3d::UnitX()));
    for (Vector3d& x : line) {
        if (second) x = turn * x + Vector3d(-1.14, 0.0, 0.0);
        x = kUnit * (x + Vector3d(0.57, 0.0, 0.76));  // the pair stands on the ground, centred
    }
    return line;
}

Implicit alpha_tube(bool second) {
    std::vector<SplinePoint> path;
    for (const Vector3d& x : alpha_line(second)) path.push_back({x, 0.01});
    return sweep(path);
}

// Metres: a battle axe, haft along z, edge towards +x.
Implicit axe() {
    std::vector<Implicit> parts;
    parts.push_back(squashed(sweep({{{0, 0, 0.03}, 0.026},
                                    {{-0.004, 0, 0.1}, 0.021},
                                    {{0.006, 0, 0.35}, 0.019},
                                    {{0, 0, 0.7}, 0.02},
                                    {{0, 0, 0.9}, 0.02}}),
                             1, 0.85));
    parts.push_back(sphere({0, 0, 0.028}, 0.028));
    for (int i = 0; i < 7; ++i)  // wrapped grip
        parts.push_back(torus({-0.002, 0, 0.09 + 0.026 * i}, {0.25, 0, 1}, 0.0175, 0.0055));
    // blade: a lens whose upper and lower parts are cut out by circles
    const double reach = 0.21, half = 0.021, bend = (reach * reach + half * half) / (2.0 * half);
    const Vector3d middle(0.05, 0.0, 0.74);
    Implicit blade = intersect(sphere(middle + Vector3d(0, bend - half, 0), bend),
                               sphere(middle - Vector3d(0, bend - half, 0), bend));
    // blunt edge: thick enough for coarse lattices
    blade = intersect(offset(blade, 0.009),
                      cylinder(middle - Vector3d(0, 0.1, 0), middle + Vector3d(0, 0.1, 0), reach));
    const auto cut = [&](double x, double z, double r) {
        blade = subtract(blade, cylinder({x, -0.1, z}, {x, 0.1, z}, r), 0.004);
    };
    cut(0.045, 0.915, 0.125);
    cut(0.045, 0.555, 0.135);
    blade = intersect(blade, box({-0.03, -0.1, 0.45}, {0.4, 0.1, 1.0}));
    parts.push_back(blade);
    // socket and spikes
    parts.push_back(cylinder({0, 0, 0.66}, {0, 0, 0.81}, 0.032, 0.006));
    parts.push_back(capsule({-0.02, 0, 0.735}, {-0.135, 0, 0.72}, 0.028, 0.007));
    parts.push_back(capsule({0, 0, 0.86}, {0, 0, 0.985}, 0.022, 0.006));
    for (const double z : {0.668, 0.802})
        parts.push_back(torus({0, 0, z}, {0, 0, 1}, 0.029, 0.008));
    return smooth_unite(parts, 0.01);
}

}  // namespace pliant::shape_parts
