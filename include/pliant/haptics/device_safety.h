#pragma once

#include "pliant/haptics/device.h"

namespace pliant {

struct DeviceSafetyOptions {
    double ramp_time = 0.5;     ///< from zero to full output after enabling [s]
    double force_rate = 3000;   ///< largest change of the force [N/s]; of the torque in proportion
    double stale_time = 0.02;   ///< without new data before the output ramps to zero [s]
    double stale_ramp = 0.05;   ///< [s]
    double impulse_time = 0.1;  ///< window of the impulse limit [s]
    double max_impulse = 0.5;   ///< change of ∫F dt within it while the hand yields [N s]
    double max_jump = 0.05;     ///< of the pose between two readings, else the output drops [m]
    double thermal_time = 20;   ///< time constant of the motors [s]
    int deadman_button = -1;    ///< must be down for any output; −1: none
};

/// Why an output differs from what was asked for; several may hold.
struct DeviceSafetyReport {
    bool is_clamped = false;      ///< at the largest force or torque
    bool is_slewed = false;       ///< by the rate
    bool is_ramping = false;      ///< after enabling
    bool is_stale = false;        ///< old data: zero or on the way to it
    bool is_released = false;     ///< deadman open
    bool is_hot = false;          ///< limited to the continuous force
    bool has_jumped = false;      ///< the pose jumped
    bool was_not_finite = false;  ///< asked for NaN: zero
    double temperature = 0;       ///< 0 cold, 1 the limit
};

/// Between the loop and every device: whatever is asked for, what comes out is finite, within the
/// limits of the device, changes no faster than allowed and vanishes when data are old;
/// docs/haptics.md eq. (1)–(4). One thread at a time; allocates nothing.
class DeviceSafety {
public:
    /// Throws InputError for options out of range.
    explicit DeviceSafety(const DeviceCapabilities& capabilities,
                          const DeviceSafetyOptions& options = {});

    void enable() noexcept;   ///< begins the ramp
    void disable() noexcept;  ///< output ramps to zero
    [[nodiscard]] bool is_enabled() const noexcept;

    /// The output for `wanted` at `now`, after the reading `state`. Call it once per tick; a gap
    /// between calls counts as stale data.
    [[nodiscard]] DeviceCommand filter(const DeviceCommand& wanted, const DeviceState& state,
                                       double now) noexcept;
    [[nodiscard]] const DeviceSafetyReport& report() const noexcept;
    void reset() noexcept;

private:
    DeviceCapabilities capabilities_;
    DeviceSafetyOptions options_;
    DeviceSafetyReport report_;
    DeviceCommand last_;
    Pose last_pose_;
    double last_time_ = 0, data_time_ = 0, gain_ = 0, heat_ = 0, impulse_ = 0;
    bool is_enabled_ = false, has_last_ = false;
};

}  // namespace pliant
