#include "pliant/greens/force_detail.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <Eigen/Geometry>

#include "core/numbers.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

/// The child of a split triangle that a point is in, and its place there: the inverse of
/// 4t + k at corner k, 4t + 3 in the middle.
int descend(int triangle, Vector3d& b) noexcept {
    for (int k = 0; k < 3; ++k)
        if (b[k] > 0.5) {
            b *= 2;
            b[k] -= 1;
            return 4 * triangle + k;
        }
    b = Vector3d::Ones() - 2 * b;
    return 4 * triangle + 3;
}

/// Of a linear function on each triangle, averaged around vertices by area.
std::vector<Vector3d> vertex_slopes(const SurfaceMesh& mesh, const std::vector<double>& values) {
    std::vector<Vector3d> slopes(mesh.vertices.size(), Vector3d::Zero());
    std::vector<double> areas(mesh.vertices.size(), 0.0);
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d area =
            (mesh.corner(t, 1) - mesh.corner(t, 0)).cross(mesh.corner(t, 2) - mesh.corner(t, 0));
        const double twice = area.norm();
        if (!(twice > 0)) continue;
        Vector3d slope = Vector3d::Zero();  // times twice the area
        for (int k = 0; k < 3; ++k) {
            const Vector3d side = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, (k + 1) % 3);
            slope += values[at(mesh.triangles[at(t)][at(k)])] * (area / twice).cross(side);
        }
        for (const int v : mesh.triangles[at(t)]) {
            slopes[at(v)] += slope;
            areas[at(v)] += twice;
        }
    }
    for (std::size_t v = 0; v < slopes.size(); ++v)
        if (areas[v] > 0) slopes[v] /= areas[v];
    return slopes;
}

}  // namespace

ForceDetail::ForceDetail(const ForceDetailOptions& options) : options_(options) {
    const auto require = [](bool is_right, const char* field, double value, const char* expected) {
        if (!is_right) throw InputError("", field, std::to_string(value), expected);
    };
    require(options.max_slope >= 0 && options.max_slope <= 1, "max_slope", options.max_slope,
            "0 to 1, a share of the friction");
    require(options.friction_depth >= 0 && options.friction_depth <= 0.9, "friction_depth",
            options.friction_depth, "0 to 0.9");
}

ForceDetail ForceDetail::waves(double period, double height, const ForceDetailOptions& options) {
    ForceDetail detail(options);
    if (!(period > 0) || !std::isfinite(period))
        throw InputError("", "period", std::to_string(period), "metres, more than 0");
    if (!(height >= 0) || !std::isfinite(height))
        throw InputError("", "height", std::to_string(height), "metres, 0 or more");
    detail.period_ = period;
    detail.height_ = height;
    return detail;
}

ForceDetail ForceDetail::map(const SemiRegularMesh& surface, const SemiRegularMesh& fine,
                             const std::vector<double>& heights,
                             const ForceDetailOptions& options) {
    ForceDetail detail(options);
    std::size_t count = surface.mesh.triangles.size();
    while (count > 0 && count < fine.mesh.triangles.size()) {
        count *= 4;
        ++detail.num_splits_;
    }
    const int level = fine.num_levels() - detail.num_splits_;
    if (count == 0 || count != fine.mesh.triangles.size() || level < 0 ||
        fine.triangles[at(level)] != surface.mesh.triangles)
        throw InputError("",
                         "a detail map must have the triangles of the touched surface on one of "
                         "its levels; subdivide that surface further");
    if (heights.size() != fine.mesh.vertices.size() ||
        !std::ranges::all_of(heights, [](double h) { return std::isfinite(h); }))
        throw InputError("", "a detail map needs a finite height for each of its " +
                                 std::to_string(fine.mesh.vertices.size()) + " vertices");
    detail.triangles_ = fine.mesh.triangles;
    detail.slopes_ = vertex_slopes(fine.mesh, heights);
    double largest = 0;
    for (const double h : heights) largest = std::max(largest, std::abs(h));
    detail.heights_ = heights;
    for (double& h : detail.heights_) h = largest > 0 ? h / largest : 0;
    return detail;
}

ForceDetail::Sample ForceDetail::sample(const Vector3d& x, int triangle,
                                        Vector3d b) const noexcept {
    Sample found{0, Vector3d::Zero()};
    if (triangles_.empty()) {
        const double rate = 2 * std::numbers::pi / period_;
        for (int k = 0; k < 3; ++k) {
            found.height += std::sin(rate * x[k]) / 3;
            found.slope[k] = height_ / 3 * rate * std::cos(rate * x[k]);
        }
        return found;
    }
    for (int split = 0; split < num_splits_; ++split) triangle = descend(triangle, b);
    for (int k = 0; k < 3; ++k) {
        const int v = triangles_[at(triangle)][at(k)];
        found.height += b[k] * heights_[at(v)];
        found.slope += b[k] * slopes_[at(v)];
    }
    return found;
}

FeltDetail ForceDetail::felt(const Vector3d& x, int triangle, const Vector3d& barycentric,
                             const Vector3d& normal, double friction) const noexcept {
    const Sample here = sample(x, triangle, barycentric);
    const double mu = friction * (1 + options_.friction_depth * here.height);
    // along the surface, and no steeper than friction holds
    Vector3d slope = here.slope - here.slope.dot(normal) * normal;
    const double steep = slope.norm(), limit = options_.max_slope * mu;
    if (steep > limit) slope *= limit / steep;
    return {(normal - slope).normalized(), mu};
}

}  // namespace pliant
