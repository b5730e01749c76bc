#include "greens/rigid_correction.h"

#include "pliant/core/parallel.h"

namespace pliant {

void RigidCorrection::add(const Eigen::Ref<const Eigen::MatrixXd>& X,
                          Eigen::Ref<Eigen::MatrixXd> Y) const {
    if (Q_.cols() == 0) return;
    parallel_for(static_cast<std::size_t>(X.cols()), 1, [&](std::size_t c) {
        const auto column = static_cast<Eigen::Index>(c);
        const Eigen::VectorXd part = Q_.transpose() * X.col(column);
        Y.col(column).noalias() += Z_ * part;
    });
}

}  // namespace pliant
