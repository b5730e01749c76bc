#pragma once

#include "pliant/core/pose.h"
#include "pliant/haptics/virtual_proxy.h"
#include "pliant/particles/particle_layout.h"

namespace pliant {

/// What the sums of docs/sphere-tools.md eq. (4) are divided by.
enum class ToolShare {
    Total,     ///< all spheres: light touches are soft, and a sphere more or less does not jump
    Contacts,  ///< those in contact: as stiff whatever touches
};

struct SphereToolOptions {
    bool is_rigid = false;  ///< one piece; otherwise groups and links of the layout bend
    int iterations = 4;     ///< passes over groups and links, of a tool that bends
    double translation_stiffness = 500;  ///< k_t [N/m]
    double rotation_stiffness = 500;     ///< k_r [N/m]: torque per arm and offset
    ToolShare share = ToolShare::Total;
    /// Where the hand holds it, in the axes of the layout [m].
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    bool has_second_pass = true;  ///< false only to show what it is for
    /// Of every sphere. Radii are those of the layout, its stiffness follows from k_t; no shading.
    ProxyOptions sphere{};
};
/// Throws InputError for numbers out of range.
void check(const SphereToolOptions& options);

/// Everything but the spheres themselves after a tick.
struct SphereToolState {
    Pose hand;      ///< the last that was taken
    Wrench wrench;  ///< on the hand, about its position, eq. (4)
    Pose fit;       ///< of the tool as one piece: draws a rigid one, x ↦ fit (x − centre)
    int num_touching = 0;
    int num_squeezed = 0;       ///< spheres without room, see ProxyState
    double largest_offset = 0;  ///< of a sphere from where the hand wants it [m]

    // what happened
    StepStatus status = StepStatus::Ok;
    bool is_hand_ignored = false;  ///< not finite, or no rotation: InputIgnored, no force
    int passes = 0;                ///< of all spheres
    int pops = 0;
    int triangles_tested = 0;
    /// Time of the last tick [s]: surfaces push, spheres follow the hand, shape and second pass.
    double push_time = 0, follow_time = 0, shape_time = 0;
};

/// A tool of many spheres in a hand with six degrees of freedom, docs/sphere-tools.md: every sphere
/// is a proxy that stays outside surfaces that move, the shape at rest holds them together. It is
/// assigned, not integrated: no inertia, and exactly no force in free motion. One thread at a time;
/// tick() neither allocates nor throws. Cost: some microseconds for each sphere near a surface.
class SphereTool {
public:
    /// Surfaces that only it touches: tick() advances them. They must outlive it. Throws InputError
    /// for what check_layout refuses (links matter only to tools that bend), particles that are no
    /// spheres, and options out of range.
    SphereTool(std::vector<MovingSurface*> surfaces, ParticleLayout spheres,
               const SphereToolOptions& options = {});
    /// Surfaces that others touch as well: the owner of the set advances it before each tick().
    SphereTool(const SurfaceSet& surfaces, ParticleLayout spheres,
               const SphereToolOptions& options = {});
    ~SphereTool();

    [[nodiscard]] const ParticleLayout& layout() const noexcept;
    [[nodiscard]] const SphereToolOptions& options() const noexcept;
    /// Centre and is_rigid stay. InputIgnored, and all as it was, for options out of range.
    [[nodiscard]] StepStatus set_options(const SphereToolOptions& options) noexcept;

    /// Puts all spheres where the hand is, in front of all surfaces, which restart if they are its
    /// own. Ignored unless finite.
    void reset(const Pose& hand) noexcept;
    /// Surfaces advance (its own, see above) and push the spheres, which then follow the hand.
    const SphereToolState& tick(const Pose& hand) noexcept;
    [[nodiscard]] const SphereToolState& state() const noexcept;

    [[nodiscard]] int num_spheres() const noexcept;
    /// Its position, goal, contacts, and force as part of the wrench.
    [[nodiscard]] const ProxyState& sphere(int i) const noexcept;
    [[nodiscard]] double radius(int i) const noexcept;
    /// Of a sphere from rest, for the skin of a tool that bends.
    [[nodiscard]] const Quaternion& turn(int i) const noexcept;
    /// From the hand at rest, o_i of eq. (1) [m].
    [[nodiscard]] const Eigen::Vector3d& offset(int i) const noexcept;
    /// Of one sphere in contact in the last tick, k_t/n and k_r/n of eq. (4) [N/m].
    [[nodiscard]] double translation_stiffness() const noexcept;
    [[nodiscard]] double rotation_stiffness() const noexcept;

    /// Gives the force of the last tick to the bodies, for their next step, eq. (5).
    void apply_forces() noexcept;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pliant
