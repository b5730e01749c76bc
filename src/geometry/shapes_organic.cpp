#include "geometry/shape_parts.h"

#include <array>
#include <cmath>

namespace pliant::shape_parts {

using namespace implicit;

// Centimetres: front towards +x, apex towards +y.
Implicit heart() {
    // chambers
    const Implicit chambers = smooth_unite(
        {capsule({0.0, 0.3, 1.2}, {0.7, 2.2, -4.0}, 2.72, 0.95),
         capsule({1.0, -0.9, 0.9}, {1.3, 1.2, -3.0}, 2.2, 1.0),
         ellipsoid({0.2, -2.4, 2.5}, {1.65, 1.5, 1.75}),
         ellipsoid({-1.2, 1.4, 2.7}, {1.65, 1.9, 1.5}), ellipsoid({1.5, 2.3, 2.8}, {0.8, 1.1, 0.6}),
         ellipsoid({1.7, -2.1, 3.4}, {0.7, 1.0, 0.7})},
        0.9);
    // great vessels: aorta with its branches, lung arteries and veins, hollow veins
    const std::vector<std::vector<SplinePoint>> vessels = {
        {{{0.6, -0.3, 2.5}, 1.25},
         {{0.6, -0.7, 5.0}, 1.25},
         {{-0.2, -0.1, 7.2}, 1.15},
         {{-1.7, 1.2, 7.5}, 1.05},
         {{-2.8, 1.9, 5.6}, 0.88},
         {{-3.0, 1.8, 2.5}, 0.75},
         {{-3.0, 1.5, -1.5}, 0.68},
         {{-2.9, 1.2, -6.7}, 0.64}},
        {{{0.2, -0.5, 7.0}, 0.6}, {{0.3, -1.2, 8.6}, 0.55}, {{0.2, -2.2, 11.6}, 0.52}},
        {{{-0.7, 0.5, 7.4}, 0.5}, {{-0.7, 0.4, 9.0}, 0.46}, {{-0.5, 0.0, 11.8}, 0.45}},
        {{{-1.5, 1.1, 7.5}, 0.5}, {{-1.6, 1.6, 9.0}, 0.46}, {{-1.5, 2.6, 11.3}, 0.45}},
        {{{1.8, 0.4, 2.4}, 1.25},
         {{1.7, 1.0, 4.4}, 1.2},
         {{0.5, 1.9, 5.5}, 1.0},
         {{-0.6, 3.4, 5.7}, 0.8},
         {{-1.0, 4.9, 5.5}, 0.7}},
        {{{0.6, 1.7, 5.4}, 0.85},
         {{-0.9, -0.2, 5.3}, 0.8},
         {{-1.3, -2.4, 5.1}, 0.75},
         {{-1.2, -4.6, 4.8}, 0.7}},
        {{{-0.2, -2.6, 3.0}, 0.95}, {{-0.3, -2.7, 6.0}, 0.82}, {{-0.2, -2.9, 10.6}, 0.72}},
        {{{-0.6, -2.4, 1.8}, 0.95}, {{-1.1, -2.6, -1.0}, 0.8}, {{-1.3, -2.4, -6.2}, 0.72}},
        {{{-1.8, 2.0, 3.2}, 0.6}, {{-2.0, 3.6, 3.5}, 0.55}, {{-1.9, 5.0, 3.9}, 0.5}},
        {{{-1.8, 2.0, 2.4}, 0.6}, {{-2.0, 3.7, 2.1}, 0.55}, {{-1.9, 5.0, 1.9}, 0.5}},
        {{{-1.8, 0.0, 2.9}, 0.6}, {{-2.2, -2.2, 3.0}, 0.55}, {{-2.1, -4.4, 3.1}, 0.5}},
    };
    std::vector<Implicit> parts = {chambers}, bores;
    for (const std::vector<SplinePoint>& vessel : vessels) {
        parts.push_back(sweep(vessel));
        const Vector3d end = vessel.back().position;
        const Vector3d out = (end - vessel[vessel.size() - 2].position).normalized();
        const double r = vessel.back().radius;
        // cut the rounded end flat and dish it
        bores.push_back(cylinder(end + 0.4 * r * out, end + 3.0 * r * out, 1.6 * r));
        bores.push_back(sphere(end + 0.4 * r * out, 0.62 * r));
    }
    const Implicit body = smooth_unite(parts, 0.45);

    // coronary vessels on the chambers, and the groove between atria and ventricles
    const std::vector<std::vector<SplinePoint>> coronaries = {
        {{{2.6, 2.0, 2.0}, 0.44},
         {{3.2, 1.7, 0.4}, 0.42},
         {{2.8, 2.3, -1.8}, 0.38},
         {{1.9, 2.9, -4.2}, 0.30},
         {{0.8, 3.1, -5.0}, 0.27}},
        {{{3.2, 1.7, 0.4}, 0.35}, {{2.7, 2.9, -0.9}, 0.33}, {{1.8, 3.3, -2.6}, 0.27}},
        {{{2.8, 1.9, 1.6}, 0.38},
         {{1.9, 3.2, 0.9}, 0.35},
         {{0.4, 3.6, 0.2}, 0.33},
         {{-0.8, 3.0, -1.4}, 0.27}},
        {{{3.3, 1.9, -0.2}, 0.33}, {{3.6, 0.7, -1.3}, 0.31}, {{3.0, 0.5, -2.6}, 0.26}},
        {{{3.2, -0.6, 2.2}, 0.42},
         {{3.0, -2.4, 1.7}, 0.42},
         {{1.8, -3.4, 0.5}, 0.38},
         {{0.2, -3.2, -0.4}, 0.33}},
        {{{2.6, -2.9, 1.1}, 0.35}, {{3.0, -1.9, -0.5}, 0.32}, {{2.4, -0.6, -2.6}, 0.27}},
    };
    std::vector<Implicit> all = {body};
    for (const auto& points : coronaries) all.push_back(vein(chambers, points));
    return subtract(smooth_unite(all, 0.25), unite(bores), 0.08);
}

// Centimetres: head towards +x.
Implicit fish() {
    const Implicit trunk = squashed(sweep({{{6.3, 0, -0.1}, 0.42},
                                           {{5.6, 0, 0.0}, 0.85},
                                           {{4.3, 0, 0.15}, 1.65},
                                           {{2.2, 0, 0.2}, 2.3},
                                           {{-0.5, 0, 0.15}, 2.3},
                                           {{-3.2, 0, 0.1}, 1.45},
                                           {{-5.2, 0, 0.1}, 0.75},
                                           {{-6.4, 0, 0.15}, 0.6}}),
                                    1, 0.56);
    std::vector<Implicit> parts = {trunk};
    // tail: two lobes
    parts.push_back(
        fan({{-6.2, 0, 0.3}, {-6.4, 0, 0.15}, {-9.6, 0, 3.2}, {-8.2, 0, 0.5}}, 7, 0.26, 0.17));
    parts.push_back(
        fan({{-6.2, 0, 0.0}, {-6.4, 0, 0.15}, {-9.4, 0, -2.9}, {-8.2, 0, -0.2}}, 7, 0.26, 0.17));
    // back, belly and anal fins
    parts.push_back(
        fan({{2.6, 0, 2.1}, {-3.0, 0, 1.3}, {0.9, 0, 4.4}, {-4.6, 0, 2.3}}, 13, 0.26, 0.17));
    parts.push_back(
        fan({{-2.4, 0, -1.4}, {-4.4, 0, -0.7}, {-3.9, 0, -2.9}, {-5.3, 0, -1.5}}, 6, 0.24, 0.17));
    for (const double side : {-1.0, 1.0}) {
        parts.push_back(fan({{2.7, 0.95 * side, -0.5},
                             {2.5, 0.95 * side, -1.1},
                             {0.3, 2.7 * side, -0.9},
                             {0.9, 2.3 * side, -2.4}},
                            6, 0.24, 0.17));
        parts.push_back(fan({{1.2, 0.55 * side, -1.9},
                             {0.4, 0.5 * side, -1.9},
                             {-0.3, 1.3 * side, -3.5},
                             {-1.2, 1.0 * side, -3.0}},
                            5, 0.24, 0.17));
        parts.push_back(sphere({4.75, 0.78 * side, 0.62}, 0.36));
        // lips
        parts.push_back(sweep({{{6.75, 0, -0.2}, 0.2},
                               {{6.4, 0.32 * side, -0.28}, 0.2},
                               {{5.7, 0.52 * side, -0.45}, 0.15}}));
    }
    Implicit body = smooth_unite(parts, 0.3);
    // gill slits, mouth, pupils, lateral lines
    std::vector<Implicit> cuts = {squashed(sphere({7.0, 0, -0.8}, 0.85), 2, 0.35)};
    for (const double side : {-1.0, 1.0}) {
        cuts.push_back(vein(trunk, {{{3.5, 2 * side, 1.35}, 0.1},
                                    {{2.9, 2 * side, 0.7}, 0.16},
                                    {{2.8, 2 * side, -0.3}, 0.17},
                                    {{3.4, 2 * side, -1.2}, 0.1}}));
        cuts.push_back(vein(trunk, {{{2.3, 2 * side, 0.75}, 0.09},
                                    {{0, 2 * side, 0.6}, 0.1},
                                    {{-3, 2 * side, 0.3}, 0.1},
                                    {{-5.6, 1 * side, 0.15}, 0.08}}));
        cuts.push_back(sphere({4.8, 1.22 * side, 0.66}, 0.2));
    }
    return subtract(body, unite(cuts), 0.08);
}

// Centimetres: a left hand held up, fingers along +z, palm towards +x, thumb towards −y.
Implicit hand() {
    struct Finger {
        Vector3d knuckle;
        std::array<double, 3> bones;
        double radius, spread, curl;
    };
    const std::vector<Finger> fingers = {{{0.0, -3.1, 9.6}, {4.1, 2.6, 1.9}, 0.95, -0.16, 0.10},
                                         {{-0.15, -1.05, 10.1}, {4.6, 2.9, 2.1}, 0.98, -0.03, 0.07},
                                         {{-0.1, 1.0, 9.8}, {4.2, 2.8, 2.0}, 0.93, 0.08, 0.12},
                                         {{0.1, 2.9, 9.0}, {3.3, 2.0, 1.7}, 0.82, 0.22, 0.18}};
    std::vector<Implicit> palm, digits, nails;
    const auto add_nail = [&](const Vector3d& tip, const Vector3d& along, const Vector3d& back,
                              double r) {
        const Vector3d centre = tip + 0.72 * r * back - 0.1 * r * along;
        nails.push_back(
            capsule(centre - 0.35 * r * along, centre + 0.3 * r * along, 0.42 * r, 0.4 * r));
    };
    for (const Finger& f : fingers) {
        // metacarpal and ball of the finger
        palm.push_back(capsule({0.0, 0.62 * f.knuckle.y(), 3.0}, f.knuckle, 1.35, 1.12));
        Vector3d at = f.knuckle;
        double bend = f.curl, r = f.radius;
        for (int b = 0; b < 3; ++b) {
            const Vector3d along(std::sin(bend), std::sin(f.spread) * std::cos(bend),
                                 std::cos(f.spread) * std::cos(bend));
            const Vector3d next = at + f.bones[b] * along;
            // slightly thicker at the joints
            digits.push_back(
                sweep({{at, r}, {0.5 * (at + next), 0.96 * r}, {next, 0.93 * r}}, false, 6));
            if (b == 2) {
                const Vector3d back = Vector3d(-std::cos(bend), 0.0, std::sin(bend)).normalized();
                add_nail(next, along, back, 0.93 * r);
            }
            at = next;
            bend += b == 0 ? 1.6 * f.curl + 0.05 : 0.9 * f.curl + 0.05;
            r *= 0.93;
        }
    }
    // thumb, its ball and the heel of the hand
    const Vector3d thumb_tip(3.1, -6.9, 9.4);
    digits.push_back(sweep({{{0.4, -1.6, 3.2}, 1.4},
                            {{1.4, -3.6, 5.0}, 1.35},
                            {{2.3, -5.3, 7.0}, 1.05},
                            {thumb_tip, 0.85}}));
    add_nail(thumb_tip, Vector3d(0.3, -0.5, 0.8).normalized(),
             Vector3d(-0.55, -0.75, -0.25).normalized(), 0.85);
    palm.push_back(ellipsoid({0.55, -2.3, 4.3}, {1.35, 1.6, 2.4}));
    palm.push_back(ellipsoid({0.45, 2.1, 4.2}, {1.2, 1.35, 2.5}));
    // wrist and forearm
    palm.push_back(squashed(
        sweep({{{0, 0, 2.6}, 2.8}, {{0, 0, 0.4}, 2.45}, {{0, 0, -2.4}, 2.7}, {{0, 0, -6.5}, 3.1}}),
        0, 0.68));
    const Implicit flesh = smooth_unite({smooth_unite(palm, 1.1), smooth_unite(digits, 0.35)}, 0.7);
    Implicit body = smooth_unite({flesh, unite(nails)}, 0.08);
    // creases of the palm, then the forearm is cut flat
    const std::vector<Implicit> creases = {
        vein(flesh, {{{3, -3.8, 7.6}, 0.14}, {{3, -1.5, 7.0}, 0.24}, {{3, 0.8, 5.8}, 0.16}}),
        vein(flesh, {{{3, 3.6, 7.4}, 0.14}, {{3, 1.2, 7.9}, 0.24}, {{3, -1.2, 8.8}, 0.16}}),
        vein(flesh, {{{3, -3.4, 7.0}, 0.14}, {{3, -1.1, 5.6}, 0.24}, {{3, -0.5, 3.0}, 0.16}})};
    body = subtract(body, unite(creases), 0.3);
    return subtract(body, box({-9, -9, -12}, {9, 9, -6.0}), 0.3);
}

}  // namespace pliant::shape_parts
