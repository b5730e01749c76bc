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
    double step = 0.002;                            ///< of the bodies' loop [s]
    DeviceUse use;
};

/// Both ends of a tool in a loop of its own.
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

/// What a tool in an `among` is among.
struct AmongToolSurroundings {
    const SurfaceMesh& surface;                   ///< of the body, in its axes
    Pose start;                                   ///< of the body
    const std::optional<ScriptedMotion>& motion;  ///< of the body
    double rate = 1000;                           ///< of the haptic loop [Hz]
    double step = 0.01;                           ///< of the body's loop [s]
    DeviceUse use;
};

/// Likewise for a tool in an `among`, whose body is not there yet.
struct AmongToolEnds {
    FemToolEnds ends;
    RigidMass mass;  ///< of the body
};
/// `description.among` is there. Throws InputError as make_held_tool().
[[nodiscard]] AmongToolEnds make_among_tool(const HeldToolDescription& description,
                                            const DeviceDescription& device,
                                            const AmongToolSurroundings& around);

}  // namespace pliant
