#include "pliant/core/least_squares.h"

#include "pliant/core/error.h"

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNotKnown = std::numeric_limits<double>::infinity();
/// Singular values of the scaled Jacobian below this part of the largest one carry no information.
constexpr double kLeastSingular = 1e-4;
/// A parameter known no better than to a factor e is not known.
constexpr double kLargestError = 1;

void check_fit(const std::vector<FitParameter>& parameters) {
    if (parameters.empty()) throw InputError("", "there is no parameter to fit; name one");
    for (const FitParameter& p : parameters)
        if (!(p.low > 0 && p.low <= p.start && p.start <= p.high && p.high < kNotKnown))
            throw InputError("", p.name, std::to_string(p.start),
                             "a start between " + std::to_string(p.low) + " and " +
                                 std::to_string(p.high) + ", all positive");
}

/// The problem in logarithms.
class Fit {
public:
    Fit(const FitResiduals& residuals, const std::vector<FitParameter>& parameters,
        const FitOptions& options)
        : residuals_(residuals), options_(options) {
        const auto n = static_cast<Eigen::Index>(parameters.size());
        x_.resize(n), low_.resize(n), high_.resize(n);
        for (Eigen::Index j = 0; j < n; ++j) {
            const FitParameter& p = parameters[static_cast<std::size_t>(j)];
            x_[j] = std::log(p.start), low_[j] = std::log(p.low), high_[j] = std::log(p.high);
        }
    }

    VectorXd evaluate(const VectorXd& x) {
        ++evaluations_;
        return residuals_(x.array().exp().matrix());
    }
    MatrixXd jacobian(const VectorXd& x, Eigen::Index rows) {
        MatrixXd J(rows, x.size());
        for (Eigen::Index j = 0; j < x.size(); ++j) {
            VectorXd up = x, down = x;
            up[j] = std::min(x[j] + options_.difference, high_[j]);
            down[j] = std::max(x[j] - options_.difference, low_[j]);
            const double span = up[j] - down[j];
            if (span > 0)
                J.col(j) = (evaluate(up) - evaluate(down)) / span;
            else
                J.col(j).setZero();
        }
        return J;
    }
    /// Whether descent would leave the bounds.
    [[nodiscard]] bool is_held(Eigen::Index j, double slope) const {
        return (x_[j] <= low_[j] && slope > 0) || (x_[j] >= high_[j] && slope < 0);
    }
    bool iterate() {
        VectorXd r = evaluate(x_);
        if (!r.allFinite())
            throw InputError("", "the model has no finite answer for the values it starts from");
        if (r.size() < x_.size())
            throw InputError("", "there are " + std::to_string(r.size()) + " data for " +
                                     std::to_string(x_.size()) +
                                     " parameters; measure more or fit fewer");
        double damping = 1e-3;
        bool has_converged = false;
        for (; iterations_ < options_.max_iterations && !has_converged; ++iterations_) {
            const MatrixXd J = jacobian(x_, r.size());
            const VectorXd g = J.transpose() * r;
            MatrixXd A = J.transpose() * J;
            for (Eigen::Index j = 0; j < x_.size(); ++j)
                if (is_held(j, g[j])) A.row(j).setZero(), A.col(j).setZero();
            has_converged = true;  // unless a step below is worth it
            for (int attempt = 0; attempt < 12; ++attempt, damping *= 4) {
                MatrixXd B = A;
                // absolute part: directions without information stay where they are
                const double floor = 1e-9 * std::max(A.diagonal().maxCoeff(), 1e-300);
                B.diagonal() += (damping * A.diagonal()).cwiseMax(floor);
                VectorXd step = -B.ldlt().solve(g);
                for (Eigen::Index j = 0; j < x_.size(); ++j)
                    step[j] = is_held(j, g[j]) ? 0 : std::clamp(step[j], -1.5, 1.5);
                const VectorXd x = (x_ + step).cwiseMax(low_).cwiseMin(high_);
                if (!((x - x_).cwiseAbs().maxCoeff() > options_.tolerance)) break;
                const VectorXd next = evaluate(x);
                if (!(next.allFinite() && next.squaredNorm() < r.squaredNorm())) continue;
                x_ = x, r = next, damping = std::max(damping / 10, 1e-9);
                has_converged = false;
                break;
            }
        }
        residuals_found_ = r;
        return has_converged;
    }

    FitResult run(const std::vector<FitParameter>& parameters) {
        FitResult result;
        result.has_converged = iterate();
        const VectorXd& r = residuals_found_;
        const Eigen::Index n = x_.size();
        const MatrixXd J = jacobian(x_, r.size());
        result.residuals = r;
        result.degrees_of_freedom = static_cast<int>(r.size() - n);
        result.deviation =
            result.degrees_of_freedom > 0 ? r.norm() / std::sqrt(result.degrees_of_freedom) : 0;

        // columns of length one, so that units and influence do not hide combinations
        VectorXd length = J.colwise().norm().transpose();
        const double longest = std::max(length.maxCoeff(), 1e-300);
        MatrixXd scaled = J;
        for (Eigen::Index j = 0; j < n; ++j) scaled.col(j) /= std::max(length[j], 1e-300);
        const Eigen::JacobiSVD<MatrixXd> svd(scaled, Eigen::ComputeThinV);
        const VectorXd& s = svd.singularValues();
        const double t = student_t95(result.degrees_of_freedom);
        for (Eigen::Index j = 0; j < n; ++j) {
            FittedParameter found{parameters[static_cast<std::size_t>(j)].name, std::exp(x_[j])};
            found.is_at_bound = x_[j] <= low_[j] + 1e-9 || x_[j] >= high_[j] - 1e-9;
            // docs/calibrate.md eqs. (3) and (4)
            double variance = 0;
            found.is_identified = length[j] > 1e-6 * longest;
            for (Eigen::Index k = 0; k < n; ++k) {
                const double part = svd.matrixV()(j, k);
                if (s[k] > kLeastSingular * s[0])
                    variance += part * part / (s[k] * s[k]);
                else if (std::abs(part) > 0.05)
                    found.is_identified = false;
            }
            found.relative_error = found.is_identified && result.degrees_of_freedom > 0
                                       ? result.deviation * std::sqrt(variance) / length[j]
                                       : kNotKnown;
            if (result.degrees_of_freedom > 0 && found.relative_error > kLargestError)
                found.is_identified = false;
            const double reach = t * found.relative_error;
            found.low95 = std::isfinite(reach) ? found.value * std::exp(-reach) : 0;
            found.high95 = std::isfinite(reach) ? found.value * std::exp(reach) : kNotKnown;
            result.parameters.push_back(found);
        }
        result.iterations = iterations_;
        result.evaluations = evaluations_;
        return result;
    }

private:
    const FitResiduals& residuals_;
    FitOptions options_;
    VectorXd x_, low_, high_, residuals_found_;
    int iterations_ = 0, evaluations_ = 0;
};

}  // namespace

FitResult fit_parameters(const FitResiduals& residuals, const std::vector<FitParameter>& parameters,
                         const FitOptions& options) {
    check_fit(parameters);
    return Fit(residuals, parameters, options).run(parameters);
}

double student_t95(int degrees_of_freedom) noexcept {
    constexpr std::array<double, 5> few = {kNotKnown, 12.706, 4.303, 3.182, 2.776};
    if (degrees_of_freedom < 5)
        return few[static_cast<std::size_t>(std::max(degrees_of_freedom, 0))];
    // Cornish–Fisher about the normal distribution
    constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    const double v = degrees_of_freedom;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

}  // namespace pliant
