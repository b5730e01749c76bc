#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pliant {

/// Bytes that several connections may share while they are sent.
using SharedBytes = std::shared_ptr<const std::string>;

struct HttpReply {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    SharedBytes body;
};

struct WebServerOptions {
    std::string address = "127.0.0.1";
    int port = 8080;  ///< 0: any free one
    /// Every request must carry it: `?t=TOKEN`, or the cookie that the first page sets. Empty:
    /// none is asked for.
    std::string token;
    int max_connections = 64;                ///< more get status 503
    std::chrono::seconds request_limit{10};  ///< within which a request must be complete
    std::size_t max_message_bytes = std::size_t{1} << 16;  ///< of a client; larger ones close it
    double max_messages_per_second = 500;                  ///< of each client; more are dropped
    /// A client that takes nothing for this long is closed.
    std::chrono::seconds stall_limit{20};
};

/// What happened since the start.
struct WebServerCounts {
    std::uint64_t requests = 0, refused = 0;  ///< wrong token, Host, Origin, or method
    /// Of clients: handed to the handler; above the rate limit, or a handler threw.
    std::uint64_t messages = 0, dropped_messages = 0;
    std::uint64_t opened = 0, closed = 0;  ///< WebSockets
    std::uint64_t bytes_sent = 0, bytes_received = 0;
};

/// Pages, data and WebSocket messages for browsers, on one port and one thread of its own, so that
/// handlers need no locks among themselves. Loopback by default; requests whose Origin or Host is
/// not this server are refused, which keeps foreign pages out. Nothing a client does stops it.
class WebServer {
public:
    using Client = std::uint64_t;  ///< of one WebSocket connection, never used twice

    /// All are called on the server's thread and must return soon: perhaps before the constructor
    /// has returned, and until the destructor has. What they throw is caught: status 500 for a GET,
    /// otherwise counted.
    struct Handlers {
        /// GET or HEAD of a path, without its query, `%20` decoded.
        std::function<HttpReply(std::string_view path)> get;
        std::function<void(Client)> opened;
        std::function<void(Client, std::span<const std::byte> message, bool is_text)> received;
        std::function<void(Client)> closed;
        /// Called every `interval` until the server stops.
        std::function<void()> tick;
        std::chrono::milliseconds interval{4};
    };

    /// Listens at once. Throws InputError when the port is taken, saying which and how to choose
    /// another, or the address cannot be used.
    WebServer(const WebServerOptions& options, Handlers handlers);
    /// Closes all connections and joins the thread; no handler is called for that.
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    [[nodiscard]] int port() const noexcept;
    /// `http://127.0.0.1:8080/?t=6f1c…`
    [[nodiscard]] std::string url() const;
    [[nodiscard]] WebServerCounts counts() const noexcept;  ///< any thread

    // From handlers only.
    /// Queues a message. False: the client is gone, or has more than `limit` bytes unsent, and the
    /// message is dropped.
    bool send(Client client, SharedBytes message, bool is_text,
              std::size_t limit = std::size_t{4} << 20);
    [[nodiscard]] std::size_t unsent_bytes(Client client) const;
    void close(Client client);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// 128 random bits from the system as hexadecimal text, for WebServerOptions::token.
[[nodiscard]] std::string random_token();

}  // namespace pliant
