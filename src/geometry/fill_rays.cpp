#include "geometry/fill_rays.h"

#include "geometry/line_crossing.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pliant {

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
        for (int j = static_cast<int>(y_min); j <= static_cast<int>(y_max); ++j)
            for (int r = 0; r < num_rays; ++r) {
                const double y = j + offsets[static_cast<std::size_t>(r)][0];
                const double z = k + offsets[static_cast<std::size_t>(r)][1];
                if (y < y_min || y > y_max || z < z_min || z > z_max) continue;
                const LineCrossing crossing = cross_line_along_x(a, b, c, y, z);
                if (crossing.turns != 0)
                    crossings.push_back({j * num_rays + r, crossing.x, -crossing.turns});
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
