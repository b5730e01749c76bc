#pragma once

#include "pliant/field/analytic_field.h"

#include <Eigen/Core>
#include <memory>

namespace pliant {

/// A rigid solid by formula, whose contacts with others of its kind are found exactly: few places
/// with the normals of the shapes themselves, in double precision, instead of points on one against
/// the field of the other. A ball rolls on a plane without bumps, a box stands on four corners.
/// Immutable and cheap to copy.
class ContactPrimitive {
public:
    // All throw InputError for sizes that are not positive and finite.

    /// All points with normal · x ≤ offset.
    [[nodiscard]] static ContactPrimitive half_space(
        const Eigen::Vector3d& normal = Eigen::Vector3d::UnitZ(), double offset = 0);
    [[nodiscard]] static ContactPrimitive sphere(double radius);
    /// Along z: the points within `radius` of the segment from −half_length to half_length.
    [[nodiscard]] static ContactPrimitive capsule(double radius, double half_length);
    [[nodiscard]] static ContactPrimitive box(const Eigen::Vector3d& half_sizes);
    /// Triangular prism along y on z = 0, of full sizes, its edge above the middle.
    [[nodiscard]] static ContactPrimitive wedge(const Eigen::Vector3d& sizes);

    /// Its exact distance field.
    [[nodiscard]] const FieldPointer& field() const noexcept { return field_; }

    struct Shape;
    [[nodiscard]] const Shape& shape() const noexcept { return *shape_; }

private:
    ContactPrimitive(std::shared_ptr<const Shape> shape, FieldPointer field);

    std::shared_ptr<const Shape> shape_;
    FieldPointer field_;
};

}  // namespace pliant
