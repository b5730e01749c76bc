#include "fem/rigid_part.h"

#include <Eigen/LU>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

}  // namespace

RigidPart::RigidPart(const ExplicitDynamics& dynamics)
    : model_(dynamics.model()), mass_(model_.num_nodes()) {
    for (int node = 0; node < model_.num_nodes(); ++node) {
        mass_[node] = dynamics.mass()[3 * Eigen::Index{node}];
        for (int axis = 0; axis < 3; ++axis)
            is_held_ = is_held_ || dynamics.constraints().is_prescribed(node, axis);
    }
    total_ = mass_.sum();
}

Vector3d RigidPart::place(const FemState& s, Eigen::Index node) const noexcept {
    return model_.mesh().vertices[static_cast<std::size_t>(node)] + s.u.segment<3>(3 * node);
}

Vector3d RigidPart::centre(const FemState& s) const noexcept {
    Vector3d sum = Vector3d::Zero();
    for (Eigen::Index node = 0; node < mass_.size(); ++node) sum += mass_[node] * place(s, node);
    return sum / total_;
}

void RigidPart::set(const Twist& twist, FemState& s) const noexcept {
    const Vector3d middle = centre(s);
    for (Eigen::Index node = 0; node < mass_.size(); ++node)
        s.v.segment<3>(3 * node) = twist.linear + twist.angular.cross(place(s, node) - middle);
}

void RigidPart::damp(const FemState& s, double rate, Eigen::VectorXd& f) const noexcept {
    Vector3d linear = Vector3d::Zero(), angular = linear, middle = linear;
    if (!is_held_) {
        middle = centre(s);
        Vector3d spin = Vector3d::Zero();
        Matrix3d inertia = Matrix3d::Zero();
        for (Eigen::Index node = 0; node < mass_.size(); ++node) {
            const Vector3d r = place(s, node) - middle;
            const Vector3d p = mass_[node] * s.v.segment<3>(3 * node);
            linear += p;
            spin += r.cross(p);
            inertia.diagonal().array() += mass_[node] * r.squaredNorm();
            inertia.noalias() -= (mass_[node] * r) * r.transpose();
        }
        linear /= total_;
        bool has_inverse = false;
        Matrix3d inverse;
        inertia.computeInverseWithCheck(inverse, has_inverse, 0.0);
        if (has_inverse) angular = inverse * spin;
    }
    for (Eigen::Index node = 0; node < mass_.size(); ++node) {
        const Vector3d rigid = linear + angular.cross(place(s, node) - middle);
        f.segment<3>(3 * node) -= rate * mass_[node] * (s.v.segment<3>(3 * node) - rigid);
    }
}

}  // namespace pliant
