#pragma once

#include "arguments.h"

namespace pliant::cli {

/// `pliant haptics check`: brings a device up step by step. 1 when a step failed.
int check_haptic_device(const Arguments& arguments);

}  // namespace pliant::cli
