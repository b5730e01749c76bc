#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "haptics/driver_session.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

/// Any datagrams, with a byte of length before each, leave a session whose readings are finite.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    pliant::DeviceExchange exchange({}, 1);
    pliant::DriverSession session(exchange, 1);
    auto now = pliant::DeviceExchange::Clock::now();
    const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
    for (std::size_t at = 0; at < size;) {
        const std::size_t length = std::min<std::size_t>(data[at], size - at - 1);
        now += std::chrono::milliseconds(1);
        const auto reply = session.receive("driver", all.subspan(at + 1, length), now);
        require(reply.size() <= pliant::kDriverCommandBytes);
        const pliant::DeviceState state = exchange.read(0);
        require(pliant::is_finite(state.pose) && state.twist.linear.allFinite() &&
                state.twist.angular.allFinite());
        require(state.gripper >= 0 && state.gripper <= 1);
        at += 1 + length;
    }
    return 0;
}
