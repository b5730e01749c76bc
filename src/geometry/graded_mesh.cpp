#include "pliant/geometry/graded_mesh.h"

#include "geometry/cell_grid.h"
#include "geometry/hex_cells.h"
#include "geometry/option_check.h"
#include "pliant/core/parallel.h"

#include <cmath>

namespace pliant {
namespace {

/// Blocks of one octree level, and which of them may be one cell.
struct Level {
    std::array<int, 3> size;
    std::vector<char> is_mergeable;

    explicit Level(const std::array<int, 3>& blocks)
        : size(blocks),
          is_mergeable(static_cast<std::size_t>(size[0]) * static_cast<std::size_t>(size[1]) *
                           static_cast<std::size_t>(size[2]),
                       0) {}
    [[nodiscard]] std::size_t index(int i, int j, int k) const {
        return (static_cast<std::size_t>(k) * static_cast<std::size_t>(size[1]) +
                static_cast<std::size_t>(j)) *
                   static_cast<std::size_t>(size[0]) +
               static_cast<std::size_t>(i);
    }
    [[nodiscard]] bool at(int i, int j, int k) const {
        return i >= 0 && j >= 0 && k >= 0 && i < size[0] && j < size[1] && k < size[2] &&
               is_mergeable[index(i, j, k)];
    }
    /// Whether all blocks of the cube from `low` to `low + count − 1` along each axis are.
    [[nodiscard]] bool all(const std::array<int, 3>& low, int count) const {
        for (int k = low[2]; k < low[2] + count; ++k)
            for (int j = low[1]; j < low[1] + count; ++j)
                for (int i = low[0]; i < low[0] + count; ++i)
                    if (!at(i, j, k)) return false;
        return true;
    }
};

/// Calls `visit(i, j, k)` for each block of a level, layers in parallel.
template <class Visit>
void for_each_block(const std::array<int, 3>& size, Progress& progress, Visit&& visit) {
    parallel_for(static_cast<std::size_t>(size[2]), 1, [&](std::size_t k) {
        for (int j = 0; j < size[1]; ++j)
            for (int i = 0; i < size[0]; ++i) visit(i, j, static_cast<int>(k));
        progress.advance();
    });
}

/// Level 0: inside cells. Level l: 2^l wide blocks that
/// - consist of mergeable blocks of level l − 1 and have only such around them: this is the 2:1
///   balance over faces, edges and vertices, and at level 1 keeps a layer of finest inside cells,
/// - are no larger than growth × their distance to the surface.
std::vector<Level> mergeable_blocks(const CellGrid& grid, const SurfaceQuery& surface,
                                    const GradedOptions& options, Progress& progress) {
    std::vector<Level> levels;
    levels.emplace_back(grid.size);
    for (std::size_t c = 0; c < grid.cells.size(); ++c)
        levels[0].is_mergeable[c] = grid.cells[c] == CellState::Inside;

    for (int l = 1; l <= options.max_levels; ++l) {
        const Level& finer = levels.back();
        Level level({finer.size[0] / 2, finer.size[1] / 2, finer.size[2] / 2});
        const double side = std::ldexp(grid.cell_size, l);
        // distance of the block ≥ distance of its centre − half its diagonal
        const double clearance = side / options.growth + 0.5 * std::sqrt(3.0) * side;
        progress.stage("Octree level " + std::to_string(l),
                       static_cast<std::size_t>(level.size[2]));
        for_each_block(level.size, progress, [&](int i, int j, int k) {
            if (!finer.all({2 * i - 1, 2 * j - 1, 2 * k - 1}, 4)) return;
            const Eigen::Vector3d centre =
                grid.origin + side * Eigen::Vector3d(i + 0.5, j + 0.5, k + 0.5);
            level.is_mergeable[level.index(i, j, k)] =
                surface.closest(centre, clearance).triangle < 0;
        });
        levels.push_back(std::move(level));
    }
    return levels;
}

/// Calls `visit(cell, state)` for the cells of the mesh. Each finest cell belongs to its largest
/// mergeable block, visited at the block's lowest corner.
template <class Visit>
void for_each_cell(const CellGrid& grid, const std::vector<Level>& levels, Visit&& visit) {
    for (int k = 0; k < grid.size[2]; ++k)
        for (int j = 0; j < grid.size[1]; ++j)
            for (int i = 0; i < grid.size[0]; ++i) {
                const CellState state = grid.cells[grid.index(i, j, k)];
                if (state == CellState::Outside) continue;
                std::size_t l = 0;
                while (l + 1 < levels.size() &&
                       levels[l + 1].at(i >> (l + 1), j >> (l + 1), k >> (l + 1)))
                    ++l;
                const int size = 1 << l;
                if (((i | j | k) & (size - 1)) == 0) visit(HexCell{{i, j, k}, size}, state);
            }
}

}  // namespace

VolumeMesh graded_box(int n, int w, double side) {
    check_option(n >= 1 && n <= 1024, "n", n, "1 to 1024");
    check_option(w >= 1 && w <= 1024, "w", w, "1 to 1024");
    check_option(side > 0 && std::isfinite(side), "side", side, "a positive length in metres");

    // cubes of cells of one size, from outside inwards, each around the next one
    struct Shell {
        int low, high, size;
    };
    std::vector<Shell> shells{{0, n, 1}};
    for (;;) {
        // the core left inside w layers of this size, if the next size fits into it
        const auto [low, high, size] = shells.back();
        const int extent = high - low - 2 * w * size;
        if (extent < 2 * size || extent / size % 2 != 0) break;
        shells.push_back({low + w * size, high - w * size, 2 * size});
    }
    const auto cube = [](int cells_along) {
        const auto count = static_cast<std::size_t>(cells_along);
        return count * count * count;
    };
    std::size_t num_cells = 0;
    for (std::size_t s = 0; s < shells.size(); ++s) {
        num_cells += cube((shells[s].high - shells[s].low) / shells[s].size);
        if (s > 0) num_cells -= cube((shells[s].high - shells[s].low) / shells[s - 1].size);
    }
    require_countable_cells(num_cells);

    std::vector<HexCell> cells;
    cells.reserve(num_cells);
    for (std::size_t s = 0; s < shells.size(); ++s) {
        const auto [low, high, size] = shells[s];
        const auto in_core = [&](int p) {
            return s + 1 < shells.size() && p >= shells[s + 1].low && p < shells[s + 1].high;
        };
        for (int z = low; z < high; z += size)
            for (int y = low; y < high; y += size)
                for (int x = low; x < high; x += size)
                    if (!(in_core(x) && in_core(y) && in_core(z)))
                        cells.push_back({{x, y, z}, size});
    }
    return mesh_of_cells(cells, {n, n, n}, Eigen::Vector3d::Zero(), side / n);
}

VolumeMesh build_graded_mesh(const SurfaceQuery& surface, const GradedOptions& options,
                             Progress& progress) {
    check_option(options.growth > 0 && std::isfinite(options.growth), "growth", options.growth,
                 "a positive number");
    check_option(options.max_levels >= 0 && options.max_levels <= 8, "max_levels",
                 options.max_levels, "0 to 8");
    check_option(options.resolution >= 2 && options.resolution <= 1024, "resolution",
                 options.resolution, "2 to 1024");
    const int coarsest = 1 << options.max_levels;
    const int resolution = (options.resolution + coarsest - 1) / coarsest * coarsest;
    const CellGrid grid = build_cell_grid(
        surface, {resolution, options.expansion, options.samples_per_axis, coarsest}, progress);
    const std::vector<Level> levels = mergeable_blocks(grid, surface, options, progress);

    std::size_t num_cells = 0;
    for_each_cell(grid, levels, [&](const HexCell&, CellState) { ++num_cells; });
    require_countable_cells(num_cells);
    std::vector<HexCell> cells;
    std::vector<double> filled;
    cells.reserve(num_cells);
    filled.reserve(num_cells);
    std::size_t next_cut = 0;
    for_each_cell(grid, levels, [&](const HexCell& cell, CellState state) {
        cells.push_back(cell);
        filled.push_back(state == CellState::Cut ? grid.filled[next_cut++] : 1.0);
    });
    VolumeMesh mesh = mesh_of_cells(cells, grid.size, grid.origin, grid.cell_size);
    mesh.filled = std::move(filled);
    return mesh;
}

}  // namespace pliant
