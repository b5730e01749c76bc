#include "pliant/net/web_server.h"

#include "input_error.h"
#include "net/test_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pliant {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::input_error;
using test::TestClient;
using Kind = TestClient::Kind;

SharedBytes bytes(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// A server whose handlers note what happens and do what a message says.
class Server {
public:
    explicit Server(WebServerOptions options = {}) {
        options.port = 0;
        WebServer::Handlers handlers;
        handlers.get = [this](std::string_view path) { return get(path); };
        handlers.get_public = [this](std::string_view path) { return get_public(path); };
        handlers.opened = [this](WebServer::Client client) { opened(client); };
        handlers.received = [this](WebServer::Client client, std::span<const std::byte> message,
                                   bool is_text) { received(client, message, is_text); };
        handlers.silent = [this](WebServer::Client) { note("silent"); };
        handlers.heard = [this](WebServer::Client) { note("heard"); };
        handlers.closed = [this](WebServer::Client client) { closed(client); };
        handlers.tick = [this] { check_thread(); };
        web_ = std::make_unique<WebServer>(options, std::move(handlers));
        pointer_ = web_.get();
    }

    [[nodiscard]] int port() const { return web_->port(); }
    [[nodiscard]] std::string url() const { return web_->url(); }
    [[nodiscard]] WebServerCounts counts() const { return web_->counts(); }
    [[nodiscard]] std::string log() const {
        const std::lock_guard lock(mutex_);
        return log_;
    }
    [[nodiscard]] bool used_one_thread() const { return used_one_thread_; }
    [[nodiscard]] int num_refused_sends() const { return num_refused_sends_; }
    [[nodiscard]] std::size_t most_unsent() const { return most_unsent_; }
    /// Of "/streamed": how many of its bytes are there, how many were read, who still reads.
    std::atomic<std::uint64_t> num_streamed{kStreamedBytes}, num_read{0};
    [[nodiscard]] bool is_streaming() const { return !reading_.expired(); }
    static constexpr std::uint64_t kStreamedBytes = 200'000'000;
    static char streamed_byte(std::uint64_t i) { return static_cast<char>('a' + i % 23); }
    void stop() { web_.reset(); }

private:
    void note(const std::string& text) {
        const std::lock_guard lock(mutex_);
        log_ += text + ";";
    }
    void check_thread() {
        const auto here = std::this_thread::get_id();
        if (thread_ == std::thread::id()) thread_ = here;
        if (thread_ != here) used_one_thread_ = false;
    }

    HttpReply get(std::string_view path) {
        check_thread();
        if (path == "/") return {200, "text/html; charset=utf-8", bytes("<p>page</p>")};
        if (path == "/app.js") return {200, "text/javascript", bytes("let x;")};
        if (path == "/api/scene") return {200, "application/json", bytes("{}")};
        if (path == "/big")
            return {200, "application/octet-stream", bytes(std::string(9 << 20, 'b'))};
        if (path == "/streamed") return {200, "application/octet-stream", nullptr, streamed()};
        if (path == "/none") return {200, "text/plain", nullptr};
        if (path == "/throw") throw std::runtime_error("handler");
        return {404, "text/plain", bytes("not " + std::string(path))};
    }
    std::optional<HttpReply> get_public(std::string_view path) {
        check_thread();
        if (path == "/public") return HttpReply{200, "text/html", bytes("<p>for all</p>")};
        if (path == "/public/throw") throw std::runtime_error("handler");
        return std::nullopt;
    }
    StreamedBody streamed() {
        const auto held = std::make_shared<int>();
        reading_ = held;
        return {num_streamed, [this, held](std::uint64_t offset, std::span<char> piece) {
                    check_thread();
                    const std::uint64_t there = num_streamed;
                    const auto end = std::min(offset + piece.size(), std::max(offset, there));
                    for (std::uint64_t i = offset; i < end; ++i)
                        piece[i - offset] = streamed_byte(i);
                    num_read += end - offset;
                    return static_cast<std::size_t>(end - offset);
                }};
    }
    void opened(WebServer::Client client) {
        check_thread();
        note("opened");
        pointer_.load()->send(client, bytes("hello"), true);
    }
    void received(WebServer::Client client, std::span<const std::byte> message, bool is_text) {
        check_thread();
        const std::string text(reinterpret_cast<const char*>(message.data()), message.size());
        WebServer& web = *pointer_.load();
        if (text == "throw") throw std::runtime_error("handler");
        if (text == "close") {
            web.close(client);
            web.close(client);
            if (web.send(client, bytes("late"), true)) note("sent after close");
            return;
        }
        if (text == "big") {
            web.send(client, bytes(std::string(300'000, 'g')), false);
            return;
        }
        if (text == "huge") {
            web.send(client, bytes(std::string(16 << 20, 'h')), false);
            return;
        }
        if (text == "flood") {
            // 64 MB into a queue of 1 MB
            const SharedBytes block = bytes(std::string(100'000, 'f'));
            for (int i = 0; i < 640; ++i) {
                if (!web.send(client, block, false, std::size_t{1} << 20)) ++num_refused_sends_;
                most_unsent_ = std::max<std::size_t>(most_unsent_, web.unsent_bytes(client));
            }
            if (web.send(client + 1000, block, false)) note("sent to nobody");
            return;
        }
        if (!text.empty() && text[0] == '#') return;
        web.send(client, bytes(text), is_text);
    }
    void closed(WebServer::Client client) {
        check_thread();
        note("closed");
        if (pointer_.load()->send(client, bytes("gone"), true)) note("sent to a closed client");
        if (pointer_.load()->unsent_bytes(client) != 0) note("closed client has bytes");
    }

    mutable std::mutex mutex_;
    std::string log_;
    std::thread::id thread_;
    std::atomic<bool> used_one_thread_{true};
    std::atomic<int> num_refused_sends_{0};
    std::atomic<std::size_t> most_unsent_{0};
    std::weak_ptr<int> reading_;
    std::atomic<WebServer*> pointer_{nullptr};
    std::unique_ptr<WebServer> web_;
};

WebServerOptions with_token() {
    WebServerOptions options;
    options.token = "0123456789abcdef";
    return options;
}

int num_open_files() {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

int num_threads() {
    int count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator("/proc/self/task"))
        ++count;
    return count;
}

// ---------------------------------------------------------------- listening

TEST(WebServerListen, UrlHoldsAddressPortAndToken) {
    const Server server(with_token());
    EXPECT_GT(server.port(), 0);
    EXPECT_EQ(server.url(),
              "http://127.0.0.1:" + std::to_string(server.port()) + "/?t=0123456789abcdef");
    EXPECT_EQ(Server().url().find('?'), std::string::npos);
}

TEST(WebServerListen, PortInUseIsNamedWithTheOption) {
    const Server first;
    WebServerOptions options;
    options.port = first.port();
    EXPECT_EQ(input_error([&] { const WebServer second(options, {}); }),
              "port " + std::to_string(first.port()) +
                  " of 127.0.0.1 is in use by another program; choose another with --port, or "
                  "--port 0 for any free one");
}

TEST(WebServerListen, PortIsFreeAgainAtOnce) {
    WebServerOptions options;
    {
        Server first;
        options.port = first.port();
        TestClient client(first.port());
        EXPECT_EQ(client.open_websocket("/"), 101);
        first.stop();
    }
    const WebServer second(options, {});
    EXPECT_EQ(second.port(), options.port);
    EXPECT_EQ(TestClient(second.port()).http_get("/").status, 404);
}

TEST(WebServerListen, WrongPortsAndAddressesAreExplained) {
    WebServerOptions options;
    options.port = 65536;
    EXPECT_EQ(input_error([&] { const WebServer server(options, {}); }),
              "--port = 65536 (expected 0 to 65535)");
    options.port = 0;
    options.address = "my computer";
    EXPECT_EQ(input_error([&] { const WebServer server(options, {}); }),
              "--address = \"my computer\" (expected an IP address of this machine, such as "
              "127.0.0.1, or 0.0.0.0 for all)");
    options.address = "203.0.113.7";  // reserved for documentation: nobody's
    const std::string text = input_error([&] { const WebServer server(options, {}); });
    EXPECT_NE(text.find("cannot listen on 203.0.113.7 port 0 ("), std::string::npos) << text;
    EXPECT_NE(text.find("--address must be an IP address of this machine"), std::string::npos);
}

TEST(WebServerListen, LocalhostAndAllAddressesAreUnderstood) {
    WebServerOptions options;
    for (const char* address : {"localhost", "0.0.0.0"}) {
        options.address = address;
        const Server server(options);
        EXPECT_TRUE(server.url().starts_with("http://127.0.0.1:"));
        EXPECT_EQ(TestClient(server.port()).http_get("/").status, 200);
    }
}

TEST(WebServerListen, SixthVersionOfTheProtocolIsServed) {
    WebServerOptions options;
    options.address = "::1";
    std::unique_ptr<Server> server;
    if (!input_error([&] { server = std::make_unique<Server>(options); }).empty())
        GTEST_SKIP() << "this machine has no ::1";
    EXPECT_EQ(server->url(), "http://[::1]:" + std::to_string(server->port()) + "/");
    TestClient client(server->port(), 0, "::1");
    EXPECT_EQ(client.http_get("/").status, 200);
    EXPECT_EQ(client.open_websocket("/ws"), 101);
}

// ---------------------------------------------------------------- requests

TEST(WebServerHttp, ServesPagesWithLengthTypeAndSecurityHeaders) {
    const Server server;
    TestClient client(server.port());
    TestClient::Reply reply = client.http_get("/?x=1");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "<p>page</p>");
    EXPECT_EQ(reply.headers["content-type"], "text/html; charset=utf-8");
    EXPECT_EQ(reply.headers["cache-control"], "no-store");
    EXPECT_EQ(reply.headers["x-content-type-options"], "nosniff");
    EXPECT_NE(reply.headers["content-security-policy"].find("default-src 'self'"),
              std::string::npos);
    EXPECT_EQ(reply.headers.count("set-cookie"), 0u);
    // the same connection goes on
    EXPECT_EQ(client.http_get("/api/scene").headers["cache-control"], "no-store");
    EXPECT_EQ(client.http_get("/app.js").headers["cache-control"], "no-cache");
    EXPECT_EQ(client.http_get("/no%20such").body, "not /no such");
    EXPECT_EQ(client.http_get("/none").headers["content-length"], "0");
    EXPECT_EQ(client.http_get("/app.js", {{"Connection", "close"}}).headers["connection"], "close");
    EXPECT_TRUE(client.is_closed_within(5s));
    EXPECT_EQ(server.counts().requests, 6u);
    EXPECT_EQ(server.counts().refused, 0u);
    EXPECT_TRUE(server.used_one_thread());
}

TEST(WebServerHttp, HeadIsGetWithoutTheBody) {
    const Server server;
    TestClient client(server.port());
    EXPECT_EQ(client.request("HEAD", "/").headers["content-length"], "11");
    // no body was sent: the next reply follows
    EXPECT_EQ(client.http_get("/app.js").body, "let x;");
}

TEST(WebServerHttp, RequestsSentTogetherAreAnsweredInOrder) {
    const Server server;
    TestClient client(server.port());
    const std::string host = "Host: 127.0.0.1:" + std::to_string(server.port()) + "\r\n\r\n";
    client.send_raw("GET / HTTP/1.1\r\n" + host + "GET /app.js HTTP/1.1\r\n" + host);
    EXPECT_EQ(client.read_reply().body, "<p>page</p>");
    EXPECT_EQ(client.read_reply().body, "let x;");
}

TEST(WebServerHttp, LargeRepliesArriveWhole) {
    const Server server;
    TestClient client(server.port());
    const TestClient::Reply reply = client.http_get("/big");
    EXPECT_EQ(reply.body, std::string(9 << 20, 'b'));
    EXPECT_GT(server.counts().bytes_sent, std::uint64_t{9} << 20);
}

TEST(WebServerHttp, StreamedRepliesArriveWholeAndTheConnectionGoesOn) {
    Server server;
    server.num_streamed = 300'001;
    TestClient client(server.port());
    EXPECT_EQ(client.request("HEAD", "/streamed").headers["content-length"], "300001");
    EXPECT_EQ(server.num_read, 0u);
    const TestClient::Reply reply = client.http_get("/streamed");
    EXPECT_EQ(reply.status, 200);
    ASSERT_EQ(reply.body.size(), 300'001u);
    for (std::uint64_t i = 0; i < reply.body.size(); ++i)
        ASSERT_EQ(reply.body[i], Server::streamed_byte(i)) << i;
    EXPECT_EQ(client.http_get("/app.js").body, "let x;");
    EXPECT_EQ(server.num_read, 300'001u);
    EXPECT_FALSE(server.is_streaming());
    server.num_streamed = 0;
    EXPECT_EQ(client.http_get("/streamed").headers["content-length"], "0");
    EXPECT_EQ(client.http_get("/app.js").body, "let x;");
    EXPECT_TRUE(server.used_one_thread());
}

TEST(WebServerHttp, AStreamThatBecomesShorterEndsTheConnection) {
    Server server;
    TestClient client(server.port(), 4096);
    client.send_raw("GET /streamed HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                    "\r\n\r\n");
    EXPECT_TRUE(client.receive_raw(15).starts_with("HTTP/1.1 200 OK"));
    server.num_streamed = 1000;
    EXPECT_TRUE(client.is_closed_within(10s));
    EXPECT_TRUE(eventually([&] { return !server.is_streaming(); }));
    EXPECT_LT(server.num_read, Server::kStreamedBytes / 2);
    EXPECT_EQ(TestClient(server.port()).http_get("/").status, 200);
}

TEST(WebServerHttp, OtherMethodsGet405WithAllow) {
    const Server server;
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"}) {
        TestClient client(server.port());
        TestClient::Reply reply = client.request(method, "/");
        EXPECT_EQ(reply.status, 405) << method;
        EXPECT_EQ(reply.headers["allow"], "GET, HEAD");
    }
    EXPECT_EQ(server.counts().refused, 5u);
}

TEST(WebServerHttp, BodiesAreRefusedAndEndTheConnection) {
    const Server server;
    TestClient client(server.port());
    EXPECT_EQ(client.request("GET", "/", {{"Content-Length", "5"}}).status, 413);
    EXPECT_TRUE(client.is_closed_within(5s));
    // the answer arrives although the body is not read
    TestClient poster(server.port());
    poster.send_raw("POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                    "\r\nContent-Length: 5000000\r\n\r\n" + std::string(200'000, 'x'));
    EXPECT_EQ(poster.read_reply().status, 405);
    EXPECT_TRUE(poster.is_closed_within(5s));
}

TEST(WebServerHttp, WrongSyntaxGets400AndLongHeaders431) {
    const Server server;
    TestClient wrong(server.port());
    wrong.send_raw("this is not HTTP\r\n\r\n");
    EXPECT_EQ(wrong.read_reply().status, 400);
    EXPECT_TRUE(wrong.is_closed_within(5s));
    TestClient path(server.port());
    EXPECT_EQ(path.http_get("/%zz").status, 400);
    TestClient longer(server.port());
    EXPECT_EQ(longer.http_get("/", {{"X", std::string(15'000, 'x')}}).status, 200);
    EXPECT_EQ(longer.http_get("/", {{"X", std::string(20'000, 'x')}}).status, 431);
    TestClient endless(server.port());
    endless.send_raw("GET /" + std::string(100'000, 'x'));
    EXPECT_EQ(endless.read_reply().status, 431);
}

TEST(WebServerHttp, HandlerThatThrowsGives500) {
    const Server server;
    TestClient client(server.port());
    EXPECT_EQ(client.http_get("/throw").status, 500);
    EXPECT_EQ(client.http_get("/").status, 200);
}

// ---------------------------------------------------------------- access

TEST(WebServerAccess, EveryRequestNeedsTheTokenAndNoCookieIsSetOrRead) {
    const Server server(with_token());
    TestClient client(server.port());
    TestClient::Reply reply = client.http_get("/?t=0123456789abcdef");
    EXPECT_EQ(reply.status, 200);
    // browsers show cookies to every port of an address, whoever listens there
    EXPECT_EQ(reply.headers.count("set-cookie"), 0u);
    const std::string cookie = "pliant_" + std::to_string(server.port()) + "=0123456789abcdef";
    EXPECT_EQ(client.http_get("/app.js", {{"Cookie", cookie}}).status, 403);
    EXPECT_EQ(TestClient(server.port()).open_websocket("/ws", {{"Cookie", cookie}}), 403);
    EXPECT_EQ(server.counts().refused, 2u);
    EXPECT_EQ(client.http_get("/app.js?t=0123456789abcdef").status, 200);
    EXPECT_EQ(TestClient(server.port()).open_websocket("/ws?t=0123456789abcdef"), 101);
    EXPECT_EQ(server.counts().refused, 2u);
}

TEST(WebServerAccess, WhatIsPublicNeedsNoTokenButOurOwnHost) {
    const Server server(with_token());
    TestClient client(server.port());
    for (const char* path : {"/public", "/public?t=", "/public?t=wrong"}) {
        const TestClient::Reply reply = client.http_get(path);
        EXPECT_EQ(reply.status, 200) << path;
        EXPECT_EQ(reply.body, "<p>for all</p>");
        EXPECT_EQ(reply.headers.count("set-cookie"), 0u);
    }
    EXPECT_EQ(client.request("HEAD", "/public").headers["content-length"], "14");
    EXPECT_EQ(client.http_get("/public/throw").status, 500);
    EXPECT_EQ(server.counts().refused, 0u);
    // neither what is not there, nor a WebSocket, nor another name for this server
    EXPECT_EQ(client.http_get("/public/none").status, 403);
    EXPECT_EQ(client.http_get("/api/scene").status, 403);
    EXPECT_EQ(client.http_get("/%zz").status, 403);
    EXPECT_EQ(client.open_websocket("/public"), 403);
    EXPECT_EQ(client.http_get("/public", {{"Host", "evil.example"}}).status, 403);
    EXPECT_EQ(client.http_get("/public", {{"Origin", "http://evil.example"}}).status, 403);
    EXPECT_EQ(client.request("POST", "/public").status, 405);
    EXPECT_EQ(server.counts().refused, 7u);
    EXPECT_EQ(client.http_get("/public/none?t=0123456789abcdef").status, 404);
}

TEST(WebServerAccess, WithoutTheTokenThePageSaysWhereToFindIt) {
    const Server server(with_token());
    TestClient client(server.port());
    for (const char* path : {"/", "/?t=", "/?t=0123456789abcdee", "/?t=0123456789abcdef0", "/t"}) {
        TestClient::Reply reply = client.http_get(path);
        EXPECT_EQ(reply.status, 403) << path;
        EXPECT_NE(reply.body.find("use the address printed in the terminal"), std::string::npos);
        EXPECT_EQ(reply.headers.count("set-cookie"), 0u);
        EXPECT_EQ(reply.body.find("0123"), std::string::npos);
    }
    EXPECT_EQ(client.http_get("/", {{"Cookie", "pliant_1=0123456789abcdef"}}).status, 403);
    EXPECT_EQ(client.open_websocket("/ws"), 403);
    EXPECT_EQ(server.counts().refused, 7u);
    EXPECT_EQ(server.counts().opened, 0u);
}

TEST(WebServerAccess, ForeignHostsAndOriginsAreRefused) {
    const Server server;
    TestClient client(server.port());
    const std::string port = ":" + std::to_string(server.port());
    const auto status = [&](const TestClient::Headers& headers) {
        return client.http_get("/", headers).status;
    };
    EXPECT_EQ(status({{"Host", "localhost" + port}}), 200);
    EXPECT_EQ(status({{"Origin", "http://127.0.0.1" + port}}), 200);
    EXPECT_EQ(status({{"Host", "evil.example" + port}}), 403);
    EXPECT_EQ(status({{"Host", "127.0.0.1:1"}}), 403);
    EXPECT_EQ(status({{"Host", "127.0.0.1" + port}, {"Host", "evil.example"}}), 403);
    EXPECT_EQ(status({{"Origin", "http://evil.example"}}), 403);
    EXPECT_EQ(status({{"Origin", "null"}}), 403);
    EXPECT_EQ(status({{"Origin", "http://localhost" + port}}), 403);
    EXPECT_EQ(client.open_websocket("/ws", {{"Origin", "http://evil.example"}}), 403);
    EXPECT_EQ(client.open_websocket("/ws", {{"Origin", "http://127.0.0.1" + port}}), 101);
    TestClient nameless(server.port());
    nameless.send_raw("GET / HTTP/1.1\r\n\r\n");
    const TestClient::Reply reply = nameless.read_reply();
    EXPECT_EQ(reply.status, 403);
    EXPECT_NE(reply.body.find("use the address printed in the terminal"), std::string::npos);
    EXPECT_EQ(server.counts().refused, 8u);
}

// ---------------------------------------------------------------- messages

TEST(WebServerMessages, TextAndBinaryGoBothWaysInOrder) {
    Server server;
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    const std::string zeros("\0\xff\0", 3);
    client.send_text("first é");
    client.send_binary(zeros);
    client.send_text("");
    TestClient::Message message = client.receive();
    EXPECT_EQ(message.kind, Kind::Text);
    EXPECT_EQ(message.data, "first é");
    message = client.receive();
    EXPECT_EQ(message.kind, Kind::Binary);
    EXPECT_EQ(message.data, zeros);
    message = client.receive();
    EXPECT_EQ(message.kind, Kind::Text);
    EXPECT_EQ(message.data, "");
    // fragments of a client are one message
    client.send_frame(1, "one ", false);
    client.send_frame(0, "message", true);
    EXPECT_EQ(client.receive().data, "one message");
    EXPECT_EQ(server.counts().messages, 4u);
    EXPECT_EQ(server.counts().opened, 1u);
    // an orderly end is answered
    client.send_frame(8, std::string("\x03\xe8", 2));
    EXPECT_EQ(client.receive().close_code, 1000);
    EXPECT_TRUE(client.is_closed_within(5s));
    client.close();
    EXPECT_TRUE(eventually([&] { return server.log() == "opened;closed;"; })) << server.log();
    EXPECT_EQ(server.counts().closed, 1u);
    EXPECT_TRUE(server.used_one_thread());
}

TEST(WebServerMessages, LargeOnesArriveWhole) {
    const Server server;
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_text("big");
    client.send_text("after");
    const TestClient::Message message = client.receive();
    EXPECT_EQ(message.kind, Kind::Binary);
    EXPECT_EQ(message.data, std::string(300'000, 'g'));
    EXPECT_EQ(message.num_frames, 1);
    EXPECT_EQ(client.receive().data, "after");
}

TEST(WebServerMessages, FollowRequestsOnTheSameConnection) {
    const Server server;
    TestClient client(server.port());
    EXPECT_EQ(client.http_get("/").status, 200);
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_text("a message longer than nothing");
    EXPECT_EQ(client.receive().data, "a message longer than nothing");
}

TEST(WebServerMessages, PingsAreAnswered) {
    const Server server;
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_frame(9, "are you there");
    const TestClient::Message message = client.receive();
    EXPECT_EQ(message.kind, Kind::Pong);
    EXPECT_EQ(message.data, "are you there");
    EXPECT_EQ(server.counts().messages, 0u);
}

TEST(WebServerMessages, TooLargeOnesCloseWith1009) {
    WebServerOptions options;
    options.max_message_bytes = 1000;
    const Server server(options);
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_text(std::string(1000, 'a'));
    EXPECT_EQ(client.receive().data.size(), 1000u);
    client.send_text(std::string(1001, 'a'));
    EXPECT_EQ(client.receive().close_code, 1009);
    client.close();
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 1; }));
    EXPECT_EQ(server.counts().messages, 1u);
}

TEST(WebServerMessages, TextThatIsNotUtf8Closes) {
    const Server server;
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_text("\xc3\x28");
    EXPECT_EQ(client.receive().close_code, 1007);
    EXPECT_EQ(server.counts().messages, 0u);
}

TEST(WebServerMessages, ClientThatNeverFinishesClosingIsDropped) {
    // after an error of its own, and when the server closes it
    const Server server;
    TestClient wrong(server.port()), deaf(server.port());
    ASSERT_EQ(wrong.open_websocket("/ws"), 101);
    ASSERT_EQ(deaf.open_websocket("/ws"), 101);
    wrong.send_text("\xc3\x28");
    deaf.send_text("close");
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 2; }));
}

TEST(WebServerMessages, MoreThanTheRateAreDroppedAndCounted) {
    WebServerOptions options;
    options.max_messages_per_second = 5;
    const Server server(options);
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    for (int i = 0; i < 200; ++i) client.send_text("#");
    const auto seen = [&] { return server.counts().messages + server.counts().dropped_messages; };
    EXPECT_TRUE(eventually([&] { return seen() == 200; }));
    // five at once, and five for each second that a busy machine may have taken
    EXPECT_GE(server.counts().messages, 5u);
    EXPECT_LE(server.counts().messages, 40u);
    // the client is not cut off
    EXPECT_EQ(client.receive().data, "hello");
}

TEST(WebServerMessages, HandlerThatThrowsIsCountedAndServingGoesOn) {
    const Server server;
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_text("throw");
    client.send_text("again");
    EXPECT_EQ(client.receive().data, "again");
    EXPECT_EQ(server.counts().dropped_messages, 1u);
    EXPECT_EQ(server.counts().messages, 2u);
}

TEST(WebServerMessages, ThrowingTickOpenedAndClosedAreCounted) {
    std::atomic<int> num_ticks{0};
    WebServer::Handlers handlers;
    handlers.tick = [&] {
        ++num_ticks;
        throw 1;
    };
    handlers.interval = 1ms;
    handlers.opened = [](WebServer::Client) { throw 2; };
    handlers.closed = [](WebServer::Client) { throw 3; };
    WebServerOptions options;
    options.port = 0;
    const WebServer server(options, handlers);
    {
        TestClient client(server.port());
        EXPECT_EQ(client.open_websocket("/"), 101);
    }
    EXPECT_TRUE(eventually([&] { return num_ticks > 20 && server.counts().closed == 1; }));
    EXPECT_GT(server.counts().dropped_messages, 20u);
}

TEST(WebServerMessages, ServerClosesAClientInOrder) {
    const Server server;
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive().data, "hello");
    client.send_text("big");
    client.send_text("close");
    client.send_text("ignored");
    // what was on its way arrives first
    EXPECT_EQ(client.receive().data.size(), 300'000u);
    EXPECT_EQ(client.receive().close_code, 1001);
    client.send_frame(8, std::string("\x03\xe9", 2));
    EXPECT_TRUE(client.is_closed_within(5s));
    client.close();
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 1; }));
    EXPECT_EQ(server.log(), "opened;closed;");
}

TEST(WebServerMessages, ClientsHaveNumbersOfTheirOwn) {
    const Server server;
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 10; ++i) {
        clients.push_back(std::make_unique<TestClient>(server.port()));
        ASSERT_EQ(clients.back()->open_websocket("/ws"), 101);
        EXPECT_EQ(clients.back()->receive().data, "hello");
    }
    for (int i = 0; i < 10; ++i) clients[(size_t)i]->send_text(std::to_string(i));
    for (int i = 9; i >= 0; --i) EXPECT_EQ(clients[(size_t)i]->receive().data, std::to_string(i));
}

// ---------------------------------------------------------------- bad clients

TEST(WebServerClients, StalledOneKeepsABoundedQueueAndIsClosed) {
    WebServerOptions options;
    options.stall_limit = 1s;
    const Server server(options);
    TestClient stalled(server.port(), 4096);
    ASSERT_EQ(stalled.open_websocket("/ws"), 101);
    stalled.send_text("flood");
    // others are served meanwhile
    TestClient other(server.port());
    ASSERT_EQ(other.open_websocket("/ws"), 101);
    EXPECT_EQ(other.receive().data, "hello");
    other.send_text("echo");
    EXPECT_EQ(other.receive_data().data, "echo");
    EXPECT_GT(server.num_refused_sends(), 500);
    EXPECT_LE(server.most_unsent(), (std::size_t{1} << 20) + 100'000);
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 1; }));
    EXPECT_EQ(server.log(), "opened;opened;closed;");
    other.send_text("still here");
    EXPECT_EQ(other.receive_data().data, "still here");
}

TEST(WebServerClients, SlowOneThatTakesItsDataIsKept) {
    WebServerOptions options;
    options.stall_limit = 1s;
    const Server server(options);
    TestClient slow(server.port(), 4096);
    ASSERT_EQ(slow.open_websocket("/ws"), 101);
    slow.send_text("huge");
    // one message that takes longer than the limit, in small sips
    for (int i = 0; i < 32; ++i) {
        for (int sip = 0; sip < 4; ++sip) slow.receive_raw(16'384, 1s);
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_EQ(server.counts().closed, 0u);
    EXPECT_LT(server.counts().bytes_sent, std::uint64_t{16} << 20);
}

TEST(WebServerClients, StalledReplyIsGivenUp) {
    WebServerOptions options;
    options.stall_limit = 1s;
    options.max_connections = 1;
    const Server server(options);
    TestClient stalled(server.port(), 4096);
    stalled.send_raw("GET /big HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                     "\r\n\r\n");
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(TestClient(server.port()).http_get("/").status, 503);
    EXPECT_TRUE(eventually([&] { return TestClient(server.port()).http_get("/").status == 200; }));
}

TEST(WebServerClients, StalledStreamIsReadNoFurtherAndGivenUp) {
    WebServerOptions options;
    options.stall_limit = 1s;
    const Server server(options);
    TestClient stalled(server.port(), 4096);
    stalled.send_raw("GET /streamed HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                     "\r\n\r\n");
    EXPECT_TRUE(eventually([&] { return server.is_streaming(); }));
    EXPECT_TRUE(eventually([&] { return !server.is_streaming(); }));
    // what the system takes, and one piece
    EXPECT_LT(server.num_read, 16'000'000u);
}

TEST(WebServerClients, SilentOnesAreToldOfAndClosedAndOthersDoNotNotice) {
    WebServerOptions options;
    options.ping_interval = 200ms;
    options.stall_limit = 2s;
    Server server(options);
    TestClient silent(server.port()), answering(server.port()), talking(server.port());
    ASSERT_EQ(silent.open_websocket("/ws"), 101);
    ASSERT_EQ(answering.open_websocket("/ws"), 101);
    ASSERT_EQ(talking.open_websocket("/ws"), 101);
    // one answers pings and says nothing, as a page in the background; one talks, but answers none
    std::atomic<bool> is_done{false};
    std::thread browser([&] {
        while (!is_done) answering.receive_data(100ms);
    });
    std::thread talker([&] {
        while (!is_done) {
            talking.send_text("#");
            std::this_thread::sleep_for(20ms);
        }
    });
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 1; }));
    EXPECT_TRUE(silent.is_closed_within(1s));
    std::this_thread::sleep_for(1500ms);
    is_done = true;
    browser.join();
    talker.join();
    EXPECT_EQ(server.counts().closed, 1u);
    EXPECT_EQ(server.log(), "opened;opened;opened;silent;closed;");
    answering.send_text("still here");
    EXPECT_EQ(answering.receive_data().data, "still here");
}

TEST(WebServerClients, OneThatHangsForAWhileStays) {
    WebServerOptions options;
    options.ping_interval = 200ms;
    const Server server(options);
    TestClient hanging(server.port());
    ASSERT_EQ(hanging.open_websocket("/ws"), 101);
    EXPECT_TRUE(eventually([&] { return server.log() == "opened;silent;"; }));
    std::this_thread::sleep_for(500ms);
    // it says something, and may fall silent once more
    hanging.send_text("#");
    EXPECT_TRUE(eventually([&] { return server.log() == "opened;silent;heard;silent;"; }));
    hanging.send_text("here again");
    for (std::string text; text != "here again";) {
        const TestClient::Message message = hanging.receive_data();
        ASSERT_NE(message.kind, Kind::None);
        text = message.data;
    }
    EXPECT_EQ(server.counts().closed, 0u);
}

TEST(WebServerClients, OneThatAnswersPingsAgainIsHeardThoughItSaysNothing) {
    WebServerOptions options;
    options.ping_interval = 200ms;
    const Server server(options);
    TestClient hanging(server.port());
    ASSERT_EQ(hanging.open_websocket("/ws"), 101);
    EXPECT_TRUE(eventually([&] { return server.log() == "opened;silent;"; }));
    for (int num_answers = 0; num_answers < 10;) {
        const TestClient::Message message = hanging.receive();
        ASSERT_NE(message.kind, Kind::None);
        if (message.kind != Kind::Ping) continue;
        hanging.send_frame(10, message.data);
        ++num_answers;
    }
    EXPECT_TRUE(server.log().starts_with("opened;silent;heard;")) << server.log();
    EXPECT_EQ(server.counts().messages, 0u);
}

TEST(WebServerClients, SilentSocketsMakeRoomForANewViewer) {
    WebServerOptions options = with_token();
    options.max_connections = 8;
    options.request_limit = 60s;
    const Server server(options);
    std::vector<std::unique_ptr<TestClient>> others;
    TestClient viewer(server.port());
    ASSERT_EQ(viewer.open_websocket("/ws?t=0123456789abcdef"), 101);
    // nothing said, half a request, a wrong token
    for (int i = 0; i < 30; ++i) {
        others.push_back(std::make_unique<TestClient>(server.port()));
        if (i % 3 == 1) others.back()->send_raw("GET /?t=0123456789abcdef HT");
        if (i % 3 == 2) {
            EXPECT_EQ(others.back()->http_get("/").status, 403);
        }
    }
    TestClient newcomer(server.port());
    EXPECT_EQ(newcomer.http_get("/?t=0123456789abcdef").status, 200);
    // a browser between two requests goes after all of those, a viewer never
    for (int i = 0; i < 6; ++i) others.push_back(std::make_unique<TestClient>(server.port()));
    EXPECT_EQ(newcomer.http_get("/app.js?t=0123456789abcdef").status, 200);
    std::vector<std::unique_ptr<TestClient>> viewers;
    for (int i = 0; i < 7; ++i) {
        viewers.push_back(std::make_unique<TestClient>(server.port()));
        EXPECT_EQ(viewers.back()->open_websocket("/ws?t=0123456789abcdef"), 101) << i;
    }
    EXPECT_TRUE(newcomer.is_closed_within(5s));
    EXPECT_EQ(TestClient(server.port()).http_get("/?t=0123456789abcdef").status, 503);
    EXPECT_EQ(server.counts().closed, 0u);
}

TEST(WebServerClients, OneAddressDoesNotTakeThePlacesOfOthers) {
    WebServerOptions options;
    options.address = "::";
    options.max_connections = 4;
    options.request_limit = 60s;
    std::unique_ptr<Server> server;
    if (!input_error([&] { server = std::make_unique<Server>(options); }).empty())
        GTEST_SKIP() << "this machine has no ::1";
    TestClient other(server->port(), 0, "::1");
    if (!other.is_connected()) GTEST_SKIP() << "this machine has no ::1";
    std::vector<std::unique_ptr<TestClient>> flood;
    for (int i = 0; i < 20; ++i) flood.push_back(std::make_unique<TestClient>(server->port()));
    EXPECT_TRUE(flood[16]->is_closed_within(5s));
    EXPECT_EQ(other.http_get("/").status, 200);
    EXPECT_EQ(flood.back()->http_get("/").status, 200);
}

TEST(WebServerClients, RequestsMustBeCompleteInTime) {
    WebServerOptions options;
    options.request_limit = 1s;
    const Server server(options);
    TestClient silent(server.port()), dripping(server.port());
    std::string request = "GET / HTTP/1.1\r\nX: " + std::string(200, 'x');
    for (int i = 0; i < 25; ++i) {
        dripping.send_raw(request.substr((size_t)i, 1));
        std::this_thread::sleep_for(60ms);
    }
    EXPECT_TRUE(dripping.is_closed_within(100ms));
    EXPECT_TRUE(silent.is_closed_within(100ms));
    EXPECT_EQ(server.counts().requests, 0u);
}

TEST(WebServerClients, MoreThanTheLimitGet503) {
    WebServerOptions options;
    options.max_connections = 3;
    const Server server(options);
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<TestClient>(server.port()));
        ASSERT_EQ(clients.back()->open_websocket("/ws"), 101);
    }
    TestClient fourth(server.port());
    const TestClient::Reply reply = fourth.http_get("/");
    EXPECT_EQ(reply.status, 503);
    EXPECT_NE(reply.body.find("Too many connections"), std::string::npos);
    EXPECT_TRUE(fourth.is_closed_within(5s));
    // even refusals are bounded: with three of them open, the seventh connection just ends
    std::vector<std::unique_ptr<TestClient>> refused;
    fourth.close();
    EXPECT_TRUE(eventually([&] {
        refused.clear();
        for (int i = 0; i < 3; ++i) refused.push_back(std::make_unique<TestClient>(server.port()));
        return TestClient(server.port()).is_closed_within(200ms);
    }));
    refused.clear();
    // a place that becomes free is given away
    clients[0]->close_abruptly();
    EXPECT_TRUE(eventually([&] { return TestClient(server.port()).http_get("/").status == 200; }));
}

TEST(WebServerClients, VanishedOnesAreNoticed) {
    const Server server;
    for (int i = 0; i < 5; ++i) {
        TestClient client(server.port());
        ASSERT_EQ(client.open_websocket("/ws"), 101);
        if (i % 2 == 0) client.send_text("flood");
        client.close_abruptly();
    }
    // in the middle of the handshake, of a request, of a frame
    TestClient handshake(server.port()), request(server.port()), frame(server.port());
    handshake.send_raw("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc");
    handshake.close_abruptly();
    request.send_raw("GET /big HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                     "\r\n\r\n");
    request.close_abruptly();
    ASSERT_EQ(frame.open_websocket("/ws"), 101);
    frame.send_raw(std::string("\x81\xfe\x10", 3));
    frame.close_abruptly();
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 6; }));
    EXPECT_EQ(server.counts().opened, 6u);
    EXPECT_EQ(TestClient(server.port()).http_get("/").status, 200);
}

TEST(WebServerClients, GarbageDoesNotStopTheServer) {
    WebServerOptions options;
    options.max_connections = 1000;
    const Server server(options);
    std::mt19937 random(5);
    const std::vector<std::string> starts = {
        "", "GET / HTTP/1.1\r\n",
        "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", "GET / HTTP/9.9\r\n",
        "\r\n\r\n"};
    for (int i = 0; i < 500; ++i) {
        TestClient client(server.port());
        ASSERT_TRUE(client.is_connected());
        std::string garbage;
        const int size = static_cast<int>(random() % 3000);
        for (int k = 0; k < size; ++k) garbage += static_cast<char>(random());
        if (i % 3 == 0) {
            // frames of garbage in an open WebSocket
            EXPECT_EQ(client.open_websocket("/ws"), 101);
            client.send_raw(garbage);
        } else {
            client.send_raw(starts[random() % starts.size()] + garbage +
                            (i % 2 == 0 ? "\r\n\r\n" : ""));
        }
        if (i % 5 == 0) client.close_abruptly();
    }
    TestClient client(server.port());
    ASSERT_EQ(client.open_websocket("/ws"), 101);
    EXPECT_EQ(client.receive_data().data, "hello");
    EXPECT_TRUE(eventually([&] { return server.counts().opened == server.counts().closed + 1; }));
    EXPECT_EQ(server.counts().opened, 168u);
}

// ---------------------------------------------------------------- stopping

TEST(WebServerStop, EndsWithConnectionsAndWritesUnderWay) {
    for (int round = 0; round < 20; ++round) {
        Server server;
        TestClient idle(server.port()), open(server.port()), busy(server.port(), 4096);
        TestClient loading(server.port(), 4096), asking(server.port());
        EXPECT_EQ(open.open_websocket("/ws"), 101);
        EXPECT_EQ(busy.open_websocket("/ws"), 101);
        busy.send_text("flood");
        loading.send_raw("GET /big HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                         "\r\n\r\n");
        asking.send_raw("GET / HTTP/1.1\r\nHo");
        open.send_text("close");
        server.stop();
        EXPECT_TRUE(idle.is_closed_within(5s));
        EXPECT_TRUE(open.is_closed_within(5s));
        EXPECT_TRUE(busy.is_closed_within(5s));
        EXPECT_TRUE(loading.is_closed_within(5s));
        EXPECT_TRUE(asking.is_closed_within(5s));
    }
}

TEST(WebServerStop, LeavesNoFileOrThreadBehind) {
    // the first one may open what the process keeps
    { const Server first; }
    const int files = num_open_files(), threads = num_threads();
    for (int i = 0; i < 200; ++i) {
        const Server server;
        TestClient client(server.port());
        if (i % 2 == 0) client.open_websocket("/ws");
        if (i % 3 == 0) client.http_get("/");
    }
    EXPECT_EQ(num_open_files(), files);
    EXPECT_EQ(num_threads(), threads);
}

TEST(WebServerStop, ClosedConnectionsFreeTheirFiles) {
    const Server server;
    EXPECT_EQ(TestClient(server.port()).http_get("/").status, 200);
    EXPECT_TRUE(eventually([&] { return server.counts().requests == 1; }));
    std::this_thread::sleep_for(20ms);
    const int files = num_open_files();
    for (int i = 0; i < 200; ++i) {
        TestClient client(server.port());
        EXPECT_EQ(client.open_websocket("/ws"), 101);
        if (i % 2 == 0) client.close_abruptly();
    }
    EXPECT_TRUE(eventually([&] { return server.counts().closed == 200; }));
    EXPECT_EQ(num_open_files(), files);
}

TEST(WebServerStop, CountsMayBeReadByAnyThread) {
    Server server;
    std::atomic<bool> is_done{false};
    std::thread reader([&] {
        while (!is_done) {
            const WebServerCounts counts = server.counts();
            EXPECT_GE(counts.opened, counts.closed);
        }
    });
    for (int i = 0; i < 50; ++i) TestClient(server.port()).open_websocket("/ws");
    is_done = true;
    reader.join();
}

}  // namespace
}  // namespace pliant
