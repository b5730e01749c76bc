#pragma once

#include "haptics/back_off.h"
#include "haptics/held_commands.h"
#include "pliant/haptics/haptic_tool.h"

namespace pliant {

struct DevicePortOptions {
    WorkspaceOptions workspace;
    DeviceSafetyOptions safety;
    PassivityOptions passivity;
    double rate = 1000;  ///< of ticks [Hz]
    bool injects_damping = true, backs_off = true, shows_force = true;
};

/// A device at one end, scene loads at the other: reading and mapping, injection, passivity,
/// safety and back-off, which are the same whatever makes the force. Allocates nothing.
class DevicePort {
public:
    /// Throws InputError for options out of range.
    DevicePort(HapticDevice& device, const DevicePortOptions& options);

    /// Reads the handle into tick.device and moves the manipulandum. After readings that jumped or
    /// failed, and when `is_moved` says that the tool was put elsewhere, it begins at `tool`.
    void read(double now, double dt, const Pose& tool, bool is_moved, HapticTick& tick) noexcept;
    [[nodiscard]] const Pose& manipulandum() const noexcept { return map_.manipulandum(); }
    /// Of the manipulandum, smoothed; zero while it does not follow the handle.
    [[nodiscard]] Twist velocity() const noexcept;

    /// Shows `fade` of tick.coupling and of the damping `injection` [N s/m], which acts in contact:
    /// writes tick.command. Storage in scene units. What fades is no spring any more: the account
    /// of energy begins anew after it.
    void show(double injection, const PortStorage& storage, double fade, double now,
              HapticTick& tick) noexcept;
    /// Looks for limit cycles in what was written; true: gain_scale() changed.
    bool calm(double dt, HapticTick& tick) noexcept;
    [[nodiscard]] double gain_scale() const noexcept {
        return options_.backs_off ? back_off_.gain_scale() : 1;
    }
    /// Limits of oscillation for a spring of the scene, docs/haptics.md eq. (24).
    void set_oscillation_limits(double stiffness, double angular_stiffness) noexcept;

    /// No force, whatever the device holds.
    void silence(HapticTick& tick) noexcept;
    void show_force(bool is_on) noexcept { options_.shows_force = is_on; }
    [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }
    [[nodiscard]] double scale() const noexcept { return map_.scale(); }
    [[nodiscard]] DeviceSafety& safety() noexcept { return safety_; }
    [[nodiscard]] const PassivityPort& port() const noexcept { return port_; }
    void reset() noexcept;

private:
    [[nodiscard]] bool is_rendering() const noexcept;
    void switch_output(bool is_on) noexcept;

    HapticDevice& device_;
    DevicePortOptions options_;
    WorkspaceMap map_;
    DeviceSafety safety_;
    PassivityPort port_;
    BackOff back_off_;
    HeldCommands held_;
    Pose handle_;         ///< last good reading
    Twist velocity_;      ///< of the handle, filtered
    Twist moving_;        ///< what it has beyond steps of the encoders
    double age_ = 0;      ///< of the last good reading [s]
    double step_ = 0;     ///< of this tick [s]
    double contact_ = 0;  ///< share of the injected damping
    bool is_lost_ = true, has_output_ = false;
};

}  // namespace pliant
