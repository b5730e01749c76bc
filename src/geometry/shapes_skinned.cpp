#include "core/numbers.h"
#include "geometry/shape_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <set>

namespace pliant::shape_parts {

using namespace implicit;

namespace {

/// Selects as many vertices from below as leave the published fraction free.
std::string lowest_share(const SemiRegularMesh& mesh, int held, int of) {
    std::vector<double> heights;
    for (const Vector3d& v : mesh.mesh.vertices) heights.push_back(v.z());
    std::sort(heights.begin(), heights.end());
    const auto count = at(static_cast<int>(
        std::lround(static_cast<double>(heights.size()) * held / static_cast<double>(of))));
    const double limit = 0.5 * (heights[count - 1] + heights[count]);
    char text[40];
    std::snprintf(text, sizeof text, "z < %.9g %%",
                  100 * (limit - heights.front()) / (heights.back() - heights.front()));
    return text;
}

std::string rabbit_support(const SemiRegularMesh& mesh) {
    // published for levels 2, 3 and 4
    if (mesh.num_levels() == 2) return lowest_share(mesh, 162 - 133, 162);
    if (mesh.num_levels() == 3) return lowest_share(mesh, 642 - 537, 642);
    return lowest_share(mesh, 2562 - 2145, 2562);
}
std::string serpent_ring_support(const SemiRegularMesh& mesh) {
    return lowest_share(mesh, 9920 - 7953, 9920);
}
std::string toy_support(const SemiRegularMesh& mesh) { return lowest_share(mesh, 590 - 509, 590); }
/// The vertices of its first eight control triangles.
std::string finger_support(const SemiRegularMesh& mesh) {
    return listed_corners(mesh, 0, 8 * mesh.mesh.triangles.size() / mesh.triangles[0].size());
}

Implicit rabbit_skin() {
    std::vector<Implicit> parts = {
        ellipsoid({-0.7, 0, 2.5}, {3.0, 2.6, 2.5}),   // belly
        ellipsoid({0.8, 0, 3.6}, {2.0, 2.0, 2.3}),    // chest
        ellipsoid({1.5, 0, 6.1}, {1.75, 1.6, 1.5}),   // head
        ellipsoid({2.6, 0, 5.7}, {1.05, 0.9, 0.85}),  // muzzle
        sphere({-3.4, 0, 2.0}, 0.9),                  // tail
    };
    for (const double side : {-1.0, 1.0}) {
        parts.push_back(ellipsoid({-0.9, 1.7 * side, 1.6}, {1.9, 1.2, 1.6}));  // haunch
        parts.push_back(capsule({1.2, 0.9 * side, 2}, {2.1, 1.0 * side, 0.9}, 0.9, 0.8));
        parts.push_back(sweep({{{1.0, 0.8 * side, 6.6}, 1.05},
                               {{0.58, 1.4 * side, 7.8}, 1.1},
                               {{0.32, 1.74 * side, 8.64}, 0.83}}));
    }
    return subtract(smooth_unite(parts, 1.5), box({-9, -9, -9}, {9, 9, 0.3}), 1.0);
}

Implicit finger_skin() {
    const Implicit flesh = smooth_unite({sweep({{{-3.2, 0, 0}, 1.15},
                                                {{-1.2, 0, 0.05}, 1.2},
                                                {{0.6, 0, 0.0}, 1.1},
                                                {{2.3, 0, -0.1}, 0.9}}),
                                         ellipsoid({1.1, 0, -0.5}, {1.9, 1.1, 1.0})},  // pad
                                        0.5);
    return subtract(flesh, box({-9, -9, -9}, {-3.4, 9, 9}), 0.8);  // flat at the joint
}

/// Closed centre line of a serpent that bites its tail: the head at 0, the tail up to 2π.
SplinePoint serpent_line(double angle) {
    const double pi = std::numbers::pi, turn = angle / (2 * pi);
    const double near = std::remainder(angle - 0.1, 2 * pi);
    const double rise = std::exp(-near * near / 0.5);
    const double out = 3.4 + 0.35 * std::cos(3 * angle);
    const double radius = turn < 0.5 ? 0.62 : 0.62 - 0.34 * std::pow((turn - 0.5) / 0.5, 1.5);
    const double hump = 0.45 * (1 - std::cos(3 * angle - 0.4)) * (1 - rise);
    return {{out * std::cos(angle), out * std::sin(angle), radius + 1.3 * rise + hump}, radius};
}

constexpr int kSerpentPieces = 120;
double serpent_angle(double piece) { return 2 * std::numbers::pi * piece / kSerpentPieces; }

Implicit serpent_ring_skin() {
    std::vector<SplinePoint> line;
    for (int i = 0; i < kSerpentPieces; ++i) line.push_back(serpent_line(serpent_angle(i)));
    std::vector<Implicit> parts = {sweep(line, true, 1)};

    // the head looks against the line, towards the tail in its mouth
    const SplinePoint throat = serpent_line(0.05);
    const Vector3d ahead =
        (serpent_line(-0.02).position - serpent_line(0.12).position).normalized();
    const Vector3d left = Vector3d::UnitZ().cross(ahead).normalized(), up = ahead.cross(left);
    const auto place = [&](double x, double y, double z) -> Vector3d {
        return throat.position + x * ahead + y * left + z * up;
    };
    parts.push_back(sweep({{place(-0.9, 0, 0.1), 0.75},
                           {place(0.0, 0, 0.25), 0.85},
                           {place(0.8, 0, 0.2), 0.6},
                           {place(1.3, 0, 0.12), 0.45}}));  // skull and snout
    parts.push_back(sweep({{place(-0.5, 0, -0.3), 0.6}, {place(0.7, 0, -0.35), 0.4}}));  // jaw
    for (const double side : {-1.0, 1.0}) {
        parts.push_back(sphere(place(0.35, 0.5 * side, 0.65), 0.33));  // eye
        parts.push_back(
            capsule(place(-0.5, 0.45 * side, 0.6), place(-0.95, 0.65 * side, 0.95), 0.42, 0.3));
    }
    return smooth_unite(parts, 0.25);
}

Implicit toy_skin() {
    std::vector<Implicit> parts = {
        capsule({-1.9, 0, 3.9}, {1.9, 0, 3.9}, 1.5, 1.4),
        capsule({2.2, 0, 4.6}, {3.5, 0, 5.8}, 1.1, 1.2),                                // neck
        ellipsoid({4.1, 0, 6.1}, {1.5, 1.6, 1.5}),                                      // head
        capsule({5.0, 0, 5.7}, {5.9, 0, 5.5}, 0.85, 0.7),                               // snout
        sweep({{{-2.8, 0, 4.4}, 0.8}, {{-4.0, 0, 4.9}, 0.65}, {{-4.7, 0, 6.0}, 0.6}}),  // tail
    };
    for (const double side : {-1.0, 1.0}) {
        parts.push_back(capsule({3.6, 1.1 * side, 7.1}, {3.5, 1.35 * side, 7.7}, 0.6, 0.45));
        for (const double x : {-2.3, 2.1}) {
            parts.push_back(capsule({x, 0.95 * side, 3.2}, {x, 1.1 * side, 0.6}, 0.85, 0.7));
            parts.push_back(capsule({x, 1.1 * side, 0.55}, {x + 0.4, 1.1 * side, 0.5}, 0.7, 0.6));
        }
    }
    return subtract(smooth_unite(parts, 0.5), box({-9, -9, -9}, {9, 9, 0.0}), 0.3);
}

/// Closed mesh of quadrilaterals that grows by pulling out patches of itself.
class QuadMesh {
public:
    using Quad = std::array<int, 4>;  ///< corners, anticlockwise seen from outside
    using Patch = std::vector<std::size_t>;

    /// Surface of a box of unit cells, scaled by `cell` and moved to `low`.
    QuadMesh(const Eigen::Vector3i& cells, const Vector3d& low, const Vector3d& cell) {
        std::map<std::array<int, 3>, int> number;
        const auto vertex = [&](const Eigen::Vector3i& i) {
            const auto [it, is_new] = number.try_emplace({i[0], i[1], i[2]}, num_vertices());
            if (is_new) vertices_.push_back(low + cell.cwiseProduct(i.cast<double>()));
            return it->second;
        };
        for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            for (const bool is_far : {false, true})
                for (int i = 0; i < cells[u]; ++i)
                    for (int j = 0; j < cells[v]; ++j) {
                        const auto corner = [&](int di, int dj) {
                            Eigen::Vector3i c;
                            c[axis] = is_far ? cells[axis] : 0;
                            c[u] = i + di;
                            c[v] = j + dj;
                            return vertex(c);
                        };
                        Quad quad{corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
                        if (!is_far) std::swap(quad[1], quad[3]);
                        quads_.push_back(quad);
                    }
        }
    }

    [[nodiscard]] int num_vertices() const noexcept { return static_cast<int>(vertices_.size()); }
    /// The `count` quads of `among` (all if empty) farthest along `direction` from the origin.
    [[nodiscard]] Patch farthest(const Vector3d& direction, std::size_t count,
                                 Patch among = {}) const {
        if (among.empty())
            for (std::size_t q = 0; q < quads_.size(); ++q) among.push_back(q);
        const auto reach = [&](std::size_t q) {
            double sum = 0;
            for (const int v : quads_[q]) sum += direction.dot(vertices_[at(v)]);
            return sum;
        };
        std::stable_sort(among.begin(), among.end(),
                         [&](std::size_t p, std::size_t q) { return reach(p) > reach(q); });
        among.resize(count);
        return among;
    }
    /// The one quad of the patch whose middle has the least |y|.
    [[nodiscard]] Patch nearest_to_middle(const Patch& patch) const {
        const auto offset = [&](std::size_t q) {
            double sum = 0;
            for (const int v : quads_[q]) sum += vertices_[at(v)].y();
            return std::abs(sum);
        };
        return {*std::min_element(patch.begin(), patch.end(), [&](std::size_t p, std::size_t q) {
            return offset(p) < offset(q);
        })};
    }
    /// Moves the patch by `step` and scales it about its middle; a band of new quads joins it to
    /// where it was. Returns the band.
    Patch pull(const Patch& patch, const Vector3d& step, double scale) {
        std::map<std::pair<int, int>, int> sides;  // of the patch, directed
        for (const std::size_t q : patch)
            for (std::size_t k = 0; k < 4; ++k) ++sides[{quads_[q][k], quads_[q][(k + 1) % 4]}];
        std::map<int, int> copy;
        std::vector<Quad> band;
        const auto copy_of = [&](int v) {
            const auto [it, is_new] = copy.try_emplace(v, num_vertices());
            if (is_new) vertices_.push_back(Vector3d(vertices_[at(v)]));
            return it->second;
        };
        for (const auto& [side, count] : sides) {
            if (sides.contains({side.second, side.first})) continue;
            const int a = copy_of(side.first), b = copy_of(side.second);
            band.push_back({side.first, side.second, b, a});
        }
        std::set<int> moved;
        for (const std::size_t q : patch)
            for (int& v : quads_[q]) {
                if (const auto it = copy.find(v); it != copy.end()) v = it->second;
                moved.insert(v);
            }
        Vector3d middle = Vector3d::Zero();
        for (const int v : moved) middle += vertices_[at(v)] / static_cast<double>(moved.size());
        for (const int v : moved)
            vertices_[at(v)] = middle + step + scale * (vertices_[at(v)] - middle);
        Patch added;
        for (const Quad& quad : band) {
            added.push_back(quads_.size());
            quads_.push_back(quad);
        }
        return added;
    }
    /// Two triangles for each quad along its shorter diagonal, four around its middle for `tip`.
    [[nodiscard]] SurfaceMesh triangles(std::size_t tip) const {
        SurfaceMesh mesh{vertices_, {}};
        Vector3d middle = Vector3d::Zero();
        for (const int v : quads_[tip]) middle += 0.25 * vertices_[at(v)];
        mesh.vertices.push_back(middle);
        for (std::size_t q = 0; q < quads_.size(); ++q) {
            const Quad& c = quads_[q];
            if (q == tip) {
                for (std::size_t k = 0; k < 4; ++k)
                    mesh.triangles.push_back({c[k], c[(k + 1) % 4], num_vertices()});
                continue;
            }
            // of equal diagonals the one from the corner nearest to the plane of symmetry
            const auto length = [&](std::size_t k) {
                const Vector3d &a = vertices_[at(c[k])], &b = vertices_[at(c[k + 2])];
                const double inner = std::min(std::abs(a.y()), std::abs(b.y()));
                return (a - b).norm() + 1e-3 * inner;
            };
            const std::size_t k = length(0) <= length(1) ? 0 : 1;
            mesh.triangles.push_back({c[k], c[k + 1], c[k + 2]});
            mesh.triangles.push_back({c[k], c[k + 2], c[(k + 3) % 4]});
        }
        return mesh;
    }

private:
    std::vector<Vector3d> vertices_;
    std::vector<Quad> quads_;
};

}  // namespace

ControlMesh rabbit() {
    ControlMesh control{.mesh = {}, .rules = {}, .levels = 4};
    auto& [vertices, triangles] = control.mesh;
    // four layers of three, each with one vertex in the plane of symmetry: nose and ears; nape and
    // shoulders; chest and hips; rump and paws
    vertices = {{3.9, 0, 5.6},     {0.1, 2.03, 9.38}, {0.1, -2.03, 9.38}, {-2.6, 0, 5.5},
                {1.3, -2.2, 4.4},  {1.3, 2.2, 4.4},   {3.2, 0, 2.8},      {-1.6, 3.4, 2.5},
                {-1.6, -3.4, 2.5}, {-3.2, 0, 0.0},    {1.7, -1.9, -0.2},  {1.7, 1.9, -0.2}};
    triangles = {{0, 1, 2}, {9, 11, 10}};
    for (int k = 0; k < 3; ++k) {
        // vertex k of the second and fourth layer lies across from vertex k of the others
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        triangles.insert(triangles.end(), {{a, 3 + k, b},
                                           {a, 6 + a, 3 + k},
                                           {b, 3 + k, 6 + b},
                                           {3 + k, 6 + a, 9 + k},
                                           {3 + k, 9 + k, 6 + b},
                                           {6 + k, 9 + a, 9 + b}});
    }
    control.support = rabbit_support;
    control.skin = rabbit_skin();
    control.pinned = {1, 2};
    control.evenness = 0.25;
    return control;
}

// Three rings of five, closed by three triangles at each end. The middle of a ring is its back;
// the eight triangles between the three uppermost vertices of each ring are held: nine vertices,
// which leaves 6, 23, 100 and 416 free on the levels.
ControlMesh finger() {
    ControlMesh control{.mesh = {}, .rules = {}, .levels = 3};
    auto& [vertices, triangles] = control.mesh;
    constexpr int kSides = 5;
    const std::array<double, 3> x{-3.2, -0.2, 2.7}, radius{1.2, 1.4, 1.2};
    for (std::size_t r = 0; r < 3; ++r)
        for (int i = 0; i < kSides; ++i) {
            const double angle = std::numbers::pi * (0.5 + 0.4 * i);
            vertices.emplace_back(x[r], radius[r] * std::cos(angle), radius[r] * std::sin(angle));
        }
    const auto ring = [](int r, int i) { return kSides * r + i % kSides; };
    for (const int i : {0, 4, 1, 2, 3})  // those to be held first
        for (int r = 0; r < 2; ++r) {
            const int a = ring(r, i), b = ring(r, i + 1), c = ring(r + 1, i),
                      d = ring(r + 1, i + 1);
            // diagonals of both flanks mirror each other
            if (i < 3)
                triangles.insert(triangles.end(), {{a, b, c}, {b, d, c}});
            else
                triangles.insert(triangles.end(), {{a, b, d}, {a, d, c}});
        }
    for (const int r : {0, 2})
        for (int i = 1; i < 4; ++i) {
            const Triangle t{ring(r, 0), ring(r, i), ring(r, i + 1)};
            triangles.push_back(r == 2 ? t : Triangle{t[0], t[2], t[1]});
        }
    control.support = finger_support;
    control.skin = finger_skin();
    control.evenness = 0.5;
    return control;
}

// 31 rings of five around a closed line.
ControlMesh serpent_ring() {
    ControlMesh control{.mesh = {}, .rules = {}, .levels = 3};
    auto& [vertices, triangles] = control.mesh;
    constexpr int kRings = 31, kSides = 5;
    // rings as far apart as their sides are long: equal steps of length over radius
    std::vector<double> way{0.0};
    for (int i = 0; i < kSerpentPieces; ++i) {
        const SplinePoint a = serpent_line(serpent_angle(i)),
                          b = serpent_line(serpent_angle(i + 1));
        way.push_back(way.back() + (b.position - a.position).norm() / (a.radius + b.radius));
    }
    for (int r = 0; r < kRings; ++r) {
        const double wanted = way.back() * r / kRings;
        const auto next = std::upper_bound(way.begin(), way.end(), wanted);
        const double piece = static_cast<double>(next - way.begin()) - 1 +
                             (wanted - *(next - 1)) / (*next - *(next - 1));
        const double angle = serpent_angle(piece);
        const SplinePoint p = serpent_line(angle);
        const Vector3d along =
            (serpent_line(angle + 0.01).position - serpent_line(angle - 0.01).position)
                .normalized();
        const Vector3d side = Vector3d::UnitZ().cross(along).normalized(), up = along.cross(side);
        for (int i = 0; i < kSides; ++i) {
            const double phi = 2 * std::numbers::pi * (i + 0.5 * (r % 2)) / kSides;
            vertices.push_back(p.position +
                               1.4 * p.radius * (std::cos(phi) * up + std::sin(phi) * side));
        }
    }
    const auto ring = [](int r, int i) { return kSides * (r % kRings) + (i + kSides) % kSides; };
    for (int r = 0; r < kRings; ++r)
        for (int i = 0; i < kSides; ++i) {
            // every other ring is turned by half a side, but for the last and the first
            const int turn = r % 2;
            if (r + 1 == kRings) {
                triangles.push_back({ring(r, i), ring(0, i), ring(r, i + 1)});
                triangles.push_back({ring(r, i + 1), ring(0, i), ring(0, i + 1)});
            } else {
                triangles.push_back({ring(r, i), ring(r + 1, i + turn), ring(r, i + 1)});
                triangles.push_back(
                    {ring(r, i + 1), ring(r + 1, i + turn), ring(r + 1, i + turn + 1)});
            }
        }
    control.support = serpent_ring_support;
    control.skin = serpent_ring_skin();
    control.evenness = 0.2;
    control.rounds = 100;
    return control;
}

// A box of 4 × 3 × 2 cells with legs, a head with snout and ears, and a tail pulled out of it.
ControlMesh toy() {
    QuadMesh body({4, 3, 2}, {-3.2, -1.5, 2.6}, {1.5, 1.0, 1.3});
    const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
    // quads keep their numbers: choose all of the box before it changes
    const auto below = body.farthest(-z, 12), face = body.farthest(x, 6);
    const auto tail = body.nearest_to_middle(body.farthest(z, 3, body.farthest(-x, 6)));
    std::vector<QuadMesh::Patch> feet;
    for (const double side : {-1.0, 1.0})
        for (const double end : {-1.0, 1.0})
            feet.push_back(body.farthest(side * y + end * x, 1, below));
    for (const auto& foot : feet) {
        body.pull(foot, -1.3 * z, 1.1);
        body.pull(foot, -1.3 * z, 1.0);
    }
    body.pull(face, {0.9, 0, 1.3}, 0.85);
    body.pull(face, {0.7, 0, 1.0}, 1.0);
    const auto crown = body.farthest(z, 3, body.pull(face, {1.4, 0, 0.2}, 0.85));
    for (const auto& ear : {body.farthest(y, 1, crown), body.farthest(-y, 1, crown)})
        body.pull(ear, {-0.2, 0, 1.0}, 0.7);
    const auto snout = body.nearest_to_middle(body.farthest(-z, 3, face));
    body.pull(snout, 0.6 * x, 1.1);
    body.pull(snout, 0.6 * x, 0.9);
    for (const Vector3d& step : {Vector3d(-0.7, 0, 0.1), Vector3d(-0.7, 0, 0.4),
                                 Vector3d(-0.4, 0, 0.7), Vector3d(-0.2, 0, 0.9)})
        body.pull(tail, step, 1.0);
    ControlMesh control{.mesh = body.triangles(tail.front()), .rules = {}, .levels = 1};
    control.support = toy_support;
    control.skin = toy_skin();
    control.evenness = 0.8;
    return control;
}

}  // namespace pliant::shape_parts
