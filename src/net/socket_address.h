#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <optional>
#include <string>

namespace pliant {

/// Either version's address in the form that the system takes.
struct SocketAddress {
    union {
        sockaddr any;
        sockaddr_in v4;
        sockaddr_in6 v6;
    };
    socklen_t size = sizeof(sockaddr_in6);

    SocketAddress() noexcept : v6{} {}
    [[nodiscard]] bool is_v6() const noexcept { return any.sa_family == AF_INET6; }
    [[nodiscard]] int port() const noexcept { return ntohs(is_v6() ? v6.sin6_port : v4.sin_port); }
};

/// From numbers as text; nothing if `address` is no IP address. The port must be in range.
[[nodiscard]] std::optional<SocketAddress> socket_address(const std::string& address, int port);

}  // namespace pliant
