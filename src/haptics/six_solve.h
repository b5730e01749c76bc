#pragma once

#include "pliant/haptics/static_coupling.h"

namespace pliant {

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

struct SixSolution {
    Vector6d x = Vector6d::Zero();
    int num_degenerate = 0;
    bool is_good = true;  ///< false: not finite
};

/// A x = b where A says something, docs/haptics.md eq. (19): directions (right singular vectors)
/// whose singular value is below `threshold` of the largest follow `goal` (Svd) or stay
/// (Truncated). Decomposes only where a bound of the condition asks for it. Allocates nothing,
/// bounded time.
[[nodiscard]] SixSolution solve_six(const Matrix6d& A, const Vector6d& b, const Vector6d& goal,
                                    double threshold, CouplingSolve solve) noexcept;

/// Singular values of A in no order, with right singular vectors as columns: the part that
/// solve_six needs. Those below `least` of the largest are left as they come: they span the rest.
struct RightSingular {
    Matrix6d V;
    Vector6d values;
};
[[nodiscard]] RightSingular right_singular(const Matrix6d& A, double least) noexcept;

}  // namespace pliant
