#pragma once

#include "pliant/contact/contact_loads.h"
#include "pliant/haptics/static_coupling.h"

namespace pliant {

/// Contacts that a tool had a moment ago, docs/haptics.md eq. (17a), (17b): they count with a
/// stiffness, without load, for some milliseconds, so that the tool is not thrown to where they
/// were. Allocates nothing.
class ContactMemory {
public:
    struct Scales {
        double stiffness = 0;  ///< k_VC of the springs; 0: single contacts are forgotten [N/m]
        double length = 1;     ///< ρ [m]
    };
    /// Adds to the gradient of `contact`, found `dt` seconds after the last, what it lost; `felt`:
    /// springs on the hand.
    void recall(ToolContact& contact, const Wrench& felt, const Scales& scales, double dt) noexcept;
    void forget() noexcept { *this = {}; }

private:
    void recall_all(ToolContact& contact, const Wrench& felt, double length, double dt) noexcept;
    void recall_part(ToolContact& contact, const Scales& scales, double dt) noexcept;

    Matrix6d gradient_ = Matrix6d::Zero();  ///< of the last contact
    Wrench load_;
    double time_ = 0;                   ///< since then [s]
    Matrix6d held_ = Matrix6d::Zero();  ///< k_VC Σ w JᵀJ of the last tick; turns as lengths
    Matrix6d lost_ = Matrix6d::Zero();  ///< of it, fading
    int num_held_ = 0;                  ///< contacts of the last tick
};

}  // namespace pliant
