#pragma once

#include "haptics/proxy_trials.h"
#include "pliant/geometry/shapes.h"
#include "pliant/haptics/sphere_tool.h"
#include "pliant/particles/particle_body.h"
#include "pliant/particles/place_spheres.h"

namespace pliant::test {

/// The published scene: a curtain of 8 m that hangs from its upper border, one particle per vertex,
/// and a deformable hand of 2 m that taps on it and presses into it.
class HandCurtain {
public:
    static constexpr double kStep = 2e-3;

    explicit HandCurtain(int num_spheres, const SphereToolOptions& options = hand_options())
        : curtain_(make_curtain()),
          surface_(make_moving_surface(curtain_)),
          hand_({surface_.get()}, hand_spheres(num_spheres), options) {
        curtain_.set_gravity(Eigen::Vector3d(0, 0, -9.81));
        hand_.reset(pose_at(0));
    }
    static SphereToolOptions hand_options() {
        SphereToolOptions options;
        options.iterations = 4;
        options.translation_stiffness = options.rotation_stiffness = 20;
        return options;
    }

    /// Palm ahead, 0.4 m behind the curtain and as far into it, once in 2 s.
    [[nodiscard]] static Pose pose_at(double time) {
        return {Eigen::Vector3d(-0.55 + 1.1 * std::pow(std::sin(0.5 * kPi * time), 2),
                                0.2 * std::sin(kPi * time), 0.1 * std::sin(2.2 * kPi * time)),
                rotation_from_vector(Eigen::Vector3d(0, 0.3 * std::sin(1.4 * kPi * time), 0))};
    }
    /// Of the whole scene.
    void step() {
        time_ += kStep;
        (void)hand_.tick(pose_at(time_));
        hand_.apply_forces();
        (void)curtain_.step(kStep);
    }
    [[nodiscard]] ParticleBody& curtain() { return curtain_; }
    [[nodiscard]] SphereTool& hand() { return hand_; }
    [[nodiscard]] double time() const { return time_; }

private:
    static ParticleBody make_curtain() {
        SurfaceMesh sheet = double_faced(flat_sheet(8, 32));
        // upright, across x
        for (Eigen::Vector3d& v : sheet.vertices) v = Eigen::Vector3d(0, v.x(), v.y());
        ParticleBodyOptions options;
        options.dynamics.iterations = 2;
        options.dynamics.damping = 1;
        options.dynamics.collides = false;
        options.held.push_back({.selection = "z > 99 %", .motion = {}});
        return ParticleBody(
            make_particle_model(particles_of_vertices(sheet, 0.2, 0.05, 0.5), sheet), options);
    }
    static ParticleLayout hand_spheres(int count) {
        SurfaceMesh hand = make_shape("hand", 40);
        const Eigen::Vector3d middle = bounding_box(hand.vertices).center();
        for (Eigen::Vector3d& v : hand.vertices) v = 10 * (v - middle);
        return place_spheres(hand, {.count = count});
    }

    ParticleBody curtain_;
    std::unique_ptr<MovingSurface> surface_;
    SphereTool hand_;
    double time_ = 0;
};

}  // namespace pliant::test
