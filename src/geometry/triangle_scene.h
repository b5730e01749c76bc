#pragma once

#include "pliant/geometry/surface_query.h"

namespace pliant::detail {

/// The triangles of a surface in an Embree hierarchy. Embree walks single-precision boxes in a
/// frame where the surface fills [−1, 1]³; boxes and search radii are widened by more than its
/// rounding, and every triangle it meets is measured in double, in metres. So results are those of
/// a loop over all triangles, bit by bit, whatever the order of the walk. Queries are thread-safe
/// and allocate nothing.
class TriangleScene {
public:
    explicit TriangleScene(const SurfaceMesh& mesh);
    ~TriangleScene();
    TriangleScene(const TriangleScene&) = delete;
    TriangleScene& operator=(const TriangleScene&) = delete;

    /// Same triangles, vertices moved: refits the boxes.
    void update(const SurfaceMesh& mesh);

    [[nodiscard]] ClosestPoint closest(const Eigen::Vector3d& x, double radius) const noexcept;
    [[nodiscard]] std::optional<RayHit> ray(const Eigen::Vector3d& origin,
                                            const Eigen::Vector3d& direction,
                                            double t_max) const noexcept;
    /// Winding number, counted along the line from `x` towards +x; for surfaces without border.
    [[nodiscard]] int count_winding(const Eigen::Vector3d& x) const noexcept;
    /// A triangle that the line passes, and what it adds to the winding number.
    struct Passage {
        int triangle, turns;
    };
    /// All of them on that line, in no special order; clears `out` first.
    void passages(const Eigen::Vector3d& x, std::vector<Passage>& out) const;
    [[nodiscard]] int overlapping(const Eigen::Vector3d& centre, double radius,
                                  std::span<int> out) const noexcept;

private:
    int walk_line(const Eigen::Vector3d& x, std::vector<Passage>* passages) const;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant::detail
