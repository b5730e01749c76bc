#pragma once

#include <cstddef>

/// Look-ups in distance grids, several points at a time, compiled for each instruction set;
/// docs/field.md eq. (1)–(3).
///
/// A point reads 12 bytes of its own, four pairs of values by 64-bit gathers (32 bytes, on four to
/// eight cache lines) and, in sparse grids, a brick number (4 bytes); it takes 7 interpolations for
/// the value and 7 more for the gradient. Eight loads, or nine, are 1.2 ns on two load ports at
/// 3.7 GHz. Measured (16 lanes, 128³, warm): 2.8 to 3.9 ns dense and 4.4 to 4.7 sparse, with
/// gradient 3.3 to 4.8 and 5.1; gathers, which take about twice as long as the loads they stand
/// for, account for most of the difference. One point alone keeps its three axes in the lanes: 11
/// to 14 ns dense, 13 to 15 sparse, a third of it calls.
namespace pliant {

inline constexpr int kBrickStride = 736;  ///< floats from brick to brick

/// What the kernels need of a grid; arrays as in GridArrays.
struct GridView {
    const float* coarse = nullptr;
    const int* brick_of_block = nullptr;  ///< null: dense
    const float* bricks = nullptr;
    int row = 0, rows = 0;     ///< vertices of `coarse` along x and y
    std::ptrdiff_t slice = 0;  ///< row · rows
    float scale = 0;           ///< 1 / cell [1/m]
    // by axis, the last one twice
    float offset[4] = {};  ///< −low / cell
    float end[4] = {};     ///< cells
    int last[4] = {};      ///< cells − 1
    /// Grid coordinates carry rounding errors; points this near to the box are inside [cells].
    float slack = 0;
    float cell = 0, boundary = 0;  ///< of the bound outside, rounded down [m]
};

/// Points and answers, components apart. Gradients are per metre.
struct GridPoints {
    const float *x, *y, *z;
    int count;
};
struct GridAnswers {
    float *distance, *gx, *gy, *gz;
};

void grid_distances(const GridView& grid, const GridPoints& points, float* distance) noexcept;
void grid_samples(const GridView& grid, const GridPoints& points,
                  const GridAnswers& answers) noexcept;

}  // namespace pliant
