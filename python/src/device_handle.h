#pragma once

#include "contact_handle.h"
#include "pliant/haptics/device.h"

namespace pliant::python {

using DevicePointer = std::shared_ptr<HapticDevice>;

}  // namespace pliant::python
