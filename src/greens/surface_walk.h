#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

#include "pliant/geometry/surface_mesh.h"

namespace pliant {

/// Straight ways over a triangle mesh, which unfold at its edges, docs/greens.md eq. (E9). The mesh
/// must outlive it. Immutable; nothing marked noexcept allocates.
class SurfaceWalk {
public:
    struct Facet {
        std::array<Eigen::Vector3d, 3> gradients;  ///< of the barycentric coordinates
        Eigen::Vector3d normal;
        std::array<int, 3> neighbours;  ///< across the side opposite to each corner; −1: border
    };
    struct Place {
        int triangle;
        Eigen::Vector3d barycentric;
    };

    explicit SurfaceWalk(const SurfaceMesh& mesh);
    [[nodiscard]] const Facet& facet(int triangle) const noexcept {
        return facets_[static_cast<std::size_t>(triangle)];
    }
    /// Where a way of the length of `step` ends that begins along it; stays where it is if `step`
    /// is along the normal. Over 32 edges at most.
    [[nodiscard]] Place walk(Place place, const Eigen::Vector3d& step) const noexcept;

private:
    const SurfaceMesh& mesh_;
    std::vector<Facet> facets_;
};

}  // namespace pliant
