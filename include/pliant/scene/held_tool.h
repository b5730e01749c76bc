#pragma once

#include "pliant/body/scripted_motion.h"
#include "pliant/haptics/fem_haptic_port.h"
#include "pliant/haptics/open_device.h"
#include "pliant/haptics/solver_haptic_tool.h"
#include "pliant/scene/scene_description.h"
#include "pliant/scene/shown_haptics.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pliant {

struct FemExchange;
class BodiesEnd;
class ProxySource;

/// The device's end of a tool in a loop of its own, among full FEM bodies or in an `among`.
struct HeldFemTool {
    std::shared_ptr<FemExchange> exchange;  ///< with the loop of the bodies
    Pose start;                             ///< of the tool's first body
    int body = -1;                          ///< of the world
    std::vector<HeldPart> parts;
    StepInterpolationOptions watchdog;
    bool has_depth_bound = true;                ///< false: nothing says how deep is too deep
    double followed = 0, followed_turning = 0;  ///< springs that its mass follows; 0: any
};

/// The bodies' end: proxies of a loop that follow the hand as one piece.
struct FemProxies {
    std::shared_ptr<FemExchange> exchange;
    std::vector<int> places;  ///< of the proxies in their loop, the tool's first body first
    FemHapticToolOptions options;
    std::optional<SolverHapticToolOptions> among;  ///< the only proxy is in an `among`, with mass
};

/// The hand's end of a proxy or of a tool of many, docs/scene.md sections "Proxy in a hand" and
/// "Tool of many spheres".
struct HeldProxy {
    std::shared_ptr<ProxySource> source;  ///< where it is, and what it feels
    ProxyOptions options;                 ///< of each sphere
    double radius = 0;                    ///< of a single sphere [m]; 0: there are many
    std::vector<HeldSphere> spheres;      ///< of many
    bool bends = false;                   ///< likewise
    double bearable = 0;                  ///< stiffness that its bodies bear [N/m]; 0: any
    std::string bearing_reason;           ///< why
};

/// The bodies' end, where that is in another loop: of full FEM bodies, or of a proxy.
using BodiesEndDescription = std::variant<FemProxies, std::shared_ptr<BodiesEnd>>;

/// A rigid body of a loop in a hand: the device, and everything that follows from it by rule. A
/// loop is made with it.
struct HeldTool {
    int place = -1;  ///< of the body in its loop; −1: `fem` says
    // none of both: contact pairs or points are what it feels
    std::optional<HeldFemTool> fem;
    std::optional<HeldProxy> proxy;
    std::unique_ptr<HapticDevice> device;
    std::string kind = "simulated";        ///< of the device
    bool is_virtual = true;                ///< no hand of flesh feels it
    bool is_played_anew = false;           ///< a recorded device, by a reset that a user asks for
    HandModel hand;                        ///< of a simulated device
    double handle_mass = 0;                ///< likewise [kg]
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
    DeviceUse use = {};
    double answer_time = 0;  ///< steps of bodies that it is among, in another loop [s]; 0: none
    // of a proxy
    double room = 0;                ///< that the hand should reach in any case [m]
    double stiffness = 0;           ///< chosen [N/m]; 0: by rule
    double bearable_stiffness = 0;  ///< rules go no higher [N/m]; 0: no bound
};

/// Opens the device, chooses the scale of its workspace and derives the gains; docs/scene.md
/// section "Tool in a hand". Throws InputError as open_device does, and for a tool that is out of
/// range.
[[nodiscard]] HeldTool make_held_tool(const HeldToolDescription& description,
                                      const DeviceDescription& device,
                                      const HeldToolSurroundings& surroundings);

}  // namespace pliant
