#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/surface_query.h"

#include <cstdint>

namespace pliant {

enum class CellState : std::uint8_t {
    Outside,
    Inside,  ///< entirely inside
    Cut,     ///< a triangle passes through it
};

struct CellGridOptions {
    int resolution = 64;  ///< cells along each side of the cube-shaped box
    double expansion = 1.2;
    int samples_per_axis = 4;
    int alignment = 1;  ///< the window starts and ends at multiples of it
};

/// The part of a cube-shaped box of equal cells that a surface can reach, and which of its cells
/// are inside or cut; docs/geometry-meshing.md section "Voxels". Cell (i, j, k) begins at
/// origin + cell_size · (i, j, k). Everything beyond the window is outside.
struct CellGrid {
    Eigen::Vector3d origin = Eigen::Vector3d::Zero();
    double cell_size = 0;
    std::array<int, 3> size{0, 0, 0};
    std::vector<CellState> cells;  ///< x runs fastest, then y, then z
    std::vector<double> filled;    ///< of the cut cells, in their order in `cells`; in (0, 1]

    [[nodiscard]] std::size_t index(int i, int j, int k) const noexcept {
        return (static_cast<std::size_t>(k) * static_cast<std::size_t>(size[1]) +
                static_cast<std::size_t>(j)) *
                   static_cast<std::size_t>(size[0]) +
               static_cast<std::size_t>(i);
    }
    [[nodiscard]] CellState at(int i, int j, int k) const noexcept {
        if (i < 0 || j < 0 || k < 0 || i >= size[0] || j >= size[1] || k >= size[2])
            return CellState::Outside;
        return cells[index(i, j, k)];
    }
};

/// Throws InputError for options out of range and for a surface without triangles or extent.
[[nodiscard]] CellGrid build_cell_grid(const SurfaceQuery& surface, const CellGridOptions& options,
                                       Progress& progress);

/// Whether a triangle meets the closed cube of the given half side: the thirteen separating axes.
[[nodiscard]] bool triangle_meets_cube(const std::array<Eigen::Vector3d, 3>& corners,
                                       const Eigen::Vector3d& centre, double half_side) noexcept;

}  // namespace pliant
