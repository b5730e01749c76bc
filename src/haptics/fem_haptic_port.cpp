#include "pliant/haptics/fem_haptic_port.h"

#include "haptics/coupling_springs.h"
#include "haptics/device_port.h"
#include "haptics/gain_rules.h"
#include "haptics/pose_rules.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

DevicePortOptions fem_port_options(const FemHapticPortOptions& o) {
    constexpr double kInjectionTime = 0.02;  // without a jump where contacts come and go [s]
    return {o.workspace,       o.safety,     o.passivity,   o.rate,
            o.injects_damping, o.backs_off,  o.shows_force, HandleMotion::BeyondSteps,
            kInjectionTime,    o.answer_time};
}

}  // namespace

struct FemHapticPort::Impl {
    Impl(HapticDevice& d, FemHapticLink& l, const CouplingGains& g, const FemHapticPortOptions& o)
        : link(l), port(d, fem_port_options(o)), steps(o.steps), gains(g) {
        check_gains(g);
        use_gains();
    }

    /// As back-off leaves them.
    void use_gains() noexcept {
        stiffness = port.gain_scale() * gains.stiffness;
        angular_stiffness = port.gain_scale() * gains.angular_stiffness;
        port.watch_springs(gains.stiffness, gains.angular_stiffness);
    }

    void tell_simulator(double now) noexcept {
        FemHandState& hand = link.hand.write_slot();
        hand.epoch = steps.epoch();  // whose tool the manipulandum began at
        hand.time = now;
        hand.pose = port.manipulandum();
        hand.velocity = port.velocity();
        hand.stiffness = stiffness;
        hand.angular_stiffness = angular_stiffness;
        link.hand.publish();
    }

    /// Load on the hand, and the energy of the springs that make it; docs/haptics.md eq. (F6).
    [[nodiscard]] double render(const FemToolState& shown, bool is_dynamic) noexcept {
        Wrench load = shown.contact;
        double stored = 0, factor = port.gain_scale();
        if (is_dynamic) {
            const Pose& hand = port.manipulandum();
            const Eigen::Vector3d stretch = shown.tool.position - hand.position;
            const Eigen::Vector3d turn = rotation_difference(hand.rotation, shown.tool.rotation);
            load = {stiffness * stretch, angular_stiffness * turn};
            stored = clamped_energy(stretch.norm(), stiffness, gains.rendered_force) +
                     clamped_energy(turn.norm(), angular_stiffness, gains.rendered_torque);
            factor = 1;  // back-off is in the springs
        }
        tick.coupling = {shortened(factor * load.force, gains.rendered_force),
                         shortened(factor * load.torque, gains.rendered_torque)};
        return stored;
    }

    FemHapticLink& link;
    DevicePort port;
    StepInterpolation steps;
    CouplingGains gains;
    double stiffness = 0, angular_stiffness = 0;
    HapticTick tick;
};

FemHapticPort::FemHapticPort(HapticDevice& device, FemHapticLink& link, const CouplingGains& gains,
                             const FemHapticPortOptions& options)
    : impl_(std::make_unique<Impl>(device, link, gains, options)) {}
FemHapticPort::~FemHapticPort() = default;

const HapticTick& FemHapticPort::tick(double now, double dt) noexcept {
    Impl& m = *impl_;
    if (m.port.refuses(now, dt, m.tick)) return m.tick;
    m.link.steps.update();
    const FemToolSteps& published = m.link.steps.read_slot();
    const FemToolState& shown = m.steps.update(published, now);
    m.port.read(now, dt, shown.tool, m.steps.is_anew(), m.tick);
    if (m.steps.epoch() > 0) m.tell_simulator(now);

    m.tick.status = shown.status;
    m.tick.tool = shown.tool;
    m.tick.manipulandum = m.port.manipulandum();
    m.tick.contact = shown.contact;
    m.tick.depth = shown.depth;
    m.tick.num_contacts = shown.num_contacts;
    const double stored = m.render(shown, published.is_dynamic);
    m.port.show(m.gains.injection, {.coupling = stored, .beyond = shown.lent}, m.steps.gain(), now,
                m.tick);
    if (m.port.calm(dt, m.tick)) m.use_gains();
    return m.tick;
}

const HapticTick& FemHapticPort::last() const noexcept { return impl_->tick; }
const StepInterpolation& FemHapticPort::steps() const noexcept { return impl_->steps; }
const CouplingGains& FemHapticPort::gains() const noexcept { return impl_->gains; }
DeviceSafety& FemHapticPort::safety() noexcept { return impl_->port.safety(); }
const PassivityPort& FemHapticPort::port() const noexcept { return impl_->port.port(); }
void FemHapticPort::show_force(bool is_on) noexcept { impl_->port.show_force(is_on); }
void FemHapticPort::set_back_off(bool is_on) noexcept {
    impl_->port.set_back_off(is_on);
    impl_->tick.gain_scale = impl_->port.gain_scale();
    impl_->use_gains();
}
void FemHapticPort::set_passivity_control(bool is_on) noexcept {
    impl_->port.set_passivity_control(is_on);
}

void FemHapticPort::set_gains(const CouplingGains& gains) noexcept {
    impl_->gains = sane_gains(gains, impl_->gains);
    impl_->use_gains();
}

const char* FemHapticPort::notice() const noexcept {
    const Impl& m = *impl_;
    if (const char* stop = m.port.stop_notice(); *stop) return stop;
    if (m.steps.gain() < 1)
        return m.steps.lateness() > 0
                   ? "The simulation stopped: the force fades to zero until it goes on."
                   : "The simulation goes on: the force comes back.";
    if (m.port.has_ceiling())
        return "The force oscillated: the stiffness, more than device and bodies are made for, was "
               "lowered to what they are.";
    if (m.port.gain_scale() < 1)
        return "The force oscillated: it was lowered and comes back slowly while it stays calm.";
    return m.port.help_notice();
}

void FemHapticPort::reset() noexcept {
    Impl& m = *impl_;
    m.port.reset();
    m.steps.reset();
    m.tick = {};
    m.use_gains();
}

}  // namespace pliant
