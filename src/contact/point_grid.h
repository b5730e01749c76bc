#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

/// Points with unit directions, components apart.
struct PointArrays {
    std::vector<float> x, y, z;     ///< [m]
    std::vector<float> nx, ny, nz;  ///< outwards

    [[nodiscard]] int size() const noexcept { return static_cast<int>(x.size()); }
    void resize(int count);
    /// Copies point `from` of `other` to place `to`.
    void set(int to, const PointArrays& other, int from) noexcept;
    void push_back(const PointArrays& other, int from);
};

/// Places begin … end − 1 of a sorted list.
struct PlaceRange {
    int begin = 0, end = 0;
};

/// Points sorted by the cubic cell they lie in, x fastest, so that three cells in a row are one
/// range of places. Points of a cell keep their order. Nothing is stored for empty cells.
class PointGrid {
public:
    /// The 27 cells around a cell hold every point within `cell` of its points. Cells are larger
    /// than asked for where a side would have more than a million.
    PointGrid(std::span<const float> x, std::span<const float> y, std::span<const float> z,
              double cell);

    [[nodiscard]] int num_cells() const noexcept { return static_cast<int>(keys_.size()); }
    [[nodiscard]] double cell_size() const noexcept { return cell_; }
    [[nodiscard]] PlaceRange places(int cell) const noexcept {
        return {start_[static_cast<std::size_t>(cell)], start_[static_cast<std::size_t>(cell) + 1]};
    }
    /// The point at each place.
    [[nodiscard]] const std::vector<int>& order() const noexcept { return order_; }

    /// Places in the cells around each of several cells, taken in ascending order.
    class Walk {
    public:
        Walk(const PointGrid& grid, int first_cell) noexcept;
        [[nodiscard]] const std::array<PlaceRange, 9>& around(int cell) noexcept;

    private:
        const PointGrid& grid_;
        std::array<int, 9> first_{};  // cell where each row of three begins
        std::array<PlaceRange, 9> rows_{};
    };

private:
    double cell_;
    std::uint64_t row_ = 1, layer_ = 1;  // from a cell to the next one along y and z
    std::vector<std::uint64_t> keys_;    // of occupied cells, ascending
    std::vector<int> start_, order_;
};

}  // namespace pliant
