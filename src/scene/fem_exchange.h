#pragma once

#include "pliant/haptics/fem_haptic_link.h"
#include "scene/letter_box.h"

namespace pliant {

/// Where the hand is, from the haptic loop.
struct FemHandLetter {
    std::uint64_t round = 0, tick = 0;
    double time = 0;  ///< of that tick, on the haptic clock [s]
    FemHandState hand;
};

/// The newest steps of the bodies, from their loop.
struct FemStepsLetter {
    std::uint64_t round = 0, tick = 0;
    FemToolSteps steps;
};

/// Between the two ends of a tool among full FEM bodies, docs/scene.md section "Tools among full
/// FEM bodies".
struct FemExchange {
    LetterBox<FemHandLetter> hand;
    LetterBox<FemStepsLetter> steps;
};

}  // namespace pliant
