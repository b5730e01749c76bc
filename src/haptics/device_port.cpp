#include "haptics/device_port.h"

#include "haptics/input_range.h"
#include "haptics/pose_rules.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

constexpr double kPortVelocityFilter = 0.3;  // one pole per sample
constexpr double kInjectionTime = 0.02;      // in which damping follows contact [s]

/// One step of an encoder in one sample is no motion: braking it would shake the handle.
PassivityOptions port_passivity(const DeviceCapabilities& device,
                                const DevicePortOptions& options) {
    require_range("haptics.rate", options.rate, 10, 1e6, "Hz");
    PassivityOptions passivity = options.passivity;
    passivity.dead_band = std::max(passivity.dead_band,
                                   1.01 * passivity.filter * options.rate * device.position_step);
    return passivity;
}

bool has_good_news(const DeviceState& state) noexcept {
    return (state.status == DeviceStatus::Ok || state.status == DeviceStatus::Disabled) &&
           is_usable(state.pose);
}

/// What `v` has beyond `size`, in its direction.
Eigen::Vector3d beyond(const Eigen::Vector3d& v, double size) noexcept {
    const double length = v.norm();
    return length > size ? Eigen::Vector3d((1 - size / length) * v) : Eigen::Vector3d::Zero();
}

}  // namespace

DevicePort::DevicePort(HapticDevice& device, const DevicePortOptions& options)
    : device_(device),
      options_(options),
      map_(device.capabilities(), options.workspace),
      safety_(device.capabilities(), options.safety),
      port_(port_passivity(device.capabilities(), options)),
      back_off_(options.rate),
      held_(device.capabilities().delay) {}

void DevicePort::read(double now, double dt, const Pose& tool, bool is_moved,
                      HapticTick& tick) noexcept {
    const DeviceState state = device_.read(now);
    const bool has_news = has_good_news(state);
    age_ += dt;
    step_ = dt;
    if (!has_news && state.status != DeviceStatus::Stale) {
        is_lost_ = true;
        velocity_ = moving_ = {};
    }
    if (has_news) {
        const Eigen::Vector3d travel = state.pose.position - handle_.position;
        if (is_lost_ || is_moved || travel.norm() > options_.safety.max_jump) {
            map_.place(tool, state);
            velocity_ = {};
            port_.reset();
        } else {
            const Eigen::Vector3d turn =
                rotation_difference(handle_.rotation, state.pose.rotation.normalized());
            velocity_.linear += kPortVelocityFilter * (travel / age_ - velocity_.linear);
            velocity_.angular += kPortVelocityFilter * (turn / age_ - velocity_.angular);
        }
        handle_ = {state.pose.position, state.pose.rotation.normalized()};
        is_lost_ = false;
        // one step of an encoder in one sample is no motion
        const DeviceCapabilities& can = device_.capabilities();
        const double still = kPortVelocityFilter * options_.rate;
        moving_ = {beyond(velocity_.linear, still * can.position_step),
                   beyond(velocity_.angular, still * can.angle_step)};
    } else if (is_moved) {
        map_.place(tool, state);
    }
    map_.update(state, dt);
    tick.device = state;
}

Twist DevicePort::velocity() const noexcept {
    return map_.is_clutched() || is_lost_ ? Twist{} : map_.to_scene(moving_);
}

void DevicePort::switch_output(bool is_on) noexcept {
    if (is_on == has_output_) return;
    has_output_ = is_on;
    if (is_on)
        safety_.enable();
    else
        safety_.disable();
}

bool DevicePort::is_rendering() const noexcept {
    const DeviceSafetyReport& r = safety_.report();
    return !is_lost_ && safety_.is_enabled() && !r.is_ramping && !r.is_stale && !r.is_released &&
           !r.is_hot && !r.has_jumped;
}

void DevicePort::show(double injection, const PortStorage& storage, double fade, double now,
                      HapticTick& tick) noexcept {
    const double a = map_.scale();
    switch_output(options_.shows_force && !map_.is_clutched());
    DeviceCommand wanted = map_.to_device(tick.coupling);
    // damping comes and goes with contact, without a jump
    const double change = step_ / kInjectionTime;
    contact_ = std::clamp(contact_ + (tick.num_contacts > 0 ? change : -change), 0.0, 1.0);
    if (options_.injects_damping) wanted.force -= contact_ * injection * moving_.linear;
    wanted.force *= fade;
    wanted.torque *= fade;
    if (!is_rendering() || fade < 1) {
        port_.reset();
    } else if (has_good_news(tick.device)) {
        const DeviceCommand added =
            port_.update(handle_, held_.acting(), {a * storage.coupling, a * storage.beyond}, age_);
        wanted.force += added.force;
        wanted.torque += added.torque;
    }
    // readings that cannot be used are none
    DeviceState reading = tick.device;
    if (is_lost_) reading.status = DeviceStatus::Disconnected;
    tick.command = safety_.filter(wanted, reading, now);
    device_.write(tick.command);
    held_.push(tick.command);
    if (has_good_news(tick.device)) age_ = 0;
    tick.port_energy = port_.energy();
    tick.stored_energy = a * storage.coupling;
}

bool DevicePort::calm(double dt, HapticTick& tick) noexcept {
    back_off_.record({tick.command.force, tick.command.torque}, handle_.position, dt);
    tick.oscillation = back_off_.level().force;
    tick.gain_scale = gain_scale();
    return options_.backs_off && back_off_.has_changed();
}

void DevicePort::set_oscillation_limits(double stiffness, double angular_stiffness) noexcept {
    const DeviceCapabilities& can = device_.capabilities();
    const OscillationOptions standard;
    const double a = map_.scale();
    back_off_.set_limits(
        std::max(standard.force_limit, stiffness / a * can.position_step),
        std::max(standard.torque_limit, 2 * a * angular_stiffness * can.angle_step));
}

void DevicePort::silence(HapticTick& tick) noexcept {
    tick.command = {};
    device_.write({});
    held_.push({});
    port_.reset();
}

void DevicePort::reset() noexcept {
    safety_.reset();
    port_.reset();
    back_off_.reset();
    held_.clear();
    velocity_ = moving_ = {};
    age_ = contact_ = 0;
    is_lost_ = true;
    has_output_ = false;
}

}  // namespace pliant
