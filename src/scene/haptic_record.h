#pragma once

#include "pliant/haptics/haptic_tool.h"

#include <array>
#include <cstdint>
#include <type_traits>

namespace pliant {

/// A HapticTick as bytes that may be copied: all its real numbers in a row, then the others.
struct HapticRecord {
    static constexpr std::size_t kNumbers = 57;
    std::array<double, kNumbers> numbers = {};
    std::uint64_t violations = 0;
    std::uint32_t buttons = 0;
    std::int32_t num_contacts = 0;
    std::uint8_t device_status = 0, status = 0;
    std::array<std::uint8_t, 6> padding = {};
};
static_assert(std::is_trivially_copyable_v<HapticRecord>);

[[nodiscard]] HapticRecord to_record(const HapticTick& tick) noexcept;
/// False, and a tick as by default, for a status that does not exist.
[[nodiscard]] bool from_record(const HapticRecord& record, HapticTick& tick) noexcept;

}  // namespace pliant
