#pragma once

#include "pliant/fem/damping.h"
#include "pliant/fem/mass.h"

namespace pliant {

/// The largest eigenvalue of M_e⁻¹ K_e over all elements at rest, M_e lumped, and its element. An
/// upper bound for the assembled body, hanging nodes folded or not.
struct ElementEigenvalue {
    double value = 0;
    int element = -1;
};
[[nodiscard]] ElementEigenvalue largest_elastic_eigenvalue(const FemModel& model, Lumping lumping);
/// The same with the viscosities of the damping in place of the elasticity [1/s].
[[nodiscard]] double largest_viscous_eigenvalue(const FemModel& model, const Damping& damping,
                                                Lumping lumping);

}  // namespace pliant
