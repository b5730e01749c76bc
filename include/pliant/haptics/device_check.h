#pragma once

#include "pliant/core/tick_histogram.h"
#include "pliant/haptics/coupling_gains.h"
#include "pliant/haptics/device.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// What the person at the device is asked for.
enum class CheckAction { MoveRight, MoveAway, MoveUp, PressButton, HoldLoosely, LetGo };
/// "Move the handle to your right", ...
[[nodiscard]] std::string_view sentence(CheckAction action) noexcept;

struct DeviceCheckOptions {
    double rate = 1000;         ///< of the loop [Hz]
    double push = 0.8;          ///< force of the trials [N]; never more than a tenth of max_force
    double push_time = 0.5;     ///< of one trial, half of it for the ramp [s]
    double answer = 2e-4;       ///< least motion with the force [m]
    double wrong_way = 1e-3;    ///< motion against or across the force that stops all [m]
    double let_go = 0.03;       ///< motion beyond which a trial ends [m]
    double hand_motion = 0.02;  ///< that tells an axis [m]
    double patience = 20;       ///< for a person [s]
};

enum class CheckResult { Passed, Skipped, Failed };
[[nodiscard]] std::string_view to_string(CheckResult result) noexcept;

struct CheckStep {
    std::string name;  ///< readings, axes, button, push, latency, gravity
    CheckResult result = CheckResult::Passed;
    std::string finding;  ///< one sentence
    std::string remedy;   ///< what to change; empty where nothing is to be
};

struct DeviceCheckReport {
    std::vector<CheckStep> steps;     ///< up to the first that failed
    DeviceCapabilities capabilities;  ///< of the device, with the delay that was measured
    double reading_rate = 0;          ///< of new readings [Hz]
    TickHistogram intervals;          ///< between new readings
    std::vector<double> interval_us;  ///< the same, in order [µs]
    double latency = 0;               ///< from a command to the start of motion [s]; 0: unknown
    Eigen::Vector3d weight = Eigen::Vector3d::Zero();  ///< force that nobody asked for [N]
    int button = -1;                                   ///< bit of the one pressed
    CouplingGains gains;                               ///< by rule for `capabilities`

    [[nodiscard]] bool has_passed() const noexcept;
};

/// How a check gets through time and reaches the person.
struct CheckSurroundings {
    /// Waits until `next` [s] and says what time it is then; virtual time: returns `next`. May
    /// throw: the device is set to zero on the way.
    std::function<double(double next)> wait_until;
    /// True: done, or about to be; false: skip what needs it. The output is zero meanwhile.
    std::function<bool(CheckAction)> ask;
};

/// Brings a device up step by step, docs/haptics.md section "Bring-up": readings, axes, button, a
/// gentle push along each axis, round trip, weight, gains. All forces go through DeviceSafety; a
/// handle that moves against or across a push gets zero force in the tick that reads it, and the
/// check ends there. The output is zero when it returns or throws. Throws InputError for options
/// out of range.
[[nodiscard]] DeviceCheckReport check_device(HapticDevice& device,
                                             const CheckSurroundings& surroundings,
                                             const DeviceCheckOptions& options = {});

/// Start of the motion x = a (t − τ)²/2 + noise that a step of force makes, by the line through √x
/// [s]; `step`: of the encoder. Negative: too little motion to tell. docs/haptics.md eq. (27).
[[nodiscard]] double motion_onset(const std::vector<double>& times,
                                  const std::vector<double>& distances, double step);

}  // namespace pliant
