#pragma once

#include "pliant/core/pose.h"
#include "pliant/geometry/surface_mesh.h"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace pliant {

/// One oriented particle at rest: an ellipsoid that stands for a piece of a body.
struct Particle {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< [m]
    Eigen::Vector3d radii = Eigen::Vector3d::Zero();  ///< along its own axes [m]; equal: a sphere
    Quaternion rotation = Quaternion::Identity();     ///< own axes to body axes
    double mass = 0;                                  ///< [kg]
    /// How far it follows the goal of a group in one pass: 0 as sand, 1 rigid.
    double stiffness = 1;
    int object = 0;  ///< particles of different objects collide
};

/// The particles of a body and what holds them together. The group of a particle is itself and all
/// it is linked with.
struct ParticleLayout {
    std::vector<Particle> particles;
    std::vector<std::array<int, 2>> links;
    bool is_cloth = false;  ///< links also keep their length

    [[nodiscard]] int num_particles() const noexcept { return static_cast<int>(particles.size()); }
    [[nodiscard]] int num_objects() const noexcept;
};

/// Throws InputError for numbers that are not finite or out of range, links to nothing or between
/// objects, and particles without links that should be matched. `name` stands for the file in
/// messages.
void check_layout(const ParticleLayout& layout, const std::string& name = {});
/// Throws InputError unless every centre is inside the surface or within its largest radius of it.
void check_layout_inside(const ParticleLayout& layout, const SurfaceMesh& surface,
                         const std::string& name = {});

/// Gives the particles of a selection, as in "x < 30 %" of the centres, this stiffness. Throws
/// InputError for one that is not in 0 to 1 and a selection of nothing.
void set_stiffness(ParticleLayout& layout, const std::string& selection, double stiffness);
[[nodiscard]] std::vector<Eigen::Vector3d> centres_of(const ParticleLayout& layout);

/// Layouts made by hand: JSON, docs/particles.md section "Layout files". Read ones are checked.
[[nodiscard]] ParticleLayout parse_layout(const std::string& text, const std::string& name);
[[nodiscard]] ParticleLayout load_layout(const std::filesystem::path& path);
void save_layout(const ParticleLayout& layout, const std::filesystem::path& path);

struct PlacementOptions {
    int count = 137;           ///< particles to place
    int links = 8;             ///< nearest neighbours each is linked with at least
    double density = 1000;     ///< [kg/m³]
    double stiffness = 0.6;    ///< of all
    bool has_spheres = false;  ///< instead of ellipsoids
    /// Of spheres [m]; 0: the ball of the volume each stands for, no larger than fits inside.
    double radius = 0;
};
/// Particles spread evenly through a closed surface, each with the mass and second moments of the
/// part of the volume nearest to it; docs/particles.md section "Placement". Throws InputError for
/// options out of range and a surface without volume.
[[nodiscard]] ParticleLayout place_particles(const SurfaceMesh& surface,
                                             const PlacementOptions& options = {});
/// One spherical particle at every place where the surface has vertices (the two faces of a sheet
/// share theirs), linked along edges and, on grids, diagonals up to `links` nearest; cloth.
[[nodiscard]] ParticleLayout particles_of_vertices(const SurfaceMesh& surface, double mass,
                                                   double radius, double stiffness, int links = 8);

}  // namespace pliant
