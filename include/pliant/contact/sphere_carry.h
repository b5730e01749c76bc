#pragma once

#include "pliant/contact/surface_neighbourhood.h"

namespace pliant {

struct SphereCarryOptions {
    double radius = 5e-3;                      ///< [m]
    double shrink = 0.999;                     ///< of the radius, for finding contacts
    bool has_facing_test = true;               ///< false only to show what it is for
    PopOutMode pop_out = PopOutMode::Guarded;  ///< of surfaces that do not say another
    double least_pop = 0.002;                  ///< in radii: shortest push
    int max_pops = 100;                        ///< rounds over all triangles
};
/// Throws InputError for numbers out of range.
void check(const SphereCarryOptions& options);

/// What a moving surface did to a resting sphere.
enum class CarryEvent { None, Face, Edge };

struct CarryResult {
    Eigen::Vector3d position;
    CarryEvent event = CarryEvent::None;
    double time = 0;  ///< of the event in the tick, 0 to 1
    int surface = -1, triangle = -1;
};
/// Triangle–sphere continuous collision: where the centre of a resting sphere is after the surfaces
/// moved from the start to the end of the tick, docs/contact-moving.md eq. (6) and (7). Its centre
/// is in front of all surfaces afterwards if it was before; the rest of an overlap is for
/// pop_out().
[[nodiscard]] CarryResult carry_sphere(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                                       const SphereCarryOptions& options) noexcept;

struct PopOutResult {
    Eigen::Vector3d position;
    int pops = 0;  ///< pushes
    int rounds = 0;
    bool has_arrived = true;  ///< false: no room; position is the one with more clearance, of
                              ///< where it started and where it ended
};
/// Moves a sphere out of what it overlaps at the end of the tick, eq. (8).
[[nodiscard]] PopOutResult pop_out(SurfaceNeighbourhood& near, const Eigen::Vector3d& p,
                                   const SphereCarryOptions& options) noexcept;

}  // namespace pliant
