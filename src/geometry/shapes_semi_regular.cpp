#include "core/numbers.h"
#include "geometry/shape_parts.h"
#include "pliant/geometry/surface_topology.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <span>

namespace pliant::shape_parts {
namespace {

/// Point of a flat sheet with the heights of the surfaces above and below it.
struct SheetPoint {
    double x, y, below, above;
};

/// Closed surface over and under a sheet. Where the rim is shared both surfaces meet at its height
/// `above`; else a band of two triangles for each edge of the rim joins them.
SurfaceMesh thickened(const std::vector<SheetPoint>& points, const std::vector<Triangle>& sheet,
                      bool is_rim_shared) {
    SurfaceMesh mesh;
    for (const SheetPoint& p : points) mesh.vertices.emplace_back(p.x, p.y, p.above);
    mesh.triangles = sheet;
    const SurfaceTopology topology(mesh);

    std::vector<char> is_rim(points.size(), 0);
    for (const SurfaceTopology::Edge& edge : topology.edges())
        if (edge.num_uses == 1) is_rim[at(edge.a)] = is_rim[at(edge.b)] = 1;
    std::vector<int> under(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        under[i] = is_rim_shared && is_rim[i] ? static_cast<int>(i) : mesh.num_vertices();
        if (under[i] == mesh.num_vertices())
            mesh.vertices.emplace_back(points[i].x, points[i].y, points[i].below);
    }
    for (const Triangle& t : sheet)
        mesh.triangles.push_back({under[at(t[0])], under[at(t[2])], under[at(t[1])]});
    if (is_rim_shared) return mesh;
    for (const SurfaceTopology::Edge& edge : topology.edges()) {
        if (edge.num_uses != 1) continue;
        const bool is_forward = topology.uses(edge)[0].is_forward;
        const int a = is_forward ? edge.a : edge.b, b = is_forward ? edge.b : edge.a;
        mesh.triangles.push_back({b, a, under[at(a)]});
        mesh.triangles.push_back({b, under[at(a)], under[at(b)]});
    }
    return mesh;
}

/// Triangles between two rows of vertices of growing y, `front` at the larger x; evenly shared out.
void add_strip(std::vector<Triangle>& sheet, std::span<const int> front,
               std::span<const int> rear) {
    std::size_t i = 0, j = 0;
    while (i + 1 < front.size() || j + 1 < rear.size()) {
        const bool is_front_next =
            j + 1 == rear.size() || (i + 1 < front.size() && (2 * i + 1) * (rear.size() - 1) <=
                                                                 (2 * j + 1) * (front.size() - 1));
        if (is_front_next) {
            sheet.push_back({front[i], front[i + 1], rear[j]});
            ++i;
        } else {
            sheet.push_back({front[i], rear[j + 1], rear[j]});
            ++j;
        }
    }
}

std::string nodule_support(const SemiRegularMesh&) { return "z < 1 %"; }
std::string kidney_support(const SemiRegularMesh&) { return "x < 33 %"; }
/// The end of the handle: the published one vertex in ten.
std::string spatula_support(const SemiRegularMesh& mesh) {
    const std::vector<Vector3d>& x = mesh.mesh.vertices;
    std::vector<int> order;
    for (int v = 0; v < mesh.mesh.num_vertices(); ++v) order.push_back(v);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return x[at(a)].x() < x[at(b)].x(); });
    order.resize(order.size() * 61 / 620);
    return listed_vertices(order);
}
/// The lower sheet, rim included: the later half of the triangles.
std::string seat_support(const SemiRegularMesh& mesh) {
    return listed_corners(mesh, mesh.mesh.triangles.size() / 2, mesh.mesh.triangles.size());
}

}  // namespace

std::string listed_vertices(const std::vector<int>& vertices) {
    std::string list;
    for (const int v : vertices) list += (list.empty() ? "list " : ",") + std::to_string(v);
    return list;
}

std::string listed_corners(const SemiRegularMesh& mesh, std::size_t first, std::size_t last) {
    std::set<int> corners;
    for (std::size_t t = first; t < last; ++t)
        corners.insert(mesh.mesh.triangles[t].begin(), mesh.mesh.triangles[t].end());
    return listed_vertices({corners.begin(), corners.end()});
}

// An octahedron that stands on its cut-off, sharp lower tip: a square, its centre, the equator
// and the upper tip. Without the flat face 89 vertices are free on level 2.
ControlMesh nodule() {
    ControlMesh control{.mesh = {}, .rules = {}, .levels = 2, .support = nodule_support};
    auto& [vertices, triangles] = control.mesh;
    for (int k = 0; k < 4; ++k) {
        const double angle = 0.5 * std::numbers::pi * k;
        vertices.emplace_back(1.75 * std::cos(angle), 1.75 * std::sin(angle), 0.0);
    }
    for (int k = 0; k < 4; ++k) {
        const double angle = 0.5 * std::numbers::pi * (k + 0.5);
        vertices.emplace_back(2.0 * std::cos(angle), 2.0 * std::sin(angle), 1.8);
    }
    vertices.emplace_back(0, 0, 0);
    vertices.emplace_back(0, 0, 3.0);
    for (int k = 0; k < 4; ++k) {
        const int next = (k + 1) % 4, last = 4 + (k + 3) % 4;
        triangles.push_back({k, 8, next});
        triangles.push_back({k, next, 4 + k});
        triangles.push_back({k, 4 + k, last});
        triangles.push_back({4 + k, 4 + next, 9});
        control.rules.creases.push_back({k, next});
    }
    return control;
}

// Centimetres before smoothing: four rings of five along an arc in the plane z = 0, two poles; the
// hilum is on the side of −y.
ControlMesh kidney() {
    ControlMesh control{.mesh = {}, .rules = {}, .levels = 2, .support = kidney_support};
    auto& [vertices, triangles] = control.mesh;
    constexpr int kRings = 4, kSides = 5;
    constexpr double kBend = 5.2, kPole = 1.22;  // radius of the arc, angle of its ends
    constexpr std::array<double, kRings> kAngle{-0.84, -0.28, 0.28, 0.84};
    constexpr std::array<double, kRings> kWidth{2.9, 3.2, 3.0, 2.75};
    const auto along = [](double angle, double out) {
        return Vector3d((kBend + out) * std::sin(angle), (kBend + out) * std::cos(angle), 0.0);
    };
    for (int i = 0; i < kRings; ++i)
        for (int k = 0; k < kSides; ++k) {
            // every other ring is turned by half a side, so that z = 0 stays a plane of symmetry
            const double phi = 2 * std::numbers::pi * (k + 0.5 * (i % 2)) / kSides;
            vertices.push_back(along(kAngle[at(i)], kWidth[at(i)] * std::cos(phi)) +
                               Vector3d(0, 0, 2.5 * std::sin(phi)));
        }
    vertices.push_back(along(-kPole, -0.2));
    vertices.push_back(along(kPole, -0.2));
    const int first_pole = kRings * kSides, last_pole = first_pole + 1;
    const auto ring = [](int i, int k) { return i * kSides + (k + kSides) % kSides; };
    for (int k = 0; k < kSides; ++k) {
        triangles.push_back({first_pole, ring(0, k + 1), ring(0, k)});
        triangles.push_back({last_pole, ring(kRings - 1, k), ring(kRings - 1, k + 1)});
        for (int i = 0; i + 1 < kRings; ++i) {
            // vertex k of a turned ring lies between k and k + 1 of the others
            const int turn = i % 2;
            triangles.push_back({ring(i, k), ring(i, k + 1), ring(i + 1, k + turn)});
            triangles.push_back({ring(i, k + 1), ring(i + 1, k + turn + 1), ring(i + 1, k + turn)});
        }
    }
    return control;
}

// Centimetres before smoothing: a blade of 8 × 6 points with three slots, a neck and a handle of
// twelve pairs of points. Above and below each point is a vertex.
ControlMesh spatula() {
    constexpr int kAcross = 8, kRows = 6, kPairs = 12;
    std::vector<SheetPoint> points;
    std::vector<std::vector<int>> rows;
    const auto add_row = [&](double x, const std::vector<double>& across, double thickness) {
        const double middle = x < 0 ? 0.012 * x * x : 0.0;  // the handle rises
        std::vector<int>& row = rows.emplace_back();
        for (const double y : across) {
            row.push_back(static_cast<int>(points.size()));
            points.push_back({x, y, middle - 0.5 * thickness, middle + 0.5 * thickness});
        }
    };
    for (int r = 0; r < kRows; ++r) {
        const double x = 10.2 - 1.9 * r, widening = 1.0 + 0.03 * (kRows - 1 - r);
        std::vector<double> across(kAcross);
        for (int k = 0; k < kAcross; ++k) {
            // bars are wider than slots, which smoothing widens
            across[at(k)] = widening * (1.3 * (k - 3.5) + (k % 2 ? 0.2 : -0.2));
        }
        add_row(x, across, 1.1);
    }
    add_row(-1.2, {-3.1, -1.0, 1.0, 3.1}, 1.4);
    for (int i = 0; i < kPairs; ++i) {
        const double half = i < 2 ? 1.0 : 1.2;
        add_row(-3.0 - 1.5 * i, {-half, half}, 2.0);
    }

    std::vector<Triangle> sheet;
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
        const std::span<const int> front = rows[r], rear = rows[r + 1];
        if (r < 1 || r > 3) {
            add_strip(sheet, front, rear);
        } else {
            for (std::size_t k = 0; k < kAcross; k += 2)
                add_strip(sheet, front.subspan(k, 2), rear.subspan(k, 2));
        }
    }
    return {.mesh = thickened(points, sheet, false),
            .rules = {},
            .levels = 1,
            .support = spatula_support};
}

// Centimetres before smoothing: nose at +x, the rear wide and raised. Two sheets of 34 triangles
// share a rim of 14 edges; without the lower one and the rim 245 vertices are free on level 2.
ControlMesh banana_seat() {
    struct Place {
        double x, y;
    };
    // half of the sheet: rim from the nose to the tail, middle line, points between; placed for
    // good angles on level 2
    constexpr int kRim = 8, kMiddle = 5, kBetween = 3;
    constexpr std::array<Place, kRim + kMiddle + kBetween> kHalf{{{21.9, 0},
                                                                  {20, 5.3},
                                                                  {13.8, 5.0},
                                                                  {4.1, 7.1},
                                                                  {-5.3, 10.5},
                                                                  {-15, 7.8},
                                                                  {-19, 5.9},
                                                                  {-19.4, 0},
                                                                  {15.3, 0},
                                                                  {7.9, 0},
                                                                  {1.6, 0},
                                                                  {-6.5, 0},
                                                                  {-14.6, 0},
                                                                  {-1.8, 3.3},
                                                                  {-9.5, 5.7},
                                                                  {-14.5, 5.0}}};
    constexpr std::array<Triangle, 17> kHalfSheet{{{0, 1, 8},
                                                   {8, 1, 2},
                                                   {8, 2, 9},
                                                   {9, 2, 3},
                                                   {9, 3, 10},
                                                   {10, 3, 13},
                                                   {3, 4, 13},
                                                   {10, 13, 11},
                                                   {11, 13, 14},
                                                   {13, 4, 14},
                                                   {14, 4, 5},
                                                   {11, 14, 12},
                                                   {12, 14, 15},
                                                   {14, 5, 15},
                                                   {15, 5, 6},
                                                   {12, 15, 7},
                                                   {15, 6, 7}}};
    std::vector<SheetPoint> points;
    std::vector<int> mirrored;
    const auto add_point = [&](const Place& p, double y, bool is_rim) {
        const double sag = 0.013 * (p.x - 5) * (p.x - 5);
        points.push_back({p.x, y, sag - 3.0, is_rim ? sag : sag + 3.8});
    };
    for (std::size_t i = 0; i < kHalf.size(); ++i) add_point(kHalf[i], kHalf[i].y, i < kRim);
    for (std::size_t i = 0; i < kHalf.size(); ++i) {
        mirrored.push_back(static_cast<int>(kHalf[i].y == 0 ? i : points.size()));
        if (kHalf[i].y != 0) add_point(kHalf[i], -kHalf[i].y, i < kRim);
    }
    std::vector<Triangle> sheet(kHalfSheet.begin(), kHalfSheet.end());
    for (const Triangle& t : kHalfSheet)
        sheet.push_back({mirrored[at(t[0])], mirrored[at(t[2])], mirrored[at(t[1])]});
    return {
        .mesh = thickened(points, sheet, true), .rules = {}, .levels = 2, .support = seat_support};
}

}  // namespace pliant::shape_parts
