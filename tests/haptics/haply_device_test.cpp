#include "pliant/haptics/haply_device.h"

#include "haptics/haply_message.h"
#include "net/test_client.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/core/json_value.h"
#include "pliant/haptics/device_safety.h"
#include "pliant/net/web_server.h"

#include <gtest/gtest.h>

#include <mutex>

#include "input_error.h"

namespace {

using namespace pliant;
using namespace std::chrono_literals;
using Eigen::Vector3d;
using test::eventually;
using test::input_error;

const std::string kGrip =
    R"("wireless_verse_grip":[{"device_id":"61","state":{"orientation":{"w":0,"x":0,"y":0,"z":1},)"
    R"("buttons":{"a":true,"b":false,"c":true}}}])";

std::string haply_state(double x, const std::string& more = "") {
    return R"({"session_id":7,"inverse3":[{"device_id":"049D","config":{"type":"inverse3"},)"
           R"("state":{"cursor_position":{"x":)" +
           std::to_string(x) +
           R"(,"y":-0.14,"z":0.16},"cursor_velocity":{"x":0.5,"y":0,"z":0},"control_mode":"idle"},)"
           R"("status":{"powered":true}}])" +
           (more.empty() ? "" : "," + more) + "}";
}

HaplyFault haply_fault(const std::string& text, const std::string& id = "") {
    const auto parsed = parse_haply_message(text, id);
    EXPECT_TRUE(std::holds_alternative<HaplyFault>(parsed)) << text;
    return std::holds_alternative<HaplyFault>(parsed) ? std::get<HaplyFault>(parsed)
                                                      : HaplyFault{-1};
}

TEST(HaplyMessage, HasPositionVelocityRotationAndButtons) {
    const auto parsed = parse_haply_message(haply_state(0.02, kGrip), "");
    ASSERT_TRUE(std::holds_alternative<HaplyReading>(parsed));
    const auto& reading = std::get<HaplyReading>(parsed);
    EXPECT_EQ(reading.device_id, "049D");
    EXPECT_EQ(reading.state.pose.position, Vector3d(0.02, -0.14, 0.16));
    EXPECT_EQ(reading.state.twist.linear, Vector3d(0.5, 0, 0));
    EXPECT_EQ(reading.state.pose.rotation.z(), 1);
    EXPECT_EQ(reading.state.buttons, 5u);
    const auto wired = parse_haply_message(
        haply_state(0, R"("verse_grip":[{"device_id":"1","state":{"button":true}}])"), "049D");
    EXPECT_EQ(std::get<HaplyReading>(wired).state.buttons, 1u);
    EXPECT_EQ(std::get<HaplyReading>(wired).state.pose.rotation.w(), 1);
}

TEST(HaplyMessage, OtherTextIsRefused) {
    EXPECT_EQ(haply_fault(""), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault("{"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault("[]"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault("{}"), HaplyFault::Absent);
    EXPECT_EQ(haply_fault(R"({"inverse3":[]})"), HaplyFault::Absent);
    EXPECT_EQ(haply_fault(haply_state(0), "0000"), HaplyFault::Absent);
    EXPECT_EQ(haply_fault(R"({"inverse3":{}})"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(R"({"inverse3":[3]})"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(R"({"inverse3":[{"state":{}}]})"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(R"({"inverse3":[{"device_id":"1"}]})"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(R"({"inverse3":[{"device_id":"1","state":{}}]})"), HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(R"({"inverse3":[{"device_id":"1","state":{"cursor_position":)"
                          R"({"x":1,"y":"2","z":3}}}]})"),
              HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(R"({"inverse3":[{"device_id":"1","state":{"cursor_position":)"
                          R"({"x":1,"y":2}}}]})"),
              HaplyFault::Malformed);
    EXPECT_EQ(haply_fault(haply_state(11)), HaplyFault::BadValue);
    EXPECT_EQ(haply_fault(haply_state(0, R"("verse_grip":[{"device_id":"1","state":7}])")),
              HaplyFault::Malformed);
}

/// A grip that says this rotation.
std::string haply_grip(double w, double z) {
    return R"("verse_grip":[{"device_id":"1","state":{"button":true,"orientation":{"w":)" +
           std::to_string(w) + R"(,"x":0,"y":0,"z":)" + std::to_string(z) + "}}}]";
}

TEST(HaplyMessage, GoodPartsAreKept) {
    for (const double length : {0.0, 0.5, 2.0}) {
        const auto parsed = parse_haply_message(haply_state(0.02, haply_grip(length, 0)), "");
        ASSERT_TRUE(std::holds_alternative<HaplyReading>(parsed)) << length;
        const auto& reading = std::get<HaplyReading>(parsed);
        EXPECT_FALSE(reading.is_whole);
        EXPECT_EQ(reading.state.pose.position.x(), 0.02);
        EXPECT_EQ(reading.state.buttons, 1u);
    }
    std::string fast = haply_state(0.02);
    fast.replace(fast.find("0.5"), 3, "1e9");
    const auto parsed = parse_haply_message(fast, "");
    ASSERT_TRUE(std::holds_alternative<HaplyReading>(parsed));
    EXPECT_FALSE(std::get<HaplyReading>(parsed).is_whole);
    EXPECT_EQ(std::get<HaplyReading>(parsed).state.twist.linear.norm(), 0);
}

TEST(HaplyMessage, ADeviceThatSaysThatItIsNotCalibratedIsNot) {
    std::string state = haply_state(0.02);
    state.replace(state.find(R"("powered":true)"), 14, R"("calibrated":false)");
    EXPECT_EQ(std::get<HaplyReading>(parse_haply_message(state, "")).state.status,
              DeviceStatus::Uncalibrated);
    state.replace(state.find(R"("calibrated":false)"), 18, R"("calibrated":true)");
    EXPECT_EQ(std::get<HaplyReading>(parse_haply_message(state, "")).state.status,
              DeviceStatus::Ok);
}

TEST(HaplyMessage, WhatItDoesNotSayOfTheCalibrationIsOpen) {
    const auto said = [](const std::string& status) {
        std::string state = haply_state(0.02);
        const std::string old = R"("status":{"powered":true})";
        state.replace(state.find(old), old.size(), status);
        return std::get<HaplyReading>(parse_haply_message(state, "")).is_calibrated;
    };
    EXPECT_EQ(said(R"("status":{"calibrated":true})"), true);
    EXPECT_EQ(said(R"("status":{"calibrated":false})"), false);
    EXPECT_EQ(said(R"("status":{"calibrated":1})"), std::nullopt);
    EXPECT_EQ(said(R"("status":{})"), std::nullopt);
    EXPECT_EQ(said(R"("x":0)"), std::nullopt);
}

TEST(HaplyMessage, AsksForAForce) {
    EXPECT_EQ(haply_force_message("04\"9D", Vector3d(1, -0.5, 0)),
              R"({"inverse3":[{"device_id":"04\"9D","commands":{"set_cursor_force":)"
              R"({"values":{"x":1,"y":-0.5,"z":0}}}}]})");
}

/// What the service does: one state for all there is, then one for every message.
class FakeHaplyService {
public:
    explicit FakeHaplyService(int port = 0) {
        WebServerOptions options;
        options.port = port;
        options.max_messages_per_second = 1e5;
        WebServer::Handlers handlers;
        handlers.opened = [this](WebServer::Client client) {
            const std::lock_guard lock(mutex);
            say(client);
        };
        handlers.received = [this](WebServer::Client client, std::span<const std::byte> bytes,
                                   bool) {
            const std::lock_guard lock(mutex);
            take({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
            if (is_closing) return web->close(client);
            if (!is_silent) say(client);
        };
        const std::lock_guard lock(mutex);
        web = std::make_unique<WebServer>(options, std::move(handlers));
    }
    [[nodiscard]] HaplyDescription description() const {
        return {"ws://127.0.0.1:" + std::to_string(web->port()), ""};
    }
    template <class Change>
    void set(Change&& change) {
        const std::lock_guard lock(mutex);
        change(*this);
    }
    [[nodiscard]] double last_force() {
        const std::lock_guard lock(mutex);
        return force;
    }

    std::string state = haply_state(0.01, kGrip);
    bool is_silent = false, is_closing = false;
    double force = -1;  ///< along x
    std::unique_ptr<WebServer> web;

private:
    void say(WebServer::Client client) {
        web->send(client, std::make_shared<const std::string>(state), true);
    }
    void take(const std::string& text) {
        const JsonValue message = parse_json(text, "command");
        const JsonValue* const devices = message.find("inverse3");
        if (!devices) return;
        const JsonValue& device = devices->array().at(0);
        EXPECT_EQ(device.find("device_id")->string(), "049D");
        const JsonValue* const command = device.find("commands")->find("set_cursor_force");
        force = command->find("values")->find("x")->number();
    }
    std::mutex mutex;
};

bool haply_becomes(HaplyDevice& device, DeviceStatus status) {
    return eventually([&] { return device.read(0).status == status; });
}

TEST(HaplyDevice, ReadsAndShowsForces) {
    FakeHaplyService service;
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(device.device_id(), "049D");
    const DeviceState state = device.read(0);
    // from the middle of the workspace
    EXPECT_TRUE(state.pose.position.isApprox(Vector3d(0.01, 0, 0), 1e-12));
    EXPECT_EQ(state.pose.rotation.z(), 1);
    EXPECT_EQ(state.buttons, 5u);
    EXPECT_TRUE(eventually([&] {
        device.write({.force = Vector3d(2.5, 0, 0)});
        return service.last_force() == 2.5;
    }));
    // beyond what it can: clamped; a loop that stops: zero
    EXPECT_TRUE(eventually([&] {
        device.write({.force = Vector3d(1e6, 0, 0), .torque = Vector3d(1, 1, 1)});
        return service.last_force() == device.capabilities().max_force;
    }));
    EXPECT_TRUE(eventually([&] { return service.last_force() == 0; }));
    EXPECT_GT(device.counts().readings, 10u);
    EXPECT_EQ(device.counts().malformed, 0u);
}

TEST(HaplyDevice, NothingBeyondALimitReachesTheService) {
    FakeHaplyService service;
    HaplyDescription description = service.description();
    description.limits.max_force = 0.75;
    HaplyDevice device(description);
    EXPECT_EQ(device.capabilities().max_force, 0.75);
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    EXPECT_TRUE(eventually([&] {
        device.write({.force = Vector3d(1e6, 0, 0)});
        return service.last_force() == 0.75;
    }));
    // more than it can is what it can
    description.limits.max_force = 50;
    EXPECT_EQ(HaplyDevice(description).capabilities().max_force, 6);
}

TEST(HaplyDevice, TheTickAllocatesNothing) {
    FakeHaplyService service;
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    AllocationGuard guard;
    const DeviceState state = device.read(1);
    device.write({.force = Vector3d(1, 0, 0)});
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_NE(state.status, DeviceStatus::Disconnected);
}

TEST(HaplyDevice, ComesBackAfterTheServiceEnded) {
    auto service = std::make_unique<FakeHaplyService>();
    const int port = service->web->port();
    HaplyDevice device(service->description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    service->set([](FakeHaplyService& s) { s.is_closing = true; });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Disconnected));
    service.reset();
    service = std::make_unique<FakeHaplyService>(port);
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    EXPECT_GE(device.counts().connected, 2u);
}

TEST(HaplyDevice, UnpluggedItIsGoneUntilTheServiceListsItAgain) {
    FakeHaplyService service;
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    service.set([](FakeHaplyService& s) { s.state = R"({"inverse3":[]})"; });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Disconnected));
    EXPECT_EQ(device.device_id(), "");
    service.set([](FakeHaplyService& s) { s.state = haply_state(0.02); });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    EXPECT_EQ(device.counts().connected, 1u);
}

TEST(HaplyDevice, WithoutCalibrationItStaysSoUntilItSaysOtherwise) {
    FakeHaplyService service;
    const auto say = [&](const std::string& status) {
        service.set([&](FakeHaplyService& s) {
            s.state = haply_state(0.01);
            const std::string old = R"("powered":true)";
            s.state.replace(s.state.find(old), old.size(), status);
        });
    };
    const auto later = [](const HaplyDevice& device) {
        const auto before = device.counts().readings;
        return eventually([&] { return device.counts().readings > before + 20; });
    };
    say(R"("calibrated":false)");
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Uncalibrated));
    // messages that do not say it
    say("");
    ASSERT_TRUE(later(device));
    EXPECT_EQ(device.read(0).status, DeviceStatus::Uncalibrated);
    device.write({.force = Vector3d(2.5, 0, 0)});
    ASSERT_TRUE(later(device));
    EXPECT_EQ(service.last_force(), 0);
    say(R"("calibrated":true)");
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    say("");
    ASSERT_TRUE(later(device));
    EXPECT_NE(device.read(0).status, DeviceStatus::Uncalibrated);
}

TEST(HaplyDevice, BadMessagesAreCountedAndTheLastReadingStays) {
    FakeHaplyService service;
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    service.set([](FakeHaplyService& s) { s.state = "{\"inverse3\": oops"; });
    EXPECT_TRUE(eventually([&] { return device.counts().malformed > 3; }));
    service.set([](FakeHaplyService& s) { s.state = haply_state(99); });
    EXPECT_TRUE(eventually([&] { return device.counts().bad_values > 3; }));
    EXPECT_NEAR(device.read(0).pose.position.x(), 0.01, 1e-12);
    service.set([](FakeHaplyService& s) { s.state = haply_state(0.03); });
    EXPECT_TRUE(
        eventually([&] { return std::abs(device.read(0).pose.position.x() - 0.03) < 1e-9; }));
}

TEST(HaplyDevice, AGripWithoutARotationLeavesThePlace) {
    FakeHaplyService service;
    service.set([](FakeHaplyService& s) { s.state = haply_state(0.01, haply_grip(0, 1)); });
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    // the grip falls asleep: zeros, while the handle goes on
    service.set([](FakeHaplyService& s) { s.state = haply_state(0.03, haply_grip(0, 0)); });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::NoRotation));
    const DeviceState state = device.read(0);
    EXPECT_NEAR(state.pose.position.x(), 0.03, 1e-9);
    EXPECT_NEAR(state.pose.rotation.z(), 1, 1e-12);
    EXPECT_GT(device.counts().bad_values, 0u);
    EXPECT_TRUE(eventually([&] {
        device.write({.force = Vector3d(2.5, 0, 0)});
        return service.last_force() == 2.5;
    }));
    service.set([](FakeHaplyService& s) { s.state = haply_state(0.03, haply_grip(1, 0)); });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
}

TEST(HaplyDevice, AServiceThatFallsSilentIsLeftAndTriedAgain) {
    FakeHaplyService service;
    HaplyDevice device(service.description());
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
    service.set([](FakeHaplyService& s) { s.is_silent = true; });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Disconnected));
    // it greets on every connection
    EXPECT_TRUE(eventually([&] { return device.counts().connected >= 2; }));
    service.set([](FakeHaplyService& s) { s.is_silent = false; });
    ASSERT_TRUE(haply_becomes(device, DeviceStatus::Ok));
}

TEST(HaplyDevice, AnAddressThatIsNoneIsNamed) {
    EXPECT_EQ(input_error([] {
                  HaplyDevice device({"localhost:10001", ""});
              }),
              "url = \"localhost:10001\" (expected ws://ADDRESS:PORT, such as "
              "ws://127.0.0.1:10001; ADDRESS is an IP address or localhost)");
}

}  // namespace
