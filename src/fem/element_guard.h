#pragma once

#include "pliant/fem/explicit_dynamics.h"

#include <vector>

namespace pliant {

/// Keeps the elements of a body from being turned inside out: says how small det F may become in a
/// step, and slows the nodes of elements that would go beyond.
class ElementGuard {
public:
    explicit ElementGuard(const ExplicitDynamics& dynamics);

    /// The least det F after a step, from the smallest one before it: no less than 0.05 and than
    /// half of it. Elements that are there already may stay.
    [[nodiscard]] static double least_det_F(double smallest_before) noexcept;

    /// Changes velocities so that a step of dt seconds keeps every det F. Where a point of an
    /// element would go beyond, its nodes get impulses along the gradient of J = det F,
    ///     m_a Δv_a = λ cof(F) g_a,    g_a = ∇φ_a,    λ such that J reaches the least at that rate
    /// one point after the other in rounds, which keeps the linear and angular momentum and only
    /// ever takes energy; what is left beyond first order is taken out by halves. When the rounds
    /// do not do, all nodes get the velocity of the whole. False if that is beyond use, not finite
    /// or faster than light. Accelerations become zero, in favour of the velocities half a step
    /// later. Bounded; no allocation.
    [[nodiscard]] bool hold_up(FemState& s, double dt, double smallest_before) noexcept;

private:
    template <int N>
    bool push_apart(FemState& s, double dt, double least) noexcept;
    template <int N>
    bool push_point(FemState& s, double dt, double least, int place, int point) noexcept;
    /// Of a hanging node: to its masters.
    void add_velocity(FemState& s, int node, const Eigen::Vector3d& change) noexcept;
    void stop_all(FemState& s) const noexcept;
    void follow_masters(Eigen::VectorXd& x) const noexcept;

    FemModel model_;  ///< shares its data
    /// 1/m of each node; of a hanging one Σ w²/m over its masters; zero where held.
    Eigen::VectorXd inverse_mass_;
    std::vector<int> hanging_;   ///< of each node: in the mesh's list; −1: it moves on its own
    std::vector<char> changed_;  ///< nodes whose elements must be looked at in this round
    std::vector<char> next_;     ///< and in the next one
};

}  // namespace pliant
