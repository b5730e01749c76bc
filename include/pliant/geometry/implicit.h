#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <functional>
#include <memory>
#include <vector>

namespace pliant {

/// A solid given by a function that is negative inside, together with a box that contains it.
/// |f(x) − f(y)| ≤ lipschitz |x − y| everywhere, so |f| / lipschitz never exceeds the distance to
/// the surface. Immutable and thread-safe; copies share the function.
class Implicit {
public:
    using Function = std::function<double(const Eigen::Vector3d&)>;
    Implicit(Function value, const Box& box, double lipschitz = 1.0);

    [[nodiscard]] double operator()(const Eigen::Vector3d& x) const { return (*value_)(x); }
    [[nodiscard]] const Box& box() const noexcept { return box_; }
    [[nodiscard]] double lipschitz() const noexcept { return lipschitz_; }

private:
    std::shared_ptr<const Function> value_;
    Box box_;
    double lipschitz_;
};

/// Building blocks of the procedural shapes; lengths in metres. Solids and unions are exact
/// distances outside; the others are bounds. Formulas: docs/geometry-shapes.md.
namespace implicit {

[[nodiscard]] Implicit sphere(const Eigen::Vector3d& centre, double radius);
[[nodiscard]] Implicit ellipsoid(const Eigen::Vector3d& centre, const Eigen::Vector3d& radii);
/// Segment a–b with radii `ra` at a and `rb` at b.
[[nodiscard]] Implicit capsule(const Eigen::Vector3d& a, const Eigen::Vector3d& b, double ra,
                               double rb);
[[nodiscard]] Implicit box(const Eigen::Vector3d& low, const Eigen::Vector3d& high,
                           double rounding = 0.0);
[[nodiscard]] Implicit cylinder(const Eigen::Vector3d& a, const Eigen::Vector3d& b, double radius,
                                double rounding = 0.0);
/// Ring in the plane through `centre` with normal `axis`.
[[nodiscard]] Implicit torus(const Eigen::Vector3d& centre, const Eigen::Vector3d& axis,
                             double major_radius, double minor_radius);

/// A point of a sweep's centre line and the radius there.
struct SplinePoint {
    Eigen::Vector3d position;
    double radius;
};
/// Round tube along the Catmull–Rom spline through the points; `segments` straight pieces per span.
[[nodiscard]] Implicit sweep(const std::vector<SplinePoint>& points, bool is_closed = false,
                             int segments = 12);

[[nodiscard]] Implicit unite(const std::vector<Implicit>& parts);
/// Union whose creases are filled over about `blend` metres. Independent of the order of the parts;
/// the value is a convex combination's, so no steeper than the steepest part.
[[nodiscard]] Implicit smooth_unite(const std::vector<Implicit>& parts, double blend);
[[nodiscard]] Implicit intersect(const Implicit& a, const Implicit& b);
/// `from` without `what`; the new edge is rounded over about `blend` metres.
[[nodiscard]] Implicit subtract(const Implicit& from, const Implicit& what, double blend = 0.0);
/// Shell of the given thickness, centred on the surface.
[[nodiscard]] Implicit shell(const Implicit& body, double thickness);
[[nodiscard]] Implicit offset(const Implicit& body, double distance);  ///< grows by `distance`
[[nodiscard]] Implicit translate(const Implicit& body, const Eigen::Vector3d& by);
[[nodiscard]] Implicit rotate(const Implicit& body,
                              const Eigen::Vector3d& rotation_vector);  ///< about the origin
[[nodiscard]] Implicit scale(const Implicit& body, double factor);      ///< about the origin
[[nodiscard]] Implicit mirror(const Implicit& body,
                              int axis);  ///< the body and its image in the plane x_axis = 0
/// `count` copies, each `step` after the one before, the first in place.
[[nodiscard]] Implicit repeat(const Implicit& body, const Eigen::Vector3d& step, int count);
/// `count` copies evenly round the axis through the origin.
[[nodiscard]] Implicit repeat_around(const Implicit& body, int axis, int count);
/// Turns by `radians_per_metre` · x_axis about the axis through the origin; `lipschitz` grows with
/// the distance of the body's box from the axis.
[[nodiscard]] Implicit twist(const Implicit& body, int axis, double radians_per_metre);

}  // namespace implicit
}  // namespace pliant
