#pragma once

#include "pliant/body/rigid_motion.h"

#include <vector>

namespace pliant {

/// A pose at a time.
struct Keyframe {
    double time = 0;  ///< [s]
    Pose pose;
};

/// A path through poses, smooth in velocity, docs/body.md eq. (7): positions by cubic Hermite
/// splines whose slopes are means of neighbouring chords, limited so that no coordinate goes beyond
/// those of the two keys around it; rotations likewise in the rotation vector from each key to the
/// next. At rest before the first and after the last key, or repeated.
class ScriptedMotion {
public:
    /// Throws InputError for no key, times that do not grow, poses that are not finite, and for a
    /// repeated path that does not end where it began.
    explicit ScriptedMotion(std::vector<Keyframe> keys, bool is_repeated = false);
    /// base + amplitude sin(2π frequency t + phase) of position [m] and rotation vector [rad], both
    /// in world axes. Throws InputError for numbers that are not finite or a frequency that is
    /// negative.
    [[nodiscard]] static ScriptedMotion oscillation(const Pose& base,
                                                    const Eigen::Vector3d& amplitude,
                                                    const Eigen::Vector3d& rotation_amplitude,
                                                    double frequency, double phase = 0);

    struct Rates {
        double linear = 0;   ///< of the frame's origin [m/s]
        double angular = 0;  ///< [rad/s]
    };
    /// The largest of the whole motion; of a path as found at 64 places between two keys.
    [[nodiscard]] Rates largest_rates() const noexcept;
    /// Pose and its exact derivatives; those of the first key for a time that is not a number.
    /// Allocates nothing.
    [[nodiscard]] RigidMotion at(double time) const noexcept;

private:
    struct Oscillation {
        Pose base;
        Eigen::Vector3d amplitude, rotation_amplitude;
        double frequency = 0, phase = 0;
    };
    /// From a key to the next.
    struct Segment {
        Twist slope_start, slope_end;  ///< rates of position and rotation vector
        Eigen::Vector3d turn;          ///< rotation vector of the whole segment, world axes
    };
    ScriptedMotion() = default;
    [[nodiscard]] RigidMotion oscillation_at(double time) const noexcept;

    std::vector<Keyframe> keys_;  ///< none: the oscillation counts
    std::vector<Segment> segments_;
    bool is_repeated_ = false;
    Oscillation oscillation_;
};

}  // namespace pliant
