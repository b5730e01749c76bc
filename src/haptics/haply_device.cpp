#include "pliant/haptics/haply_device.h"

#include "haptics/device_exchange.h"
#include "haptics/haply_message.h"
#include "pliant/net/web_socket_client.h"

#include <mutex>

namespace pliant {
namespace {

using Eigen::Vector3d;
using HaplyClock = DeviceExchange::Clock;

constexpr double kHaplyTimeout = 0.1;                      // without a reading [s]
constexpr std::chrono::milliseconds kHaplyAnswer{500};     // then the connection is made anew
constexpr std::chrono::milliseconds kHaplyInventory{200};  // between questions for a device
/// The middle of where the handle can be; the service counts from the mount.
const Vector3d kHaplyCentre(0, -0.14, 0.16);

DeviceCapabilities haply_capabilities() {
    // careful numbers, below what the maker publishes: no hardware was at hand
    DeviceCapabilities can;
    can.name = "Haply Inverse3";
    can.workspace = {0.12, 0.09, 0.09};
    can.max_force = 6;
    can.continuous_force = 2;
    can.max_torque = 0;
    can.max_stiffness = 400;
    can.max_angular_stiffness = 0;
    can.delay = 2;
    can.position_step = 5e-5;
    can.angle_step = 1e-3;
    can.is_actuated = {true, true, true, false, false, false};
    return can;
}

}  // namespace

struct HaplyDevice::Impl {
    explicit Impl(const HaplyDescription& description)
        : wanted_id(description.device_id),
          exchange(limited(haply_capabilities(), description.limits), kHaplyTimeout) {
        WebSocketClientOptions options;
        options.url = description.url;
        options.retry = std::chrono::milliseconds(200);
        WebSocketClient::Handlers handlers;
        handlers.opened = [this] {
            const std::lock_guard lock(mutex);
            ++counts.connected;
            id.clear();
            // the service begins, with all that it has
            is_waiting = true;
            asked = HaplyClock::now();
        };
        handlers.closed = [this] {
            const std::lock_guard lock(mutex);
            id.clear();
            exchange.publish_gone();
        };
        handlers.received = [this](std::span<const std::byte> message, bool) { take(message); };
        handlers.tick = [this] { ask(); };
        // handlers wait until it is there
        const std::lock_guard lock(mutex);
        client = std::make_unique<WebSocketClient>(options, std::move(handlers));
    }

    void take(std::span<const std::byte> message) {
        const auto now = HaplyClock::now();
        const std::lock_guard lock(mutex);
        is_waiting = false;
        auto parsed = parse_haply_message(
            {reinterpret_cast<const char*>(message.data()), message.size()}, wanted_id);
        if (auto* reading = std::get_if<HaplyReading>(&parsed)) {
            id = reading->device_id;
            remember_calibration(*reading);
            reading->state.pose.position -= kHaplyCentre;
            exchange.publish(reading->state, now);
            ++counts.readings;
            if (!reading->is_whole) ++counts.bad_values;
            return;
        }
        switch (std::get<HaplyFault>(parsed)) {
            case HaplyFault::Malformed: ++counts.malformed; break;
            case HaplyFault::BadValue: ++counts.bad_values; break;
            case HaplyFault::Absent:
                ++counts.absent;
                if (!id.empty()) exchange.publish_gone();
                id.clear();
                break;
        }
    }

    /// Messages say it now and then; until then what was said of the same device holds.
    void remember_calibration(HaplyReading& reading) {
        if (reading.device_id != calibrated_id) is_calibrated = true;
        calibrated_id = reading.device_id;
        is_calibrated = reading.is_calibrated.value_or(is_calibrated);
        if (!is_calibrated) reading.state.status = DeviceStatus::Uncalibrated;
    }

    /// One message, one answer: the pace is ours.
    void ask() {
        const auto now = HaplyClock::now();
        std::unique_lock lock(mutex);
        if (is_waiting) {
            if (now - asked <= kHaplyAnswer) return;
            // says that the connection is closed, which takes the lock
            lock.unlock();
            client->reconnect();
        } else if (!id.empty()) {
            const Vector3d force = exchange.command(now).force;
            send(haply_force_message(id, is_calibrated ? force : Vector3d::Zero()), now);
        } else if (now - asked > kHaplyInventory) {
            send(haply_inventory_message(), now);
        }
    }
    void send(std::string message, HaplyClock::time_point now) {
        if (!client->send(std::move(message), true)) return;
        is_waiting = true;
        asked = now;
    }

    const std::string wanted_id;
    DeviceExchange exchange;
    mutable std::mutex mutex;  ///< never in the tick
    HaplyDeviceCounts counts;
    std::string id;
    std::string calibrated_id;  ///< the device of which is_calibrated is
    bool is_calibrated = true;  ///< as it said last
    bool is_waiting = false;    ///< for an answer
    HaplyClock::time_point asked;
    std::unique_ptr<WebSocketClient> client;
};

HaplyDevice::HaplyDevice(const HaplyDescription& description)
    : impl_(std::make_unique<Impl>(description)) {}
HaplyDevice::~HaplyDevice() = default;

const DeviceCapabilities& HaplyDevice::capabilities() const noexcept {
    return impl_->exchange.capabilities();
}
DeviceState HaplyDevice::read(double now) noexcept { return impl_->exchange.read(now); }
void HaplyDevice::write(const DeviceCommand& command) noexcept { impl_->exchange.write(command); }

HaplyDeviceCounts HaplyDevice::counts() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->counts;
}
std::string HaplyDevice::device_id() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->id;
}

}  // namespace pliant
