#include "field/grid_bricks.h"

#include "core/numbers.h"
#include "field/grid_margin.h"
#include "pliant/core/error.h"
#include "pliant/core/parallel.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pliant {
namespace {

/// Blocks of a frame, x fastest.
struct Blocks {
    explicit Blocks(const GridFrame& frame)
        : nx(frame.cells[0] / kBlockCells),
          ny(frame.cells[1] / kBlockCells),
          nz(frame.cells[2] / kBlockCells) {}
    int nx, ny, nz;

    [[nodiscard]] std::size_t count() const { return at(nx) * at(ny) * at(nz); }
    [[nodiscard]] std::array<int, 3> place(std::size_t block) const {
        const auto line = static_cast<int>(block / at(nx));
        return {static_cast<int>(block % at(nx)), line % ny, line / ny};
    }
    [[nodiscard]] bool contains(int i, int j, int k) const {
        return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz;
    }
    [[nodiscard]] std::size_t block(int i, int j, int k) const {
        return (at(k) * at(ny) + at(j)) * at(nx) + at(i);
    }
    [[nodiscard]] std::size_t corner(int i, int j, int k) const {
        return (at(k) * at(ny + 1) + at(j)) * at(nx + 1) + at(i);
    }
};

/// Interpolates the corners of a block at its fine vertices. On shared faces every block that has
/// them finds the same bits: weights of 0 and 1 pick a value as it is.
class CornerValues {
public:
    CornerValues(const Blocks& blocks, const std::vector<float>& coarse,
                 const std::array<int, 3>& place) {
        for (int c = 0; c < 8; ++c)
            corners_[c] = coarse[blocks.corner(place[0] + (c & 1), place[1] + (c >> 1 & 1),
                                               place[2] + (c >> 2))];
    }
    [[nodiscard]] float operator()(int i, int j, int k) const {
        const auto mix = [](int w, double a, double b) {
            const double t = static_cast<double>(w) / kBlockCells;
            return (1 - t) * a + t * b;
        };
        const double* c = corners_;
        const double low = mix(j, mix(i, c[0], c[1]), mix(i, c[2], c[3]));
        const double high = mix(j, mix(i, c[4], c[5]), mix(i, c[6], c[7]));
        return static_cast<float>(mix(k, low, high));
    }

private:
    double corners_[8];
};

/// Vertices of a brick that lie in blocks without one get the values found there, so that the
/// field is continuous.
void fit_brick(const Blocks& blocks, const std::array<int, 3>& place, BrickParts& parts,
               float* brick) {
    const CornerValues value(blocks, parts.coarse, place);
    // the vertices that are shared with the neighbour on side −1, 0 or 1
    const auto first = [](int side) { return side == 1 ? kBlockCells : 0; };
    const auto last = [](int side) { return side == -1 ? 0 : kBlockCells; };
    for (int sz = -1; sz <= 1; ++sz)
        for (int sy = -1; sy <= 1; ++sy)
            for (int sx = -1; sx <= 1; ++sx) {
                const int i = place[0] + sx, j = place[1] + sy, k = place[2] + sz;
                if (!blocks.contains(i, j, k)) continue;
                if (parts.brick_of_block[blocks.block(i, j, k)] >= 0) continue;
                for (int z = first(sz); z <= last(sz); ++z)
                    for (int y = first(sy); y <= last(sy); ++y)
                        for (int x = first(sx); x <= last(sx); ++x)
                            brick[(z * kBrickSide + y) * kBrickSide + x] = value(x, y, z);
            }
}

/// Copies the vertices of a block from a dense grid and returns the smallest magnitude.
float copy_block(const DistanceGrid& dense, const std::array<int, 3>& place, float* brick) {
    const auto& cells = dense.frame().cells;
    const std::span<const float> values = dense.arrays().coarse;
    float smallest = std::numeric_limits<float>::infinity();
    for (int z = 0; z < kBrickSide; ++z)
        for (int y = 0; y < kBrickSide; ++y) {
            const std::size_t line =
                at(place[2] * kBlockCells + z) * at(cells[1] + 1) + at(place[1] * kBlockCells + y);
            const float* from =
                values.data() + line * at(cells[0] + 1) + at(place[0] * kBlockCells);
            for (int x = 0; x < kBrickSide; ++x) {
                brick[(z * kBrickSide + y) * kBrickSide + x] = from[x];
                smallest = std::min(smallest, std::abs(from[x]));
            }
        }
    return smallest;
}

}  // namespace

double brick_clearance(const GridFrame& frame, double band) {
    // two vertices of a cell are at most √3 cells apart; a little for rounding
    return (band + std::numbers::sqrt3 * frame.cell) * (1 + 1e-6);
}

DistanceGrid make_sparse_grid(const GridFrame& frame, BrickParts parts, float boundary,
                              double band) {
    const auto owner = std::make_shared<BrickParts>(std::move(parts));
    GridArrays arrays;
    arrays.frame = frame;
    arrays.storage = GridStorage::Sparse;
    arrays.coarse = owner->coarse;
    arrays.brick_of_block = owner->brick_of_block;
    arrays.bricks = owner->bricks;
    arrays.boundary = boundary;
    // the constructor checks what follows relies on
    static_cast<void>(DistanceGrid(arrays, owner));

    const Blocks blocks(frame);
    parallel_for(blocks.count(), 64, [&](std::size_t block) {
        const int brick = owner->brick_of_block[block];
        if (brick < 0) return;
        fit_brick(blocks, blocks.place(block), *owner,
                  owner->bricks.data() + at(brick) * kBrickFloats);
    });
    arrays.margin = sparse_margin(arrays, band);
    return {arrays, owner};
}

DistanceGrid DistanceGrid::sparse(const DistanceGrid& dense, double band) {
    if (dense.arrays().storage != GridStorage::Dense)
        throw InputError("", "storage", "sparse", "a dense grid to make a sparse one of");
    if (!(band > 0 && std::isfinite(band)))
        throw InputError("", "band", std::to_string(band), "a positive distance [m]");
    const GridFrame& frame = dense.frame();
    const Blocks blocks(frame);
    const auto clearance = static_cast<float>(brick_clearance(frame, band));

    BrickParts parts;
    parts.coarse.resize(at(blocks.nx + 1) * at(blocks.ny + 1) * at(blocks.nz + 1));
    for (int k = 0; k <= blocks.nz; ++k)
        for (int j = 0; j <= blocks.ny; ++j)
            for (int i = 0; i <= blocks.nx; ++i) {
                const std::size_t line =
                    at(k * kBlockCells) * at(frame.cells[1] + 1) + at(j * kBlockCells);
                parts.coarse[blocks.corner(i, j, k)] =
                    dense.arrays().coarse[line * at(frame.cells[0] + 1) + at(i * kBlockCells)];
            }
    parts.brick_of_block.assign(blocks.count(), -1);
    float brick[kBrickFloats] = {};
    int num_bricks = 0;
    for (std::size_t block = 0; block < blocks.count(); ++block) {
        if (copy_block(dense, blocks.place(block), brick) > clearance) continue;
        parts.brick_of_block[block] = num_bricks++;
        parts.bricks.insert(parts.bricks.end(), brick, brick + kBrickFloats);
    }
    parts.bricks.shrink_to_fit();
    return make_sparse_grid(frame, std::move(parts), dense.arrays().boundary, band);
}

}  // namespace pliant
