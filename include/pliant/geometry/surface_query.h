#pragma once

#include "pliant/geometry/surface_mesh.h"

#include <limits>
#include <memory>
#include <optional>
#include <span>

namespace pliant {

enum class Feature { Face, Edge, Vertex };

/// The point of a surface nearest to a query point.
struct ClosestPoint {
    double distance = std::numeric_limits<double>::infinity();  ///< [m], unsigned
    Eigen::Vector3d point = Eigen::Vector3d::Zero();
    int triangle = -1;  ///< −1: nothing within the search radius
    Eigen::Vector3d barycentric = Eigen::Vector3d::Zero();
    Feature feature = Feature::Face;
    int feature_index = 0;  ///< edge: side 0…2 of the triangle; vertex: corner 0…2
};

struct RayHit {
    double t = 0;  ///< origin + t · direction
    int triangle = -1;
    Eigen::Vector3d barycentric = Eigen::Vector3d::Zero();
};

/// How the sign of a distance is decided.
enum class SignMethod {
    PseudoNormal,   ///< closed, consistently oriented meshes; exact
    WindingNumber,  ///< soups, open and overlapping meshes: inside where the winding number exceeds
                    ///< 1/2
};

/// Closest-point, ray and overlap queries on one surface. Traversal by Embree in single precision
/// with widened bounds; every candidate triangle is measured in double. Queries are thread-safe;
/// `refit` is not.
class SurfaceQuery {
public:
    /// Keeps its own copy of the mesh. Chooses PseudoNormal for closed meshes whose parts do not
    /// overlap and WindingNumber otherwise. Throws InputError for invalid indices and for vertices
    /// that are not finite or beyond 1e30.
    explicit SurfaceQuery(SurfaceMesh mesh);
    SurfaceQuery(SurfaceMesh mesh, SignMethod sign);
    ~SurfaceQuery();
    SurfaceQuery(SurfaceQuery&&) noexcept;
    SurfaceQuery& operator=(SurfaceQuery&&) noexcept;

    [[nodiscard]] const SurfaceMesh& mesh() const noexcept;
    [[nodiscard]] SignMethod sign_method() const noexcept;

    /// Within `radius`; `triangle` is −1 if there is none, also for points that are not finite. Of
    /// equally near triangles the lowest index. Allocates nothing, like all queries marked
    /// noexcept.
    [[nodiscard]] ClosestPoint closest(
        const Eigen::Vector3d& x,
        double radius = std::numeric_limits<double>::infinity()) const noexcept;
    /// Negative inside. +infinity when nothing is within `radius`.
    [[nodiscard]] double signed_distance(
        const Eigen::Vector3d& x,
        double radius = std::numeric_limits<double>::infinity()) const noexcept;
    /// On the surface itself: false.
    [[nodiscard]] bool is_inside(const Eigen::Vector3d& x) const noexcept;
    /// Solid angle of the surface seen from `x` over 4π; 1 inside and 0 outside a closed mesh.
    /// Within 1e-3; docs/geometry.md eq. (3). The first call may build what the later ones use.
    [[nodiscard]] double winding_number(const Eigen::Vector3d& x) const;

    /// First hit with t in [0, t_max]. Both sides of a triangle count.
    [[nodiscard]] std::optional<RayHit> ray(
        const Eigen::Vector3d& origin, const Eigen::Vector3d& direction,
        double t_max = std::numeric_limits<double>::infinity()) const noexcept;
    /// First hit on the way from a to b, t in [0, 1].
    [[nodiscard]] std::optional<RayHit> segment(const Eigen::Vector3d& a,
                                                const Eigen::Vector3d& b) const noexcept;
    /// Triangles that come within `radius` of `centre`: fills `out` with the lowest indices,
    /// ascending, and returns how many there are in all, which may be more than fit.
    [[nodiscard]] int overlapping(const Eigen::Vector3d& centre, double radius,
                                  std::span<int> out) const noexcept;

    /// Moves the vertices and updates the hierarchy in place (no rebuild): for deforming meshes.
    /// The sign method stays. Throws InputError for another number of vertices or bad ones.
    void refit(const std::vector<Eigen::Vector3d>& vertices);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Nearest point of one triangle, with its feature. Good to round-off for thin and degenerate
/// triangles too, and far from the origin. `triangle` stays −1.
[[nodiscard]] ClosestPoint closest_on_triangle(const Eigen::Vector3d& x, const Eigen::Vector3d& a,
                                               const Eigen::Vector3d& b,
                                               const Eigen::Vector3d& c) noexcept;

}  // namespace pliant
