#pragma once

#include "fem/fem_samples.h"
#include "pliant/fem/explicit_scene.h"
#include "pliant/fem/loads.h"

#include <numbers>

/// Scenes on which contact is tested.
namespace pliant::test {

/// Of plain elements, as those of the reference numbers.
inline ExplicitDynamics free_body(VolumeMesh mesh, const Material& material) {
    const int n = mesh.num_vertices();
    return {FemModel(std::move(mesh), {material}, {ElementFormulation::Plain}), Constraints(n)};
}
inline std::vector<ExplicitDynamics> one(ExplicitDynamics body) {
    std::vector<ExplicitDynamics> bodies;
    bodies.push_back(std::move(body));
    return bodies;
}
/// n³ hexes of a cube with the given side, its lowest corner at `corner`.
inline VolumeMesh hex_cube(int n, double side,
                           const Eigen::Vector3d& corner = Eigen::Vector3d::Zero()) {
    return hex_box(n, n, n, Box(corner, corner + Eigen::Vector3d::Constant(side)));
}
/// The soft cube of the reference numbers: 0.1 m, E = 2e4 Pa, ν = 0.3, 1 kg.
inline ExplicitDynamics reference_cube(int n, double drag = 0,
                                       const Eigen::Vector3d& corner = Eigen::Vector3d::Zero()) {
    Material material = isotropic(2e4, 0.3, 1000);
    material.viscosity = drag;
    return free_body(hex_cube(n, 0.1, corner), material);
}
/// 1 m × 1 m² along z, E = 1e4 Pa, ρ = 1000, free along z alone.
inline ExplicitDynamics reference_impact_bar(int num_layers) {
    VolumeMesh mesh = hex_box(1, 1, num_layers, unit_box());
    const int n = mesh.num_vertices();
    Constraints sides(n);
    for (int node = 0; node < n; ++node)
        for (int axis = 0; axis < 2; ++axis) sides.prescribe(node, axis, 0);
    return {FemModel(std::move(mesh), {isotropic(1e4, 0, 1000)}), std::move(sides)};
}

inline RigidMotion placed_at(const Eigen::Vector3d& position) {
    RigidMotion motion;
    motion.pose.position = position;
    return motion;
}
/// ±amplitude along z, starting at rest at the top of the swing.
inline RigidMotion oscillating(double amplitude, double frequency, double time) {
    const double w = 2 * std::numbers::pi * frequency;
    RigidMotion motion = placed_at({0, 0, amplitude * (std::cos(w * time) - 1)});
    motion.velocity.linear.z() = -amplitude * w * std::sin(w * time);
    motion.acceleration.linear.z() = -amplitude * w * w * std::cos(w * time);
    return motion;
}

/// A scene that runs.
struct RunningScene {
    ExplicitScene scene;
    ExplicitScene::State s;
    ExplicitScene::Workspace ws;
    std::vector<Eigen::VectorXd> loads;
    std::vector<RigidMotion> motions;

    RunningScene(std::vector<ExplicitDynamics> bodies, std::vector<RigidShape> obstacles,
                 const ContactOptions& options = {})
        : scene(std::move(bodies), std::move(obstacles), options),
          s(scene.make_state()),
          ws(scene.make_workspace()),
          motions(scene.obstacles().size()) {
        for (const ExplicitDynamics& body : scene.bodies())
            loads.emplace_back(Eigen::VectorXd::Zero(body.model().num_unknowns()));
    }
    /// Sets velocities of a body to one vector.
    void throw_body(int b, const Eigen::Vector3d& velocity) {
        for (Eigen::Index i = 0; i < s.bodies[b].v.size(); i += 3)
            s.bodies[b].v.segment<3>(i) = velocity;
    }
    void add_gravity() {
        for (std::size_t b = 0; b < loads.size(); ++b)
            loads[b] = gravity_load(scene.bodies()[b].model(), kGravity);
    }
    /// Call once bodies are placed.
    void set_accelerations() {
        for (std::size_t b = 0; b < loads.size(); ++b) {
            auto body_ws = scene.bodies()[b].make_workspace();
            scene.bodies()[b].set_acceleration(s.bodies[b], loads[b], body_ws);
        }
        s.obstacles = motions;
    }
    ExplicitScene::Report step(double dt) { return scene.step(s, loads, motions, dt, ws); }

    [[nodiscard]] double energy() const {
        double sum = 0;
        for (std::size_t b = 0; b < s.bodies.size(); ++b) {
            auto body_ws = scene.bodies()[b].make_workspace();
            sum += scene.bodies()[b].energy(s.bodies[b], body_ws).total();
        }
        return sum;
    }
    [[nodiscard]] Momentum momentum() const {
        Momentum sum;
        for (std::size_t b = 0; b < s.bodies.size(); ++b) {
            const Momentum m = scene.bodies()[b].momentum(s.bodies[b]);
            sum.linear += m.linear;
            sum.angular += m.angular;
        }
        return sum;
    }
    /// Sum of all contact forces on soft bodies from obstacles.
    [[nodiscard]] Eigen::Vector3d obstacle_force() const {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        for (int o = 0; o < static_cast<int>(motions.size()); ++o) sum -= ws.wrench(o).force;
        return sum;
    }
    [[nodiscard]] double deepest() const {
        double depth = 0;
        for (const Contact& c : ws.contacts()) depth = std::max(depth, -c.gap);
        return depth;
    }
};

}  // namespace pliant::test
