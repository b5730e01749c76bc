#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// Bytes that several connections may share while they are sent.
using SharedBytes = std::shared_ptr<const std::string>;

/// A body that is read while it is sent, so that a client that takes it slowly costs no memory.
struct StreamedBody {
    std::uint64_t size = 0;
    /// Fills `piece` from byte `offset` on and returns how many bytes there were. Fewer than asked
    /// for, because a file became shorter: the reply ends there, and its connection with it.
    std::function<std::size_t(std::uint64_t offset, std::span<char> piece)> read;
};

struct HttpReply {
    int status = 200;
    std::string content_type = "text/plain; charset=utf-8";
    SharedBytes body;
    std::optional<StreamedBody> streamed = {};  ///< instead of `body`
};

struct WebServerOptions {
    std::string address = "127.0.0.1";
    int port = 8080;  ///< 0: any free one
    /// Every request but those that Handlers::get_public answers must carry it: `?t=TOKEN`. Empty:
    /// none is asked for.
    std::string token;
    /// More get status 503, after those that have not shown the token and those between two
    /// requests were given up for new ones.
    int max_connections = 64;
    std::chrono::seconds request_limit{3};  ///< within which a request must be complete
    std::size_t max_message_bytes = std::size_t{1} << 16;  ///< of a client; larger ones close it
    double max_messages_per_second = 500;                  ///< of each client; more are dropped
    /// A client that takes nothing for this long is closed, and a WebSocket client that says
    /// nothing.
    std::chrono::seconds stall_limit{20};
    /// WebSocket clients are sent a ping so often, which browsers answer by themselves, also for a
    /// page in the background. After three without an answer Handlers::silent is called, and after
    /// the next answer Handlers::heard.
    std::chrono::milliseconds ping_interval{1000};
};

/// What happened since the start.
struct WebServerCounts {
    std::uint64_t requests = 0, refused = 0;  ///< no token, wrong Host, Origin, or method
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
        /// The same of what everybody may have who reaches the server, without the token, such as
        /// the files of a page; asked first. Nothing: it is none of these.
        std::function<std::optional<HttpReply>(std::string_view path)> get_public;
        std::function<void(Client)> opened;
        std::function<void(Client, std::span<const std::byte> message, bool is_text)> received;
        /// It lives no longer, or hangs: three pings are unanswered.
        std::function<void(Client)> silent;
        /// After `silent`: it answers again. Before `received` where a message is the answer.
        std::function<void(Client)> heard;
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
    /// `http://127.0.0.1:8080/?t=6f1c…`, for a browser on this machine
    [[nodiscard]] std::string url() const;
    /// The same for other machines, by the addresses that this one has now. Empty: the server
    /// listens on the loopback, or there is no network.
    [[nodiscard]] std::vector<std::string> network_urls() const;
    /// Whether other machines may connect.
    [[nodiscard]] bool is_open_to_network() const noexcept;
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
