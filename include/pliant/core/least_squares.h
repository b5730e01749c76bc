#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

namespace pliant {

/// A positive number that data are to tell.
struct FitParameter {
    std::string name;
    double start = 1, low = 1e-300, high = 1e300;  ///< 0 < low ≤ start ≤ high
};

struct FitOptions {
    int max_iterations = 50;
    double tolerance = 1e-7;   ///< of the logarithms of the parameters
    double difference = 1e-3;  ///< of a logarithm, for the Jacobian; more where models are rough
};

/// One parameter as found.
struct FittedParameter {
    std::string name;
    double value = 0;
    double relative_error = 0;     ///< standard error of the logarithm; infinity: none is known
    double low95 = 0, high95 = 0;  ///< interval that holds the truth in 95 of 100 cases
    bool is_identified = true;  ///< false: the data hardly depend on it, or only on a combination
    bool is_at_bound = false;
};

struct FitResult {
    std::vector<FittedParameter> parameters;
    Eigen::VectorXd residuals;  ///< at the values found
    double deviation = 0;       ///< standard deviation of the residuals, for the degrees of freedom
    int degrees_of_freedom = 0;
    int iterations = 0, evaluations = 0;
    bool has_converged = false;
};

/// Model minus data, divided by how sure the data are, or all in one unit.
using FitResiduals = std::function<Eigen::VectorXd(const Eigen::VectorXd& values)>;

/// Least squares by Levenberg and Marquardt in the logarithms of the parameters within bounds, with
/// the Jacobian by central differences: 2n + 1 evaluations for each of a few iterations. Standard
/// errors from (JᵀJ)⁻¹ and Student's t, docs/calibrate.md eqs. (1)–(4). Throws InputError for
/// parameters out of order, fewer data than parameters and residuals that are not finite at the
/// start.
[[nodiscard]] FitResult fit_parameters(const FitResiduals& residuals,
                                       const std::vector<FitParameter>& parameters,
                                       const FitOptions& options = {});

/// Two-sided 95 % point of Student's t, to 0.2 %; infinity without degrees of freedom.
[[nodiscard]] double student_t95(int degrees_of_freedom) noexcept;

}  // namespace pliant
