#pragma once

#include "greens/rigid_correction.h"
#include "greens/unknown_blocks.h"
#include "pliant/greens/boundary_operator.h"

#include <vector>

namespace pliant {

/// A compressed matrix Ã that rigid motions of the free nodes may correct.
class CorrectedOperator : public BoundaryOperator {
public:
    [[nodiscard]] int num_unknowns() const noexcept final { return 3 * blocks_.num_nodes(); }
    [[nodiscard]] std::int64_t num_bytes() const noexcept final { return num_bytes_; }
    void apply(const Eigen::Ref<const Eigen::MatrixXd>& X,
               Eigen::Ref<Eigen::MatrixXd> Y) const final {
        multiply(X, Y);
        correction_.add(X, Y);
    }

protected:
    CorrectedOperator(const BoundaryModel& model, const std::vector<NodeKind>& kinds)
        : blocks_(model, kinds) {}
    /// Y = Ã X.
    virtual void multiply(const Eigen::Ref<const Eigen::MatrixXd>& X,
                          Eigen::Ref<Eigen::MatrixXd> Y) const = 0;
    /// Once Ã is complete.
    void correct() {
        correction_ = RigidCorrection(
            blocks_, [&](const Eigen::MatrixXd& X, Eigen::MatrixXd& Y) { multiply(X, Y); });
    }

    UnknownBlocks blocks_;
    std::int64_t num_bytes_ = 0;

private:
    RigidCorrection correction_;
};

}  // namespace pliant
