#pragma once

#include "pliant/field/distance_field.h"

#include <memory>
#include <vector>

namespace pliant {

/// Fields by formula, docs/field.md eq. (5)–(9), with unit gradients; exact but for what is said
/// below. All throw InputError for sizes that are not positive and finite. Immutable, thread-safe.
using FieldPointer = std::shared_ptr<const DistanceField>;

[[nodiscard]] FieldPointer sphere_field(double radius);  ///< about the origin
[[nodiscard]] FieldPointer box_field(const Eigen::Vector3d& half_sizes);
/// Points within `radius` of the z axis from −half_length to half_length, which may be zero.
[[nodiscard]] FieldPointer capsule_field(double radius, double half_length);
/// The points with n_i · x ≤ offset_i for all i: a convex solid, or a half-space for one plane.
struct FieldPlane {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< outwards; need not have unit length
    double offset = 0;                                  ///< along the unit normal [m]
};
/// Value of the farthest plane: exact inside and over faces, a lower bound over edges and corners.
/// Up to 64 planes; throws InputError for normals of no length and planes that leave no room.
[[nodiscard]] FieldPointer plane_set_field(const std::vector<FieldPlane>& planes);

/// Combinations of any fields; each answer costs all parts. Unions are exact outside and too
/// shallow inside, intersections exact inside and lower bounds outside. Throw InputError for no
/// part, parts that are null, and numbers that are not finite.
[[nodiscard]] FieldPointer unite_fields(std::vector<FieldPointer> parts);
/// Throws InputError for parts whose boxes do not meet.
[[nodiscard]] FieldPointer intersect_fields(std::vector<FieldPointer> parts);
[[nodiscard]] FieldPointer invert_field(FieldPointer solid);  ///< inside and outside exchanged
/// Grows by metres, shrinks if negative. Throws InputError where a grid's box is too small for it.
[[nodiscard]] FieldPointer offset_field(FieldPointer solid, double by);
[[nodiscard]] FieldPointer move_field(FieldPointer solid, const Eigen::Vector3d& position,
                                      const Eigen::Quaterniond& rotation);

}  // namespace pliant
