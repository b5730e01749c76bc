#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/scene/held_tool.h"

#include <span>

namespace pliant {

/// A rigid body of a tool among full FEM bodies.
struct FemProxyBody {
    const RigidBody* body = nullptr;
    int place = -1;   ///< in its loop
    int number = -1;  ///< in the world
};

/// What such a tool is among.
struct FemToolSurroundings {
    std::span<const std::unique_ptr<Body>> bodies;  ///< of its loop
    const std::optional<ScriptedMotion>& motion;    ///< of its first body
    double rate = 1000;                             ///< of the haptic loop [Hz]
    DeviceUse use;
};

/// Both ends of a tool among full FEM bodies.
struct FemToolEnds {
    HeldTool held;
    FemProxies proxies;
};

/// Opens the device and derives everything as make_held_tool() does, from the surfaces of all
/// proxies together. `description.fem` is there. Throws InputError likewise, and where there is no
/// full FEM body.
[[nodiscard]] FemToolEnds make_fem_tool(const HeldToolDescription& description,
                                        const DeviceDescription& device,
                                        const std::vector<FemProxyBody>& proxies,
                                        const FemToolSurroundings& around);

}  // namespace pliant
