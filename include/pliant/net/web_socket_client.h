#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace pliant {

struct WebSocketClientOptions {
    std::string url;                       ///< ws://HOST:PORT/PATH; HOST an IP address or localhost
    std::chrono::milliseconds retry{500};  ///< between tries to connect
    std::chrono::milliseconds connect_limit{2000};         ///< for one try
    std::size_t max_message_bytes = std::size_t{1} << 20;  ///< larger ones end the connection
};

/// One WebSocket connection to a server, on a thread of its own; made anew whenever it ends.
class WebSocketClient {
public:
    /// All are called on the client's thread, perhaps before the constructor has returned, and must
    /// return soon. What they throw ends the connection.
    struct Handlers {
        std::function<void()> opened;
        std::function<void(std::span<const std::byte> message, bool is_text)> received;
        std::function<void()> closed;  ///< of one that was open
        std::function<void()> tick;    ///< about every `interval` while it is open
        std::chrono::microseconds interval{1000};
    };

    /// Returns at once, connected or not. Throws InputError for an address that is none.
    WebSocketClient(const WebSocketClientOptions& options, Handlers handlers);
    /// Ends the connection and joins the thread; no handler is called for that.
    ~WebSocketClient();
    WebSocketClient(const WebSocketClient&) = delete;
    WebSocketClient& operator=(const WebSocketClient&) = delete;

    [[nodiscard]] bool is_open() const noexcept;  ///< any thread

    // From handlers only.
    /// False: not open, or the message before is still on its way; this one is dropped.
    bool send(std::string message, bool is_text);
    /// Ends the connection; the next one is tried.
    void reconnect();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
