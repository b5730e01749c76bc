#pragma once

#include "pliant/haptics/coupling_gains.h"
#include "pliant/haptics/haptic_tool.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pliant {

/// What a loop shows of the tool in a hand; docs/scene.md section "Tool in a hand".
struct ShownHaptics {
    std::int32_t body = -1;  ///< of the world; −1: no tool in a hand
    HapticTick tick;
    std::array<char, 200> notice = {};  ///< zero-terminated, from HapticTool::notice()
};

/// A body that moves with a tool in a hand.
struct HeldPart {
    int body = -1;  ///< of the world
    Pose offset;    ///< in the axes of the tool's first body
};

/// What does not change about a tool in a hand while it runs.
struct HapticInfo {
    int body = -1;                    ///< of the world
    std::string kind;                 ///< of the device: "simulated"
    bool is_virtual = true;           ///< no hand of flesh feels it
    DeviceCapabilities capabilities;  ///< of the device
    WorkspaceOptions workspace;       ///< its scale, axes and centre in the world
    int deadman_button = -1;          ///< that must be down for any force; −1: none
    std::vector<HeldPart> parts;      ///< further bodies of the tool
    Eigen::Vector3d grasp = Eigen::Vector3d::Zero();  ///< in the axes of the body
    std::vector<GainNote> gains;                      ///< why they are what they are at the start
    std::string warning;  ///< gains that were brought to what the device allows; empty: none
};

}  // namespace pliant
