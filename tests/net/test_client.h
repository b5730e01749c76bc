#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pliant::test {

using namespace std::chrono_literals;

/// A browser's side of one connection by plain sockets: independent of the library that the server
/// uses, and able to misbehave. Blocking; every wait has a limit.
class TestClient {
public:
    using Headers = std::vector<std::pair<std::string, std::string>>;
    struct Reply {
        int status = 0;                              ///< 0: none came
        std::map<std::string, std::string> headers;  ///< names in lower case
        std::string body;
    };
    enum class Kind { Text, Binary, Close, Pong, Ping, None };
    struct Message {
        Kind kind = Kind::None;  ///< None: nothing came in time, or the connection ended
        std::string data;
        int close_code = 0;
        int num_frames = 0;
    };

    /// Connects; `receive_buffer` bytes of the system's buffer make a stalled client stall soon.
    explicit TestClient(int port, int receive_buffer = 0, const std::string& address = "127.0.0.1");
    ~TestClient();
    TestClient(const TestClient&) = delete;
    TestClient& operator=(const TestClient&) = delete;
    [[nodiscard]] bool is_connected() const { return descriptor_ >= 0; }

    // HTTP. A `Host` header is added unless `headers` hold one.
    Reply http_get(const std::string& path, const Headers& headers = {});
    Reply request(const std::string& method, const std::string& path, const Headers& headers = {});
    /// Reads one reply; without its body after HEAD.
    Reply read_reply(bool has_body = true);

    // WebSocket.
    /// Asks for the upgrade and checks the answer's key. Returns the status: 101 when it is open.
    int open_websocket(const std::string& path, const Headers& headers = {});
    bool send_text(std::string_view text) { return send_frame(1, text); }
    bool send_binary(std::string_view data) { return send_frame(2, data); }
    /// Opcodes: 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong.
    bool send_frame(int opcode, std::string_view payload, bool is_last = true);
    /// The next message, put together from its fragments, or control frame.
    Message receive(std::chrono::milliseconds limit = 5s);
    /// The next text or binary message; answers pings, skips pongs. None after a close.
    Message receive_data(std::chrono::milliseconds limit = 5s);

    // Raw.
    bool send_raw(std::string_view bytes);
    /// Some bytes, at most `most`; empty when none came in time or the connection ended.
    std::string receive_raw(std::size_t most, std::chrono::milliseconds limit = 5s);
    /// Reads on until the server ends the connection; false when it does not within `limit`.
    bool is_closed_within(std::chrono::milliseconds limit);
    /// As a browser that is killed: a reset instead of an orderly end.
    void close_abruptly();
    void close();

private:
    bool fill(std::size_t size, std::chrono::steady_clock::time_point deadline);

    int descriptor_ = -1;
    std::string host_;
    std::string received_;
    bool has_ended_ = false;
};

/// Sleeps for 1 ms; false when the deadline has passed.
bool wait_a_moment(std::chrono::steady_clock::time_point deadline);

/// Waits until `condition` holds; false when it does not within `limit`.
template <class Condition>
bool eventually(Condition&& condition, std::chrono::milliseconds limit = 5s) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition())
        if (!wait_a_moment(deadline)) return condition();
    return true;
}

}  // namespace pliant::test
