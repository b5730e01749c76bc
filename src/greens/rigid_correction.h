#pragma once

#include "greens/unknown_blocks.h"

#include <Eigen/Core>

namespace pliant {

/// A x ≈ Ã x + Z (Qᵀx), docs/greens-large.md eq. (L6): exact for rigid motions of the free nodes,
/// where the error of Ã would otherwise decide how the body as a whole moves.
class RigidCorrection {
public:
    RigidCorrection() = default;
    /// `apply(X, Y)`: Y = Ã X.
    template <class Apply>
    RigidCorrection(const UnknownBlocks& blocks, const Apply& apply)
        : Q_(blocks.free_rigid_motions()), Z_(Q_.rows(), Q_.cols()) {
        apply(Q_, Z_);
        Z_ = blocks.product_with_rigid_motions() - Z_;
    }
    void add(const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::Ref<Eigen::MatrixXd> Y) const;

private:
    Eigen::MatrixXd Q_, Z_;
};

}  // namespace pliant
