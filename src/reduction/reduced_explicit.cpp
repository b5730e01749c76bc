#include "reduction/reduced_system.h"

#include <cmath>

namespace pliant {

/// Newmark's rule with β = 0 and γ = ½: the position comes first, then (M + dt/2 C) a' = f' − R −
/// C (v + dt/2 a). Damping does not change the limit, because it is implicit.
ReducedReport ReducedDynamics::step_explicit(ReducedState& s, const ConstRef& f, double dt,
                                             Workspace& workspace) const noexcept {
    auto& ws = static_cast<ReducedScratch&>(workspace);
    const Impl& m = *impl_;
    const double alpha = ws.tuning.mass_damping;
    ReducedReport report;
    const StepInput input = take_input(m, s, f, dt, ws);
    report.status = input.status;
    if (!input.is_possible) return report;

    ReducedState& now = ws.now;
    now.v = s.v + 0.5 * dt * s.a;
    now.q = s.q + dt * now.v;
    now.time = s.time + dt;
    bool is_solved = true;
    if (ws.tuning.stiffness_damping > 0 || m.options.damping.viscosity) {
        evaluate(m, now.q, ws);
        const auto [D, factor] = stiffness_damping(m, ws);
        ws.product = alpha * now.v;
        auto load = ws.X.col(0);
        load = ws.f - ws.R;
        load.noalias() -= factor * (D * now.v);
        load.noalias() -= m.mass * ws.product;
        const double mass = 1 + 0.5 * dt * alpha;
        ws.solver.definite() = mass * m.mass + (0.5 * dt * factor) * D;
        if (!ws.solver.solve_definite(ws.X, 1)) {
            report.is_indefinite = true;
            ws.solver.indefinite() = mass * m.mass + (0.5 * dt * factor) * D;
            is_solved = ws.solver.solve_indefinite(ws.X, 1);
        }
        now.a = load;
    } else {
        m.force->force(now.q, ws.R, *ws.force);
        now.a = ws.f - ws.tuning.stiffness * ws.R;
        m.mass_factor.solveInPlace(now.a);
        now.a = (now.a - alpha * now.v) / (1 + 0.5 * dt * alpha);
    }
    now.v += 0.5 * dt * now.a;
    if (!is_solved || !is_finite(now)) {
        report.status = StepStatus::StepRejected;
        return report;
    }
    s = now;
    report.iterations = 1;
    return report;
}

}  // namespace pliant
