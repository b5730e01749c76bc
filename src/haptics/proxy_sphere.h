#pragma once

#include "pliant/contact/surface_neighbourhood.h"
#include "pliant/haptics/virtual_proxy.h"

namespace pliant {

/// One sphere that follows goals among surfaces, in the steps that a tick consists of;
/// docs/proxy.md. Any neighbourhood of the same surfaces will do for a step: spheres share one.
class ProxySphere {
public:
    explicit ProxySphere(const ProxyOptions& options) : options_(options) {
        reset(Eigen::Vector3d::Zero());
    }

    [[nodiscard]] const ProxyState& state() const noexcept { return state_; }
    [[nodiscard]] const ProxyOptions& options() const noexcept { return options_; }
    [[nodiscard]] double radius() const noexcept { return options_.sphere.radius; }
    /// All but the radius, which stays.
    void set_options(const ProxyOptions& options) noexcept;
    void reset(const Eigen::Vector3d& position) noexcept;

    // a tick, in this order
    /// The goal is taken unless it is not finite.
    void begin(const Eigen::Vector3d& goal, SurfaceNeighbourhood& near) noexcept;
    /// Surfaces that advanced push it, eq. (1).
    void follow_surfaces(SurfaceNeighbourhood& near) noexcept;
    /// To the goal or as far as surfaces and friction let it, eqs. (2), (3) and (7).
    void follow_goal(SurfaceNeighbourhood& near) noexcept;
    /// Another way among resting surfaces, from where it is now: the second half of a tool's tick.
    /// Contacts are those that hold it from its goal at the end, or else did so before.
    void follow_tool(SurfaceNeighbourhood& near, const Eigen::Vector3d& to) noexcept;
    /// Somewhere, whatever is there.
    void put(const Eigen::Vector3d& position) noexcept { state_.position = position; }
    /// Springs of this stiffness [N/m], and what the next tick starts from.
    void finish(SurfaceNeighbourhood& near, double stiffness) noexcept;

private:
    void approach(SurfaceNeighbourhood& near, const Eigen::Vector3d& goal) noexcept;
    [[nodiscard]] Eigen::Vector3d goal_with_friction(const SurfaceNeighbourhood& near) noexcept;
    /// What friction leaves of a way that the tool's shape wants.
    [[nodiscard]] Eigen::Vector3d place_with_friction(const Eigen::Vector3d& to) const noexcept;
    /// Of many, the nearest of those that keep it from the goal.
    void find_contacts(SurfaceNeighbourhood& near, const Eigen::Vector3d& goal) noexcept;
    [[nodiscard]] PlaneGoal find_subgoal(const Eigen::Vector3d& goal) noexcept;
    /// Goes towards `to`; false: nothing in the way.
    bool move_to(SurfaceNeighbourhood& near, const Eigen::Vector3d& to) noexcept;
    /// Of the spring that leaves out what it can of such a shift [J].
    [[nodiscard]] double spring_energy(const Eigen::Vector3d& shift) const noexcept;
    /// What the force leaves out, eq. (8).
    void withhold() noexcept;
    void count(SurfaceNeighbourhood& near) noexcept;

    ProxyOptions options_;
    ProxyState state_;
    Eigen::Vector3d before_ = Eigen::Vector3d::Zero();  // when the tick began
    Eigen::Vector3d shift_ = Eigen::Vector3d::Zero();   // from the last safe position
    bool was_squeezed_ = false, was_touching_ = false;
    double spare_ = 0;  // beyond what must be covered, so that a tick gathers once

    // what friction holds on to
    bool has_anchor_ = false;
    ProxyContact anchor_;
    Eigen::Vector3d anchor_normal_ = Eigen::Vector3d::UnitZ();
};

}  // namespace pliant
