#include "field/grid_margin.h"

#include "field/grid_bricks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

/// Margin of the interpolation in fine cells, and what rounding adds to it.
double cell_margin(const GridArrays& a) {
    const auto [low, high] = std::minmax_element(a.coarse.begin(), a.coarse.end());
    const double size = std::max(std::abs(double{*low}), std::abs(double{*high})) +
                        a.frame.box().sizes().sum() + a.frame.low.lpNorm<1>();
    return kConeExcess * a.frame.cell + 16 * double{std::numeric_limits<float>::epsilon()} * size;
}

float float_above(double value) {
    return std::nextafter(static_cast<float>(value), std::numeric_limits<float>::infinity());
}

}  // namespace

double block_excess(double band) {
    // A mean of ways to the corners is at most √(r² + variance), and r at least the band and the
    // depth of the point in the block, where depth and variance belong to (t, ½, ½).
    constexpr int kSteps = 512;
    double largest = 0;
    for (int step = 0; step <= kSteps; ++step) {
        const double t = 0.5 * step / kSteps, r = band + kBlockCells * t;
        const double variance = kBlockCells * kBlockCells * (0.5 + t * (1 - t));
        largest = std::max(largest, std::sqrt(r * r + variance) - r);
    }
    return largest * (1 + 1e-4);  // for what lies between the steps
}

CullingMargin dense_margin(const GridArrays& arrays) {
    CullingMargin margin;
    margin.near = margin.far = float_above(cell_margin(arrays));
    return margin;
}

CullingMargin sparse_margin(const GridArrays& arrays, double band) {
    const double h = arrays.frame.cell, near = cell_margin(arrays);
    CullingMargin margin;
    margin.near = float_above(near);
    margin.far = float_above(near + h * block_excess(band / h));
    // values of points outside the box, which begin with `boundary`, always get the larger one
    margin.band = static_cast<float>(std::min(band, double{arrays.boundary}));
    return margin;
}

}  // namespace pliant
