#pragma once

#include "pliant/geometry/surface_query.h"

#include <optional>
#include <vector>

namespace pliant {

/// A surface to be met along given lines where it faces the same way. Thread-safe.
class PiercedSurface {
public:
    /// Keeps a reference.
    explicit PiercedSurface(const SurfaceQuery& surface);

    /// How far along the unit vector `direction` the nearest such place is, −reach … reach.
    [[nodiscard]] std::optional<double> pierce(const Eigen::Vector3d& x,
                                               const Eigen::Vector3d& direction,
                                               double reach) const noexcept;
    /// The closest point within reach, if the surface faces the same way there.
    [[nodiscard]] std::optional<Eigen::Vector3d> closest(const Eigen::Vector3d& x,
                                                         const Eigen::Vector3d& direction,
                                                         double reach) const noexcept;

private:
    [[nodiscard]] std::optional<double> first_facing(const Eigen::Vector3d& x,
                                                     const Eigen::Vector3d& way,
                                                     const Eigen::Vector3d& direction,
                                                     double reach) const noexcept;
    const SurfaceQuery& surface_;
    std::vector<Eigen::Vector3d> normals_;  // of the triangles
};

/// Gives entries of `values` that are not `is_known` the mean of their known neighbours, ring by
/// ring; returns how many there were. What no known entry reaches stays as it is.
int fill_from_neighbours(const std::vector<std::array<int, 3>>& triangles,
                         std::vector<char> is_known, std::vector<double>& values);

}  // namespace pliant
