#pragma once

#include "pliant/core/error.h"
#include "pliant/core/pose.h"

#include <array>
#include <cstdint>

namespace pliant {

/// A tool among full FEM bodies at the end of a step of the simulator. Loads are about the grasp
/// point, in world axes.
struct FemToolState {
    double time = 0;   ///< on the clock that simulator and haptic thread share [s]
    Pose tool;         ///< frame at the grasp point
    Wrench contact;    ///< mean of the contact constraint over the step, on the tool
    double lent = 0;   ///< energy that the tool passed on to the bodies it touches [J]
    double depth = 0;  ///< of the deepest node [m]
    int num_contacts = 0;
    StepStatus status = StepStatus::Ok;
};

/// The newest steps of a simulator, as it publishes them: state i is at states[i % kSize].
struct FemToolSteps {
    static constexpr std::uint64_t kSize = 16;
    std::uint64_t epoch = 0;  ///< counts fresh starts: resets, a clock that ran back
    std::uint64_t count = 0;  ///< states of this epoch so far
    double next = 0;          ///< time of the state that is on its way [s]
    bool is_dynamic = false;  ///< coupling of the tool
    std::array<FemToolState, kSize> states;

    [[nodiscard]] const FemToolState& state(std::uint64_t i) const noexcept {
        return states[i % kSize];
    }
};

struct StepInterpolationOptions {
    double timeout = 0.05;      ///< without the state that is due before the force fades [s]
    double fade_time = 0.05;    ///< to zero [s]
    double return_time = 0.25;  ///< back to full force when the simulator goes on [s]
};

/// From the steps of a simulator, of any length, to any moment: straight lines between states, one
/// step late, so that both ends are known; docs/haptics.md eq. (F1)–(F3). Continuous in time also
/// where states come late: then the last one is held, and the delay is made up for at twice the
/// pace. A watchdog fades the force when they stay away. Allocates nothing.
class StepInterpolation {
public:
    /// Throws InputError for options out of range.
    explicit StepInterpolation(const StepInterpolationOptions& options = {});

    /// What to show at `now`; a time that is not finite or runs back shows what was shown.
    const FemToolState& update(const FemToolSteps& steps, double now) noexcept;

    [[nodiscard]] const FemToolState& shown() const noexcept { return shown_; }
    /// Factor of forces, by the watchdog.
    [[nodiscard]] double gain() const noexcept { return gain_; }
    [[nodiscard]] double lag() const noexcept { return lag_; }  ///< of what is shown [s]
    /// Since a state was due that is not there; 0: none is missing [s].
    [[nodiscard]] double lateness() const noexcept { return lateness_; }
    [[nodiscard]] std::uint64_t num_late() const noexcept { return num_late_; }  ///< updates
    /// Whether the last update began with a fresh start of the simulator, the epoch().
    [[nodiscard]] bool is_anew() const noexcept { return is_anew_; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }  ///< 0: none yet
    void reset() noexcept;

private:
    StepInterpolationOptions options_;
    FemToolState shown_;
    std::uint64_t epoch_ = 0, num_late_ = 0;
    double place_ = 0;  ///< number of the state that is shown, with its fraction
    double last_ = 0;   ///< time of the last update
    double gain_ = 1, lag_ = 0, lateness_ = 0;
    bool has_last_ = false, is_anew_ = false;
};

}  // namespace pliant
