#pragma once

#include "pliant/core/progress.h"
#include "pliant/haptics/simulated_device.h"

#include <vector>

namespace pliant {

struct ZWidthOptions {
    DeviceModel device;
    HandModel hand = HandModel::absent();
    std::vector<double> stiffnesses;  ///< K of the virtual wall [N/m]; empty: 12 from 50 to 10,000
    std::vector<double> dampings;     ///< b of the wall [N s/m]; empty: 0 and up to the unstable
    double duration = 4;              ///< of one trial, or four periods if that is more [s]
    /// Speed into the wall that a trial begins with [m/s]; less where the motors could not follow.
    double approach = 0.05;
    double velocity_filter = 1;  ///< one pole per sample of the wall's velocity; 1: none
};

struct ZWidthCell {
    double stiffness = 0, damping = 0;  ///< of the wall [N/m], [N s/m]
    bool is_stable = false;
    double growth = 0;  ///< amplitude in the last tenth of the time over that of the first period
    double remaining = 0;  ///< amplitude in the last tenth [m]
};

struct ZWidthMap {
    std::vector<double> stiffnesses, dampings;
    std::vector<ZWidthCell> cells;       ///< stiffness by stiffness
    std::vector<double> needed_damping;  ///< for each stiffness [N s/m]
};

/// One trial: the handle rests in the wall, pressed by a steady force, is hit inwards with the
/// speed of approach, and the amplitude decays or not; docs/haptics.md eq. (25). The wall answers
/// once per sample with max(0, K depth + b rate of depth), both from the encoders.
[[nodiscard]] ZWidthCell try_wall(const ZWidthOptions& options, double stiffness, double damping);
/// Which virtual walls a device model can show without oscillating, and how much damping each
/// needs. Deterministic; all cores. Throws InputError for options out of range.
[[nodiscard]] ZWidthMap sweep_zwidth(const ZWidthOptions& options,
                                     Progress& progress = Progress::none());
/// Least viscous damping of the device, in place of its own, at which a wall without damping is
/// stable, the hand as it is; by bisection to 0.2 % [N s/m]. Without hand, delay, encoder steps and
/// friction it is K T/2, eq. (25). Infinite if 1000 N s/m do not suffice.
[[nodiscard]] double needed_damping(const ZWidthOptions& options, double stiffness);

}  // namespace pliant
