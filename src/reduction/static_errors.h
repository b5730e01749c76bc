#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/constraints.h"
#include "pliant/fem/fem_model.h"

#include <vector>

namespace pliant {

/// Small loads that everybody tries, and how the whole mesh gives way to them: its weight along
/// each axis, and presses on patches of a tenth of its size. A free body bears its weight on a
/// twentieth of its length, and its own inertia balances a press.
struct StaticTests {
    Eigen::MatrixXd loads, answers;  ///< 3n × count; answers of a free body without rigid motion
    int num_gravity = 0;             ///< of the weight: the first ones
    /// And presses that a basis may be made of; presses after them only test it.
    int num_known = 0;
    [[nodiscard]] int size() const noexcept { return static_cast<int>(loads.cols()); }
};
[[nodiscard]] StaticTests solve_static_tests(const FemModel& model, const Constraints& constraints,
                                             const std::vector<int>& fixed_vertices,
                                             double lowest_eigenvalue, Progress& progress);

/// How much less the loaded places give way in the subspace U, for each test: 1 − fᵀu_r / fᵀu,
/// 0 exact, 1 rigid. `K`: of the body at rest.
[[nodiscard]] Eigen::VectorXd errors_in(const Eigen::MatrixXd& U,
                                        const Eigen::SparseMatrix<double>& K,
                                        const StaticTests& tests);

}  // namespace pliant
