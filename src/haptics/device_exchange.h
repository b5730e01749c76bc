#pragma once

#include "pliant/core/triple_buffer.h"
#include "pliant/haptics/device.h"

#include <chrono>

namespace pliant {

/// Between the tick and the thread that speaks with the hardware. Neither waits for the other:
/// newest readings and commands win. What goes to the hardware is within its limits and vanishes
/// when the loop has stopped.
class DeviceExchange {
public:
    using Clock = std::chrono::steady_clock;

    /// Without a reading for `timeout` seconds the device counts as gone.
    DeviceExchange(const DeviceCapabilities& capabilities, double timeout)
        : capabilities_(capabilities), timeout_(timeout) {
        state_.status = DeviceStatus::Disconnected;
    }
    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept { return capabilities_; }

    // The device's thread; several ones must take turns.
    /// A reading of the moment `measured`; its own time does not matter. False, and it is dropped:
    /// a pose that is not finite. What else is not becomes zero.
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
    const DeviceCapabilities capabilities_;
    const double timeout_;
    TripleBuffer<Reading> readings_;
    TripleBuffer<Output> outputs_;
    DeviceState state_;           ///< as last read
    Clock::time_point measured_;  ///< its moment
    bool has_reading_ = false;
};

}  // namespace pliant
