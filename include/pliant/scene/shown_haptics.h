#pragma once

#include "pliant/haptics/coupling_gains.h"
#include "pliant/haptics/haptic_tool.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pliant {

/// What is shown of a tool that is a proxy, docs/proxy.md. All zero: the tool is none.
struct ShownProxy {
    static constexpr int kMaxTriangles = 96;
    struct Plane {
        Eigen::Vector3d point = Eigen::Vector3d::Zero();  ///< where it touches
        Eigen::Vector3d normal = Eigen::Vector3d::Zero();
    };
    struct Triangle {
        std::int32_t body = -1, triangle = -1;  ///< of the world, of its surface
    };
    /// One of a tool of many, docs/sphere-tools.md.
    static constexpr int kMaxSpheres = 128;
    struct Sphere {
        std::array<float, 3> position = {};  ///< of its middle
        std::array<float, 4> turn = {};      ///< from rest, w x y z
        std::array<float, 3> normal = {};    ///< of the plane that holds it most; 0: none
        bool is_touching = false;
    };
    double radius = 0;  ///< [m]; 0: there are many spheres
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    std::int32_t num_planes = 0;  ///< that hold it
    std::array<Plane, 3> planes;
    std::int32_t num_spheres = 0;  ///< of a tool of many, as many as there is room for
    std::array<Sphere, kMaxSpheres> spheres;
    /// That were looked at last, of many spheres those they touch; as many as there is room for.
    std::int32_t num_triangles = 0;
    std::array<Triangle, kMaxTriangles> triangles;
    std::int32_t pops = 0, passes = 0, triangles_tested = 0;  ///< of the last tick
    std::uint64_t all_pops = 0;                               ///< since reset
    std::uint64_t carried = 0;   ///< ticks in which a surface took it along, since reset
    std::uint64_t squeezed = 0;  ///< ticks without room for it, since reset
    bool is_squeezed = false, is_sliding = false, is_ignored = false, has_arrived = true;
    bool is_stale = false;  ///< no news of the bodies: no force

    [[nodiscard]] bool is_there() const noexcept { return radius > 0 || num_spheres > 0; }
};

/// What a loop shows of the tool in a hand; docs/scene.md section "Tool in a hand".
struct ShownHaptics {
    std::int32_t body = -1;  ///< of the world; −1: no tool in a hand
    HapticTick tick;
    ShownProxy proxy;
    std::array<char, 200> notice = {};  ///< zero-terminated, from HapticTool::notice()
};

/// A body that moves with a tool in a hand.
struct HeldPart {
    int body = -1;  ///< of the world
    Pose offset;    ///< in the axes of the tool's first body
};

/// A sphere of a tool of many, at rest in the axes of the body.
struct HeldSphere {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    double radius = 0;  ///< [m]
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
    double proxy_radius = 0;          ///< of a tool that is a proxy [m]; 0: it is none
    std::vector<HeldSphere> spheres;  ///< of a tool of many, in the order of ShownProxy::spheres
    bool bends = false;               ///< a tool of many, whose spheres move one by one
    Eigen::Vector3d grasp = Eigen::Vector3d::Zero();  ///< in the axes of the body
    std::vector<GainNote> gains;                      ///< why they are what they are at the start
    std::string warning;  ///< gains that were brought to what the device allows; empty: none
};

}  // namespace pliant
