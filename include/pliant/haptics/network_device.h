#pragma once

#include "pliant/haptics/device.h"

#include <memory>
#include <string>

namespace pliant {

/// "network": a driver in another program, by UDP or WebSocket on the same port; NetworkDevice.
struct NetworkDescription {
    std::string address = "127.0.0.1";  ///< of this machine; 0.0.0.0: drivers elsewhere, too
    int port = 7717;                    ///< 0: any free one
    /// What the loop may assume. Forces for a driver that can do less are scaled down.
    DeviceCapabilities capabilities = {};
    double timeout = 0.1;  ///< without a reading before the driver counts as gone [s]
};

/// Messages of drivers since the start.
struct NetworkDeviceCounts {
    std::uint64_t readings = 0;   ///< taken
    std::uint64_t attached = 0;   ///< drivers, one after the other
    std::uint64_t malformed = 0;  ///< not of this protocol, or of the wrong size
    std::uint64_t wrong_version = 0;
    std::uint64_t bad_values = 0;    ///< something not finite, no rotation, or beyond any device
    std::uint64_t out_of_order = 0;  ///< replayed or overtaken
    std::uint64_t clock_jumps = 0;   ///< of the driver's clock
    std::uint64_t foreign = 0;       ///< of somebody else while a driver was attached
};

/// A device whose driver is another program, in any language; docs/haptics.md section "Network" has
/// the protocol, examples/network_device.py a driver. It listens for UDP datagrams and WebSocket
/// messages on threads of its own. One driver at a time; without one, or when it is silent, the
/// device is Disconnected, and the next driver may come. Sockets are not encrypted and ask nobody
/// who they are: beyond this machine only in a network that is trusted.
class NetworkDevice final : public HapticDevice {
public:
    /// Throws InputError for a port that is taken and numbers out of range.
    explicit NetworkDevice(const NetworkDescription& description);
    ~NetworkDevice() override;

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override;
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override;

    [[nodiscard]] int port() const noexcept;
    /// Any thread but that of the tick: they lock.
    [[nodiscard]] NetworkDeviceCounts counts() const;
    [[nodiscard]] std::string driver_name() const;  ///< as it calls itself; empty: none is there

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
