#pragma once

#include "pliant/body/body.h"

namespace pliant {

/// How hands pull and poke, docs/scene.md eq. (1).
struct HandSettings {
    double stiffness = 3;    ///< of the spring, times the stiffness that the body has there
    double damping = 0.7;    ///< fraction of critical
    double force_limit = 0;  ///< [N]; 0: the spring's force at a quarter of the body's size
    double poke_force = 0;   ///< [N]; 0: what moves the point by 2 % of the body's size
    double dt = 1e-3;        ///< of the loop [s]
};

/// A place that moves evenly to where it should be.
struct MovingTarget {
    Eigen::Vector3d position = Eigen::Vector3d::Zero(), velocity = Eigen::Vector3d::Zero();
    Eigen::Vector3d goal = Eigen::Vector3d::Zero();
    double time_left = 0;

    /// At once for a duration of zero.
    void move_to(const Eigen::Vector3d& place, double duration) noexcept;
    void advance(double dt) noexcept;
};

/// Holds one surface point by a spring, or pushes it. Nothing allocates.
class Hand {
public:
    enum class Kind { Empty, Pull, Poke };

    /// `body` must stay until released.
    void grab(Body& body, const SurfacePoint& point, const Eigen::Vector3d& target, double duration,
              const HandSettings& settings) noexcept;
    /// A force of zero is that of the settings.
    void poke(Body& body, const SurfacePoint& point, double force,
              const HandSettings& settings) noexcept;
    void drag(const Eigen::Vector3d& target, double duration) noexcept;
    void release() noexcept { kind_ = Kind::Empty; }
    /// Adapts to changed settings and to the body as it is now.
    void update(const HandSettings& settings) noexcept;
    /// So many hands pull at this body: together they must not exceed what one may do.
    void share(int num_hands) noexcept;

    /// Adds its force to the body's loads and moves the target.
    void act(double dt) noexcept;

    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    [[nodiscard]] const Body* body() const noexcept { return body_; }
    [[nodiscard]] Eigen::Vector3d point() const noexcept { return body_->position(point_); }
    [[nodiscard]] Eigen::Vector3d target() const noexcept;
    [[nodiscard]] const Eigen::Vector3d& force() const noexcept { return force_; }  ///< on the body
    [[nodiscard]] double stiffness() const noexcept { return k_; }                  ///< [N/m]
    [[nodiscard]] double damping() const noexcept { return c_; }                    ///< [N s/m]
    [[nodiscard]] double force_limit() const noexcept { return limit_; }            ///< [N]

private:
    void hold(Kind kind, Body& body, const SurfacePoint& point) noexcept;
    void set_gains() noexcept;

    Kind kind_ = Kind::Empty;
    Body* body_ = nullptr;
    SurfacePoint point_;
    MovingTarget target_;
    HandSettings settings_;
    double body_stiffness_ = 0, mobility_ = 0;  ///< of the body at the point
    int num_hands_ = 1;
    double poke_command_ = 0;  ///< [N]; 0: that of the settings
    double age_ = 0;           ///< since the poke began [s]
    double k_ = 0, c_ = 0;
    double limit_ = 0;  ///< of a pull, or the force of a poke
    Eigen::Vector3d force_ = Eigen::Vector3d::Zero();
};

}  // namespace pliant
