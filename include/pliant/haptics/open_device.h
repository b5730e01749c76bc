#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/haptics/device.h"
#include "pliant/haptics/simulated_device.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace pliant {

/// "simulated": a device in a hand, in virtual time; SimulatedDevice.
struct SimulatedDescription {
    DeviceModel model = {};
    HandModel hand = {};
};

/// "scripted": a handle on a path; ScriptedDevice.
struct ScriptedDescription {
    ScriptedMotion motion;
    DeviceCapabilities capabilities = {};
};

/// "recorded": readings of another time; RecordedDevice.
struct RecordedDescription {
    std::vector<DeviceState> states;
    DeviceCapabilities capabilities = {};
};

/// "network": a driver in another program, by UDP or WebSocket on the same port; NetworkDevice.
struct NetworkDescription {
    std::string address = "127.0.0.1";  ///< of this machine; 0.0.0.0: drivers elsewhere, too
    int port = 7717;                    ///< 0: any free one
    /// What the loop may assume. Forces for a driver that can do less are scaled down.
    DeviceCapabilities capabilities = {};
    double timeout = 0.1;  ///< without a message before the driver counts as gone [s]
};

/// "haply": an Inverse3 through the service of its maker; HaplyDevice.
struct HaplyDescription {
    std::string url = "ws://127.0.0.1:10001";
    std::string device_id;  ///< empty: the first one
};

/// "force-dimension": through the maker's library, loaded at run time; ForceDimensionDevice.
struct ForceDimensionDescription {
    std::string library;  ///< path; empty: libdhd.so where the system looks
    int serial = 0;       ///< 0: the first device
};

/// "openhaptics": through the maker's library, loaded at run time; OpenHapticsDevice.
struct OpenHapticsDescription {
    std::string library;  ///< path; empty: libHD.so where the system looks
    std::string name;     ///< as given in the maker's setup; empty: the default device
};

/// Which device, and how to reach it.
using DeviceDescription =
    std::variant<SimulatedDescription, ScriptedDescription, RecordedDescription, NetworkDescription,
                 HaplyDescription, ForceDimensionDescription, OpenHapticsDescription>;

/// As scene files and `pliant haptics devices` call it: "simulated", "network", ...
[[nodiscard]] const char* kind(const DeviceDescription& description) noexcept;
/// False where forces act on a hand now: the loop must then run in real time.
[[nodiscard]] bool is_virtual(const DeviceDescription& description) noexcept;

/// Slow: opens ports and libraries, starts threads. A device that is absent but may come (network,
/// haply) is Disconnected until then; a library that is missing, or finds no device, throws
/// InputError with what was looked for and what to install. Throws InputError for numbers out of
/// range.
[[nodiscard]] std::unique_ptr<HapticDevice> open_device(const DeviceDescription& description);

}  // namespace pliant
