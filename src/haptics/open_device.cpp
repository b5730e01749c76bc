#include "pliant/haptics/open_device.h"

#include "net/access.h"
#include "net/web_socket_url.h"
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

/// What the loop assumes of a device that does not say so itself; null: it does.
DeviceCapabilities* capabilities_of(DeviceDescription& description) noexcept {
    if (auto* const d = std::get_if<SimulatedDescription>(&description))
        return &d->model.capabilities;
    if (auto* const d = std::get_if<ScriptedDescription>(&description)) return &d->capabilities;
    if (auto* const d = std::get_if<RecordedDescription>(&description)) return &d->capabilities;
    if (auto* const d = std::get_if<NetworkDescription>(&description)) return &d->capabilities;
    if (auto* const d = std::get_if<ExternalDescription>(&description)) return &d->capabilities;
    return nullptr;
}

/// Null: the kind has capabilities.
DeviceLimits* limits_of(DeviceDescription& description) noexcept {
    if (auto* const d = std::get_if<HaplyDescription>(&description)) return &d->limits;
    if (auto* const d = std::get_if<ForceDimensionDescription>(&description)) return &d->limits;
    if (auto* const d = std::get_if<OpenHapticsDescription>(&description)) return &d->limits;
    return nullptr;
}

}  // namespace

const char* kind(const DeviceDescription& description) noexcept {
    return kDeviceKinds[description.index()];
}

bool is_virtual(const DeviceDescription& description) noexcept { return description.index() < 3; }

void limit(DeviceDescription& description, const DeviceLimits& limits) {
    static_cast<void>(limited(DeviceCapabilities(), limits));  // in range?
    if (DeviceCapabilities* const can = capabilities_of(description)) *can = limited(*can, limits);
    if (DeviceLimits* const own = limits_of(description)) *own = smaller(*own, limits);
}

std::string* library_of(DeviceDescription& description) noexcept {
    if (auto* const d = std::get_if<ForceDimensionDescription>(&description)) return &d->library;
    if (auto* const d = std::get_if<OpenHapticsDescription>(&description)) return &d->library;
    return nullptr;
}

std::string* address_of(DeviceDescription& description) noexcept {
    if (auto* const d = std::get_if<NetworkDescription>(&description)) return &d->address;
    if (auto* const d = std::get_if<HaplyDescription>(&description)) return &d->url;
    return nullptr;
}

bool is_beyond_computer(const DeviceDescription& description) {
    if (const auto* const network = std::get_if<NetworkDescription>(&description))
        return !is_loopback_address(network->address);
    const auto* const haply = std::get_if<HaplyDescription>(&description);
    return haply && !is_loopback_address(parse_web_socket_url(haply->url).address);
}

std::string network_warning(const DeviceDescription& description) {
    if (!is_beyond_computer(description)) return "";
    if (const auto* const haply = std::get_if<HaplyDescription>(&description))
        return "the haply device calls " + haply->url +
               " beyond this computer, by WebSocket, neither encrypted nor authenticated: whoever "
               "answers there moves the tool";
    const auto& network = std::get<NetworkDescription>(description);
    const std::string port = network.port ? std::to_string(network.port) : "of its own choice";
    return "the network device is open to other computers: UDP and WebSocket (TCP), port " + port +
           " of " + network.address +
           ", neither encrypted nor authenticated: whoever comes first moves the tool and gets its "
           "forces. Drivers call it at " +
           (is_every_address(network.address)
                ? "an address of this computer (`hostname -I` lists them)"
                : network.address) +
           ", port " + port;
}

std::unique_ptr<HapticDevice> open_device(const DeviceDescription& description) {
    return std::visit(DeviceOpener{}, description);
}

}  // namespace pliant
