#include "pliant/haptics/device_safety.h"

#include <algorithm>
#include <cmath>

#include "haptics/input_range.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kAssumedTick = 1e-3;    // [s] where the clock says nothing
constexpr double kVelocityTime = 0.01;   // [s] smooths encoder steps
constexpr double kLeastInterval = 1e-6;  // [s] of readings that say something of the velocity
constexpr double kYielding = 0.02;       // [m/s] along the force
constexpr double kThermalMargin = 0.1;   // of the temperature, over which the limit falls
constexpr double kStampError = 1e-3;     // [s] of readings against the clock of a late loop

Vector3d shortened(const Vector3d& v, double longest, bool& is_shortened) noexcept {
    // not stableNorm: its rounding depends on where v lies in memory
    const double size = std::hypot(v.x(), v.y(), v.z());
    if (size <= longest) return v;
    is_shortened = true;
    return v * (longest / size);
}

/// From `from` towards `to`, no further than `reach`.
Vector3d moved(const Vector3d& from, const Vector3d& to, double reach, bool& is_limited) noexcept {
    const Vector3d change = shortened(to - from, reach, is_limited);
    return is_limited ? Vector3d(from + change) : to;
}

}  // namespace

DeviceSafety::DeviceSafety(const DeviceCapabilities& capabilities,
                           const DeviceSafetyOptions& options)
    : capabilities_(capabilities), options_(options) {
    check(capabilities);
    require_range("ramp_time", options.ramp_time, 1e-3, 60, "s");
    require_range("force_rate", options.force_rate, 1, 1e6, "N/s");
    require_range("stale_time", options.stale_time, 1e-4, 1, "s");
    require_range("stale_ramp", options.stale_ramp, 1e-3, 1, "s");
    require_range("impulse_time", options.impulse_time, 1e-3, 10, "s");
    require_range("max_impulse", options.max_impulse, 1e-3, 1000, "N s");
    require_range("max_jump", options.max_jump, 1e-4, 10, "m");
    require_range("max_turn", options.max_turn, 1e-3, 10, "rad");
    require_range("max_speed", options.max_speed, 1e-3, 1000, "m/s");
    require_range("max_spin", options.max_spin, 1e-2, 1e4, "rad/s");
    require_range("thermal_time", options.thermal_time, 0.01, 1e4, "s");
    require_range("deadman_button", options.deadman_button, -1, 31, "");
}

void DeviceSafety::enable() noexcept { is_enabled_ = true; }
void DeviceSafety::disable() noexcept { is_enabled_ = false; }

void DeviceSafety::reset() noexcept {
    report_ = {};
    judged_ = {};
    last_ = {};
    moving_ = turning_ = {};
    moving_pace_ = turning_pace_ = {};
    num_faults_ = 0;
    last_time_ = stamp_ = clock_ = age_ = gain_ = heat_ = 0;
    turn_gain_ = 1;
    is_enabled_ = is_judged_ = has_last_ = has_pose_ = false;
    has_rotation_ = is_turn_known_ = true;
}

/// Eq. (3a). What is beyond wanes with time, so that stamps which are wrong to and fro say nothing,
/// and a way that stays too fast keeps being so.
bool DeviceSafety::Pace::allows(double way, double interval, double most, double slack) noexcept {
    const double now_beyond = std::max(0.0, beyond + way - most * std::max(0.0, interval));
    beyond = std::min(now_beyond, slack);
    return now_beyond <= slack;
}

/// By the ways since the last reading, and by what the device says.
bool DeviceSafety::is_too_fast(const DeviceState& state, const Way& way) noexcept {
    bool is_good = moving_pace_.allows(way.shift, way.interval, options_.max_speed,
                                       kStampError * options_.max_speed) &&
                   state.twist.linear.norm() <= options_.max_speed;
    if (way.has_turn)
        is_good = turning_pace_.allows(way.turn, way.interval, options_.max_spin,
                                       kStampError * options_.max_spin) &&
                  is_good;
    if (state.status != DeviceStatus::NoRotation)
        is_good = state.twist.angular.norm() <= options_.max_spin && is_good;
    return !is_good;
}

/// Notices new data, jumps, and how fast the hand moves.
void DeviceSafety::watch_reading(const DeviceState& state, double now) noexcept {
    const double dt = judged_.dt;
    const bool is_sound = is_finite(state.pose) && std::isfinite(state.time) &&
                          says_where(state.status) && state.status != DeviceStatus::Disabled &&
                          std::abs(now - state.time) <= options_.stale_time;
    age_ += dt;
    if (!is_sound || (has_pose_ && state.time == stamp_)) return;
    // the device's own clock knows of the ticks that a late loop left out
    const double clock = std::isfinite(state.clock) ? state.clock : 0;
    const double interval = clock != 0 && clock_ != 0 ? clock - clock_ : state.time - stamp_;
    const bool has_turn = state.status != DeviceStatus::NoRotation;
    if (has_pose_) {
        // a rotation that was away comes back anywhere
        const bool turns = has_turn && is_turn_known_;
        const Vector3d shift = state.pose.position - last_pose_.position;
        const Vector3d turn = turns ? rotation_difference(last_pose_.rotation, state.pose.rotation)
                                    : Vector3d::Zero();
        judged_.has_jumped =
            !(shift.norm() <= options_.max_jump && turn.norm() <= options_.max_turn);
        judged_.is_too_fast = is_too_fast(state, {interval, shift.norm(), turn.norm(), turns});
        const bool is_fault = judged_.has_jumped || judged_.is_too_fast;
        if (is_fault) ++num_faults_;
        if (is_fault || !(interval > kLeastInterval)) {
            moving_.velocity.setZero();
            turning_.velocity.setZero();
        } else {
            const double weight = -std::expm1(-interval / kVelocityTime);
            moving_.velocity += weight * (shift / interval - moving_.velocity);
            turning_.velocity += weight * (turn / interval - turning_.velocity);
        }
    }
    if (!has_pose_) moving_pace_ = {};
    if (!has_pose_ || !is_turn_known_) turning_pace_ = {};
    last_pose_ = state.pose;
    has_pose_ = true;
    is_turn_known_ = has_turn;
    stamp_ = state.time;
    clock_ = clock;
    // a gap between calls was without data, whatever came after it
    age_ = dt > options_.stale_time ? dt : 0.0;
}

bool DeviceSafety::judge(const DeviceState& state, double now) noexcept {
    judged_ = {};
    // the clock: what it does not say is assumed
    judged_.is_clock_good = std::isfinite(now) && (!has_last_ || now >= last_time_);
    judged_.dt = !has_last_ ? 0.0 : judged_.is_clock_good ? now - last_time_ : kAssumedTick;
    if (std::isfinite(now)) last_time_ = now;
    has_last_ = has_last_ || std::isfinite(now);
    watch_reading(state, now);
    is_judged_ = true;
    return judged_.has_jumped || judged_.is_too_fast;
}

/// Eq. (3): up slowly, down quickly.
void DeviceSafety::update_gain(const DeviceState& state, bool is_clock_good, double dt) noexcept {
    const bool is_gone = state.status == DeviceStatus::Disconnected ||
                         state.status == DeviceStatus::Uncalibrated ||
                         state.status == DeviceStatus::Disabled || !has_pose_;
    report_.is_stale = age_ > options_.stale_time || is_gone || !is_clock_good;
    report_.is_released =
        options_.deadman_button >= 0 && (state.buttons >> options_.deadman_button & 1u) == 0;
    if (report_.has_jumped || report_.is_too_fast || state.status == DeviceStatus::Uncalibrated) {
        gain_ = 0;
    } else if (report_.is_stale || report_.is_released || !is_enabled_) {
        // in a gap the time before data are stale does not count
        const double late = dt > options_.stale_time ? dt - options_.stale_time : dt;
        gain_ = std::max(0.0, gain_ - late / options_.stale_ramp);
    } else {
        gain_ = std::min(1.0, gain_ + dt / options_.ramp_time);
    }
    // without force it may come back anywhere
    if (is_gone && gain_ == 0) has_pose_ = false;
    report_.is_ramping = is_enabled_ && gain_ < 1;
    if (says_where(state.status)) has_rotation_ = state.status != DeviceStatus::NoRotation;
    turn_gain_ = has_rotation_ ? std::min(1.0, turn_gain_ + dt / options_.ramp_time)
                               : std::max(0.0, turn_gain_ - dt / options_.stale_ramp);
}

/// Finite, and only what the device can show.
DeviceCommand DeviceSafety::admissible(const DeviceCommand& wanted) noexcept {
    if (!wanted.force.allFinite() || !wanted.torque.allFinite() || !std::isfinite(wanted.gripper)) {
        report_.was_not_finite = true;
        return {};
    }
    DeviceCommand output = wanted;
    for (int axis = 0; axis < 3; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        if (!capabilities_.is_actuated[i]) output.force[axis] = 0;
        if (!capabilities_.is_actuated[i + 3]) output.torque[axis] = 0;
    }
    return output;
}

/// Eq. (4): the motors warm with the square of what was held since the last call; near the limit
/// they may do less and less beyond what they can do for ever.
DeviceSafety::Limits DeviceSafety::thermal_limits(double dt) noexcept {
    const double force = last_.force.norm() / capabilities_.max_force;
    const double torque =
        capabilities_.max_torque > 0 ? last_.torque.norm() / capabilities_.max_torque : 0.0;
    const double lasting = capabilities_.continuous_force / capabilities_.max_force;
    const double load = std::max(force, torque) / lasting;
    heat_ += -std::expm1(-dt / options_.thermal_time) * (load * load - heat_);
    report_.temperature = heat_;
    const double room = std::clamp((1 - heat_) / kThermalMargin, 0.0, 1.0);
    const double share = lasting + (1 - lasting) * room;
    return {share * capabilities_.max_force, share * capabilities_.max_torque};
}

Vector3d DeviceSafety::softened(const Vector3d& load, const Vector3d& last, double slowest,
                                double most, double dt, Yielding& hand) noexcept {
    const auto pushes = [&](const Vector3d& v) {
        return v.dot(hand.velocity) > slowest * v.norm();
    };
    hand.impulse *= std::exp(-dt / options_.impulse_time);
    if (pushes(last)) hand.impulse += last.norm() * dt;
    if (!(dt > 0) || !pushes(load)) return load;
    return shortened(load, std::max(0.0, most - hand.impulse) / dt, report_.is_softened);
}

/// Eq. (2), second part: a hand that yields is not pushed or turned for long with full force.
/// Torques are forces at the lever that the device has.
void DeviceSafety::limit_impulses(DeviceCommand& output, double dt) noexcept {
    output.force =
        softened(output.force, last_.force, kYielding, options_.max_impulse, dt, moving_);
    const double lever = capabilities_.max_torque / capabilities_.max_force;
    if (!(lever > 0)) return;
    output.torque = softened(output.torque, last_.torque, kYielding / lever,
                             options_.max_impulse * lever, dt, turning_);
}

DeviceCommand DeviceSafety::filter(const DeviceCommand& wanted, const DeviceState& state,
                                   double now) noexcept {
    if (!is_judged_) static_cast<void>(judge(state, now));
    is_judged_ = false;
    const double dt = judged_.dt;
    report_ = {};
    report_.has_jumped = judged_.has_jumped;
    report_.is_too_fast = judged_.is_too_fast;
    report_.num_faults = num_faults_;
    update_gain(state, judged_.is_clock_good, dt);
    DeviceCommand output = admissible(wanted);
    const Limits limits = thermal_limits(dt);

    // eq. (1)
    bool is_over = false;
    output.force = gain_ * shortened(output.force, limits.force, is_over);
    output.torque = gain_ * turn_gain_ * shortened(output.torque, limits.torque, is_over);
    output.gripper = gain_ * std::clamp(output.gripper, -limits.force, limits.force);
    (limits.force < capabilities_.max_force ? report_.is_hot : report_.is_clamped) = is_over;
    limit_impulses(output, dt);

    // eq. (2)
    const double reach = options_.force_rate * dt;
    const double lever = capabilities_.max_torque / capabilities_.max_force;
    output.force = moved(last_.force, output.force, reach, report_.is_slewed);
    bool is_torque_slewed = false;
    output.torque = moved(last_.torque, output.torque, reach * lever, is_torque_slewed);
    report_.is_slewed = report_.is_slewed || is_torque_slewed;
    output.gripper = std::clamp(output.gripper, last_.gripper - reach, last_.gripper + reach);
    last_ = output;
    return output;
}

}  // namespace pliant
