#pragma once

#include <string>

namespace pliant {

/// The parts of `ws://127.0.0.1:10001/path?query`.
struct WebSocketUrl {
    std::string address;  ///< an IP address as text
    int port = 80;
    std::string target = "/";
    std::string host;  ///< as the `Host` header names it
};

/// Throws InputError for anything else: other schemes, names, ports out of range.
[[nodiscard]] WebSocketUrl parse_web_socket_url(const std::string& url);

}  // namespace pliant
