#pragma once

#include "pliant/geometry/surface_mesh.h"
#include "pliant/greens/seam_response.h"

#include <span>

namespace pliant {

/// A zone of another kind than Green's functions whose surface is drawn and pulled at: what a
/// ZonedBody takes beside models, docs/greens-zones.md section "Hybrids". Loads are numbers of the
/// zone's own choice, linear in the forces, so that a body can let them follow with a lag. Axes of
/// the zone, SI. One thread at a time; calls marked noexcept allocate nothing.
class SurfaceZone : public SeamResponse {
public:
    /// At rest. Empty: the zone was made without one.
    [[nodiscard]] virtual const SurfaceMesh& surface() const noexcept = 0;
    [[nodiscard]] virtual int load_size() const noexcept = 0;
    /// load += that of a force [N] on a vertex of the surface.
    virtual void add_force(int vertex, const Eigen::Vector3d& force,
                           Eigen::VectorXd& load) const noexcept = 0;
    /// load += that of the weight for an acceleration [m/s²].
    virtual void add_weight(const Eigen::Vector3d& acceleration,
                            Eigen::VectorXd& load) const noexcept = 0;
    /// Carried from now on. False: not finite or another number; the old one stays.
    virtual bool set_load(const Eigen::VectorXd& load) noexcept = 0;
    /// Vertices of the surface under the load, the seam nodes displaced by `u` [m].
    virtual void place_surface(const Eigen::VectorXd& u,
                               std::span<Eigen::Vector3d> x) const noexcept = 0;
    /// Displacement of a vertex for a force on another one [m/N], at rest, with the seams held.
    [[nodiscard]] virtual Eigen::Matrix3d vertex_compliance(int moved,
                                                            int pulled) const noexcept = 0;
};

}  // namespace pliant
