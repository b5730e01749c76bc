#include "server/viewer_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "core/temporary_directory.h"
#include "pliant/core/json_value.h"
#include "pliant/scene/scene_file.h"
#include "server/viewer_samples.h"

namespace pliant {
namespace {

using test::number_at, test::VirtualWorld;
using testing::AllOf, testing::HasSubstr;

/// Everything that was sent, as clients see it.
struct Inbox {
    std::vector<std::string> texts;
    std::vector<std::string> frames, samples, nodes, marks;
    bool is_reachable = true;

    /// The newest text message of a type.
    [[nodiscard]] std::string last(const std::string& type) const {
        for (auto text = texts.rbegin(); text != texts.rend(); ++text)
            if (text->starts_with("{\"type\":\"" + type + "\"")) return *text;
        return {};
    }
    [[nodiscard]] int count(const std::string& type) const {
        return static_cast<int>(std::count_if(texts.begin(), texts.end(), [&](const auto& text) {
            return text.starts_with("{\"type\":\"" + type + "\"");
        }));
    }
};

class ViewerHubTest : public testing::Test {
protected:
    ViewerHubTest() {
        auto viewed = std::make_unique<VirtualWorld>(test::small_world());
        options.scenes = {{"sample", "small"}, {"other", "another"}, {"broken", "fails"}};
        options.recordings = folder / "recordings";
        options.engine.is_real_time = false;
        options.open_scene = [this](const std::string& name, Progress& progress) {
            return open_scene(name, progress);
        };
        open_hub(std::move(viewed));
    }
    // the hub ends before what its threads use
    ~ViewerHubTest() override { hub.reset(); }

    void open_hub(std::unique_ptr<VirtualWorld> viewed) {
        world = viewed.get();
        hub = std::make_unique<ViewerHub>(
            std::move(viewed), options,
            [this](WebServer::Client client, const SharedBytes& message, bool is_text) {
                return deliver(client, message, is_text);
            });
    }
    bool deliver(WebServer::Client client, const SharedBytes& message, bool is_text) {
        Inbox& inbox = inboxes[client];
        if (!inbox.is_reachable) return false;
        shared.insert(message.get());
        const auto kind = is_text ? 0u : number_at<std::uint32_t>(*message, 0);
        (is_text     ? inbox.texts
         : kind == 1 ? inbox.frames
         : kind == 2 ? inbox.samples
         : kind == 3 ? inbox.nodes
                     : inbox.marks)
            .push_back(*message);
        kept.push_back(message);
        return true;
    }
    std::unique_ptr<World> open_scene(const std::string& name, Progress& progress) {
        progress.stage("building", 100);
        progress.advance(50);
        while (blocks_opening) progress.advance(0);
        if (name == "broken") throw InputError("broken.json", "bodies", "none", "at least one");
        return test::small_world(name);
    }
    void say(WebServer::Client client, const std::string& text) {
        hub->received(client, std::as_bytes(std::span(text)), true, now);
    }
    /// The timer of a server, until `until`; viewers in `drawing` answer every frame.
    void run(double until, const std::vector<WebServer::Client>& drawing = {}) {
        while (now < until) {
            now += 0.002;
            if (!world_stands) world->advance_to(now);
            hub->tick(now);
            for (const auto client : drawing) acknowledge(client);
        }
    }
    void acknowledge(WebServer::Client client) {
        const Inbox& inbox = inboxes[client];
        if (inbox.frames.empty()) return;
        const auto frame = number_at<std::uint32_t>(inbox.frames.back(), 4);
        say(client, R"({"type":"ack","frame":)" + std::to_string(frame) + "}");
    }
    /// Until the condition holds, in real time: for what threads do.
    template <class Condition>
    bool run_until(Condition condition) {
        for (int i = 0; i < 5000; ++i) {
            if (condition()) return true;
            now += 0.002;
            hub->tick(now);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }

    test::TemporaryDirectory folder;
    ViewerOptions options;
    std::atomic<bool> blocks_opening{false};
    std::map<WebServer::Client, Inbox> inboxes;
    std::set<const std::string*> shared;
    std::vector<SharedBytes> kept;
    VirtualWorld* world = nullptr;  // of the hub
    std::unique_ptr<ViewerHub> hub;
    double now = 0;
    bool world_stands = false;
};

constexpr const char* kGrab =
    R"({"type":"grab","slot":1,"body":0,"triangle":10,"barycentric":[1,0,0],"target":[1,0,0.2]})";

TEST_F(ViewerHubTest, HelloTellsEverythingThatAPageNeeds) {
    hub->opened(1, now);
    const JsonValue hello = parse_json(inboxes[1].texts.at(0), "hello");
    EXPECT_EQ(hello.find("type")->string(), "hello");
    EXPECT_EQ(hello.find("protocol")->number(), 1);
    EXPECT_TRUE(hello.find("steers")->boolean());
    EXPECT_EQ(hello.find("scene")->find("name")->string(), "sample");
    EXPECT_EQ(hello.find("scene")->find("camera")->find("eye")->array().size(), 3u);
    EXPECT_EQ(hello.find("scenes")->array().size(), 3u);
    const auto& bodies = hello.find("bodies")->array();
    ASSERT_EQ(bodies.size(), 4u);
    EXPECT_EQ(bodies[0].find("name")->string(), "bar");
    EXPECT_EQ(bodies[0].find("encoding")->string(), "reduced");
    EXPECT_EQ(bodies[0].find("rank")->number(), 4);
    EXPECT_EQ(bodies[0].find("colour")->array().at(0).number(), 1);
    EXPECT_EQ(bodies[1].find("kind")->string(), "fem");
    EXPECT_EQ(bodies[1].find("encoding")->string(), "positions");
    EXPECT_EQ(bodies[1].find("loop")->number(), 1);
    EXPECT_EQ(bodies[2].find("encoding")->string(), "pose");
    EXPECT_EQ(bodies[3].find("asset")->number(), bodies[0].find("asset")->number());
    EXPECT_EQ(hello.find("assets")->array().size(), 3u);
    EXPECT_TRUE(hello.find("contacts")->array().empty());
    EXPECT_EQ(hello.find("parameters")->array().size(), world->world().parameters().size());
    EXPECT_EQ(hello.find("loops")->array().at(1).find("name")->string(), "soft");
    EXPECT_TRUE(hello.find("has_tool")->boolean());
    EXPECT_EQ(hello.find("tool_radius")->number(), 0.02);
    EXPECT_TRUE(hello.find("replay")->is(JsonValue::Type::Null));
}

/// A box far too soft for its weight, of a law that gives way without end: it collapses where it
/// falls. Through the same floor a ball passes.
std::unique_ptr<World> collapsing_tissue() {
    const char* text = R"({"pliant": 1, "name": "tissue", "bodies": [
        {"name": "floor", "rigid": {"ground": {}}},
        {"name": "soft", "fem": {"box": {"sizes": [0.1, 0.1, 0.1], "cells": [3, 3, 3]},
            "material": {"preset": "tissue", "youngs_modulus": 300, "law": "st-venant-kirchhoff"}},
            "pose": {"position": [0, 0, 0.1]}},
        {"name": "hard", "rigid": {"sphere": {"radius": 0.1}, "density": 100},
            "pose": {"position": [1, 0, 1]}}]})";
    return std::make_unique<World>(parse_scene(text, "tissue.json"), WorldOptions{.cache = {}});
}

TEST_F(ViewerHubTest, WarningsOfTheSceneStandInTheHelloAndBodiesBeyondUseAreToldOnce) {
    open_hub(std::make_unique<VirtualWorld>(collapsing_tissue()));
    hub->opened(1, now);
    const JsonValue hello = parse_json(inboxes[1].texts.at(0), "hello");
    ASSERT_EQ(hello.find("warnings")->array().size(), 1u);
    EXPECT_THAT(hello.find("warnings")->array()[0].string(),
                HasSubstr("\"floor\" and \"hard\" pass through each other"));
    EXPECT_EQ(inboxes[1].count("notice"), 0);
    run(1.5, {1});  // the ball is told of at 2 s
    const std::string notice = inboxes[1].last("notice");
    EXPECT_THAT(notice, HasSubstr("\"level\":\"warning\""));
    EXPECT_THAT(notice, HasSubstr("\\\"soft\\\""));
    const int told = inboxes[1].count("notice");
    EXPECT_GE(told, 1);
    EXPECT_LE(told, 3) << "one for each thing that is wrong";
    // who comes later is told as well
    hub->opened(2, now);
    EXPECT_EQ(inboxes[2].count("notice"), told);
    EXPECT_THAT(hub->troubles(), testing::Contains(HasSubstr("\"soft\" has collapsed to ")));
}

TEST_F(ViewerHubTest, ALoopThatDoesNotKeepItsRateIsToldOnce) {
    world->slow_work_us = 15000;  // of ticks of 10 ms
    hub->opened(1, now);
    run(4, {1});
    // there are others, of a block that falls for ever
    const auto is_of_the_loop =
        AllOf(HasSubstr("\"type\":\"notice\""),
              HasSubstr("The loop \\\"soft\\\" does not keep its 100 Hz: a tick of 10 ms takes 15 "
                        "ms"));
    EXPECT_THAT(inboxes[1].texts, testing::Contains(is_of_the_loop).Times(1));
}

TEST_F(ViewerHubTest, FrameHoldsEveryBody) {
    hub->opened(1, now);
    ASSERT_EQ(inboxes[1].frames.size(), 1u) << "the first comes with the hello";
    const std::string& frame = inboxes[1].frames[0];
    const std::size_t block =
        3 * static_cast<std::size_t>(world->world().body(1).surface().num_vertices());
    EXPECT_EQ(frame.size(), 32 + 4 * (4 * 11 + 10 + kHapticFloats + 11 + block + 7 + 11));
    EXPECT_EQ(number_at<std::uint32_t>(frame, 12), 4u);
}

TEST_F(ViewerHubTest, SixtyFramesASecondForAViewerThatDraws) {
    hub->opened(1, now);
    run(2, {1});
    EXPECT_NEAR(inboxes[1].frames.size(), 120, 2);
    for (std::size_t i = 1; i < inboxes[1].frames.size(); ++i)
        EXPECT_GT(number_at<std::uint32_t>(inboxes[1].frames[i], 4),
                  number_at<std::uint32_t>(inboxes[1].frames[i - 1], 4));
}

TEST_F(ViewerHubTest, ClientThatNeverAcknowledgesGetsTwoFramesAndLittleElse) {
    hub->opened(1, now);
    run(30);
    EXPECT_EQ(inboxes[1].frames.size(), 2u);
    std::size_t bytes = 0;
    for (const std::string& text : inboxes[1].texts) bytes += text.size();
    for (const std::string& sample : inboxes[1].samples) bytes += sample.size();
    EXPECT_LT(bytes, 300u << 10);
    // nor does the server look at the world for it: statistics only
    world->num_looks = 0;
    run(40);
    EXPECT_LT(world->num_looks, 300);
}

TEST_F(ViewerHubTest, WorldThatStandsSendsNoFrames) {
    hub->opened(1, now);
    run(0.5, {1});
    world_stands = true;
    run(0.6, {1});
    const std::size_t before = inboxes[1].frames.size();
    run(5, {1});
    EXPECT_EQ(inboxes[1].frames.size(), before);
    EXPECT_GE(inboxes[1].count("stats"), 24) << "statistics go on";
}

TEST_F(ViewerHubTest, WhatAnInputDoesIsShownAtOnce) {
    world_stands = true;
    hub->opened(1, now);
    run(1, {1});
    const std::size_t before = inboxes[1].frames.size();
    say(1, kGrab);
    run(now + 0.002);
    ASSERT_EQ(inboxes[1].frames.size(), before + 1);
    // slot 1 holds body 0
    EXPECT_EQ(number_at<float>(inboxes[1].frames.back(), 32 + 44), 0.0f);
}

TEST_F(ViewerHubTest, ViewersShareWhatIsEncoded) {
    for (const WebServer::Client client : {1, 2, 3}) hub->opened(client, now);
    kept.clear();
    shared.clear();
    run(1, {1, 2, 3});
    for (const WebServer::Client client : {1, 2, 3}) {
        EXPECT_NEAR(inboxes[client].frames.size(), 61, 3);
        EXPECT_GT(inboxes[client].samples.size(), 50u);
    }
    std::size_t binary = 0, distinct = 0;
    std::set<const std::string*> seen;
    for (const SharedBytes& message : kept) {
        if (message->front() == '{') continue;
        ++binary;
        if (seen.insert(message.get()).second) ++distinct;
    }
    EXPECT_EQ(binary, 3 * distinct);
}

TEST_F(ViewerHubTest, SamplesOfManyTicksComeInOneMessage) {
    hub->opened(1, now);
    run(1, {1});
    ASSERT_GT(inboxes[1].samples.size(), 50u);
    EXPECT_LT(inboxes[1].samples.size(), 63u);
    std::uint32_t count = 0;
    for (const std::string& message : inboxes[1].samples) {
        EXPECT_EQ(number_at<std::uint32_t>(message, 4), 0u);
        const auto here = number_at<std::uint32_t>(message, 8);
        EXPECT_EQ(message.size(), 16 + here * 116u);
        count += here;
    }
    EXPECT_NEAR(count, 500, 10);
}

TEST_F(ViewerHubTest, FirstViewerSteersAndOthersWatch) {
    hub->opened(1, now);
    hub->opened(2, now);
    EXPECT_THAT(inboxes[1].texts[0], HasSubstr(R"("steers":true)"));
    EXPECT_THAT(inboxes[2].texts[0], HasSubstr(R"("steers":false)"));
    for (const char* text :
         {kGrab, R"({"type":"reset"})", R"({"type":"tool","target":[0,0,0]})",
          R"({"type":"pause"})", R"({"type":"step","ticks":5})",
          R"({"type":"set","parameter":"gravity","value":0.5})",
          R"({"type":"open","scene":"other"})", R"({"type":"record","on":true})"})
        say(2, text);
    EXPECT_TRUE(world->commands.empty());
    EXPECT_FALSE(world->is_paused());
    EXPECT_EQ(world->steps, 0);
    EXPECT_EQ(inboxes[1].count("parameter") + inboxes[1].count("notice"), 0);
    EXPECT_TRUE(world->recording_path.empty());
    // what watchers may do
    say(2, R"({"type":"ping","id":7})");
    EXPECT_EQ(inboxes[2].last("pong"), R"({"type":"pong","id":7})");
    EXPECT_EQ(hub->malformed_messages(), 0u);

    say(1, R"({"type":"pause"})");
    say(1, R"({"type":"step","ticks":5})");
    say(1, R"({"type":"speed","value":0.25})");
    EXPECT_TRUE(world->is_paused());
    EXPECT_EQ(world->steps, 5);
    EXPECT_EQ(world->speed(), 0.25);
}

TEST_F(ViewerHubTest, OldestOfTheOthersSteersWhenTheFirstLeaves) {
    for (const WebServer::Client client : {1, 2, 3}) hub->opened(client, now);
    hub->closed(2, now);
    hub->closed(1, now);
    EXPECT_THAT(inboxes[3].last("stats"), HasSubstr(R"("steers":true)"));
    EXPECT_THAT(inboxes[3].last("stats"), HasSubstr(R"("viewers":1)"));
    say(3, R"({"type":"reset"})");
    EXPECT_EQ(world->commands.size(), 1u);
    hub->closed(3, now);
    hub->closed(3, now);
    say(3, R"({"type":"reset"})");
    EXPECT_EQ(world->commands.size(), 1u);
    hub->opened(4, now);
    EXPECT_THAT(inboxes[4].texts[0], HasSubstr(R"("steers":true)"));
}

TEST_F(ViewerHubTest, VanishedHandLetsGo) {
    hub->opened(1, now);
    hub->opened(2, now);
    say(1, kGrab);
    say(1, R"({"type":"poke","slot":3,"body":1,"triangle":0,"barycentric":[0,1,0]})");
    say(1,
        R"({"type":"grab","slot":0,"body":3,"triangle":0,"barycentric":[0,1,0],"target":[0,0,0]})");
    say(1, R"({"type":"release","slot":0})");
    world->commands.clear();
    // even when there is no room for it at first
    world->takes_commands = false;
    hub->closed(1, now);
    EXPECT_TRUE(world->commands.empty());
    world->takes_commands = true;
    run(0.01);
    ASSERT_EQ(world->commands.size(), 2u);
    EXPECT_EQ(world->commands[0].kind, Command::Kind::Release);
    EXPECT_EQ(world->commands[0].slot, 1);
    EXPECT_EQ(world->commands[1].slot, 3);
    hub->closed(2, now);
    EXPECT_EQ(world->commands.size(), 2u) << "the second held nothing";
}

TEST_F(ViewerHubTest, SilentViewerLetsGoAndGivesWayToTheOneWhoAsks) {
    hub->opened(1, now);
    hub->opened(2, now);
    say(1, kGrab);
    say(2, R"({"type":"steer"})");
    hub->silent(2, now);  // a watcher holds nothing
    EXPECT_EQ(world->commands.size(), 1u);
    hub->silent(1, now);
    ASSERT_EQ(world->commands.size(), 2u);
    EXPECT_EQ(world->commands[1].kind, Command::Kind::Release);
    EXPECT_EQ(world->commands[1].slot, 1);
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("what it held was let go"));
    EXPECT_THAT(inboxes[2].last("stats"), HasSubstr(R"("steers":true)"));
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("steers":false)"));
    // one that is heard again, if only by its answers to pings, is asked as ever
    hub->heard(2);
    say(1, R"({"type":"steer"})");
    EXPECT_THAT(inboxes[2].last("notice"), HasSubstr("asks to steer"));
    // one that is silent and holds nothing is told nothing
    const int told = inboxes[2].count("notice");
    hub->silent(2, now);
    EXPECT_EQ(inboxes[2].count("notice"), told);
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("steers":true)"));
}

TEST_F(ViewerHubTest, ViewerThatHungForAWhileKeepsSteering) {
    hub->opened(1, now);
    hub->opened(2, now);
    hub->silent(1, now);
    hub->heard(1);
    hub->heard(7);  // nobody
    say(2, R"({"type":"steer"})");
    EXPECT_EQ(inboxes[2].count("stats"), 0) << "it is asked, and decides";
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("steers":true,"asked":true)"));
}

TEST_F(ViewerHubTest, ButtonsOfAVanishedHandGoUp) {
    hub->opened(1, now);
    hub->opened(2, now);
    say(1, R"({"type":"tool","target":[1,0,2],"rotation":[0,1,0,0],"buttons":5})");
    now += 60;
    say(2, R"({"type":"steer"})");
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("asked":true)"))
        << "who holds a button down is not idle";
    world->commands.clear();
    world->takes_commands = false;
    hub->closed(1, now);
    world->takes_commands = true;
    run(now + 0.01);
    ASSERT_EQ(world->commands.size(), 1u);
    const Command& command = world->commands[0];
    EXPECT_EQ(command.kind, Command::Kind::MoveTool);
    EXPECT_EQ(command.buttons, 0u);
    EXPECT_EQ(command.target, (std::array<double, 3>{1, 0, 2})) << "it stays where it was";
    EXPECT_EQ(command.rotation, (std::array<double, 4>{0, 1, 0, 0}));
    // nothing to let go: a tool that is merely somewhere, or put there anew by the next
    say(2, R"({"type":"tool","target":[1,0,2],"buttons":1})");
    say(2, R"({"type":"tool","target":[1,0,3]})");
    hub->closed(2, now);
    EXPECT_EQ(world->commands.size(), 3u);
}

TEST_F(ViewerHubTest, SteeringIsAskedForAndHandedOver) {
    for (const WebServer::Client client : {1, 2, 3}) hub->opened(client, now);
    say(1, kGrab);
    say(1, R"({"type":"steer"})");
    EXPECT_EQ(inboxes[1].count("stats"), 0) << "nobody asked";
    say(3, R"({"type":"steer"})");
    say(3, R"({"type":"steer"})");
    EXPECT_EQ(inboxes[1].count("notice"), 1);
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("asked":true)"));
    say(3, R"({"type":"reset"})");
    EXPECT_EQ(world->commands.size(), 1u) << "not yet";
    say(1, R"({"type":"steer"})");
    EXPECT_THAT(inboxes[3].last("stats"), HasSubstr(R"("steers":true,"asked":false)"));
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("steers":false)"));
    ASSERT_EQ(world->commands.size(), 2u) << "what the first held is let go";
    EXPECT_EQ(world->commands[1].kind, Command::Kind::Release);
    say(1, R"({"type":"reset"})");
    EXPECT_EQ(world->commands.size(), 2u);
    say(3, R"({"type":"reset"})");
    EXPECT_EQ(world->commands.size(), 3u);
}

TEST_F(ViewerHubTest, IdleViewerIsRelieved) {
    hub->opened(1, now);
    hub->opened(2, now);
    world_stands = true;
    say(1, kGrab);
    now += ViewerHub::kIdleSteering + 1;
    say(2, R"({"type":"steer"})");
    EXPECT_EQ(inboxes[2].count("stats"), 0) << "it holds something";
    say(1, R"({"type":"release","slot":1})");
    now += ViewerHub::kIdleSteering + 1;
    say(2, R"({"type":"steer"})");
    EXPECT_THAT(inboxes[2].last("stats"), HasSubstr(R"("steers":true)"));
}

TEST_F(ViewerHubTest, ParametersAreFoundByNameKeptInRangeAndToldToAll) {
    hub->opened(1, now);
    hub->opened(2, now);
    const int index = world->world().find_parameter("bar.stiffness");
    ASSERT_GE(index, 0);
    const LiveParameter& parameter =
        world->world().parameters()[static_cast<std::size_t>(index)].parameter;
    say(1, R"({"type":"set","parameter":"bar.stiffness","value":1e300})");
    ASSERT_EQ(world->commands.size(), 1u);
    EXPECT_EQ(world->commands[0].kind, Command::Kind::SetParameter);
    EXPECT_EQ(world->commands[0].parameter, index);
    EXPECT_EQ(world->commands[0].value, parameter.high);
    EXPECT_THAT(inboxes[1].last("parameter"), HasSubstr(R"("name":"bar.stiffness")"));
    EXPECT_EQ(inboxes[1].last("parameter"), inboxes[2].last("parameter"));
    EXPECT_EQ(parse_json(inboxes[2].last("parameter"), "").find("value")->number(), parameter.high);
    say(1, R"({"type":"set","parameter":"bar.stifness","value":1})");
    EXPECT_EQ(world->commands.size(), 1u);
    // a page that comes later sees the present value
    hub->opened(3, now);
    const JsonValue hello = parse_json(inboxes[3].texts[0], "");
    const JsonValue& told = hello.find("parameters")->array()[static_cast<std::size_t>(index)];
    EXPECT_EQ(told.find("now")->number(), parameter.high);
    EXPECT_EQ(told.find("value")->number(), parameter.value);
}

TEST_F(ViewerHubTest, ToolInAHandIsToldShownAndMoved) {
    hub->opened(1, now);
    EXPECT_TRUE(parse_json(inboxes[1].texts.at(0), "").find("haptics")->is(JsonValue::Type::Null));
    run(0.3, {1});
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("haptics":null)"));

    open_hub(std::make_unique<VirtualWorld>(test::held_world()));
    inboxes[1] = {};
    hub->opened(1, now);
    const JsonValue hello = parse_json(inboxes[1].texts.at(0), "hello");
    const JsonValue& haptics = *hello.find("haptics");
    const HapticInfo& info = *world->world().loop(0).haptics();
    EXPECT_EQ(haptics.find("body")->number(), 1);
    EXPECT_EQ(haptics.find("device")->string(), info.capabilities.name);
    EXPECT_EQ(haptics.find("kind")->string(), "simulated");
    EXPECT_EQ(haptics.find("max_force")->number(), 7);
    EXPECT_EQ(haptics.find("max_torque")->number(), info.capabilities.max_torque);
    EXPECT_EQ(haptics.find("scale")->number(), 2);
    EXPECT_EQ(haptics.find("grasp")->array().at(2).number(), 0.05);
    EXPECT_EQ(haptics.find("loop")->number(), 0);
    EXPECT_EQ(haptics.find("clutch")->number(), -1);
    EXPECT_EQ(haptics.find("deadman")->number(), -1);
    EXPECT_FALSE(haptics.find("bends")->boolean());
    EXPECT_TRUE(haptics.find("spheres")->array().empty()) << "no tool of many";
    EXPECT_TRUE(haptics.find("parts")->array().empty());
    ASSERT_EQ(haptics.find("gains")->array().size(), info.gains.size());
    const JsonValue& gain = haptics.find("gains")->array().at(0);
    EXPECT_EQ(gain.find("name")->string(), info.gains.at(0).name);
    EXPECT_EQ(gain.find("reason")->string(), info.gains.at(0).reason);
    EXPECT_EQ(gain.find("largest")->number(), info.gains.at(0).largest);
    EXPECT_EQ(haptics.find("warning")->string(), "");
    EXPECT_FALSE(hello.find("has_tool")->boolean()) << "that is the sphere";

    run(now + 0.7, {1});
    const auto number = [&](int i) {
        return number_at<float>(inboxes[1].frames.back(),
                                32 + 4 * (4 * 11 + 10 + static_cast<std::size_t>(i)));
    };
    EXPECT_EQ(number(0), 1.0f);
    EXPECT_EQ(number(1), 1.0f) << "the peg";
    const float gap = number(11) - number(4);
    EXPECT_GT(gap, 0.002f) << "the hand is lower than the peg, which stays on the block";
    EXPECT_GT(number(18), 0.1f) << "and is pushed up";
    EXPECT_GT(number(30), 0.1f) << "by the device, too";
    EXPECT_GT(number(34), 0.0f) << "depth";
    EXPECT_GE(number(36), number(34)) << "the worst one";
    const JsonValue stats = parse_json(inboxes[1].last("stats"), "stats");
    EXPECT_EQ(stats.find("haptics")->find("device")->string(), info.capabilities.name);
    EXPECT_TRUE(stats.find("haptics")->find("notice")->is(JsonValue::Type::String));

    say(1, R"({"type":"tool","target":[0,0,0.2],"rotation":[0,0,0,1],"buttons":2})");
    ASSERT_EQ(world->commands.size(), 1u);
    run(now + 1.5, {1});
    EXPECT_GT(number(4), 0.19f);
    EXPECT_NEAR(std::abs(number(8)), 1, 0.01) << "half a turn about z";
    EXPECT_EQ(number(45), 2.0f) << "buttons";
}

TEST_F(ViewerHubTest, MalformedMessagesAreCountedAndPlacesOutsideIgnored) {
    hub->opened(1, now);
    say(1, "{");
    say(1, R"({"type":"tool","target":[NaN,0,0]})");
    const std::string binary = "\1\2\3";
    hub->received(1, std::as_bytes(std::span(binary)), false, now);
    hub->received(1, {}, true, now);
    EXPECT_EQ(hub->malformed_messages(), 4u);
    say(1,
        R"({"type":"grab","slot":0,"body":4,"triangle":0,"barycentric":[1,0,0],"target":[0,0,0]})");
    say(1,
        R"({"type":"grab","slot":0,"body":0,"triangle":12,"barycentric":[1,0,0],"target":[0,0,0]})");
    EXPECT_TRUE(world->commands.empty());
    run(0.3);
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("malformed":4)"));
}

TEST_F(ViewerHubTest, StatisticsComeFiveTimesASecond) {
    hub->opened(1, now);
    run(2, {1});
    EXPECT_NEAR(inboxes[1].count("stats"), 10, 1);
    const JsonValue stats = parse_json(inboxes[1].last("stats"), "stats");
    const auto& loops = stats.find("loops")->array();
    ASSERT_EQ(loops.size(), 2u);
    EXPECT_EQ(loops[0].find("name")->string(), "haptic");
    EXPECT_NEAR(loops[0].find("tick")->number(), 2000, 210);
    for (const char* key : {"p50", "p99", "p999", "max"})
        EXPECT_TRUE(loops[1].find("work")->find(key)->is(JsonValue::Type::Number)) << key;
    EXPECT_GT(loops[0].find("statuses")->find("ok")->number(), 1000);
    EXPECT_GT(stats.find("energy")->find("elastic")->number(), 0);
    EXPECT_FALSE(stats.find("paused")->boolean());
    EXPECT_TRUE(stats.find("recording")->is(JsonValue::Type::Null));
    EXPECT_TRUE(stats.find("replay_time")->is(JsonValue::Type::Null));
    EXPECT_THAT(hub->status_line(), HasSubstr("µs p99.9 · 0 missed · 1 viewer"));
    const std::vector<LoopTimes> times = hub->loop_times();
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0].name, "haptic");
    EXPECT_EQ(times[0].rate, 1000);
}

TEST_F(ViewerHubTest, SimulationMeshComesBeforeEachFrameForThoseWhoWantIt) {
    hub->opened(1, now);
    hub->opened(2, now);
    world_stands = true;
    run(1, {1, 2});
    say(2, R"({"type":"mesh","on":true})");
    run(now + 0.01, {1, 2});
    EXPECT_TRUE(inboxes[1].nodes.empty());
    // two bars and the block
    ASSERT_EQ(inboxes[2].nodes.size(), 3u);
    EXPECT_EQ(number_at<std::uint32_t>(inboxes[2].nodes[1], 4), 1u);
    EXPECT_EQ(number_at<std::uint32_t>(inboxes[2].nodes[1], 8), 27u);
    say(2, R"({"type":"mesh","on":false})");
    world_stands = false;
    run(now + 0.5, {1, 2});
    EXPECT_EQ(inboxes[2].nodes.size(), 3u);
}

/// A hub with a ball that presses a beam.
class ContactTest : public ViewerHubTest {
protected:
    ContactTest() { open_hub(std::make_unique<VirtualWorld>(test::pressed_world())); }

    /// Number k of the contact in the newest frame of a viewer.
    [[nodiscard]] float contact(WebServer::Client client, std::size_t k) {
        return number_at<float>(inboxes[client].frames.back(),
                                32 + 4 * (4 * 11 + 10 + kHapticFloats + k));
    }
    static constexpr std::size_t kVisited = 0, kTouching = 2, kLevel = 3, kForceZ = 7, kDeepest = 8;
};

TEST_F(ContactTest, HelloAndFramesTellOfEachContact) {
    hub->opened(1, now);
    const JsonValue hello = parse_json(inboxes[1].texts.at(0), "hello");
    const auto& contacts = hello.find("contacts")->array();
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_EQ(contacts[0].find("name")->string(), "beam/ball");
    EXPECT_EQ(contacts[0].find("shell")->number(), 0);
    EXPECT_EQ(contacts[0].find("field")->number(), 1);
    EXPECT_EQ(contacts[0].find("levels")->number(), 3);
    for (const char* name : {"beam/ball.stiffness", "beam/ball.friction", "beam/ball.nodes"})
        EXPECT_THAT(inboxes[1].texts[0], HasSubstr(R"("name":")" + std::string(name) + '"'));
    // contacts, beam of rank 6, ball
    EXPECT_EQ(inboxes[1].frames.at(0).size(),
              32u + 4u * (4 * 11 + 10 + kHapticFloats + 10 + 13 + 7));

    run(0.4, {1});
    EXPECT_GT(contact(1, kVisited), contact(1, kTouching));
    EXPECT_GT(contact(1, kTouching), 0);
    EXPECT_GE(contact(1, kLevel), 0);
    EXPECT_GT(contact(1, kForceZ), 0) << "the beam pushes the ball up";
    EXPECT_GT(contact(1, kDeepest), 0);
    EXPECT_LT(contact(1, kDeepest), 0.02) << "of the 2 cm that it is pressed down";
    EXPECT_EQ(hub->get("/api/contact/0/slice/z").status, 200);
    EXPECT_EQ(hub->get("/api/contact/0/iso/0.004").status, 200);
    EXPECT_EQ(hub->get("/api/contact/0/iso/nan").status, 400);
}

TEST_F(ViewerHubTest, ContactAmongManyBodiesNamesNoneOfThem) {
    open_hub(std::make_unique<VirtualWorld>(test::fallen_world()));
    hub->opened(1, now);
    const JsonValue hello = parse_json(inboxes[1].texts.at(0), "hello");
    const JsonValue& contact = hello.find("contacts")->array().at(0);
    EXPECT_EQ(contact.find("name")->string(), "box+floor");
    EXPECT_EQ(contact.find("shell")->number(), -1);
    EXPECT_EQ(contact.find("field")->number(), -1);
    EXPECT_EQ(hub->get("/api/contact/0/slice/z").status, 404);
    EXPECT_THAT(inboxes[1].texts[0], HasSubstr(R"("name":"box+floor.friction")"));
}

TEST_F(ContactTest, MarksComeBeforeEachFrameForThoseWhoWantThem) {
    hub->opened(1, now);
    hub->opened(2, now);
    run(0.4, {1, 2});
    world_stands = true;
    run(0.5, {1, 2});
    const std::size_t frames = inboxes[2].frames.size();
    EXPECT_TRUE(inboxes[2].marks.empty());
    say(2, R"({"type":"contacts","on":true})");
    run(now + 0.01, {1, 2});
    EXPECT_TRUE(inboxes[1].marks.empty()) << "the first did not ask";
    EXPECT_EQ(inboxes[2].frames.size(), frames + 1) << "at once, also of a world that stands";
    ASSERT_EQ(inboxes[2].marks.size(), 1u);
    const std::string& marks = inboxes[2].marks[0];
    EXPECT_EQ(number_at<std::uint32_t>(marks, 4), 0u);
    const auto count = number_at<std::uint32_t>(marks, 8);
    const auto contacting = number_at<std::uint32_t>(marks, 12);
    EXPECT_EQ(marks.size(), 16u + 16u * count + 12u * contacting);
    EXPECT_EQ(static_cast<float>(contacting), contact(2, kTouching));
    EXPECT_GT(count, contacting);

    // one with each frame, until they are no longer wanted
    world_stands = false;
    run(now + 0.2, {1, 2});
    EXPECT_EQ(inboxes[2].marks.size() - 1, inboxes[2].frames.size() - frames - 1);
    EXPECT_GT(inboxes[2].marks.size(), 5u);
    say(2, R"({"type":"contacts","on":false})");
    const std::size_t before = inboxes[2].marks.size();
    run(now + 0.2, {1, 2});
    EXPECT_EQ(inboxes[2].marks.size(), before);
    EXPECT_EQ(hub->malformed_messages(), 0u);
}

TEST_F(ContactTest, MarksBelongToTheFrameThatFollows) {
    hub->opened(1, now);
    say(1, R"({"type":"contacts","on":true})");
    run(0.4, {1});
    // statistics look at the world in between
    const SharedBytes marks = *std::find_if(kept.rbegin(), kept.rend(), [](const auto& message) {
        return number_at<std::uint32_t>(*message, 0) == 4;
    });
    LoopFrame frame = world->world().loop(0).make_frame();
    const auto time = number_at<double>(inboxes[1].frames.back(), 16);
    auto other = test::pressed_world();
    other->advance_to(time);
    other->loop(0).fill(frame);
    const LoopFrame* loops[] = {&frame};
    EXPECT_EQ(*encode_contact_marks(*other, loops).at(0), *marks);
}

TEST_F(ViewerHubTest, AnotherSceneIsBuiltAsideAndThenShownToAll) {
    hub->opened(1, now);
    hub->opened(2, now);
    run(0.1);
    world_stands = true;
    blocks_opening = true;
    say(1, R"({"type":"open","scene":"other"})");
    ASSERT_TRUE(run_until([&] {
        return inboxes[2].last("progress").find(R"("stage":"other","fraction":0.5)") !=
               std::string::npos;
    }));
    EXPECT_EQ(inboxes[1].count("hello"), 1) << "the old scene goes on";
    say(1, kGrab);
    EXPECT_EQ(world->commands.size(), 1u);
    blocks_opening = false;
    ASSERT_TRUE(run_until([&] { return inboxes[1].count("hello") == 2; }));
    EXPECT_THAT(inboxes[2].last("hello"), HasSubstr(R"("scene":{"name":"other")"));
    EXPECT_THAT(inboxes[2].last("hello"), HasSubstr(R"("steers":false)"));
    EXPECT_EQ(*hub->get("/api/scene").body, "{\"pliant\": 1}");
    // frames of the new one come although those of the old were not drawn
    const std::size_t before = inboxes[2].frames.size();
    EXPECT_TRUE(run_until([&] { return inboxes[2].frames.size() > before; }));
}

TEST_F(ViewerHubTest, SceneThatCannotBeBuiltLeavesTheOldOne) {
    hub->opened(1, now);
    say(1, R"({"type":"open","scene":"broken"})");
    ASSERT_TRUE(run_until([&] { return inboxes[1].count("notice") == 1; }));
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr(R"("level":"error")"));
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("bodies = none (expected at least one)"));
    EXPECT_EQ(inboxes[1].count("hello"), 1);
    say(1, R"({"type":"open","scene":"../etc"})");
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("There is no scene \\\"../etc\\\""));
    say(1, R"({"type":"reset"})");
    EXPECT_EQ(world->commands.size(), 1u);
}

TEST_F(ViewerHubTest, OpeningAnotherSceneCancelsTheFirst) {
    hub->opened(1, now);
    blocks_opening = true;
    for (int i = 0; i < 50; ++i) say(1, R"({"type":"open","scene":"broken"})");
    say(1, R"({"type":"open","scene":"other"})");
    blocks_opening = false;
    ASSERT_TRUE(run_until([&] { return inboxes[1].count("hello") == 2; }));
    EXPECT_THAT(inboxes[1].last("hello"), HasSubstr(R"("scene":{"name":"other")"));
    EXPECT_EQ(inboxes[1].count("notice"), 0);
}

TEST_F(ViewerHubTest, EndingWhileASceneIsBuiltCancelsIt) {
    hub->opened(1, now);
    blocks_opening = true;
    say(1, R"({"type":"open","scene":"other"})");
    hub.reset();
}

/// A hub with a scene of one bar that is held, from a model file.
class SketchTest : public ViewerHubTest {
protected:
    SketchTest() { open_bar({.rank = 4}); }

    void open_bar(const test::BarOptions& bar) {
        test::bar_model(bar).save(folder / "bar.pliant");
        open_hub(std::make_unique<VirtualWorld>(
            std::make_unique<World>(scene_of_model(folder / "bar.pliant"))));
        now = 0;
    }
    [[nodiscard]] double linear() const {
        return world->parameter(world->world().find_parameter("bar.linear"));
    }
    /// Takes a place of the free end and moves the target there in `time` seconds.
    void pull(double time, double far = 0.2) {
        const SurfacePoint tip = world->world().nearest_point(0, {0.8, 0.1, 0.1});
        const auto& w = tip.barycentric;
        say(1, R"({"type":"grab","slot":0,"body":0,"triangle":)" + std::to_string(tip.triangle) +
                   R"(,"barycentric":[)" + std::to_string(w[0]) + "," + std::to_string(w[1]) + "," +
                   std::to_string(w[2]) + R"(],"target":[0.8,0.1,0.1]})");
        const double start = now;
        while (now < start + time) {
            const double z = 0.1 - far * (now - start) / time;
            say(1, R"({"type":"drag","slot":0,"target":[0.8,0.1,)" + std::to_string(z) + "]}");
            run(now + 0.05);
        }
    }
    [[nodiscard]] std::string stats() {
        run(now + 0.21);
        return inboxes[1].last("stats");
    }
};

TEST_F(SketchTest, HelloSaysWhatCanBeSketched) {
    hub->opened(1, now);
    EXPECT_THAT(inboxes[1].last("hello"), HasSubstr(R"("sketch":{"body":"bar","rank":4})"));
    EXPECT_THAT(stats(), HasSubstr(R"("sketch":null)"));
}

TEST_F(SketchTest, PullsAreRecordedTenTimesASecondWhileTheBodyIsLinear) {
    hub->opened(1, now);
    hub->opened(2, now);
    say(2, R"({"type":"sketch","on":true})");
    EXPECT_EQ(linear(), 0) << "watchers do not sketch";
    say(1, R"({"type":"sketch","on":true})");
    EXPECT_EQ(linear(), 1);
    EXPECT_THAT(inboxes[2].last("parameter"), HasSubstr(R"("name":"bar.linear","value":1)"));
    EXPECT_THAT(stats(), HasSubstr(R"("sketch":{"loads":0,"building":false})"));
    pull(1.02);
    const std::string after = stats();
    const JsonValue json = parse_json(after, "stats");
    // the target leaves from the point itself: the first looks find hardly any force
    EXPECT_NEAR(json.find("sketch")->find("loads")->number(), 11, 3) << after;
    say(1, R"({"type":"release","slot":0})");
    const std::string released = stats();
    run(now + 0.5);
    EXPECT_EQ(parse_json(released, "stats").find("sketch")->find("loads")->number(),
              parse_json(stats(), "stats").find("sketch")->find("loads")->number());
    say(1, R"({"type":"sketch","on":false})");
    EXPECT_EQ(linear(), 0);
    EXPECT_THAT(stats(), HasSubstr(R"("sketch":null)"));
    EXPECT_EQ(inboxes[1].count("hello"), 1);
}

TEST_F(SketchTest, FinishedSketchTakesThePlaceOfTheBody) {
    hub->opened(1, now);
    say(1, R"({"type":"sketch","on":true})");
    pull(1);
    world_stands = true;
    say(1, R"({"type":"sketch_build","rank":3})");
    EXPECT_EQ(linear(), 0) << "the old scene goes on as it was";
    ASSERT_TRUE(run_until([&] { return inboxes[1].count("hello") == 2; }));
    EXPECT_THAT(inboxes[1].last("hello"), HasSubstr(R"("sketch":{"body":"bar","rank":3})"));
    const std::string told = inboxes[1].last("notice");
    EXPECT_THAT(told, HasSubstr(R"("level":"info")"));
    EXPECT_THAT(told, testing::ContainsRegex("bar: shapes of [1-9][0-9]* of [1-9][0-9]* recorded "
                                             "loads; rank 3 holds 9[0-9.]* % of them. Saved as "));
    EXPECT_THAT(told, HasSubstr("recordings/bar-sketch-20"));
    // the scene's text names the new file, so that recordings replay with it
    const std::string text = *hub->get("/api/scene").body;
    EXPECT_THAT(text, HasSubstr("recordings/bar-sketch-20"));
    EXPECT_EQ(World(parse_scene(text, "text")).bodies().size(), 1u);
    EXPECT_TRUE(run_until(
        [&] { return inboxes[1].last("stats").find(R"("sketch":null)") != std::string::npos; }));
}

TEST_F(SketchTest, SketchWithoutLoadsIsNotBuilt) {
    hub->opened(1, now);
    say(1, R"({"type":"sketch_build","rank":3})");
    EXPECT_EQ(inboxes[1].count("notice"), 0) << "nothing is sketched";
    say(1, R"({"type":"sketch","on":true})");
    say(1, R"({"type":"sketch_build","rank":3})");
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("Nothing was sketched yet: pull bar first"));
    EXPECT_EQ(linear(), 1) << "it goes on";
}

TEST_F(SketchTest, RankThatIsImpossibleLeavesTheScene) {
    hub->opened(1, now);
    say(1, R"({"type":"sketch","on":true})");
    pull(0.5);
    world_stands = true;
    say(1, R"({"type":"sketch_build","rank":900})");
    ASSERT_TRUE(run_until(
        [&] { return inboxes[1].last("notice").find(R"("level":"error")") != std::string::npos; }));
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("Sketch of bar: rank = 900 (expected 1 to "));
    EXPECT_EQ(inboxes[1].count("hello"), 1);
    say(1, R"({"type":"sketch","on":true})");
    EXPECT_EQ(linear(), 1) << "another one may begin";
}

TEST_F(SketchTest, SketchEndsWithItsViewer) {
    hub->opened(1, now);
    hub->opened(2, now);
    say(1, R"({"type":"sketch","on":true})");
    pull(0.5);
    hub->closed(1, now);
    EXPECT_EQ(linear(), 0);

    say(2, R"({"type":"sketch","on":true})");
    EXPECT_EQ(linear(), 1);
}

TEST_F(SketchTest, BuildingIsCancelledByItsViewerLeavingAndByAnotherScene) {
    for (const bool leaves : {true, false}) {
        open_bar({.rank = 4});
        hub->opened(1, now);
        hub->opened(2, now);
        say(1, R"({"type":"sketch","on":true})");
        world_stands = false;
        pull(0.5);
        world_stands = true;
        const int hellos = inboxes[2].count("hello");
        say(1, R"({"type":"sketch_build","rank":3})");
        if (leaves) {
            hub->closed(1, now);
            EXPECT_THAT(inboxes[2].last("notice"), HasSubstr("The sketch was cancelled"));
            for (int i = 0; i < 300; ++i) {
                hub->tick(now += 0.002);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            EXPECT_EQ(inboxes[2].count("hello"), hellos);
        } else {
            say(1, R"({"type":"open","scene":"other"})");
            ASSERT_TRUE(run_until([&] { return inboxes[2].count("hello") == hellos + 1; }));
            EXPECT_THAT(inboxes[2].last("hello"), HasSubstr(R"("scene":{"name":"other")"));
        }
    }
}

TEST_F(SketchTest, FreeBodiesAreRefusedWithAReason) {
    open_bar({.rank = 4, .is_free = true});
    hub->opened(1, now);
    EXPECT_THAT(inboxes[1].last("hello"), HasSubstr(R"("sketch":null)"));
    say(1, R"({"type":"sketch","on":true})");
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("bar flies freely and cannot be sketched"));
}

TEST_F(ViewerHubTest, RecordingIsNamedAfterSceneAndTime) {
    hub->opened(1, now);
    say(1, kGrab);
    say(1, R"({"type":"record","on":true})");
    const std::string name = world->recording_path.filename().string();
    EXPECT_THAT(name, testing::MatchesRegex("sample-20[0-9][0-9]-..-..T..-..-..\\.pliantrec"));
    EXPECT_EQ(world->recording_path.parent_path(), options.recordings);
    say(1, R"({"type":"record","on":true})");
    run(0.3);
    EXPECT_THAT(inboxes[1].last("stats"),
                HasSubstr(R"("recording":{"name":")" + name + R"(","bytes":7)"));
    world->commands.clear();
    say(1, R"({"type":"record","on":false})");
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("Recorded " + name));
    EXPECT_TRUE(world->recording_path.empty());
    // the reset at the start of the recording let go already
    hub->closed(1, now);
    EXPECT_TRUE(world->commands.empty());
}

TEST_F(ViewerHubTest, ProblemsOfARecordingAreTold) {
    hub->opened(1, now);
    world->recording_problem = "no room";
    say(1, R"({"type":"record","on":true})");
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("no room"));
    world->recording_problem.clear();
    say(1, R"({"type":"record","on":true})");
    world->later_problem = "the disk is full";
    run(0.5);
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("the disk is full"));
    EXPECT_EQ(inboxes[1].count("notice"), 3) << "told once: refused, began, ended";
    EXPECT_THAT(inboxes[1].last("stats"), HasSubstr(R"("recording":null)"));
}

TEST_F(ViewerHubTest, WhatARecordingLostIsToldToWhoeverComes) {
    hub->opened(1, now);
    say(1, R"({"type":"record","on":true})");
    EXPECT_TRUE(hub->losses().empty());
    world->later_problem = "a.pliantrec: writing failed: the disk is full";
    run(0.5);
    EXPECT_EQ(hub->losses(), std::vector<std::string>{world->later_problem});
    hub->opened(2, now);
    EXPECT_THAT(inboxes[2].last("notice"), HasSubstr(R"("level":"error")"));
    EXPECT_THAT(inboxes[2].last("notice"), HasSubstr("the disk is full"));
    say(1, R"({"type":"record","on":false})");
    EXPECT_EQ(hub->losses().size(), 1u);
}

TEST_F(ViewerHubTest, LostRecordsAreToldOnceAndAtOnce) {
    hub->opened(1, now);
    say(1, R"({"type":"record","on":true})");
    world->lost_records = 7;
    run(0.5);
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("because the disk is too slow"));
    run(0.5);
    say(1, R"({"type":"record","on":false})");
    EXPECT_EQ(hub->losses().size(), 1u);
    EXPECT_EQ(inboxes[1].count("notice"), 2) << "began, lost; not that it is well recorded";
}

/// Waits for the recording to be finished, as the thread of a program does.
class Finish {
public:
    explicit Finish(ViewerHub& hub)
        : thread_([this, &hub] {
              hub.finish_recording();
              is_done = true;
          }) {}
    ~Finish() { thread_.join(); }
    std::atomic<bool> is_done{false};

private:
    std::thread thread_;
};

TEST_F(ViewerHubTest, TheEndWaitsForNoTickThatFails) {
    hub->opened(1, now);
    say(1, R"({"type":"record","on":true})");
    ASSERT_FALSE(world->recording_path.empty());
    world->tick_problem = "out of memory";
    Finish finish(*hub);
    const auto tick = [&] {
        try {
            hub->tick(now += 0.002);
        } catch (const std::runtime_error&) {
            // counted by the server
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    for (int i = 0; i < 3000 && !finish.is_done; ++i) tick();
    EXPECT_TRUE(finish.is_done);
    EXPECT_TRUE(world->recording_path.empty());
    EXPECT_TRUE(hub->losses().empty());
    // another recording would not be finished
    say(1, R"({"type":"record","on":true})");
    EXPECT_TRUE(world->recording_path.empty());
    world->tick_problem.clear();  // so that the thread ends in any case
    while (!finish.is_done) tick();
}

TEST_F(ViewerHubTest, AnEndThatFailsInAnyWayIsToldAsALoss) {
    hub->opened(1, now);
    say(1, R"({"type":"record","on":true})");
    world->stop_problem = "out of memory";
    {
        Finish finish(*hub);
        for (int i = 0; i < 3000 && !finish.is_done; ++i) {
            EXPECT_NO_THROW(hub->tick(now += 0.002));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_TRUE(finish.is_done);
    }
    ASSERT_EQ(hub->losses().size(), 1u);
    EXPECT_THAT(hub->losses()[0],
                HasSubstr("the end of the recording may be missing (out of memory)"));
    EXPECT_THAT(inboxes[1].last("notice"), HasSubstr("may be missing"));
}

TEST_F(ViewerHubTest, DataIsFetchedByPath) {
    EXPECT_EQ(hub->get("/api/asset/0/surface").content_type, "application/octet-stream");
    EXPECT_EQ(*hub->get("/api/recordings").body, "[]");
    for (const char* path :
         {"", "/", "/app.js", "/api", "/api/", "/api/asset/", "/api/asset/7/surface",
          "/api/contact/0/slice/x", "/api/contact/0/iso/0", "/api/recording/",
          "/api/recording/../../etc/passwd", "/nothing"})
        EXPECT_EQ(hub->get(path).status, 404) << path;
}

TEST_F(ViewerHubTest, UnreachableClientDisturbsNobody) {
    hub->opened(1, now);
    hub->opened(2, now);
    inboxes[1].is_reachable = false;
    run(1, {2});
    EXPECT_NEAR(inboxes[2].frames.size(), 61, 3);
}

}  // namespace
}  // namespace pliant
