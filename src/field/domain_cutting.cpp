#include "field/domain_cutting.h"

#include "core/numbers.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace pliant {
namespace {

using Eigen::Vector3d;

/// Of a region inside itself, so that it does not take depth from a part that is near another one.
/// Outside it changes as distances do, which culling relies on.
constexpr float kSteepness = 8;

SurfaceMesh part_of(const SurfaceMesh& mesh, const std::vector<bool>& is_in) {
    SurfaceMesh part;
    part.vertices = mesh.vertices;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        if (is_in[t]) part.triangles.push_back(mesh.triangles[t]);
    return part;
}

std::vector<std::vector<int>> vertex_neighbours(const SurfaceMesh& mesh) {
    std::vector<std::vector<int>> neighbours(mesh.vertices.size());
    for (const Triangle& t : mesh.triangles)
        for (std::size_t k = 0; k < 3; ++k) {
            neighbours[static_cast<std::size_t>(t[k])].push_back(t[(k + 1) % 3]);
            neighbours[static_cast<std::size_t>(t[(k + 1) % 3])].push_back(t[k]);
        }
    return neighbours;
}

/// Ways along edges from the nearest vertex of the triangles chosen, up to `limit`.
std::vector<double> ways_from(const SurfaceMesh& mesh,
                              const std::vector<std::vector<int>>& neighbours,
                              const std::vector<bool>& is_in, double limit) {
    std::vector<double> way(mesh.vertices.size(), kInfinity);
    std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>>
        queue;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        if (is_in[t])
            for (const int v : mesh.triangles[t]) queue.emplace(0, v);
    while (!queue.empty()) {
        const auto [length, vertex] = queue.top();
        queue.pop();
        const auto v = static_cast<std::size_t>(vertex);
        if (length >= way[v]) continue;
        way[v] = length;
        for (const int other : neighbours[v]) {
            const double next =
                length + (mesh.vertices[v] - mesh.vertices[static_cast<std::size_t>(other)]).norm();
            if (next <= limit) queue.emplace(next, other);
        }
    }
    return way;
}

/// How far a domain reaches beyond its border along the surface: half the thickness there, so that
/// depths at the border stay those of the body, within reason.
double overlap_of(const SurfaceMesh& mesh, const SurfaceQuery& query,
                  const std::vector<Vector3d>& normals, const std::vector<int>& domain_of,
                  double cell) {
    const double size = bounding_box(mesh.vertices).diagonal().norm();
    std::vector<int> domain_at(mesh.vertices.size(), -1);
    double thickest = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        for (const int vertex : mesh.triangles[t]) {
            const auto v = static_cast<std::size_t>(vertex);
            if (domain_at[v] < 0) domain_at[v] = domain_of[t];
            if (domain_at[v] == domain_of[t] || normals[v].isZero()) continue;
            const auto hit =
                query.ray(mesh.vertices[v] - 1e-6 * size * normals[v], -normals[v], 0.25 * size);
            if (hit) thickest = std::max(thickest, hit->t);
        }
    return std::max(8 * cell, std::min(0.5 * thickest, 0.125 * size));
}

/// Values on every `stride`-th vertex of a grid, linear between them.
struct CoarseValues {
    int stride;
    std::array<int, 3> count;
    std::vector<float> values;

    CoarseValues(const GridFrame& frame, int stride_) : stride(stride_) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            count[axis] = (frame.cells[axis] + stride - 1) / stride + 1;
        values.resize(static_cast<std::size_t>(count[0]) * static_cast<std::size_t>(count[1]) *
                      static_cast<std::size_t>(count[2]));
    }
    [[nodiscard]] std::size_t index(int i, int j, int k) const {
        return static_cast<std::size_t>(i) +
               static_cast<std::size_t>(count[0]) *
                   (static_cast<std::size_t>(j) +
                    static_cast<std::size_t>(count[1]) * static_cast<std::size_t>(k));
    }
    /// At vertex (i, j, k) of the fine grid.
    [[nodiscard]] float at(int i, int j, int k) const {
        const std::array<int, 3> fine{i, j, k};
        std::array<int, 3> base{};
        std::array<float, 3> t{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            base[axis] = std::min(fine[axis] / stride, count[axis] - 2);
            t[axis] =
                static_cast<float>(fine[axis] - base[axis] * stride) / static_cast<float>(stride);
        }
        float sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            const int a = corner & 1, b = corner >> 1 & 1, c = corner >> 2;
            const float weight =
                (a ? t[0] : 1 - t[0]) * (b ? t[1] : 1 - t[1]) * (c ? t[2] : 1 - t[2]);
            sum += weight * values[index(base[0] + a, base[1] + b, base[2] + c)];
        }
        return sum;
    }
};

/// Half the difference of the distances to a domain and to what is not of it: negative where the
/// domain is nearer, and changing no faster than distances do.
CoarseValues region_values(const GridFrame& frame, const SurfaceMesh& own, const SurfaceMesh& other,
                           int stride) {
    CoarseValues region(frame, stride);
    const SurfaceQuery to_own(own, SignMethod::PseudoNormal);
    const SurfaceQuery to_other(other, SignMethod::PseudoNormal);
    parallel_for(static_cast<std::size_t>(region.count[2]), 1, [&](std::size_t plane) {
        const int k = static_cast<int>(plane);
        for (int j = 0; j < region.count[1]; ++j)
            for (int i = 0; i < region.count[0]; ++i) {
                const Vector3d x = frame.vertex(i * stride, j * stride, k * stride);
                region.values[region.index(i, j, k)] = static_cast<float>(
                    0.5 * (to_own.closest(x).distance - to_other.closest(x).distance));
            }
    });
    return region;
}

/// Blocks of a body's grid, in cells from its lowest vertex.
struct Crop {
    std::array<int, 3> low, high;
};

/// Around what is left of the body, with a quarter of its size on each side.
Crop crop_of(const DistanceGrid& body, const CoarseValues& region) {
    const GridFrame& frame = body.frame();
    const int stride = region.stride;
    const auto reach = static_cast<float>(1.5 * stride * frame.cell);
    Crop crop{frame.cells, {0, 0, 0}};
    for (int k = 0; k < region.count[2]; ++k)
        for (int j = 0; j < region.count[1]; ++j)
            for (int i = 0; i < region.count[0]; ++i) {
                if (region.values[region.index(i, j, k)] > reach) continue;
                const std::array<int, 3> at{i * stride, j * stride, k * stride};
                if (body.distance(frame.vertex(at[0], at[1], at[2])) > reach) continue;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    crop.low[axis] = std::min(crop.low[axis], at[axis]);
                    crop.high[axis] = std::max(crop.high[axis], at[axis]);
                }
            }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int pad = std::max(8, (crop.high[axis] - crop.low[axis]) / 4);
        crop.low[axis] = std::max(0, (crop.low[axis] - pad) / 8 * 8);
        crop.high[axis] = std::min(frame.cells[axis], (crop.high[axis] + pad + 7) / 8 * 8);
    }
    return crop;
}

/// The body inside the region on a grid of its own, whose vertices are vertices of the body's.
DistanceGrid clipped_grid(const DistanceGrid& body, const CoarseValues& region, double band) {
    const Crop crop = crop_of(body, region);
    GridFrame frame;
    frame.cell = body.frame().cell;
    frame.low = body.frame().vertex(crop.low[0], crop.low[1], crop.low[2]);
    for (std::size_t axis = 0; axis < 3; ++axis)
        frame.cells[axis] = crop.high[axis] - crop.low[axis];
    const auto nx = static_cast<std::size_t>(frame.cells[0]) + 1;
    const auto ny = static_cast<std::size_t>(frame.cells[1]) + 1;
    const auto nz = static_cast<std::size_t>(frame.cells[2]) + 1;
    std::vector<float> values(nx * ny * nz);
    parallel_for(ny * nz, 16, [&](std::size_t row) {
        const int j = static_cast<int>(row % ny), k = static_cast<int>(row / ny);
        std::vector<float> x(nx), y(nx), z(nx);
        for (std::size_t i = 0; i < nx; ++i) {
            const Vector3d at = frame.vertex(static_cast<int>(i), j, k);
            x[i] = static_cast<float>(at.x());
            y[i] = static_cast<float>(at.y());
            z[i] = static_cast<float>(at.z());
        }
        float* out = values.data() + row * nx;
        body.distances({x.data(), y.data(), z.data(), static_cast<int>(nx)}, out);
        for (std::size_t i = 0; i < nx; ++i) {
            const float r =
                region.at(crop.low[0] + static_cast<int>(i), crop.low[1] + j, crop.low[2] + k);
            out[i] = std::max(out[i], r < 0 ? kSteepness * r : r);
        }
    });
    // between the vertices of a face the distance may be less by half its diagonal
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t k = 0; k < nz; ++k)
        for (std::size_t j = 0; j < ny; ++j)
            for (std::size_t i = 0; i < nx; ++i)
                if (i == 0 || i + 1 == nx || j == 0 || j + 1 == ny || k == 0 || k + 1 == nz)
                    least = std::min(least, values[i + nx * (j + ny * k)]);
    const auto boundary = std::max(0.0f, least - static_cast<float>(0.71 * frame.cell));
    const DistanceGrid dense = DistanceGrid::dense(frame, std::move(values), boundary);
    return band > 0 ? DistanceGrid::sparse(dense, band) : dense;
}

}  // namespace

std::vector<Vector3d> area_samples(const SurfaceMesh& mesh, int count) {
    std::vector<double> sums;
    double total = 0;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const Vector3d& a = mesh.corner(t, 0);
        total += 0.5 * (mesh.corner(t, 1) - a).cross(mesh.corner(t, 2) - a).norm();
        sums.push_back(total);
    }
    std::vector<Vector3d> samples;
    if (sums.empty()) return samples;
    for (int i = 0; i < count; ++i) {
        // one in each of `count` equal areas; within triangles by an additive sequence
        const double target = total * (i + 0.5) / count;
        const auto at = std::upper_bound(sums.begin(), sums.end(), target);
        const int t = static_cast<int>(std::min(at, sums.end() - 1) - sums.begin());
        double u = std::fmod(0.5 + 0.7548776662466927 * i, 1.0);
        double v = std::fmod(0.5 + 0.5698402909980532 * i, 1.0);
        if (u + v > 1) {
            u = 1 - u;
            v = 1 - v;
        }
        const Vector3d& a = mesh.corner(t, 0);
        samples.emplace_back(a + u * (mesh.corner(t, 1) - a) + v * (mesh.corner(t, 2) - a));
    }
    return samples;
}

std::vector<Vector3d> farthest_points(const std::vector<Vector3d>& candidates, int count) {
    std::vector<Vector3d> chosen;
    if (candidates.empty()) return chosen;
    Vector3d centre = Vector3d::Zero();
    for (const Vector3d& x : candidates) centre += x / static_cast<double>(candidates.size());
    std::vector<double> distance;
    for (const Vector3d& x : candidates) distance.push_back((x - centre).squaredNorm());
    const auto wanted = std::min(static_cast<std::size_t>(count), candidates.size());
    while (chosen.size() < wanted) {
        const auto farthest = std::max_element(distance.begin(), distance.end());
        const Vector3d& next = candidates[static_cast<std::size_t>(farthest - distance.begin())];
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const double to_next = (candidates[i] - next).squaredNorm();
            distance[i] = chosen.empty() ? to_next : std::min(distance[i], to_next);
        }
        chosen.push_back(next);
    }
    return chosen;
}

std::vector<FieldDomain> cut_into_domains(const DistanceGrid& body, const SurfaceMesh& mesh,
                                          const std::vector<int>& domain_of_triangle,
                                          const DeformedFieldOptions& options, double band,
                                          Progress& progress) {
    const int num_domains =
        1 + *std::max_element(domain_of_triangle.begin(), domain_of_triangle.end());
    std::vector<FieldDomain> domains;
    if (num_domains == 1) {
        domains.push_back({body, farthest_points(area_samples(mesh, 50 * options.num_proxies),
                                                 options.num_proxies)});
        return domains;
    }
    const double cell = body.frame().cell;
    const auto& cells = body.frame().cells;
    const int stride = std::max(4, *std::max_element(cells.begin(), cells.end()) / 32);
    const auto neighbours = vertex_neighbours(mesh);
    const double overlap = overlap_of(mesh, SurfaceQuery(mesh, SignMethod::PseudoNormal),
                                      vertex_normals(mesh), domain_of_triangle, cell);
    const double area = surface_area(mesh);
    progress.stage("field domains", static_cast<std::size_t>(num_domains));
    for (int d = 0; d < num_domains; ++d) {
        std::vector<bool> is_own(mesh.triangles.size()), is_near(is_own), is_other(is_own);
        for (std::size_t t = 0; t < is_own.size(); ++t) is_own[t] = domain_of_triangle[t] == d;
        const std::vector<double> way = ways_from(mesh, neighbours, is_own, overlap);
        bool has_others = false;
        for (std::size_t t = 0; t < is_own.size(); ++t) {
            double farthest = 0;
            for (const int v : mesh.triangles[t])
                farthest = std::max(farthest, way[static_cast<std::size_t>(v)]);
            is_near[t] = is_own[t] || farthest <= 0.5 * overlap;
            is_other[t] = !is_own[t] && farthest > overlap;
            has_others = has_others || is_other[t];
        }
        const SurfaceMesh own = part_of(mesh, is_own);
        const int num_proxies =
            std::max(options.num_neighbours + 2,
                     static_cast<int>(std::lround(options.num_proxies * surface_area(own) / area)));
        const auto candidates = area_samples(part_of(mesh, is_near), 50 * num_proxies);
        const DistanceGrid rest =
            has_others
                ? clipped_grid(
                      body, region_values(body.frame(), own, part_of(mesh, is_other), stride), band)
                : body;
        domains.push_back({rest, farthest_points(candidates, num_proxies)});
        progress.advance();
    }
    return domains;
}

}  // namespace pliant
