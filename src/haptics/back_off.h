#pragma once

#include "pliant/haptics/oscillation.h"

#include <cmath>

namespace pliant {

/// Against limit cycles: finds them in the commanded force and lowers first the steps of the
/// coupling, then its gains; slowly takes both back. docs/haptics.md eq. (26). Allocates nothing.
class BackOff {
public:
    explicit BackOff(double rate);  ///< of the loop [Hz]
    /// Beyond which forces [N] and torques [N m] count as oscillation.
    void set_limits(double force, double torque) noexcept { meter_.set_limits(force, torque); }

    /// Part of the gains that device and bodies are made for; where they are more, the first limit
    /// cycle takes them back to it, and they stay there.
    void set_safe(double part) noexcept { safe_ = std::isfinite(part) ? part : 1; }

    /// After each tick: what was commanded, and where the handle is.
    void record(const Wrench& commanded, const Eigen::Vector3d& handle, double dt) noexcept;
    [[nodiscard]] double step_scale() const noexcept { return step_scale_; }
    [[nodiscard]] double gain_scale() const noexcept { return gain_scale_; }
    /// Gains were more than that, and stay below.
    [[nodiscard]] bool has_ceiling() const noexcept { return ceiling_ < 1; }
    [[nodiscard]] bool has_changed() const noexcept { return has_changed_; }  ///< by record()
    [[nodiscard]] const OscillationLevel& level() const noexcept { return meter_.level(); }
    void reset() noexcept;

private:
    [[nodiscard]] bool is_shaking() const noexcept;
    void end_window() noexcept;

    OscillationMeter meter_;
    Eigen::Vector3d sum_ = Eigen::Vector3d::Zero(), mean_ = Eigen::Vector3d::Zero();
    double drift_ = 0;  ///< of the handle's mean from window to window [m]
    double step_scale_ = 1, gain_target_ = 1, gain_scale_ = 1;
    double safe_ = 1, ceiling_ = 1;  ///< of the gains, ever and from now on
    double calm_time_ = 0, calm_needed_;
    int count_ = 0, num_shaking_ = 0;
    bool has_recovered_ = false, has_changed_ = false;
};

}  // namespace pliant
