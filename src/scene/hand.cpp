#include "scene/hand.h"

#include "core/jacobi_eigen.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

// Bounds of a spring that is evaluated once per tick, times the mobility and powers of the tick,
// docs/scene.md eq. (2).
constexpr double kMaxStiffness = 0.2, kMaxDamping = 0.3;
/// Makes up for the tick by which the force is late, with half a tick to spare.
constexpr double kLead = 1.5;

// The stiffness of a body that does not know its own.
constexpr double kFreeStiffness = 0.03;  ///< times 1/(dt² mobility)
constexpr double kFixedStiffness = 100;  ///< [N/m], for what does not move

constexpr double kPokeDepth = 0.02;  ///< of an automatic poke, times the size of the body
constexpr double kPokeRamp = 0.05;   ///< [s]

/// Of the body at the point, in the direction in which it gives way most.
double stiffness_at(const Body& body, const SurfacePoint& point, double mobility,
                    double dt) noexcept {
    Eigen::Matrix3d C;
    if (body.compliance(point, C)) {
        const Eigen::Matrix3d symmetric = 0.5 * (C + C.transpose());
        const double largest = jacobi_eigen<3>(symmetric).values[2];
        if (largest > 0 && std::isfinite(1 / largest)) return 1 / largest;
    }
    return mobility > 0 ? kFreeStiffness / (dt * dt * mobility) : kFixedStiffness;
}

}  // namespace

void MovingTarget::move_to(const Vector3d& place, double duration) noexcept {
    goal = place;
    time_left = duration;
    velocity.setZero();
    if (duration > 0)
        velocity = (goal - position) / duration;
    else
        position = goal;
}

void MovingTarget::advance(double dt) noexcept {
    if (time_left > dt) {
        position += dt / time_left * (goal - position);
        time_left -= dt;
        return;
    }
    position = goal;
    velocity.setZero();
    time_left = 0;
}

void Hand::hold(Kind kind, Body& body, const SurfacePoint& point) noexcept {
    kind_ = kind;
    body_ = &body;
    point_ = point;
    num_hands_ = 1;
    force_.setZero();
}

void Hand::grab(Body& body, const SurfacePoint& point, const Vector3d& target, double duration,
                const HandSettings& settings) noexcept {
    hold(Kind::Pull, body, point);
    target_ = {};
    target_.position = body.position(point);
    target_.move_to(target, duration);
    update(settings);
}

void Hand::poke(Body& body, const SurfacePoint& point, double force,
                const HandSettings& settings) noexcept {
    hold(Kind::Poke, body, point);
    poke_command_ = force;
    age_ = 0;
    update(settings);
}

void Hand::drag(const Vector3d& target, double duration) noexcept {
    if (kind_ == Kind::Pull) target_.move_to(target, duration);
}

void Hand::update(const HandSettings& settings) noexcept {
    if (kind_ == Kind::Empty) return;
    settings_ = settings;
    mobility_ = body_->mobility(point_);
    body_stiffness_ = stiffness_at(*body_, point_, mobility_, settings.dt);
    set_gains();
}

void Hand::share(int num_hands) noexcept {
    num_hands_ = num_hands;
    set_gains();
}

void Hand::set_gains() noexcept {
    if (kind_ == Kind::Poke) {
        limit_ = poke_command_ > 0 ? poke_command_ : settings_.poke_force;
        if (limit_ == 0) limit_ = kPokeDepth * body_->size() * body_stiffness_;
        return;
    }
    // docs/scene.md eq. (1) and (2)
    k_ = settings_.stiffness * body_stiffness_;
    c_ = 0;
    if (mobility_ > 0) {
        const double dt = settings_.dt, share = dt * mobility_ * num_hands_;
        k_ = std::min(k_, kMaxStiffness / (dt * share));
        c_ = std::min(2 * settings_.damping * std::sqrt(k_ / mobility_), kMaxDamping / share) +
             kLead * dt * k_;
    }
    limit_ = settings_.force_limit > 0 ? settings_.force_limit : 0.25 * body_->size() * k_;
}

Vector3d Hand::target() const noexcept { return kind_ == Kind::Pull ? target_.position : point(); }

void Hand::act(double dt) noexcept {
    if (kind_ == Kind::Empty) return;
    if (kind_ == Kind::Poke) {
        age_ += dt;
        force_ = -limit_ * std::min(age_ / kPokeRamp, 1.0) * body_->normal(point_);
    } else {
        force_ = k_ * (target_.position - body_->position(point_)) +
                 c_ * (target_.velocity - body_->velocity(point_));
        const double size = force_.norm();
        if (!std::isfinite(size))
            force_.setZero();
        else if (size > limit_)
            force_ *= limit_ / size;
        target_.advance(dt);
    }
    body_->add_force(point_, force_);
}

}  // namespace pliant
