#pragma once

#include "pliant/greens/surface_zone.h"
#include "pliant/reduction/reduced_force.h"
#include "pliant/reduction/reduced_model.h"

#include <memory>
#include <span>
#include <vector>

#include <Eigen/Cholesky>

namespace pliant {

struct ReducedZoneOptions {
    /// Compliance of the layer that bonds a seam node over that of the elastic modes at it.
    double layer = 0.01;
    int max_iterations = 12;   ///< of Newton's method, for each call of seam_forces
    double tolerance = 1e-10;  ///< of the imbalance, times the forces of the layer
};

/// A reduced model as a zone among zones of other kinds, docs/greens-zones.md eqs. (13)–(15): its
/// deformation may be large. Seam nodes move as its subspace lets them, and a thin elastic layer
/// bonds them to where the seam is. Needs no support of its own. One thread at a time.
class ReducedZone final : public SurfaceZone {
public:
    /// `seam`: vertices of the simulation mesh. Throws InputError for vertices that are not there,
    /// fixed or twice, and options that are not positive.
    ReducedZone(const ReducedModel& model, std::vector<int> seam,
                const ReducedZoneOptions& options = {});
    /// Of a force with the subspace U, three rows for each of the `vertices`.
    ReducedZone(std::shared_ptr<const ReducedForce> force, const Eigen::MatrixXd& U,
                std::span<const Eigen::Vector3d> vertices, std::vector<int> seam,
                const ReducedZoneOptions& options = {});
    /// With a surface to show: U has three rows for each of its vertices, and `seam` are these.
    ReducedZone(std::shared_ptr<const ReducedForce> force, const Eigen::MatrixXd& U,
                SurfaceMesh surface, std::vector<int> seam, const ReducedZoneOptions& options = {});
    /// With the surface of the model, whose vertices `seam` are, and its weight. Throws InputError
    /// also for a free model: rigid motions are not in its subspace.
    [[nodiscard]] static std::shared_ptr<ReducedZone> with_surface(
        const ReducedModel& model, std::vector<int> seam, const ReducedZoneOptions& options = {});
    ~ReducedZone() override;

    [[nodiscard]] int rank() const noexcept { return static_cast<int>(load_.size()); }
    [[nodiscard]] const std::vector<int>& seam() const noexcept { return seam_; }
    /// Of the layer at each seam node [N/m].
    [[nodiscard]] double layer_stiffness() const noexcept { return k_; }
    /// Uᵀ f of the loads that it carries. False: not finite or another number.
    bool set_load(const Eigen::VectorXd& load) noexcept override;
    [[nodiscard]] const SurfaceMesh& surface() const noexcept override { return surface_; }
    [[nodiscard]] int load_size() const noexcept override { return rank(); }
    void add_force(int vertex, const Eigen::Vector3d& force,
                   Eigen::VectorXd& load) const noexcept override;
    /// None but of with_surface.
    void add_weight(const Eigen::Vector3d& acceleration,
                    Eigen::VectorXd& load) const noexcept override;
    /// Where its subspace has them: seam vertices are off the seam by what the layer gives way.
    void place_surface(const Eigen::VectorXd& u,
                       std::span<Eigen::Vector3d> x) const noexcept override;
    [[nodiscard]] Eigen::Matrix3d vertex_compliance(int moved, int pulled) const noexcept override;

    [[nodiscard]] std::span<const Eigen::Vector3d> seam_positions() const noexcept override {
        return positions_;
    }
    [[nodiscard]] Eigen::MatrixXd seam_stiffness() const override;
    /// Stays at the linear answer where Newton's method finds no better one.
    void seam_forces(const Eigen::VectorXd& u, Eigen::VectorXd& f) const noexcept override;
    [[nodiscard]] bool is_linear() const noexcept override { return false; }
    /// Coordinates q of the last seam_forces.
    [[nodiscard]] const Eigen::VectorXd& coordinates() const noexcept { return q_; }

private:
    void take_seam(const Eigen::MatrixXd& U, std::span<const Eigen::Vector3d> vertices,
                   const ReducedZoneOptions& options);
    double imbalance(const Eigen::VectorXd& q, const Eigen::VectorXd& u) const noexcept;

    std::shared_ptr<const ReducedForce> force_;
    ReducedZoneOptions options_;
    std::vector<int> seam_;
    std::vector<Eigen::Vector3d> positions_;
    Eigen::MatrixXd U_, UtU_;  // rows of the seam; U_ᵀ U_
    SurfaceMesh surface_;
    Eigen::MatrixXd U_surface_;
    Eigen::MatrixXd weights_;  // for unit accelerations along the axes
    double k_ = 0;
    Eigen::VectorXd load_;
    Eigen::LDLT<Eigen::MatrixXd> at_rest_;  // of K(0) + k UᵀU
    std::unique_ptr<ReducedForce::Workspace> workspace_;
    mutable Eigen::VectorXd q_, tried_, residual_, step_, gap_, held_by_, moved_;
    mutable Eigen::MatrixXd K_;
    mutable Eigen::LDLT<Eigen::MatrixXd> tangent_;
};

}  // namespace pliant
