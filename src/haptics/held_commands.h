#pragma once

#include "pliant/haptics/device.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {

/// The last commands, to know which one acted on the hand between the last two readings: written
/// 1 + delay ticks ago.
class HeldCommands {
public:
    explicit HeldCommands(double delay)
        : delay_(static_cast<int>(std::clamp(std::round(delay), 0.0, double{kMaxDelay}))) {}
    void push(const DeviceCommand& command) noexcept {
        next_ = (next_ + 1) % kSize;
        commands_[static_cast<std::size_t>(next_)] = command;
    }
    [[nodiscard]] const DeviceCommand& acting() const noexcept {
        return commands_[static_cast<std::size_t>((next_ + kSize - delay_) % kSize)];
    }
    void clear() noexcept { commands_ = {}; }

private:
    static constexpr int kMaxDelay = 63, kSize = kMaxDelay + 1;
    std::array<DeviceCommand, kSize> commands_ = {};
    int delay_, next_ = 0;
};

}  // namespace pliant
