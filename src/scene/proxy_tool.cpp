#include "scene/proxy_tool.h"

#include "haptics/pose_rules.h"

#include <algorithm>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kProxyContactTime = 0.02;  // in which injected damping follows contact [s]

}  // namespace

ProxyTool::ProxyTool(HeldTool& held, RigidBody& body)
    : body_(body),
      port_(*held.device, {.workspace = held.options.workspace,
                           .safety = held.options.safety,
                           .passivity = held.options.passivity,
                           .rate = held.options.rate,
                           .injects_damping = held.options.injects_damping,
                           .backs_off = held.options.backs_off,
                           .shows_force = held.options.shows_force,
                           .injection_time = kProxyContactTime}),
      grasp_(held.options.grasp),
      is_point_(held.proxy->radius > 0),
      gains_(held.gains),
      tuning_{.static_friction = held.proxy->options.static_friction,
              .dynamic_friction = held.proxy->options.dynamic_friction,
              .has_force_shading = held.proxy->options.has_force_shading,
              .has_ccd = held.proxy->options.has_ccd},
      source_(held.proxy->source) {
    set_gains(held.gains);
}

void ProxyTool::set_gains(const CouplingGains& gains) noexcept {
    gains_ = gains;
    tick_.max_depth = gains.max_depth;
    watch_springs();
}

/// Nothing turns a point.
void ProxyTool::watch_springs() noexcept {
    port_.watch_springs(gains_.stiffness, is_point_ ? 0 : gains_.angular_stiffness);
}

void ProxyTool::tick(double now, double dt) noexcept {
    if (port_.refuses(now, dt, tick_)) return;
    const Pose tool = body_.motion().pose;
    const bool was_moved = has_begun_ && !((tool.position - tick_.tool.position).norm() <= 1e-9);
    if (was_moved) source_->put(at_grasp(tool));
    port_.read(now, dt, at_grasp(tool), was_moved, tick_);
    has_begun_ = true;

    const Pose& hand = port_.manipulandum();
    tuning_.stiffness = port_.gain_scale() * gains_.stiffness;
    tuning_.angular_stiffness = port_.gain_scale() * gains_.angular_stiffness;
    const ProxySource::Answer proxy = source_->follow(hand, tuning_, now);
    tick_.status = proxy.status;
    tick_.manipulandum = body_of(hand);
    tick_.contact = proxy.wrench;
    tick_.coupling = {shortened(proxy.wrench.force, gains_.rendered_force),
                      shortened(proxy.wrench.torque, gains_.rendered_torque)};
    tick_.num_contacts = proxy.num_contacts;
    port_.show(gains_.injection, {.coupling = proxy.energy}, 1, now, tick_);
    if (port_.calm(dt, tick_)) watch_springs();

    tick_.depth = proxy.depth;
    tick_.worst_depth = std::max(tick_.worst_depth, tick_.depth);
    if (tick_.depth > tick_.max_depth) ++tick_.violations;
    tick_.tool = body_of(proxy.pose);
    body_.drive_to(tick_.tool);
}

const char* ProxyTool::notice() const noexcept {
    const char* const stop = port_.stop_notice();
    if (*stop) return stop;
    ShownProxy shown;
    source_->fill(shown);
    if (shown.is_stale) return "The bodies' loop sends nothing: no force until it goes on.";
    if (shown.is_squeezed)
        return is_point_ ? "There is no room for the proxy: it stays where it was, bodies feel "
                           "nothing of it."
                         : "There is no room for some spheres: they stay where they were, bodies "
                           "feel nothing of them.";
    if (port_.gain_scale() < 1)
        return "The force oscillated: the stiffness was lowered and comes back slowly while it "
               "stays calm, up to what the device is made for.";
    return port_.help_notice();
}

void ProxyTool::reset() noexcept {
    port_.reset();
    source_->reset();
    tick_ = {};
    tick_.tool = tick_.manipulandum = body_.motion().pose;
    tick_.max_depth = gains_.max_depth;
    has_begun_ = false;
    watch_springs();
}

}  // namespace pliant
