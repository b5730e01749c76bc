#include "pliant/field/iso_surface.h"

#include "field/cube_cases.h"
#include "field/field_lattice.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;

// Values keep this part of a cell from the level, so that no crossing meets a vertex: triangles
// near it stay parallel to the surface and do not vanish.
constexpr float kGap = 0.01f;

/// A block that the surface passes, and what it contributes.
struct ActiveBlock {
    std::array<int, 3> block;
    std::vector<std::uint16_t> crossings;  ///< of its own edges: 3 × local vertex + axis, ascending
    int num_triangles = 0;
    int first_vertex = 0, first_triangle = 0;
};

/// Values of a block over the level, and which of its cells and edges are its own: those that begin
/// at its vertices, and beyond the first and last ones those of the layer outside the box.
class Marcher {
public:
    Marcher(const FieldLattice& lattice, float level)
        : lattice_(lattice), level_(level), values_(kLocalVertices), numbers_(3 * kLocalVertices) {}

    /// False: the surface does not pass the block.
    bool load(const std::array<int, 3>& block) {
        if (!lattice_.may_cross(block, level_)) return false;
        lattice_.fill(block, values_.data());
        for (int axis = 0; axis < 3; ++axis) {
            const int last = lattice_.num_blocks[axis] - 1, cells = lattice_.frame.cells[axis];
            begin_[axis] = block[axis] == 0 ? 0 : 1;
            end_[axis] = block[axis] == last ? cells - kBlockCells * last + 2 : kBlockCells + 1;
        }
        const float gap = kGap * static_cast<float>(lattice_.frame.cell);
        bool any_inside = false, any_outside = false;
        for (int z = begin_[2]; z <= end_[2]; ++z)
            for (int y = begin_[1]; y <= end_[1]; ++y)
                for (int x = begin_[0]; x <= end_[0]; ++x) {
                    float& value = values_[local_vertex({x, y, z})];
                    const float above = value - level_;
                    const bool is_inside = above < 0;
                    any_inside |= is_inside;
                    any_outside |= !is_inside;
                    value = is_inside ? std::min(above, -gap) : std::max(above, gap);
                }
        return any_inside && any_outside;
    }

    void count(ActiveBlock& result) const {
        for_each_vertex([&](int vertex, const std::array<int, 3>&) {
            for (int axis = 0; axis < 3; ++axis)
                if (is_crossed(vertex, axis))
                    result.crossings.push_back(static_cast<std::uint16_t>(3 * vertex + axis));
            result.num_triangles += static_cast<int>(cube_cases()[inside_of(vertex)].size());
        });
    }

    /// Writes the block's part of the mesh; `find(block, crossing)` numbers those of others.
    template <class Find>
    void write(const ActiveBlock& active, const Find& find, SurfaceMesh& mesh) {
        int number = active.first_vertex;
        for_each_vertex([&](int vertex, const std::array<int, 3>& at) {
            for (int axis = 0; axis < 3; ++axis)
                if (is_crossed(vertex, axis)) {
                    numbers_[3 * vertex + axis] = number;
                    mesh.vertices[number++] = crossing(active.block, vertex, at, axis);
                }
        });
        Triangle* out = mesh.triangles.data() + active.first_triangle;
        for_each_vertex([&](int vertex, const std::array<int, 3>& at) {
            for (const CubeTriangle& triangle : cube_cases()[inside_of(vertex)]) {
                for (int k = 0; k < 3; ++k) {
                    const int c = kCubeEdgeStart[triangle[k]], axis = triangle[k] / 4;
                    (*out)[k] = edge_number(
                        active.block, {at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)},
                        axis, find);
                }
                ++out;
            }
        });
    }

private:
    template <class Visit>
    void for_each_vertex(const Visit& visit) const {
        for (int z = begin_[2]; z < end_[2]; ++z)
            for (int y = begin_[1]; y < end_[1]; ++y)
                for (int x = begin_[0]; x < end_[0]; ++x) {
                    const std::array<int, 3> at = {x, y, z};
                    visit(local_vertex(at), at);
                }
    }
    [[nodiscard]] bool is_crossed(int vertex, int axis) const {
        return (values_[vertex] < 0) != (values_[vertex + kLocalStride[axis]] < 0);
    }
    /// Inside corners of the cell that begins at the vertex.
    [[nodiscard]] unsigned inside_of(int vertex) const {
        unsigned inside = 0;
        for (unsigned c = 0; c < 8; ++c)
            inside |= static_cast<unsigned>(values_[vertex + corner_offset(c)] < 0) << c;
        return inside;
    }
    [[nodiscard]] Vector3d crossing(const std::array<int, 3>& block, int vertex,
                                    const std::array<int, 3>& at, int axis) const {
        const double a = values_[vertex], b = values_[vertex + kLocalStride[axis]];
        // infinite beyond the box, where the cut is next to it
        double t = a / (a - b);
        if (std::isinf(a)) t = 1;
        if (std::isinf(b)) t = 0;
        t = std::clamp(t, static_cast<double>(kGap), 1.0 - kGap);
        Vector3d place;
        for (int i = 0; i < 3; ++i) place[i] = kBlockCells * block[i] + at[i] - 1;
        place[axis] += t;
        return lattice_.frame.low + lattice_.frame.cell * place;
    }
    /// Number of the crossing on the edge from `at`, which may begin in a later block.
    template <class Find>
    [[nodiscard]] int edge_number(std::array<int, 3> block, std::array<int, 3> at, int axis,
                                  const Find& find) const {
        bool is_own = true;
        for (int i = 0; i < 3; ++i)
            if (at[i] >= end_[i]) {
                is_own = false;
                ++block[i];
                at[i] -= kBlockCells;
            }
        const int crossing = 3 * local_vertex(at) + axis;
        return is_own ? numbers_[crossing] : find(block, crossing);
    }

    const FieldLattice& lattice_;
    float level_;
    std::vector<float> values_;  // over the level
    std::vector<int> numbers_;   // of crossings in the mesh
    std::array<int, 3> begin_{}, end_{};
};

SurfaceMesh march(const FieldLattice& lattice, float level, Progress& progress) {
    const std::array<int, 3>& size = lattice.num_blocks;
    const std::size_t num_rows = static_cast<std::size_t>(size[1]) * size[2];
    const auto row_of = [&](const std::array<int, 3>& block) {
        return static_cast<std::size_t>(block[2]) * size[1] + block[1];
    };

    // find the blocks that the surface passes and count, row by row of blocks
    progress.stage("iso-surface", num_rows);
    std::vector<std::vector<ActiveBlock>> rows(num_rows);
    parallel_ranges(num_rows, 16, [&](std::size_t begin, std::size_t end) {
        Marcher marcher(lattice, level);
        for (std::size_t row = begin; row < end; ++row) {
            std::array<int, 3> block = {0, static_cast<int>(row % size[1]),
                                        static_cast<int>(row / size[1])};
            for (; block[0] < size[0]; ++block[0])
                if (marcher.load(block)) {
                    ActiveBlock active;
                    active.block = block;
                    marcher.count(active);
                    if (active.num_triangles > 0) rows[row].push_back(std::move(active));
                }
        }
        progress.advance(end - begin);
    });

    // number vertices and triangles
    int num_vertices = 0, num_triangles = 0;
    for (auto& row : rows)
        for (ActiveBlock& active : row) {
            active.first_vertex = num_vertices;
            active.first_triangle = num_triangles;
            num_vertices += static_cast<int>(active.crossings.size());
            num_triangles += active.num_triangles;
        }
    SurfaceMesh mesh;
    mesh.vertices.resize(num_vertices);
    mesh.triangles.resize(num_triangles);

    const auto find = [&](const std::array<int, 3>& block, int crossing) {
        const auto& row = rows[row_of(block)];
        const auto active = std::lower_bound(
            row.begin(), row.end(), block[0],
            [](const ActiveBlock& candidate, int x) { return candidate.block[0] < x; });
        const auto place =
            std::lower_bound(active->crossings.begin(), active->crossings.end(), crossing);
        return active->first_vertex + static_cast<int>(place - active->crossings.begin());
    };
    parallel_ranges(num_rows, 16, [&](std::size_t begin, std::size_t end) {
        Marcher marcher(lattice, level);
        for (std::size_t row = begin; row < end; ++row)
            for (const ActiveBlock& active : rows[row]) {
                marcher.load(active.block);
                marcher.write(active, find, mesh);
            }
    });
    return mesh;
}

SurfaceMesh finish(SurfaceMesh mesh, const IsoSurfaceOptions& options) {
    if (options.num_removed) *options.num_removed = 0;
    if (options.drops_enclosed) {
        const int num_removed = remove_enclosed_components(mesh);
        if (options.num_removed) *options.num_removed = num_removed;
    }
    return mesh;
}

float checked_level(double level) {
    if (!std::isfinite(static_cast<float>(level)))
        throw InputError("", "level", std::to_string(level), "a finite number of metres");
    return static_cast<float>(level);
}

}  // namespace

SurfaceMesh iso_surface(const DistanceGrid& grid, const IsoSurfaceOptions& options,
                        Progress& progress) {
    const float level = checked_level(options.level);
    return finish(march(FieldLattice(grid.arrays()), level, progress), options);
}

SurfaceMesh iso_surface(const DistanceField& field, const Box& box, int resolution,
                        const IsoSurfaceOptions& options, Progress& progress) {
    const float level = checked_level(options.level);
    if (resolution < 4 || resolution > 512)
        throw InputError("", "resolution", std::to_string(resolution), "4 to 512");
    if (box.isEmpty() || !(box.sizes().minCoeff() > 0) || !box.sizes().allFinite())
        throw InputError("", "the box of an iso-surface must be finite and have a volume");
    GridArrays arrays;
    arrays.storage = GridStorage::Dense;
    arrays.frame.low = box.min();
    arrays.frame.cell = box.sizes().maxCoeff() / resolution;
    for (int axis = 0; axis < 3; ++axis)
        // not one cell more for the rounding of an exact multiple
        arrays.frame.cells[axis] =
            std::max(1, static_cast<int>(std::ceil(box.sizes()[axis] / arrays.frame.cell - 1e-6)));

    // one thread: the field may be one that is updated
    const auto [nx, ny, nz] = arrays.frame.cells;
    std::vector<float> values(static_cast<std::size_t>(nx + 1) * (ny + 1) * (nz + 1));
    std::vector<float> x(nx + 1), y(nx + 1), z(nx + 1);
    for (int k = 0; k <= nz; ++k)
        for (int j = 0; j <= ny; ++j) {
            for (int i = 0; i <= nx; ++i) {
                const Vector3d p = arrays.frame.low + arrays.frame.cell * Vector3d(i, j, k);
                x[i] = static_cast<float>(p[0]);
                y[i] = static_cast<float>(p[1]);
                z[i] = static_cast<float>(p[2]);
            }
            field.distances({x.data(), y.data(), z.data(), nx + 1},
                            &values[(static_cast<std::size_t>(k) * (ny + 1) + j) * (nx + 1)]);
        }
    arrays.coarse = values;
    return finish(march(FieldLattice(arrays), level, progress), options);
}

}  // namespace pliant
