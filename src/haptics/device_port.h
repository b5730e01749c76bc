#pragma once

#include "haptics/back_off.h"
#include "haptics/held_commands.h"
#include "haptics/rest_filter.h"
#include "pliant/haptics/haptic_tool.h"

namespace pliant {

/// What counts as motion of a handle whose encoders have steps.
enum class HandleMotion {
    Borders,      ///< from one border of two steps to the next, docs/haptics.md eq. (21a)
    BeyondSteps,  ///< of filtered velocities what exceeds one step per sample
};

struct DevicePortOptions {
    WorkspaceOptions workspace;
    DeviceSafetyOptions safety;
    PassivityOptions passivity;
    double rate = 1000;  ///< of ticks [Hz]
    bool injects_damping = true, backs_off = true, shows_force = true;
    HandleMotion motion = HandleMotion::Borders;
    double injection_time = 0;  ///< in which damping follows contact; 0: at once [s]
    double answer_time = 0;     ///< of bodies, docs/haptics.md eq. (F9) [s]
};

/// A device at one end, scene loads at the other: all of a cycle that is the same whatever makes
/// the force, docs/haptics.md section "One cycle". A tick of a tool that owns one is
///
///     if (port.refuses(now, dt, tick)) return;
///     port.read(now, dt, pose, was_moved, tick);    // → port.manipulandum()
///     ...                                           // fills tick.coupling, num_contacts, status
///     port.show(injection, storage, 1, now, tick);  // → tick.command
///     if (port.calm(dt, tick)) ...                  // springs are now gain_scale() of the chosen
///     port.watch_springs(stiffness, angular_stiffness);   // when chosen or lowered
///
/// Allocates nothing after construction. The device must outlive it.
class DevicePort {
public:
    /// Throws InputError for options out of range.
    DevicePort(HapticDevice& device, const DevicePortOptions& options);

    /// True if these are no times: no force then, and tick.status says InputIgnored.
    [[nodiscard]] bool refuses(double now, double dt, HapticTick& tick) noexcept;

    /// Reads the handle into tick.device and moves the manipulandum. With readings that jumped,
    /// were too fast for a hand or come after others that failed, and when `is_moved` says that the
    /// tool was put elsewhere, it begins at `tool`.
    void read(double now, double dt, const Pose& tool, bool is_moved, HapticTick& tick) noexcept;
    [[nodiscard]] const Pose& manipulandum() const noexcept { return map_.manipulandum(); }
    /// Of the manipulandum, smoothed; zero while it does not follow the handle.
    [[nodiscard]] Twist velocity() const noexcept;

    /// Shows `fade` of tick.coupling and of the damping `injection` [N s/m], which acts while
    /// tick.num_contacts > 0: writes tick.command and the energies. Energies of `storage` in scene
    /// units; its force is that of tick.coupling. What fades is no spring any more: the account of
    /// energy begins anew after it. Readings that cannot be used make tick.status InputIgnored.
    void show(double injection, const PortStorage& storage, double fade, double now,
              HapticTick& tick) noexcept;
    /// Looks for limit cycles in what was written; true: gain_scale() or step_scale() changed.
    bool calm(double dt, HapticTick& tick) noexcept;

    /// Part of the chosen springs, and of the steps of a coupling, that back-off leaves.
    [[nodiscard]] double gain_scale() const noexcept {
        return options_.backs_off ? back_off_.gain_scale() : 1;
    }
    [[nodiscard]] double step_scale() const noexcept {
        return options_.backs_off ? back_off_.step_scale() : 1;
    }
    /// Springs beyond what the device is made for were lowered to that.
    [[nodiscard]] bool has_ceiling() const noexcept {
        return options_.backs_off && back_off_.has_ceiling();
    }
    /// Springs of the scene as chosen [N/m, N m/rad]: what oscillates by docs/haptics.md eq. (24)
    /// for what is left of them. Call it when they or gain_scale() change.
    void watch_springs(double stiffness, double angular_stiffness) noexcept;

    /// What stops the force now, and what else works on it, for people; empty: nothing.
    [[nodiscard]] const char* stop_notice() const noexcept;
    [[nodiscard]] const char* help_notice() const noexcept;

    void show_force(bool is_on) noexcept { options_.shows_force = is_on; }
    void set_passivity_control(bool is_on) noexcept { port_.set_control(is_on); }
    void set_back_off(bool is_on) noexcept;
    [[nodiscard]] double scale() const noexcept { return map_.scale(); }
    [[nodiscard]] DeviceSafety& safety() noexcept { return safety_; }
    [[nodiscard]] const PassivityPort& port() const noexcept { return port_; }
    void reset() noexcept;

private:
    void take_turn(const DeviceState& state) noexcept;
    void take_interval(const DeviceState& state) noexcept;
    void follow(const DeviceState& state) noexcept;
    [[nodiscard]] bool is_rendering() const noexcept;
    void name_fault() noexcept;
    void switch_output(bool is_on) noexcept;

    HapticDevice& device_;
    DevicePortOptions options_;
    WorkspaceMap map_;
    DeviceSafety safety_;
    PassivityPort port_;
    BackOff back_off_;
    HeldCommands held_;
    RestFilter rest_;
    DeviceState judged_;                               ///< the reading of this tick for safety_
    Pose handle_;                                      ///< last good reading
    Eigen::Vector3d lag_ = Eigen::Vector3d::Zero();    ///< what is used of it, from it [m]
    Eigen::Vector3d place_ = Eigen::Vector3d::Zero();  ///< of the handle, for sure
    Twist velocity_;                                   ///< of the handle, filtered
    Twist moving_;                                     ///< what of it counts as motion
    double age_ = 0;                                   ///< of the last good reading [s]
    double interval_ = 0;                              ///< between the last two good readings [s]
    double clock_ = 0;                                 ///< of the last good reading [s]
    double step_ = 0;                                  ///< of this tick [s]
    double contact_ = 0;                               ///< share of the injected damping
    bool is_lost_ = true;                              ///< no good reading since
    bool begins_ = true;                               ///< nothing was read since the reset
    bool is_fault_ = false;                            ///< the reading jumped or was too fast
    bool is_turn_known_ = true;                        ///< handle_ has a rotation that was measured
    const char* fault_ = "";                           ///< why the force comes back slowly
    DeviceStatus status_ = DeviceStatus::Disconnected;  ///< of the last reading that was new
    bool has_output_ = false;
};

}  // namespace pliant
