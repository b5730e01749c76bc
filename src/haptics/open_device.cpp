#include "pliant/haptics/open_device.h"

#include "pliant/haptics/recorded_device.h"
#include "pliant/haptics/scripted_device.h"

#include <array>

namespace pliant {
namespace {

constexpr std::array<const char*, std::variant_size_v<DeviceDescription>> kDeviceKinds = {
    "simulated", "scripted",        "recorded",    "network",
    "haply",     "force-dimension", "openhaptics", "external"};

/// One overload per kind.
struct DeviceOpener {
    using Result = std::unique_ptr<HapticDevice>;
    Result operator()(const SimulatedDescription& d) const {
        return std::make_unique<SimulatedDevice>(d.model, d.hand);
    }
    Result operator()(const ScriptedDescription& d) const {
        return std::make_unique<ScriptedDevice>(d.motion, d.capabilities);
    }
    Result operator()(const RecordedDescription& d) const {
        return std::make_unique<RecordedDevice>(d.states, d.capabilities);
    }
    Result operator()(const NetworkDescription& d) const {
        return std::make_unique<NetworkDevice>(d);
    }
    Result operator()(const HaplyDescription& d) const { return std::make_unique<HaplyDevice>(d); }
    Result operator()(const ForceDimensionDescription& d) const {
        return std::make_unique<ForceDimensionDevice>(d);
    }
    Result operator()(const OpenHapticsDescription& d) const {
        return std::make_unique<OpenHapticsDevice>(d);
    }
    Result operator()(const ExternalDescription& d) const {
        return std::make_unique<ExternalDevice>(d.handle, d.capabilities);
    }
};

}  // namespace

const char* kind(const DeviceDescription& description) noexcept {
    return kDeviceKinds[description.index()];
}

bool is_virtual(const DeviceDescription& description) noexcept { return description.index() < 3; }

std::unique_ptr<HapticDevice> open_device(const DeviceDescription& description) {
    return std::visit(DeviceOpener{}, description);
}

}  // namespace pliant
