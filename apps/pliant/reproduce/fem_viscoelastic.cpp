#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/fem/coupled_dynamics.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/stable_step.h"
#include "pliant/fem/statics.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kSafety = 0.9;  // largest step over the limit at rest
constexpr double kNoise = 0.97;  // of the estimated limit that is not worth a shorter step

/// The reference bar, held at one end, bent and pulled long by a force on the other, then let go.
struct Bar {
    Bar()
        : model(reference_bar(), {isotropic(4e5, 0.3, 1000)}, kPublishedElements),
          clamps(model.num_nodes()) {
        const VolumeMesh& mesh = model.mesh();
        clamps.fix(vertices_where(mesh, [](const Vector3d& x) { return x.x() < 1e-9; }));
        tip = vertex_at(mesh, {0.8, 0.1, 0.1});
        VectorXd f = VectorXd::Zero(model.num_unknowns());
        const auto end = vertices_where(mesh, [](const Vector3d& x) { return x.x() > 0.8 - 1e-9; });
        add_nodal_force(end, Vector3d(380, -10, 0), f);
        start = solve_static(model, clamps, f).u;
    }
    FemModel model;
    Constraints clamps;
    int tip;
    VectorXd start;
};

struct ViscoelasticRun {
    std::vector<std::pair<double, double>> bend, stretch, energy, step;  ///< against time
    std::vector<int> steps_taken;                                        ///< of each length
    double us_per_step = 0;
};

/// Central differences with full matrices. The step follows the limit of the present shape: a
/// stretched body is stiffer and needs a shorter one.
ViscoelasticRun run_coupled(const Bar& bar, CoupledDynamics& dynamics, double duration) {
    const VectorXd none = VectorXd::Zero(bar.model.num_unknowns());
    VectorXd mass = lumped_mass(bar.model);
    for (int i = 0; i < bar.model.num_nodes(); ++i)
        if (bar.clamps.is_prescribed(i, 0)) mass.segment<3>(3 * i).setZero();
    const StepEstimator estimator(bar.model, mass);
    StepEstimator::Workspace estimate = estimator.make_workspace();
    const double at_rest = estimator.stable_step(VectorXd::Zero(mass.size()), 60, estimate);

    ViscoelasticRun run;
    FemState s = dynamics.make_state();
    s.u = bar.start;
    dynamics.set_acceleration(s, none);
    run.steps_taken.assign(3, 0);
    double wanted = 0, spent = 0;
    int count = 0;
    while (s.time < duration) {
        if (count % 2 == 0)
            wanted =
                kSafety / kNoise * dynamics.stable_step() *
                std::min(1.0, estimator.stable_step(s.u, count == 0 ? 60 : 6, estimate) / at_rest);
        const int i = dynamics.step_for(wanted);
        const double start = thread_cpu_time_us();
        if (dynamics.step(s, none, i).status != StepStatus::Ok) break;
        spent += thread_cpu_time_us() - start;
        ++count;
        ++run.steps_taken[static_cast<std::size_t>(i)];
        run.step.emplace_back(s.time, 1e3 * dynamics.step_length(i));
        run.bend.emplace_back(s.time, 100 * s.u[3 * bar.tip + 1]);
        run.stretch.emplace_back(s.time, 100 * s.u[3 * bar.tip]);
        run.energy.emplace_back(s.time, dynamics.energy(s).total());
    }
    run.us_per_step = spent / std::max(1, count);
    return run;
}

/// Lumped mass and drag: each unknown on its own.
ViscoelasticRun run_lumped(const Bar& bar, double drag, double duration) {
    ExplicitOptions options;
    options.damping.mass = drag;
    const ExplicitDynamics dynamics(bar.model, bar.clamps, options);
    FemState s = dynamics.make_state();
    ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
    const VectorXd none = VectorXd::Zero(bar.model.num_unknowns());
    s.u = bar.start;
    dynamics.set_acceleration(s, none, workspace);
    ViscoelasticRun run;
    while (s.time < duration) {
        if (dynamics.step(s, none, 0.4 * dynamics.stable_step().dt, workspace).status !=
            StepStatus::Ok)
            break;
        run.bend.emplace_back(s.time, 100 * s.u[3 * bar.tip + 1]);
        run.stretch.emplace_back(s.time, 100 * s.u[3 * bar.tip]);
        run.energy.emplace_back(s.time, dynamics.energy(s, workspace).total());
    }
    return run;
}

/// Mean angular frequency of a curve that swings about zero, after a time.
double frequency(const std::vector<std::pair<double, double>>& curve, double from) {
    std::vector<double> crossings;
    for (std::size_t k = 1; k < curve.size(); ++k) {
        const auto [t0, y0] = curve[k - 1];
        const auto [t1, y1] = curve[k];
        if (t0 >= from && y0 * y1 < 0) crossings.push_back(t0 + (t1 - t0) * y0 / (y0 - y1));
    }
    if (crossings.size() < 2) return 0;
    return std::numbers::pi * static_cast<double>(crossings.size() - 1) /
           (crossings.back() - crossings.front());
}

/// Rate at which a positive curve falls after a time: slope of its logarithm, least squares.
double decay_rate(const std::vector<std::pair<double, double>>& curve, double from) {
    double n = 0, t_sum = 0, y_sum = 0, tt = 0, ty = 0;
    for (const auto& [t, value] : curve) {
        if (t < from || value <= 0) continue;
        const double y = std::log(value);
        n += 1;
        t_sum += t;
        y_sum += y;
        tt += t * t;
        ty += t * y;
    }
    return -(n * ty - t_sum * y_sum) / (n * tt - t_sum * t_sum);
}

}  // namespace

void run_viscoelastic(Context& context) {
    Section& page = context.section;
    const Bar bar;
    const double duration = context.sized(6.0, 4.0), beta = 0.006;
    page.text(
        "The reference bar (E = 4e5 Pa) is bent and pulled long by a force on its end, then let "
        "go. Damping in proportion to stiffness, D = β K₀, couples all unknowns: the matrix M + "
        "dt/2 D is factored beforehand for the steps T, T/2 and T/4 and every step is a forward "
        "and a back substitution. Damping that is lumped to a diagonal can only slow all "
        "motions alike. Published: three step sizes were enough; lumped damping loses "
        "viscoelasticity.");

    CoupledOptions options;
    options.damping.stiffness = beta;
    options.largest_step = 0.9 * element_stable_step(bar.model).dt / std::sqrt(3.0);
    CoupledDynamics viscoelastic(bar.model, bar.clamps, options);
    options.largest_step = kSafety * viscoelastic.stable_step();
    viscoelastic = CoupledDynamics(bar.model, bar.clamps, options);
    const ViscoelasticRun damped = run_coupled(bar, viscoelastic, duration);
    context.done(0.4);
    const double late = 0.4 * duration, omega = frequency(damped.bend, late);

    // nothing takes out what a step near the limit adds: half the step
    options.damping.stiffness = 0;
    options.largest_step *= 0.5;
    CoupledDynamics plain(bar.model, bar.clamps, options);
    const ViscoelasticRun undamped = run_coupled(bar, plain, duration);
    context.done(0.7);
    // drag that slows the bending as much: α = β ω²
    const double drag = beta * omega * omega;
    const ViscoelasticRun lumped = run_lumped(bar, drag, duration);
    context.done(1);

    Plot bend{.title = "Bending: tip across the bar", .x_label = "time, s", .y_label = "way, cm"};
    bend.series = {{"none", undamped.bend, 6},
                   {"lumped drag α", lumped.bend, 1},
                   {"viscoelastic β K₀", damped.bend, 0}};
    Plot stretch{
        .title = "Stretching: tip along the bar", .x_label = "time, s", .y_label = "way, cm"};
    stretch.series = {{"lumped drag α", lumped.stretch, 1},
                      {"viscoelastic β K₀", damped.stretch, 0}};
    Plot energy{.title = "Energy", .x_label = "time, s", .y_label = "energy, J", .log_y = true};
    energy.series = {{"none", undamped.energy, 6},
                     {"lumped drag α", lumped.energy, 1},
                     {"viscoelastic β K₀", damped.energy, 0}};
    Plot steps{.title = "Step taken", .x_label = "time, s", .y_label = "step, ms"};
    steps.series = {{"none", undamped.step, 6}, {"viscoelastic β K₀", damped.step, 0}};
    page.figure({drawn(bend), drawn(stretch)},
                "Viscoelasticity ends the fast motion along the bar soon; with drag it goes on. As "
                "long as the bar stretches it feeds the bending, most where nothing damps it; what "
                "is slow bending alone loses the same by both dampings (last table).");
    page.figure({drawn(energy), drawn(steps)},
                "Energy, and the step chosen from the set by the stiffness of the present "
                "shape: a stretched bar is stiffer.");

    Table table{"steps",
                "Step set of the coupled path",
                {{"damping", "damping"},
                 {"T_ms", "T, ms"},
                 {"limit_ms", "limit, ms"},
                 {"steps_T", "steps of T"},
                 {"steps_T2", "of T/2"},
                 {"steps_T4", "of T/4"},
                 {"factor", "factor"},
                 {"nonzeros", "numbers in L"},
                 {"us", "µs per step"},
                 {"speed", "× real time"}}};
    const auto add = [&](const char* name, const CoupledDynamics& dynamics,
                         const ViscoelasticRun& run) {
        const double simulated = run.step.empty() ? 0 : run.step.back().first;
        const double taken = 1e-6 * run.us_per_step * static_cast<double>(run.step.size());
        table.add({name, Cell::number(1e3 * dynamics.step_length(0), "%.3f"),
                   Cell::number(1e3 * dynamics.stable_step(), "%.3f"),
                   Cell::count(run.steps_taken[0]), Cell::count(run.steps_taken[1]),
                   Cell::count(run.steps_taken[2]),
                   dynamics.is_scalar() ? "n × n, three right-hand sides" : "3n × 3n",
                   Cell::count(dynamics.statistics().factor_nonzeros),
                   Cell::number(run.us_per_step, "%.1f"), Cell::number(simulated / taken, "%.0f")});
    };
    add("viscoelastic β K₀", viscoelastic, damped);
    add("none", plain, undamped);
    page.table(table);

    Table decay{"decay",
                "Rate at which energy is lost. In the end only the slow bending is left of the "
                "viscoelastic bar, and both dampings were chosen to take β ω² = α of it",
                {{"quantity", "quantity"}, {"measured", "measured"}, {"expected", "expected"}}};
    decay.add(
        {"frequency of bending, Hz", Cell::number(omega / (2 * std::numbers::pi), "%.3f"), "–"});
    decay.add({"lumped drag: rate, 1/s",
               page.compared("rate of energy loss with drag [1/s]", decay_rate(lumped.energy, 0),
                             drag, 0.1 * drag, "%.3f"),
               Cell::number(drag, "%.3f")});
    decay.add({"viscoelastic: rate of the last swings, 1/s",
               page.compared("rate of energy loss of bending [1/s]",
                             decay_rate(damped.energy, late), drag, 0.15 * drag, "%.3f"),
               Cell::number(drag, "%.3f")});
    decay.add({"viscoelastic: rate of the first tenth of the time, 1/s",
               page.at_least("rate of energy loss while the bar stretches [1/s]",
                             std::log(damped.energy.front().second /
                                      damped.energy[damped.energy.size() / 10].second) /
                                 damped.energy[damped.energy.size() / 10].first,
                             10 * drag, "%.3f"),
               "more than ten times as fast"});
    page.table(decay);
}

}  // namespace pliant::reproduce
