#pragma once

#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"

#include <vector>

namespace pliant {

/// Keeps shapes of a full simulation, whatever integrates it, for a basis that suits its loads:
/// take mass_pca of them. A free body's rigid motion is taken out of each shape, large rotations
/// included, docs/reduction.md eq. (10), so that a basis of them is mass-orthogonal to rigid
/// motions. 24 n bytes for each shape.
class SnapshotRecorder {
public:
    /// Keeps one shape in `interval` seconds; 0: all. A body without any condition is free. Throws
    /// InputError for an interval out of range and for supports that move.
    SnapshotRecorder(const FemModel& model, const Constraints& constraints, double interval);

    /// Offers all 3n displacements at a time [s]. A time before the last one kept starts a new run.
    /// Throws InputError when they are not finite.
    void record(double time, const Eigen::VectorXd& u);

    [[nodiscard]] int size() const noexcept { return static_cast<int>(shapes_.size()); }
    /// 3n × shapes, in the order kept, thinned so that they differ by `distance` times the largest
    /// in the mass norm; 0: all.
    [[nodiscard]] Eigen::MatrixXd shapes(double distance = 0) const;

private:
    void remove_rigid_motion(Eigen::VectorXd& u) const;

    FemModel model_;
    double interval_;
    bool is_free_;
    double last_time_ = 0;
    Eigen::MatrixX3d rest_;       // of a free body, about its centre of mass
    Eigen::MatrixX3d mass_rest_;  // consistent mass of the nodes times rest_
    Eigen::VectorXd weights_;     // mass of each node over that of the body
    std::vector<Eigen::VectorXd> shapes_;
};

}  // namespace pliant
