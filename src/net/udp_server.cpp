#include "pliant/net/udp_server.h"

#include "net/socket_address.h"
#include "pliant/core/error.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace pliant {
namespace {

InputError udp_error(const std::string& address, int port, int error) {
    const std::string place = "UDP port " + std::to_string(port) + " of " + address;
    if (error == EADDRINUSE)
        return {"", place +
                        " is in use by another program; choose another port, or 0 for any "
                        "free one"};
    return {"", "cannot listen on " + place + " (" + std::generic_category().message(error) +
                    "); give an IP address of this machine and a port above 1023"};
}

}  // namespace

struct UdpServer::Impl {
    Impl(const std::string& address, int wanted, Handlers functions)
        : handlers(std::move(functions)) {
        if (wanted < 0 || wanted > 65535)
            throw InputError("", "port", std::to_string(wanted), "0 to 65535");
        auto place = socket_address(address == "localhost" ? "127.0.0.1" : address, wanted);
        if (!place)
            throw InputError("", "address", "\"" + address + "\"",
                             "an IP address of this machine, such as 127.0.0.1");
        wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        socket = ::socket(place->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        const bool is_bound = wake >= 0 && socket >= 0 &&
                              ::bind(socket, &place->any, place->size) == 0 &&
                              ::getsockname(socket, &place->any, &place->size) == 0;
        if (!is_bound) {
            const int error = errno;
            close_all();
            throw udp_error(address, wanted, error);
        }
        port = place->port();
        thread = std::thread([this] { run(); });
    }
    ~Impl() {
        is_stopping = true;
        static_cast<void>(::eventfd_write(wake, 1));
        thread.join();
        close_all();
    }
    void close_all() const {
        for (const int descriptor : {socket, favoured_socket, wake})
            if (descriptor >= 0) ::close(descriptor);
    }

    void run() {
        using Clock = std::chrono::steady_clock;
        using std::chrono::milliseconds;
        const milliseconds interval = std::max(handlers.interval, milliseconds(1));
        const auto in_interval = [&](int of_second) {
            return std::max<std::int64_t>(of_second * interval.count() / 1000, 1);
        };
        std::int64_t favoured_left = 0, others_left = 0;  // datagrams that this interval may take
        auto next = Clock::now();
        while (!is_stopping) {
            const auto now = Clock::now();
            if (now >= next) {
                next = now + interval;
                favoured_left = in_interval(kMaxOfFavoured);
                others_left = in_interval(kMaxOfOthers);
                if (handlers.tick) handlers.tick();
            }
            // A queue that had its share waits for the next interval, so that no flood keeps the
            // thread from sleeping. A negative descriptor is skipped.
            std::array<pollfd, 3> waiting = {{{others_left > 0 ? socket : -1, POLLIN, 0},
                                              {favoured_left > 0 ? favoured_socket : -1, POLLIN, 0},
                                              {wake, POLLIN, 0}}};
            const auto rest = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
            ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<long>(rest, 0)));
            for (bool is_empty = false; !is_empty && !is_stopping;) {
                is_empty = true;
                if (favoured_left > 0 && favoured_socket >= 0 && receive(favoured_socket)) {
                    --favoured_left;
                    is_empty = false;
                }
                if (others_left > 0 && receive(socket)) {
                    --others_left;
                    is_empty = false;
                }
            }
        }
    }

    /// False: there was none.
    bool receive(int from_socket) {
        SocketAddress from;
        const ssize_t size = ::recvfrom(from_socket, buffer.data(), buffer.size(), MSG_DONTWAIT,
                                        &from.any, &from.size);
        // answers that found nobody come back as errors of later calls
        if (size < 0) return errno == ECONNREFUSED || errno == EINTR;
        if (static_cast<std::size_t>(size) > kMaxBytes) return true;
        const std::string_view peer(reinterpret_cast<const char*>(&from.v6), from.size);
        const std::string_view reply =
            handlers.received(peer, {buffer.data(), static_cast<std::size_t>(size)});
        // a full queue of the system loses it, as the network may
        if (!reply.empty())
            static_cast<void>(::sendto(socket, reply.data(), reply.size(),
                                       MSG_DONTWAIT | MSG_NOSIGNAL, &from.any, from.size));
        return true;
    }

    void favour(std::string_view peer) {
        if (peer == favoured) return;
        favoured = peer;
        if (favoured_socket >= 0) ::close(favoured_socket);
        favoured_socket = -1;
        SocketAddress place;
        if (peer.empty() || peer.size() > sizeof place.v6) return;
        std::memcpy(&place.v6, peer.data(), peer.size());
        place.size = static_cast<socklen_t>(peer.size());
        favoured_socket = connected_socket(place);
    }

    /// The system gives a socket that is connected what its peer sends. Only we can open a second
    /// one on the port, and only now. -1: it cannot be; the peer goes on among the others.
    [[nodiscard]] int connected_socket(const SocketAddress& peer) const {
        SocketAddress own;
        const auto share = [](int descriptor, int is_shared) {
            return ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &is_shared,
                                sizeof is_shared) == 0;
        };
        const int second =
            ::socket(peer.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (second < 0) return -1;
        const bool is_ready = ::getsockname(socket, &own.any, &own.size) == 0 && share(socket, 1) &&
                              share(second, 1) && ::bind(second, &own.any, own.size) == 0 &&
                              ::connect(second, &peer.any, peer.size) == 0;
        share(socket, 0);
        share(second, 0);
        if (is_ready) return second;
        ::close(second);
        return -1;
    }

    Handlers handlers;
    int socket = -1, favoured_socket = -1, wake = -1, port = 0;
    std::string favoured;  // peer
    std::array<std::byte, kMaxBytes + 1> buffer{};
    std::atomic<bool> is_stopping{false};
    std::thread thread;
};

UdpServer::UdpServer(const std::string& address, int port, Handlers handlers)
    : impl_(std::make_unique<Impl>(address, port, std::move(handlers))) {}
UdpServer::~UdpServer() = default;
int UdpServer::port() const noexcept { return impl_->port; }
void UdpServer::favour(std::string_view peer) { impl_->favour(peer); }

}  // namespace pliant
