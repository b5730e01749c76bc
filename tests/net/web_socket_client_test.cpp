#include "pliant/net/web_socket_client.h"

#include "net/web_socket_url.h"
#include "pliant/net/web_server.h"
#include "test_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

#include "input_error.h"

namespace {

using namespace pliant;
using namespace std::chrono_literals;
using test::eventually;
using test::input_error;

/// Greets, says everything again, closes on "bye".
class EchoServer {
public:
    explicit EchoServer(int port = 0) {
        WebServerOptions options;
        options.port = port;
        options.max_messages_per_second = 1e5;
        WebServer::Handlers handlers;
        const auto send = [this](WebServer::Client client, std::string text) {
            web->send(client, std::make_shared<const std::string>(std::move(text)), true);
        };
        handlers.opened = [this, send](WebServer::Client client) {
            const std::lock_guard lock(mutex);
            send(client, "welcome");
        };
        handlers.received = [this, send](WebServer::Client client, std::span<const std::byte> bytes,
                                         bool) {
            const std::lock_guard lock(mutex);
            const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            if (text == "bye") return web->close(client);
            send(client, text == "long" ? std::string(3000, 'x') : text);
        };
        const std::lock_guard lock(mutex);
        web = std::make_unique<WebServer>(options, std::move(handlers));
    }
    [[nodiscard]] int port() const { return web->port(); }

    std::mutex mutex;  // until the server is there
    std::unique_ptr<WebServer> web;
};

/// A client that keeps what it heard, and says `next` once at its next tick.
class ListeningClient {
public:
    explicit ListeningClient(int port) {
        WebSocketClientOptions options;
        options.url = "ws://127.0.0.1:" + std::to_string(port) + "/";
        options.retry = 10ms;
        options.max_message_bytes = 2000;
        WebSocketClient::Handlers handlers;
        handlers.opened = [this] { ++num_opened; };
        handlers.closed = [this] { ++num_closed; };
        handlers.received = [this](std::span<const std::byte> bytes, bool is_text) {
            const std::lock_guard lock(mutex);
            heard.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            EXPECT_TRUE(is_text);
            if (heard.back() == "throw") throw std::runtime_error("a handler's mistake");
        };
        handlers.tick = [this] {
            const std::lock_guard lock(mutex);
            if (!next.empty() && client->send(next, true)) next.clear();
        };
        const std::lock_guard lock(mutex);
        client = std::make_unique<WebSocketClient>(options, std::move(handlers));
    }
    void say(const std::string& text) {
        const std::lock_guard lock(mutex);
        next = text;
    }
    bool hears(const std::string& text) {
        return eventually([&] {
            const std::lock_guard lock(mutex);
            return !heard.empty() && heard.back() == text;
        });
    }

    std::mutex mutex;
    std::vector<std::string> heard;
    std::string next;
    std::atomic<int> num_opened{0}, num_closed{0};
    std::unique_ptr<WebSocketClient> client;
};

TEST(WebSocketClient, TalksWithAServer) {
    const EchoServer server;
    ListeningClient client(server.port());
    EXPECT_TRUE(client.hears("welcome"));
    EXPECT_TRUE(client.client->is_open());
    client.say("hello");
    EXPECT_TRUE(client.hears("hello"));
    EXPECT_EQ(client.num_opened, 1);
}

TEST(WebSocketClient, ConnectsAgainWhenItIsClosed) {
    const EchoServer server;
    ListeningClient client(server.port());
    ASSERT_TRUE(client.hears("welcome"));
    client.say("bye");
    EXPECT_TRUE(eventually([&] { return client.num_opened == 2; }));
    EXPECT_EQ(client.num_closed, 1);
    client.say("again");
    EXPECT_TRUE(client.hears("again"));
}

TEST(WebSocketClient, WaitsForAServerThatComesLaterOrGoes) {
    int port = 0;
    { port = EchoServer().port(); }
    ListeningClient client(port);
    EXPECT_FALSE(client.client->is_open());
    for (int i = 1; i <= 2; ++i) {
        {
            const EchoServer server(port);
            EXPECT_TRUE(eventually([&] { return client.num_opened == i; }));
        }
        EXPECT_TRUE(eventually([&] { return client.num_closed == i; }));
        EXPECT_FALSE(client.client->is_open());
    }
}

TEST(WebSocketClient, MessagesThatAreTooLongAndMistakesOfHandlersEndTheConnection) {
    const EchoServer server;
    ListeningClient client(server.port());
    ASSERT_TRUE(client.hears("welcome"));
    client.say("long");
    EXPECT_TRUE(eventually([&] { return client.num_opened == 2; }));
    client.say("throw");
    EXPECT_TRUE(eventually([&] { return client.num_opened == 3; }));
    EXPECT_EQ(client.num_closed, 2);
}

TEST(WebSocketClient, ServersThatSpeakAnotherLanguageAreTriedAgain) {
    // answers HTTP, but has no WebSocket for a wrong host
    WebServerOptions options;
    options.port = 0;
    options.token = "secret";
    const WebServer server(options, {});
    const ListeningClient client(server.port());
    EXPECT_TRUE(eventually([&] { return server.counts().refused >= 2; }));
    EXPECT_EQ(client.num_opened, 0);
}

TEST(WebSocketUrl, HasItsParts) {
    const WebSocketUrl plain = parse_web_socket_url("ws://localhost:10001");
    EXPECT_EQ(plain.address, "127.0.0.1");
    EXPECT_EQ(plain.port, 10001);
    EXPECT_EQ(plain.target, "/");
    EXPECT_EQ(plain.host, "localhost:10001");
    const WebSocketUrl six = parse_web_socket_url("ws://[::1]:99/a/b?c=d");
    EXPECT_EQ(six.address, "::1");
    EXPECT_EQ(six.port, 99);
    EXPECT_EQ(six.target, "/a/b?c=d");
    EXPECT_EQ(six.host, "[::1]:99");
    EXPECT_EQ(parse_web_socket_url("ws://10.0.0.1/").port, 80);
}

TEST(WebSocketUrl, WhatIsNoneIsNamed) {
    for (const std::string url :
         {"", "http://127.0.0.1", "ws://", "ws://:80", "ws://somewhere:80", "ws://127.0.0.1:0",
          "ws://127.0.0.1:70000", "ws://127.0.0.1:8x", "ws://[::1", "ws://[::1]80",
          "ws://127.0.0.1:80/a b", "ws://127.0.0.1:80/\r\nX: y"})
        EXPECT_EQ(input_error([&] { static_cast<void>(parse_web_socket_url(url)); }),
                  "url = \"" + url +
                      "\" (expected ws://ADDRESS:PORT, such as ws://127.0.0.1:10001; ADDRESS is "
                      "an IP address or localhost)");
}

}  // namespace
