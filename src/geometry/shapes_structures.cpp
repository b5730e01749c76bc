#include "geometry/shape_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pliant::shape_parts {
namespace {

/// Diagonal cross between two edges a0–a1 and b0–b1.
void cross_brace(BarMesh& bars, const Vector3d& a0, const Vector3d& a1, const Vector3d& b0,
                 const Vector3d& b1, double radius, int sides) {
    bars.round(a0, b1, radius, sides);
    bars.round(b0, a1, radius, sides);
}

}  // namespace

// A table-top model, 1 m long: x along the road, portals at ±0.27.
SurfaceMesh bridge(int resolution) {
    constexpr double kTowerX = 0.27, kHalfWidth = 0.036, kDeck = 0.085, kTop = 0.27;
    constexpr double kPanel = 0.54 / 26, kTrussDepth = 0.022;
    const int sides = std::max(4, resolution), thin = std::max(4, resolution / 2);
    BarMesh bars;

    // road, floor beams and the lines of the carriageway's kerbs
    bars.box({-0.5, -kHalfWidth, kDeck}, {0.5, kHalfWidth, kDeck + 0.005});
    const int panels = 48;
    for (const double y : {-kHalfWidth, kHalfWidth}) {
        // stiffening truss under each edge
        const double low = kDeck - kTrussDepth;
        bars.round({-0.5, y, low}, {0.5, y, low}, 0.0022, sides);
        bars.round({-0.5, y, kDeck + 0.001}, {0.5, y, kDeck + 0.001}, 0.0026, sides);
        for (int i = 0; i <= panels; ++i) {
            const double x = (i - 0.5 * panels) * kPanel, next = x + kPanel;
            bars.round({x, y, low}, {x, y, kDeck}, 0.0014, thin);
            if (i == panels) break;
            const bool rising = i % 2 == 0;
            bars.round({x, y, rising ? low : kDeck}, {next, y, rising ? kDeck : low}, 0.0014, thin);
        }
        // railing
        for (const double height : {0.012, 0.017})
            bars.round({-0.5, y, kDeck + height}, {0.5, y, kDeck + height}, 0.0009, thin);
        for (int i = 0; i <= 4 * panels; ++i) {
            const double x = (0.25 * i - 0.5 * panels) * kPanel;
            bars.round({x, y, kDeck + 0.004}, {x, y, kDeck + 0.017}, 0.0007, thin);
        }
    }
    for (int i = 0; i <= panels; ++i) {
        const double x = (i - 0.5 * panels) * kPanel;
        bars.round({x, -kHalfWidth, kDeck - kTrussDepth}, {x, kHalfWidth, kDeck - kTrussDepth},
                   0.0016, thin);
    }

    // main cables: a parabola between the towers, straighter back spans; hangers at every panel
    const auto cable = [&](double x) {
        const double s = std::abs(x) / kTowerX;
        if (s <= 1.0) return kDeck + 0.03 + (kTop - kDeck - 0.03) * s * s;
        const double t = (std::abs(x) - kTowerX) / (0.5 - kTowerX);
        return kTop + (kDeck - kTop) * t - 0.06 * t * (1.0 - t);
    };
    for (const double y : {-kHalfWidth, kHalfWidth}) {
        std::vector<Vector3d> line;
        const int pieces = 12 * sides;
        for (int i = 0; i <= pieces; ++i) {
            const double x = -0.5 + static_cast<double>(i) / pieces;
            line.emplace_back(x, y, cable(x));
        }
        bars.tube(line, 0.0032, sides);
        // twelve in the middle span and four on each side
        for (int i = -10; i <= 10; ++i) {
            const double x = i * 2.0 * kPanel;
            if (std::abs(std::abs(x) - kTowerX) < kPanel || cable(x) < kDeck + 0.02) continue;
            bars.round({x, y, kDeck}, {x, y, cable(x)}, 0.0011, thin);
            bars.round({x, y, cable(x) - 0.006}, {x, y, cable(x) + 0.004}, 0.0042, sides);
        }
    }

    // towers: two tapered legs, portal beams, crosses, pier below
    for (const double x : {-kTowerX, kTowerX}) {
        for (const double side : {-1.0, 1.0}) {
            const double y = side * (kHalfWidth + 0.006);
            bars.beam({x, y, 0.012}, {x, y, kTop + 0.006}, 0.014, 0.018);
            bars.beam({x, y, 0.012}, {x, y, 0.5 * kTop}, 0.018, 0.024);
            bars.box({x - 0.012, y - 0.01, kTop + 0.006}, {x + 0.012, y + 0.01, kTop + 0.013});
        }
        const double y = kHalfWidth + 0.004;
        for (const double z : {kDeck - 0.03, kDeck + 0.062, kDeck + 0.118, kTop - 0.006})
            bars.beam({x, -y, z}, {x, y, z}, 0.012, 0.012);
        for (const double z : {kDeck + 0.062, kDeck + 0.118}) {
            const double up = z < kDeck + 0.1 ? kDeck + 0.118 : kTop - 0.006;
            cross_brace(bars, {x, -y, z}, {x, -y, up}, {x, y, z}, {x, y, up}, 0.0032, sides);
        }
        bars.box({x - 0.026, -kHalfWidth - 0.022, 0.0}, {x + 0.026, kHalfWidth + 0.022, 0.014});
    }

    // anchor blocks carry the ends of the deck
    for (const double end : {-1.0, 1.0}) {
        bars.box({std::min(end * 0.5, end * 0.455), -kHalfWidth - 0.01, 0.0},
                 {std::max(end * 0.5, end * 0.455), kHalfWidth + 0.01, kDeck - 0.024});
        bars.box({std::min(end * 0.5, end * 0.48), -kHalfWidth - 0.006, kDeck - 0.026},
                 {std::max(end * 0.5, end * 0.48), kHalfWidth + 0.006, kDeck + 0.006});
    }
    return bars.take();
}

namespace {

/// Half the outer width of the tower at height z (both over the total height): wide curved feet, a
/// slender spire.
double tower_half_width(double z) { return 0.012 + 0.182 * std::exp(-3.9 * z) * (1.0 - 0.25 * z); }

/// Width of one of the four legs; the legs meet at the second platform.
double tower_leg_width(double z) { return std::max(0.018, 0.069 - 0.1 * z); }

/// Corner k of leg (sx, sy) at height z.
Vector3d leg_corner(double sx, double sy, int k, double z) {
    const double outer = tower_half_width(z), inner = std::max(0.0, outer - tower_leg_width(z));
    const double x = k == 0 || k == 3 ? outer : inner, y = k == 0 || k == 1 ? outer : inner;
    return {sx * x, sy * y, z};
}

}  // namespace

// Lattice tower of 1 m: four curved legs, each a lattice of four chords, merge above two platforms.
SurfaceMesh tower(int resolution) {
    constexpr double kMerge = 0.40, kPeak = 0.90;
    const int sides = std::max(4, resolution), thin = std::max(4, resolution / 2);
    BarMesh bars;

    // legs up to the second platform
    std::vector<double> levels;
    for (double z = 0.0; z < kMerge - 1e-9; z += 0.02) levels.push_back(z);
    levels.push_back(kMerge);
    for (const double sx : {-1.0, 1.0})
        for (const double sy : {-1.0, 1.0}) {
            for (int k = 0; k < 4; ++k) {
                std::vector<Vector3d> chord;
                for (const double z : levels) chord.push_back(leg_corner(sx, sy, k, z));
                bars.tube(chord, 0.0036, sides);
            }
            for (std::size_t i = 0; i + 1 < levels.size(); ++i)
                for (int k = 0; k < 4; ++k) {
                    const int l = (k + 1) % 4;
                    const Vector3d a0 = leg_corner(sx, sy, k, levels[i]),
                                   a1 = leg_corner(sx, sy, k, levels[i + 1]),
                                   b0 = leg_corner(sx, sy, l, levels[i]),
                                   b1 = leg_corner(sx, sy, l, levels[i + 1]);
                    cross_brace(bars, a0, a1, b0, b1, 0.0016, thin);
                    bars.round(a1, b1, 0.0017, thin);
                }
            // foot
            const Vector3d outer = leg_corner(sx, sy, 0, 0.0), inner = leg_corner(sx, sy, 2, 0.0);
            bars.box(outer.cwiseMin(inner) - Vector3d(0.008, 0.008, 0.0),
                     outer.cwiseMax(inner) + Vector3d(0.008, 0.008, 0.012));
        }

    // upper shaft
    const int floors = 30;
    const auto shaft = [&](int k, double z) {
        const double w = tower_half_width(z);
        return Vector3d(k == 0 || k == 3 ? w : -w, k < 2 ? w : -w, z);
    };
    const auto floor_height = [&](int i) {
        return kMerge + (kPeak - kMerge) * std::pow(i / 30.0, 0.93);
    };
    for (int k = 0; k < 4; ++k) {
        std::vector<Vector3d> chord;
        for (int i = 0; i <= floors; ++i) chord.push_back(shaft(k, floor_height(i)));
        bars.tube(chord, 0.0034, sides);
        for (int i = 0; i < floors; ++i) {
            const Vector3d a0 = shaft(k, floor_height(i)), a1 = shaft(k, floor_height(i + 1)),
                           b0 = shaft((k + 1) % 4, floor_height(i)),
                           b1 = shaft((k + 1) % 4, floor_height(i + 1));
            cross_brace(bars, a0, a1, b0, b1, 0.0016, thin);
            bars.round(a1, b1, 0.0017, thin);
            // a middle chord makes the faces denser
            bars.round(0.5 * (a0 + b0), 0.5 * (a1 + b1), 0.0014, thin);
        }
    }

    // arches between the feet
    for (int face = 0; face < 4; ++face) {
        const Eigen::AngleAxisd turn(0.5 * std::numbers::pi * face, Vector3d::UnitZ());
        std::vector<Vector3d> lower, upper;
        const int pieces = 4 * sides;
        for (int i = 0; i <= pieces; ++i) {
            const double angle = std::numbers::pi * i / pieces;
            for (auto* arch : {&lower, &upper}) {
                const double z = 0.025 + (arch == &lower ? 0.095 : 0.108) * std::sin(angle);
                const double x = (arch == &lower ? 0.108 : 0.118) * std::cos(angle);
                arch->push_back(turn * Vector3d(x, tower_half_width(z) - 0.002, z));
            }
        }
        bars.tube(lower, 0.0026, sides);
        bars.tube(upper, 0.0026, sides);
        for (int i = 1; i < pieces; ++i) bars.round(lower[i], upper[i - i % 2], 0.0012, thin);
    }

    // platforms with railings
    struct Platform {
        double z, overhang, thickness;
    };
    for (const Platform& p : {Platform{0.165, 0.014, 0.008}, Platform{0.325, 0.010, 0.007},
                              Platform{kPeak - 0.01, 0.011, 0.010}}) {
        const double w = tower_half_width(p.z) + p.overhang;
        const double open = p.z < 0.2 ? 0.4 * w : 0.0;
        if (open > 0.0) {  // a frame with an opening in the middle
            bars.box({-w, -w, p.z}, {w, -open, p.z + p.thickness});
            bars.box({-w, open, p.z}, {w, w, p.z + p.thickness});
            bars.box({-w, -open, p.z}, {-open, open, p.z + p.thickness});
            bars.box({open, -open, p.z}, {w, open, p.z + p.thickness});
        } else {
            bars.box({-w, -w, p.z}, {w, w, p.z + p.thickness});
        }
        const double rail = p.z + p.thickness + 0.010;
        for (int face = 0; face < 4; ++face) {
            const Eigen::AngleAxisd turn(0.5 * std::numbers::pi * face, Vector3d::UnitZ());
            bars.round(turn * Vector3d(-w, w, rail), turn * Vector3d(w, w, rail), 0.0012, thin);
            bars.beam(turn * Vector3d(-w, w, p.z - 0.004), turn * Vector3d(w, w, p.z - 0.004),
                      0.003, 0.008);
            const int posts = std::max(4, static_cast<int>(2.0 * w / 0.006));
            for (int i = 0; i < posts; ++i) {
                const double x = -w + 2.0 * w * i / posts;
                bars.round(turn * Vector3d(x, w, p.z), turn * Vector3d(x, w, rail), 0.0009, thin);
            }
        }
    }

    // cabin, lantern and mast
    bars.box({-0.014, -0.014, kPeak}, {0.014, 0.014, kPeak + 0.022});
    bars.round({0, 0, kPeak + 0.02}, {0, 0, kPeak + 0.045}, 0.009, 2 * sides);
    bars.round({0, 0, kPeak + 0.04}, {0, 0, 1.0}, 0.0028, sides);
    return bars.take();
}

// Round basket with a handle, 0.4 m high: weavers pass in front of and behind upright stakes.
SurfaceMesh basket(int resolution) {
    constexpr int kStakes = 24;  // even: a weaver passes them in front and behind in turn
    constexpr int kRows = 11;
    constexpr double kRowHeight = 0.0165, kWeaver = 0.0078, kStake = 0.0055;
    const int sides = std::max(5, resolution);
    BarMesh bars;
    const auto radius = [](double z) { return 0.115 + 0.055 * std::sqrt(z / 0.2); };
    const auto around = [](double r, double angle, double z) {
        return Vector3d(r * std::cos(angle), r * std::sin(angle), z);
    };
    constexpr double kTurn = 2.0 * std::numbers::pi;

    // base: concentric rings over spokes
    for (double r = 0.012; r < radius(0.0); r += 0.0135) {
        std::vector<Vector3d> ring;
        for (int i = 0; i < 4 * kStakes; ++i)
            ring.push_back(around(r, kTurn * i / (4 * kStakes), 0.008));
        bars.tube(ring, 0.0072, sides, true);
    }
    // stakes, running from the middle of the base up the wall
    for (int i = 0; i < kStakes; ++i) {
        const double angle = kTurn * i / kStakes;
        std::vector<Vector3d> points = {around(0.01, angle, 0.011), around(0.07, angle, 0.011)};
        for (double z = 0.015; z < 0.215; z += 0.03) points.push_back(around(radius(z), angle, z));
        bars.tube(smooth_curve(points, std::max(2, sides / 2)), kStake, sides);
    }
    // weavers
    for (int row = 0; row < kRows; ++row) {
        const double z = 0.02 + kRowHeight * row;
        std::vector<Vector3d> ring;
        const int pieces = std::max(4, sides / 2) * kStakes;
        for (int i = 0; i < pieces; ++i) {
            const double angle = kTurn * i / pieces;
            const double wave = std::cos(0.5 * kStakes * angle + (row % 2) * std::numbers::pi);
            ring.push_back(around(radius(z) + 0.0085 * wave, angle, z));
        }
        bars.tube(ring, kWeaver, sides, true);
    }
    // rim of two twisted rods, and a handle of three
    const auto twisted = [&](auto&& centre, int strands, double spread, double thickness, int turns,
                             int pieces, bool closed) {
        for (int s = 0; s < strands; ++s) {
            std::vector<Vector3d> line;
            for (int i = 0; i < pieces + (closed ? 0 : 1); ++i) {
                const double t = static_cast<double>(i) / pieces;
                const double phase = kTurn * (turns * t + static_cast<double>(s) / strands);
                const auto [c, u, v] = centre(t);
                line.push_back(c + spread * (std::cos(phase) * u + std::sin(phase) * v));
            }
            bars.tube(line, thickness, sides, closed);
        }
    };
    const double top = 0.207;
    twisted(
        [&](double t) {
            const double angle = kTurn * t;
            return std::array<Vector3d, 3>{around(radius(top), angle, top), around(1.0, angle, 0.0),
                                           Vector3d::UnitZ()};
        },
        2, 0.0075, 0.0085, 18, 40 * sides / 2, true);
    twisted(
        [&](double t) {
            const double angle = std::numbers::pi * t;
            const Vector3d out(std::cos(angle), 0.0, std::sin(angle));
            return std::array<Vector3d, 3>{Vector3d(radius(top) * std::cos(angle), 0.0,
                                                    0.19 + 0.19 * std::pow(std::sin(angle), 0.8)),
                                           out, Vector3d::UnitY()};
        },
        3, 0.0068, 0.0072, 8, 24 * sides / 2, false);
    return bars.take();
}

}  // namespace pliant::shape_parts
