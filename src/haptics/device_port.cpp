#include "haptics/device_port.h"

#include "haptics/encoder_border.h"
#include "haptics/gain_rules.h"
#include "haptics/input_range.h"
#include "haptics/pose_rules.h"

#include <algorithm>
#include <cmath>

namespace pliant {

namespace {

constexpr double kPortVelocityFilter = 0.3;  // one pole per sample

/// One step of an encoder in one sample is no motion: braking it would shake the handle.
PassivityOptions port_passivity(const DeviceCapabilities& device,
                                const DevicePortOptions& options) {
    require_range("haptics.rate", options.rate, 10, 1e6, "Hz");
    PassivityOptions passivity = options.passivity;
    const double step = passivity.filter * options.rate * device.position_step;
    passivity.dead_band = std::max(passivity.dead_band, 1.01 * step);
    if (options.motion == HandleMotion::Borders && passivity.position_step == 0)
        passivity.position_step = device.position_step;
    return passivity;
}

bool has_good_news(const DeviceState& state) noexcept {
    return says_where(state.status) && is_usable(state.pose);
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
      held_(device.capabilities().delay),
      rest_(device.capabilities().position_step) {}

bool DevicePort::refuses(double now, double dt, HapticTick& tick) noexcept {
    if (std::isfinite(now) && std::isfinite(dt) && dt > 0) return false;
    tick.command = {};
    device_.write({});
    held_.push({});
    port_.reset();
    tick.status = StepStatus::InputIgnored;
    return true;
}

void DevicePort::read(double now, double dt, const Pose& tool, bool is_moved,
                      HapticTick& tick) noexcept {
    const DeviceState state = device_.read(now);
    const bool has_news = has_good_news(state);
    if (state.status != DeviceStatus::Stale) status_ = state.status;
    age_ += dt;
    step_ = dt;
    if (!has_news && state.status != DeviceStatus::Stale) {
        is_lost_ = true;
        velocity_ = moving_ = {};
    }
    // readings that cannot be used are none
    judged_ = state;
    if (is_lost_ && !has_news && state.status != DeviceStatus::Uncalibrated)
        judged_.status = DeviceStatus::Disconnected;
    is_fault_ = safety_.judge(judged_, now);
    DeviceState used = state;
    if (has_news) {
        take_turn(state);
        take_interval(state);
        const double travel = (state.pose.position - handle_.position).norm();
        const double turn = rotation_difference(handle_.rotation, state.pose.rotation).norm();
        const bool begins = is_lost_ || is_moved || is_fault_ ||
                            travel > options_.safety.max_jump || turn > options_.safety.max_turn;
        if (begins) {
            rest_.begin(state.pose.position);
            map_.place(tool, state);
            velocity_ = moving_ = {};
            port_.reset();
            place_ = state.pose.position;
        } else {
            used.pose.position = rest_.update(state.pose.position, age_);
            follow(state);
        }
        lag_ = used.pose.position - state.pose.position;
        handle_ = state.pose;
        is_lost_ = false;
    } else if (is_moved || begins_) {
        // a tool that was put back while the device is away stays there
        map_.place(tool, state);
    }
    begins_ = false;
    map_.update(used, dt);
    tick.device = state;
}

/// A rotation that comes back turned nothing: nobody saw on which way. The manipulandum keeps its
/// own (WorkspaceMap).
void DevicePort::take_turn(const DeviceState& state) noexcept {
    if (state.status == DeviceStatus::NoRotation) is_turn_known_ = false;
    if (is_turn_known_ || state.status != DeviceStatus::Ok) return;
    is_turn_known_ = true;
    handle_.rotation = state.pose.rotation;
    port_.forget_turn(state.pose.rotation);
}

/// Ticks of a loop that stood still count one period each, whatever they took; the device's own
/// clock knows. Never less than the ticks say: velocities are not made larger by a clock.
void DevicePort::take_interval(const DeviceState& state) noexcept {
    const double clock = std::isfinite(state.clock) ? state.clock : 0;
    const double by_clock = clock != 0 && clock_ != 0 ? clock - clock_ : 0;
    interval_ = std::max(age_, by_clock);
    clock_ = clock;
}

/// Velocity of the handle by a reading after the one before.
void DevicePort::follow(const DeviceState& state) noexcept {
    const DeviceCapabilities& can = device_.capabilities();
    const bool is_by_borders = options_.motion == HandleMotion::Borders;
    const Eigen::Vector3d place = crossed_border(state.pose.position, handle_.position, place_,
                                                 is_by_borders ? can.position_step : 0);
    const Eigen::Vector3d turn = rotation_difference(handle_.rotation, state.pose.rotation);
    velocity_.linear += kPortVelocityFilter * ((place - place_) / interval_ - velocity_.linear);
    velocity_.angular += kPortVelocityFilter * (turn / interval_ - velocity_.angular);
    place_ = place;
    moving_ = velocity_;
    if (is_by_borders) return;
    const double still = kPortVelocityFilter * options_.rate;
    moving_ = {beyond(velocity_.linear, still * can.position_step),
               beyond(velocity_.angular, still * can.angle_step)};
}

Twist DevicePort::velocity() const noexcept {
    return map_.is_clutched() || is_lost_ ? Twist{} : map_.to_scene(moving_);
}

/// Safety ramps from one to the other.
void DevicePort::switch_output(bool is_on) noexcept {
    if (is_on == has_output_) return;
    has_output_ = is_on;
    if (is_on)
        safety_.enable();
    else
        safety_.disable();
}

/// The output is the springs' own, so that the energy of both may be compared.
bool DevicePort::is_rendering() const noexcept {
    const DeviceSafetyReport& r = safety_.report();
    return !is_lost_ && safety_.is_enabled() && !r.is_ramping && !r.is_stale && !r.is_released &&
           !r.is_hot && !r.has_jumped && !r.is_too_fast;
}

void DevicePort::show(double injection, const PortStorage& storage, double fade, double now,
                      HapticTick& tick) noexcept {
    const double a = map_.scale();
    switch_output(options_.shows_force && !map_.is_clutched());
    DeviceCommand wanted = map_.to_device(tick.coupling);
    const PortStorage stored{a * storage.coupling, a * storage.beyond, wanted.force, lag_,
                             a * storage.given};
    // damping comes and goes with contact
    const double change = options_.injection_time > 0 ? step_ / options_.injection_time : 1;
    contact_ = std::clamp(contact_ + (tick.num_contacts > 0 ? change : -change), 0.0, 1.0);
    if (options_.injects_damping && contact_ > 0)
        wanted.force -= contact_ * injection * moving_.linear;
    wanted.force *= fade;
    wanted.torque *= fade;
    if (!is_rendering() || is_fault_ || fade < 1) {
        port_.reset(stored.coupling);
    } else if (has_good_news(tick.device)) {
        const DeviceCommand added = port_.update(handle_, held_.acting(), stored, interval_);
        wanted.force += added.force;
        wanted.torque += added.torque;
    }
    if (tick.device.status != DeviceStatus::Disconnected && !is_usable(tick.device.pose))
        tick.status = StepStatus::InputIgnored;
    tick.command = safety_.filter(wanted, judged_, now);
    tick.faults = safety_.report().num_faults;
    name_fault();
    device_.write(tick.command);
    held_.push(tick.command);
    if (has_good_news(tick.device)) age_ = 0;
    tick.port_energy = port_.energy();
    tick.stored_energy = port_.stored();
}

/// Until the force is back, so that people can read it.
void DevicePort::name_fault() noexcept {
    const DeviceSafetyReport& r = safety_.report();
    if (r.has_jumped)
        fault_ = "The handle jumped: its force is zero and the tool goes on from where it was.";
    else if (r.is_too_fast)
        fault_ =
            "The device says that its handle moves faster than a hand can: its force is zero and "
            "comes back slowly.";
    else if (!r.is_ramping)
        fault_ = "";
}

bool DevicePort::calm(double dt, HapticTick& tick) noexcept {
    back_off_.record({tick.command.force, tick.command.torque}, handle_.position, dt);
    tick.oscillation = back_off_.level().force;
    tick.gain_scale = gain_scale();
    return options_.backs_off && back_off_.has_changed();
}

void DevicePort::watch_springs(double stiffness, double angular_stiffness) noexcept {
    const DeviceCapabilities& can = device_.capabilities();
    const OscillationOptions standard;
    const double a = map_.scale();
    const bool turns = can.max_angular_stiffness > 0;
    const double carried = std::min(can.max_stiffness, answered_stiffness(options_.answer_time));
    back_off_.set_safe(std::min(a * carried / stiffness,
                                turns ? can.max_angular_stiffness / (a * angular_stiffness) : 1.0));
    // of more than the device is made for, what the encoders make is no excuse
    const double shift = std::min(gain_scale() * stiffness / a, can.max_stiffness);
    double turn = a * (gain_scale() * angular_stiffness);
    if (turns) turn = std::min(turn, can.max_angular_stiffness);
    back_off_.set_limits(std::max(standard.force_limit, shift * can.position_step),
                         std::max(standard.torque_limit, 2 * turn * can.angle_step));
}

const char* DevicePort::stop_notice() const noexcept {
    const DeviceSafetyReport& r = safety_.report();
    if (status_ == DeviceStatus::Uncalibrated)
        return *device_.remedy()
                   ? device_.remedy()
                   : "The device is not calibrated: no force. Calibrate it as its maker says; then "
                     "it goes on by itself.";
    if (is_lost_)
        return "The device does not answer: its force is zero and the tool stays; it goes on from "
               "there when the device is back.";
    if (r.was_not_finite) return "A force that is not a number was asked for: it is zero.";
    if (*fault_) return fault_;
    if (r.is_stale) return "Readings of the device are old: its force is zero.";
    if (r.is_released) return "The dead man's button is up: the force is zero.";
    return "";
}

const char* DevicePort::help_notice() const noexcept {
    if (status_ == DeviceStatus::NoRotation)
        return "The device does not say how it is turned: its torque is zero and the rotation "
               "stays.";
    if (port_.damping() > 0) return "The loop made energy: damping takes it out.";
    if (safety_.report().is_hot)
        return "The motors are warm: the force is limited to what they can hold for ever.";
    return "";
}

void DevicePort::set_back_off(bool is_on) noexcept {
    options_.backs_off = is_on;
    if (!is_on) back_off_.reset();
}

void DevicePort::reset() noexcept {
    safety_.reset();
    port_.reset();
    back_off_.reset();
    held_.clear();
    velocity_ = moving_ = {};
    age_ = interval_ = clock_ = contact_ = 0;
    fault_ = "";
    is_lost_ = begins_ = is_turn_known_ = true;
    has_output_ = is_fault_ = false;
}

}  // namespace pliant
