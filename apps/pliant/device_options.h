#pragma once

#include "arguments.h"
#include "pliant/haptics/open_device.h"

#include <vector>

namespace pliant::cli {

/// What only the person at the command line says of a device: its library, its address, and how
/// strong it may be.
[[nodiscard]] std::vector<Option> device_options();
[[nodiscard]] DeviceLimits device_limits(const Arguments& arguments);
/// --device-library and --device-address in the description. Throws InputError where its kind has
/// no such thing.
void reach_device(DeviceDescription& device, const Arguments& arguments);
/// On standard error: what of the device is open to other computers.
void warn_of_network(const DeviceDescription& device);

}  // namespace pliant::cli
