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
    /// What the published recording consists of: until when [s].
    struct Action {
        const char* name;
        double end;
    };
    static constexpr std::array<Action, 4> kActions = {
        {{"tap twice", 0.6}, {"press", 1.3}, {"catch", 1.9}, {"probe", 2.5}}};
    /// A hand that does all of these, smoothly from place to place.
    [[nodiscard]] static Pose recorded_pose(double time) {
        struct Place {
            double time, x, y, z, turn;  // turn about y, fingers up
        };
        static constexpr std::array<Place, 14> kPlaces = {{{0, -0.55, 0, 0, 0},
                                                           {0.15, 0.1, 0, 0, 0},
                                                           {0.3, -0.55, 0, 0, 0},
                                                           {0.45, 0.1, 0, 0, 0},
                                                           {0.6, -0.55, 0, 0, 0},
                                                           {0.9, 0.5, 0, 0, 0},
                                                           {1.1, 0.8, 0.1, 0, 0},
                                                           {1.3, -0.55, 0, 0, 0},
                                                           {1.5, 0.35, 0, -0.3, 0.7},
                                                           {1.7, 0.9, 0, 0.4, -0.7},
                                                           {1.9, -0.55, 0, 0.2, 0},
                                                           {2.05, 0.2, -0.4, 0, 0},
                                                           {2.35, 0.2, 0.4, 0.1, 0.2},
                                                           {2.5, -0.55, 0.4, 0, 0}}};
        const double t = std::clamp(time, 0.0, kPlaces.back().time);
        std::size_t i = 1;
        while (i + 1 < kPlaces.size() && t > kPlaces[i].time) ++i;
        const Place &a = kPlaces[i - 1], &b = kPlaces[i];
        const double s = 0.5 - 0.5 * std::cos(kPi * (t - a.time) / (b.time - a.time));
        const auto between = [&](double Place::*m) { return a.*m + s * (b.*m - a.*m); };
        return {{between(&Place::x), between(&Place::y), between(&Place::z)},
                rotation_from_vector(Eigen::Vector3d(0, between(&Place::turn), 0))};
    }
    /// Of the whole scene.
    void step() { step(pose_at(time_ + kStep)); }
    void step(const Pose& hand) {
        time_ += kStep;
        (void)hand_.tick(hand);
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
