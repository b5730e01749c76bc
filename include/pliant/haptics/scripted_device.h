#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/haptics/device.h"

namespace pliant {

/// A handle that follows a path whatever force it is shown: open loop. Deterministic.
class ScriptedDevice final : public HapticDevice {
public:
    /// `motion` is where the handle is at a time of the loop, in axes of the device. Throws
    /// InputError for capabilities out of range.
    explicit ScriptedDevice(const ScriptedMotion& motion,
                            const DeviceCapabilities& capabilities = {});

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    /// Stale at the time of the last call, and the last one for a time that is not finite.
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override { shown_ = command; }
    /// What a hand would feel: the last command.
    [[nodiscard]] const DeviceCommand& shown() const noexcept { return shown_; }
    void set_buttons(std::uint32_t buttons) noexcept { state_.buttons = buttons; }

private:
    ScriptedMotion motion_;
    DeviceCapabilities capabilities_;
    DeviceState state_;
    DeviceCommand shown_;
    bool has_state_ = false;
};

}  // namespace pliant
