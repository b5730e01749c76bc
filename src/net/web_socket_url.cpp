#include "net/web_socket_url.h"

#include "net/socket_address.h"
#include "pliant/core/error.h"

#include <charconv>
#include <string_view>

namespace pliant {

WebSocketUrl parse_web_socket_url(const std::string& url) {
    const auto fail = [&]() -> InputError {
        return {"", "url", "\"" + url + "\"",
                "ws://ADDRESS:PORT, such as ws://127.0.0.1:10001; ADDRESS is an IP address or "
                "localhost"};
    };
    constexpr std::string_view kScheme = "ws://";
    std::string_view rest = url;
    if (!rest.starts_with(kScheme)) throw fail();
    // what could break out of the request's first lines is no address
    for (const char c : rest)
        if (c <= ' ' || c > '~') throw fail();
    rest.remove_prefix(kScheme.size());

    WebSocketUrl parts;
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos) parts.target = rest.substr(slash);
    const std::string_view place = rest.substr(0, slash);
    // [::1]:80 has colons inside
    const bool is_bracketed = place.starts_with('[');
    const std::size_t end = is_bracketed ? place.find(']') : place.find(':');
    if (is_bracketed && end == std::string_view::npos) throw fail();
    parts.address = is_bracketed ? place.substr(1, end - 1) : place.substr(0, end);
    std::string_view port = place.substr(
        end == std::string_view::npos ? place.size() : end + std::size_t{is_bracketed});
    if (!port.empty()) {
        if (port.front() != ':') throw fail();
        port.remove_prefix(1);
        const auto [last, error] =
            std::from_chars(port.data(), port.data() + port.size(), parts.port);
        if (error != std::errc() || last != port.data() + port.size()) throw fail();
    }
    if (parts.port < 1 || parts.port > 65535) throw fail();
    parts.host = place;
    if (parts.address == "localhost") parts.address = "127.0.0.1";
    if (!socket_address(parts.address, parts.port)) throw fail();
    return parts;
}

}  // namespace pliant
