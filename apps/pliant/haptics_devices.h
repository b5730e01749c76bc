#pragma once

#include "arguments.h"

namespace pliant::cli {

/// `pliant haptics devices`: what there is of each kind of device, or what is missing.
int list_haptic_devices(const Arguments& arguments);

}  // namespace pliant::cli
