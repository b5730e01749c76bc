#pragma once

#include <span>

#include <Eigen/Core>

namespace pliant {

/// A zone of a body as the seams see it that bond it to others, docs/greens-zones.md eq. (2): what
/// must hold its seam nodes at given displacements. Any body that can answer this can be a zone:
/// Green's functions, condensed finite elements, a reduced model. Axes of the zone, SI.
class SeamResponse {
public:
    virtual ~SeamResponse() = default;

    /// Unloaded seam nodes [m]; displacements and forces below are in their order.
    [[nodiscard]] virtual std::span<const Eigen::Vector3d> seam_positions() const noexcept = 0;
    /// K = ∂f/∂u [N/m], three rows and columns for each node, at rest.
    [[nodiscard]] virtual Eigen::MatrixXd seam_stiffness() const = 0;
    /// Forces [N] on the seam nodes that hold them displaced by `u` [m] under the loads that the
    /// zone carries now. Both sized; allocates nothing.
    virtual void seam_forces(const Eigen::VectorXd& u, Eigen::VectorXd& f) const noexcept = 0;
    /// f = K u + f̂ exactly.
    [[nodiscard]] virtual bool is_linear() const noexcept { return true; }
};

}  // namespace pliant
