#include "geometry/shape_parts.h"

#include <cmath>
#include <numbers>

namespace pliant::shape_parts {

using namespace implicit;

namespace {

Implicit helmet() {
    Implicit shell = smooth_unite({ellipsoid({0.0, 0, 1.655}, {0.132, 0.112, 0.15}),
                                   capsule({0.005, 0, 1.6}, {0.02, 0, 1.54}, 0.108, 0.09),
                                   // pointed visor
                                   capsule({0.06, 0, 1.6}, {0.125, 0, 1.575}, 0.085, 0.028)},
                                  0.03);
    shell = subtract(shell, box({0.04, -0.1, 1.648}, {0.25, -0.012, 1.668}, 0.004), 0.004);
    shell = subtract(shell, box({0.04, 0.012, 1.648}, {0.25, 0.1, 1.668}, 0.004), 0.004);
    for (const double side : {-1.0, 1.0})
        for (int i = 0; i < 3; ++i)  // breaths
            shell = subtract(
                shell,
                capsule({0.0, side * (0.035 + 0.02 * i), 1.585 - 0.012 * (i % 2)},
                        {0.3, side * (0.07 + 0.05 * i), 1.57 - 0.012 * (i % 2)}, 0.0075, 0.0075),
                0.003);
    std::vector<Implicit> parts = {shell};
    // comb and plume
    parts.push_back(squashed(torus({-0.005, 0, 1.66}, {0, 1, 0}, 0.135, 0.03), 1, 0.5));
    parts.push_back(sweep({{{0.06, 0, 1.815}, 0.022},
                           {{-0.02, 0, 1.87}, 0.042},
                           {{-0.13, 0, 1.87}, 0.048},
                           {{-0.225, 0, 1.78}, 0.04},
                           {{-0.26, 0, 1.66}, 0.024}}));
    parts.push_back(mirror(cylinder({0.005, 0.095, 1.64}, {0.005, 0.122, 1.64}, 0.026, 0.006), 1));
    return smooth_unite(parts, 0.012);
}

/// Plates over a shoulder, the uppermost the largest; `side` is the sign of y.
Implicit pauldron(double side) {
    std::vector<Implicit> plates;
    for (int i = 0; i < 3; ++i) {
        const Vector3d centre(0.0, side * (0.225 + 0.03 * i), 1.395 - 0.05 * i);
        const double r = 0.118 - 0.013 * i;
        const Implicit dome = ellipsoid(centre, {r, 0.92 * r, 0.85 * r});
        plates.push_back(
            intersect(dome, box(centre + Vector3d(-1, -1, -0.02), centre + Vector3d(1, 1, 1))));
        plates.push_back(squashed(
            torus({centre.x(), centre.y(), (centre.z() - 0.015) / 0.8}, {0, 0, 1}, 0.94 * r, 0.011),
            2, 0.8));
    }
    // raised guard towards the neck
    plates.push_back(sweep({{{0.085, side * 0.2, 1.45}, 0.015},
                            {{0.0, side * 0.175, 1.515}, 0.017},
                            {{-0.085, side * 0.2, 1.45}, 0.015}}));
    return smooth_unite(plates, 0.012);
}

/// Arm from the shoulder over elbow to fist.
Implicit arm(const Vector3d& shoulder, const Vector3d& elbow, const Vector3d& fist) {
    const Vector3d lower = (fist - elbow).normalized();
    std::vector<Implicit> parts = {
        capsule(shoulder, elbow, 0.068, 0.056), sphere(elbow, 0.068),
        torus(elbow, (elbow - shoulder).normalized() + lower, 0.062, 0.014),
        capsule(elbow, fist - 0.05 * lower, 0.054, 0.046),
        // flared cuff
        capsule(fist - 0.15 * lower, fist - 0.05 * lower, 0.068, 0.048), sphere(fist, 0.056)};
    // knuckles: four finger rolls across the fist
    const Vector3d across = lower.cross(Vector3d::UnitZ()).normalized();
    for (int i = 0; i < 4; ++i) {
        const Vector3d c = fist + Vector3d(0, 0, 0.036 - 0.024 * i) + 0.028 * lower;
        parts.push_back(capsule(c - 0.03 * across, c + 0.03 * across, 0.0175, 0.0175));
    }
    return smooth_unite(parts, 0.012);
}

/// Leg with knee cop, greave and pointed shoe; `side` is the sign of y, `stride` shifts it forward.
Implicit leg(double side, double stride) {
    const Vector3d hip(0.0, 0.115 * side, 0.9), knee(0.045 + stride, 0.14 * side, 0.5),
        ankle(stride, 0.155 * side, 0.11);
    std::vector<Implicit> parts = {
        capsule(hip, knee, 0.108, 0.074),
        sweep({{knee, 0.07},
               {0.62 * knee + 0.38 * ankle + Vector3d(-0.018, 0, 0), 0.079},
               {ankle, 0.05}}),
        sphere(knee + Vector3d(0.022, 0, 0), 0.074),
        ellipsoid(knee + Vector3d(0.0, 0.062 * side, 0.0), {0.052, 0.022, 0.062}),
        torus(knee + Vector3d(0.008, 0, -0.07), {0, 0, 1}, 0.068, 0.012),
        torus(knee + Vector3d(0.004, 0, 0.075), {0, 0, 1}, 0.076, 0.012)};
    // shoe of overlapping plates
    for (int i = 0; i < 5; ++i)
        parts.push_back(ellipsoid(
            ankle + Vector3d(0.01 + 0.045 * i, 0.012 * side * i * 0.4, -0.052 - 0.008 * i),
            {0.062 - 0.006 * i, 0.058 - 0.0055 * i, 0.057 - 0.0075 * i}));
    parts.push_back(ellipsoid(ankle + Vector3d(-0.045, 0, -0.06), {0.045, 0.045, 0.048}));
    const Implicit whole = smooth_unite(parts, 0.01);
    // flat sole
    return intersect(whole, box({-1, -1, 0.0}, {1, 1, 2}));
}

/// Round shield with rim, boss and studs, its face towards +x.
Implicit shield() {
    const double bend = 0.75;
    const Implicit disc = intersect(cylinder({-0.2, 0, 0}, {0.2, 0, 0}, 0.27),
                                    shell(sphere({-bend, 0, 0}, bend), 0.024));
    const Implicit front = intersect(disc, box({-0.2, -1, -1}, {1, 1, 1}));
    std::vector<Implicit> parts = {front, torus({-0.05, 0, 0}, {1, 0, 0}, 0.27, 0.02),
                                   ellipsoid({0.0, 0, 0}, {0.055, 0.07, 0.07}),
                                   capsule({0.03, 0, 0}, {0.1, 0, 0}, 0.03, 0.01),
                                   torus({-0.014, 0, 0}, {1, 0, 0}, 0.14, 0.012)};
    parts.push_back(repeat_around(sphere({-0.024, 0.205, 0}, 0.02), 0, 10));
    return smooth_unite(parts, 0.008);
}

}  // namespace

// Metres: an armoured figure 1.9 m high that looks towards +x, a shield on its left arm.
Implicit figure(bool with_axe) {
    std::vector<Implicit> parts = {helmet(), pauldron(-1.0), pauldron(1.0), leg(-1.0, 0.09),
                                   leg(1.0, -0.07)};
    // breast and back plate with a keel, waist
    const Implicit trunk = smooth_unite({ellipsoid({0.0, 0, 1.29}, {0.165, 0.215, 0.2}),
                                         capsule({0.06, 0, 1.38}, {0.1, 0, 1.18}, 0.07, 0.055),
                                         cylinder({0, 0, 1.0}, {0, 0, 1.25}, 0.135, 0.04)},
                                        0.06);
    parts.push_back(trunk);
    parts.push_back(vein(
        trunk, {{{0.2, 0.0, 1.42}, 0.01}, {{0.22, 0.0, 1.3}, 0.014}, {{0.2, 0.0, 1.12}, 0.01}}));
    for (const double side : {-1.0, 1.0})
        parts.push_back(vein(trunk, {{{0.2, side * 0.02, 1.14}, 0.011},
                                     {{0.2, side * 0.12, 1.2}, 0.012},
                                     {{0.05, side * 0.22, 1.3}, 0.01}}));
    // gorget
    parts.push_back(capsule({0, 0, 1.47}, {0.01, 0, 1.53}, 0.1, 0.088));
    for (const double z : {1.478, 1.51})
        parts.push_back(torus({0.002, 0, z}, {0, 0, 1}, 0.097, 0.014));
    // belt and a skirt of hoops, wider downwards
    parts.push_back(torus({0, 0, 1.035}, {0, 0, 1}, 0.133, 0.024));
    parts.push_back(box({0.13, -0.035, 1.005}, {0.172, 0.035, 1.065}, 0.01));
    for (int i = 0; i < 4; ++i)
        parts.push_back(capsule({0, 0, 0.995 - 0.042 * i}, {0, 0, 0.968 - 0.042 * i},
                                0.145 + 0.014 * i, 0.16 + 0.014 * i));
    for (int i = 0; i < 4; ++i)
        parts.push_back(torus({0, 0, 0.955 - 0.042 * i}, {0, 0, 1}, 0.163 + 0.014 * i, 0.012));
    // tassets over the thighs
    for (const double side : {-1.0, 1.0})
        parts.push_back(squashed(sweep({{{0.35, 0.1 * side, 0.88}, 0.075},
                                        {{0.4, 0.115 * side, 0.78}, 0.085},
                                        {{0.4, 0.12 * side, 0.7}, 0.06}}),
                                 0, 0.42));
    // arms
    const Vector3d right_fist(0.33, -0.33, 1.06), left_fist(0.25, 0.33, 1.12);
    parts.push_back(arm({0, -0.245, 1.36}, {0.02, -0.33, 1.1}, right_fist));
    parts.push_back(arm({0, 0.245, 1.36}, {0.0, 0.36, 1.12}, left_fist));
    parts.push_back(
        translate(rotate(shield(), {0, 0, 0.35}), left_fist + Vector3d(0.08, 0.03, 0.03)));
    if (with_axe) {
        // gripped in the middle of the haft, edge forward, tilted a little outwards
        const Implicit held = rotate(translate(scale(axe(), 1.15), {0, 0, -0.5}), {0.12, 0.1, 0.0});
        parts.push_back(translate(held, right_fist));
    }
    return smooth_unite(parts, 0.01);
}

}  // namespace pliant::shape_parts
