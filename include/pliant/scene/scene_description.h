#pragma once

#include "pliant/body/rigid_motion.h"
#include "pliant/body/scripted_motion.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/contact/contact_pair.h"
#include "pliant/contact/contact_surface.h"
#include "pliant/fem/damping.h"
#include "pliant/field/build_field.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/compliant_hand.h"
#include "pliant/greens/force_detail.h"
#include "pliant/greens/measured_greens.h"
#include "pliant/greens/pad_surface.h"
#include "pliant/greens/skeleton.h"
#include "pliant/haptics/fem_haptic_tool.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/open_device.h"
#include "pliant/haptics/plane_port.h"
#include "pliant/haptics/sphere_port.h"
#include "pliant/particles/particle_body.h"
#include "pliant/particles/place_spheres.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/scene/command.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pliant {

/// Where a surface comes from: a file, or a named procedural shape.
struct SurfaceSource {
    std::filesystem::path file;  ///< or empty: the shape
    std::string shape;
    int shape_resolution = 0;  ///< 0: its default
};

/// A reduced model from a `.pliant` file.
struct ModelFile {
    std::filesystem::path path;
    int rank = 0;  ///< first vectors of the basis only; 0: all
};
/// A reduced model built on first use and kept in the cache.
struct ReducedRecipe {
    SurfaceSource surface;
    ReducedBuildOptions build;
};
struct ReducedSource {
    std::variant<ModelFile, ReducedRecipe> model;
    ReducedDamping damping = {.mass = 0, .stiffness = 0.002};
    bool is_linear = false;  ///< small-displacement response, for comparison
    FlightCoupling coupling = FlightCoupling::Coupled;  ///< of free bodies
};

/// A structured box of hexes; it stands on z = 0, centred in x and y.
struct FemBox {
    Eigen::Vector3d sizes = Eigen::Vector3d::Ones();  ///< [m]
    std::array<int, 3> cells = {8, 8, 8};             ///< along each side
    /// Positive: a cube (equal sizes and cells) that grows coarser inwards with so many layers of
    /// each size, graded_box(cells[0], graded_layers, sizes[0]). 0: all cells equal.
    int graded_layers = 0;
};

struct RigidSphere {
    double radius = 0.1;  ///< [m]
};

/// A flat sheet of triangles in z = 0, centred.
struct SheetShape {
    std::array<double, 2> sizes = {1, 1};  ///< along x and y [m]
    std::array<int, 2> cells = {32, 32};   ///< squares of two triangles along each side
};
/// Triangles between a middle vertex and a rim in z = 0.
struct FanShape {
    double radius = 1;  ///< [m]
    int sectors = 32;
};
/// One particle for each vertex.
struct ClothDescription {
    double mass = 0.2;          ///< of all [kg]
    double radius = 0;          ///< of particles [m]; 0: half of the mean edge
    bool keeps_lengths = true;  ///< links keep theirs
};

/// Oriented particles, docs/particles.md.
struct ParticleSource {
    /// A model file, or what to place particles in.
    std::variant<SurfaceSource, std::filesystem::path, RigidSphere, SheetShape, FanShape> shape;
    bool is_double_faced = false;           ///< a sheet gets a second face, turned over
    std::optional<ClothDescription> cloth;  ///< none: particles fill the volume
    double size = 0;                        ///< of a surface: longest side [m]; 0: as it is
    std::filesystem::path layout;           ///< made by hand; empty: placed
    PlacementOptions placement;
    struct Part {
        std::string where;
        double stiffness = 0;
    };
    std::vector<Part> parts;
    std::vector<Pose> objects;  ///< in body axes; none: one, as it is
    ParticleBodyOptions body;
};
/// A body of full finite elements in explicit dynamics.
struct FemSource {
    using BoxMesh = FemBox;
    std::variant<BoxMesh, SurfaceSource> shape;
    double size = 0;  ///< of a surface: longest side [m]; 0: as it is
    SimulationMeshOptions mesh = {.resolution = 16};
    Material material = material_preset("rubber");
    std::string fixed;  ///< selection of nodes; empty: the body is free
    Damping damping;
    double friction = 0.3;  ///< against the rigid bodies of its loop
};

struct RigidBox {
    Eigen::Vector3d sizes = Eigen::Vector3d::Ones();  ///< full sides [m]
};
struct RigidCapsule {
    double radius = 0.1, length = 0.2;  ///< of the axis, along z [m]
};
/// Triangular prism along y on z = 0, the edge up.
struct RigidWedge {
    Eigen::Vector3d sizes = Eigen::Vector3d::Ones();  ///< full width, depth and height [m]
};
/// z ≤ 0, drawn as a square.
struct RigidGround {
    double size = 10;  ///< of its side [m]
};

/// A solid that does not deform.
struct RigidSource {
    using Sphere = RigidSphere;
    using BoxShape = RigidBox;
    using Capsule = RigidCapsule;
    using Wedge = RigidWedge;
    using Ground = RigidGround;
    std::variant<Sphere, BoxShape, Capsule, Wedge, Ground, SurfaceSource> shape;
    double size = 0;     ///< of a surface: longest side [m]; 0: as it is
    double density = 0;  ///< positive: dynamic [kg/m³]
    std::optional<ScriptedMotion> motion;
};

/// Green's functions built on first use and kept in the cache.
struct GreensRecipe {
    SurfaceSource surface;
    std::optional<PadShape> pad;  ///< in place of the surface
    int levels = -1;  ///< rounds of subdivision of shapes that have them; −1: the shape's own
    GreensBuildOptions build;
    /// From probes instead: a file, or what probing the body that `build` makes would measure.
    std::variant<std::monostate, std::filesystem::path, SyntheticProbing> measured;
    bool has_material = false;  ///< measured: `build` says the modulus; else it is estimated
};
/// An elastic body without inertia, touched through its Green's functions.
struct GreensSource {
    std::variant<std::filesystem::path, GreensRecipe> model;  ///< the path of a `.pliant` file
    double mask_radius = 0;     ///< over which a point's force is spread [m]; 0: chosen
    int constraint_level = -1;  ///< on which it is touched; −1: the finest with columns
    int display_level = -1;     ///< of what is shown; −1: that of the model
};

/// A hand of sixteen links, the palm first, that grasps a body with Green's functions. Its links
/// are rigid bodies, "glove[0]" …; springs in its joints give way to what it touches.
struct HandSource {
    double size = 0.19;                     ///< from the wrist to the tip of the middle finger [m]
    std::optional<ScriptedMotion> motion;   ///< of the wrist; none: it stays at the pose
    std::optional<ScriptedMotion> closing;  ///< x: from open, 0, to a fist, 1
    CompliantHandOptions springs;
};

/// Elastic zones on bones that a script bends, docs/scene.md section "Zones".
struct ZonesSource {
    struct Part {
        std::string name;
        int bone = 0;
        Pose pose;  ///< of its axes in those of the body, bones straight
        GreensSource greens;
        std::optional<ReducedSource> reduced = {};  ///< in place of `greens`
    };
    std::vector<Bone> bones;
    std::vector<ScriptedMotion> flexion;  ///< of each bone; x: angle [rad]
    std::vector<Part> parts;
    bool is_bonded = false;                ///< seams in balance; otherwise they follow the bones
    double blend = 0.01;                   ///< that two bones share at their joint [m]
    std::optional<ScriptedMotion> motion;  ///< of the body; none: it stays at the pose
    /// Bonded, and nothing moves them: one body, as the bones are at the start.
    [[nodiscard]] bool is_one_body() const noexcept;
};

/// Copies of a body on a grid, thrown with random velocities from the scene's seed.
struct Copies {
    static constexpr int kMost = 4096;  ///< together
    std::array<int, 3> counts = {1, 1, 1};
    Eigen::Vector3d spacing = Eigen::Vector3d::Zero();  ///< [m]
    double speed = 0;                                   ///< of random linear velocities [m/s]
    double spin = 0;                                    ///< of random angular velocities [rad/s]
};

/// Points on the surface of a body, from a file or built on first use and kept in the cache.
struct PointshellSource {
    std::filesystem::path file;  ///< or empty: built
    FieldBuildOptions field;     ///< whose zero surface carries them
    PointshellOptions points;
};
/// The distance field of a body, likewise.
struct FieldSource {
    std::filesystem::path file;
    FieldBuildOptions build;
    DeformedFieldOptions deformed;  ///< of reduced bodies
};
/// What a body brings to contacts.
struct BodyContact {
    std::optional<PointshellSource> pointshell;
    std::optional<FieldSource> field;  ///< rigid primitives have an exact one without asking
    ContactSurface surface;
};

struct BodyDescription {
    std::string name;
    std::variant<ReducedSource, FemSource, RigidSource, GreensSource, HandSource, ZonesSource,
                 ParticleSource>
        source;
    Pose pose;
    Twist velocity;  ///< free reduced and dynamic rigid bodies
    std::array<float, 3> colour = {0.62f, 0.69f, 0.78f};
    std::string loop = "haptic";
    std::optional<Copies> copies;
    BodyContact contact;
};

// Contact of bodies of one loop, docs/scene.md section "Contact"; stiffness of one point [N/m], 0:
// chosen.

/// Points of one body against the field of another.
struct PairContactDescription {
    std::string shell, field;        ///< names of bodies; of a copy "basket[17]"
    double stiffness = 0;            ///< 0: eq. (5)
    std::optional<double> friction;  ///< none: of the surfaces; 0 where neither has one
    int nodes = 0;                   ///< that a tick may visit; 0: all
    double budget = 0;               ///< the same as time of a tick [s]; 0: `nodes` says
    ContactExchange exchange = ContactExchange::SemiImplicit;
    ContactScaling scaling = ContactScaling::PerDirection;
    bool has_coherence = true;
};
/// Each of some bodies against each, also those that forces move.
struct AmongContactDescription {
    std::string name;
    std::vector<std::string> bodies;    ///< with all their copies
    double stiffness = 0;               ///< 0: each two bodies have their own, eq. (6)
    std::optional<double> friction;     ///< none: of the surfaces
    std::optional<double> restitution;  ///< none: of the surfaces
    ContactScaling scaling = ContactScaling::PerDirection;
    int iterations = 0;    ///< sweeps over all contacts, at most; 0: 12, and more of few contacts
    int max_contacts = 0;  ///< 0: from the number of bodies
};
/// A reduced body against itself.
struct SelfContactDescription {
    std::string body;      ///< with all its copies
    double exclusion = 0;  ///< what was nearer at rest does not touch [m]; 0: chosen
    double stiffness = 0;  ///< 0: eq. (5)
    int nodes = 0;         ///< that a tick may visit; 0: all
    ContactScaling scaling = ContactScaling::PerDirection;
};
/// Rigid bodies against a body with Green's functions or zones that have them, docs/scene.md
/// section "Green's functions".
struct GreensContactDescription {
    enum class Kind {
        Points,  ///< each touches at its origin, with friction
        Tools,   ///< convex, wherever they are
    };
    std::string body;
    Kind kind = Kind::Points;
    std::vector<std::string> by;        ///< names of rigid bodies
    double friction = 0;                ///< of points
    bool is_pulling = false;            ///< points hold on to what they touched
    bool is_sliding = false;            ///< tools: without friction; else what touches sticks
    double budget = 0;                  ///< of a tick of tools [s]; 0: on one level always
    std::optional<ForceDetail> detail;  ///< that points feel
};
using ContactDescription = std::variant<PairContactDescription, AmongContactDescription,
                                        SelfContactDescription, GreensContactDescription>;

/// A loop beside the haptic one.
struct LoopDescription {
    std::string name;
    double rate = 100;  ///< [Hz]
};

struct WindDescription {
    Eigen::Vector3d direction = Eigen::Vector3d::UnitX();
    double speed = 0;  ///< [m/s]
    double gusts = 0;  ///< relative size of slow random changes
};

/// How the hand holds what it picked, docs/scene.md eq. (1).
struct PullDescription {
    double stiffness = 3;  ///< of the spring, times the stiffness that the body has there
    double damping = 0.7;  ///< fraction of critical
    /// [N]; 0: the spring's force at a quarter of the body's size
    double force_limit = 0;
};

/// A sphere that the pointer moves and full FEM bodies feel.
struct ToolDescription {
    double radius = 0.02;  ///< [m]
    Eigen::Vector3d start = Eigen::Vector3d::Zero();
    double speed_limit = 1.0;  ///< [m/s]
    std::string loop = "haptic";
    std::optional<ScriptedMotion> script;  ///< moves it until the pointer does
};

/// How a tool in a hand is felt by the full FEM bodies of its loop, in place of contact pairs.
struct FemToolDescription {
    std::vector<std::string> parts;  ///< further rigid bodies that move with it as one piece
    FemCoupling coupling = FemCoupling::Dynamic;
    double mass = 0.05;  ///< of a dynamic tool [kg]
    StepInterpolationOptions watchdog;
};

/// How the spheres of a tool leave one body, other than the rest.
struct BodyPopOut {
    std::string body;
    PopOutMode mode;
};

/// A tool in a hand that is a virtual proxy, docs/scene.md section "Proxy in a hand".
struct ProxyToolDescription {
    std::vector<std::string> bodies;  ///< that it touches, of one loop
    std::vector<BodyPopOut> pop_out_of;
    double stiffness = 0;     ///< between hand and proxy [N/m]; 0: by rule
    ProxyOptions options;     ///< but for radius and stiffness
    PlanePortOptions planes;  ///< where the bodies are in another loop than the tool
};

/// A tool in a hand that is made of many spheres, docs/scene.md section "Tool of many spheres".
struct SpheresToolDescription {
    std::vector<std::string> bodies;  ///< that it touches, of one loop
    std::vector<BodyPopOut> pop_out_of;
    double stiffness = 0;              ///< k_t, between hand and spheres [N/m]; 0: by rule
    std::filesystem::path layout;      ///< of spheres in the axes of the body; empty: placed
    SpherePlacementOptions placement;  ///< of those placed
    SphereToolOptions options;         ///< but for stiffness and centre
    SpherePortOptions port;            ///< where the bodies are in another loop than the tool
};

/// How a tool in a hand meets bodies that move under contact: as one of them, in their `among`.
struct AmongToolDescription {
    double mass = 0;  ///< [kg]; 0: by rule
    StepInterpolationOptions watchdog;
};

/// A rigid body of the scene, without density, held in a hand; docs/scene.md section "Tool in a
/// hand". Its motion is where the hand wants it to be until somebody moves it.
struct HeldToolDescription {
    std::string body;
    /// Where the hand holds it, in its axes [m]; none: in the middle of its box.
    std::optional<Eigen::Vector3d> grasp;
    ToolCoupling coupling = ToolCoupling::Static;
    double scale = 0;      ///< metres in the scene per metre of handle travel; 0: chosen
    double max_depth = 0;  ///< d_pen [m]; 0: by rule
    double stiffness_factor = 1, angular_stiffness_factor = 1;  ///< times what the rules say
    bool has_injection = true, has_back_off = true, has_passivity = true;
    bool has_force = true;  ///< false: feedback off
    // what it meets; none: it is in contact pairs, or a point on Green's functions
    std::optional<FemToolDescription> fem;
    std::optional<AmongToolDescription> among;
    std::optional<ProxyToolDescription> proxy;
    std::optional<SpheresToolDescription> spheres;
};

/// How a device of any kind is used: where its axes are, what its buttons do.
struct DeviceUse {
    Quaternion axes = Quaternion::Identity();  ///< turns vectors of the device into the scene
    double rate_border = 0;   ///< part of the workspace in which the scene moves on; 0: none
    double rate_speed = 0.1;  ///< of the scene at the very border [m/s]
    int clutch_button = -1;   ///< while it is down the handle moves alone; −1: none
    int deadman_button = -1;  ///< must be down for any force; −1: none
    /// Measured, from a command to motion, in place of what the driver states [s]; 0: as stated.
    double latency = 0;
    DeviceLimits limits = {};  ///< of whatever device it is, also of one that a program brings
};

struct CameraDescription {
    Eigen::Vector3d eye = Eigen::Vector3d(2, -3, 1.5), target = Eigen::Vector3d::Zero();
};

/// What should happen at a time, as if a hand did it. Bodies are found by name and picked at the
/// surface point nearest to `at` in the rest pose of the scene.
struct ScriptEvent {
    double time = 0;  ///< [s]
    Command::Kind kind = Command::Kind::Grab;
    int slot = 0;
    std::string body;
    Eigen::Vector3d at = Eigen::Vector3d::Zero();
    Eigen::Vector3d target = Eigen::Vector3d::Zero();  ///< or the tool's place
    Quaternion rotation = Quaternion::Identity();      ///< of a tool in a hand
    std::uint32_t buttons = 0;                         ///< that the hand presses
    double duration = 0;                               ///< of the move to the target [s]
    std::string parameter;
    double value = 0;
};

/// A scene file, checked.
struct SceneDescription {
    std::string name, description;
    std::string text;              ///< the JSON it was read from
    std::filesystem::path folder;  ///< relative files are found from here
    Eigen::Vector3d gravity = Eigen::Vector3d(0, 0, -9.81);
    WindDescription wind;
    double rate = 1000;  ///< of the haptic loop [Hz]
    std::uint64_t seed = 1;
    std::vector<LoopDescription> loops;
    std::vector<BodyDescription> bodies;
    std::vector<ContactDescription> contacts;
    /// Names of bodies, two or more in each group, that are meant to pass through each other.
    std::vector<std::vector<std::string>> ignored_contacts;
    PullDescription pull;
    double poke_force = 0;  ///< [N]; 0: found from the body
    // at most one of the two
    std::optional<ToolDescription> tool;
    std::optional<HeldToolDescription> held_tool;
    DeviceDescription device = SimulatedDescription{.model = {.rate = 0}};  ///< of the held tool
    DeviceUse device_use;
    CameraDescription camera;
    bool has_ground = true;  ///< drawn, not felt
    double ground_height = 0;
    std::vector<ScriptEvent> script;
};

}  // namespace pliant
