#pragma once

#include "haptics/device_exchange.h"
#include "haptics/network_message.h"
#include "pliant/haptics/network_device.h"

#include <optional>
#include <string>
#include <string_view>

namespace pliant {

/// When a driver measured, on our clock: its own clock, shifted by the shortest way a message had.
/// So a message that was held up is known to be old.
class DriverClock {
public:
    using Time = DeviceExchange::Clock::time_point;
    /// Nothing where the driver's clock jumped: that reading is lost, the next one counts again.
    [[nodiscard]] std::optional<Time> measured(double stamp, Time arrived) noexcept;

private:
    bool has_shift_ = false;
    double shift_ = 0;  ///< least of arrival − stamp, seconds since epoch_
    Time epoch_, last_;
};

/// What a port knows about its driver: takes messages, refuses what cannot be, answers. Not
/// thread-safe; `exchange` must outlive it.
class DriverSession {
public:
    using Time = DeviceExchange::Clock::time_point;

    DriverSession(DeviceExchange& exchange, double timeout)
        : exchange_(exchange), timeout_(timeout) {}

    /// A message of somebody called `peer`. The answer is valid until the next call; empty: none.
    [[nodiscard]] std::string_view receive(std::string_view peer, std::span<const std::byte> bytes,
                                           Time now);
    /// Lets go a driver that is silent.
    void check_silence(Time now);
    /// Its connection has ended.
    void forget(std::string_view peer);

    [[nodiscard]] const NetworkDeviceCounts& counts() const noexcept { return counts_; }
    /// Empty: none.
    [[nodiscard]] const std::string& driver_name() const noexcept { return can_.name; }
    /// What the driver that is attached is called by receive().
    [[nodiscard]] std::string_view driver_peer() const noexcept {
        return is_attached_ ? std::string_view(peer_) : std::string_view();
    }

private:
    std::string_view answer(DriverTag tag, DriverAnswer answer);
    std::string_view take(std::string_view peer, const DriverHello& hello, Time now);
    std::string_view take(std::string_view peer, const DriverReading& reading, Time now);
    std::string_view take(std::string_view peer, const DriverBye& bye, Time now);
    std::string_view take(std::string_view peer, DriverFault fault, Time now);
    [[nodiscard]] bool is_driver(std::string_view peer, DriverTag tag) const;
    void detach();

    DeviceExchange& exchange_;
    const double timeout_;
    NetworkDeviceCounts counts_;
    std::string reply_;
    // of the driver that is attached
    bool is_attached_ = false;
    std::string peer_;
    DriverTag tag_;  ///< of its last message
    DeviceCapabilities can_;
    double force_share_ = 1, torque_share_ = 1;  ///< of the commands, so that it can show them
    DriverClock clock_;
    Time heard_;
    std::uint32_t sent_ = 0;
};

}  // namespace pliant
