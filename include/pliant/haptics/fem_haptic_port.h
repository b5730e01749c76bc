#pragma once

#include "pliant/haptics/fem_haptic_link.h"
#include "pliant/haptics/haptic_tool.h"

#include <memory>

namespace pliant {

struct FemHapticPortOptions {
    WorkspaceOptions workspace;
    DeviceSafetyOptions safety;
    PassivityOptions passivity;
    StepInterpolationOptions steps;
    double rate = 1000;           ///< of ticks [Hz]
    double answer_time = 0;       ///< see CouplingScene; bounds what back-off leaves [s]
    bool injects_damping = true;  ///< −b_inj v while in contact
    bool backs_off = true;        ///< lower force when it oscillates
    bool shows_force = true;      ///< false: feedback off
};

/// The device's end of haptics with full FEM bodies: reads the device at the haptic rate, tells the
/// simulator where the hand is, and shows the force of its steps, interpolated one step late;
/// docs/haptics.md section "Full FEM bodies". When the simulator stops, the force fades, and comes
/// back with it. One thread at a time, another one than the simulator's or the same; tick()
/// allocates nothing. Device and link must outlive it.
class FemHapticPort {
public:
    /// Of `gains`: springs of a dynamic tool, clamps of what is shown and damping injection.
    /// Throws InputError for gains and options out of range.
    FemHapticPort(HapticDevice& device, FemHapticLink& link, const CouplingGains& gains,
                  const FemHapticPortOptions& options = {});
    ~FemHapticPort();

    /// `now` on the clock that the simulator steps by. Of the result, `tool` is the frame at the
    /// grasp point as it is shown. InputIgnored and no force for times that are not finite or no
    /// time.
    const HapticTick& tick(double now, double dt) noexcept;
    [[nodiscard]] const HapticTick& last() const noexcept;
    [[nodiscard]] const StepInterpolation& steps() const noexcept;  ///< lag, lateness, watchdog
    [[nodiscard]] const CouplingGains& gains() const noexcept;
    /// Kept in range; what is not finite is ignored.
    void set_gains(const CouplingGains& gains) noexcept;
    void show_force(bool is_on) noexcept;
    void set_back_off(bool is_on) noexcept;
    void set_passivity_control(bool is_on) noexcept;
    [[nodiscard]] DeviceSafety& safety() noexcept;
    [[nodiscard]] const PassivityPort& port() const noexcept;
    /// What watchdog, safety, back-off and damping do now, in a sentence for the page; empty:
    /// nothing.
    [[nodiscard]] const char* notice() const noexcept;
    void reset() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
