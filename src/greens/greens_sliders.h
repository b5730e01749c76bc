#pragma once

#include "pliant/body/live_parameter.h"
#include "pliant/greens/greens_body.h"

#include <vector>

namespace pliant {

/// The first two are those of every body.
enum class GreensSlider { Modulus, MaskRadius, ConstraintLevel, DisplayLevel, Tolerance };

/// What can be changed while a body with Green's functions is touched.
struct GreensSliders {
    std::vector<LiveParameter> parameters;
    std::vector<GreensSlider> kinds;  ///< of each of them
};
/// `radius` of masks [m]; `level` on which it is touched, −1: nodes.
[[nodiscard]] GreensSliders greens_sliders(const GreensModel& model, const GreensDisplay& display,
                                           double radius, int level);

/// That of masks and conditions for a level of the surface: the finest is that of the nodes, −1.
[[nodiscard]] int level_in_use(const GreensModel& model, double level) noexcept;

}  // namespace pliant
