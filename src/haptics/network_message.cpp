#include "haptics/network_message.h"

#include "haptics/pose_rules.h"
#include "pliant/core/error.h"

#include <array>
#include <bit>
#include <cmath>

namespace pliant {
namespace {

constexpr std::array<char, 4> kDriverMagic = {'P', 'L', 'H', 'D'};
constexpr std::size_t kDriverNameBytes = 32;
constexpr double kMostDriverReach = 100;  // as far as a workspace may be [m]

/// Numbers one after the other; the caller knows that there are enough bytes.
class DriverBytes {
public:
    explicit DriverBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class Unsigned>
    [[nodiscard]] Unsigned whole() noexcept {
        Unsigned number = 0;
        for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
            number = static_cast<Unsigned>(
                number | static_cast<Unsigned>(std::to_integer<Unsigned>(bytes_[i]) << (8 * i)));
        bytes_ = bytes_.subspan(sizeof(Unsigned));
        return number;
    }
    [[nodiscard]] double real() noexcept { return std::bit_cast<double>(whole<std::uint64_t>()); }
    [[nodiscard]] Eigen::Vector3d vector() noexcept {
        const double x = real(), y = real(), z = real();
        return {x, y, z};
    }
    [[nodiscard]] std::string text(std::size_t size) {
        std::string text;
        for (const std::byte b : bytes_.first(size)) {
            const char c = std::to_integer<char>(b);
            if (c == 0) break;
            // for terminals and pages: what is not plain is not shown
            text += c >= ' ' && c <= '~' ? c : '?';
        }
        bytes_ = bytes_.subspan(size);
        return text;
    }

private:
    std::span<const std::byte> bytes_;
};

template <class Unsigned>
void append_whole(std::string& bytes, Unsigned number) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
        bytes += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

void append_real(std::string& bytes, double number) {
    append_whole(bytes, std::bit_cast<std::uint64_t>(number));
}

void begin_driver_message(std::string& bytes, DriverMessageKind kind, std::size_t size,
                          DriverTag tag) {
    bytes.assign(kDriverMagic.begin(), kDriverMagic.end());
    append_whole(bytes, kDriverProtocolVersion);
    append_whole(bytes, static_cast<std::uint8_t>(kind));
    append_whole(bytes, static_cast<std::uint16_t>(size));
    append_whole(bytes, tag.session);
    append_whole(bytes, tag.sequence);
}

std::array<bool, 6> axes_of(std::uint32_t bits) {
    std::array<bool, 6> axes{};
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = (bits >> i & 1u) != 0;
    return axes;
}

DriverMessage parse_hello(DriverTag tag, DriverBytes bytes) {
    DriverHello hello{tag, {}};
    DeviceCapabilities& can = hello.capabilities;
    can.name = bytes.text(kDriverNameBytes);
    can.workspace = bytes.vector();
    for (double* const number :
         {&can.max_force, &can.max_torque, &can.continuous_force, &can.max_stiffness,
          &can.max_angular_stiffness, &can.damping, &can.angular_damping, &can.delay,
          &can.position_step, &can.angle_step})
        *number = bytes.real();
    can.is_sensed = axes_of(bytes.whole<std::uint32_t>());
    can.is_actuated = axes_of(bytes.whole<std::uint32_t>());
    try {
        check(can);
    } catch (const InputError&) {
        return DriverFault::BadCapabilities;
    }
    return hello;
}

DriverMessage parse_reading(DriverTag tag, DriverBytes bytes) {
    DriverReading reading{tag, {}};
    DeviceState& state = reading.state;
    state.time = bytes.real();
    state.pose.position = bytes.vector();
    const double w = bytes.real();
    const Eigen::Vector3d v = bytes.vector();
    state.pose.rotation = Quaternion(w, v.x(), v.y(), v.z());
    state.twist.linear = bytes.vector();
    state.twist.angular = bytes.vector();
    state.gripper = bytes.real();
    state.buttons = bytes.whole<std::uint32_t>();
    const auto status = bytes.whole<std::uint32_t>();

    constexpr std::array kStatuses = {DeviceStatus::Ok, DeviceStatus::Disabled,
                                      DeviceStatus::Uncalibrated};
    // without these nothing is left of it
    const bool has_place = std::isfinite(state.time) && state.pose.position.allFinite() &&
                           state.pose.position.cwiseAbs().maxCoeff() <= kMostDriverReach &&
                           status < kStatuses.size();
    if (!has_place) return DriverFault::BadReading;
    reading.is_whole = is_rotation(state.pose.rotation) && state.twist.linear.allFinite() &&
                       state.twist.angular.allFinite() && std::isfinite(state.gripper);
    state.status = kStatuses[status];
    return reading;
}

}  // namespace

DriverMessage parse_driver_message(std::span<const std::byte> bytes) {
    if (bytes.size() < kDriverByeBytes) return DriverFault::Malformed;
    DriverBytes rest(bytes);
    for (const char c : kDriverMagic)
        if (rest.whole<std::uint8_t>() != static_cast<std::uint8_t>(c))
            return DriverFault::Malformed;
    if (rest.whole<std::uint8_t>() != kDriverProtocolVersion) return DriverFault::WrongVersion;
    const auto kind = static_cast<DriverMessageKind>(rest.whole<std::uint8_t>());
    if (rest.whole<std::uint16_t>() != bytes.size()) return DriverFault::Malformed;
    DriverTag tag;
    tag.session = rest.whole<std::uint32_t>();
    tag.sequence = rest.whole<std::uint32_t>();
    if (kind == DriverMessageKind::Hello && bytes.size() == kDriverHelloBytes)
        return parse_hello(tag, rest);
    if (kind == DriverMessageKind::State && bytes.size() == kDriverStateBytes)
        return parse_reading(tag, rest);
    if (kind == DriverMessageKind::Bye && bytes.size() == kDriverByeBytes) return DriverBye{tag};
    return DriverFault::Malformed;
}

void write_driver_answer(std::string& bytes, DriverTag tag, DriverAnswer answer) {
    begin_driver_message(bytes, DriverMessageKind::Answer, kDriverAnswerBytes, tag);
    append_whole(bytes, static_cast<std::uint32_t>(answer));
    append_whole(bytes, std::uint32_t{0});
}

void write_driver_command(std::string& bytes, DriverTag tag, std::uint32_t answered, double time,
                          const DeviceCommand& command) {
    begin_driver_message(bytes, DriverMessageKind::Command, kDriverCommandBytes, tag);
    append_real(bytes, time);
    for (const double f : command.force) append_real(bytes, f);
    for (const double t : command.torque) append_real(bytes, t);
    append_real(bytes, command.gripper);
    append_whole(bytes, answered);
    append_whole(bytes, std::uint32_t{0});
}

}  // namespace pliant
