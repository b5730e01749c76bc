#pragma once

#include "pliant/core/progress.h"

#include <Eigen/Core>
#include <vector>

namespace pliant {

/// P A = L U of a large dense matrix, by blocks of columns on all cores. The bits do not depend on
/// the number of threads. Takes the memory of A; nothing else of its size is needed.
class DenseLu {
public:
    /// Throws Cancelled, and InputError for a matrix that is singular to working precision or not
    /// finite.
    DenseLu(Eigen::MatrixXd A, Progress& progress);

    /// One right-hand side per column; best many at once.
    void solve_in_place(Eigen::Ref<Eigen::MatrixXd> B) const;

private:
    Eigen::MatrixXd LU_;
    std::vector<int> pivots_;  // as LAPACK's: row i was exchanged with pivots_[i], from 1 on
};

}  // namespace pliant
