#pragma once

#include "pliant/haptics/device.h"

#include <vector>

namespace pliant {

/// Readings of one rate [Hz] as a loop of another one gets them: poses, twists and grippers between
/// two good readings are interpolated; all else is that of the earlier one, at the age it had, and
/// so are poses before a jump (`max_jump` and `max_turn` of DeviceSafetyOptions).
/// Throws InputError for rates that are a hundred times apart.
[[nodiscard]] std::vector<DeviceState> resample(const std::vector<DeviceState>& states, double from,
                                                double to);

/// Readings of another time, one per call and exactly as they were, whatever the clock says and
/// whatever force is shown: open loop. A loop that is the same gets the same bits.
class RecordedDevice final : public HapticDevice {
public:
    /// Throws InputError for no readings and for capabilities out of range. Readings may be bad:
    /// they were what a device said.
    explicit RecordedDevice(std::vector<DeviceState> states,
                            const DeviceCapabilities& capabilities = {});

    [[nodiscard]] const DeviceCapabilities& capabilities() const noexcept override {
        return capabilities_;
    }
    /// The next reading; after the last one that one again, Disconnected.
    [[nodiscard]] DeviceState read(double now) noexcept override;
    void write(const DeviceCommand& command) noexcept override { shown_ = command; }
    /// What a hand would feel: the last command.
    [[nodiscard]] const DeviceCommand& shown() const noexcept { return shown_; }
    /// The reading that comes next; beyond the last: the end.
    void seek(std::size_t tick) noexcept { next_ = tick < states_.size() ? tick : states_.size(); }
    [[nodiscard]] bool is_at_end() const noexcept { return next_ == states_.size(); }
    /// Of readings whose clock goes on: that of the loop, of `rate` [Hz] with a reading a tick, is
    /// at zero before the next one.
    void set_back_clock(double rate) noexcept { zero_time_ = static_cast<double>(next_) / rate; }

private:
    std::vector<DeviceState> states_;
    DeviceCapabilities capabilities_;
    DeviceCommand shown_;
    std::size_t next_ = 0;
    double zero_time_ = 0;  ///< of the loop on the clock of the readings [s]
};

}  // namespace pliant
