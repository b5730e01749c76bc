#pragma once

#include "geometry/simple_surfaces.h"
#include "haptics/proxy_trials.h"
#include "particles/sample_particles.h"
#include "pliant/haptics/sphere_tool.h"

/// Tools of spheres.
namespace pliant::test {

inline constexpr double kToolSpacing = 0.01, kToolRadius = 4e-3;

/// n × m spheres of 4 mm in a plane, 10 mm apart, around the origin.
inline ParticleLayout tool_grid(int n, int m, double stiffness) {
    ParticleLayout layout = particle_block(n, m, 1, kToolSpacing, stiffness);
    for (Particle& p : layout.particles)
        p.position -= 0.5 * kToolSpacing * Eigen::Vector3d(n - 1, m - 1, 0);
    return layout;
}

inline SphereToolOptions tool_options(bool is_rigid) {
    SphereToolOptions options;
    options.is_rigid = is_rigid;
    return options;
}

inline Pose hand_at(double x, double y, double z,
                    const Eigen::Vector3d& turn = Eigen::Vector3d::Zero()) {
    return {Eigen::Vector3d(x, y, z), rotation_from_vector(turn)};
}

/// A block whose top is the plane z = 0.
inline SurfaceMesh block_below(double half_x, double half_y) {
    return box_surface(Eigen::Vector3d(-half_x, -half_y, -0.1), Eigen::Vector3d(half_x, half_y, 0));
}

/// A tool against something that rests.
struct TouchingTool {
    TouchingTool(const SurfaceMesh& mesh, const ParticleLayout& layout,
                 const SphereToolOptions& options)
        : surface(mesh), tool({&surface}, layout, options) {}
    const SphereToolState& go(const Pose& from, const Pose& to, int ticks = 1) {
        tool.reset(from);
        for (int i = 0; i < ticks; ++i) (void)tool.tick(to);
        return tool.state();
    }
    VertexSurface surface;
    SphereTool tool;
};

inline double lowest_sphere(const SphereTool& tool) {
    double z = 1e9;
    for (int i = 0; i < tool.num_spheres(); ++i) z = std::min(z, tool.sphere(i).position.z());
    return z;
}

}  // namespace pliant::test
