#include "net/listening_socket.h"

#include "pliant/core/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace pliant {
namespace {

/// Either version's address in the form that the system takes.
union SocketAddress {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

InputError listen_error(const std::string& address, int port, int error) {
    const std::string number = std::to_string(port);
    if (error == EADDRINUSE)
        return {"", "port " + number + " of " + address +
                        " is in use by another program; choose another with --port, or --port 0 "
                        "for any free one"};
    if (error == EACCES)
        return {"", "port " + number +
                        " may not be used without the system's permission; choose one above 1023 "
                        "with --port"};
    return {"", "cannot listen on " + address + " port " + number + " (" +
                    std::generic_category().message(error) +
                    "); --address must be an IP address of this machine"};
}

}  // namespace

ListeningSocket listen_on(const std::string& address, int port) {
    if (port < 0 || port > 65535)
        throw InputError("", "--port", std::to_string(port), "0 to 65535");
    ListeningSocket socket{.served = {address == "localhost" ? "127.0.0.1" : address, port}};
    const char* text = socket.served.address.c_str();
    SocketAddress place{};
    socklen_t size = 0;
    const auto network_port = htons(static_cast<std::uint16_t>(port));
    if (::inet_pton(AF_INET, text, &place.v4.sin_addr) == 1) {
        place.v4.sin_family = AF_INET;
        place.v4.sin_port = network_port;
        size = sizeof place.v4;
    } else if (::inet_pton(AF_INET6, text, &place.v6.sin6_addr) == 1) {
        place.v6.sin6_family = AF_INET6;
        place.v6.sin6_port = network_port;
        size = sizeof place.v6;
        socket.is_v6 = true;
    } else {
        throw InputError("", "--address", "\"" + address + "\"",
                         "an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 for all");
    }
    // programs that are started later, such as a browser, must not keep the port
    socket.descriptor = ::socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // nor do connections of a server that has just ended
    const int reuse = 1;
    const bool is_listening =
        socket.descriptor >= 0 &&
        ::setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0 &&
        ::bind(socket.descriptor, &place.any, size) == 0 &&
        ::listen(socket.descriptor, SOMAXCONN) == 0 &&
        ::getsockname(socket.descriptor, &place.any, &size) == 0;
    if (!is_listening) {
        const int error = errno;
        if (socket.descriptor >= 0) ::close(socket.descriptor);
        throw listen_error(socket.served.address, port, error);
    }
    socket.served.port = ntohs(socket.is_v6 ? place.v6.sin6_port : place.v4.sin_port);
    return socket;
}

}  // namespace pliant
