#pragma once

#include "pliant/fem/fem_model.h"
#include "pliant/greens/surface_zone.h"

#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// Finite elements as a zone among zones of other kinds, docs/greens-zones.md eq. (8): any material
/// that elements have, linear about rest, condensed to the seam nodes. Needs no support of its own.
/// Zones of tetrahedra add up to the whole body with ElementFormulation::Plain only: accurate ones
/// average over the elements around each node, which a seam cuts apart.
class FemZone final : public SurfaceZone {
public:
    static constexpr int kMaxShownVertices = 1500;

    /// `seam` and `fixed` are vertices of the mesh. Throws InputError for vertices that are not
    /// there, twice or in both, hanging vertices, and a body whose inside the seams and the fixed
    /// vertices do not hold.
    FemZone(FemModel model, std::vector<int> seam, std::vector<int> fixed = {});
    ~FemZone() override;

    /// Forces [N] on vertices off the seam, added to the weight for an acceleration [m/s²] in the
    /// axes of the zone. Slow: solves for all vertices.
    void set_loads(std::span<const int> vertices, std::span<const Eigen::Vector3d> forces,
                   const Eigen::Vector3d& gravity = Eigen::Vector3d::Zero());

    [[nodiscard]] const FemModel& model() const noexcept { return model_; }
    [[nodiscard]] const std::vector<int>& seam() const noexcept { return seam_; }
    [[nodiscard]] std::span<const Eigen::Vector3d> seam_positions() const noexcept override {
        return positions_;
    }
    [[nodiscard]] Eigen::MatrixXd seam_stiffness() const override { return K_seam_; }
    void seam_forces(const Eigen::VectorXd& u, Eigen::VectorXd& f) const noexcept override;
    /// Displacements of all vertices [m], three each, with those of the seam given.
    [[nodiscard]] Eigen::VectorXd displacements(const Eigen::VectorXd& u_seam) const;

    /// Takes the outer faces of the mesh for the surface(), and solves for forces on each of its
    /// vertices. Throws InputError for more than kMaxShownVertices.
    void show_surface();
    /// Vertex of the mesh of each vertex of the surface.
    [[nodiscard]] const std::vector<int>& surface_vertices() const noexcept { return shown_; }
    [[nodiscard]] const SurfaceMesh& surface() const noexcept override { return surface_; }
    // Loads are forces that hold the seam at rest, then displacements of the surface.
    [[nodiscard]] int load_size() const noexcept override {
        return static_cast<int>(held_.size() + moved_.size());
    }
    void add_force(int vertex, const Eigen::Vector3d& force,
                   Eigen::VectorXd& load) const noexcept override;
    void add_weight(const Eigen::Vector3d& acceleration,
                    Eigen::VectorXd& load) const noexcept override;
    /// In place of set_loads; displacements() does not know of it.
    bool set_load(const Eigen::VectorXd& load) noexcept override;
    void place_surface(const Eigen::VectorXd& u,
                       std::span<Eigen::Vector3d> x) const noexcept override;
    [[nodiscard]] Eigen::Matrix3d vertex_compliance(int moved, int pulled) const noexcept override;

private:
    [[nodiscard]] Eigen::MatrixXd on_surface(const Eigen::MatrixXd& inner) const;

    FemModel model_;
    std::vector<int> seam_;
    std::vector<int> place_;  // of each component: among the inner ones, −1: seam or fixed
    std::vector<Eigen::Vector3d> positions_;
    Eigen::MatrixXd K_seam_;
    Eigen::MatrixXd responses_;  // of the inner components to unit displacements of the seam
    Eigen::VectorXd held_;       // forces that hold the seam at rest under the loads
    Eigen::VectorXd loaded_;     // inner displacements under the loads, seam at rest
    // of the surface: what unit forces on it, the weight and the seam do
    SurfaceMesh surface_;
    std::vector<int> shown_;
    Eigen::MatrixXd by_force_, by_weight_, by_seam_;
    Eigen::VectorXd moved_;
    mutable Eigen::VectorXd placed_;
    struct Solver;
    std::unique_ptr<Solver> solver_;
};

}  // namespace pliant
