#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Where a server listens, as browsers name it in `Host` and `Origin`.
struct ServedAddress {
    std::string address;  ///< as text: "127.0.0.1", "::1", "0.0.0.0"
    int port = 0;
};

/// `localhost`, or a numeric address that only programs of this computer reach.
[[nodiscard]] bool is_loopback_address(std::string_view address);
/// 0.0.0.0 or ::, which mean all addresses of this computer.
[[nodiscard]] bool is_every_address(std::string_view address);

/// `127.0.0.1:8080`, `[::1]:8080`; the loopback for an address that means all of the machine's.
[[nodiscard]] std::string host_text(const ServedAddress& served);

/// How other machines name a server in their browsers: each of `interfaces`, the addresses of this
/// machine's network, that it serves. None where it serves the loopback.
[[nodiscard]] std::vector<std::string> network_hosts(const ServedAddress& served,
                                                     std::span<const std::string> interfaces);

/// True when a `Host` header names this server: its address and port; `localhost` where the
/// loopback is served; any numeric address when all are. Names are refused otherwise: a foreign
/// page can make its own name point here (DNS rebinding), but not a numeric address.
[[nodiscard]] bool is_own_host(std::string_view host, const ServedAddress& served);
/// True when an `Origin` header is the page that `Host` names.
[[nodiscard]] bool is_own_origin(std::string_view origin, std::string_view host);

/// The path of a request target without its query, `%41` decoded; nothing if it is not a path.
[[nodiscard]] std::optional<std::string> decoded_path(std::string_view target);
/// The first value of `name` in the query of a request target; empty when there is none.
[[nodiscard]] std::string_view query_value(std::string_view target, std::string_view name);

/// Compares in a time that depends on the lengths alone, so that a secret cannot be guessed letter
/// by letter.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view secret) noexcept;

/// Lets `rate` events a second pass on average, as many (at least one) at once after a pause.
class RateLimit {
public:
    using Time = std::chrono::steady_clock::time_point;
    RateLimit(double rate, Time now) : rate_(rate), allowance_(burst()), last_(now) {}
    [[nodiscard]] bool take(Time now) noexcept;

private:
    [[nodiscard]] double burst() const noexcept { return rate_ > 1 ? rate_ : 1; }
    double rate_, allowance_;
    Time last_;
};

}  // namespace pliant
