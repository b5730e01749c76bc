#pragma once

#include "pliant/contact/sphere_carry.h"
#include "pliant/contact/surface_set.h"
#include "pliant/haptics/plane_goal.h"

#include <limits>

namespace pliant {

/// How the force of a contact is spread over the vertices of the body, docs/proxy.md eq. (6).
enum class ForceMask {
    Barycentric,      ///< at the point of contact: no torque about it
    InverseDistance,  ///< of the touched vertices, as published
    Smooth,           ///< over all vertices within mask_radius, for fine meshes
};

struct ProxyOptions {
    SphereCarryOptions sphere;
    bool has_ccd = true;             ///< false only to show what it is for
    bool has_pop_out = true;         ///< likewise
    int max_passes = 64;             ///< of one tick
    double stiffness = 500;          ///< of the spring between proxy and goal [N/m]
    double static_friction = 0;      ///< Coulomb's coefficient while it sticks
    double dynamic_friction = 0;     ///< and while it slides
    bool has_force_shading = false;  ///< force along normals interpolated between vertices
    ForceMask mask = ForceMask::Barycentric;
    double mask_radius = 1.5;  ///< of Smooth, in radii of the proxy
    double body_force = 1;     ///< force on bodies per force on the hand
    /// Energy that the spring may gain in a tick from what was withheld and comes back [J].
    double release = std::numeric_limits<double>::infinity();
};
/// Throws InputError for numbers out of range.
void check(const ProxyOptions& options);

/// Where the proxy touches.
struct ProxyContact {
    int surface = -1, triangle = -1;
    Eigen::Vector3d barycentric = Eigen::Vector3d::Zero();
    /// Nearest on the surface [m], and the unit direction from it to the proxy, in the world.
    Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::UnitZ();
    double distance = 0;  ///< of the centre from the point [m]
    ConstraintPlane plane;
    double multiplier = 0;  ///< λ of the last sub-goal [m]; 0: touched, but does not hold
};

/// Everything there is to see of a proxy after a tick. Plain numbers, cheap to copy.
struct ProxyState {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    Eigen::Vector3d goal = Eigen::Vector3d::Zero();
    Eigen::Vector3d force = Eigen::Vector3d::Zero();  ///< on the hand [N]
    Eigen::Vector3d secure =
        Eigen::Vector3d::Zero();  ///< after surfaces moved, before the hand did
    /// What surfaces that leave no room moved it by and the force leaves out [m], eq. (8).
    Eigen::Vector3d withheld = Eigen::Vector3d::Zero();
    /// How far surfaces moved it against the hand in this tick [m], along its force: under the
    /// contacts of the last tick, and under those of this one; docs/proxy.md eq. (9).
    Eigen::Vector3d moved_before = Eigen::Vector3d::Zero(), moved = Eigen::Vector3d::Zero();
    std::array<ProxyContact, kMaxPlanes> contacts;  ///< nearest first
    int num_contacts = 0;

    // what happened
    StepStatus status = StepStatus::Ok;
    CarryEvent carry = CarryEvent::None;
    bool is_squeezed = false;      ///< no room for its radius: the last safe position is kept
    bool is_sliding = false;       ///< friction
    bool has_arrived = true;       ///< false: passes ran out on the way to the goal, NotConverged
    bool is_goal_ignored = false;  ///< not finite, InputIgnored
    int passes = 0;                ///< of the sub-goal iteration
    int pops = 0, pop_rounds = 0;
    int triangles_tested = 0;
    int gathers = 0;

    [[nodiscard]] bool is_touching() const noexcept;  ///< some contact holds it
    /// Where the spring of the hand ends: its position, but for what is withheld.
    [[nodiscard]] Eigen::Vector3d spring_end() const noexcept { return position - withheld; }
    /// Planes that hold it, at most three, for a thread that knows nothing else. What is withheld
    /// is left out of them.
    int active_planes(std::array<ConstraintPlane, 3>& planes) const noexcept;
};

/// A sphere that follows a goal and stays outside surfaces that move and deform,
/// docs/proxy.md: assigned, not integrated, so that it has no inertia. One thread at a time; tick()
/// neither allocates nor throws.
class VirtualProxy {
public:
    /// Surfaces that only it touches: tick() advances them. They must outlive it. Throws InputError
    /// for options out of range.
    VirtualProxy(std::vector<MovingSurface*> surfaces, const ProxyOptions& options = {});
    /// Surfaces that others touch as well: the owner of the set advances it before each tick().
    VirtualProxy(const SurfaceSet& surfaces, const ProxyOptions& options = {});
    ~VirtualProxy();

    /// Puts it somewhere in front of all surfaces, which restart if they are its own.
    void reset(const Eigen::Vector3d& position) noexcept;
    /// Surfaces advance (its own, see above) and push it, then it follows the goal. Goals that are
    /// not finite are ignored: no force, and it stays at the surface.
    const ProxyState& tick(const Eigen::Vector3d& goal) noexcept;
    [[nodiscard]] const ProxyState& state() const noexcept;
    /// Triangles that the last tick looked at, and their surfaces.
    [[nodiscard]] const SurfaceNeighbourhood& neighbourhood() const noexcept;
    [[nodiscard]] const ProxyOptions& options() const noexcept;
    /// The radius stays. InputIgnored, and all as it was, for options out of range.
    [[nodiscard]] StepStatus set_options(const ProxyOptions& options) noexcept;
    /// Gives the force of the last tick to the bodies, for their next step, eq. (5) and (6).
    void apply_forces() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
