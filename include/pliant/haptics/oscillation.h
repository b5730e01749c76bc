#pragma once

#include "pliant/core/pose.h"

#include <array>
#include <span>
#include <vector>

namespace pliant {

struct OscillationOptions {
    double rate = 1000;          ///< of samples [Hz]
    double cutoff = 15;          ///< of the high-pass [Hz]
    double window = 0.5;         ///< [s]
    double force_limit = 0.03;   ///< [N]; raise to k_dev × encoder step where that is more
    double torque_limit = 1e-3;  ///< [N m]; raise to 2 k_R × angular step where that is more
    double quiet_force = 0.01;   ///< growth below this does not count [N]
};

/// Vector root mean square of what is above the cutoff, of the last whole window and the one
/// before.
struct OscillationLevel {
    double force = 0, last_force = 0;    ///< [N]
    double torque = 0, last_torque = 0;  ///< [N m]
    /// Of all variation in the last window, the part above the cutoff, 0 to 1: motion of the hand
    /// has little of it, an unstable loop much.
    double force_share = 0, torque_share = 0;
};

/// Finds sustained oscillation in commanded forces while the hand holds still: docs/haptics.md eq.
/// (24), second-order Butterworth high-pass per axis. Allocates nothing.
class OscillationMeter {
public:
    /// Throws InputError for options out of range.
    explicit OscillationMeter(const OscillationOptions& options = {});
    /// One sample; the filter starts at rest at the first. What is not finite counts as a sample
    /// of zero and as oscillation.
    void record(const Wrench& commanded) noexcept;
    [[nodiscard]] const OscillationLevel& level() const noexcept { return level_; }
    /// Two windows are full and the criterion fails: one of them is above a limit, or the force
    /// grew by more than a tenth and is above the quiet one.
    [[nodiscard]] bool is_oscillating() const noexcept;
    [[nodiscard]] int num_windows() const noexcept { return num_windows_; }
    [[nodiscard]] const OscillationOptions& options() const noexcept { return options_; }
    /// Other limits from now on, where stiffnesses change; what is not finite or below zero is
    /// ignored.
    void set_limits(double force, double torque) noexcept;
    void reset() noexcept;

private:
    struct Filter {
        double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    };
    void end_window() noexcept;

    OscillationOptions options_;
    OscillationLevel level_;
    std::array<Filter, 6> filters_;
    std::array<double, 5> coefficients_ = {};
    /// Sums of a window.
    struct Sums {
        double passed = 0;  ///< squares of what the filters passed
        Eigen::Vector3d start = Eigen::Vector3d::Zero();
        Eigen::Vector3d change = Eigen::Vector3d::Zero();  ///< from the start
        double squares = 0;                                ///< of changes
    };
    static double share(const Sums& sums, int count) noexcept;
    std::array<Sums, 2> sums_;  ///< of forces and of torques
    int count_ = 0, length_ = 0, num_windows_ = 0;
    bool has_first_ = false;
    bool has_bad_ = false, was_bad_ = false,
         was_bad_before_ = false;  ///< this window, the last two
};

/// Whether levels of a rest, window after window, are of an oscillation that grows, docs/haptics.md
/// eq. (24a): the mean of the last third is a tenth above that of the first two, and above `quiet`.
/// Single windows go up and down with every step of an encoder; a loop that makes energy goes up.
/// At least six windows, or nothing is said to grow; a level that is not finite does.
[[nodiscard]] bool is_growing(std::span<const double> levels,
                              double quiet = OscillationOptions().quiet_force) noexcept;

/// Largest jumps of a force signal against what its neighbourhood explains: where a person would
/// feel a click.
struct ForceJump {
    int sample = 0;   ///< the first one after it
    double size = 0;  ///< [N] beyond the median change of the neighbourhood
};
/// Jumps above `least`, the largest first, at most one in any five neighbours. Samples that are
/// not finite count as zero.
[[nodiscard]] std::vector<ForceJump> find_jumps(std::span<const Eigen::Vector3d> force,
                                                double least, int max_count = 100);

/// One-sided amplitude spectrum of a signal (Hann window, root-sum-square of the axes).
struct ForceSpectrum {
    std::vector<double> frequency;  ///< [Hz], from 0 to half the rate
    std::vector<double> amplitude;  ///< [N]: a sine at one of the frequencies has its own there
};
/// Of any number of samples, in O(n log n). Samples that are not finite count as zero. Throws
/// InputError for a rate that is not positive.
[[nodiscard]] ForceSpectrum force_spectrum(std::span<const Eigen::Vector3d> force, double rate);

}  // namespace pliant
