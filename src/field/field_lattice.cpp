#include "field/field_lattice.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

/// Exactly a at t = 0 and b at t = 1, so that blocks agree on the vertices they share.
double mix(double a, double b, double t) { return a * (1 - t) + b * t; }

}  // namespace

FieldLattice::FieldLattice(const GridArrays& arrays) : frame(arrays.frame), arrays_(arrays) {
    for (int axis = 0; axis < 3; ++axis)
        num_blocks[axis] = (frame.cells[axis] + kBlockCells - 1) / kBlockCells;
}

int FieldLattice::brick_of(const std::array<int, 3>& block) const noexcept {
    for (int axis = 0; axis < 3; ++axis)
        if (block[axis] < 0 || block[axis] >= num_blocks[axis]) return -1;
    return arrays_.brick_of_block[(static_cast<std::size_t>(block[2]) * num_blocks[1] + block[1]) *
                                      num_blocks[0] +
                                  block[0]];
}

float FieldLattice::corner(int x, int y, int z) const noexcept {
    return arrays_
        .coarse[(static_cast<std::size_t>(z) * (num_blocks[1] + 1) + y) * (num_blocks[0] + 1) + x];
}

bool FieldLattice::may_cross(const std::array<int, 3>& block, float level) const noexcept {
    if (arrays_.storage == GridStorage::Dense) return true;
    bool at_border = false;
    for (int axis = 0; axis < 3; ++axis)
        at_border |= block[axis] == 0 || block[axis] == num_blocks[axis] - 1;
    float lowest = std::numeric_limits<float>::infinity(), highest = -lowest;
    for (int c = 0; c < 8; ++c) {
        const float value =
            corner(block[0] + (c & 1), block[1] + (c >> 1 & 1), block[2] + (c >> 2));
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
    }
    // rounding of the interpolated values
    const float slack = 1e-5f * std::max(std::abs(lowest), std::abs(highest));
    if (lowest - slack <= level && (at_border || highest + slack >= level)) return true;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (brick_of({block[0] + dx, block[1] + dy, block[2] + dz}) >= 0) return true;
    return false;
}

void FieldLattice::fill_dense(const std::array<int, 3>& block, float* values) const noexcept {
    std::array<int, 3> first{}, count{};
    for (int axis = 0; axis < 3; ++axis) {
        first[axis] = kBlockCells * block[axis];
        count[axis] = std::min(kBrickSide, frame.cells[axis] + 1 - first[axis]);
    }
    const auto [nx, ny, nz] = frame.cells;
    for (int z = 0; z < count[2]; ++z)
        for (int y = 0; y < count[1]; ++y) {
            const std::size_t row =
                static_cast<std::size_t>(first[2] + z) * (ny + 1) + (first[1] + y);
            std::copy_n(arrays_.coarse.data() + row * (nx + 1) + first[0], count[0],
                        values + local_vertex({1, y + 1, z + 1}));
        }
}

void FieldLattice::fill_interpolated(const std::array<int, 3>& block,
                                     float* values) const noexcept {
    std::array<double, 8> corners{};
    for (int c = 0; c < 8; ++c)
        corners[c] = corner(block[0] + (c & 1), block[1] + (c >> 1 & 1), block[2] + (c >> 2));
    for (int z = 0; z < kBrickSide; ++z)
        for (int y = 0; y < kBrickSide; ++y) {
            const double tz = z / 8.0, ty = y / 8.0;
            const auto at_end = [&](int x) {
                return mix(mix(corners[x], corners[x + 2], ty),
                           mix(corners[x + 4], corners[x + 6], ty), tz);
            };
            const double low = at_end(0), high = at_end(1);
            for (int x = 0; x < kBrickSide; ++x)
                values[local_vertex({x + 1, y + 1, z + 1})] =
                    static_cast<float>(mix(low, high, x / 8.0));
        }
}

void FieldLattice::fill(const std::array<int, 3>& block, float* values) const noexcept {
    std::fill_n(values, kLocalVertices, std::numeric_limits<float>::infinity());
    if (arrays_.storage == GridStorage::Dense) return fill_dense(block, values);

    if (brick_of(block) < 0) fill_interpolated(block, values);
    // bricks around it have a say on the shared vertices; the lowest block has the last word
    for (int dz = 1; dz >= -1; --dz)
        for (int dy = 1; dy >= -1; --dy)
            for (int dx = 1; dx >= -1; --dx) {
                const int brick = brick_of({block[0] + dx, block[1] + dy, block[2] + dz});
                if (brick < 0) continue;
                const std::array<int, 3> offset = {dx, dy, dz};
                std::array<int, 3> first{}, last{};  // common vertices, counted in this block
                for (int axis = 0; axis < 3; ++axis) {
                    first[axis] = offset[axis] > 0 ? kBlockCells : 0;
                    last[axis] = offset[axis] < 0 ? 0 : kBlockCells;
                }
                const float* source =
                    arrays_.bricks.data() + static_cast<std::size_t>(brick) * kBrickFloats;
                for (int z = first[2]; z <= last[2]; ++z)
                    for (int y = first[1]; y <= last[1]; ++y)
                        for (int x = first[0]; x <= last[0]; ++x)
                            values[local_vertex({x + 1, y + 1, z + 1})] =
                                source[(x - 8 * dx) +
                                       kBrickSide * ((y - 8 * dy) + kBrickSide * (z - 8 * dz))];
            }
}

}  // namespace pliant
