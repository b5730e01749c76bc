#pragma once

#include "pliant/body/rigid_motion.h"
#include "pliant/body/rigid_shape.h"
#include "pliant/fem/fem_model.h"

#include <span>

namespace pliant {

struct PenaltyOptions {
    double stiffness = 0;      ///< of each node [N/m]; must be positive
    double damping = 0;        ///< against approach and departure while inside [N s/m]
    double friction = 0;       ///< Coulomb's coefficient, smoothed below `slip_speed`
    double slip_speed = 1e-3;  ///< [m/s]
};

/// Springs between surface nodes and rigid obstacles: the baseline that the contact constraint is
/// measured against, and the contact of implicit steps, docs/fem.md eq. (C10).
///     f = max(0, −k gap − c v_n) n + friction
/// Immutable; allocates nothing after construction.
class PenaltyContact {
public:
    /// Throws InputError for options out of range.
    PenaltyContact(FemModel model, std::vector<RigidShape> obstacles,
                   const PenaltyOptions& options);

    [[nodiscard]] const std::vector<RigidShape>& obstacles() const noexcept { return obstacles_; }
    /// Nodes on the surface, ascending; hanging ones are left out.
    [[nodiscard]] const std::vector<int>& nodes() const noexcept { return nodes_; }

    struct Report {
        int num_contacts = 0;
        double energy = 0;   ///< ½ k gap² of all nodes inside [J]
        double deepest = 0;  ///< [m], positive inside
    };
    /// f += contact forces at displacements u and velocities v, and `wrenches`, if not empty, = the
    /// loads on the obstacles about the origins of their frames. Nodes and obstacles that are not
    /// finite are passed by.
    [[nodiscard]] Report add_force(const FemModel::ConstRef& u, const FemModel::ConstRef& v,
                                   std::span<const RigidMotion> motions, FemModel::Ref f,
                                   std::span<Wrench> wrenches) const noexcept;
    /// A += a (−∂f/∂u) + b (−∂f/∂v), into the diagonal blocks of a matrix of
    /// FemModel::make_matrix(). Normals and obstacles are taken as constant, friction as viscous:
    /// symmetric, positive semidefinite.
    void add_matrix(const FemModel::ConstRef& u, const FemModel::ConstRef& v,
                    std::span<const RigidMotion> motions, double a, double b,
                    FemModel::Matrix& A) const noexcept;

private:
    FemModel model_;
    std::vector<RigidShape> obstacles_;
    PenaltyOptions options_;
    std::vector<int> nodes_;
};

}  // namespace pliant
