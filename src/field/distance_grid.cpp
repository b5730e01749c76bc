#include "pliant/field/distance_grid.h"

#include "field/grid_kernels.h"
#include "field/grid_margin.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace pliant {
namespace {

static_assert(kBrickStride == kBrickFloats);

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
/// Look-ups count vertices with 32 bits.
constexpr std::size_t kMaxFloats = 2147483647;

std::size_t product(int a, int b, int c) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
}
std::size_t num_vertices(const std::array<int, 3>& cells) {
    return product(cells[0] + 1, cells[1] + 1, cells[2] + 1);
}

void check_frame(const GridFrame& frame) {
    if (!frame.low.allFinite() || !(frame.low.cwiseAbs().maxCoeff() <= 1e9))
        throw InputError("", "frame.low", "not within 10⁹ m", "the lowest corner of a box");
    if (!(frame.cell >= 1e-9 && frame.cell <= 1e9))
        throw InputError("", "frame.cell", std::to_string(frame.cell), "1e-9 to 1e9 m");
    for (const int n : frame.cells)
        if (n < 8 || n > kMaxGridCells || n % 8 != 0)
            throw InputError("", "frame.cells", std::to_string(n),
                             "a multiple of 8, 8 to " + std::to_string(kMaxGridCells));
}

void check_count(const char* field, std::size_t count) {
    if (count > kMaxFloats)
        throw InputError("", std::string(field) + ", length", std::to_string(count),
                         "at most 2147483647; use larger cells");
}

void check_size(const char* field, std::size_t size, std::size_t expected) {
    if (size != expected)
        throw InputError("", std::string(field) + ", length", std::to_string(size),
                         std::to_string(expected) + " for this frame");
    check_count(field, size);
}

void check_finite(const char* field, std::span<const float> values) {
    // one test for many values: these loops see every byte of a file
    constexpr float kLargest = std::numeric_limits<float>::max();
    constexpr std::size_t kScanned = 4096;
    for (std::size_t begin = 0; begin < values.size(); begin += kScanned) {
        const std::size_t end = std::min(begin + kScanned, values.size());
        int num_bad = 0;
        for (std::size_t i = begin; i < end; ++i) num_bad += !(std::fabs(values[i]) <= kLargest);
        if (num_bad == 0) continue;
        while (std::fabs(values[begin]) <= kLargest) ++begin;
        throw InputError("", std::string(field) + "[" + std::to_string(begin) + "]",
                         std::to_string(values[begin]), "a finite distance");
    }
}

void check_bricks(const GridArrays& a) {
    const auto& n = a.frame.cells;
    check_size("brick_of_block", a.brick_of_block.size(), product(n[0] / 8, n[1] / 8, n[2] / 8));
    if (a.bricks.size() % kBrickFloats != 0)
        throw InputError("", "bricks, length", std::to_string(a.bricks.size()),
                         "a multiple of " + std::to_string(kBrickFloats));
    check_count("bricks", a.bricks.size());
    const int num_bricks = static_cast<int>(a.bricks.size() / kBrickFloats);
    for (std::size_t i = 0; i < a.brick_of_block.size(); ++i)
        if (a.brick_of_block[i] < -1 || a.brick_of_block[i] >= num_bricks)
            throw InputError("", "brick_of_block[" + std::to_string(i) + "]",
                             std::to_string(a.brick_of_block[i]),
                             "-1 … " + std::to_string(num_bricks - 1));
    check_finite("bricks", a.bricks);
}

void check(const GridArrays& a) {
    check_frame(a.frame);
    const auto& n = a.frame.cells;
    if (a.storage == GridStorage::Dense) {
        check_size("coarse", a.coarse.size(), num_vertices(n));
        if (!a.brick_of_block.empty() || !a.bricks.empty())
            throw InputError("", "bricks, length", std::to_string(a.bricks.size()),
                             "0 for dense storage");
    } else {
        check_size("coarse", a.coarse.size(), num_vertices({n[0] / 8, n[1] / 8, n[2] / 8}));
        check_bricks(a);
    }
    check_finite("coarse", a.coarse);
    if (!std::isfinite(a.boundary))
        throw InputError("", "boundary", std::to_string(a.boundary), "a finite distance");
    if (!(a.margin.near >= 0 && std::isfinite(a.margin.near)) ||
        !(a.margin.far >= a.margin.near && std::isfinite(a.margin.far)) ||
        std::isnan(a.margin.band))
        throw InputError("", "margin",
                         std::to_string(a.margin.near) + ", " + std::to_string(a.margin.far) +
                             ", band " + std::to_string(a.margin.band),
                         "0 ≤ near ≤ far, finite, and a band");
}

GridView make_view(const GridArrays& a) {
    GridView view;
    view.coarse = a.coarse.data();
    if (a.storage == GridStorage::Sparse) {
        view.brick_of_block = a.brick_of_block.data();
        view.bricks = a.bricks.data();
    }
    const int step = a.storage == GridStorage::Sparse ? 8 : 1;
    view.row = a.frame.cells[0] / step + 1;
    view.rows = a.frame.cells[1] / step + 1;
    view.slice = std::ptrdiff_t{view.row} * view.rows;
    view.scale = static_cast<float>(1 / a.frame.cell);
    double reach = 0;
    for (int axis = 0; axis < 4; ++axis) {
        const int n = a.frame.cells[static_cast<std::size_t>(std::min(axis, 2))];
        const double offset = -a.frame.low[std::min(axis, 2)] / a.frame.cell;
        view.offset[axis] = static_cast<float>(offset);
        view.end[axis] = static_cast<float>(n);
        view.last[axis] = n - 1;
        reach = std::max(reach, n + std::abs(offset));
    }
    // coordinates are wrong by less than half of this; the bound outside stays one in spite of it
    view.slack = static_cast<float>(8 * double{kEpsilon} * reach);
    view.cell = static_cast<float>(a.frame.cell * (1 - 16 * double{kEpsilon}));
    view.boundary = static_cast<float>(double{a.boundary} - view.slack * a.frame.cell -
                                       kEpsilon * std::abs(double{a.boundary}));
    return view;
}

}  // namespace

Box GridFrame::box() const {
    return {low, low + cell * Eigen::Vector3d(cells[0], cells[1], cells[2])};
}

Eigen::Vector3d GridFrame::vertex(int i, int j, int k) const {
    return low + cell * Eigen::Vector3d(i, j, k);
}

DistanceGrid::DistanceGrid(const GridArrays& arrays, std::shared_ptr<const void> owner)
    : arrays_(arrays), owner_(std::move(owner)) {
    check(arrays_);
    view_ = std::make_shared<const GridView>(make_view(arrays_));
    box_ = arrays_.frame.box();
}

DistanceGrid DistanceGrid::dense(const GridFrame& frame, std::vector<float> values,
                                 float boundary) {
    const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
    GridArrays arrays;
    arrays.frame = frame;
    arrays.storage = GridStorage::Dense;
    arrays.coarse = *owner;
    arrays.boundary = boundary;
    DistanceGrid grid(arrays, owner);
    grid.arrays_.margin = dense_margin(arrays);
    return grid;
}

DistanceGrid DistanceGrid::with_margin(const CullingMargin& margin) const {
    DistanceGrid copy = *this;
    copy.arrays_.margin = margin;
    return copy;
}

std::size_t DistanceGrid::memory() const noexcept {
    return arrays_.coarse.size_bytes() + arrays_.brick_of_block.size_bytes() +
           arrays_.bricks.size_bytes();
}

int DistanceGrid::num_bricks() const noexcept {
    return static_cast<int>(arrays_.bricks.size() / kBrickFloats);
}

void DistanceGrid::distances(const PointBatch& points, float* distance) const noexcept {
    grid_distances(*view_, {points.x, points.y, points.z, points.count}, distance);
}

void DistanceGrid::samples(const PointBatch& points, const SampleBatch& samples) const noexcept {
    grid_samples(*view_, {points.x, points.y, points.z, points.count},
                 {samples.distance, samples.gx, samples.gy, samples.gz});
}

}  // namespace pliant
