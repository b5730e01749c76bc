#pragma once

#include "pliant/haptics/device.h"

#include <memory>
#include <string>

namespace pliant {

/// "haply": an Inverse3 through the service of its maker; HaplyDevice.
struct HaplyDescription {
    std::string url = "ws://127.0.0.1:10001";
    std::string device_id = {};  ///< empty: the first one
    DeviceLimits limits = {};
};

/// Messages of the service since the start.
struct HaplyDeviceCounts {
    std::uint64_t readings = 0;   ///< taken
    std::uint64_t malformed = 0;  ///< no JSON, or fields of other types
    std::uint64_t bad_values = 0;  ///< a place beyond any device, or a rotation that is none
    std::uint64_t absent = 0;     ///< without the device
    std::uint64_t connected = 0;  ///< to the service
};

/// A Haply Inverse3 (and a VerseGrip, if there is one, for the rotation and buttons) through the
/// Haply Inverse Service: JSON messages over a WebSocket, on a thread of its own, 1000 forces a
/// second, each answered by a reading. Shows forces, no torques. Disconnected until the service and
/// the device are there; connects again by itself. The origin is in the middle of the workspace;
/// axes: x to the right, y away from the user, z up.
class HaplyDevice final : public HapticDevice {
public:
    /// Throws InputError for an address that is none.
    explicit HaplyDevice(const HaplyDescription& description = {});
    ~HaplyDevice() override;

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override;
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override;

    // Any thread but that of the tick: they lock.
    [[nodiscard]] HaplyDeviceCounts counts() const;
    [[nodiscard]] std::string device_id() const;  ///< that is used; empty: none was found yet

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
