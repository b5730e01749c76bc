#include "haptics/network_message.h"

#include "core/numbers.h"
#include "fake_driver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace pliant;
using Eigen::Vector3d;

DriverFault fault_of(std::string_view bytes) {
    const DriverMessage message = parse_driver_message(test::as_byte_span(bytes));
    EXPECT_TRUE(std::holds_alternative<DriverFault>(message));
    return std::holds_alternative<DriverFault>(message) ? std::get<DriverFault>(message)
                                                        : DriverFault{-1};
}

DeviceState sample_reading() {
    DeviceState state;
    state.time = 12.5;
    state.pose = {Vector3d(0.01, -0.02, 0.03), rotation_from_vector({0.1, 0.2, -0.3})};
    state.twist = {Vector3d(1, 2, 3), Vector3d(4, 5, 6)};
    state.gripper = 0.25;
    state.buttons = 0x80000005u;
    return state;
}

TEST(NetworkMessage, ReadsWhatADriverWrote) {
    DeviceState state = sample_reading();
    for (const DeviceStatus status : {DeviceStatus::Ok, DeviceStatus::Disabled}) {
        state.status = status;
        const std::string bytes = test::reading_bytes(7, 9, state);
        ASSERT_EQ(bytes.size(), kDriverStateBytes);
        const auto message = parse_driver_message(test::as_byte_span(bytes));
        const auto& reading = std::get<DriverReading>(message);
        EXPECT_EQ(reading.tag.session, 7u);
        EXPECT_EQ(reading.tag.sequence, 9u);
        EXPECT_EQ(reading.state.time, state.time);
        EXPECT_EQ(reading.state.pose.position, state.pose.position);
        EXPECT_TRUE(reading.state.pose.rotation.isApprox(state.pose.rotation, 1e-15));
        EXPECT_EQ(reading.state.twist.linear, state.twist.linear);
        EXPECT_EQ(reading.state.twist.angular, state.twist.angular);
        EXPECT_EQ(reading.state.gripper, state.gripper);
        EXPECT_EQ(reading.state.buttons, state.buttons);
        EXPECT_EQ(reading.state.status, status);
    }
}

TEST(NetworkMessage, ReadsCapabilities) {
    DeviceCapabilities can;
    can.name = "spring \x01\xff";
    can.max_force = 4;
    can.continuous_force = 1.5;
    can.angle_step = 3e-4;
    can.is_actuated = {true, false, true, false, false, true};
    const std::string bytes = test::hello_bytes(3, can);
    ASSERT_EQ(bytes.size(), kDriverHelloBytes);
    const auto message = parse_driver_message(test::as_byte_span(bytes));
    const DeviceCapabilities& read = std::get<DriverHello>(message).capabilities;
    EXPECT_EQ(read.name, "spring ??");
    EXPECT_EQ(read.max_force, 4);
    EXPECT_EQ(read.continuous_force, 1.5);
    EXPECT_EQ(read.workspace, can.workspace);
    EXPECT_EQ(read.angle_step, 3e-4);
    EXPECT_EQ(read.is_actuated, can.is_actuated);
    EXPECT_EQ(read.is_sensed, can.is_sensed);
}

TEST(NetworkMessage, SaysWhyItRefuses) {
    const std::string good = test::reading_bytes(1, 1, sample_reading());
    EXPECT_EQ(fault_of(""), DriverFault::Malformed);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\n\r\n"), DriverFault::Malformed);
    EXPECT_EQ(fault_of(good.substr(0, 100)), DriverFault::Malformed);
    EXPECT_EQ(fault_of(good + "x"), DriverFault::Malformed);
    std::string other_size = good;
    other_size[6] = 100;
    EXPECT_EQ(fault_of(other_size), DriverFault::Malformed);
    EXPECT_EQ(fault_of(test::hello_bytes(1, {}, 2)), DriverFault::WrongVersion);
    EXPECT_EQ(fault_of(test::driver_header(77, 16, 1, 1)), DriverFault::Malformed);
    EXPECT_EQ(fault_of(test::driver_header(1, 16, 1, 1)), DriverFault::Malformed);
    DeviceCapabilities weak;
    weak.max_force = 0;
    EXPECT_EQ(fault_of(test::hello_bytes(1, weak)), DriverFault::BadCapabilities);
}

/// The sample with one number in place of that at an offset.
std::string reading_with(std::size_t at, double number) {
    std::string bytes = test::reading_bytes(1, 1, sample_reading());
    std::memcpy(bytes.data() + at, &number, sizeof number);
    return bytes;
}

TEST(NetworkMessage, WithoutATimeOrAPlaceItIsRefused) {
    const std::string good = test::reading_bytes(1, 1, sample_reading());
    for (std::size_t at = 16; at < 48; at += 8)
        for (const double bad : {kNan, kInfinity, -kInfinity})
            EXPECT_EQ(fault_of(reading_with(at, bad)), DriverFault::BadReading) << at;
    DeviceState far = sample_reading();
    far.pose.position.y() = 101;
    EXPECT_EQ(fault_of(test::reading_bytes(1, 1, far)), DriverFault::BadReading);
    std::string status = good;
    status[140] = 3;
    EXPECT_EQ(fault_of(status), DriverFault::BadReading);
}

TEST(NetworkMessage, GoodPartsAreKept) {
    const auto reading_of = [](const std::string& bytes) {
        return std::get<DriverReading>(parse_driver_message(test::as_byte_span(bytes)));
    };
    // rotation, velocities, gripper
    for (std::size_t at = 48; at < 136; at += 8)
        for (const double bad : {kNan, kInfinity, -kInfinity}) {
            const DriverReading reading = reading_of(reading_with(at, bad));
            EXPECT_FALSE(reading.is_whole) << at;
            EXPECT_EQ(reading.state.pose.position, sample_reading().pose.position) << at;
        }
    DeviceState no_turn = sample_reading();
    no_turn.pose.rotation.coeffs() *= 1.02;
    EXPECT_FALSE(reading_of(test::reading_bytes(1, 1, no_turn)).is_whole);
    const std::string good = test::reading_bytes(1, 1, sample_reading());
    EXPECT_TRUE(reading_of(good).is_whole);
    std::string lost = good;
    lost[140] = 2;
    EXPECT_EQ(reading_of(lost).state.status, DeviceStatus::Uncalibrated);
}

TEST(NetworkMessage, CommandsAndAnswersHaveTheirPlaces) {
    std::string bytes = "old";
    const DeviceCommand command{Vector3d(1, 2, 3), Vector3d(4, 5, 6), 7};
    write_driver_command(bytes, {11, 12}, 13, 2.5, command);
    ASSERT_EQ(bytes.size(), kDriverCommandBytes);
    EXPECT_EQ(bytes.substr(0, 4), "PLHD");
    EXPECT_EQ(bytes.substr(4, 4), std::string("\x01\x03\x58\x00", 4));
    EXPECT_EQ(test::get<std::uint32_t>(bytes, 8), 11u);
    EXPECT_EQ(test::get<std::uint32_t>(bytes, 12), 12u);
    EXPECT_EQ(test::get<double>(bytes, 16), 2.5);
    EXPECT_EQ(test::reply_force(bytes), command.force);
    EXPECT_EQ(test::reply_torque(bytes), command.torque);
    EXPECT_EQ(test::get<double>(bytes, 72), 7);
    EXPECT_EQ(test::get<std::uint32_t>(bytes, 80), 13u);
    write_driver_answer(bytes, {1, 2}, DriverAnswer::Busy);
    ASSERT_EQ(bytes.size(), kDriverAnswerBytes);
    EXPECT_EQ(test::answer_code(bytes), 1);
}

TEST(NetworkMessage, RandomChangesNeverGiveNumbersThatCannotBe) {
    std::mt19937 random(5);
    const std::string samples[] = {test::reading_bytes(1, 1, sample_reading()),
                                   test::hello_bytes(1), test::bye_bytes(1)};
    int num_taken = 0;
    for (int i = 0; i < 30000; ++i) {
        std::string bytes = samples[i % 3];
        for (int k = static_cast<int>(random() % 4); k > 0; --k)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        if (random() % 4 == 0) bytes.resize(random() % 200);
        const auto message = parse_driver_message(test::as_byte_span(bytes));
        if (const auto* reading = std::get_if<DriverReading>(&message)) {
            ++num_taken;
            ASSERT_TRUE(reading->state.pose.position.allFinite());
            if (!reading->is_whole) continue;
            ASSERT_NEAR(reading->state.pose.rotation.norm(), 1, 0.01);
            ASSERT_TRUE(reading->state.twist.linear.allFinite());
        }
        if (const auto* hello = std::get_if<DriverHello>(&message)) {
            ASSERT_NO_THROW(check(hello->capabilities));
        }
    }
    EXPECT_GT(num_taken, 1000);
}

}  // namespace
