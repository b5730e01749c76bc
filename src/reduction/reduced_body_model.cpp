#include "reduction/reduced_body_model.h"

#include "core/dense_algebra.h"
#include "reduction/linear_force.h"
#include "reduction/reduced_display.h"

#include <algorithm>

namespace pliant {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

ReducedBodyModel::Data::Data(ReducedModel reduced)
    : model(std::move(reduced)),
      surface(model.surface()),
      shapes(model.shapes()),
      display(std::make_shared<ReducedDisplay>(model)),
      force(model.make_force()),
      linear_force(linearized(*force)),
      mass(model.mass()),
      inverse_mass(solve_dense(mass, MatrixXd::Identity(mass.rows(), mass.cols()))),
      weight(model.rank(), 3) {
    for (int axis = 0; axis < 3; ++axis)
        weight.col(axis) = model.gravity_load(Vector3d::Unit(axis));
    VectorXd row(model.rank());
    for (int v = 0; v < shapes.num_vertices(); ++v) {
        double sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
            row.setZero();
            shapes.add_force(v, Vector3d::Unit(axis), row);
            sum += row.squaredNorm();
        }
        largest_row = std::max(largest_row, sum);
    }
    if (!model.is_free()) return;
    inertia = model.inertia();
    const Eigen::Matrix3d& P = inertia->second_moment;
    const Eigen::Matrix3d J = P.trace() * Eigen::Matrix3d::Identity() - P;
    smallest_inertia = symmetric_eigenvalues(J)[0];
    rest_mass = RigidMass{inertia->mass, inertia->centre, J};
}

std::shared_ptr<const ReducedMotion> ReducedBodyModel::Data::motion(
    const ReducedBodyOptions& options) const {
    const ReducedDamping& damping = options.damping;
    const Choice choice{options.is_linear, damping.is_tangential, options.coupling,
                        damping.viscosity};
    const std::scoped_lock lock(mutex_);
    for (const auto& [known, shared] : motions_)
        if (known == choice) return shared;

    // constants of damping are each body's own, in its workspace
    ReducedOptions reduced;
    reduced.damping = {.is_tangential = damping.is_tangential, .viscosity = damping.viscosity};
    ReducedDynamics dynamics(options.is_linear ? linear_force : force, mass, reduced);
    auto made = std::make_shared<ReducedMotion>();
    if (model.is_free())
        made->flight.emplace(std::move(dynamics), *inertia, options.coupling);
    else
        made->held.emplace(std::move(dynamics));
    motions_.emplace_back(choice, made);
    return made;
}

ReducedBodyModel::ReducedBodyModel(ReducedModel model)
    : data_(std::make_shared<Data>(std::move(model))) {}
const ReducedModel& ReducedBodyModel::model() const noexcept { return data_->model; }
std::shared_ptr<const BodyDisplay> ReducedBodyModel::display() const noexcept {
    return data_->display;
}
const SurfaceShapes& ReducedBodyModel::shapes() const noexcept { return data_->shapes; }

}  // namespace pliant
