#include "geometry/pierce.h"

#include "core/numbers.h"

#include <algorithm>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kFacing = 0.15;  // least cosine; a line along the surface says little about where
constexpr int kMaxSheets = 8;     // looked through on the way

}  // namespace

PiercedSurface::PiercedSurface(const SurfaceQuery& surface)
    : surface_(surface), normals_(face_normals(surface.mesh())) {}

std::optional<double> PiercedSurface::first_facing(const Vector3d& x, const Vector3d& way,
                                                   const Vector3d& direction,
                                                   double reach) const noexcept {
    double gone = 0;
    for (int k = 0; k < kMaxSheets && gone <= reach; ++k) {
        const std::optional<RayHit> hit = surface_.ray(x + gone * way, way, reach - gone);
        if (!hit) return std::nullopt;
        gone += hit->t;
        if (normals_[at(hit->triangle)].dot(direction) > kFacing) return gone;
        gone += 1e-9 * reach;
    }
    return std::nullopt;
}

std::optional<double> PiercedSurface::pierce(const Vector3d& x, const Vector3d& direction,
                                             double reach) const noexcept {
    const std::optional<double> ahead = first_facing(x, direction, direction, reach);
    const std::optional<double> behind =
        first_facing(x, -direction, direction, ahead ? std::min(reach, *ahead) : reach);
    if (behind) return -*behind;
    return ahead;
}

std::optional<Vector3d> PiercedSurface::closest(const Vector3d& x, const Vector3d& direction,
                                                double reach) const noexcept {
    const ClosestPoint near = surface_.closest(x, reach);
    if (near.triangle < 0 || normals_[at(near.triangle)].dot(direction) <= kFacing)
        return std::nullopt;
    return near.point;
}

int fill_from_neighbours(const std::vector<std::array<int, 3>>& triangles,
                         std::vector<char> is_known, std::vector<double>& values) {
    const auto num_unknown = static_cast<int>(std::count(is_known.begin(), is_known.end(), 0));
    std::vector<double> sum(values.size());
    std::vector<int> count(values.size());
    for (int left = num_unknown; left > 0;) {
        std::fill(sum.begin(), sum.end(), 0.0);
        std::fill(count.begin(), count.end(), 0);
        for (const std::array<int, 3>& t : triangles)
            for (std::size_t k = 0; k < 3; ++k)
                for (const int u : {t[(k + 1) % 3], t[(k + 2) % 3]}) {
                    if (is_known[at(t[k])] || !is_known[at(u)]) continue;
                    sum[at(t[k])] += values[at(u)];
                    ++count[at(t[k])];
                }
        const int before = left;
        for (std::size_t v = 0; v < values.size(); ++v) {
            if (count[v] == 0) continue;
            values[v] = sum[v] / count[v];
            is_known[v] = 1;
            --left;
        }
        if (left == before) break;
    }
    return num_unknown;
}

}  // namespace pliant
