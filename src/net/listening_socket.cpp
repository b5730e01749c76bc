#include "net/listening_socket.h"

#include "net/socket_address.h"
#include "pliant/core/error.h"

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <system_error>

namespace pliant {
namespace {

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
    std::optional<SocketAddress> place = socket_address(socket.served.address, port);
    if (!place)
        throw InputError("", "--address", "\"" + address + "\"",
                         "an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 for all");
    socket.is_v6 = place->is_v6();
    // programs that are started later, such as a browser, must not keep the port
    socket.descriptor = ::socket(place->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // nor do connections of a server that has just ended
    const int reuse = 1;
    // :: is all addresses of both versions, whatever the system's setting
    const int only_v6 = 0;
    if (socket.is_v6)
        ::setsockopt(socket.descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
    const bool is_listening =
        socket.descriptor >= 0 &&
        ::setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) == 0 &&
        ::bind(socket.descriptor, &place->any, place->size) == 0 &&
        ::listen(socket.descriptor, SOMAXCONN) == 0 &&
        ::getsockname(socket.descriptor, &place->any, &place->size) == 0;
    if (!is_listening) {
        const int error = errno;
        if (socket.descriptor >= 0) ::close(socket.descriptor);
        throw listen_error(socket.served.address, port, error);
    }
    socket.served.port = place->port();
    return socket;
}

}  // namespace pliant
