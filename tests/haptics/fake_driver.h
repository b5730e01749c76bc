#pragma once

#include "haptics/network_message.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <chrono>
#include <cstring>
#include <string>

/// A driver's side of the protocol, written from its description and not with the library.
namespace pliant::test {

/// Codes of answers.
inline constexpr int kAccepted = 0, kBusy = 1, kWrongVersion = 2, kBadCapabilities = 3,
                     kNotAttached = 4;

/// Appends as this machine stores it: little-endian.
template <class T>
void put(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T get(std::string_view bytes, std::size_t at) {
    T value{};
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

inline std::string driver_header(int kind, std::size_t size, std::uint32_t session,
                                 std::uint32_t sequence, int version = 1) {
    std::string bytes = "PLHD";
    put(bytes, static_cast<std::uint8_t>(version));
    put(bytes, static_cast<std::uint8_t>(kind));
    put(bytes, static_cast<std::uint16_t>(size));
    put(bytes, session);
    put(bytes, sequence);
    return bytes;
}

inline std::string hello_bytes(std::uint32_t session, const DeviceCapabilities& can = {},
                               int version = 1) {
    std::string bytes = driver_header(1, 160, session, 0, version);
    std::string name = can.name;
    name.resize(32);
    bytes += name;
    for (const double x : can.workspace) put(bytes, x);
    for (const double x : {can.max_force, can.max_torque, can.continuous_force, can.max_stiffness,
                           can.max_angular_stiffness, can.damping, can.angular_damping, can.delay,
                           can.position_step, can.angle_step})
        put(bytes, x);
    std::uint32_t sensed = 0, actuated = 0;
    for (std::size_t i = 0; i < 6; ++i) {
        sensed |= std::uint32_t{can.is_sensed[i]} << i;
        actuated |= std::uint32_t{can.is_actuated[i]} << i;
    }
    put(bytes, sensed);
    put(bytes, actuated);
    return bytes;
}

inline std::string reading_bytes(std::uint32_t session, std::uint32_t sequence,
                                 const DeviceState& state) {
    std::string bytes = driver_header(2, 144, session, sequence);
    put(bytes, state.time);
    for (const double x : state.pose.position) put(bytes, x);
    const Quaternion& q = state.pose.rotation;
    for (const double x : {q.w(), q.x(), q.y(), q.z()}) put(bytes, x);
    for (const double x : state.twist.linear) put(bytes, x);
    for (const double x : state.twist.angular) put(bytes, x);
    put(bytes, state.gripper);
    put(bytes, state.buttons);
    put(bytes, std::uint32_t{state.status == DeviceStatus::Disabled ? 1u : 0u});
    return bytes;
}

inline std::string bye_bytes(std::uint32_t session) { return driver_header(5, 16, session, 0); }

inline std::span<const std::byte> as_byte_span(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// A driver's clock that goes as ours does.
inline double steady_seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

/// 3: a command, 4: an answer, 0: nothing.
inline int reply_kind(std::string_view bytes) { return get<std::uint8_t>(bytes, 5); }
inline int answer_code(std::string_view bytes) {
    return reply_kind(bytes) == 4 ? static_cast<int>(get<std::uint32_t>(bytes, 16)) : -1;
}
inline Eigen::Vector3d reply_force(std::string_view bytes) {
    return {get<double>(bytes, 24), get<double>(bytes, 32), get<double>(bytes, 40)};
}
inline Eigen::Vector3d reply_torque(std::string_view bytes) {
    return {get<double>(bytes, 48), get<double>(bytes, 56), get<double>(bytes, 64)};
}

/// A socket that sends datagrams to a port of this machine and takes the answers.
class FakeDriver {
public:
    explicit FakeDriver(int port) : descriptor_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_port = htons(static_cast<std::uint16_t>(port));
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        static_cast<void>(
            ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&place), sizeof place));
    }
    ~FakeDriver() { ::close(descriptor_); }
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;

    void send(std::string_view bytes) const {
        static_cast<void>(::send(descriptor_, bytes.data(), bytes.size(), 0));
    }
    /// Empty: none came in time.
    [[nodiscard]] std::string receive(int milliseconds = 2000) const {
        pollfd waiting{descriptor_, POLLIN, 0};
        if (::poll(&waiting, 1, milliseconds) <= 0) return {};
        std::string bytes(2048, '\0');
        const ssize_t size = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
        bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return bytes;
    }
    [[nodiscard]] std::string ask(std::string_view bytes, int milliseconds = 2000) const {
        send(bytes);
        return receive(milliseconds);
    }

private:
    int descriptor_;
};

}  // namespace pliant::test
