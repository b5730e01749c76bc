#pragma once

#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/oscillation.h"
#include "pliant/haptics/simulated_device.h"
#include "report.h"

#include <functional>
#include <string>
#include <vector>

namespace pliant::reproduce {

/// A device in a hand.
struct StabilityCase {
    double mass = 0.1, encoder = 2e-5;
    bool is_firm = false;
    [[nodiscard]] DeviceModel device() const;
    [[nodiscard]] HandModel hand() const;
};
/// Masses 0.05 to 0.3 kg, loose and firm, encoders of 20 and 50 µm; two of them if quick.
[[nodiscard]] std::vector<StabilityCase> stability_cases(bool is_quick);
/// The same hands with encoders that hardly step.
[[nodiscard]] std::vector<StabilityCase> fine_encoder_cases(bool is_quick);

/// The lightest and the heaviest of them, with the coarser encoder.
[[nodiscard]] std::vector<StabilityCase> extreme_cases(bool is_quick);

/// What rests of a hand, or of several, were like.
struct StabilityOutcome {
    double force = 0, torque = 0;  ///< largest window while the hand is still [N], [N m]
    double force_limit = 0, torque_limit = 0;
    double held_force = 0;    ///< largest window of long rests [N]
    int num_stops = 0;        ///< times the hand held still
    int num_rests = 0;        ///< of them in contact
    int num_above = 0;        ///< of them with a window above a limit
    int num_grown = 0;        ///< with a second window that is a tenth above the first
    int num_growing = 0;      ///< of them those that grow on, eq. (24a), or get above a limit
    double least_margin = 0;  ///< of W − S [J]
    double depth = 0;         ///< over its bound
    double violations = 0;    ///< ticks beyond it
    double least_gains = 1;   ///< of back-off
    double num_helped = 0;    ///< ticks in which back-off or the passivity controller was at work
    int num_unsaid = 0;       ///< times that back-off was at work and the tool did not say so
    std::string notice;       ///< the last one of the tool
    void add(const StabilityOutcome& other);
};

/// Judges a loop by docs/haptics.md eq. (24) whenever its hand has been still: two windows of half
/// a second, as written there, and longer rests window by window.
class RestJudge {
public:
    /// Stiffnesses at the handle, as by rule.
    RestJudge(const DeviceCapabilities& device, double stiffness, double angular_stiffness,
              double rate);

    /// Every tick; `notice` of the tool where it was asked for, else null.
    void watch(const HapticTick& tick, const char* notice) noexcept;
    /// Ticks of a rest, after begin(); end() judges the first two windows. True: the second had
    /// grown; kHeldOn more, then end_held(), tells whether it grows on.
    static constexpr double kHeldOn = 5;  ///< [s]
    void begin() noexcept;
    void listen(const HapticTick& tick) noexcept;
    [[nodiscard]] bool end() noexcept;
    void end_held() noexcept;
    /// In place of end(): all windows count for held_force only.
    void end_long() noexcept;
    [[nodiscard]] const StabilityOutcome& outcome() const noexcept { return outcome_; }

private:
    StabilityOutcome outcome_;
    OscillationMeter meter_;
    double largest_ = 0;          ///< window since begin() [N]
    std::vector<double> levels_;  ///< windows since begin() [N]
    bool is_above_ = false, has_grown_ = false, has_touched_ = false;
};

/// Rounds of motion and rest, each rest judged at the end of its round, and a long rest at last.
struct RestSchedule {
    double dt = 1e-3;      ///< of ticks [s]
    double round = 5;      ///< [s]
    double judged = 1;     ///< two windows at the end of a round [s]
    double seconds = 60;   ///< of all rounds [s]
    double from = 0;       ///< what ends before is not judged [s]
    double long_rest = 6;  ///< [s]
};
/// `step` makes a tick with the hand where it is at a time, `notice` asks the tool.
[[nodiscard]] StabilityOutcome judge_rests(RestJudge judge, const RestSchedule& schedule,
                                           const std::function<const HapticTick&(double)>& step,
                                           const std::function<const char*()>& notice);

/// What runs of a scene are compared with: the limits of eq. (24) in short and in long rests, in
/// contact at every second stop at least, with no help of back-off and passivity controller, the
/// port's energy and the depth over its bound, if there is one (infinity: none).
[[nodiscard]] std::vector<Table::Column> stability_columns();
[[nodiscard]] std::vector<Cell> stability_row(Section& page, const std::string& scene,
                                              const StabilityOutcome& outcome,
                                              const StabilityOutcome& fine, double depth_bound);

/// Runs with gains that a user set too high, judged where there is help against it, which must say
/// what it did.
[[nodiscard]] std::vector<Table::Column> too_high_columns();
[[nodiscard]] std::vector<Cell> too_high_row(Section& page, const std::string& scene,
                                             const StabilityOutcome& outcome, bool has_help,
                                             double depth_bound);

}  // namespace pliant::reproduce
