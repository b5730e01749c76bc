#pragma once

#include "fem/fem_samples.h"
#include "pliant/fem/coupled_dynamics.h"
#include "pliant/fem/loads.h"

#include <algorithm>
#include <limits>

/// Bodies and measures for the tests of the coupled path.
namespace pliant::test {

inline Material soft_material(double drag = 0, Law law = Law::StVenantKirchhoff) {
    Material material = isotropic(2e4, 0.3, 1000, law);
    material.viscosity = drag;
    return material;
}
/// A cube of 0.1 m in n³ elements, its lower face at z = height.
inline FemModel block(int n, double height = 0, const Material& material = soft_material()) {
    const Box box(Eigen::Vector3d(-0.05, -0.05, height), Eigen::Vector3d(0.05, 0.05, height + 0.1));
    return {hex_box(n, n, n, box), {material}};
}
/// Holds the nodes with the lowest z.
inline Constraints clamped(const FemModel& model) {
    Constraints constraints(model.num_nodes());
    double lowest = std::numeric_limits<double>::infinity();
    for (const Eigen::Vector3d& x : model.mesh().vertices) lowest = std::min(lowest, x.z());
    constraints.fix(vertices_where(
        model.mesh(), [&](const Eigen::Vector3d& x) { return x.z() < lowest + 1e-9; }));
    return constraints;
}

/// One step length, consistent matrices.
inline CoupledOptions coupled_options(double dt, int num_steps = 1) {
    CoupledOptions options;
    options.largest_step = dt;
    options.num_steps = num_steps;
    return options;
}
/// The matrices of the decoupled path.
inline CoupledOptions lumped_options(double dt) {
    CoupledOptions options = coupled_options(dt);
    options.has_consistent_mass = false;
    options.has_lumped_drag = true;
    return options;
}

inline void set_velocity(FemState& s, const Eigen::Vector3d& v) {
    for (int i = 0; i < s.v.size(); i += 3) s.v.segment<3>(i) = v;
}
inline double total_mass(const FemModel& model) { return lumped_mass(model).sum() / 3; }
/// Σ m v: the same with row sums of the consistent mass.
inline Eigen::Vector3d momentum(const FemModel& model, const FemState& s) {
    const Eigen::VectorXd m = lumped_mass(model);
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (int i = 0; i < s.v.size(); i += 3) sum += m[i] * s.v.segment<3>(i);
    return sum;
}
inline double lowest_point(const FemModel& model, const FemState& s) {
    double lowest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < model.num_nodes(); ++i)
        lowest = std::min(lowest, model.mesh().vertices[i].z() + s.u[3 * i + 2]);
    return lowest;
}
/// The largest of the relative differences of u, v and a.
inline double difference(const FemState& a, const FemState& b) {
    return std::max({(a.u - b.u).norm() / b.u.norm(), (a.v - b.v).norm() / b.v.norm(),
                     (a.a - b.a).norm() / b.a.norm()});
}

}  // namespace pliant::test
