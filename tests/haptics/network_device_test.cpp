#include "pliant/haptics/network_device.h"

#include "core/numbers.h"
#include "core/real_time.h"
#include "fake_driver.h"
#include "net/test_client.h"
#include "pliant/core/allocation_guard.h"
#include "pliant/haptics/device_safety.h"
#include "pliant/haptics/open_device.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "input_error.h"

namespace {

using namespace pliant;
using namespace std::chrono_literals;
using Eigen::Vector3d;
using test::eventually;
using test::FakeDriver;
using test::input_error;

NetworkDescription any_port(double timeout = 0.5) {
    NetworkDescription description;
    description.port = 0;
    description.timeout = timeout;
    return description;
}

/// Readings with the time of this machine's clock.
class SteadyReadings {
public:
    explicit SteadyReadings(std::uint32_t session) : session_(session) {}
    std::string next(double x) {
        DeviceState state;
        state.time = test::steady_seconds();
        state.pose.position.x() = x;
        return test::reading_bytes(session_, ++sequence_, state);
    }

private:
    std::uint32_t session_, sequence_ = 0;
};

TEST(NetworkDevice, ADriverAttachesByUdp) {
    NetworkDevice device(any_port());
    EXPECT_EQ(device.capabilities().name, "network device");
    EXPECT_EQ(device.read(0).status, DeviceStatus::Disconnected);
    const FakeDriver driver(device.port());
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    EXPECT_EQ(device.driver_name(), "driver");
    SteadyReadings readings(1);
    const std::string first = driver.ask(readings.next(0.01));
    ASSERT_EQ(test::reply_kind(first), 3);
    EXPECT_EQ(test::reply_force(first), Vector3d(0, 0, 0));
    const DeviceState state = device.read(1);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_EQ(state.pose.position.x(), 0.01);
    device.write({.force = Vector3d(0, 0, 2)});
    EXPECT_EQ(test::reply_force(driver.ask(readings.next(0.02))), Vector3d(0, 0, 2));
    EXPECT_EQ(device.counts().readings, 2u);
    // another driver has to wait until this one leaves
    const FakeDriver other(device.port());
    EXPECT_EQ(test::answer_code(other.ask(test::hello_bytes(2))), test::kBusy);
    driver.send(test::bye_bytes(1));
    EXPECT_TRUE(eventually([&] { return device.driver_name().empty(); }));
    EXPECT_EQ(device.read(2).status, DeviceStatus::Disconnected);
    EXPECT_EQ(test::answer_code(other.ask(test::hello_bytes(2))), test::kAccepted);
}

TEST(NetworkDevice, ADriverAttachesByWebSocketOnTheSamePort) {
    NetworkDevice device(any_port());
    test::TestClient driver(device.port());
    ASSERT_EQ(driver.open_websocket("/"), 101);
    driver.send_binary(test::hello_bytes(1));
    ASSERT_EQ(test::answer_code(driver.receive_data().data), test::kAccepted);
    device.write({.force = Vector3d(1, 0, 0)});
    SteadyReadings readings(1);
    driver.send_binary(readings.next(0.03));
    const auto reply = driver.receive_data();
    EXPECT_EQ(reply.kind, test::TestClient::Kind::Binary);
    EXPECT_EQ(test::reply_kind(reply.data), 3);
    EXPECT_EQ(device.read(1).pose.position.x(), 0.03);
    // UDP waits for its turn; the end of the connection lets the driver go
    const FakeDriver other(device.port());
    EXPECT_EQ(test::answer_code(other.ask(test::hello_bytes(2))), test::kBusy);
    driver.close_abruptly();
    EXPECT_TRUE(eventually([&] { return device.driver_name().empty(); }));
    EXPECT_EQ(test::answer_code(other.ask(test::hello_bytes(2))), test::kAccepted);
}

TEST(NetworkDevice, NothingBeyondALimitReachesTheDriver) {
    DeviceDescription description = any_port();
    limit(description, {.max_force = 1.5});
    NetworkDevice device(std::get<NetworkDescription>(description));
    const FakeDriver driver(device.port());
    DeviceCapabilities strong;
    strong.max_force = 100;
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1, strong))), test::kAccepted);
    SteadyReadings readings(1);
    (void)driver.ask(readings.next(0.01));
    device.write({.force = Vector3d(0, 0, 50)});
    EXPECT_EQ(test::reply_force(driver.ask(readings.next(0.02))), Vector3d(0, 0, 1.5));
}

TEST(NetworkDevice, PagesOfOtherSitesAreRefused) {
    NetworkDevice device(any_port());
    test::TestClient page(device.port());
    EXPECT_EQ(page.open_websocket("/", {{"Origin", "http://example.org"}}), 403);
}

TEST(NetworkDevice, ASilentDriverIsGoneAndComesBack) {
    NetworkDevice device(any_port(0.05));
    const FakeDriver driver(device.port());
    SteadyReadings readings(1);
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    ASSERT_EQ(test::reply_kind(driver.ask(readings.next(0))), 3);
    EXPECT_TRUE(eventually([&] { return device.driver_name().empty(); }));
    EXPECT_EQ(device.read(1).status, DeviceStatus::Disconnected);
    EXPECT_EQ(test::answer_code(driver.ask(readings.next(0))), test::kNotAttached);
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    ASSERT_EQ(test::reply_kind(driver.ask(readings.next(0.01))), 3);
    EXPECT_EQ(device.read(1.1).pose.position.x(), 0.01);
    EXPECT_EQ(device.counts().attached, 2u);
}

TEST(NetworkDevice, GarbageIsCountedAndDoesNoHarm) {
    NetworkDevice device(any_port());
    const FakeDriver driver(device.port());
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    driver.send("");
    driver.send(std::string(1472, 'x'));
    driver.send(std::string(2000, 'y'));  // longer than any message
    driver.send(test::hello_bytes(1, {}, 9));
    EXPECT_EQ(test::answer_code(driver.receive()), test::kWrongVersion);
    SteadyReadings readings(1);
    EXPECT_EQ(test::reply_kind(driver.ask(readings.next(0))), 3);
    EXPECT_EQ(device.counts().malformed, 2u);
    EXPECT_EQ(device.counts().wrong_version, 1u);
}

/// Threads of this process with a real-time priority.
int num_real_time_threads() {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        sched_param parameters{};
        const pid_t thread = std::stoi(task.path().filename().string());
        if (::sched_getparam(thread, &parameters) == 0 && parameters.sched_priority > 0) ++count;
    }
    return count;
}

TEST(NetworkDevice, ThreadsThatHearStrangersKeepTheirOrdinaryPriority) {
    NetworkDevice device(any_port());
    std::string problem;
    int before = 0, by_udp = 0, by_web = 0;
    std::thread loop([&] {
        before = num_real_time_threads();
        problem = set_real_time_priority(pthread_self(), 37);
        if (!problem.empty()) return;
        static_cast<void>(device.read(0));  // asks for the priority of the loop
        {
            const FakeDriver driver(device.port());
            EXPECT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
            SteadyReadings readings(1);
            for (int i = 0; i < 3; ++i)
                EXPECT_EQ(test::reply_kind(driver.ask(readings.next(0))), 3);
            by_udp = num_real_time_threads();
            driver.send(test::bye_bytes(1));
        }
        EXPECT_TRUE(eventually([&] { return device.driver_name().empty(); }));
        test::TestClient driver(device.port());
        EXPECT_EQ(driver.open_websocket("/"), 101);
        driver.send_binary(test::hello_bytes(2));
        EXPECT_EQ(test::answer_code(driver.receive_data().data), test::kAccepted);
        SteadyReadings readings(2);
        driver.send_binary(readings.next(0));
        EXPECT_EQ(test::reply_kind(driver.receive_data().data), 3);
        by_web = num_real_time_threads();
    });
    loop.join();
    if (!problem.empty()) GTEST_SKIP() << "no real-time priority on this machine: " << problem;
    EXPECT_EQ(by_udp, before + 1) << "the loop alone";
    EXPECT_EQ(by_web, before + 1);
}

/// TCP ports of this machine that nobody else gets meanwhile.
class TakenPorts {
public:
    explicit TakenPorts(int wanted) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit most{before_.rlim_max, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &most);
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        while (static_cast<int>(sockets_.size()) < wanted) {
            const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (socket < 0) break;
            sockets_.push_back(socket);
            if (::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) break;
        }
    }
    ~TakenPorts() {
        for (const int socket : sockets_) ::close(socket);
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }
    TakenPorts(const TakenPorts&) = delete;
    TakenPorts& operator=(const TakenPorts&) = delete;
    [[nodiscard]] int count() const { return static_cast<int>(sockets_.size()); }

private:
    rlimit before_{};
    std::vector<int> sockets_;
};

TEST(NetworkDevice, AFreePortIsFoundThoughOtherProgramsHaveManyForTcpAlone) {
    // about every fourth port that is free for UDP is taken for TCP and is given up again, while
    // the thread that listens there already calls
    constexpr int kWanted = 7000;
    const TakenPorts taken(kWanted);
    if (taken.count() < kWanted) GTEST_SKIP() << "this machine allows too few open files";
    for (int i = 0; i < 60; ++i) {
        NetworkDevice device(any_port());
        const FakeDriver driver(device.port());
        ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
        ASSERT_EQ(device.counts().attached, 1u);
    }
}

TEST(NetworkDevice, TheTickAllocatesNothing) {
    NetworkDevice device(any_port());
    const FakeDriver driver(device.port());
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    SteadyReadings readings(1);
    ASSERT_EQ(test::reply_kind(driver.ask(readings.next(0.01))), 3);
    AllocationGuard guard;
    const DeviceState state = device.read(1);
    device.write({.force = Vector3d(1, 0, 0)});
    const DeviceState again = device.read(1.001);
    const auto allocations = guard.count();
    EXPECT_EQ(allocations, 0u);
    EXPECT_EQ(state.status, DeviceStatus::Ok);
    EXPECT_EQ(again.status, DeviceStatus::Stale);
}

TEST(NetworkDevice, PortsThatAreTakenAndNumbersOutOfRangeAreNamed) {
    const NetworkDevice device(any_port());
    NetworkDescription same = any_port();
    same.port = device.port();
    const std::string port = std::to_string(same.port);
    EXPECT_EQ(input_error([&] { NetworkDevice second(same); }),
              "UDP port " + port +
                  " of 127.0.0.1 is in use by another program; choose another "
                  "port, or 0 for any free one");
    NetworkDescription bad = any_port();
    bad.address = "somewhere";
    EXPECT_EQ(input_error([&] { NetworkDevice second(bad); }),
              "address = \"somewhere\" (expected an IP address of this machine, such as "
              "127.0.0.1)");
    bad = any_port(0);
    EXPECT_EQ(input_error([&] { NetworkDevice second(bad); }),
              "timeout = 0 (expected 0.005 to 10 s)");
    bad = any_port();
    bad.port = 70000;
    EXPECT_EQ(input_error([&] { NetworkDevice second(bad); }),
              "port = 70000 (expected 0 to 65535)");
}

TEST(NetworkDevice, UnpluggedInContactTheForceRampsToZeroAndComesBackSlowly) {
    NetworkDevice device(any_port(0.3));
    const FakeDriver driver(device.port());
    SteadyReadings readings(1);
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    DeviceSafety safety(device.capabilities());
    safety.enable();
    double now = 0, largest_step = 0, last = 0;
    const auto tick = [&](bool is_plugged, double x = 0) {
        if (is_plugged) {
            EXPECT_NE(driver.ask(readings.next(x)), "");
        }
        now += 1e-3;
        const DeviceState state = device.read(now);
        const DeviceCommand shown = safety.filter({.force = Vector3d(0, 0, 3)}, state, now);
        device.write(shown);
        EXPECT_TRUE(shown.force.allFinite());
        largest_step = std::max(largest_step, std::abs(shown.force.z() - last));
        last = shown.force.z();
        return state;
    };
    // half a second, more where this machine stops for a while
    for (int i = 0; i < 5000 && last < 3; ++i) tick(true);
    EXPECT_NEAR(last, 3, 1e-9);
    // the cable: 20 ms until data are old, 50 ms of ramp
    for (int i = 0; i < 75; ++i) tick(false);
    EXPECT_EQ(last, 0);
    ASSERT_TRUE(eventually([&] { return device.driver_name().empty(); }));
    EXPECT_EQ(tick(false).status, DeviceStatus::Disconnected);
    // back a metre away: the slow ramp from its first step on; no step is beyond 3 N/ms
    ASSERT_EQ(test::answer_code(driver.ask(test::hello_bytes(1))), test::kAccepted);
    tick(true, 1);
    EXPECT_NEAR(last, 3 * 1e-3 / DeviceSafetyOptions().ramp_time, 1e-9);
    for (int i = 0; i < 100; ++i) tick(true, 1);
    EXPECT_GT(last, 0);
    EXPECT_LT(last, 1);
    EXPECT_LE(largest_step, 3.001);
}

/// What a command printed.
std::string output_of(const std::string& command) {
    std::string text;
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return text;
    std::array<char, 256> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    ::pclose(pipe);
    return text;
}

TEST(NetworkDevice, TheReferenceDriverInPythonAttachesAndFeelsTheForce) {
    if (std::system("python3 -c 'import sys' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
    for (const std::string link : {"", " --websocket"}) {
        NetworkDevice device(any_port());
        std::string text;
        std::thread script([&] {
            text = output_of("python3 " PLIANT_EXAMPLES
                             "/network_device.py --rate 500 --seconds "
                             "0.3 --frequency 4 --port " +
                             std::to_string(device.port()) + link + " 2>&1");
        });
        double lowest = 0, highest = 0;
        std::string name;
        const auto end = std::chrono::steady_clock::now() + 5s;
        while (std::chrono::steady_clock::now() < end) {
            const DeviceState state = device.read(0);
            lowest = std::min(lowest, state.pose.position.z());
            highest = std::max(highest, state.pose.position.z());
            device.write({.force = Vector3d(0, 0, 1.5)});
            if (name.empty()) name = device.driver_name();
            if (!name.empty() && device.driver_name().empty()) break;
            std::this_thread::sleep_for(1ms);
        }
        script.join();
        EXPECT_EQ(name, "fake spring") << text;
        EXPECT_GT(highest, 0.01) << text;
        EXPECT_LE(lowest, 0) << text;
        EXPECT_GT(device.counts().readings, 50u) << text;
        EXPECT_EQ(device.counts().malformed + device.counts().bad_values, 0u);
        EXPECT_NE(text.find("attached"), std::string::npos) << text;
        EXPECT_NE(text.find("+1.50 N"), std::string::npos) << text;
    }
}

}  // namespace
