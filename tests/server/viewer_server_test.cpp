#include "pliant/server/viewer_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/temporary_directory.h"
#include "input_error.h"
#include "net/test_client.h"
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
