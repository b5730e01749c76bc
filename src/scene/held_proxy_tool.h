#pragma once

#include "pliant/body/rigid_body.h"
#include "pliant/scene/held_tool.h"
#include "scene/touching_sphere.h"

namespace pliant {

/// What a proxy in a hand, or a tool of many, is among.
struct ProxySurroundings {
    const RigidBody& body;                        ///< that is held
    const std::optional<ScriptedMotion>& motion;  ///< of it
    std::vector<TouchedBody> bodies;              ///< in the order of the description
    double rate = 1000, bodies_rate = 1000;       ///< of its loop and of the bodies' [Hz]
    bool is_one_loop = true;
    DeviceUse use;
};

struct ProxyToolEnds {
    HeldTool held;
    std::shared_ptr<BodiesEnd> bodies;  ///< where they are in another loop
};

/// Opens the device and derives everything as make_held_tool() does; stiffness by docs/scene.md
/// eq. (8). `description.proxy` is there. Throws InputError likewise, for surfaces that are not
/// closed, and for a start inside a body.
[[nodiscard]] ProxyToolEnds make_proxy_tool(const HeldToolDescription& description,
                                            const DeviceDescription& device,
                                            const ProxySurroundings& around);
/// The same of `description.spheres`; throws also as place_spheres, load_layout and SphereTool.
[[nodiscard]] ProxyToolEnds make_spheres_tool(const HeldToolDescription& description,
                                              const DeviceDescription& device,
                                              const ProxySurroundings& around);

}  // namespace pliant
