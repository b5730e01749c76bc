#include "haptics/rigid_fit.h"

#include "core/numbers.h"

#include <Eigen/LU>
#include <Eigen/SVD>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::Vector3d;

RigidFit::RigidFit(const ParticleLayout& layout, const Vector3d& centre)
    : middle_(Vector3d::Zero()) {
    double mass = 0;
    for (const Particle& p : layout.particles) mass += p.mass;
    for (const Particle& p : layout.particles) {
        shares_.push_back(p.mass / mass);
        middle_ += shares_.back() * (p.position - centre);
        spread_ += shares_.back() / 5 * p.radii[0] * p.radii[0];
    }
    for (const Particle& p : layout.particles) arms_.push_back(p.position - centre - middle_);
}

Pose RigidFit::operator()(std::span<const Vector3d> places, const Quaternion& turn) const noexcept {
    Vector3d c = Vector3d::Zero();
    for (std::size_t i = 0; i < places.size(); ++i) c += shares_[i] * places[i];
    Matrix3d A = spread_ * turn.toRotationMatrix();
    for (std::size_t i = 0; i < places.size(); ++i)
        A.noalias() += shares_[i] * (places[i] - c) * arms_[i].transpose();
    if (!A.allFinite()) return {Vector3d::Constant(kNan), turn};
    const Eigen::JacobiSVD<Matrix3d> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
    Matrix3d U = svd.matrixU();
    // never a reflection
    if ((U * svd.matrixV().transpose()).determinant() < 0) U.col(2) = -U.col(2);
    const Quaternion rotation(Matrix3d(U * svd.matrixV().transpose()));
    return {c - rotation * middle_, rotation};
}

}  // namespace pliant
