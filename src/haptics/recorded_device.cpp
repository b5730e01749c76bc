#include "pliant/haptics/recorded_device.h"

#include "pliant/core/error.h"

#include <utility>

namespace pliant {

RecordedDevice::RecordedDevice(std::vector<DeviceState> states,
                               const DeviceCapabilities& capabilities)
    : states_(std::move(states)), capabilities_(capabilities) {
    check(capabilities_);
    if (states_.empty())
        throw InputError("", "recording of a device has no readings; record a longer run");
    if (capabilities_.name.empty()) capabilities_.name = "recording";
}

DeviceState RecordedDevice::read(double /*now*/) noexcept {
    if (next_ < states_.size()) return states_[next_++];
    DeviceState end = states_.back();
    end.status = DeviceStatus::Disconnected;
    return end;
}

}  // namespace pliant
