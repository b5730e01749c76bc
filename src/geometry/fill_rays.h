#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <span>

namespace pliant {

/// A surface without border in the coordinates of a cell grid (cells are unit cubes, cell (0,0,0)
/// begins at the origin), its triangles sorted into the layers of cells they reach.
struct LayeredSurface {
    std::vector<Eigen::Vector3d> vertices;
    std::vector<Triangle> triangles;
    std::vector<std::size_t> layer_start;  ///< per layer k, into `layer_triangles`; one more at end
    std::vector<int> layer_triangles;

    [[nodiscard]] std::span<const int> layer(int k) const {
        const auto i = static_cast<std::size_t>(k);
        return {layer_triangles.data() + layer_start[i], layer_start[i + 1] - layer_start[i]};
    }
    [[nodiscard]] std::array<Eigen::Vector3d, 3> corners(int triangle) const {
        const Triangle& t = triangles[static_cast<std::size_t>(triangle)];
        return {vertices[static_cast<std::size_t>(t[0])], vertices[static_cast<std::size_t>(t[1])],
                vertices[static_cast<std::size_t>(t[2])]};
    }
};

/// Where a ray along +x passes through the surface, and by how much the winding number rises there.
struct RayCrossing {
    int ray;  ///< j · s² + r for ray r of the cells (·, j, k)
    double x;
    int rise;  ///< +1 into the body, −1 out of it
};

/// Position of ray r = 0 … s² − 1 within the (y, z) square of a cell: one in each square of an
/// s × s grid, all s² values of y different, and of z too, so that walls along the rays are
/// measured to 1/s².
[[nodiscard]] std::array<double, 2> ray_offset(int r, int samples_per_axis);

/// All crossings of the rays of layer k, sorted by ray and x. The rises of each ray sum to zero
/// exactly, whatever the rounding.
[[nodiscard]] std::vector<RayCrossing> crossings_of_layer(const LayeredSurface& surface, int k,
                                                          int samples_per_axis);

/// Fraction of each cell of one layer (x fastest, `nx` per row) where the winding number, counted
/// along the rays, is positive.
void fill_layer(std::span<const RayCrossing> crossings, int nx, int samples_per_axis,
                std::span<double> filled);

}  // namespace pliant
