#include "pliant/net/udp_server.h"

#include "haptics/fake_driver.h"
#include "test_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "input_error.h"

namespace {

using namespace pliant;
using test::FakeDriver;
using test::input_error;

/// Says everything again, but nothing to "quiet".
UdpServer::Handlers echo(std::string& reply) {
    return {[&reply](std::string_view, std::span<const std::byte> bytes) {
        reply.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (reply == "quiet") reply.clear();
        return std::string_view(reply);
    }};
}

TEST(UdpServer, AnswersTheSender) {
    std::string reply;
    const UdpServer server("127.0.0.1", 0, echo(reply));
    ASSERT_GT(server.port(), 0);
    const FakeDriver one(server.port()), two(server.port());
    one.send("from one");
    two.send("from two");
    EXPECT_EQ(one.receive(), "from one");
    EXPECT_EQ(two.receive(), "from two");
    one.send("quiet");
    EXPECT_EQ(one.ask("again"), "again");
}

TEST(UdpServer, DatagramsThatAreTooLongAreDropped) {
    std::string reply;
    const UdpServer server("127.0.0.1", 0, echo(reply));
    const FakeDriver client(server.port());
    client.send(std::string(UdpServer::kMaxBytes + 1, 'x'));
    const std::string longest(UdpServer::kMaxBytes, 'y');
    EXPECT_EQ(client.ask(longest), longest);
}

TEST(UdpServer, PeersAreToldApart) {
    std::string first, reply = "ok";
    std::atomic<bool> is_same{false};
    const UdpServer server("127.0.0.1", 0, {[&](std::string_view peer, std::span<const std::byte>) {
                               if (first.empty()) first = peer;
                               is_same = first == peer;
                               return std::string_view(reply);
                           }});
    const FakeDriver one(server.port()), two(server.port());
    EXPECT_EQ(one.ask("x"), "ok");
    EXPECT_TRUE(is_same);
    EXPECT_EQ(two.ask("x"), "ok");
    EXPECT_FALSE(is_same);
    EXPECT_EQ(one.ask("x"), "ok");
    EXPECT_TRUE(is_same);
}

TEST(UdpServer, AFavouredPeerIsNotDrownedByAFlood) {
    // the server's thread stands in its first answer while others fill the system's queue
    std::latch is_flooded{1};
    std::atomic<int> num_before{0};
    std::atomic<bool> is_standing{false}, is_heard{false};
    UdpServer* pointer = nullptr;
    std::latch is_ready{1};
    UdpServer server("127.0.0.1", 0, {[&](std::string_view peer, std::span<const std::byte> bytes) {
                         is_ready.wait();
                         const std::string text(reinterpret_cast<const char*>(bytes.data()),
                                                bytes.size());
                         if (text == "flood" && !is_heard) ++num_before;
                         if (text == "favour me") {
                             pointer->favour(peer);
                             return std::string_view("favoured");
                         }
                         if (text == "wait") {
                             is_standing = true;
                             is_flooded.wait();
                         }
                         if (text == "hear me") {
                             is_heard = true;
                             return std::string_view("heard");
                         }
                         return std::string_view();
                     }});
    pointer = &server;
    is_ready.count_down();
    const FakeDriver driver(server.port()), other(server.port()), flood(server.port());
    ASSERT_EQ(driver.ask("favour me"), "favoured");
    other.send("wait");
    ASSERT_TRUE(test::eventually([&] { return is_standing.load(); }));
    for (int i = 0; i < 5000; ++i) flood.send("flood");
    driver.send("hear me");
    is_flooded.count_down();
    EXPECT_EQ(driver.receive(), "heard");
    EXPECT_LE(num_before, 1);
    // who is no longer favoured waits among the others
    EXPECT_EQ(driver.ask("favour me"), "favoured");
    EXPECT_EQ(driver.ask("hear me"), "heard");
}

TEST(UdpServer, AFloodIsHeardAsOftenAsIsAllowedAndTheFavouredPeerAllTheSame) {
    std::atomic<int> num_flood{0};
    UdpServer* pointer = nullptr;
    std::latch is_ready{1};
    UdpServer server("127.0.0.1", 0, {[&](std::string_view peer, std::span<const std::byte> bytes) {
                         is_ready.wait();
                         const std::string text(reinterpret_cast<const char*>(bytes.data()),
                                                bytes.size());
                         if (text == "flood") {
                             ++num_flood;
                             return std::string_view();
                         }
                         pointer->favour(peer);
                         return std::string_view("heard");
                     }});
    pointer = &server;
    is_ready.count_down();
    const FakeDriver driver(server.port());
    ASSERT_EQ(driver.ask("favour me"), "heard");
    std::atomic<bool> is_over{false};
    const auto start = std::chrono::steady_clock::now();
    std::thread stranger([&] {
        const FakeDriver flood(server.port());
        while (!is_over) flood.send("flood");
    });
    // a driver of 1 kHz
    int num_answers = 0;
    for (int i = 0; i < 300; ++i) {
        num_answers += driver.ask("a reading") == "heard";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const int heard = num_flood;
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    is_over = true;
    stranger.join();
    EXPECT_EQ(num_answers, 300);
    EXPECT_GT(heard, 0);
    // an interval of 10 ms may begin just before the start and another just before the end
    EXPECT_LE(heard, UdpServer::kMaxOfOthers * (time.count() + 0.02));
}

TEST(UdpServer, GoesOnWhenAnAnswerFindsNobody) {
    std::string reply;
    const UdpServer server("127.0.0.1", 0, echo(reply));
    {
        const FakeDriver gone(server.port());
        gone.send("x");
    }
    const FakeDriver client(server.port());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(client.ask("still there"), "still there");
}

TEST(UdpServer, Ticks) {
    std::atomic<int> num_ticks{0};
    UdpServer::Handlers handlers;
    handlers.received = [](std::string_view, std::span<const std::byte>) {
        return std::string_view();
    };
    handlers.tick = [&] { ++num_ticks; };
    handlers.interval = std::chrono::milliseconds(1);
    const UdpServer server("127.0.0.1", 0, handlers);
    EXPECT_TRUE(test::eventually([&] { return num_ticks >= 3; }));
}

TEST(UdpServer, SaysWhatIsWrongWithAPort) {
    std::string reply;
    const UdpServer server("127.0.0.1", 0, echo(reply));
    EXPECT_EQ(input_error([&] { UdpServer second("localhost", server.port(), echo(reply)); }),
              "UDP port " + std::to_string(server.port()) +
                  " of localhost is in use by another program; choose another port, or 0 for any "
                  "free one");
    EXPECT_EQ(input_error([&] { UdpServer second("127.0.0.1", -1, echo(reply)); }),
              "port = -1 (expected 0 to 65535)");
    EXPECT_EQ(input_error([&] { UdpServer second("here", 0, echo(reply)); }),
              "address = \"here\" (expected an IP address of this machine, such as 127.0.0.1)");
    EXPECT_EQ(input_error([&] { UdpServer second("8.8.8.8", 0, echo(reply)); }),
              "cannot listen on UDP port 0 of 8.8.8.8 (Cannot assign requested address); give an "
              "IP address of this machine and a port above 1023");
}

}  // namespace
