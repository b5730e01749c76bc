#pragma once

#include "pliant/reduction/reduced_model.h"

#include <string>

namespace pliant {

/// What one load does to a body in its subspace, in equilibrium.
struct TriedLoad {
    double displacement = 0;  ///< largest of the drawn surface or inside it [m]
    double volume = 1;        ///< inside the drawn surface, over that at rest; 1 for an open one
    double least_det_F = 1;   ///< at the integration points of the elements
    /// False: forces did not balance to rounding, as of a column that is about to buckle; the
    /// numbers are those of the shape that came nearest.
    bool is_settled = true;
};

/// How a body bears what everybody tries first. Its weight acts along −z of its axes: a held body
/// hangs on what holds it, a free one stands on its lowest twentieth. A hand presses with
/// kHandForce where a held body is farthest from what holds it, a free one from above; it touches
/// all vertices within a tenth of the size of the body.
struct ReducedTrial {
    static constexpr double kHandForce = 10;      ///< [N]
    static constexpr double kLeastDetF = 0.3;     ///< below it elements are crushed
    static constexpr double kMostSag = 0.3;       ///< of the size, by the weight alone
    static constexpr double kLeastVolume = 0.75;  ///< by the weight alone

    TriedLoad weight, hand;
    double size = 0;       ///< longest side [m]
    double mass = 0;       ///< [kg]
    double frequency = 0;  ///< lowest one [Hz]

    /// Whether its own weight neither crushes the body nor makes it hang beyond use: no threshold
    /// above is passed.
    [[nodiscard]] bool is_usable() const noexcept;
    /// One sentence with the remedy; empty for a body that is usable.
    [[nodiscard]] std::string warning() const;
};
/// By statics of the reduced model: milliseconds, and those of the mesh's elements.
[[nodiscard]] ReducedTrial try_model(const ReducedModel& model);

}  // namespace pliant
