#include "haptics/contact_memory.h"

#include "core/jacobi_eigen.h"

#include <cmath>

namespace pliant {
namespace {

constexpr double kContactMemory = 0.005;  // in which a lost contact is forgotten [s]

/// S A S with S = diag(1, s): turns as lengths for s = 1/ρ, and back for s = ρ.
Matrix6d with_turns_scaled(Matrix6d A, double s) noexcept {
    A.rightCols<3>() *= s;
    A.bottomRows<3>() *= s;
    return A;
}

/// Of a symmetric matrix, what its positive eigenvalues make.
Matrix6d positive_part(const Matrix6d& A) noexcept {
    const SmallEigen<6> eigen = jacobi_eigen<6>(A);
    Matrix6d sum = Matrix6d::Zero();
    for (int i = 0; i < 6; ++i)
        if (eigen.values[i] > 0)
            sum.noalias() +=
                (eigen.values[i] * eigen.vectors.col(i)) * eigen.vectors.col(i).transpose();
    return sum;
}

}  // namespace

void ContactMemory::recall(ToolContact& contact, const Wrench& felt, const Scales& scales,
                           double dt) noexcept {
    if (contact.num_contacts > 0)
        recall_part(contact, scales, dt);
    else
        recall_all(contact, felt, scales.length, dt);
    num_held_ = contact.num_contacts;
}

void ContactMemory::recall_all(ToolContact& contact, const Wrench& felt, double length,
                               double dt) noexcept {
    lost_.setZero();
    time_ += dt;
    // only while the springs press towards it
    const double press =
        felt.force.dot(load_.force) + felt.torque.dot(load_.torque) / (length * length);
    if (press > 0) contact.gradient = std::exp(-time_ / kContactMemory) * gradient_;
}

void ContactMemory::recall_part(ToolContact& contact, const Scales& scales, double dt) noexcept {
    gradient_ = contact.gradient;
    load_ = contact.load;
    time_ = 0;
    if (!(scales.stiffness > 0)) return;
    const Matrix6d held = with_turns_scaled(scales.stiffness * contact.normals, 1 / scales.length);
    lost_ *= std::exp(-dt / kContactMemory);
    const Matrix6d change = held_ - held;
    if (contact.num_contacts < num_held_ && change.allFinite()) {
        const Matrix6d lost = positive_part(change);
        if (lost.trace() > lost_.trace()) lost_ = lost;
    }
    held_ = held;
    contact.gradient -= with_turns_scaled(lost_, scales.length);
}

}  // namespace pliant
