#pragma once

#include "pliant/particles/particle_layout.h"

namespace pliant {

struct SpherePlacementOptions {
    int count = 37;           ///< spheres to place
    int links = 8;            ///< nearest neighbours each is linked with at least
    double mass = 1;          ///< of all, shared by volume [kg]
    double stiffness = 0.6;   ///< of all
    double least_radius = 0;  ///< no smaller ones [m]
};
/// Spheres inside a closed surface that fill it up to its skin, for tools; docs/sphere-tools.md
/// section "Placement". Throws InputError for options out of range, a surface without volume and
/// one without room for least_radius.
[[nodiscard]] ParticleLayout place_spheres(const SurfaceMesh& surface,
                                           const SpherePlacementOptions& options = {});

/// How well spheres stand for a surface.
struct SphereCoverage {
    double largest_gap = 0;  ///< of a place on the surface from the nearest sphere [m]
    Eigen::Vector3d gap_place = Eigen::Vector3d::Zero();  ///< where
    double mean_gap = 0;                                  ///< over the area [m]
    double largest_overhang = 0;  ///< of a sphere beyond the surface [m]; below 0: all are inside
};
/// By samples of the surface (its vertices and some thousand places between).
[[nodiscard]] SphereCoverage sphere_coverage(const ParticleLayout& layout,
                                             const SurfaceMesh& surface);

}  // namespace pliant
