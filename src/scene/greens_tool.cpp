#include "scene/greens_tool.h"

#include "haptics/coupling_springs.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

GreensTool::GreensTool(HeldTool& held, RigidBody& body, GreensPoints& points)
    : PortTool(held, body),
      points_(points),
      clutch_button_(held.options.workspace.clutch_button),
      deadman_button_(held.options.safety.deadman_button) {
    points_.lead(body_);
    set_gains(held.gains);
}

/// The first button that has no other meaning holds on to the surface.
bool GreensTool::is_pulling() const noexcept {
    int button = 0;
    while (button == clutch_button_ || button == deadman_button_) ++button;
    return (tick_.device.buttons >> button & 1u) != 0;
}

void GreensTool::tick(double now, double dt) noexcept {
    if (port_.refuses(now, dt, tick_)) return;
    port_.read(now, dt, body_.motion().pose, was_moved(), tick_);
    has_begun_ = true;

    const Vector3d before = tick_.coupling.force;
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
    // the body is the spring, docs/haptics.md eq. (22a)
    const double energy = std::max(0.5 * contact.force.dot(contact.tip - contact.point), 0.0);
    // what moved its surface did so against the force that is shown
    const double work = 0.5 * (before + tick_.coupling.force).dot(points_.led_motion());
    show(cut_energy(energy, kept_part(load.norm(), gains_.rendered_force)), work, now, dt);

    // where the surface is held under it
    const Vector3d place = points_.held_place();
    finish(contact.is_touching() ? (place - hand.position).norm() : 0, {place, hand.rotation});
}

}  // namespace pliant
