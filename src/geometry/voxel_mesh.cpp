#include "pliant/geometry/voxel_mesh.h"

#include "geometry/cell_grid.h"
#include "geometry/hex_cells.h"

#include <algorithm>

namespace pliant {

VolumeMesh build_voxel_mesh(const SurfaceQuery& surface, const VoxelOptions& options,
                            Progress& progress) {
    const CellGrid grid = build_cell_grid(
        surface, {options.resolution, options.expansion, options.samples_per_axis}, progress);

    const auto num_inside = std::count(grid.cells.begin(), grid.cells.end(), CellState::Inside);
    const std::size_t num_cells =
        grid.filled.size() + (options.is_hollow ? 0 : static_cast<std::size_t>(num_inside));
    require_countable_cells(num_cells);

    progress.stage("Voxel mesh", static_cast<std::size_t>(grid.size[2]));
    std::vector<HexCell> cells;
    std::vector<double> filled;
    cells.reserve(num_cells);
    filled.reserve(num_cells);
    std::size_t next_cut = 0;
    for (int k = 0; k < grid.size[2]; ++k) {
        for (int j = 0; j < grid.size[1]; ++j)
            for (int i = 0; i < grid.size[0]; ++i) {
                const CellState state = grid.cells[grid.index(i, j, k)];
                const bool is_cut = state == CellState::Cut;
                if (!is_cut && (options.is_hollow || state != CellState::Inside)) continue;
                cells.push_back({{i, j, k}, 1});
                filled.push_back(is_cut ? grid.filled[next_cut++] : 1.0);
            }
        progress.advance();
    }
    VolumeMesh mesh = mesh_of_cells(cells, grid.size, grid.origin, grid.cell_size);
    mesh.filled = std::move(filled);
    return mesh;
}

}  // namespace pliant
