#pragma once

#include "pliant/haptics/device.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace pliant {

struct HaplyReading {
    std::string device_id;
    DeviceState state;     ///< time is zero: the service does not say
    bool is_whole = true;  ///< false: a rotation that is none, or a velocity beyond any device
    std::optional<bool> is_calibrated;  ///< none: the message does not say
};
enum class HaplyFault {
    Malformed,  ///< no JSON, or fields of other types
    BadValue,   ///< a place beyond any device
    Absent,     ///< no Inverse3, or none of that name
};

/// One message of the Haply Inverse Service. `device_id` empty: the first Inverse3. Any text.
[[nodiscard]] std::variant<HaplyFault, HaplyReading> parse_haply_message(
    std::string_view text, const std::string& device_id);

/// Asks for a force [N], and for the next state.
[[nodiscard]] std::string haply_force_message(const std::string& device_id,
                                              const Eigen::Vector3d& force);
/// Asks which devices are there.
[[nodiscard]] std::string haply_inventory_message();

}  // namespace pliant
