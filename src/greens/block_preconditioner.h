#pragma once

#include "pliant/core/progress.h"
#include "pliant/greens/boundary_operator.h"

#include <memory>
#include <vector>

#include <Eigen/Core>

namespace pliant {

struct PreconditionerOptions {
    int leaf_nodes = 128;    ///< clusters with more nodes are divided
    bool has_coarse = true;  ///< rigid motions of each cluster, docs/greens-large.md eq. (L9)
};

/// Approximate inverse of A, docs/greens-large.md section "Preconditioner": inverses of A within
/// clusters of nodes, and a coarse problem of their rigid motions. In single precision.
class BlockPreconditioner {
public:
    /// Throws InputError when a cluster's own matrix is singular.
    BlockPreconditioner(const BoundaryModel& model, const std::vector<NodeKind>& kinds,
                        const BoundaryOperator& A, const PreconditionerOptions& options = {},
                        Progress& progress = Progress::none());
    ~BlockPreconditioner();
    /// Y = M⁻¹ X. Bits as for BoundaryOperator::apply.
    void apply(const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::Ref<Eigen::MatrixXd> Y) const;
    [[nodiscard]] std::int64_t num_bytes() const noexcept;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace pliant
