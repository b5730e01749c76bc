#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <vector>

#include "fem/block_kernels.h"

namespace pliant {

/// A symmetric matrix as sparse rows of 3 × 3 blocks, filled from the lower triangle of an Eigen
/// matrix. A size that is no multiple of three is padded with ones on the diagonal.
class BlockMatrix {
public:
    /// Allocates.
    void set_pattern(const Eigen::SparseMatrix<double>& A);
    /// Same pattern as in set_pattern(); no allocation.
    void set_values(const Eigen::SparseMatrix<double>& A) noexcept;

    [[nodiscard]] int num_rows() const noexcept { return static_cast<int>(diagonal_.size()); }
    [[nodiscard]] BlockRows rows() const noexcept {
        return {num_rows(), offsets_.data(), columns_.data(), values_.data()};
    }
    [[nodiscard]] int diagonal_position(int row) const noexcept { return diagonal_[row]; }

private:
    /// An entry of the lower triangle and the two places where it goes.
    struct Source {
        int from, to, mirrored;
    };
    int num_unknowns_ = 0;
    std::vector<int> offsets_, columns_, diagonal_;
    std::vector<Source> sources_;
    std::vector<double> values_;
};

}  // namespace pliant
