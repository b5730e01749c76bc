#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/haptics/open_device.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/shown_haptics.h"

#include <memory>
#include <optional>
#include <string>

namespace pliant {

/// A rigid body of a loop in a hand: the device, and everything that follows from it by rule. A
/// loop is made with it.
struct HeldTool {
    int place = -1;  ///< of the body in its loop
    std::unique_ptr<HapticDevice> device;
    std::string kind = "simulated";        ///< of the device
    bool is_virtual = true;                ///< no hand of flesh feels it
    HandModel hand;                        ///< of a simulated device
    std::optional<ScriptedMotion> motion;  ///< where a simulated hand wants the body to be
    CouplingScene scene;
    CouplingGains gains;
    double contact_stiffness = 0;  ///< that its contacts ask for [N/m]; 0: by rule
    HapticToolOptions options;
    std::string warning;  ///< gains that were brought to what the device allows; empty: none
};

/// What a tool in a hand is among.
struct HeldToolSurroundings {
    const SurfaceMesh& surface;                   ///< of the body, in its axes
    Pose start;                                   ///< of the body
    const std::optional<ScriptedMotion>& motion;  ///< of the body
    double cell = 0.001;           ///< the least of the distance fields that it meets [m]
    double contact_stiffness = 0;  ///< that its contacts ask for [N/m]; 0: by rule
    double rate = 1000;            ///< of the loop [Hz]
};

/// Opens the device, chooses the scale of its workspace and derives the gains; docs/scene.md
/// section "Tool in a hand". Throws InputError as open_device does, and for a tool that is out of
/// range.
[[nodiscard]] HeldTool make_held_tool(const HeldToolDescription& description,
                                      const DeviceDescription& device,
                                      const HeldToolSurroundings& surroundings);

}  // namespace pliant
