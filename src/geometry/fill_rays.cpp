#include "geometry/fill_rays.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pliant {
namespace {

using Vec3 = Eigen::Vector3d;

/// Signed passages of the edge a → b, seen along x, across the half line from (y, z) towards +y.
/// Evaluated from the lower end, so that f(a, b) = −f(b, a) in floating point as well.
int passages(const Vec3& a, const Vec3& b, double y, double z) {
    const bool a_below = a.z() <= z, b_below = b.z() <= z;
    if (a_below == b_below) return 0;
    const Vec3& low = a_below ? a : b;
    const Vec3& high = a_below ? b : a;
    // outside the extent of the edge the answer is plain, and rounding must not change it
    const auto [y_min, y_max] = std::minmax(low.y(), high.y());
    if (y >= y_max) return 0;
    const bool passes =
        y < y_min || (high.y() - low.y()) * (z - low.z()) > (high.z() - low.z()) * (y - low.y());
    return !passes ? 0 : a_below ? 1 : -1;
}

}  // namespace

std::array<double, 2> ray_offset(int r, int samples_per_axis) {
    const int s = samples_per_axis, a = r / s, b = r % s;
    return {(a + (b + 0.5) / s) / s, (b + (s - a - 0.5) / s) / s};
}

std::vector<RayCrossing> crossings_of_layer(const LayeredSurface& surface, int k,
                                            int samples_per_axis) {
    const int num_rays = samples_per_axis * samples_per_axis;
    std::vector<std::array<double, 2>> offsets;
    for (int r = 0; r < num_rays; ++r) offsets.push_back(ray_offset(r, samples_per_axis));

    std::vector<RayCrossing> crossings;
    for (const int triangle : surface.layer(k)) {
        const auto [a, b, c] = surface.corners(triangle);
        const auto [y_min, y_max] = std::minmax({a.y(), b.y(), c.y()});
        const auto [z_min, z_max] = std::minmax({a.z(), b.z(), c.z()});
        const auto [x_min, x_max] = std::minmax({a.x(), b.x(), c.x()});
        const Vec3 normal = (b - a).cross(c - a);
        for (int j = static_cast<int>(y_min); j <= static_cast<int>(y_max); ++j)
            for (int r = 0; r < num_rays; ++r) {
                const double y = j + offsets[static_cast<std::size_t>(r)][0];
                const double z = k + offsets[static_cast<std::size_t>(r)][1];
                if (y < y_min || y > y_max || z < z_min || z > z_max) continue;
                const int turns =
                    passages(a, b, y, z) + passages(b, c, y, z) + passages(c, a, y, z);
                if (turns == 0) continue;
                // slivers seen edge-on have an ill-defined x: their own extent bounds it
                const double slope = (y - a.y()) * normal.y() + (z - a.z()) * normal.z();
                const double x = normal.x() == 0 ? x_min : a.x() - slope / normal.x();
                crossings.push_back({j * num_rays + r, std::clamp(x, x_min, x_max), -turns});
            }
    }
    std::sort(crossings.begin(), crossings.end(), [](const RayCrossing& p, const RayCrossing& q) {
        return std::tie(p.ray, p.x, p.rise) < std::tie(q.ray, q.x, q.rise);
    });
    return crossings;
}

void fill_layer(std::span<const RayCrossing> crossings, int nx, int samples_per_axis,
                std::span<double> filled) {
    const int num_rays = samples_per_axis * samples_per_axis;
    const auto row_length = static_cast<std::size_t>(nx);
    std::fill(filled.begin(), filled.end(), 0.0);

    // each border of an inside interval changes the fraction of its cell and of all later ones:
    // store the differences, then sum along the row
    const auto step_at = [&](const RayCrossing& crossing, double sign) {
        double* row =
            filled.data() + static_cast<std::size_t>(crossing.ray / num_rays) * row_length;
        const int i = std::clamp(static_cast<int>(crossing.x), 0, nx - 1);
        row[i] += sign * (i + 1 - crossing.x);
        if (i + 1 < nx) row[i + 1] += sign * (crossing.x - i);
    };
    int winding = 0;
    for (std::size_t e = 0; e < crossings.size(); ++e) {
        if (e == 0 || crossings[e].ray != crossings[e - 1].ray) winding = 0;
        const bool was_inside = winding > 0;
        winding += crossings[e].rise;
        if (was_inside != (winding > 0)) step_at(crossings[e], was_inside ? -1.0 : 1.0);
    }
    for (std::size_t begin = 0; begin < filled.size(); begin += row_length) {
        double sum = 0;
        for (std::size_t i = begin; i < begin + row_length; ++i) {
            sum += filled[i];
            filled[i] = std::clamp(sum / num_rays, 0.0, 1.0);
        }
    }
}

}  // namespace pliant
