#include "contact/point_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pliant {
namespace {

constexpr double kMaxCellsPerSide = 1e6;

struct GridSide {
    double low, cells;
};
GridSide side_of(std::span<const float> values, double cell) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {double{*low}, std::floor((double{*high} - double{*low}) / cell) + 1};
}

}  // namespace

void PointArrays::resize(int count) {
    for (std::vector<float>* values : {&x, &y, &z, &nx, &ny, &nz})
        values->resize(static_cast<std::size_t>(count));
}

void PointArrays::set(int to, const PointArrays& other, int from) noexcept {
    const auto i = static_cast<std::size_t>(to), k = static_cast<std::size_t>(from);
    x[i] = other.x[k];
    y[i] = other.y[k];
    z[i] = other.z[k];
    nx[i] = other.nx[k];
    ny[i] = other.ny[k];
    nz[i] = other.nz[k];
}

void PointArrays::push_back(const PointArrays& other, int from) {
    const auto k = static_cast<std::size_t>(from);
    x.push_back(other.x[k]);
    y.push_back(other.y[k]);
    z.push_back(other.z[k]);
    nx.push_back(other.nx[k]);
    ny.push_back(other.ny[k]);
    nz.push_back(other.nz[k]);
}

PointGrid::PointGrid(std::span<const float> x, std::span<const float> y, std::span<const float> z,
                     double cell)
    : cell_(cell), start_{0} {
    if (x.empty()) return;
    for (const auto& values : {x, y, z}) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        cell_ = std::max(cell_, (double{*high} - double{*low}) / kMaxCellsPerSide);
    }
    // also where all points are one
    cell_ = std::max(cell_, double{std::numeric_limits<float>::min()});

    // one empty cell between rows, so that a step along x never leaves its row
    const GridSide sx = side_of(x, cell_), sy = side_of(y, cell_), sz = side_of(z, cell_);
    row_ = static_cast<std::uint64_t>(sx.cells) + 2;
    layer_ = row_ * (static_cast<std::uint64_t>(sy.cells) + 2);
    const auto along = [&](float value, const GridSide& side) {
        return static_cast<std::uint64_t>((double{value} - side.low) / cell_) + 1;
    };
    std::vector<std::pair<std::uint64_t, int>> sorted(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        sorted[i] = {along(x[i], sx) + row_ * along(y[i], sy) + layer_ * along(z[i], sz),
                     static_cast<int>(i)};
    std::sort(sorted.begin(), sorted.end());

    order_.reserve(sorted.size());
    for (const auto& [key, point] : sorted) {
        if (keys_.empty() || keys_.back() != key) {
            if (!keys_.empty()) start_.push_back(static_cast<int>(order_.size()));
            keys_.push_back(key);
        }
        order_.push_back(point);
    }
    start_.push_back(static_cast<int>(order_.size()));
}

PointGrid::Walk::Walk(const PointGrid& grid, int first_cell) noexcept : grid_(grid) {
    const std::uint64_t key = grid.keys_[static_cast<std::size_t>(first_cell)];
    for (int r = 0; r < 9; ++r) {
        // keys begin at 1 + row + layer: no difference is negative
        const std::uint64_t from = key - 1 - grid.row_ - grid.layer_ +
                                   static_cast<std::uint64_t>(r % 3) * grid.row_ +
                                   static_cast<std::uint64_t>(r / 3) * grid.layer_;
        const auto at = std::lower_bound(grid.keys_.begin(), grid.keys_.end(), from);
        first_[static_cast<std::size_t>(r)] = static_cast<int>(at - grid.keys_.begin());
    }
}

const std::array<PlaceRange, 9>& PointGrid::Walk::around(int cell) noexcept {
    const std::uint64_t key = grid_.keys_[static_cast<std::size_t>(cell)];
    const std::size_t num_cells = grid_.keys_.size();
    for (std::size_t r = 0; r < 9; ++r) {
        const std::uint64_t from =
            key - 1 - grid_.row_ - grid_.layer_ + r % 3 * grid_.row_ + r / 3 * grid_.layer_;
        auto begin = static_cast<std::size_t>(first_[r]);
        while (begin < num_cells && grid_.keys_[begin] < from) ++begin;
        first_[r] = static_cast<int>(begin);
        std::size_t end = begin;
        while (end < num_cells && grid_.keys_[end] <= from + 2) ++end;
        rows_[r] = {grid_.start_[begin], grid_.start_[end]};
    }
    return rows_;
}

}  // namespace pliant
