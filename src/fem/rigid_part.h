#pragma once

#include "pliant/fem/explicit_dynamics.h"

namespace pliant {

/// The rigid part of the motion of a body of finite elements: the velocity field with the momentum
/// and the angular momentum of the whole. A body that is held somewhere has none.
class RigidPart {
public:
    explicit RigidPart(const ExplicitDynamics& dynamics);
    [[nodiscard]] bool is_held() const noexcept { return is_held_; }
    /// Sets the velocities of all nodes, `twist` about the centre of mass.
    void set(const Twist& twist, FemState& s) const noexcept;
    /// f −= rate m (v − v_rigid), which has neither a force nor a torque where nothing is held.
    /// No allocation.
    void damp(const FemState& s, double rate, Eigen::VectorXd& f) const noexcept;

private:
    [[nodiscard]] Eigen::Vector3d centre(const FemState& s) const noexcept;
    [[nodiscard]] Eigen::Vector3d place(const FemState& s, Eigen::Index node) const noexcept;

    FemModel model_;        ///< shares its data
    Eigen::VectorXd mass_;  ///< of each node; zero of hanging ones
    double total_ = 0;
    bool is_held_ = false;
};

}  // namespace pliant
