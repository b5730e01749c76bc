#include "field/narrow_band.h"

#include "pliant/core/parallel.h"

#include <numbers>

namespace pliant::detail {
namespace {

using Eigen::Vector3d;

constexpr int kBrickVertices = kBrickSide * kBrickSide * kBrickSide;
constexpr std::size_t kBricksAtOnce = 512;

/// Rows there and back, so that each point is next to the last: calls `visit(i, j)`.
template <class Visit>
void zigzag(int width, int height, Visit&& visit) {
    for (int j = 0; j < height; ++j)
        for (int column = 0; column < width; ++column)
            visit(j % 2 == 0 ? column : width - 1 - column, j);
}

/// Values at every `stride`-th vertex, plane by plane.
std::vector<float> lattice_values(const FieldSource& source, const GridFrame& frame, int stride,
                                  Progress& progress) {
    const int nx = frame.cells[0] / stride + 1, ny = frame.cells[1] / stride + 1,
              nz = frame.cells[2] / stride + 1;
    const auto plane = static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny);
    std::vector<float> values(plane * static_cast<std::size_t>(nz));
    parallel_for(static_cast<std::size_t>(nz), 1, [&](std::size_t k) {
        FieldWalk walk(source);
        float* out = values.data() + plane * k;
        zigzag(nx, ny, [&](int i, int j) {
            const Vector3d x = frame.vertex(stride * i, stride * j, stride * static_cast<int>(k));
            out[static_cast<std::size_t>(j) * static_cast<std::size_t>(nx) +
                static_cast<std::size_t>(i)] = static_cast<float>(walk(x));
        });
        progress.advance();
    });
    return values;
}

/// Fills the vertices of one brick and returns the smallest magnitude.
float fill_brick(const FieldSource& source, const GridFrame& frame, int block, float* out) {
    const int nx = frame.cells[0] / kBlockCells, ny = frame.cells[1] / kBlockCells;
    const int i0 = block % nx * kBlockCells, j0 = block / nx % ny * kBlockCells,
              k0 = block / nx / ny * kBlockCells;
    FieldWalk walk(source);
    float smallest = std::numeric_limits<float>::infinity();
    for (int k = 0; k < kBrickSide; ++k)
        zigzag(kBrickSide, kBrickSide, [&](int i, int j) {
            // every other plane backwards: it begins where the last one ended
            if (k % 2 == 1) {
                i = kBrickSide - 1 - i;
                j = kBrickSide - 1 - j;
            }
            const auto value = static_cast<float>(walk(frame.vertex(i0 + i, j0 + j, k0 + k)));
            out[i + kBrickSide * (j + kBrickSide * k)] = value;
            smallest = std::min(smallest, std::abs(value));
        });
    std::fill(out + kBrickVertices, out + kBrickFloats, 0.0f);
    return smallest;
}

/// Whether a value within `reach` of zero may occur at this point.
bool is_near(const FieldSource& source, const Vector3d& x, double reach, double cell) {
    // the hull is made of the interpolated field, which is at most √3/2 cells from the true one
    if (source.hull) return source.hull->closest(x, reach + 2 * cell).triangle >= 0;
    const ClosestPoint found = source.surface->closest(x, source.offset + reach);
    return found.triangle >= 0 && found.distance >= source.offset - reach;
}

}  // namespace

std::vector<float> dense_values(const FieldSource& source, const GridFrame& frame,
                                Progress& progress) {
    progress.stage("field: distances", static_cast<std::size_t>(frame.cells[2]) + 1);
    return lattice_values(source, frame, 1, progress);
}

std::vector<int> blocks_near_surface(const FieldSource& source, const GridFrame& frame,
                                     double clearance) {
    const int num_blocks = frame.cells[0] / kBlockCells;
    // cubes of blocks that may be near, halved level by level
    std::vector<std::array<int, 3>> cubes = {{0, 0, 0}};
    std::vector<char> keep;
    for (int size = num_blocks;; size /= 2) {
        const double half = 0.5 * kBlockCells * size * frame.cell;
        // a little more, for values are rounded to floats
        const double reach = (clearance + half * std::numbers::sqrt3) * (1 + 1e-6);
        keep.assign(cubes.size(), 0);
        parallel_for(cubes.size(), 64, [&](std::size_t c) {
            const auto& [i, j, k] = cubes[c];
            const Vector3d centre =
                frame.vertex(i * kBlockCells, j * kBlockCells, k * kBlockCells) +
                Vector3d::Constant(half);
            keep[c] = is_near(source, centre, reach, frame.cell);
        });
        std::vector<std::array<int, 3>> parts;
        for (std::size_t c = 0; c < cubes.size(); ++c) {
            if (!keep[c]) continue;
            if (size == 1) {
                parts.push_back(cubes[c]);
                continue;
            }
            for (int part = 0; part < 8; ++part)
                parts.push_back({cubes[c][0] + (part & 1) * size / 2,
                                 cubes[c][1] + (part >> 1 & 1) * size / 2,
                                 cubes[c][2] + (part >> 2) * size / 2});
        }
        cubes = std::move(parts);
        if (size == 1) break;
    }
    std::vector<int> blocks;
    blocks.reserve(cubes.size());
    for (const auto& [i, j, k] : cubes) blocks.push_back(i + num_blocks * (j + num_blocks * k));
    std::sort(blocks.begin(), blocks.end());
    return blocks;
}

BrickParts brick_values(const FieldSource& source, const GridFrame& frame, double clearance,
                        const std::vector<int>& blocks, Progress& progress) {
    BrickParts result;
    progress.stage("field: corners of blocks",
                   static_cast<std::size_t>(frame.cells[2] / kBlockCells) + 1);
    result.coarse = lattice_values(source, frame, kBlockCells, progress);

    const auto num_blocks = static_cast<std::size_t>(frame.cells[0] / kBlockCells);
    result.brick_of_block.assign(num_blocks * num_blocks * num_blocks, -1);
    result.bricks.reserve(blocks.size() * kBrickFloats);
    progress.stage("field: distances near the surface", blocks.size());
    std::size_t num_bricks = 0;
    std::vector<float> smallest(kBricksAtOnce);
    for (std::size_t begin = 0; begin < blocks.size(); begin += kBricksAtOnce) {
        const std::size_t count = std::min(kBricksAtOnce, blocks.size() - begin);
        result.bricks.resize((num_bricks + count) * kBrickFloats);
        float* const batch = result.bricks.data() + num_bricks * kBrickFloats;
        parallel_for(count, 2, [&](std::size_t b) {
            smallest[b] = fill_brick(source, frame, blocks[begin + b], batch + b * kBrickFloats);
            progress.advance();
        });
        // close the gaps of those that turned out to be too far away
        for (std::size_t b = 0; b < count; ++b) {
            if (smallest[b] > static_cast<float>(clearance)) continue;
            const float* const from = batch + b * kBrickFloats;
            float* const to = result.bricks.data() + num_bricks * kBrickFloats;
            if (from != to) std::copy(from, from + kBrickFloats, to);
            result.brick_of_block[static_cast<std::size_t>(blocks[begin + b])] =
                static_cast<int>(num_bricks++);
        }
    }
    result.bricks.resize(num_bricks * kBrickFloats);
    return result;
}

}  // namespace pliant::detail
