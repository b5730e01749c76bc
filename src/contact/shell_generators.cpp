#include "contact/shell_normals.h"
#include "contact/surface_samples.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/surface_query.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace pliant {
namespace {

using Points = std::vector<Eigen::Vector3f>;

// Centres of the cells whose corners are not all on one side.
Points voxel_centres(const DistanceGrid& field) {
    const GridFrame& frame = field.frame();
    const int nx = frame.cells[0], ny = frame.cells[1], nz = frame.cells[2];
    const auto vertices = static_cast<std::size_t>(nx) + 1;
    std::vector<Points> layers(static_cast<std::size_t>(nz));
    parallel_for(layers.size(), 1, [&](std::size_t k) {
        // whether each vertex below and above the layer is inside
        std::vector<float> x(vertices), y(vertices), z(vertices), distance(vertices);
        std::vector<char> is_inside(2 * vertices * (static_cast<std::size_t>(ny) + 1));
        std::size_t at = 0;
        for (int up = 0; up < 2; ++up)
            for (int j = 0; j <= ny; ++j) {
                for (std::size_t i = 0; i < vertices; ++i) {
                    const Eigen::Vector3f corner =
                        frame.vertex(static_cast<int>(i), j, static_cast<int>(k) + up)
                            .cast<float>();
                    x[i] = corner.x();
                    y[i] = corner.y();
                    z[i] = corner.z();
                }
                field.distances({x.data(), y.data(), z.data(), static_cast<int>(vertices)},
                                distance.data());
                for (std::size_t i = 0; i < vertices; ++i) is_inside[at++] = distance[i] < 0;
            }
        const std::size_t layer = at / 2;
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) {
                const std::size_t first =
                    static_cast<std::size_t>(j) * vertices + static_cast<std::size_t>(i);
                int num_inside = 0;
                for (const std::size_t row :
                     {first, first + vertices, first + layer, first + layer + vertices})
                    num_inside += is_inside[row] + is_inside[row + 1];
                if (num_inside == 0 || num_inside == 8) continue;
                const Eigen::Vector3d centre = frame.vertex(i, j, static_cast<int>(k)) +
                                               Eigen::Vector3d::Constant(0.5 * frame.cell);
                layers[k].push_back(centre.cast<float>());
            }
    });
    Points points;
    for (const Points& layer : layers) points.insert(points.end(), layer.begin(), layer.end());
    return points;
}

Points mesh_vertices(const SurfaceMesh& surface) {
    std::vector<char> is_used(surface.vertices.size(), 0);
    for (const Triangle& triangle : surface.triangles)
        for (const int v : triangle) is_used[static_cast<std::size_t>(v)] = 1;
    Points points;
    for (std::size_t v = 0; v < is_used.size(); ++v)
        if (is_used[v] != 0) points.push_back(surface.vertices[v].cast<float>());
    return points;
}

Points area_random(const SurfaceMesh& surface, int count, std::uint64_t seed) {
    std::vector<double> end;
    double area = 0;
    for (int t = 0; t < surface.num_triangles(); ++t) {
        const Eigen::Vector3d &a = surface.corner(t, 0), &b = surface.corner(t, 1),
                              &c = surface.corner(t, 2);
        area += 0.5 * (b - a).cross(c - a).norm();
        end.push_back(area);
    }
    std::mt19937_64 random(seed);
    Points points(static_cast<std::size_t>(count));
    for (Eigen::Vector3f& x : points) {
        const double u = next_unit(random) * area;
        const auto found = std::upper_bound(end.begin(), end.end() - 1, u);
        const int t = static_cast<int>(found - end.begin());
        const double along = std::sqrt(next_unit(random)), across = next_unit(random);
        x = ((1 - along) * surface.corner(t, 0) +
             along * ((1 - across) * surface.corner(t, 1) + across * surface.corner(t, 2)))
                .cast<float>();
    }
    return points;
}

// Where a line along an axis meets the surface, each crossing once.
void add_crossings(const SurfaceQuery& query, Eigen::Vector3d origin, int axis, double length,
                   Points& points) {
    const Eigen::Vector3d direction = Eigen::Vector3d::Unit(axis);
    // past a crossing by more than the rounding of the hit
    const double past = 1e-6 * length;
    for (double left = length; left > 0;) {
        const std::optional<RayHit> hit = query.ray(origin, direction, left);
        if (!hit) return;
        points.push_back((origin + hit->t * direction).cast<float>());
        origin += (hit->t + past) * direction;
        left -= hit->t + past;
    }
}

// Three bundles of rays. A bundle along an axis meets an area A with normal n in |n_axis| A / h²
// places: that chooses the spacing h.
Points layered_depth(const SurfaceMesh& surface, int count) {
    double projected = 0;
    for (int t = 0; t < surface.num_triangles(); ++t)
        projected += 0.5 * (surface.corner(t, 1) - surface.corner(t, 0))
                               .cross(surface.corner(t, 2) - surface.corner(t, 0))
                               .lpNorm<1>();
    const double spacing = std::sqrt(projected / count);
    const Box box = bounding_box(surface.vertices);
    const SurfaceQuery query(surface);
    Points points;
    for (int axis = 0; axis < 3; ++axis) {
        const int across = (axis + 1) % 3, up = (axis + 2) % 3;
        const auto rows = static_cast<std::size_t>(std::ceil(box.sizes()[up] / spacing));
        const auto columns = static_cast<std::size_t>(std::ceil(box.sizes()[across] / spacing));
        const double length = 1.02 * box.sizes()[axis];
        std::vector<Points> hits(rows);
        parallel_for(rows, 1, [&](std::size_t j) {
            for (std::size_t i = 0; i < columns; ++i) {
                Eigen::Vector3d origin;
                origin[axis] = box.min()[axis] - 0.01 * box.sizes()[axis];
                origin[across] = box.min()[across] + (static_cast<double>(i) + 0.5) * spacing;
                origin[up] = box.min()[up] + (static_cast<double>(j) + 0.5) * spacing;
                add_crossings(query, origin, axis, length, hits[j]);
            }
        });
        for (const Points& row : hits) points.insert(points.end(), row.begin(), row.end());
    }
    return points;
}

Points place(ShellGenerator generator, const DistanceGrid& field, const SurfaceMesh& surface,
             int count, std::uint64_t seed) {
    switch (generator) {
        case ShellGenerator::VoxelCentres: return voxel_centres(field);
        case ShellGenerator::MeshVertices: return mesh_vertices(surface);
        case ShellGenerator::AreaRandom: return area_random(surface, count, seed);
        case ShellGenerator::LayeredDepth: break;
    }
    return layered_depth(surface, count);
}

}  // namespace

Pointshell build_pointshell_by(ShellGenerator generator, const DistanceGrid& field,
                               const SurfaceMesh& surface, int num_points, int branching,
                               std::uint64_t seed) {
    if (num_points < 1)
        throw InputError("", "pointshell.num_points", std::to_string(num_points), "at least 1");
    if (branching < 2 || branching > 64)
        throw InputError("", "pointshell.branching", std::to_string(branching), "2 … 64");
    if (surface.triangles.empty() || !(surface_area(surface) > 0))
        throw InputError("", "the surface for the pointshell has no triangles with area");
    const Points points = place(generator, field, surface, num_points, seed);
    if (points.empty())
        throw InputError("",
                         "the generator found no points: the surface passes between the cells "
                         "or rays; ask for more points or a finer field");

    Pointshell shell;
    for (const int i : farthest_point_order(points))
        shell.points.push_back(points[static_cast<std::size_t>(i)]);
    shell.normals = inward_normals(shell.points, field, surface);
    // B points, then B² more, …; the last level has what is left
    shell.level_start = {0};
    for (std::int64_t size = branching, end = 0; end < shell.num_points(); size *= branching) {
        end = std::min<std::int64_t>(end + size, shell.num_points());
        shell.level_start.push_back(static_cast<int>(end));
    }
    shell.spacing = spacing_statistics(shell, shell.num_levels() - 1).mean;
    return shell;
}

}  // namespace pliant
