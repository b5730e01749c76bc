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
    double duration = 4;              ///< of one trial [s]
    double approach = 0.05;           ///< speed towards the wall [m/s]
    double velocity_filter = 1;       ///< one pole per sample of the wall's velocity; 1: none
};

struct ZWidthCell {
    double stiffness = 0, damping = 0;
    bool is_stable = false;
    double growth = 0;  ///< amplitude of the last tenth over that of the first after touching
};

struct ZWidthMap {
    std::vector<double> stiffnesses, dampings;
    std::vector<ZWidthCell> cells;  ///< stiffness by stiffness
    /// Least viscous damping of device and hand at which a wall without damping is stable, by
    /// bisection, for each stiffness [N s/m]; docs/haptics.md eq. (25): b > K T/2.
    std::vector<double> needed_damping;
};

/// Which virtual walls a device model can show without oscillating, and how much damping each
/// needs. Deterministic; all cores. Throws InputError for options out of range.
[[nodiscard]] ZWidthMap sweep_zwidth(const ZWidthOptions& options, Progress& progress);
/// Of a wall without damping: the device's viscous damping at which it becomes stable [N s/m].
[[nodiscard]] double needed_damping(const ZWidthOptions& options, double stiffness);

}  // namespace pliant
