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
    double torque_limit = 1e-3;  ///< [N m]
    double quiet_force = 0.01;   ///< growth below this does not count [N]
};

/// Vector root mean square of what is above the cutoff, of the last whole window and the one
/// before.
struct OscillationLevel {
    double force = 0, last_force = 0;    ///< [N]
    double torque = 0, last_torque = 0;  ///< [N m]
};

/// Finds sustained oscillation in commanded forces while the hand holds still: docs/haptics.md eq.
/// (24), second-order Butterworth high-pass per axis. Allocates nothing.
class OscillationMeter {
public:
    /// Throws InputError for options out of range.
    explicit OscillationMeter(const OscillationOptions& options = {});
    /// One sample; what is not finite counts as a sample of zero and as oscillation.
    void record(const Wrench& commanded) noexcept;
    [[nodiscard]] const OscillationLevel& level() const noexcept { return level_; }
    /// Two windows are full and the criterion fails.
    [[nodiscard]] bool is_oscillating() const noexcept;
    [[nodiscard]] int num_windows() const noexcept { return num_windows_; }
    void reset() noexcept;

private:
    struct Filter {
        double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    };
    OscillationOptions options_;
    OscillationLevel level_;
    std::array<Filter, 6> filters_;
    std::array<double, 5> coefficients_ = {};
    double sum_force_ = 0, sum_torque_ = 0;
    int count_ = 0, length_ = 0, num_windows_ = 0;
    bool has_bad_ = false;
};

/// Largest jumps of a force signal against what its neighbourhood explains: where a person would
/// feel a click.
struct ForceJump {
    int sample = 0;
    double size = 0;  ///< [N] beyond the median change of the neighbourhood
};
[[nodiscard]] std::vector<ForceJump> find_jumps(std::span<const Eigen::Vector3d> force,
                                                double least, int max_count = 100);

/// One-sided amplitude spectrum of a signal (Hann window, root-sum-square of the axes).
struct ForceSpectrum {
    std::vector<double> frequency;  ///< [Hz]
    std::vector<double> amplitude;  ///< [N]
};
[[nodiscard]] ForceSpectrum force_spectrum(std::span<const Eigen::Vector3d> force, double rate);

}  // namespace pliant
