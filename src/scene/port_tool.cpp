#include "scene/port_tool.h"

#include <algorithm>

namespace pliant {
namespace {

constexpr double kContactTime = 0.02;  // in which injected damping follows contact [s]

}  // namespace

PortTool::PortTool(HeldTool& held, RigidBody& body)
    : body_(body),
      port_(*held.device, {.workspace = held.options.workspace,
                           .safety = held.options.safety,
                           .passivity = held.options.passivity,
                           .rate = held.options.rate,
                           .injects_damping = held.options.injects_damping,
                           .backs_off = held.options.backs_off,
                           .shows_force = held.options.shows_force,
                           .injection_time = kContactTime}),
      gains_(held.gains) {}

void PortTool::set_gains(const CouplingGains& gains) noexcept {
    gains_ = gains;
    tick_.max_depth = gains.max_depth;
    watch_springs();
}

bool PortTool::was_moved() const noexcept {
    const Pose& tool = body_.motion().pose;
    return has_begun_ && !((tool.position - tick_.tool.position).norm() <= 1e-9);
}

void PortTool::show(double energy, double work, double now, double dt) noexcept {
    lent_.add(-work, tick_.num_contacts > 0, dt);
    port_.show(gains_.injection,
               {.coupling = energy, .beyond = lent_.lent(), .given = lent_.given()}, 1, now, tick_);
    if (port_.calm(dt, tick_)) watch_springs();
}

void PortTool::finish(double depth, const Pose& tool) noexcept {
    tick_.depth = depth;
    tick_.worst_depth = std::max(tick_.worst_depth, tick_.depth);
    if (tick_.depth > tick_.max_depth) ++tick_.violations;
    tick_.tool = tool;
    body_.drive_to(tick_.tool);
}

const char* PortTool::notice() const noexcept {
    const char* const stop = port_.stop_notice();
    if (*stop) return stop;
    const char* const touch = touch_notice();
    if (*touch) return touch;
    if (port_.gain_scale() < 1)
        return "The force oscillated: the stiffness was lowered and comes back slowly while it "
               "stays calm, up to what the device is made for.";
    return port_.help_notice();
}

void PortTool::reset() noexcept {
    port_.reset();
    lent_ = {};
    reset_touch();
    tick_ = {};
    tick_.tool = tick_.manipulandum = body_.motion().pose;
    tick_.max_depth = gains_.max_depth;
    has_begun_ = false;
    watch_springs();
}

}  // namespace pliant
