#include "geometry/cell_grid.h"

#include "geometry/border_caps.h"
#include "geometry/fill_check.h"
#include "geometry/fill_rays.h"
#include "geometry/option_check.h"
#include "geometry/triangle.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Vec3 = Eigen::Vector3d;

// In cell sides. A triangle counts where it passes through a cell, not where it only touches it:
// cells shrink by kTouch, which swallows the rounding of coordinates. A triangle in the plane
// between two cells belongs to the one behind it, hence the shift against its normal.
constexpr double kTouch = 1e-10;
constexpr double kShift = 1e-7;

void check_options(const CellGridOptions& options) {
    check_option(options.resolution >= 2 && options.resolution <= 1024, "resolution",
                 options.resolution, "2 to 1024");
    check_option(options.expansion >= 1.0 && options.expansion <= 1e6, "expansion",
                 options.expansion, "1 to 1e6");
    check_option(options.samples_per_axis >= 1 && options.samples_per_axis <= 16,
                 "samples_per_axis", options.samples_per_axis, "1 to 16");
}

/// Sets origin, cell size and extent of the window of cells that the surface can reach.
void place_window(const SurfaceMesh& mesh, const CellGridOptions& options, CellGrid& grid) {
    require_fillable(mesh);
    const Box box = box_of_triangles(mesh);
    const double side = options.expansion * box.sizes().maxCoeff();
    const Vec3 cube_origin = box.center() - Vec3::Constant(0.5 * side);
    grid.cell_size = side / options.resolution;
    for (int axis = 0; axis < 3; ++axis) {
        // a little wider than the surface, which moves by kShift
        const double low = (box.min()[axis] - cube_origin[axis]) / grid.cell_size - 2 * kShift;
        const double high = (box.max()[axis] - cube_origin[axis]) / grid.cell_size + 2 * kShift;
        const int step = options.alignment;
        const int begin = static_cast<int>(std::floor(low / step)) * step;
        const int end = static_cast<int>(std::ceil(high / step)) * step;
        grid.size[static_cast<std::size_t>(axis)] = end - begin;
        grid.origin[axis] = cube_origin[axis] + begin * grid.cell_size;
    }
    grid.cells.assign(grid.index(0, 0, grid.size[2]), CellState::Outside);
}

LayeredSurface sort_into_layers(SurfaceMesh mesh, const CellGrid& grid) {
    LayeredSurface surface;
    // rounding must not carry a vertex out of the window, nor the shift after it
    const Vec3 window_low = Vec3::Constant(1.5 * kShift);
    const Vec3 window_high = Vec3(grid.size[0], grid.size[1], grid.size[2]) - window_low;
    for (Vec3& v : mesh.vertices)
        v = ((v - grid.origin) / grid.cell_size).cwiseMax(window_low).cwiseMin(window_high);
    surface.vertices = std::move(mesh.vertices);
    surface.triangles = std::move(mesh.triangles);
    const int num_triangles = static_cast<int>(surface.triangles.size());

    const auto layers_of = [&](int triangle) {
        const auto [a, b, c] = surface.corners(triangle);
        const auto [low, high] = std::minmax({a.z(), b.z(), c.z()});
        return std::pair(static_cast<std::size_t>(low - kShift),
                         static_cast<std::size_t>(high + kShift));
    };
    surface.layer_start.assign(static_cast<std::size_t>(grid.size[2]) + 1, 0);
    for (int t = 0; t < num_triangles; ++t) {
        const auto [first, last] = layers_of(t);
        for (std::size_t k = first; k <= last; ++k) ++surface.layer_start[k + 1];
    }
    for (std::size_t k = 1; k < surface.layer_start.size(); ++k)
        surface.layer_start[k] += surface.layer_start[k - 1];
    surface.layer_triangles.resize(surface.layer_start.back());
    std::vector<std::size_t> next(surface.layer_start.begin(), surface.layer_start.end() - 1);
    for (int t = 0; t < num_triangles; ++t) {
        const auto [first, last] = layers_of(t);
        for (std::size_t k = first; k <= last; ++k) surface.layer_triangles[next[k]++] = t;
    }
    return surface;
}

/// Extent in x of the part of a triangle in low ≤ (y, z) ≤ high; first > second where there is
/// none.
std::pair<double, double> extent_in_row(const std::array<Vec3, 3>& corners,
                                        const std::array<double, 2>& low,
                                        const std::array<double, 2>& high) {
    // a plane adds one corner, with rounding half as many as there are: at most 13
    std::array<Vec3, 16> polygon{corners[0], corners[1], corners[2]}, clipped;
    std::size_t count = 3;
    for (std::size_t plane = 0; plane < 4; ++plane) {
        const std::size_t axis = plane / 2;
        const auto depth = [&](const Vec3& p) {  // negative beyond the plane
            const double value = p[static_cast<Eigen::Index>(axis) + 1];
            return plane % 2 == 0 ? value - low[axis] : high[axis] - value;
        };
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Vec3 &p = polygon[i], &q = polygon[(i + 1) % count];
            const double at_p = depth(p), at_q = depth(q);
            if (at_p >= 0) clipped[kept++] = p;
            if ((at_p >= 0) != (at_q >= 0)) clipped[kept++] = p + at_p / (at_p - at_q) * (q - p);
        }
        polygon = clipped;
        count = kept;
    }
    std::pair<double, double> extent{1.0, -1.0};
    for (std::size_t i = 0; i < count; ++i) {
        const double x = polygon[i].x();
        extent = i == 0 ? std::pair(x, x)
                        : std::pair(std::min(extent.first, x), std::max(extent.second, x));
    }
    return extent;
}

/// Whether a triangle is no wider than the gap between shrunken cells, where it could get lost.
bool is_thin(const Vec3& a, const Vec3& b, const Vec3& c) {
    const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
    return has_no_area(a, b, c) || area_vector(a, b, c).norm() <= 4 * kTouch * longest;
}

/// Marks the cells of layer k that triangles pass through; those from `first_cap` on do not count.
void mark_cut(const LayeredSurface& surface, int first_cap, int k, CellGrid& grid) {
    for (const int triangle : surface.layer(k)) {
        if (triangle >= first_cap) continue;
        auto corners = surface.corners(triangle);
        const bool is_flat_line = is_thin(corners[0], corners[1], corners[2]);
        if (!is_flat_line) {
            const Vec3 shift =
                kShift * area_vector(corners[0], corners[1], corners[2]).normalized();
            for (Vec3& corner : corners) corner -= shift;
        }
        // a line or point has no side: it counts wherever it touches
        const double margin = is_flat_line ? kTouch : -kTouch;
        const Vec3 low = corners[0].cwiseMin(corners[1]).cwiseMin(corners[2]).array() - kTouch;
        const Vec3 high = corners[0].cwiseMax(corners[1]).cwiseMax(corners[2]).array() + kTouch;
        const bool spans_many = high.x() - low.x() > 3 || high.y() - low.y() > 3;
        for (int j = static_cast<int>(low.y()); j <= static_cast<int>(high.y()); ++j) {
            double x_low = low.x(), x_high = high.x();
            if (spans_many) {
                const auto [first, second] = extent_in_row(corners, {j - kShift, k - kShift},
                                                           {j + 1 + kShift, k + 1 + kShift});
                if (first > second) continue;
                x_low = std::max(x_low, first - kShift);
                x_high = std::min(x_high, second + kShift);
            }
            for (int i = static_cast<int>(x_low); i <= static_cast<int>(x_high); ++i) {
                CellState& cell = grid.cells[grid.index(i, j, k)];
                if (cell != CellState::Cut &&
                    triangle_meets_cube(corners, Vec3(i + 0.5, j + 0.5, k + 0.5), 0.5 + margin))
                    cell = CellState::Cut;
            }
        }
    }
}

}  // namespace

bool triangle_meets_cube(const std::array<Vec3, 3>& corners, const Vec3& centre,
                         double half_side) noexcept {
    const Vec3 a = corners[0] - centre, b = corners[1] - centre, c = corners[2] - centre;
    // the cube's own axes
    if ((a.cwiseMin(b).cwiseMin(c).array() > half_side).any()) return false;
    if ((a.cwiseMax(b).cwiseMax(c).array() < -half_side).any()) return false;
    // the triangle's normal
    const Vec3 e0 = b - a, e1 = c - b, e2 = a - c;
    const Vec3 normal = e0.cross(e1);
    if (std::abs(normal.dot(a)) > half_side * normal.cwiseAbs().sum()) return false;
    // each edge × each axis
    for (const Vec3& edge : {e0, e1, e2})
        for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            const auto project = [&](const Vec3& p) { return edge[u] * p[v] - edge[v] * p[u]; };
            const double reach = half_side * (std::abs(edge[u]) + std::abs(edge[v]));
            const auto [low, high] = std::minmax({project(a), project(b), project(c)});
            if (low > reach || high < -reach) return false;
        }
    return true;
}

CellGrid build_cell_grid(const SurfaceQuery& surface, const CellGridOptions& options,
                         Progress& progress) {
    check_options(options);
    CellGrid grid;
    place_window(surface.mesh(), options, grid);
    const LayeredSurface layered = sort_into_layers(with_border_caps(surface.mesh()), grid);

    const int samples = options.samples_per_axis;
    constexpr double smallest = 1.0 / 128;
    const auto num_layers = static_cast<std::size_t>(grid.size[2]);
    const auto layer_cells = grid.index(0, 0, 1);
    std::vector<std::vector<double>> filled(num_layers);
    progress.stage("Cells", num_layers);
    parallel_for(num_layers, 1, [&](std::size_t layer) {
        const int k = static_cast<int>(layer);
        mark_cut(layered, surface.mesh().num_triangles(), k, grid);
        std::vector<double> fractions(layer_cells);
        fill_layer(crossings_of_layer(layered, k, samples), grid.size[0], samples, fractions);
        for (std::size_t c = 0; c < layer_cells; ++c) {
            CellState& cell = grid.cells[layer * layer_cells + c];
            if (cell == CellState::Cut)  // never zero, so that no vertex is without mass
                filled[layer].push_back(std::max(fractions[c], smallest));
            else if (fractions[c] > 0.5)
                cell = CellState::Inside;
        }
        progress.advance();
    });
    for (const std::vector<double>& layer : filled)
        grid.filled.insert(grid.filled.end(), layer.begin(), layer.end());
    return grid;
}

}  // namespace pliant
