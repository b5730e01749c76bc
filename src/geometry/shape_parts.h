#pragma once

#include "pliant/geometry/implicit.h"
#include "pliant/geometry/subdivision.h"

#include <optional>
#include <string>

namespace pliant::shape_parts {

using Eigen::Vector3d;

/// Point of the body's surface near x, by Newton steps along the gradient.
[[nodiscard]] Vector3d on_surface(const Implicit& body, Vector3d x);
/// Round tube that follows the surface of `body` below the given points, sunk in to half its width.
[[nodiscard]] Implicit vein(const Implicit& body, const std::vector<implicit::SplinePoint>& points);
/// The body with one coordinate multiplied by `factor` ≤ 1; values stay lower bounds of distances.
[[nodiscard]] Implicit squashed(const Implicit& body, int axis, double factor);
/// Fin of `rays` cones that fan out from the line a0–a1 to the line b0–b1, joined by a membrane.
struct FanEnds {
    Vector3d root0, root1, tip0, tip1;
};
[[nodiscard]] Implicit fan(const FanEnds& ends, int rays, double root_radius, double tip_radius);
/// Points on the smooth curve through `points`, `segments` per span.
[[nodiscard]] std::vector<Vector3d> smooth_curve(const std::vector<Vector3d>& points, int segments,
                                                 bool closed = false);

/// Collects closed bars that may overlap.
class BarMesh {
public:
    /// Straight bar of rectangular section; `width` across the direction and z, `height` upwards.
    void beam(const Vector3d& a, const Vector3d& b, double width, double height);
    void round(const Vector3d& a, const Vector3d& b, double radius, int sides);
    /// Round bar along a polyline, with flat ends unless closed.
    void tube(const std::vector<Vector3d>& line, double radius, int sides, bool closed = false);
    void box(const Vector3d& low, const Vector3d& high);
    [[nodiscard]] SurfaceMesh take() { return std::move(mesh_); }

private:
    SurfaceMesh mesh_;
};

/// Surface of an axis-aligned box as a closed grid with `cells` squares along its longest side.
[[nodiscard]] SurfaceMesh grid_box(const Vector3d& low, const Vector3d& high, int cells);

// Soups; `resolution` is the number of sides of the thickest round bars.
[[nodiscard]] SurfaceMesh bridge(int resolution);
[[nodiscard]] SurfaceMesh tower(int resolution);
[[nodiscard]] SurfaceMesh basket(int resolution);

// Bodies, at any place and size unless said otherwise.
[[nodiscard]] Implicit spoon();
[[nodiscard]] Implicit chair();
[[nodiscard]] Implicit bracket();  ///< as built, in the frame of `hoses`
[[nodiscard]] Implicit hoses();    ///< as built
[[nodiscard]] Implicit peg();      ///< as built: on the axis of `hole`
[[nodiscard]] Implicit hole();     ///< as built
/// Points of the centre line of `alpha_tube`; the third and the third from the end are the two
/// passages of the crossing.
[[nodiscard]] std::vector<Eigen::Vector3d> alpha_line(bool second);
/// As built: the two tubes in their linked starting pose.
[[nodiscard]] Implicit alpha_tube(bool second);
[[nodiscard]] Implicit axe();
[[nodiscard]] Implicit heart();
[[nodiscard]] Implicit fish();
[[nodiscard]] Implicit hand();
[[nodiscard]] Implicit creature();
[[nodiscard]] Implicit serpent();
[[nodiscard]] Implicit figure(bool with_axe);

/// What a subdivision surface is made from, at any size.
struct ControlMesh {
    SurfaceMesh mesh;
    SubdivisionRules rules;
    int levels = 0;  ///< of the published model
    /// Where it is held: a selection that leaves the published number of vertices free.
    std::string (*support)(const SemiRegularMesh& mesh) = nullptr;
    /// With a skin the vertices of all levels lie on its surface, spread evenly, instead of on
    /// Loop's: see skin.h.
    std::optional<Implicit> skin = {};
    std::vector<int> pinned = {};  ///< control vertices that keep their place on the skin
    double evenness = 1;           ///< of areas against angles, 0 … 1
    int rounds = 200;              ///< of relaxation on the coarsest level
};
/// `list` of the vertices of the triangles first … last − 1, for `support`.
[[nodiscard]] std::string listed_corners(const SemiRegularMesh& mesh, std::size_t first,
                                         std::size_t last);
[[nodiscard]] std::string listed_vertices(const std::vector<int>& vertices);  ///< of a selection
[[nodiscard]] ControlMesh nodule();
[[nodiscard]] ControlMesh kidney();
[[nodiscard]] ControlMesh spatula();
[[nodiscard]] ControlMesh banana_seat();
// These have skins.
[[nodiscard]] ControlMesh rabbit();
[[nodiscard]] ControlMesh finger();
[[nodiscard]] ControlMesh serpent_ring();
[[nodiscard]] ControlMesh toy();

}  // namespace pliant::shape_parts
