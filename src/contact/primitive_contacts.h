#pragma once

#include "pliant/contact/contact_primitive.h"
#include "pliant/core/pose.h"

#include <array>
#include <span>
#include <vector>

namespace pliant {

/// A half-space, the points within a radius of a segment along z, or a convex solid between planes.
struct ContactPrimitive::Shape {
    enum class Kind { HalfSpace, Capsule, Polyhedron };
    /// Of a half-space or a polyhedron: n · x ≤ offset.
    struct Face {
        Eigen::Vector3d normal;
        double offset = 0;
        std::vector<int> corners;  ///< of a polyhedron, anticlockwise from outside
    };
    struct Edge {
        int from = 0, to = 0;  ///< corners
        int direction = 0;
    };
    static constexpr int kMostCorners = 8, kMostFaces = 6;

    Kind kind = Kind::HalfSpace;
    double radius = 0, half_length = 0;  ///< of a capsule
    std::vector<Face> faces;
    // of a polyhedron
    std::vector<Eigen::Vector3d> corners, directions;
    std::vector<Edge> edges;
    double size = 0;  ///< least width [m]
};

/// One place where two primitives are inside each other.
struct PrimitiveContact {
    Eigen::Vector3d p;    ///< in the middle between both surfaces, world [m]
    Eigen::Vector3d n;    ///< unit, out of b: pushes a away from it
    double distance = 0;  ///< between the surfaces along n, < 0 [m]
    double share = 1;     ///< of a face that four corners carry
    /// The same in the next tick if the same parts touch; −1: places tell.
    int feature = -1;
};
inline constexpr int kMostPrimitiveContacts = 8;

/// All places where a and b touch, at most kMostPrimitiveContacts; their number. The same bits for
/// the same poses; allocates nothing.
[[nodiscard]] int primitive_contacts(
    const ContactPrimitive::Shape& a, const Pose& pose_a, const ContactPrimitive::Shape& b,
    const Pose& pose_b, std::span<PrimitiveContact, kMostPrimitiveContacts> found) noexcept;

}  // namespace pliant
