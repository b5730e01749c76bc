#include "net/access.h"

#include <arpa/inet.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace pliant {
namespace {

using AddressBytes = std::array<unsigned char, 16>;

/// A numeric address; IPv4 as ::ffff:a.b.c.d, so that both kinds compare.
std::optional<AddressBytes> parse_address(std::string_view text) {
    const std::string copy(text);
    if (copy.size() != std::strlen(copy.c_str())) return std::nullopt;
    AddressBytes bytes{};
    if (::inet_pton(AF_INET6, copy.c_str(), bytes.data()) == 1) return bytes;
    if (::inet_pton(AF_INET, copy.c_str(), bytes.data() + 12) != 1) return std::nullopt;
    bytes[10] = bytes[11] = 0xff;
    return bytes;
}

bool is_mapped_ipv4(const AddressBytes& a) {
    return a[10] == 0xff && a[11] == 0xff &&
           std::all_of(a.begin(), a.begin() + 10, [](unsigned char byte) { return byte == 0; });
}

bool is_loopback(const AddressBytes& a) {
    if (is_mapped_ipv4(a)) return a[12] == 127;
    return a[15] == 1 &&
           std::all_of(a.begin(), a.end() - 1, [](unsigned char byte) { return byte == 0; });
}

/// 0.0.0.0 or ::
bool is_every_address(const AddressBytes& a) {
    const auto first = is_mapped_ipv4(a) ? a.begin() + 12 : a.begin();
    return std::all_of(first, a.end(), [](unsigned char byte) { return byte == 0; });
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

struct HostParts {
    std::string name;
    bool is_bracketed = false;
    int port = 80;
};

/// `name`, `name:port`, `[v6]` or `[v6]:port`
std::optional<HostParts> split_host(std::string_view host) {
    HostParts parts;
    std::size_t end = 0;
    if (host.starts_with('[')) {
        end = host.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        parts.name = lower_case(host.substr(1, end - 1));
        parts.is_bracketed = true;
        ++end;
    } else {
        end = std::min(host.find(':'), host.size());
        parts.name = lower_case(host.substr(0, end));
    }
    const std::string_view rest = host.substr(end);
    if (rest.empty()) return parts;
    const char* last = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data() + 1, last, parts.port);
    if (rest[0] != ':' || error != std::errc() || stop != last) return std::nullopt;
    return parts;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

bool is_loopback_address(std::string_view address) {
    if (address == "localhost") return true;
    const auto bytes = parse_address(address);
    return bytes && is_loopback(*bytes);
}

bool is_every_address(std::string_view address) {
    const auto bytes = parse_address(address);
    return bytes && is_every_address(*bytes);
}

std::string host_text(const ServedAddress& served) {
    std::string name = served.address;
    if (const auto bytes = parse_address(name); bytes && is_every_address(*bytes))
        name = is_mapped_ipv4(*bytes) ? "127.0.0.1" : "::1";
    if (name.find(':') != std::string::npos) name = "[" + name + "]";
    return name + ":" + std::to_string(served.port);
}

std::vector<std::string> network_hosts(const ServedAddress& served,
                                       std::span<const std::string> interfaces) {
    std::vector<std::string> hosts;
    const auto own = parse_address(served.address);
    for (const std::string& text : interfaces) {
        const auto address = parse_address(text);
        if (!own || !address || is_loopback(*address)) continue;
        // all addresses of version 6 are all of both
        const bool is_served = is_every_address(*own)
                                   ? is_mapped_ipv4(*address) || !is_mapped_ipv4(*own)
                                   : *address == *own;
        if (is_served) hosts.push_back(host_text({text, served.port}));
    }
    return hosts;
}

bool is_own_host(std::string_view host, const ServedAddress& served) {
    const auto parts = split_host(host);
    const auto own = parse_address(served.address);
    if (!parts || !own || parts->port != served.port) return false;
    const bool serves_all = is_every_address(*own);
    if (parts->name == "localhost" && !parts->is_bracketed) return serves_all || is_loopback(*own);
    const auto named = parse_address(parts->name);
    if (!named || parts->is_bracketed != (parts->name.find(':') != std::string::npos)) return false;
    return serves_all || *named == *own;
}

bool is_own_origin(std::string_view origin, std::string_view host) {
    return lower_case(origin) == "http://" + lower_case(host);
}

std::optional<std::string> decoded_path(std::string_view target) {
    if (!target.starts_with('/')) return std::nullopt;
    target = target.substr(0, target.find_first_of("?#"));
    std::string path;
    path.reserve(target.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
        char c = target[i];
        if (c == '%') {
            if (i + 2 >= target.size()) return std::nullopt;
            const int high = hex_digit(target[i + 1]), low = hex_digit(target[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(16 * high + low);
            i += 2;
        }
        // control characters belong to no file name, and a NUL would cut one short
        if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
        path += c;
    }
    return path;
}

std::string_view query_value(std::string_view target, std::string_view name) {
    const std::size_t mark = target.find('?');
    if (mark == std::string_view::npos) return {};
    std::string_view query = target.substr(mark + 1);
    query = query.substr(0, query.find('#'));
    while (!query.empty()) {
        const std::string_view part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(part.size() + 1, query.size()));
        if (part.starts_with(name) && part.substr(name.size()).starts_with('='))
            return part.substr(name.size() + 1);
    }
    return {};
}

bool is_same_secret(std::string_view given, std::string_view secret) noexcept {
    unsigned difference = given.size() == secret.size() ? 0u : 1u;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
        difference |= static_cast<unsigned char>(given[i] ^ expected);
    }
    return difference == 0;
}

bool RateLimit::take(Time now) noexcept {
    const double elapsed = std::chrono::duration<double>(now - last_).count();
    allowance_ = std::min(burst(), allowance_ + elapsed * rate_);
    last_ = now;
    if (allowance_ < 1) return false;
    allowance_ -= 1;
    return true;
}

}  // namespace pliant
