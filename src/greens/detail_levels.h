#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <array>
#include <span>
#include <vector>

namespace pliant {

/// Levels of a surface whose triangles were split in four some times, from the finest alone:
/// children of triangle t are 4t … 4t + 3, as in SemiRegularMesh.
class DetailLevels {
public:
    DetailLevels(std::vector<Triangle> finest, int rounds);

    [[nodiscard]] int num_levels() const noexcept { return rounds_; }  ///< L: the finest one
    [[nodiscard]] int num_vertices(int level) const noexcept {
        return num_vertices_[static_cast<std::size_t>(level)];
    }
    /// Edges of this level as they run over the finest: each in 2^(L − level) pieces, once.
    [[nodiscard]] std::vector<std::array<int, 2>> edges(int level) const;
    /// Puts the vertices of finer levels into the middles of their edges: what is drawn then is the
    /// mesh of this level. Three numbers each.
    void flatten(std::span<float> x, int level) const noexcept;

private:
    [[nodiscard]] Triangle triangle(int level, int t) const noexcept;

    std::vector<Triangle> finest_;
    int rounds_;
    std::vector<int> num_vertices_;            // of each level
    std::vector<std::array<int, 2>> parents_;  // of vertices from num_vertices_[0] on
};

}  // namespace pliant
