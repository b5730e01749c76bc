#include "pliant/haptics/network_device.h"

#include "haptics/driver_session.h"
#include "haptics/input_range.h"
#include "pliant/net/udp_server.h"
#include "pliant/net/web_server.h"

#include <mutex>

namespace pliant {
namespace {

constexpr int kFreePortTries = 20;  // that is free for UDP and for TCP

DeviceCapabilities network_capabilities(const NetworkDescription& description) {
    check(description.capabilities);
    require_range("timeout", description.timeout, 0.005, 10, "s");
    DeviceCapabilities can = description.capabilities;
    if (can.name.empty()) can.name = "network device";
    return can;
}

}  // namespace

struct NetworkDevice::Impl {
    explicit Impl(const NetworkDescription& description)
        : exchange(network_capabilities(description), description.timeout),
          session(exchange, description.timeout) {
        // handlers wait for the servers to be there
        std::unique_lock lock(mutex);
        for (int i = 1;; ++i) {
            udp = std::make_unique<UdpServer>(
                description.address, description.port,
                UdpServer::Handlers{[this](auto peer, auto bytes) { return on_udp(peer, bytes); },
                                    [this] { check_silence(); }});
            try {
                web = std::make_unique<WebServer>(web_options(description), web_handlers());
                return;
            } catch (const InputError&) {
                if (description.port != 0 || i == kFreePortTries)
                    throw InputError("", "TCP port " + std::to_string(udp->port()) + " of " +
                                             description.address +
                                             " is in use by another program; choose another port "
                                             "for the device, or 0 for any free one");
            }
            // its thread may wait for the lock, and finds then that it has ended
            std::unique_ptr<UdpServer> ended = std::move(udp);
            lock.unlock();
            ended.reset();
            lock.lock();
        }
    }

    [[nodiscard]] WebServerOptions web_options(const NetworkDescription& description) const {
        WebServerOptions options;
        options.address = description.address;
        options.port = udp->port();
        options.max_connections = 8;
        options.max_message_bytes = 1024;
        options.max_messages_per_second = 20000;
        return options;
    }
    [[nodiscard]] WebServer::Handlers web_handlers() {
        WebServer::Handlers handlers;
        handlers.received = [this](WebServer::Client client, std::span<const std::byte> bytes,
                                   bool) { on_web(client, bytes); };
        handlers.closed = [this](WebServer::Client client) {
            const std::lock_guard lock(mutex);
            session.forget(web_peer(client));
        };
        return handlers;
    }
    /// Cannot be the bytes of a socket's address, which begin with a family below 32.
    [[nodiscard]] static std::string web_peer(WebServer::Client client) {
        return "web " + std::to_string(client);
    }

    std::string_view on_udp(std::string_view peer, std::span<const std::byte> bytes) {
        const std::lock_guard lock(mutex);
        if (!udp) return {};  // of a port that was given up
        udp_reply = session.receive(peer, bytes, DeviceExchange::Clock::now());
        udp->favour(session.driver_peer());
        return udp_reply;
    }
    void on_web(WebServer::Client client, std::span<const std::byte> bytes) {
        const std::lock_guard lock(mutex);
        const std::string_view reply =
            session.receive(web_peer(client), bytes, DeviceExchange::Clock::now());
        // a driver that does not read gets no more than a few commands behind
        if (!reply.empty())
            web->send(client, std::make_shared<const std::string>(reply), false, 4096);
    }
    void check_silence() {
        const std::lock_guard lock(mutex);
        if (!udp) return;
        session.check_silence(DeviceExchange::Clock::now());
        udp->favour(session.driver_peer());
    }

    DeviceExchange exchange;
    mutable std::mutex mutex;  ///< between the servers' threads; never in the tick
    DriverSession session;
    std::string udp_reply;
    std::unique_ptr<UdpServer> udp;  ///< null in the constructor, between two ports
    std::unique_ptr<WebServer> web;
};

NetworkDevice::NetworkDevice(const NetworkDescription& description)
    : impl_(std::make_unique<Impl>(description)) {}
NetworkDevice::~NetworkDevice() = default;

const DeviceCapabilities& NetworkDevice::capabilities() const noexcept {
    return impl_->exchange.capabilities();
}
DeviceState NetworkDevice::read(double now) noexcept { return impl_->exchange.read(now); }
void NetworkDevice::write(const DeviceCommand& command) noexcept { impl_->exchange.write(command); }
int NetworkDevice::port() const noexcept { return impl_->udp->port(); }

NetworkDeviceCounts NetworkDevice::counts() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->session.counts();
}
std::string NetworkDevice::driver_name() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->session.driver_name();
}

}  // namespace pliant
