#pragma once

#include "pliant/core/progress.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/greens/boundary_elements.h"
#include "pliant/greens/greens_functions.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <Eigen/Core>

namespace pliant {

/// The matrix A of the unknowns of a boundary problem, docs/greens-large.md eq. (L1): block column
/// j is H_:j at a free node and −G_:j at a fixed one. Known by its products alone. Immutable;
/// elastic bodies, not the space around them.
class BoundaryOperator {
public:
    virtual ~BoundaryOperator() = default;

    /// Scalar, three for each node.
    [[nodiscard]] virtual int num_unknowns() const noexcept = 0;
    /// Y = A X, one right-hand side in each column; best many at once. Uses all cores; the bits do
    /// not depend on their number.
    virtual void apply(const Eigen::Ref<const Eigen::MatrixXd>& X,
                       Eigen::Ref<Eigen::MatrixXd> Y) const = 0;
    /// Of the matrix.
    [[nodiscard]] virtual std::int64_t num_bytes() const noexcept = 0;
    /// What row sums give to H at each node's own equation, docs/greens-large.md eq. (L3).
    [[nodiscard]] const std::vector<Eigen::Matrix3d>& own_blocks() const noexcept {
        return own_blocks_;
    }

protected:
    std::vector<Eigen::Matrix3d> own_blocks_;
};

/// Every entry in double precision, 72 n² bytes: the reference for the others.
[[nodiscard]] std::unique_ptr<BoundaryOperator> make_dense_operator(
    const BoundaryModel& model, const std::vector<NodeKind>& kinds,
    Progress& progress = Progress::none());

struct HierarchicalOptions {
    /// Of each low-rank block, relative to its Frobenius norm.
    double tolerance = 1e-4;
    /// Blocks are of low rank where the smaller extent ≤ admissibility · distance.
    double admissibility = 2.5;
    int leaf_nodes = 64;  ///< clusters with more nodes are divided
    bool has_rigid_correction = true;
};

struct HierarchicalReport {
    int num_clusters = 0, num_low_rank = 0, num_dense = 0;
    double mean_rank = 0;  ///< scalar, of low-rank blocks
    std::int64_t low_rank_bytes = 0, dense_bytes = 0;
    double seconds = 0;
};

/// A hierarchical matrix in single precision by adaptive cross approximation,
/// docs/greens-large.md section "Hierarchical matrix". Entries that are not needed are not
/// integrated: work and memory grow like n log n.
[[nodiscard]] std::unique_ptr<BoundaryOperator> make_hierarchical_operator(
    const BoundaryModel& model, const std::vector<NodeKind>& kinds,
    const HierarchicalOptions& options = {}, Progress& progress = Progress::none(),
    HierarchicalReport* report = nullptr);

struct WaveletOperatorOptions {
    double tolerance = 0.01;  ///< ε_A, relative to the largest block of a column
    bool is_lifted = true;
    bool has_rigid_correction = true;  ///< docs/greens-large.md eq. (L6)
    /// Rows are integrated only where the coefficients of their parents are not small.
    bool is_adaptive = true;
};

struct WaveletOperatorReport {
    std::int64_t num_blocks = 0;      ///< kept
    std::int64_t num_integrated = 0;  ///< blocks evaluated
    double compression = 0;           ///< n² / num_blocks
    double seconds = 0;
};

/// Columns as wavelet coefficients over their rows, docs/greens-large.md section "Wavelet columns".
/// `surface` is that of the model, whose nodes are its vertices (linear elements without doubled
/// nodes). Throws InputError for another.
[[nodiscard]] std::unique_ptr<BoundaryOperator> make_wavelet_operator(
    const BoundaryModel& model, const SemiRegularMesh& surface, const std::vector<NodeKind>& kinds,
    const WaveletOperatorOptions& options = {}, Progress& progress = Progress::none(),
    WaveletOperatorReport* report = nullptr);

}  // namespace pliant
