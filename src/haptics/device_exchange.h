#pragma once

#include "pliant/core/triple_buffer.h"
#include "pliant/haptics/device.h"

#include <atomic>
#include <chrono>

namespace pliant {

/// Which priority the thread gets that speaks with the hardware.
enum class DeviceThread {
    /// What it has anyhow. For threads that listen to a network: whoever sends them more than they
    /// can take would otherwise keep a core from everything else, loops included.
    Ordinary,
    /// The real-time priority of the thread that reads, where that has one and may give it. For
    /// threads that hear nobody but the device, and wait for it.
    OfLoop,
};

/// Between the tick and the thread that speaks with the hardware. Neither waits for the other:
/// newest readings and commands win. What goes to the hardware is within its limits and vanishes
/// when the loop has stopped.
class DeviceExchange {
public:
    using Clock = std::chrono::steady_clock;

    /// Without a reading for `timeout` seconds the device counts as gone.
    DeviceExchange(const DeviceCapabilities& capabilities, double timeout,
                   DeviceThread thread = DeviceThread::Ordinary)
        : capabilities_(capabilities), timeout_(timeout), thread_(thread) {
        state_.status = DeviceStatus::Disconnected;
    }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept { return capabilities_; }

    // The device's thread; several ones must take turns. Each gets the priority that DeviceThread
    // says.
    /// A reading of the moment `measured`; its own time does not matter. What is good of it is
    /// kept: a rotation that is none becomes the last one, and the status NoRotation; what else is
    /// not finite becomes zero. False: without a place nothing is left, and it is dropped.
    bool publish(const DeviceState& state, Clock::time_point measured) noexcept;
    void publish_gone() noexcept;
    /// To be shown now. Falls to zero from 20 to 70 ms after the last write().
    [[nodiscard]] DeviceCommand command(Clock::time_point now) noexcept;

    // The tick.
    [[nodiscard]] DeviceState read(double now) noexcept;
    void write(const DeviceCommand& command) noexcept;

private:
    struct Reading {
        DeviceState state;
        Clock::time_point measured;
        bool is_gone = true;
    };
    struct Output {
        DeviceCommand command;
        Clock::time_point written;
    };
    /// Asks now and then which priority the loop has.
    void watch_priority() noexcept;
    /// Brings the thread that calls up to it, if it may have it.
    void follow_priority() const noexcept;

    const DeviceCapabilities capabilities_;
    const double timeout_;
    const DeviceThread thread_;
    std::atomic<int> priority_{0};  ///< of the loop
    unsigned reads_ = 0;            ///< since the start; wraps around
    TripleBuffer<Reading> readings_;
    TripleBuffer<Output> outputs_;
    DeviceState state_;                             ///< as last read
    Clock::time_point measured_;                    ///< its moment
    const Clock::time_point start_ = Clock::now();  ///< zero of the readings' own clock
    bool has_reading_ = false;
    Quaternion rotation_ = Quaternion::Identity();  ///< last good one, of the device's thread
};

}  // namespace pliant
