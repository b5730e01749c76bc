#include "fem/rigid_partners.h"

#include "core/numbers.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Along the smooth path between the motions at the ends of a step: cubic in position and in the
/// rotation vector, whose rate is taken for the angular velocity (turns of a step are small).
RigidMotion between(const RigidMotion& start, const RigidMotion& end, double t, double dt) {
    const double h00 = (1 + 2 * t) * (1 - t) * (1 - t), h10 = t * (1 - t) * (1 - t);
    const double h11 = t * t * (t - 1);
    const double d00 = 6 * t * (t - 1) / dt, d10 = (1 - t) * (1 - 3 * t), d11 = t * (3 * t - 2);
    const double c00 = (12 * t - 6) / (dt * dt), c10 = (6 * t - 4) / dt, c11 = (6 * t - 2) / dt;
    const Vector3d turn = rotation_difference(start.pose.rotation, end.pose.rotation);
    const auto blend = [&](double a, double b, double c, const Vector3d& step, const Vector3d& v0,
                           const Vector3d& v1) -> Vector3d { return a * step + b * v0 + c * v1; };
    const Vector3d step = end.pose.position - start.pose.position;
    const auto& [v0, w0] = start.velocity;
    const auto& [v1, w1] = end.velocity;
    RigidMotion m;
    m.pose.position = start.pose.position + blend(1 - h00, dt * h10, dt * h11, step, v0, v1);
    m.pose.rotation = rotation_from_vector(blend(1 - h00, dt * h10, dt * h11, turn, w0, w1)) *
                      start.pose.rotation;
    m.velocity = {blend(-d00, d10, d11, step, v0, v1), blend(-d00, d10, d11, turn, w0, w1)};
    m.acceleration = {blend(-c00, c10, c11, step, v0, v1), blend(-c00, c10, c11, turn, w0, w1)};
    return m;
}

/// Rates in a time that runs `factor` times as fast.
RigidMotion in_time(RigidMotion motion, double factor) {
    motion.velocity.linear /= factor;
    motion.velocity.angular /= factor;
    motion.acceleration.linear /= factor * factor;
    motion.acceleration.angular /= factor * factor;
    return motion;
}

Matrix3d in_world(const Matrix3d& inertia, const Quaternion& rotation) {
    const Matrix3d R = rotation.toRotationMatrix();
    return R * inertia * R.transpose();
}

/// The same motion of a body that was put elsewhere with its point `centre`, and whose velocity
/// there changed.
RigidMotion moved(const RigidMotion& m, const Vector3d& centre, const Vector3d& shift,
                  const Quaternion& turn, const Twist& change) {
    const Vector3d arm = turn * (m.pose.position - centre);
    const Vector3d v = m.velocity_at(centre) + change.linear, a = m.acceleration_at(centre);
    const Vector3d omega = m.velocity.angular + change.angular, alpha = m.acceleration.angular;
    return {{centre + shift + arm, (turn * m.pose.rotation).normalized()},
            {v + omega.cross(arm), omega},
            {a + alpha.cross(arm) + omega.cross(omega.cross(arm)), alpha}};
}

}  // namespace

RigidPartners::RigidPartners(std::vector<RigidBody*> obstacles)
    : obstacles_(std::move(obstacles)),
      handed_(obstacles_.size()),
      motions_(obstacles_.size()),
      partner_of_(obstacles_.size(), -1) {
    partners_.reserve(obstacles_.size());
    solved_.reserve(obstacles_.size());
}

void RigidPartners::forget() noexcept {
    std::ranges::fill(handed_, Handed{});
    last_step_ = 0;
}

void RigidPartners::begin() noexcept {
    partners_.clear();
    for (int k = 0; k < static_cast<int>(obstacles_.size()); ++k) {
        const RigidBody& body = *obstacles_[at(k)];
        RigidGuide* const guide = body.guide();
        partner_of_[at(k)] = -1;
        if (!body.is_dynamic() && !(guide && guide->mass > 0)) continue;
        // what one guide holds moves as one piece
        int place = static_cast<int>(partners_.size());
        if (guide)
            place = static_cast<int>(std::ranges::find(partners_, guide, &Partner::guide) -
                                     partners_.begin());
        if (place == static_cast<int>(partners_.size())) add(k, guide);
        partner_of_[at(k)] = place;
        expect(partners_[at(place)], k);
    }
    solved_.resize(partners_.size());
}

void RigidPartners::add(int obstacle, RigidGuide* guide) noexcept {
    const RigidBody& body = *obstacles_[at(obstacle)];
    Partner p;
    p.obstacle = obstacle;
    p.guide = guide;
    if (guide) {
        p.centre_body = body.motion().pose.to_body(guide->centre);
        p.mass = guide->mass;
        p.inertia = guide->inertia * Matrix3d::Identity();
    } else {
        p.centre_body = body.mass()->centre;
        p.mass = body.mass()->mass;
        p.inertia =
            in_world(body.mass()->inertia, body.motion(TickMoment::Start).pose.rotation);
    }
    partners_.push_back(p);
}

/// The load that is in the motion already, and what is left of the one at the end of the last step.
void RigidPartners::expect(Partner& p, int obstacle) noexcept {
    const Pose& first = obstacles_[at(p.obstacle)]->motion(TickMoment::Start).pose;
    const Vector3d centre = first.to_world(p.centre_body);
    const Vector3d arm =
        centre - obstacles_[at(obstacle)]->motion(TickMoment::Start).pose.position;
    const Wrench expected = handed_[at(obstacle)].expected.about(arm);
    const Wrench last = handed_[at(obstacle)].last.about(arm);
    p.expected += expected;
    const Matrix3d inverse_inertia = p.inertia.inverse();
    p.now.acceleration.linear += (last.force - expected.force) / p.mass;
    p.now.acceleration.angular += inverse_inertia * (last.torque - expected.torque);
    p.now.contact.linear += last.force / p.mass;
    p.now.contact.angular += inverse_inertia * last.torque;
}

void RigidPartners::predict(double t, double dt, double h, double factor,
                            double stiffness) noexcept {
    h_ = h;
    factor_ = factor;
    const auto reference = [&](int obstacle) {
        const RigidBody& body = *obstacles_[at(obstacle)];
        const RigidMotion& end = body.motion(TickMoment::End);
        return t < 1 ? between(body.motion(TickMoment::Start), end, t, dt) : end;
    };
    for (std::size_t i = 0; i < partners_.size(); ++i) {
        Partner& p = partners_[i];
        Difference& d = p.next;
        d = p.now;
        // leapfrog, as the nodes; impulses of contact are those of the step that solved for them
        const double left = last_step_ > 0 ? 0.5 * (last_step_ - h) : 0;
        d.velocity.linear += 0.5 * h * d.acceleration.linear + left * d.contact.linear;
        d.velocity.angular += 0.5 * h * d.acceleration.angular + left * d.contact.angular;
        d.shift += h * d.velocity.linear;
        d.turn = (rotation_from_vector(h * d.velocity.angular) * d.turn).normalized();
        Vector3d force = -p.expected.force, torque = -p.expected.torque;
        double mass = p.mass;
        Matrix3d inertia = p.inertia;
        if (p.guide) {
            // spring and damper at the end of the next step
            const RigidGuide& g = *p.guide;
            force -= g.stiffness * (d.shift + h * d.velocity.linear) + g.damping * d.velocity.linear;
            torque -= g.angular_stiffness * (rotation_vector(d.turn) + h * d.velocity.angular) +
                      g.angular_damping * d.velocity.angular;
            mass += h * (g.damping + h * g.stiffness);
            inertia += h * (g.angular_damping + h * g.angular_stiffness) * Matrix3d::Identity();
        }
        const Matrix3d inverse_inertia = inertia.inverse();
        const double squared = factor * factor;
        ContactPartner& s = solved_[i];
        p.free = {force / mass, inverse_inertia * torque};
        s.acceleration = {p.free.linear / squared, p.free.angular / squared};
        s.inverse_mass = stiffness / (mass * squared);
        s.inverse_inertia = stiffness / squared * inverse_inertia;
        s.centre = reference(p.obstacle).pose.to_world(p.centre_body);
    }
    for (int k = 0; k < static_cast<int>(obstacles_.size()); ++k) {
        RigidMotion motion = reference(k);
        if (const int place = partner_of_[at(k)]; place >= 0) {
            const Difference& d = partners_[at(place)].next;
            motion = moved(motion, solved_[at(place)].centre, d.shift, d.turn, d.velocity);
        }
        motions_[at(k)] = in_time(motion, factor);
    }
    for (std::size_t i = 0; i < partners_.size(); ++i) solved_[i].centre += partners_[i].next.shift;
}

void RigidPartners::accept(std::span<const Wrench> wrenches) noexcept {
    for (std::size_t i = 0; i < partners_.size(); ++i) {
        Partner& p = partners_[i];
        const double squared = factor_ * factor_;
        p.now = p.next;
        p.now.acceleration = {squared * solved_[i].acceleration.linear,
                              squared * solved_[i].acceleration.angular};
        p.now.contact = {p.now.acceleration.linear - p.free.linear,
                         p.now.acceleration.angular - p.free.angular};
        p.now.velocity.linear += 0.5 * h_ * p.now.acceleration.linear;
        p.now.velocity.angular += 0.5 * h_ * p.now.acceleration.angular;
    }
    for (std::size_t k = 0; k < handed_.size(); ++k) handed_[k].last = wrenches[k];
    last_step_ = h_;
}

void RigidPartners::end(std::span<const Wrench> mean, double left_out) noexcept {
    if (left_out > 0)
        for (std::size_t i = 0; i < partners_.size(); ++i)
            partners_[i].now.shift += left_out * partners_[i].now.velocity.linear;
    for (int k = 0; k < static_cast<int>(obstacles_.size()); ++k) {
        RigidBody& body = *obstacles_[at(k)];
        handed_[at(k)].expected = mean[at(k)];
        // what broke off ends with what is expected
        if (left_out > 0) handed_[at(k)].last = mean[at(k)];
        body.add_wrench(mean[at(k)]);
        if (const int place = partner_of_[at(k)]; place >= 0) {
            const Partner& p = partners_[at(place)];
            const RigidMotion& m = body.motion();
            const Vector3d centre =
                k == p.obstacle ? m.pose.to_world(p.centre_body) : solved_[at(place)].centre;
            // where the others of the piece find it
            solved_[at(place)].centre = centre;
            Twist change = p.now.velocity;
            if (!p.guide) {
                // what is kept is the angular momentum
                const Matrix3d& inertia = body.mass()->inertia;
                const Matrix3d before = in_world(inertia, m.pose.rotation),
                               after = in_world(inertia, p.now.turn * m.pose.rotation);
                change.angular = after.inverse() * (before * m.velocity.angular +
                                                    p.inertia * change.angular) -
                                 m.velocity.angular;
            } else if (k == p.obstacle) {
                p.guide->yield(p.now.shift, rotation_vector(p.now.turn), change);
            }
            body.put(moved(m, centre, p.now.shift, p.now.turn, change));
        }
    }
}

}  // namespace pliant
