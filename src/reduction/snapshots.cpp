#include "pliant/reduction/snapshots.h"

#include "fem/polar_rotation.h"
#include "geometry/option_check.h"
#include "pliant/fem/mass.h"
#include "pliant/reduction/thin_samples.h"
#include "reduction/fixed_supports.h"

#include <cassert>
#include <cmath>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::VectorXd;
/// One node per row, as displacements lie in memory.
using NodeRows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

SnapshotRecorder::SnapshotRecorder(const FemModel& model, const Constraints& constraints,
                                   double interval)
    : model_(model), interval_(interval) {
    assert(constraints.num_nodes() == model.num_nodes());
    check_option(interval >= 0 && std::isfinite(interval), "interval", interval, "value >= 0");
    check_fixed_supports(constraints);
    is_free_ = true;
    for (int i = 0; i < model.num_nodes(); ++i)
        for (int axis = 0; axis < 3; ++axis)
            if (constraints.is_prescribed(i, axis)) is_free_ = false;
    if (!is_free_) return;
    const Eigen::SparseMatrix<double> M = node_mass_matrix(model);
    rest_.resize(model.num_nodes(), 3);
    for (int i = 0; i < model.num_nodes(); ++i) rest_.row(i) = model.mesh().vertices[i].transpose();
    weights_ = M * VectorXd::Ones(M.cols());
    weights_ /= weights_.sum();
    rest_.rowwise() -= (weights_.transpose() * rest_).eval();
    mass_rest_ = M * rest_;
}

void SnapshotRecorder::remove_rigid_motion(VectorXd& u) const {
    Eigen::Map<NodeRows> displacements(u.data(), u.size() / 3, 3);
    // positions about the centre of mass, turned back by the rotation nearest to Σ M_ab x_a X_bᵀ:
    // what is left of that sum is symmetric, the shape without small rotations in the norm of M
    Eigen::MatrixX3d x = rest_ + displacements;
    x.rowwise() -= (weights_.transpose() * x).eval();
    const Eigen::Matrix3d R = polar_rotation(x.transpose() * mass_rest_);
    displacements = x * R - rest_;
}

void SnapshotRecorder::record(double time, const VectorXd& u) {
    assert(u.size() == model_.num_unknowns());
    if (!std::isfinite(time) || !u.allFinite())
        throw InputError("", "the shape at " + std::to_string(time) +
                                 " s is not finite: the simulation has failed; take a shorter "
                                 "step");
    // steps add up to the interval but for rounding
    const bool is_due =
        shapes_.empty() || time < last_time_ || time - last_time_ >= (1 - 1e-6) * interval_;
    if (!is_due) return;
    shapes_.push_back(u);
    last_time_ = time;
    if (is_free_) remove_rigid_motion(shapes_.back());
}

MatrixXd SnapshotRecorder::shapes(double distance) const {
    check_option(distance >= 0 && distance < 1, "distance", distance, "0 <= value < 1");
    MatrixXd X(model_.num_unknowns(), size());
    for (int i = 0; i < size(); ++i) X.col(i) = shapes_[i];
    if (distance == 0) return X;
    return X(Eigen::all, thin_shapes(X, mass_matrix(model_), distance));
}

}  // namespace pliant
