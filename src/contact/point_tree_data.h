#pragma once

#include "pliant/contact/point_tree.h"
#include "reduction/aligned_array.h"

#include <optional>

namespace pliant {

/// Largest coordinate, entry of a mode or normal: products of such numbers stay finite.
inline constexpr float kLargestPointEntry = 1e15F;

[[nodiscard]] constexpr int point_row_stride(int r) noexcept {
    return r == 0 ? 4 : (4 * (r + 1) + 15) / 16 * 16;
}

struct PointTreeData {
    Pointshell shell;
    int r = 0;
    std::vector<PointTree::Node> nodes;
    std::vector<int> level_start;  // of nodes
    // either of these, or of the file
    std::optional<AlignedArray<float>> own_rows, own_normal_rows;
    std::optional<Archive> archive;
    const float* rows = nullptr;
    const float* normal_rows = nullptr;
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double radius = 0;
    std::vector<double> reach;

    [[nodiscard]] std::size_t stride() const noexcept {
        return static_cast<std::size_t>(point_row_stride(r));
    }
    [[nodiscard]] const float* row(int node) const noexcept {
        return rows + static_cast<std::size_t>(node) * stride();
    }
    /// Centre, radius and reach from shell and rows.
    void measure();
};

}  // namespace pliant
