#include "haptics/device_exchange.h"

#include "core/real_time.h"
#include "haptics/command_limits.h"

#include <pthread.h>

namespace pliant {
namespace {

constexpr double kLoopHold = 0.02;        // as long as DeviceSafety waits for data [s]
constexpr double kLoopFall = 0.05;        // and ramps [s]
constexpr unsigned kPriorityReads = 100;  // between two looks at the loop's priority

double seconds_between(DeviceExchange::Clock::time_point from,
                       DeviceExchange::Clock::time_point to) noexcept {
    return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void DeviceExchange::watch_priority() noexcept {
    if (thread_ == DeviceThread::OfLoop && reads_++ % kPriorityReads == 0)
        priority_.store(real_time_priority(), std::memory_order_relaxed);
}

void DeviceExchange::follow_priority() const noexcept {
    if (thread_ == DeviceThread::Ordinary) return;
    // of this thread: makers' libraries may have given it one
    thread_local int own = real_time_priority();
    const int wanted = priority_.load(std::memory_order_relaxed);
    if (wanted <= own) return;
    own = wanted;
    // where it may not be had, the loop has none either, or the device does without
    static_cast<void>(set_real_time_priority(pthread_self(), wanted));
}

bool DeviceExchange::publish(const DeviceState& state, Clock::time_point measured) noexcept {
    follow_priority();
    if (!is_usable({state.pose.position, Quaternion::Identity()})) return false;
    Reading& reading = readings_.write_slot();
    reading.state = state;
    if (is_rotation(state.pose.rotation))
        rotation_ = state.pose.rotation.normalized();
    else if (state.status == DeviceStatus::Ok)
        reading.state.status = DeviceStatus::NoRotation;
    reading.state.pose.rotation = rotation_;
    Twist& twist = reading.state.twist;
    if (!twist.linear.allFinite() || !twist.angular.allFinite()) twist = {};
    const double opening = state.gripper;
    reading.state.gripper = std::isfinite(opening) ? std::clamp(opening, 0.0, 1.0) : 0.0;
    reading.measured = measured;
    reading.is_gone = false;
    readings_.publish();
    return true;
}

void DeviceExchange::publish_gone() noexcept {
    readings_.write_slot().is_gone = true;
    readings_.publish();
}

DeviceCommand DeviceExchange::command(Clock::time_point now) noexcept {
    follow_priority();
    outputs_.update();
    const Output& output = outputs_.read_slot();
    const double age = seconds_between(output.written, now);
    const double share = std::clamp((kLoopHold + kLoopFall - age) / kLoopFall, 0.0, 1.0);
    return {share * output.command.force, share * output.command.torque,
            share * output.command.gripper};
}

DeviceState DeviceExchange::read(double now) noexcept {
    watch_priority();
    const Clock::time_point moment = Clock::now();
    bool is_news = false;
    if (readings_.update()) {
        const Reading& reading = readings_.read_slot();
        has_reading_ = !reading.is_gone;
        if (has_reading_) {
            is_news = true;
            // onto the clock of the loop, which may have been set back
            const double before = state_.time;
            const double time = now - std::max(0.0, seconds_between(reading.measured, moment));
            state_ = reading.state;
            state_.time = time > before || now < before ? time : before;
            state_.clock = seconds_between(start_, reading.measured);
            measured_ = reading.measured;
        }
    }
    if (!has_reading_ || seconds_between(measured_, moment) > timeout_)
        state_.status = DeviceStatus::Disconnected;
    else if (!is_news &&
             (state_.status == DeviceStatus::Ok || state_.status == DeviceStatus::NoRotation))
        state_.status = DeviceStatus::Stale;
    return state_;
}

void DeviceExchange::write(const DeviceCommand& command) noexcept {
    Output& output = outputs_.write_slot();
    output.command = within_limits(command, capabilities_);
    output.written = Clock::now();
    outputs_.publish();
}

}  // namespace pliant
