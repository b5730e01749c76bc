#pragma once

#include "geometry/simple_surfaces.h"
#include "haptics/proxy_trials.h"
#include "pliant/haptics/sphere_tool.h"

/// Tools of spheres.
namespace pliant::test {

inline constexpr double kToolSpacing = 0.01, kToolRadius = 4e-3;

/// n × m spheres of 4 mm in a plane, 10 mm apart, around the origin.
inline ParticleLayout tool_grid(int n, int m, double stiffness) {
    ParticleLayout layout;
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < n; ++i) {
            Particle p;
            p.position = kToolSpacing * Eigen::Vector3d(i - 0.5 * (n - 1), j - 0.5 * (m - 1), 0);
            p.radii.setConstant(kToolRadius);
            p.mass = 0.01;
            p.stiffness = stiffness;
            layout.particles.push_back(p);
        }
    // with all next to it, also across corners
    for (int a = 0; a < n * m; ++a)
        for (int b = a + 1; b < n * m; ++b)
            if (std::abs(a % n - b % n) <= 1 && b / n - a / n <= 1) layout.links.push_back({a, b});
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

/// In a box of 10 cm around `middle`, turned by anything.
inline Pose random_hand(std::mt19937& random, const Eigen::Vector3d& middle) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto next = [&] { return uniform(random); };
    const Eigen::Vector3d shift(next(), next(), next()), turn(next(), next(), next());
    return {middle + 0.05 * shift, rotation_from_vector(4 * turn)};
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
