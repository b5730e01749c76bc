#include "fem/step_set.h"

#include "pliant/core/error.h"

#include <algorithm>
#include <cmath>

namespace pliant {

StepSet::StepSet(const Matrix& M, const Matrix& D, std::span<const int> order, double largest_step,
                 int num_steps, SolverKind kind) {
    for (int i = 0; i < num_steps; ++i) lengths_.push_back(std::ldexp(largest_step, -i));

    std::vector<double> dts{0.0};
    const std::span<const double> damping(D.valuePtr(), static_cast<std::size_t>(D.nonZeros()));
    if (std::ranges::any_of(damping, [](double d) { return d != 0; }))
        dts.insert(dts.end(), lengths_.begin(), lengths_.end());
    for (const double dt : dts) {
        // the sum has a place wherever M or D has one, whatever the value: one pattern for all
        const Matrix A = M + (0.5 * dt) * D;
        factors_.push_back(make_linear_solver(kind));
        FactorResult result = factors_.back()->analyse(A, order);
        if (result.is_ok()) result = factors_.back()->factor(A);
        if (result.status == FactorStatus::OutOfMemory)
            throw InputError("", "there is not enough memory to factor the matrices of " +
                                     std::to_string(dts.size()) + " steps with " +
                                     std::to_string(A.rows()) +
                                     " unknowns; use fewer steps or a coarser mesh");
        if (!result.is_ok())
            throw InputError("", "M + dt/2 D is " + std::string(to_string(result.status)) +
                                     " for a step of " + std::to_string(dt) +
                                     " s: the initial stress makes the stiffness at rest "
                                     "indefinite, and with it the damping; reduce one of them");
    }
}

}  // namespace pliant
