#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <Eigen/Geometry>
#include <limits>
#include <memory>

namespace pliant {

/// Where a point stands to a solid.
struct ShapeSample {
    double gap = std::numeric_limits<double>::infinity();  ///< signed distance [m], negative inside
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();     ///< unit gradient of the gap, outwards
};

/// A solid in its own frame. Immutable and cheap to copy; queries allocate nothing.
class RigidShape {
public:
    // All throw InputError for sizes that are not positive and finite.

    /// All points with normal · x ≤ offset; the normal need not have unit length.
    [[nodiscard]] static RigidShape half_space(
        const Eigen::Vector3d& normal = Eigen::Vector3d::UnitZ(), double offset = 0);
    [[nodiscard]] static RigidShape sphere(double radius);
    /// Along z: the points within `radius` of the segment from −half_length to half_length, which
    /// may be zero.
    [[nodiscard]] static RigidShape capsule(double radius, double half_length);
    [[nodiscard]] static RigidShape box(const Eigen::Vector3d& half_sizes);
    /// By closest-point queries: a closed surface, or a soup of closed parts whose inside is where
    /// the winding number says. Throws InputError for a surface that is open or inside out.
    [[nodiscard]] static RigidShape mesh(SurfaceMesh surface);

    /// Gap and normal at `x_body`. Beyond `radius` from the surface the gap may be infinite; it is
    /// for a point that is not finite. Where the nearest point is not unique, the lowest triangle
    /// or axis counts, of opposite sides the positive one; z at the centre of a sphere, x on the
    /// axis of a capsule.
    [[nodiscard]] ShapeSample sample(
        const Eigen::Vector3d& x_body,
        double radius = std::numeric_limits<double>::infinity()) const noexcept;
    /// Box around the solid; infinite for a half-space.
    [[nodiscard]] const Eigen::AlignedBox3d& bounds() const noexcept { return bounds_; }

private:
    struct Impl;
    RigidShape(std::shared_ptr<const Impl> impl, const Eigen::AlignedBox3d& bounds);

    std::shared_ptr<const Impl> impl_;
    Eigen::AlignedBox3d bounds_;
};

}  // namespace pliant
