#pragma once

#include "pliant/haptics/device.h"

#include <memory>

namespace pliant {

/// A device whose force reaches the hand only while the loop runs in real time: closed it shows
/// none, opened it comes back within half a second. The loop behind it knows nothing of this, so
/// that a recording of its readings says everything. Closed at first.
class GatedDevice final : public HapticDevice {
public:
    /// `rate` of the loop [Hz].
    GatedDevice(std::unique_ptr<HapticDevice> device, double rate)
        : device_(std::move(device)), rise_(1 / (kRamp * rate)) {}

    void open(bool is_open) noexcept {
        if (is_open_ && !is_open) {
            gain_ = 0;
            device_->write({});
        }
        is_open_ = is_open;
    }

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return device_->capabilities();
    }
    [[nodiscard]] DeviceState read(double now) noexcept override { return device_->read(now); }
    void write(const DeviceCommand& command) noexcept override {
        if (!is_open_) return;
        gain_ = gain_ + rise_ < 1 ? gain_ + rise_ : 1;
        device_->write({gain_ * command.force, gain_ * command.torque, gain_ * command.gripper});
    }
    [[nodiscard]] const char* remedy() const noexcept override { return device_->remedy(); }

private:
    static constexpr double kRamp = 0.5;  // [s]
    std::unique_ptr<HapticDevice> device_;
    double rise_, gain_ = 0;
    bool is_open_ = false;
};

}  // namespace pliant
