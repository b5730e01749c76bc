#pragma once

#include "pliant/fem/fem_model.h"
#include "pliant/greens/seam_response.h"

#include <memory>
#include <span>
#include <vector>

namespace pliant {

/// Finite elements as a zone among zones of other kinds, docs/greens-zones.md eq. (8): any material
/// that elements have, linear about rest, condensed to the seam nodes. Needs no support of its own.
class FemZone final : public SeamResponse {
public:
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

private:
    FemModel model_;
    std::vector<int> seam_;
    std::vector<int> place_;  // of each component: among the inner ones, −1: seam or fixed
    std::vector<Eigen::Vector3d> positions_;
    Eigen::MatrixXd K_seam_;
    Eigen::MatrixXd responses_;  // of the inner components to unit displacements of the seam
    Eigen::VectorXd held_;       // forces that hold the seam at rest under the loads
    Eigen::VectorXd loaded_;     // inner displacements under the loads, seam at rest
    struct Solver;
    std::unique_ptr<Solver> solver_;
};

}  // namespace pliant
