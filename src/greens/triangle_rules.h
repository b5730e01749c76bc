#pragma once

#include <array>
#include <cstddef>

/// Rules of integration over triangles and over [0, 1].
namespace pliant {

/// A point by its barycentric coordinates, and its share of the area.
struct TriangleRulePoint {
    std::array<double, 3> barycentric;
    double weight;
};

/// Points at (1 − 2a, a, a), its turns among corners one after the other.
[[nodiscard]] inline constexpr std::array<TriangleRulePoint, 3> triangle_orbit(
    double a, double weight) noexcept {
    const double b = 1 - 2 * a;
    return {{{{b, a, a}, weight}, {{a, b, a}, weight}, {{a, a, b}, weight}}};
}

inline constexpr TriangleRulePoint kTriangleCentre{{1.0 / 3, 1.0 / 3, 1.0 / 3}, 1};

/// Exact for polynomials of degree 2: (1/6, 1/6, 2/3) and its turns.
struct ThreePointRule {
    static constexpr int kOrbits = 1;
    static constexpr double kCentre = 0;  ///< weight of the centroid
    static constexpr double kA[1] = {1.0 / 6};
    static constexpr double kWeight[1] = {1.0 / 3};
};

/// Exact for polynomials of degree 5, [Radon1948].
struct SevenPointRule {
    static constexpr double kRoot15 = 3.87298334620741688518;
    static constexpr int kOrbits = 2;
    static constexpr double kCentre = 9.0 / 40;
    static constexpr double kA[2] = {(6 - kRoot15) / 21, (6 + kRoot15) / 21};
    static constexpr double kWeight[2] = {(155 - kRoot15) / 1200, (155 + kRoot15) / 1200};
};

/// The points of a rule: the centroid, if it has a weight, then the orbits.
template <class Rule>
[[nodiscard]] constexpr auto triangle_points() noexcept {
    constexpr int kFirst = Rule::kCentre != 0 ? 1 : 0;
    std::array<TriangleRulePoint, kFirst + 3 * Rule::kOrbits> points{};
    if constexpr (kFirst == 1) points[0] = {kTriangleCentre.barycentric, Rule::kCentre};
    for (int k = 0; k < Rule::kOrbits; ++k) {
        const auto orbit = triangle_orbit(Rule::kA[k], Rule::kWeight[k]);
        for (int s = 0; s < 3; ++s)
            points[static_cast<std::size_t>(kFirst + 3 * k + s)] =
                orbit[static_cast<std::size_t>(s)];
    }
    return points;
}

struct LinePoint {
    double position, weight;
};

/// Gauss's rule on [0, 1], exact to degree 23.
[[nodiscard]] inline constexpr std::array<LinePoint, 12> gauss_points_12() noexcept {
    // of [−1, 1], the positive half
    constexpr double kPosition[6] = {0.12523340851146891547, 0.36783149899818019375,
                                     0.58731795428661744730, 0.76990267419430468704,
                                     0.90411725637047485668, 0.98156063424671925069};
    constexpr double kWeight[6] = {0.24914704581340278500, 0.23349253653835480876,
                                   0.20316742672306592175, 0.16007832854334622633,
                                   0.10693932599531843096, 0.04717533638651182719};
    std::array<LinePoint, 12> points{};
    for (std::size_t k = 0; k < 6; ++k) {
        points[5 - k] = {(1 - kPosition[k]) / 2, kWeight[k] / 2};
        points[6 + k] = {(1 + kPosition[k]) / 2, kWeight[k] / 2};
    }
    return points;
}

}  // namespace pliant
