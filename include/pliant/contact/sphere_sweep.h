#pragma once

#include "pliant/contact/surface_neighbourhood.h"

namespace pliant {

/// Where a moving sphere first touches surfaces that rest.
struct SphereHit {
    int index = -1;  ///< of the triangle in the patch; −1: nothing is hit
    double s = 1;    ///< how far along the way, 0 to 1
    Eigen::Vector3d point = Eigen::Vector3d::Zero();   ///< that is touched
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();  ///< unit, from it to the centre
};

/// First hit of a sphere of radius `rho` on its way from `p` to `to`, with surfaces as they are at
/// the end of the tick: faces that are seen from `p`, their sides and corners;
/// docs/contact-moving.md eq. (9). A sphere that overlaps already is held by what it approaches.
/// The neighbourhood must cover the way.
[[nodiscard]] SphereHit sweep_sphere(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                                     const Eigen::Vector3d& to, double rho) noexcept;

}  // namespace pliant
