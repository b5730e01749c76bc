#include "pliant/haptics/simulated_device.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "haptics/command_limits.h"
#include "haptics/input_range.h"
#include "haptics/tremor.h"

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr int kMaxDelay = 64, kMaxSamplesPerRead = 200;
constexpr double kFarthest = 1e6;        // [m]
constexpr double kClockRounding = 0.01;  // samples: clocks far from zero are coarse

void check(const HandModel& hand) {
    require_range("hand.stiffness", hand.stiffness, 0, 1e6, "N/m");
    require_range("hand.damping", hand.damping, 0, 1e4, "N s/m");
    require_range("hand.angular_stiffness", hand.angular_stiffness, 0, 1e5, "N m/rad");
    require_range("hand.angular_damping", hand.angular_damping, 0, 1e3, "N m s/rad");
    require_range("hand.mass", hand.mass, 0, 100, "kg");
    require_range("hand.tremor", hand.tremor, 0, 0.1, "m");
}

void check_mass(double mass) { require_range("device.mass", mass, 1e-3, 100, "kg"); }

DeviceModel checked(DeviceModel model) {
    check_mass(model.mass);
    require_range("device.inertia", model.inertia, 1e-9, 10, "kg m²");
    require_range("device.damping", model.damping, 0, 1e4, "N s/m");
    require_range("device.angular_damping", model.angular_damping, 0, 1e3, "N m s/rad");
    require_range("device.friction", model.friction, 0, 1000, "N");
    if (model.motor_bandwidth != 0)
        require_range("device.motor_bandwidth", model.motor_bandwidth, 0.1, 1e6, "Hz, or 0");
    require_range("device.rate", model.rate, 10, 1e5, "Hz");
    require_range("device.delay", model.delay, 0, kMaxDelay, "samples");
    require_range("device.steps_per_sample", model.steps_per_sample, 1, 1000, "");
    model.capabilities.delay = model.delay;
    check(model.capabilities);
    return model;
}

bool is_reachable(const Pose& pose) noexcept {
    return is_finite(pose) && pose.position.cwiseAbs().maxCoeff() <= kFarthest &&
           std::abs(pose.rotation.norm() - 1) < 1e-3;
}

/// A body on a spring and dampers during one step of the integration; eq. (5)–(7).
struct Mechanism {
    double mass, damping, hand_stiffness, hand_damping, friction;
};
struct MechanismStep {
    Vector3d velocity;   // at the end
    Vector3d travel;     // during the step
    Vector3d hand_load;  // mean
    double hand_work, dissipated;
};

/// Implicit midpoint rule: keeps the energy of a spring exactly and follows a constant force
/// exactly. `gap` leads from the body to the target, which moves with `target_velocity`. Friction
/// has the direction of the new velocity: a body that it can hold stops and stays.
MechanismStep advance(const Mechanism& body, const Vector3d& v0, const Vector3d& load,
                      const Vector3d& gap, const Vector3d& target_velocity, double h) noexcept {
    const double k = body.hand_stiffness;
    const double drag = 0.5 * (body.damping + body.hand_damping) + 0.25 * k * h;
    const Vector3d push = (body.mass / h - drag) * v0 + load + k * gap +
                          (0.5 * k * h + body.hand_damping) * target_velocity;
    const double size = push.norm();
    const double kept = size > body.friction ? 1 - body.friction / size : 0.0;

    MechanismStep step;
    step.velocity = (body.friction > 0 ? kept : 1.0) * push / (body.mass / h + drag);
    const Vector3d mean = 0.5 * (v0 + step.velocity), slip = target_velocity - mean;
    step.travel = h * mean;
    step.hand_load = k * (gap + 0.5 * h * slip) + body.hand_damping * slip;
    step.hand_work = h * step.hand_load.dot(target_velocity);
    step.dissipated =
        h * (body.damping * mean.squaredNorm() + body.hand_damping * slip.squaredNorm());
    if (body.friction > 0) step.dissipated += (1 - kept) * push.dot(step.travel);
    return step;
}

double stepped(double value, double step) noexcept {
    return step > 0 ? step * std::nearbyint(value / step) : value;
}

}  // namespace

HandModel HandModel::loose() {
    return {.stiffness = 100,
            .damping = 1,
            .angular_stiffness = 0.3,
            .angular_damping = 0.004,
            .mass = 0.03};
}
HandModel HandModel::firm() {
    return {.stiffness = 1000,
            .damping = 6,
            .angular_stiffness = 3,
            .angular_damping = 0.02,
            .mass = 0.1};
}
HandModel HandModel::absent() {
    return {.stiffness = 0, .damping = 0, .angular_stiffness = 0, .angular_damping = 0, .mass = 0};
}

struct SimulatedDevice::Impl {
    explicit Impl(const DeviceModel& device) : model(checked(device)), tremor(model.seed) {
        step = 1 / (model.rate * model.steps_per_sample);
        const double decay = 2 * std::numbers::pi * model.motor_bandwidth * step;
        motor_kept = decay > 0 ? std::exp(-decay) : 0.0;
        motor_mean = decay > 0 ? -std::expm1(-decay) / decay : 0.0;
    }

    [[nodiscard]] double sample_time() const noexcept {
        return anchor_time + static_cast<double>(sample - anchor_sample) / model.rate;
    }
    [[nodiscard]] Pose trembling(const Pose& at) const noexcept {
        if (hand.tremor == 0) return at;
        const double time = static_cast<double>(sample) / model.rate;
        return {at.position + hand.tremor * tremor.offset(time), at.rotation};
    }

    /// What the encoders say, eq. (8).
    [[nodiscard]] Pose encoded() const noexcept {
        const DeviceCapabilities& can = model.capabilities;
        Vector3d position = pose.position, turn = rotation_vector(pose.rotation);
        for (int axis = 0; axis < 3; ++axis) {
            const auto i = static_cast<std::size_t>(axis);
            position[axis] = can.is_sensed[i] ? stepped(position[axis], can.position_step) : 0.0;
            turn[axis] = can.is_sensed[i + 3] ? stepped(turn[axis], can.angle_step) : 0.0;
        }
        return {position, rotation_from_vector(turn)};
    }

    void drive_motors(const DeviceCommand& wanted, DeviceCommand& mean) noexcept {
        mean.force = wanted.force + motor_mean * (motors.force - wanted.force);
        mean.torque = wanted.torque + motor_mean * (motors.torque - wanted.torque);
        motors.force = wanted.force + motor_kept * (motors.force - wanted.force);
        motors.torque = wanted.torque + motor_kept * (motors.torque - wanted.torque);
        motors.gripper = wanted.gripper;
    }

    void advance_sample() noexcept {
        // the command that is due now
        const std::int64_t slots = model.delay + 1;
        pipeline[static_cast<std::size_t>(sample % slots)] = written;
        const DeviceCommand wanted = pipeline[static_cast<std::size_t>((sample + 1) % slots)];

        ++sample;
        const Pose next_target = trembling(reached);
        target_twist.linear = model.rate * (next_target.position - target.position);
        target_twist.angular =
            model.rate * rotation_difference(target.rotation, next_target.rotation);
        const Mechanism shift{model.mass + hand.mass, model.damping, hand.stiffness, hand.damping,
                              model.friction};
        const Mechanism turn{model.inertia, model.angular_damping, hand.angular_stiffness,
                             hand.angular_damping, 0};
        DeviceCommand mean;
        for (int i = 0; i < model.steps_per_sample; ++i) {
            drive_motors(wanted, mean);
            const double at = i * step;
            const Vector3d gap = target.position + at * target_twist.linear - pose.position;
            const MechanismStep moved =
                advance(shift, twist.linear, mean.force, gap, target_twist.linear, step);
            pose.position += moved.travel;
            twist.linear = moved.velocity;
            motor_work += mean.force.dot(moved.travel);
            book(moved);
            advance_turn(turn, mean.torque, at);
        }
        target = next_target;
        update_hand_load();

        // readings
        const Pose last = sensed;
        sensed = encoded();
        if (!is_connected) return;
        state.pose = sensed;
        state.twist.linear = model.rate * (sensed.position - last.position);
        state.twist.angular = model.rate * rotation_difference(last.rotation, sensed.rotation);
    }

    void advance_turn(const Mechanism& body, const Vector3d& torque, double at) noexcept {
        // the gap halfway, where rotations add up, less what advance() adds until there
        Vector3d gap = Vector3d::Zero();
        if (body.hand_stiffness > 0) {
            const Vector3d ahead = 0.5 * step * twist.angular;
            const Quaternion goal_there =
                rotation_from_vector((at + 0.5 * step) * target_twist.angular) * target.rotation;
            gap = rotation_difference(rotation_from_vector(ahead) * pose.rotation, goal_there) -
                  0.5 * step * target_twist.angular + ahead;
        }
        const MechanismStep turned =
            advance(body, twist.angular, torque, gap, target_twist.angular, step);
        twist.angular = turned.velocity;
        if (turned.travel.isZero(0)) return;
        pose.rotation = (rotation_from_vector(turned.travel) * pose.rotation).normalized();
        motor_work += torque.dot(turned.travel);
        book(turned);
    }
    void book(const MechanismStep& moved) noexcept {
        hand_work += moved.hand_work;
        dissipated += moved.dissipated;
    }

    void update_hand_load() noexcept {
        hand_load.force = hand.stiffness * (target.position - pose.position) +
                          hand.damping * (target_twist.linear - twist.linear);
        hand_load.torque =
            hand.angular_stiffness * rotation_difference(pose.rotation, target.rotation) +
            hand.angular_damping * (target_twist.angular - twist.angular);
    }
    [[nodiscard]] double stored_energy() const noexcept {
        const Vector3d turn = rotation_difference(pose.rotation, target.rotation);
        return 0.5 * ((model.mass + hand.mass) * twist.linear.squaredNorm() +
                      model.inertia * twist.angular.squaredNorm() +
                      hand.stiffness * (target.position - pose.position).squaredNorm() +
                      hand.angular_stiffness * turn.squaredNorm());
    }

    DeviceModel model;
    HandModel hand;
    Tremor tremor;
    double step, motor_kept, motor_mean;

    Pose sensed;  // by the encoders, also while nobody listens
    // goal: of aim(); reached: on the way to it; target: with tremor
    Pose pose, target, reached, goal;
    Twist twist, target_twist;
    DeviceCommand written, motors;
    std::array<DeviceCommand, kMaxDelay + 1> pipeline;
    Wrench hand_load;
    double motor_work = 0, hand_work = 0, dissipated = 0;

    std::int64_t sample = 0, anchor_sample = 0;
    double anchor_time = 0;
    bool has_clock = false, is_connected = true;
    DeviceState state;
};

SimulatedDevice::SimulatedDevice(const DeviceModel& model, const HandModel& hand)
    : impl_(std::make_unique<Impl>(model)) {
    set_hand(hand);
    place({});
}
SimulatedDevice::~SimulatedDevice() = default;

void SimulatedDevice::aim(const Pose& target) noexcept {
    if (is_reachable(target)) impl_->goal = target;
}

void SimulatedDevice::place(const Pose& pose, const Twist& twist) noexcept {
    Impl& d = *impl_;
    if (!is_reachable(pose) || !twist.linear.allFinite() || !twist.angular.allFinite()) return;
    d.pose = d.reached = d.goal = pose;
    d.target = d.trembling(pose);
    d.twist.linear = shortened(twist.linear, kFarthest);
    d.twist.angular = shortened(twist.angular, kFarthest);
    d.target_twist = {};
    d.motor_work = d.hand_work = d.dissipated = 0;
    d.update_hand_load();
    d.state.pose = d.sensed = d.encoded();
    d.state.twist = {};
}

void SimulatedDevice::reset(const Pose& pose) noexcept {
    Impl& d = *impl_;
    d.sample = d.anchor_sample = 0;
    d.anchor_time = 0;
    d.has_clock = false;
    d.is_connected = true;
    d.written = d.motors = {};
    d.pipeline.fill({});
    d.state = {};
    place({});
    place(pose);
}

void SimulatedDevice::set_hand(const HandModel& hand) {
    check(hand);
    Impl& d = *impl_;
    d.hand = hand;
    // a hand that has not begun begins with this one
    if (!d.has_clock) d.target = d.trembling(d.reached);
    d.update_hand_load();
}

void SimulatedDevice::set_mass(double mass) {
    check_mass(mass);
    impl_->model.mass = mass;
}

void SimulatedDevice::set_buttons(std::uint32_t buttons) noexcept {
    impl_->state.buttons = buttons;
}
void SimulatedDevice::set_connected(bool is_connected) noexcept {
    impl_->is_connected = is_connected;
    if (is_connected) return;
    impl_->written = {};
    impl_->pipeline.fill({});
}

const DeviceCapabilities& SimulatedDevice::capabilities() const noexcept {
    return impl_->model.capabilities;
}

DeviceState SimulatedDevice::read(double now) noexcept {
    Impl& d = *impl_;
    bool is_new = false;
    if (std::isfinite(now)) {
        if (!d.has_clock) {
            d.anchor_time = now;
            d.has_clock = is_new = true;
        }
        // whole samples that are due; the clock begins anew where it jumped
        const double due = std::floor((now - d.sample_time()) * d.model.rate + kClockRounding);
        const int count = static_cast<int>(std::clamp(due, 0.0, double{kMaxSamplesPerRead}));
        const Pose from = d.reached;
        for (int i = 1; i <= count; ++i) {
            d.reached =
                i < count ? interpolate(from, d.goal, static_cast<double>(i) / count) : d.goal;
            d.advance_sample();
        }
        if (due != count) {
            d.anchor_time = now;
            d.anchor_sample = d.sample;
        }
        is_new = is_new || count > 0;
    }
    d.state.time = d.sample_time();
    DeviceState state = d.state;
    state.status = !d.is_connected ? DeviceStatus::Disconnected
                   : is_new        ? DeviceStatus::Ok
                                   : DeviceStatus::Stale;
    return state;
}

void SimulatedDevice::write(const DeviceCommand& command) noexcept {
    impl_->written =
        impl_->is_connected ? within_limits(command, impl_->model.capabilities) : DeviceCommand{};
}

const Pose& SimulatedDevice::true_pose() const noexcept { return impl_->pose; }
const Twist& SimulatedDevice::true_twist() const noexcept { return impl_->twist; }
const DeviceCommand& SimulatedDevice::applied() const noexcept { return impl_->motors; }
const Wrench& SimulatedDevice::hand_load() const noexcept { return impl_->hand_load; }
double SimulatedDevice::motor_work() const noexcept { return impl_->motor_work; }
double SimulatedDevice::hand_work() const noexcept { return impl_->hand_work; }
double SimulatedDevice::dissipated() const noexcept { return impl_->dissipated; }
double SimulatedDevice::stored_energy() const noexcept { return impl_->stored_energy(); }

}  // namespace pliant
