#include <Eigen/Eigenvalues>
#include <cmath>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "pliant/fem/coupled_dynamics.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/implicit_dynamics.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

void stability(Context& context) {
    Section& page = context.section;
    page.heading("Stable step");
    const double side = 0.1, modulus = 2e4, poisson = 0.3, density = 1000;
    const FemModel model(soft_cube(1, side), {isotropic(modulus, poisson, density)},
                         kPublishedElements);
    const ExplicitDynamics dynamics(model, Constraints(model.num_nodes()));
    const double limit = dynamics.stable_step().dt,
                 theory = side * std::sqrt(density * (1 - 2 * poisson) / modulus);
    const int num_steps = context.sized(100000, 20000);
    page.text(format(
        "One free, undamped cube (h = 0.1 m, E = 2e4 Pa, ν = 0.3, ρ = 1000 kg/m³), set into its "
        "stiffest mode (uniform dilatation) with a strain of 1e-6. Up to 2/ω, which is "
        "h √(ρ (1 − 2ν)/E) for a cube, the motion stays as large as it was for %d steps; 2 %% "
        "above it grows from step to step, and is followed until it is 1e5 times as large.",
        num_steps));
    Table table{"limit",
                "Limit of the step and what happens about it",
                {{"dt_over_limit", "dt / limit"},
                 {"steps", "steps"},
                 {"growth", "largest over first amplitude"},
                 {"expected", "expected"}}};
    Plot plot{.title = "Amplitude of the cube's dilatation",
              .x_label = "step",
              .y_label = "amplitude / start",
              .log_x = true,
              .log_y = true,
              .width = 560};
    int color = 0;
    for (const double fraction : {0.99, 1.02}) {
        FemState s = dynamics.make_state();
        ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
        const double size = 1e-6 * side;
        for (int i = 0; i < 8; ++i)
            s.u.segment<3>(3 * i) = 1e-6 * (model.mesh().vertices[static_cast<std::size_t>(i)] -
                                            Vector3d::Constant(0.5 * side));
        const VectorXd none = VectorXd::Zero(s.u.size());
        dynamics.set_acceleration(s, none, workspace);
        // the largest of groups of steps: close to the limit the motion beats
        Series series{format("dt = %.2f of the limit", fraction), {}, color++};
        double largest = 0, group = 0;
        int step = 0;
        for (double next = 1; step < num_steps && largest < 1e5; ++step) {
            if (dynamics.step(s, none, fraction * limit, workspace).status != StepStatus::Ok) break;
            group = std::max(group, s.u.cwiseAbs().maxCoeff() / (0.5 * size));
            largest = std::max(largest, group);
            if (step + 1 < next) continue;
            series.points.emplace_back(step + 1, group);
            group = 0;
            next = std::max(next + 1, next * 1.05);
        }
        plot.series.push_back(std::move(series));
        table.add({Cell::number(fraction, "%.2f"), Cell::count(step),
                   fraction < 1
                       ? page.at_most("growth at 0.99 of the limit", largest, 20, "%.0f")
                       : page.at_least("growth at 1.02 of the limit", largest, 1e3, "%.0f"),
                   fraction < 1 ? "bounded: at most 20" : "grows: at least 1000"});
    }
    page.figure({drawn(plot)},
                "At 0.99 of the limit the amplitude is bounded, at 1.02 it grows without end.");
    page.table(table);
    Table limits{
        "formula",
        "Limit of a cube",
        {{"limit_s", "estimate from the element, ms"}, {"theory_s", "h √(ρ (1 − 2ν)/E), ms"}}};
    limits.add({page.compared("limit of the cube [ms]", 1e3 * limit, 1e3 * theory,
                              1e-6 * theory * 1e3, "%.6f"),
                Cell::number(1e3 * theory, "%.6f")});
    page.table(limits);
}

/// Displacements of a bar that starts to fall, at a given time, for steps of duration / count.
struct Scheme {
    const char* name;
    VectorXd (*run)(const FemModel&, const Constraints&, const VectorXd&, double duration,
                    int count);
};

VectorXd run_explicit(const FemModel& model, const Constraints& clamps, const VectorXd& f,
                      double duration, int count) {
    const ExplicitDynamics dynamics(model, clamps);
    FemState s = dynamics.make_state();
    ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
    dynamics.set_acceleration(s, f, workspace);
    for (int k = 0; k < count; ++k) (void)dynamics.step(s, f, duration / count, workspace);
    return s.u;
}
VectorXd run_coupled(const FemModel& model, const Constraints& clamps, const VectorXd& f,
                     double duration, int count) {
    CoupledDynamics dynamics(model, clamps,
                             {.largest_step = duration / count,
                              .num_steps = 1,
                              .damping = {.mass = 1, .stiffness = 2e-3}});
    FemState s = dynamics.make_state();
    dynamics.set_acceleration(s, f);
    for (int k = 0; k < count; ++k) (void)dynamics.step(s, f, 0);
    return s.u;
}
VectorXd run_implicit(const FemModel& model, const Constraints& clamps, const VectorXd& f,
                      double duration, int count) {
    ImplicitOptions options;
    options.max_iterations = 30;
    options.tolerance = 1e-11;
    options.cg.tolerance = 1e-10;
    ImplicitDynamics dynamics(model, clamps, options);
    FemState s = dynamics.make_state();
    dynamics.set_acceleration(s, f);
    for (int k = 0; k < count; ++k) (void)dynamics.step(s, f, duration / count);
    return s.u;
}

void convergence(Context& context) {
    Section& page = context.section;
    page.heading("Second order");
    page.text(
        "The reference bar (E = 2e5 Pa) is let go under its weight and followed for 0.2 s "
        "without contact. Halving the step must quarter the error. Errors are differences from "
        "the solution with a quarter of the smallest step shown, relative.");
    const FemModel model(reference_bar(), {isotropic(2e5, 0.3, 1000)}, kPublishedElements);
    Constraints clamps(model.num_nodes());
    clamps.fix(vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() < 1e-9; }));
    const VectorXd f = gravity_load(model, {0, -9.81, 0});
    const Scheme schemes[] = {{"explicit, lumped", run_explicit},
                              {"coupled, with damping", run_coupled},
                              {"implicit, trapezoidal", run_implicit}};
    const double duration = 0.2;
    Plot plot{.title = "Error after 0.2 s",
              .x_label = "step, ms",
              .y_label = "relative error",
              .log_x = true,
              .log_y = true,
              .width = 560};
    Table table{"orders",
                "Error and order of each halving; orders are judged by 2 ± 0.2",
                {{"scheme", "scheme"},
                 {"step_ms", "step, ms"},
                 {"error", "relative error"},
                 {"order", "order"}}};
    const int levels = context.sized(4, 3), first_count = 128;
    double done = 0.3;
    for (int k = 0; k < 3; ++k) {
        const Scheme& scheme = schemes[k];
        const int finest = first_count << (levels + 1);
        const VectorXd truth = scheme.run(model, clamps, f, duration, finest);
        context.done(done += 0.1);
        Series series{scheme.name, {}, k, Stroke::LineAndDots};
        double last = 0;
        for (int level = 0; level < levels; ++level) {
            const int count = first_count << level;
            const double error =
                (scheme.run(model, clamps, f, duration, count) - truth).norm() / truth.norm();
            series.points.emplace_back(1e3 * duration / count, error);
            const double order = std::log2(last / error);
            const bool is_judged = level > 0;
            table.add({scheme.name, Cell::number(1e3 * duration / count, "%.4g"),
                       Cell::number(error, "%.2e"),
                       is_judged ? page.compared(std::string(scheme.name) + ": order", order, 2,
                                                 0.2, "%.2f")
                                 : Cell("–")});
            last = error;
        }
        context.done(done += 0.05);
        plot.series.push_back(std::move(series));
    }
    // a guide of slope two under the first curve
    Series slope{"slope 2", {}, 6, Stroke::Dashed};
    const auto [step, error] = plot.series[0].points.front();
    for (const double scale : {1.0, 1.0 / (1 << (levels - 1))})
        slope.points.emplace_back(scale * step, 0.4 * error * scale * scale);
    plot.series.push_back(std::move(slope));
    page.figure({drawn(plot)},
                "Error against step; the dashed line falls with the square of the step.");
    page.table(table);
}

// ---- lumped and consistent mass ----

/// Largest angular frequency [rad/s] of a free body at rest.
double largest_frequency(const FemModel& model, const Eigen::MatrixXd& mass) {
    FemModel::Matrix K = model.make_matrix();
    model.tangent(VectorXd::Zero(model.num_unknowns()), K);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(Eigen::MatrixXd(K), mass,
                                                                           Eigen::EigenvaluesOnly);
    return std::sqrt(solver.eigenvalues().maxCoeff());
}

/// Energy of a bar that swings after a blow, and how far its end goes.
struct Swing {
    std::vector<std::pair<double, double>> energy, way;  ///< over time; relative, and m
};
Swing swing(const FemModel& model, const Constraints& clamps, bool is_lumped, double duration) {
    // so short that what the steps do to energy is beyond the digits shown
    ImplicitOptions options;
    options.max_iterations = 30;
    options.tolerance = 1e-11;
    options.cg.tolerance = 1e-10;
    options.has_consistent_mass = !is_lumped;
    ImplicitDynamics dynamics(model, clamps, options);
    FemState s = dynamics.make_state();
    const int tip = vertex_at(model.mesh(), {0.8, 0.1, 0.1});
    for (int i = 0; i < model.num_nodes(); ++i)
        if (model.mesh().vertices[static_cast<std::size_t>(i)].x() > 0.7 - 1e-9)
            s.v[3 * i + 1] = -1;
    const VectorXd none = VectorXd::Zero(model.num_unknowns());
    dynamics.set_acceleration(s, none);
    const double start = dynamics.energy(s).total();
    Swing swing;
    const int count = static_cast<int>(std::lround(duration / 5e-4));
    for (int k = 0; k < count; ++k) {
        (void)dynamics.step(s, none, duration / count);
        swing.energy.emplace_back(s.time, dynamics.energy(s).total() / start);
        swing.way.emplace_back(s.time, s.u[3 * tip + 1]);
    }
    return swing;
}

void lumping(Context& context) {
    Section& page = context.section;
    page.heading("Lumped and consistent mass");
    page.text(
        "Lumping puts the mass of elements into their nodes. It lowers the highest frequency, of a "
        "cube by √3, so that central differences stay stable with longer steps. Whether it takes "
        "energy out is seen by stepping a bar (E = 2e5 Pa) that was struck at its free end, once "
        "with each mass, by the trapezoidal rule, which has no dissipation of its own.");
    const FemModel cube(soft_cube(1, 0.1), {isotropic(2e4, 0.3, 1000)}, kPublishedElements);
    const double ratio = largest_frequency(cube, Eigen::MatrixXd(mass_matrix(cube))) /
                         largest_frequency(cube, Eigen::MatrixXd(lumped_mass(cube).asDiagonal()));
    const FemModel bar(reference_bar(), {isotropic(2e5, 0.3, 1000)}, kPublishedElements);
    const double bar_ratio = largest_frequency(bar, Eigen::MatrixXd(mass_matrix(bar))) /
                             largest_frequency(bar, Eigen::MatrixXd(lumped_mass(bar).asDiagonal()));
    Constraints clamps(bar.num_nodes());
    clamps.fix(vertices_where(bar.mesh(), [](const Vector3d& x) { return x.x() < 1e-9; }));
    const double duration = context.sized(1.0, 0.2);
    const Swing lumped = swing(bar, clamps, true, duration),
                consistent = swing(bar, clamps, false, duration);
    Table table{"lumping",
                "What lumping does",
                {{"quantity", "quantity"}, {"value", "value"}, {"expected", "expected"}}};
    table.add({"stable step, lumped over consistent, one cube",
               page.compared("stable step, lumped over consistent mass", ratio, std::sqrt(3.0),
                             1e-6, "%.4f"),
               "√3 = 1.7321"});
    table.add({"the same, bar of 8 × 2 × 2 cubes", Cell::number(bar_ratio, "%.4f"), "above 1"});
    const double lost = 1 - lumped.energy.back().second,
                 lost_consistent = 1 - consistent.energy.back().second;
    table.add({format("energy lost in %.1f s, lumped", duration),
               page.at_least("energy that lumping takes out of a swinging bar", lost, 1e-3, "%.1e"),
               "published: some, no number; judged: at least 1e-3"});
    table.add({format("energy lost in %.1f s, consistent", duration),
               Cell::number(lost_consistent, "%.1e"), "0 but for the steps"});
    page.figure({drawn({.title = "Swing of the free end",
                        .x_label = "time, s",
                        .y_label = "deflection, m",
                        .series = {{"lumped", lumped.way, 0},
                                   {"consistent", consistent.way, 1, Stroke::Dashed}}}),
                 drawn({.title = "Energy",
                        .x_label = "time, s",
                        .y_label = "energy / start",
                        .series = {{"lumped", lumped.energy, 0},
                                   {"consistent", consistent.energy, 1, Stroke::Dashed}},
                        .y_low = 0,
                        .y_high = 1.2})},
                "Lumped nodes are slower; the energy stays with both.");
    page.table(table);
    page.text(
        "The published dissipation in transients is not seen: a diagonal mass matrix has kinetic "
        "energy as any other has, and nothing in it takes energy away. What little is lost, with "
        "both, is of the steps, since the rule keeps the energy exactly for linear bodies only.");
}

}  // namespace

void run_stability(Context& context) {
    stability(context);
    context.done(0.3);
    convergence(context);
    context.done(0.8);
    lumping(context);
}

}  // namespace pliant::reproduce
