#include "reduction/reduced_system.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

/// Sufficient decrease of W − f·q, as a part of what its slope promises.
constexpr double kReducedDecrease = 1e-4;
constexpr int kMaxReducedBacktracks = 40;
/// Times the energies that cancel: below it differences are rounding.
constexpr double kStaticRounding = 1e-14;
/// Of the first residual: convergence where no force is left to compare with.
constexpr double kAtRest = 1e-10;
/// Of K + shift · M, from one try to the next, until it is positive definite.
constexpr double kShiftGrowth = 8;
constexpr int kMaxShifts = 24;

/// X.col(0) ← (K + shift · M)⁻¹ X.col(0) with the smallest shift tried that makes it a descent.
bool solve_descent(const ReducedSystem& m, ReducedScratch& ws, bool& is_indefinite) noexcept {
    ws.solver.definite() = ws.K;
    if (ws.solver.solve_definite(ws.X, 1)) return true;
    is_indefinite = true;
    double shift = 1e-3 * ws.K.norm() / m.mass.norm();
    for (int k = 0; k < kMaxShifts; ++k, shift *= kShiftGrowth) {
        ws.solver.definite() = ws.K + shift * m.mass;
        if (ws.solver.solve_definite(ws.X, 1)) return true;
    }
    return false;
}

/// From ws.start.q by a part of X.col(0) to where W − f·q is less; false when it is nowhere.
bool line_search(const ReducedSystem& m, double potential, double slope,
                 ReducedScratch& ws) noexcept {
    double part = 1;
    for (int k = 0; k < kMaxReducedBacktracks; ++k, part *= 0.5) {
        ws.now.q = ws.start.q + part * ws.X.col(0);
        const double elastic = elastic_energy(m, ws.now.q, ws), work = ws.f.dot(ws.now.q);
        // parts of W cancel that may be as large as |K| |q|²
        const double slack = kStaticRounding * (std::abs(elastic) + std::abs(work) +
                                                ws.K.norm() * ws.now.q.squaredNorm());
        if (elastic - work <= potential + kReducedDecrease * part * slope + slack) return true;
    }
    return false;
}

}  // namespace

ReducedReport ReducedDynamics::solve_static(ReducedState& s, const ConstRef& f, int max_iterations,
                                            Workspace& workspace) const noexcept {
    auto& ws = static_cast<ReducedScratch&>(workspace);
    const Impl& m = *impl_;
    ReducedReport report;
    const StepInput input = take_input(m, s, f, 1, ws);
    report.status = input.status;
    if (input.status != StepStatus::Ok) return report;

    ws.now.q = s.q;
    double smallest = 0, first = 0;
    for (;; ++report.iterations) {
        evaluate_force(m, ws.now.q, ws);
        ws.residual = ws.f - ws.R;
        report.residual = ws.residual.norm();
        if (!std::isfinite(report.residual)) {
            report.status = StepStatus::StepRejected;
            return report;
        }
        if (report.iterations == 0) first = report.residual;
        if (report.iterations == 0 || report.residual < smallest) {
            smallest = report.residual;
            s.q = ws.now.q;
        }
        const double rounding = kStaticRounding * ws.K.norm() * ws.now.q.norm();
        const double forces = std::max(ws.f.norm(), ws.R.norm());
        if (report.residual <= m.options.tolerance * forces + kAtRest * first + rounding) break;
        report.status = StepStatus::NotConverged;
        if (report.iterations == max_iterations) break;

        ws.X.col(0) = ws.residual;
        if (!solve_descent(m, ws, report.is_indefinite)) break;
        std::swap(ws.start.q, ws.now.q);
        const double potential = pliant::elastic_energy(m, ws.start.q, ws) - ws.f.dot(ws.start.q);
        if (!line_search(m, potential, -ws.residual.dot(ws.X.col(0)), ws)) break;
        report.status = StepStatus::Ok;
    }
    report.residual = smallest;
    s.v.setZero();
    s.a.setZero();
    return report;
}

bool ReducedDynamics::compliance(const ReducedState& s, const Eigen::Ref<const Eigen::MatrixXd>& C,
                                 Eigen::Ref<Eigen::MatrixXd> Y,
                                 Workspace& workspace) const noexcept {
    auto& ws = static_cast<ReducedScratch&>(workspace);
    const auto k = static_cast<int>(C.rows());
    assert(C.cols() == size() && k <= kMaxHeldRows && Y.rows() == k && Y.cols() == k);
    if (!s.q.allFinite() || !C.allFinite()) return false;
    evaluate_force(*impl_, s.q, ws);
    ws.X.leftCols(k) = C.transpose();
    ws.solver.definite() = ws.K;
    if (!ws.solver.solve_definite(ws.X, k)) return false;
    Y = C.lazyProduct(ws.X.leftCols(k));
    return true;
}

}  // namespace pliant
