#pragma once

#include "pliant/haptics/device.h"

namespace pliant {

struct DeviceSafetyOptions {
    double ramp_time = 0.5;     ///< from zero to full output after enabling [s]
    double force_rate = 3000;   ///< largest change of the force [N/s]; of the torque in proportion
    double stale_time = 0.02;   ///< without new data before the output ramps to zero [s]
    double stale_ramp = 0.05;   ///< [s]
    double impulse_time = 0.1;  ///< time constant of the impulse limit [s]
    double max_impulse = 0.5;  ///< recent ∫F dt while the hand yields [N s]; ∫T dt in proportion
    double max_jump = 0.05;    ///< of the pose between two readings, else the output drops [m]
    double max_turn = 0.5;     ///< the same of its rotation [rad]
    double max_speed = 3;      ///< of readings, else the output drops: no hand is faster [m/s]
    double max_spin = 30;      ///< the same of their turns [rad/s]
    double thermal_time = 20;  ///< time constant of the motors [s]
    int deadman_button = -1;   ///< must be down for any output; −1: none
};

/// Why an output differs from what was asked for; several may hold.
struct DeviceSafetyReport {
    bool is_clamped = false;       ///< at the largest force or torque
    bool is_slewed = false;        ///< by the rate
    bool is_ramping = false;       ///< after enabling
    bool is_stale = false;         ///< old data, or a clock that jumped: zero or on the way to it
    bool is_released = false;      ///< deadman open
    bool is_hot = false;           ///< limited by the temperature, down to the continuous force
    bool is_softened = false;      ///< limited by the impulse on a hand that yields
    bool has_jumped = false;       ///< the pose jumped
    bool is_too_fast = false;      ///< no hand moves or turns like this
    bool was_not_finite = false;   ///< asked for NaN: zero
    double temperature = 0;        ///< 0 cold, 1 the limit
    std::uint64_t num_faults = 0;  ///< readings that jumped or were too fast, since the reset
};

/// Between the loop and every device: whatever is asked for, what comes out is finite, within the
/// limits of the device, changes no faster than allowed and vanishes when data are old;
/// docs/haptics.md eq. (1)–(4). One thread at a time; allocates nothing.
class DeviceSafety {
public:
    /// Throws InputError for options out of range.
    explicit DeviceSafety(const DeviceCapabilities& capabilities,
                          const DeviceSafetyOptions& options = {});

    void enable() noexcept;   ///< begins the ramp; no effect if enabled already
    void disable() noexcept;  ///< output ramps to zero
    [[nodiscard]] bool is_enabled() const noexcept { return is_enabled_; }

    /// Looks at the reading of a tick before there is a force for it, so that nothing follows a
    /// fault: true if it jumped or is too fast for a hand. filter() of this tick then needs the
    /// same `state` and `now`, and does not look again.
    [[nodiscard]] bool judge(const DeviceState& state, double now) noexcept;
    /// The output for `wanted` at `now`, after the reading `state`. Call it once per tick; a gap
    /// between calls counts as stale data.
    [[nodiscard]] DeviceCommand filter(const DeviceCommand& wanted, const DeviceState& state,
                                       double now) noexcept;
    [[nodiscard]] const DeviceSafetyReport& report() const noexcept { return report_; }
    /// As constructed: disabled, cold, no output.
    void reset() noexcept;

private:
    struct Limits {
        double force, torque;
    };
    /// How the hand gives way, and the recent impulse meanwhile: of forces, or of torques.
    struct Yielding {
        Eigen::Vector3d velocity = Eigen::Vector3d::Zero();  ///< smoothed
        double impulse = 0;
    };
    /// Ways beyond what a hand can do, of places or of turns.
    struct Pace {
        double beyond = 0;  ///< of late [m], [rad]
        /// False: too fast. `slack` is what stamps may be wrong by, in ways.
        bool allows(double way, double interval, double most, double slack) noexcept;
    };
    /// The two ends of the way between two readings.
    struct Way {
        double interval;  ///< [s]
        double shift, turn;
        bool has_turn;  ///< false: one of its ends has no rotation
    };
    /// What judge() found of the reading of this tick.
    struct Judgement {
        double dt = 0;  ///< since the last call [s]
        bool is_clock_good = true, has_jumped = false, is_too_fast = false;
    };
    void watch_reading(const DeviceState& state, double now) noexcept;
    [[nodiscard]] bool is_too_fast(const DeviceState& state, const Way& way) noexcept;
    void update_gain(const DeviceState& state, bool is_clock_good, double dt) noexcept;
    [[nodiscard]] DeviceCommand admissible(const DeviceCommand& wanted) noexcept;
    [[nodiscard]] Limits thermal_limits(double dt) noexcept;
    /// `load` so that the impulse of it stays below `most`; `last` was held for dt. `slowest`: of a
    /// hand that yields.
    [[nodiscard]] Eigen::Vector3d softened(const Eigen::Vector3d& load, const Eigen::Vector3d& last,
                                           double slowest, double most, double dt,
                                           Yielding& hand) noexcept;
    void limit_impulses(DeviceCommand& output, double dt) noexcept;

    DeviceCapabilities capabilities_;
    DeviceSafetyOptions options_;
    DeviceSafetyReport report_;
    DeviceCommand last_;
    Pose last_pose_;
    Yielding moving_, turning_;
    Judgement judged_;
    bool is_judged_ = false;            ///< by judge(), for the filter() that comes
    double last_time_ = 0, stamp_ = 0;  ///< of the last call and reading
    double clock_ = 0;                  ///< of the last reading by its device; 0: it has none [s]
    double age_ = 0;                    ///< since data were new [s]
    Pace moving_pace_, turning_pace_;
    std::uint64_t num_faults_ = 0;
    double gain_ = 0, heat_ = 0;
    double turn_gain_ = 1;  ///< of torques, which need to know the rotation
    bool is_enabled_ = false, has_last_ = false, has_pose_ = false, has_rotation_ = true;
    bool is_turn_known_ = true;  ///< last_pose_ has a rotation that was measured
};

}  // namespace pliant
