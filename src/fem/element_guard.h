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

    /// Changes velocities, and takes the accelerations away, so that a step of dt seconds keeps
    /// every det F: the nodes of an element that it would bring too far approach each other more
    /// slowly, with their momentum kept, or not at all. When a few rounds over the elements do not
    /// do, all nodes get the velocity of the whole. False if that is beyond use, not finite or
    /// faster than light. Bounded; no allocation.
    [[nodiscard]] bool hold_up(FemState& s, double dt, double smallest_before) const noexcept;

private:
    template <int N>
    bool hold_up_elements(FemState& s, double dt, double least) const noexcept;
    void set_velocity(FemState& s, int node, const Eigen::Vector3d& v) const noexcept;
    void stop_all(FemState& s) const noexcept;
    void follow_masters(FemState& s) const noexcept;

    FemModel model_;            ///< shares its data
    Eigen::VectorXd mass_;      ///< of each node; infinite where held
    std::vector<int> hanging_;  ///< of each node: in the mesh's list; −1: it moves on its own
};

}  // namespace pliant
