#include "scene/proxy_tool.h"

#include <algorithm>

namespace pliant {

ProxyTool::ProxyTool(HeldTool& held, RigidBody& body)
    : PortTool(held, body),
      grasp_(held.options.grasp),
      is_point_(held.proxy->radius > 0),
      tuning_{.static_friction = held.proxy->options.static_friction,
              .dynamic_friction = held.proxy->options.dynamic_friction,
              .has_force_shading = held.proxy->options.has_force_shading,
              .has_ccd = held.proxy->options.has_ccd},
      source_(held.proxy->source) {
    set_gains(held.gains);
}

void ProxyTool::tick(double now, double dt) noexcept {
    if (port_.refuses(now, dt, tick_)) return;
    const Pose tool = at_grasp(body_.motion().pose);
    if (was_moved()) source_->put(tool);
    port_.read(now, dt, tool, was_moved(), tick_);
    has_begun_ = true;

    const Pose& hand = port_.manipulandum();
    tuning_.stiffness = port_.gain_scale() * gains_.stiffness;
    tuning_.angular_stiffness = port_.gain_scale() * gains_.angular_stiffness;
    tuning_.max_force = gains_.rendered_force;
    tuning_.max_torque = gains_.rendered_torque;
    tuning_.release = std::max(tick_.port_energy - tick_.stored_energy, 0.0) / port_.scale();
    const ProxySource::Answer proxy = source_->follow(hand, tuning_, now);
    tick_.status = proxy.status;
    tick_.manipulandum = body_of(hand);
    tick_.contact = proxy.wrench;
    tick_.coupling = proxy.shown.wrench;
    tick_.num_contacts = proxy.num_contacts;
    show(proxy.shown.energy, proxy.work, now, dt);
    finish(proxy.depth, body_of(proxy.pose));
}

const char* ProxyTool::touch_notice() const noexcept {
    ShownProxy shown;
    source_->fill(shown);
    if (shown.is_stale) return "The bodies' loop sends nothing: no force until it goes on.";
    if (!shown.is_squeezed) return "";
    return is_point_ ? "There is no room for the proxy: it stays where it was, bodies feel "
                       "nothing of it."
                     : "There is no room for some spheres: they stay where they were, bodies "
                       "feel nothing of them.";
}

}  // namespace pliant
