#pragma once

#include "pliant/haptics/open_device.h"

#include <string>
#include <vector>

namespace pliant {

/// Where to look.
struct DeviceSearch {
    NetworkDescription network = {};
    HaplyDescription haply = {};
    ForceDimensionDescription force_dimension = {};
    OpenHapticsDescription open_haptics = {};
    double wait = 0.5;  ///< for a service to answer [s]
};

/// What was found of one kind of device.
struct FoundDevices {
    std::string kind;       ///< as in open_device()
    bool is_ready = false;  ///< a device can be used now, or a driver may attach
    std::string what;       ///< one sentence: file, version, devices, or what is missing
};

/// All kinds, in the order of DeviceDescription. Opens and closes ports and libraries, moves
/// nothing; takes up to `wait` seconds.
[[nodiscard]] std::vector<FoundDevices> find_devices(const DeviceSearch& search = {});

}  // namespace pliant
