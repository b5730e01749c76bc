#include "net/socket_address.h"

#include <arpa/inet.h>
#include <cstdint>

namespace pliant {

std::optional<SocketAddress> socket_address(const std::string& address, int port) {
    SocketAddress place;
    const auto network_port = htons(static_cast<std::uint16_t>(port));
    if (::inet_pton(AF_INET, address.c_str(), &place.v4.sin_addr) == 1) {
        place.v4.sin_family = AF_INET;
        place.v4.sin_port = network_port;
        place.size = sizeof place.v4;
        return place;
    }
    place = {};
    if (::inet_pton(AF_INET6, address.c_str(), &place.v6.sin6_addr) != 1) return std::nullopt;
    place.v6.sin6_family = AF_INET6;
    place.v6.sin6_port = network_port;
    return place;
}

}  // namespace pliant
