#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/haptics/device.h"
#include "pliant/haptics/external_device.h"
#include "pliant/haptics/force_dimension_device.h"
#include "pliant/haptics/haply_device.h"
#include "pliant/haptics/network_device.h"
#include "pliant/haptics/open_haptics_device.h"
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
    std::string recording = {};       ///< of a scene: the file whose path the hand follows
    std::vector<Keyframe> path = {};  ///< where the hand wants the tool; empty: others say
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
    double rate = 0;             ///< of the readings [Hz]; 0: that of the loop
    std::string recording = {};  ///< of a scene: the file that has the readings
};

/// "external": a handle that the program which ticks the loop moves; ExternalDevice. Scene files
/// have no such kind: nobody would move it.
struct ExternalDescription {
    std::shared_ptr<ExternalHandle> handle;
    DeviceCapabilities capabilities = {};
};

/// Which device, and how to reach it.
using DeviceDescription =
    std::variant<SimulatedDescription, ScriptedDescription, RecordedDescription, NetworkDescription,
                 HaplyDescription, ForceDimensionDescription, OpenHapticsDescription,
                 ExternalDescription>;

/// As scene files and `pliant haptics devices` call it: "simulated", "network", ...
[[nodiscard]] const char* kind(const DeviceDescription& description) noexcept;
/// False where forces act on a hand now: the loop must then run in real time.
[[nodiscard]] bool is_virtual(const DeviceDescription& description) noexcept;

/// Lowers what the device may show, of any kind: the smaller of its own limits and these hold.
/// Throws InputError for limits out of range.
void limit(DeviceDescription& description, const DeviceLimits& limits);
/// The file of the maker's library. Null: the kind has none.
[[nodiscard]] std::string* library_of(DeviceDescription& description) noexcept;
/// Where a network device listens, or the URL of a haply service. Null: the kind has none.
[[nodiscard]] std::string* address_of(DeviceDescription& description) noexcept;
/// Whether programs of other computers can be at the other end of the device. Throws InputError for
/// the URL of a haply device that is none.
[[nodiscard]] bool is_beyond_computer(const DeviceDescription& description);
/// For people: what is_beyond_computer() opens, that nobody is asked who they are, and how to reach
/// it; empty: nothing.
[[nodiscard]] std::string network_warning(const DeviceDescription& description);

/// Slow: opens ports and libraries, starts threads. A device that is absent but may come (network,
/// haply) is Disconnected until then; a library that is missing, or finds no device, throws
/// InputError with what was looked for and what to install. Throws InputError for numbers out of
/// range.
[[nodiscard]] std::unique_ptr<HapticDevice> open_device(const DeviceDescription& description);

}  // namespace pliant
