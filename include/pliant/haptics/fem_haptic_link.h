#pragma once

#include "pliant/core/triple_buffer.h"
#include "pliant/haptics/step_interpolation.h"

namespace pliant {

/// Where the hand wants the tool to be, frame at the grasp point, in the scene.
struct FemHandState {
    std::uint64_t epoch = 0;  ///< of the simulator that it was made for; 0: there is no hand yet
    double time = 0;          ///< on the shared clock [s]
    Pose pose;
    Twist velocity;                ///< smoothed
    double stiffness = 0;          ///< of the dynamic coupling [N/m]
    double angular_stiffness = 0;  ///< [N m/rad]
};

/// What the threads of simulator and device hand each other; neither ever waits. One FemHapticTool
/// and one FemHapticPort hold it, and it must outlive both.
struct FemHapticLink {
    TripleBuffer<FemHandState> hand;   ///< from the port
    TripleBuffer<FemToolSteps> steps;  ///< from the tool
};

}  // namespace pliant
