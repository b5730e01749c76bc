#pragma once

#include "contact/contact_rows.h"

namespace pliant {

/// The contacts of one pair and its bodies, whose velocities sweeps change.
struct SweepPair {
    std::span<SolverContact> contacts;
    MovingBody &shell, &field;
};
struct SweepOptions {
    double dt = 0, reach = 0;  ///< h and h + β_c [s]
    double friction = 0, friction_stiffness = 1;
};
/// Of forces [N].
struct SweepChange {
    double change = 0, largest = 0;
};

/// Adds the impulses of the forces that contacts begin with to the velocities.
void start_contacts(SweepPair pair, const SweepOptions& options) noexcept;
/// One Gauss-Seidel pass over the contacts in their order, docs/contact.md eq. (29), (30).
[[nodiscard]] SweepChange sweep_contacts(SweepPair pair, const SweepOptions& options) noexcept;

}  // namespace pliant
