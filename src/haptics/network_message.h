#pragma once

#include "pliant/haptics/device.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

/// Messages between a driver and NetworkDevice, docs/haptics.md section "Network": little-endian,
/// without padding, each of a fixed size.
namespace pliant {

inline constexpr std::uint8_t kDriverProtocolVersion = 1;
inline constexpr std::size_t kDriverHelloBytes = 160, kDriverStateBytes = 144, kDriverByeBytes = 16,
                             kDriverCommandBytes = 88, kDriverAnswerBytes = 24;

enum class DriverMessageKind : std::uint8_t { Hello = 1, State, Command, Answer, Bye };

/// In every message: of the driver's run, and growing within it.
struct DriverTag {
    std::uint32_t session = 0, sequence = 0;
};

struct DriverHello {
    DriverTag tag;
    DeviceCapabilities capabilities;
};
struct DriverReading {
    DriverTag tag;
    DeviceState state;     ///< time on the driver's clock
    bool is_whole = true;  ///< false: something beside its place is not finite, or no rotation
};
struct DriverBye {
    DriverTag tag;
};
enum class DriverFault {
    Malformed,     ///< not ours, or of the wrong size
    WrongVersion,  ///< of another protocol version
    BadReading,    ///< numbers that are not finite or cannot be
    BadCapabilities,
};
using DriverMessage = std::variant<DriverFault, DriverHello, DriverReading, DriverBye>;

/// Any bytes. Capabilities have passed check(), places are finite.
[[nodiscard]] DriverMessage parse_driver_message(std::span<const std::byte> bytes);

/// Why a driver is answered by something else than a command.
enum class DriverAnswer : std::uint32_t {
    Accepted,      ///< to a hello
    Busy,          ///< another driver is attached
    WrongVersion,  ///< the answer's header says which one is spoken here
    BadCapabilities,
    NotAttached,  ///< say hello first, or again
};
/// Both replace the contents of `bytes`.
void write_driver_answer(std::string& bytes, DriverTag tag, DriverAnswer answer);
/// `answered` is the newest reading, `time` its time on the driver's clock.
void write_driver_command(std::string& bytes, DriverTag tag, std::uint32_t answered, double time,
                          const DeviceCommand& command);

}  // namespace pliant
