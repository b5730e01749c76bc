#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <array>
#include <functional>

namespace pliant {

/// Moves the vertices of a triangulation along the surface they lie on.
class SurfaceSpread {
public:
    /// Gives the place on the surface for a point near it; `normal` is that of the triangulation,
    /// `reach` about two of its edges. Called from several threads.
    using Pull = std::function<Eigen::Vector3d(const Eigen::Vector3d& x,
                                               const Eigen::Vector3d& normal, double reach)>;

    /// Keeps references; `is_pinned` may be longer than `x`.
    SurfaceSpread(const std::vector<Triangle>& triangles, const std::vector<char>& is_pinned,
                  std::vector<Eigen::Vector3d>& x);
    /// From now on vertices on ridges and tips of the triangulation stay there.
    void keep_ridges() noexcept { keeps_ridges_ = true; }

    /// Every vertex goes towards the middle of its triangles, weighted by their areas to the power
    /// `evenness`, and back to the surface, docs/geometry-subdivision.md eq. (10). Pinned ones are
    /// only pulled.
    void round(double evenness, const Pull& pull);
    /// Pulls the vertices from `first` on.
    void pull(std::size_t first, const Pull& pull);

private:
    struct Fan {
        Eigen::Vector3d normal, middle;
        double size;      // about two edges
        double flatness;  // 0 … 1
    };
    void take_normals(double evenness);
    [[nodiscard]] Fan fan_of(std::size_t v) const;

    const std::vector<Triangle>& triangles_;
    const std::vector<char>& is_pinned_;
    std::vector<Eigen::Vector3d>& x_;
    std::vector<int> start_, triangles_at_;  // around each vertex
    std::vector<Eigen::Vector3d> next_, normal_;
    std::vector<double> weight_;
    bool keeps_ridges_ = false;
};

/// Place of a new vertex between its eight neighbours by the butterfly's weights.
[[nodiscard]] Eigen::Vector3d butterfly_point(const std::vector<Eigen::Vector3d>& x,
                                              const std::array<int, 8>& near);

}  // namespace pliant
