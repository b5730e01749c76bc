#pragma once

#include "pliant/haptics/device.h"

#include <memory>

namespace pliant {

/// A handle that the program which ticks the loop moves itself: it says where the handle is before
/// a tick and takes the force after it. Shared by that program and the device of the loop, on one
/// thread; allocates nothing.
class ExternalHandle {
public:
    ExternalHandle() noexcept { state_.status = DeviceStatus::Disconnected; }
    /// What the next tick reads; its time is that of the tick. False for a pose or motion that is
    /// not finite: the reading before it stays and grows old.
    bool move(const DeviceState& state) noexcept;
    /// The hand let go or the device is gone: no force, and the tool stays until the next move().
    void disconnect() noexcept;
    [[nodiscard]] const DeviceState& state() const noexcept { return state_; }
    /// What a hand should feel: the last command; zero before the first one.
    [[nodiscard]] const DeviceCommand& shown() const noexcept { return shown_; }

private:
    friend class ExternalDevice;
    DeviceState state_;
    DeviceCommand shown_;
    bool is_new_ = false;
};

/// The device of an ExternalHandle. Disconnected before the first move; a reading is new in one
/// tick and Stale in those after it, so that a program which no longer says where the handle is
/// gets no force after DeviceSafetyOptions::stale_time.
class ExternalDevice final : public HapticDevice {
public:
    /// Throws InputError for no handle and for capabilities out of range.
    explicit ExternalDevice(std::shared_ptr<ExternalHandle> handle,
                            const DeviceCapabilities& capabilities = {});

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    [[nodiscard]] DeviceState read(double now) noexcept override;
    /// Within the capabilities.
    void write(const DeviceCommand& command) noexcept override;

private:
    std::shared_ptr<ExternalHandle> handle_;
    DeviceCapabilities capabilities_;
};

}  // namespace pliant
