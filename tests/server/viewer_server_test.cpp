#include "pliant/server/viewer_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "net/test_client.h"
#include "pliant/core/allocation_guard.h"
#include "server/viewer_samples.h"

namespace pliant {
namespace {

using test::number_at, test::TestClient;
using testing::HasSubstr;
using namespace std::chrono_literals;

ViewerOptions local_options(const std::filesystem::path& recordings) {
    ViewerOptions options;
    options.web.port = 0;
    options.engine.is_real_time = false;
    options.recordings = recordings;
    return options;
}

int port_of(const ViewerServer& server) {
    const std::string url = server.url();
    return std::stoi(url.substr(url.rfind(':') + 1));
}

TEST(ViewerServer, ThePageIsForEverybodyAndTheRunForWhoHasTheToken) {
    const test::TemporaryDirectory folder;
    std::filesystem::create_directory(folder / "r");
    test::write_text(folder / "r/a.pliantrec", "mine");
    ViewerOptions options = local_options(folder / "r");
    options.web.token = "0123456789abcdef";
    const ViewerServer server(test::small_world(), options);
    TestClient page(port_of(server));
    const TestClient::Reply reply = page.http_get("/");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body.find(options.web.token), std::string::npos);
    for (const char* path : {"/api/scene", "/api/asset/0/surface", "/api/recordings",
                             "/api/recording/a.pliantrec", "/api/contact/0/slice/x"})
        EXPECT_EQ(page.http_get(path).status, 403) << path;
    EXPECT_EQ(page.open_websocket("/ws"), 403);
    const std::string query = "?t=" + options.web.token;
    EXPECT_EQ(page.http_get("/api/scene" + query).status, 200);
    const TestClient::Reply file = page.http_get("/api/recording/a.pliantrec" + query);
    EXPECT_EQ(file.body, "mine");
    for (const TestClient::Reply& each : {reply, file})
        EXPECT_EQ(each.headers.count("set-cookie"), 0u);
    EXPECT_EQ(page.open_websocket("/ws" + query), 101);
}

/// A page that draws whatever comes, until a message satisfies the condition.
template <class Condition>
bool draw_until(TestClient& client, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < end) {
        const TestClient::Message message = client.receive_data();
        if (message.kind == TestClient::Kind::None) return false;
        const bool is_binary = message.kind == TestClient::Kind::Binary;
        if (is_binary && number_at<std::uint32_t>(message.data, 0) == 1)
            client.send_text(R"({"type":"ack","frame":)" +
                             std::to_string(number_at<std::uint32_t>(message.data, 4)) + "}");
        if (condition(message)) return true;
    }
    return false;
}

bool is_text_of(const TestClient::Message& message, const std::string& type) {
    return message.data.starts_with("{\"type\":\"" + type + "\"");
}

TEST(ViewerServer, PageStreamsAndPullsOverTheNetwork) {
    const test::TemporaryDirectory folder;
    const ViewerServer server(test::small_world(), local_options(folder / "r"));
    const int port = port_of(server);
    TestClient http(port);
    EXPECT_EQ(http.http_get("/").status, 200);
    EXPECT_EQ(http.http_get("/api/asset/0/shapes").status, 200);

    TestClient page(port);
    ASSERT_EQ(page.open_websocket("/"), 101);
    EXPECT_TRUE(is_text_of(page.receive_data(), "hello"));
    int num_frames = 0;
    EXPECT_TRUE(draw_until(page, [&](const TestClient::Message& message) {
        if (message.kind == TestClient::Kind::Binary &&
            number_at<std::uint32_t>(message.data, 0) == 1)
            ++num_frames;
        return num_frames == 10;
    }));
    page.send_text(
        R"({"type":"grab","slot":0,"body":0,"triangle":10,"barycentric":[1,0,0],"target":[1,0,0]})");
    // body and a force on it
    EXPECT_TRUE(draw_until(page, [](const TestClient::Message& message) {
        return number_at<std::uint32_t>(message.data, 0) == 1 &&
               number_at<float>(message.data, 32) == 0 &&
               number_at<float>(message.data, 32 + 4 * 8) != 0;
    }));
    // an orderly or a killed page: nothing holds the bar any more
    page.close_abruptly();
    TestClient other(port);
    ASSERT_EQ(other.open_websocket("/"), 101);
    EXPECT_TRUE(draw_until(other, [](const TestClient::Message& message) {
        return number_at<std::uint32_t>(message.data, 0) == 1 &&
               number_at<float>(message.data, 32) == -1;
    }));
    EXPECT_TRUE(draw_until(other, [](const TestClient::Message& message) {
        return is_text_of(message, "stats") &&
               message.data.find(R"("viewers":1,"steers":true)") != std::string::npos;
    }));
    EXPECT_THAT(server.status_line(), HasSubstr("missed"));
    EXPECT_EQ(server.malformed_messages(), 0u);
}

TEST(ViewerServer, StalledClientDisturbsNobody) {
    const test::TemporaryDirectory folder;
    const ViewerServer server(test::small_world(), local_options(folder / "r"));
    TestClient page(port_of(server)), stalled(port_of(server));
    ASSERT_EQ(page.open_websocket("/"), 101);
    ASSERT_EQ(stalled.open_websocket("/"), 101);
    int num_frames = 0;
    EXPECT_TRUE(draw_until(page, [&](const TestClient::Message& message) {
        if (number_at<std::uint32_t>(message.data, 0) == 1) ++num_frames;
        return num_frames == 60;
    }));
    // everything that was sent to it meanwhile comes before the answer
    stalled.send_text(R"({"type":"ping","id":1})");
    int num_stalled = 0;
    for (TestClient::Message message; !is_text_of(message, "pong");) {
        message = stalled.receive_data();
        ASSERT_NE(message.kind, TestClient::Kind::None);
        if (number_at<std::uint32_t>(message.data, 0) == 1) ++num_stalled;
    }
    EXPECT_EQ(num_stalled, 2);
}

TEST(ViewerServer, ViewerThatFallsSilentLetsGo) {
    const test::TemporaryDirectory folder;
    ViewerOptions options = local_options(folder / "r");
    options.web.ping_interval = 200ms;
    const ViewerServer server(test::small_world(), options);
    TestClient holding(port_of(server)), watching(port_of(server));
    ASSERT_EQ(holding.open_websocket("/"), 101);
    ASSERT_EQ(watching.open_websocket("/"), 101);
    // its machine sleeps, its cable is out: the connection stays, and nothing is answered any more
    holding.send_text(
        R"({"type":"grab","slot":0,"body":0,"triangle":10,"barycentric":[1,0,0],"target":[1,0,0]})");
    const auto holds = [](const TestClient::Message& message, float body) {
        return number_at<std::uint32_t>(message.data, 0) == 1 &&
               number_at<float>(message.data, 32) == body;
    };
    EXPECT_TRUE(draw_until(watching, [&](const auto& message) { return holds(message, 0); }));
    EXPECT_TRUE(draw_until(watching, [&](const auto& message) { return holds(message, -1); }));
    // who asks need not wait for its answer
    watching.send_text(R"({"type":"steer"})");
    EXPECT_TRUE(draw_until(watching, [](const auto& message) {
        return is_text_of(message, "stats") &&
               message.data.find(R"("viewers":2,"steers":true)") != std::string::npos;
    }));
    watching.send_text(
        R"({"type":"grab","slot":0,"body":0,"triangle":10,"barycentric":[1,0,0],"target":[1,0,0]})");
    EXPECT_TRUE(draw_until(watching, [&](const auto& message) { return holds(message, 0); }));
    // it only hung, and is told
    EXPECT_EQ(server.counts().closed, 0u);
    EXPECT_TRUE(draw_until(holding, [](const auto& message) {
        return is_text_of(message, "notice") &&
               message.data.find("what it held was let go") != std::string::npos;
    }));
}

TEST(ViewerServer, ViewerThatAnswersPingsAgainIsAskedBeforeOthersSteer) {
    const test::TemporaryDirectory folder;
    ViewerOptions options = local_options(folder / "r");
    options.web.ping_interval = 200ms;
    const ViewerServer server(test::small_world(), options);
    TestClient hanging(port_of(server)), watching(port_of(server));
    ASSERT_EQ(hanging.open_websocket("/"), 101);
    ASSERT_EQ(watching.open_websocket("/"), 101);
    hanging.send_text(
        R"({"type":"grab","slot":0,"body":0,"triangle":10,"barycentric":[1,0,0],"target":[1,0,0]})");
    const auto holds = [](const TestClient::Message& message, float body) {
        return number_at<std::uint32_t>(message.data, 0) == 1 &&
               number_at<float>(message.data, 32) == body;
    };
    EXPECT_TRUE(draw_until(watching, [&](const auto& message) { return holds(message, 0); }));
    EXPECT_TRUE(draw_until(watching, [&](const auto& message) { return holds(message, -1); }));
    // it says nothing, but its browser answers, for five pings at least
    for (const auto end = std::chrono::steady_clock::now() + 1s;
         std::chrono::steady_clock::now() < end;)
        hanging.receive_data(10ms);
    watching.send_text(R"({"type":"steer"})");
    bool is_asked = false;
    for (int i = 0; i < 200 && !is_asked; ++i)
        is_asked = hanging.receive_data(50ms).data.find("Another viewer asks to steer") !=
                   std::string::npos;
    EXPECT_TRUE(is_asked);
}

/// Memory of this process that is in use [bytes].
std::uint64_t resident_bytes() {
    std::uint64_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(ViewerServer, StalledDownloadsCostLittleMemory) {
    constexpr std::uint64_t kFile = 200'000'000;
    const test::TemporaryDirectory folder;
    test::write_text(folder / "large.pliantrec", "");
    std::filesystem::resize_file(folder / "large.pliantrec", kFile);  // holes cost no disk
    const ViewerServer server(test::small_world(), local_options(folder / ""));
    EXPECT_EQ(TestClient(port_of(server)).http_get("/").status, 200);
    const std::uint64_t before = resident_bytes();
    std::vector<std::unique_ptr<TestClient>> stalled;
    for (int i = 0; i < 12; ++i) {
        stalled.push_back(std::make_unique<TestClient>(port_of(server), 4096));
        stalled.back()->send_raw("GET /api/recording/large.pliantrec HTTP/1.1\r\nHost: localhost:" +
                                 std::to_string(port_of(server)) + "\r\n\r\n");
        EXPECT_TRUE(stalled.back()->receive_raw(15).starts_with("HTTP/1.1 200 OK"));
    }
    // the system takes what it takes
    std::uint64_t sent = 0;
    while (sent != server.counts().bytes_sent) {
        sent = server.counts().bytes_sent;
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_LT(sent, 12 * kFile / 4);
    // sanitizers keep for a while what was given back
    if (AllocationGuard::is_active()) EXPECT_LT(resident_bytes(), before + 16'000'000);
    // the page is served meanwhile
    EXPECT_EQ(TestClient(port_of(server)).http_get("/").status, 200);
}

TEST(ViewerServer, GarbageIsCounted) {
    const test::TemporaryDirectory folder;
    const ViewerServer server(test::small_world(), local_options(folder / "r"));
    TestClient page(port_of(server));
    ASSERT_EQ(page.open_websocket("/"), 101);
    page.send_text("{]");
    page.send_binary("\x01\x02");
    page.send_text(R"({"type":"ping","id":1})");
    EXPECT_TRUE(draw_until(page, [](const auto& message) { return is_text_of(message, "pong"); }));
    EXPECT_EQ(server.malformed_messages(), 2u);
    EXPECT_EQ(server.counts().opened, 1u);
}

TEST(ViewerServer, RecordingMadeFromThePageIsReplayed) {
    const test::TemporaryDirectory folder;
    std::string name;
    {
        const ViewerServer server(test::small_world(), local_options(folder / "r"));
        TestClient page(port_of(server));
        ASSERT_EQ(page.open_websocket("/"), 101);
        page.send_text(R"({"type":"record","on":true})");
        ASSERT_TRUE(draw_until(page, [&](const TestClient::Message& message) {
            return is_text_of(message, "stats") &&
                   message.data.find(R"("recording":{"name":")") != std::string::npos;
        }));
        std::this_thread::sleep_for(100ms);
        page.send_text(R"({"type":"record","on":false})");
        ASSERT_TRUE(draw_until(page, [&](const TestClient::Message& message) {
            return message.data.find("Recorded sample-") != std::string::npos;
        }));
        TestClient http(port_of(server));
        const std::string list = http.http_get("/api/recordings").body;
        ASSERT_THAT(list, HasSubstr(".pliantrec"));
        name = list.substr(10, list.find(".pliantrec"));
        name = name.substr(0, name.find('"'));
        EXPECT_EQ(http.http_get("/api/recording/" + name).body,
                  test::read_text(folder / ("r/" + name)));
        EXPECT_EQ(http.http_get("/api/recording/..%2f" + name).status, 404);
    }
    Recording recording = Recording::load(folder / ("r/" + name));
    EXPECT_TRUE(recording.is_complete());
    const ViewerServer server(std::move(recording), test::small_world(),
                              local_options(folder / "r"));
    TestClient page(port_of(server));
    ASSERT_EQ(page.open_websocket("/"), 101);
    EXPECT_THAT(page.receive_data().data, HasSubstr(R"("replay":{"duration":0.)"));
    page.send_text(R"({"type":"pause"})");
    page.send_text(R"({"type":"seek","time":0.05})");
    EXPECT_TRUE(draw_until(page, [](const TestClient::Message& message) {
        return is_text_of(message, "stats") &&
               message.data.find(R"("replay_time":0.05)") != std::string::npos;
    }));
    EXPECT_TRUE(test::eventually([&] {
        return server.status_line().starts_with("replay 0.1 of 0.");
    })) << server.status_line();
}

TEST(ViewerServer, ARecordingOfTheStartIsShownAndItsLossIsToldWithinASecond) {
    const test::TemporaryDirectory folder;
    ViewerOptions options = local_options(folder / "r");
    options.record = folder / "a.pliantrec";
    ViewerServer server(test::small_world(), options);
    TestClient page(port_of(server));
    ASSERT_EQ(page.open_websocket("/"), 101);
    EXPECT_TRUE(draw_until(page, [](const TestClient::Message& message) {
        return message.data.find(R"("recording":{"name":"a.pliantrec")") != std::string::npos;
    }));
    EXPECT_TRUE(server.losses().empty());
    std::filesystem::remove(options.record);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(draw_until(page, [](const TestClient::Message& message) {
        return is_text_of(message, "notice") &&
               message.data.find("the file was removed") != std::string::npos;
    }));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
    server.finish_recording();
    EXPECT_EQ(server.losses().size(), 1u);
}

TEST(ViewerServer, WhatIsLostAtTheVeryEndIsKnown) {
    const test::TemporaryDirectory folder;
    ViewerOptions options = local_options(folder / "r");
    options.record = folder / "a.pliantrec";
    ViewerServer server(test::small_world(), options);
    std::filesystem::remove(options.record);
    server.finish_recording();
    ASSERT_EQ(server.losses().size(), 1u);
    EXPECT_THAT(server.losses()[0], HasSubstr("a.pliantrec: the file was removed"));
    // and one that is whole
    options.record = folder / "b.pliantrec";
    ViewerServer other(test::small_world(), options);
    other.finish_recording();
    other.finish_recording();
    EXPECT_TRUE(other.losses().empty());
    EXPECT_TRUE(Recording::load(options.record).is_complete());
}

TEST(ViewerServer, PortInUseIsNamed) {
    const test::TemporaryDirectory folder;
    const ViewerServer first(test::small_world(), local_options(folder / "r"));
    ViewerOptions options = local_options(folder / "r");
    options.web.port = port_of(first);
    const std::string message =
        test::input_error([&] { const ViewerServer second(test::small_world(), options); });
    EXPECT_NE(message.find(std::to_string(options.web.port)), std::string::npos) << message;
}

}  // namespace
}  // namespace pliant
