#pragma once

#include "contact/visit_kernels.h"
#include "pliant/reduction/surface_shapes.h"
#include "reduction/aligned_array.h"

namespace pliant {

/// Triangles below each other in spheres that hold them however the surface deforms,
/// docs/contact-moving.md eq. (2). Leaves have up to kLeaf triangles, other nodes up to kChildren
/// children, side by side in the next level. Immutable.
class SphereTree {
public:
    static constexpr int kLeaf = 8, kChildren = 4;

    /// `shapes`: how vertices move; null: not at all.
    SphereTree(const SurfaceMesh& mesh, const SurfaceShapes* shapes);

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int num_levels() const noexcept {
        return static_cast<int>(level_start_.size()) - 1;
    }
    [[nodiscard]] int level_start(int level) const noexcept {
        return level_start_[static_cast<std::size_t>(level)];
    }
    [[nodiscard]] int level_size(int level) const noexcept {
        return level_start(level + 1) - level_start(level);
    }
    [[nodiscard]] int num_nodes() const noexcept { return level_start_.back(); }
    /// Numbers of triangles; leaf i of the last level has [kLeaf i, kLeaf (i + 1)).
    [[nodiscard]] const std::vector<int>& order() const noexcept { return order_; }
    [[nodiscard]] VisitRows rows() const noexcept {
        return {rows_.data(), stride_, rank_, euclidean_.data(), 1};
    }
    [[nodiscard]] int stride() const noexcept { return stride_; }
    /// m_j: no vertex moves more than Σ_j m_j |Δq_j|, and none is farther than this from the origin
    /// at rest.
    [[nodiscard]] const std::vector<double>& reach() const noexcept { return reach_; }
    [[nodiscard]] double extent() const noexcept { return extent_; }

private:
    int rank_, stride_;
    std::vector<int> order_, level_start_;
    AlignedArray<float> rows_;
    std::vector<float> euclidean_;
    std::vector<double> reach_;
    double extent_ = 0;
};

}  // namespace pliant
