#include "scene/greens_tool.h"

#include "haptics/pose_rules.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {
constexpr double kContactTime = 0.02;  // in which injected damping follows contact [s]
}  // namespace

GreensTool::GreensTool(HeldTool& held, RigidBody& body, GreensPoints& points)
    : body_(body),
      points_(points),
      port_(*held.device, {.workspace = held.options.workspace,
                           .safety = held.options.safety,
                           .passivity = held.options.passivity,
                           .rate = held.options.rate,
                           .injects_damping = held.options.injects_damping,
                           .backs_off = held.options.backs_off,
                           .shows_force = held.options.shows_force,
                           .injection_time = kContactTime}),
      gains_(held.gains),
      clutch_button_(held.options.workspace.clutch_button),
      deadman_button_(held.options.safety.deadman_button) {
    points_.lead(body_);
    set_gains(held.gains);
}

void GreensTool::set_gains(const CouplingGains& gains) noexcept {
    gains_ = gains;
    tick_.max_depth = gains.max_depth;
    port_.watch_springs(gains.stiffness, 0);
}

/// The first button that has no other meaning holds on to the surface.
bool GreensTool::is_pulling() const noexcept {
    int button = 0;
    while (button == clutch_button_ || button == deadman_button_) ++button;
    return (tick_.device.buttons >> button & 1u) != 0;
}

void GreensTool::tick(double now, double dt) noexcept {
    if (port_.refuses(now, dt, tick_)) return;
    const Pose tool = body_.motion().pose;
    const bool was_moved = has_begun_ && !((tool.position - tick_.tool.position).norm() <= 1e-9);
    port_.read(now, dt, tool, was_moved, tick_);
    has_begun_ = true;

    // all points of the body feel each other: this one ticks for all
    const Pose& hand = port_.manipulandum();
    const double limit = port_.gain_scale() * gains_.stiffness;
    const PointContact& contact = points_.act_with(hand.position, is_pulling(), limit);
    const Vector3d load = points_.led_load().force;
    tick_.status = StepStatus::Ok;
    tick_.manipulandum = hand;
    tick_.contact = {load, Vector3d::Zero()};
    tick_.coupling = {shortened(load, gains_.rendered_force), Vector3d::Zero()};
    tick_.num_contacts = contact.is_touching() ? 1 : 0;
    const double stored = 0.5 * contact.force.dot(contact.tip - contact.point);
    port_.show(gains_.injection, {.coupling = std::max(stored, 0.0)}, 1, now, tick_);
    if (port_.calm(dt, tick_)) port_.watch_springs(gains_.stiffness, 0);

    // where the surface is held under it
    const Vector3d place = points_.held_place();
    tick_.depth = contact.is_touching() ? (place - hand.position).norm() : 0;
    tick_.worst_depth = std::max(tick_.worst_depth, tick_.depth);
    if (tick_.depth > tick_.max_depth) ++tick_.violations;
    tick_.tool = {place, hand.rotation};
    body_.drive_to(tick_.tool);
}

const char* GreensTool::notice() const noexcept {
    const char* const stop = port_.stop_notice();
    if (*stop) return stop;
    if (port_.gain_scale() < 1)
        return "The force oscillated: the stiffness was lowered and comes back slowly while it "
               "stays calm, up to what the device is made for.";
    return port_.help_notice();
}

void GreensTool::reset() noexcept {
    port_.reset();
    tick_ = {};
    tick_.tool = tick_.manipulandum = body_.motion().pose;
    tick_.max_depth = gains_.max_depth;
    has_begun_ = false;
    port_.watch_springs(gains_.stiffness, 0);
}

}  // namespace pliant
