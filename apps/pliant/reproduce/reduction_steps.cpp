#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/stable_step.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "plot.h"
#include "reduction_experiments.h"
#include "reduction_models.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kNumModes = 12;
constexpr double kTwoPi = 2 * std::numbers::pi;

/// A cantilever with a first frequency of 1 Hz; its polynomials in the largest subspace, of which
/// all others are the first vectors.
struct Cantilever {
    Sample sample;
    MatrixXd U;
    ReducedCoefficients coefficients;

    [[nodiscard]] std::shared_ptr<const ReducedForce> force(
        int r, Precision precision = Precision::Double) const {
        return make_polynomial_force(coefficients.truncated(r), precision);
    }
    [[nodiscard]] ReducedDynamics dynamics(int r, int max_iterations = 1) const {
        return {force(r), MatrixXd::Identity(r, r), {.max_iterations = max_iterations}};
    }
};

Cantilever make_cantilever(int largest) {
    const VolumeMesh mesh = hex_box(24, 4, 3, Box(Vector3d::Zero(), Vector3d(1.2, 0.2, 0.15)));
    Constraints constraints(mesh.num_vertices());
    constraints.fix(vertices_where(mesh, [](const Vector3d& x) { return x.x() < 1e-9; }));
    FemModel model(mesh, {isotropic(1e6, 0.4, 1000)}, kPublishedElements);
    LinearModes modes = compute_modes(model, constraints, {.num_modes = kNumModes});
    // eigenvalues are proportional to the modulus
    const double factor = kTwoPi * kTwoPi / modes.eigenvalues[0];
    model = FemModel(mesh, {isotropic(factor * 1e6, 0.4, 1000)}, kPublishedElements);
    modes.eigenvalues *= factor;
    Sample sample{model, constraints, mass_matrix(model), modes,
                  modal_derivatives(model, constraints, modes)};
    MatrixXd U = derivative_basis(sample, largest).U;
    ReducedCoefficients coefficients = combine(build_coefficients(model, U), model.materials());
    return {std::move(sample), std::move(U), std::move(coefficients)};
}

/// Bent by its first mode: the tip moves by `deflection` [m].
ReducedState bent(const Cantilever& body, const ReducedDynamics& dynamics, double deflection) {
    ReducedState s = dynamics.make_state();
    const VectorXd shape = body.sample.modes.shapes.col(0);
    const VectorXd q = body.U.leftCols(s.q.size()).transpose() * (body.sample.mass * shape);
    // a static load along the mode, grown until the tip is where it should be
    const auto ws = dynamics.make_workspace();
    const auto tip = [&] {
        const VectorXd u = body.U.leftCols(s.q.size()) * s.q;
        return std::sqrt(u.reshaped(3, u.size() / 3).colwise().squaredNorm().maxCoeff());
    };
    double load = body.sample.modes.eigenvalues[0] * deflection / shape.lpNorm<Eigen::Infinity>();
    for (int k = 0; k < 20; ++k) {
        (void)dynamics.solve_static(s, load * q, 100, *ws);
        load *= deflection / tip();
    }
    dynamics.set_acceleration(s, VectorXd::Zero(s.q.size()), *ws);
    return s;
}

double total_energy(const ReducedDynamics& dynamics, const ReducedState& s,
                    ReducedDynamics::Workspace& ws) {
    return dynamics.kinetic_energy(s) + dynamics.elastic_energy(s, ws);
}

// ---- cost ----

struct StepTimes {
    double force = 1e9, force_single = 1e9, both = 1e9, both_single = 1e9, step = 1e9;
};

/// All in turns, so that a busy moment of the machine does not hit one alone.
StepTimes measure(const Cantilever& body, int r, int num_rounds) {
    const int count = std::clamp(200000 / (r * r * r), 4, 1000);
    const ReducedDynamics dynamics = body.dynamics(r);
    const ReducedForce& force = dynamics.force();
    const auto single = body.force(r, Precision::Single);
    const auto workspace = dynamics.make_workspace();
    const auto force_workspace = force.make_workspace(),
               single_workspace = single->make_workspace();
    const ReducedState start = bent(body, dynamics, 0.2);
    const VectorXd none = VectorXd::Zero(r);
    ReducedState s = start;
    VectorXd R(r);
    MatrixXd K(r, r);
    StepTimes best;
    const auto take = [&](double& time, const std::function<void()>& call) {
        const auto calls = [&] {
            for (int k = 0; k < count; ++k) call();
        };
        time = std::min(time, best_time_us(calls, 6e3) / count);
    };
    for (int round = 0; round < num_rounds; ++round) {
        take(best.force, [&] { force.force(start.q, R, *force_workspace); });
        take(best.both, [&] { force.force_and_stiffness(start.q, R, K, *force_workspace); });
        take(best.step, [&] { (void)dynamics.step(s, none, 1e-3, *workspace); });
        take(best.force_single, [&] { single->force(start.q, R, *single_workspace); });
        take(best.both_single,
             [&] { single->force_and_stiffness(start.q, R, K, *single_workspace); });
    }
    return best;
}

void write_step_times(Context& context, const Cantilever& body, int largest) {
    Section& page = context.section;
    page.heading("Microseconds of a step");
    page.text(
        "One step of implicit Newmark with one Newton iteration, one thread, best of many; the "
        "rest of a step is everything but force and stiffness: residual, matrix, Cholesky "
        "factorisation, solution and update. Published: a Xeon of 3.0 GHz of 2004, where force "
        "and stiffness were separate products; the solution is set beside our rest. Times depend "
        "on r alone, not on the mesh.");
    struct Published {
        int r;
        double force, stiffness, solve, step;
    };
    constexpr Published kPublished[] = {
        {12, 8.2, 9.5, 12.5, 30.2}, {15, 22.0, 25.0, 18.4, 65.4}, {30, 550, 770, 75, 1395}};
    struct Limit {
        int r;
        double force, both, step;
    };
    constexpr Limit kLimits[] = {
        {15, 0, 0, 3.5}, {20, 2.5, 4, 6}, {30, 8, 17, 20}, {40, 24, 48, 55}, {60, 100, 280, 300}};
    Table table{"step",
                "Measured beside the published table of run times, µs",
                {{"r", "r"},
                 {"force_us", "force"},
                 {"published_force_us", "published"},
                 {"both_us", "force and stiffness"},
                 {"published_both_us", "published"},
                 {"rest_us", "rest of the step"},
                 {"published_solve_us", "published"},
                 {"step_us", "step"},
                 {"published_step_us", "published"},
                 {"faster", "times faster"}}};
    Table rates{"rate",
                "Steps per second, and force and stiffness in single precision",
                {{"r", "r"},
                 {"rate_khz", "steps, kHz"},
                 {"published_khz", "published"},
                 {"share", "of a 1 kHz tick"},
                 {"force_single_us", "force, single, µs"},
                 {"both_single_us", "force and stiffness, single, µs"},
                 {"gain", "double / single"}}};
    Plot plot{.title = "One step",
              .x_label = "r",
              .y_label = "time, µs",
              .series = {{"step", {}, 0, Stroke::LineAndDots},
                         {"force and stiffness", {}, 1, Stroke::LineAndDots},
                         {"the same in single", {}, 2, Stroke::LineAndDots},
                         {"published step, 2004", {}, 3, Stroke::DashedAndDots}},
              .guides = {{1000, "1 kHz tick"}},
              .log_x = true,
              .log_y = true,
              .width = 560};
    for (const int r : {4, 12, 15, 20, 30, 40, 50, 60}) {
        if (r > largest) break;
        const StepTimes t = measure(body, r, context.sized(8, 2));
        const auto* published = std::find_if(std::begin(kPublished), std::end(kPublished),
                                             [&](const Published& p) { return p.r == r; });
        const auto* limit = std::find_if(std::begin(kLimits), std::end(kLimits),
                                         [&](const Limit& l) { return l.r == r; });
        const auto limited = [&](const char* what, double time, double most) {
            return most > 0 ? page.at_most(format("%s at r = %d [µs]", what, r), time, most, "%.2f")
                            : Cell::number(time, "%.2f");
        };
        const bool has_limit = limit != std::end(kLimits);
        const bool is_published = published != std::end(kPublished);
        const auto beside = [&](double value) {
            return is_published ? Cell::number(value, "%g") : Cell("–");
        };
        const Published p = is_published ? *published : Published{};
        const Limit l = has_limit ? *limit : Limit{};
        table.add({Cell::count(r), limited("force", t.force, l.force), beside(p.force),
                   limited("force and stiffness", t.both, l.both), beside(p.force + p.stiffness),
                   Cell::number(t.step - t.both, "%.2f"), beside(p.solve),
                   limited("step", t.step, l.step), beside(p.step),
                   is_published ? page.at_least(format("times faster than published, r = %d", r),
                                                p.step / t.step, 1, "%.0f")
                                : Cell("–")});
        const double rate = 1e3 / t.step;
        rates.add({Cell::count(r),
                   r == 4 ? page.at_least("steps at r = 4 [kHz]", rate, 200, "%.0f")
                          : Cell::number(rate, "%.1f"),
                   r == 4       ? Cell("over 200")
                   : p.step > 0 ? Cell::number(1e3 / p.step, "%.3g")
                                : Cell("–"),
                   format("%.2f %%", 0.1 * t.step), Cell::number(t.force_single, "%.2f"),
                   Cell::number(t.both_single, "%.2f"),
                   Cell::number(t.both / t.both_single, "%.2f")});
        plot.series[0].points.emplace_back(r, t.step);
        plot.series[1].points.emplace_back(r, t.both);
        plot.series[2].points.emplace_back(r, t.both_single);
        if (is_published) plot.series[3].points.emplace_back(r, p.step);
        context.done(0.1 + 0.3 * r / largest);
    }
    page.figure({drawn(plot)}, "Time of one step and of its parts by the size of the subspace.");
    page.table(table);
    page.table(rates);
}

// ---- the limit of explicit steps ----

/// Largest amplitude over the first, from a tiny start along all directions.
Series explicit_run(const Cantilever& body, int r, double fraction, int num_steps, int color) {
    const ReducedDynamics dynamics = body.dynamics(r);
    const auto ws = dynamics.make_workspace();
    const VectorXd none = VectorXd::Zero(r);
    ReducedState s = dynamics.make_state();
    s.q.setConstant(1e-9);
    dynamics.set_acceleration(s, none, *ws);
    const double start = s.q.norm(), dt = fraction * dynamics.explicit_limit();
    Series series{format("dt = %.2f of the limit", fraction), {}, color};
    double group = 1, next = 1;
    for (int step = 1; step <= num_steps; ++step) {
        const bool is_ok = dynamics.step_explicit(s, none, dt, *ws).status == StepStatus::Ok;
        group = std::max(group, s.q.norm() / start);
        if (!is_ok || group > 1e6) {
            series.points.emplace_back(step, group);
            break;
        }
        if (step < next) continue;
        series.points.emplace_back(step, group);
        group = 0;
        next = std::max(next + 1, next * 1.05);
    }
    return series;
}

double largest_of(const Series& series) {
    double largest = 0;
    for (const auto& [step, value] : series.points) largest = std::max(largest, value);
    return largest;
}

void write_explicit_limit(Context& context, const Cantilever& body, int largest) {
    Section& page = context.section;
    page.heading("Why steps are implicit");
    page.text(
        "Central differences need no stiffness but hold only below 2/ω of the highest frequency. "
        "Derivatives are stiff directions: a subspace reaches far above the frequencies of its "
        "modes (published: tower, 20 modes up to 15.5 Hz, r = 30 up to 517 Hz, full mesh up to "
        "11.8 kHz). The limit of the full mesh is that of its stiffest element with lumped mass.");
    const double full = element_stable_step(body.sample.model).dt;
    Table table{"limit",
                "Limit of explicit steps; the first frequency is 1 Hz",
                {{"system", "system"},
                 {"highest_hz", "highest frequency, Hz"},
                 {"limit_ms", "limit, ms"},
                 {"over_full", "over that of the full mesh"}}};
    const LinearModes& modes = body.sample.modes;
    const auto add = [&](const std::string& name, double dt) {
        table.add({name, Cell::number(2 / dt / kTwoPi, "%.4g"), Cell::number(1e3 * dt, "%.4g"),
                   Cell::number(dt / full, "%.3g")});
    };
    add(format("%d linear modes", kNumModes), 2 / std::sqrt(modes.eigenvalues[kNumModes - 1]));
    for (const int r : {4, 8, 12, 20, 30, 40, 60})
        if (r <= largest) add(format("r = %d", r), body.dynamics(r).explicit_limit());
    add("full mesh", full);

    const int r = 12, num_steps = context.sized(100000, 20000);
    const Series below = explicit_run(body, r, 0.99, num_steps, 0),
                 above = explicit_run(body, r, 1.02, num_steps, 1);
    Plot plot{.title = format("Explicit steps, r = %d", r),
              .x_label = "step",
              .y_label = "amplitude / start",
              .series = {below, above},
              .log_x = true,
              .log_y = true,
              .width = 560};
    page.figure({drawn(plot)},
                "Below the limit the motion stays as large as it was, above it grows until the run "
                "is ended, at a million times the start.");
    Table runs{"explicit_runs",
               "Up to " + cli::grouped(num_steps) +
                   " explicit steps from a tiny start; up to 20 times the start counts as stable",
               {{"dt_over_limit", "dt / limit"}, {"growth", "largest amplitude / start"}}};
    runs.add({"0.99", page.at_most("growth at 0.99 of the limit", largest_of(below), 20, "%.3g")});
    runs.add(
        {"1.02", page.at_least("growth at 1.02 of the limit", largest_of(above), 1e5, "%.0f")});
    page.table(table);
    page.table(runs);
}

// ---- convergence ----

void write_convergence(Context& context, const Cantilever& body) {
    Section& page = context.section;
    page.heading("Second order");
    const int r = 6;
    const double duration = 0.5, deflection = 0.4;
    page.text(
        format("The cantilever, 1.2 m long, is bent by %.1f m and let go; positions after %.1f s "
               "at r = %d against those of 262,144 steps. ",
               deflection, duration, r) +
        "One Newton iteration is of the same order as many.");
    const auto run = [&](int num_steps, int max_iterations) {
        const ReducedDynamics dynamics = body.dynamics(r, max_iterations);
        const auto ws = dynamics.make_workspace();
        ReducedState s = bent(body, dynamics, deflection);
        const VectorXd none = VectorXd::Zero(r);
        for (int k = 0; k < num_steps; ++k) (void)dynamics.step(s, none, duration / num_steps, *ws);
        return s.q;
    };
    const VectorXd exact = run(262144, 10);
    Plot plot{.title = "Error of the position",
              .x_label = "dt, µs",
              .y_label = "relative error",
              .series = {{"one iteration", {}, 0, Stroke::LineAndDots},
                         {"ten iterations", {}, 1, Stroke::DashedAndDots}},
              .log_x = true,
              .log_y = true};
    Table table{"order",
                "Relative error of the position",
                {{"steps", "steps"},
                 {"error_one", "one iteration"},
                 {"order_one", "order"},
                 {"error_ten", "ten iterations"},
                 {"order_ten", "order"}}};
    double before[2] = {0, 0};
    for (int num_steps = 1024; num_steps <= 16384; num_steps *= 2) {
        std::vector<Cell> row{Cell::count(num_steps)};
        for (const int which : {0, 1}) {
            const double error =
                (run(num_steps, which == 0 ? 1 : 10) - exact).norm() / exact.norm();
            const double order = std::log2(before[which] / error);
            const bool is_last = num_steps == 16384;
            row.push_back(Cell::number(error, "%.2e"));
            row.push_back(before[which] == 0 ? Cell("–")
                          : is_last          ? page.compared(which == 0 ? "order, one iteration"
                                                                        : "order, ten iterations",
                                                    order, 2, 0.1, "%.2f")
                                    : Cell::number(order, "%.2f"));
            plot.series[static_cast<std::size_t>(which)].points.emplace_back(
                1e6 * duration / num_steps, error);
            before[which] = error;
        }
        table.add(std::move(row));
    }
    page.figure({drawn(plot)}, "The numbers of the table; both lie on one another.");
    page.table(table);
}

// ---- energy ----

void write_energy(Context& context, const Cantilever& body) {
    Section& page = context.section;
    page.heading("Energy over a million steps");
    const int num_steps = context.sized(1'000'000, 50'000), interval = num_steps / 400;
    page.text(
        "Undamped, bent by 0.4 m of 1.2 m and let go, " + cli::grouped(num_steps) +
        " steps, 50 in the shortest period of the subspace. The energy must stay within 1 %.");
    Plot plot{.title = "Change of the energy",
              .x_label = "step",
              .y_label = "energy / start − 1, millionths",
              .width = 560};
    Table table{"energy",
                "Energy of the undamped body, relative to its start",
                {{"r", "r"},
                 {"dt_us", "dt, µs"},
                 {"periods", "first periods"},
                 {"least", "least"},
                 {"most", "most"},
                 {"end", "at the end"}}};
    int color = 0;
    for (const int r : {6, 12}) {
        const ReducedDynamics dynamics = body.dynamics(r);
        const auto ws = dynamics.make_workspace();
        const VectorXd none = VectorXd::Zero(r);
        ReducedState s = bent(body, dynamics, 0.4);
        const double dt = std::numbers::pi * dynamics.explicit_limit() / 50;
        const double start = total_energy(dynamics, s, *ws);
        double least = 1, most = 1, now = 1;
        Series series{format("r = %d", r), {}, color++};
        for (int k = 1; k <= num_steps; ++k) {
            (void)dynamics.step(s, none, dt, *ws);
            if (k % 16 == 0) {
                now = total_energy(dynamics, s, *ws) / start;
                least = std::min(least, now);
                most = std::max(most, now);
            }
            if (k % interval == 0) {
                series.points.emplace_back(k, 1e6 * (now - 1));
                context.done(0.6 +
                             0.3 * (r == 12 ? 0.5 + 0.5 * k / num_steps : 0.5 * k / num_steps));
            }
        }
        plot.series.push_back(std::move(series));
        const auto within = [&](const char* what, double value) {
            return page.compared(format("%s energy, r = %d", what, r), value, 1, 0.01, "%.7f");
        };
        table.add({Cell::count(r), Cell::number(1e6 * dt, "%.0f"),
                   Cell::number(num_steps * dt, "%.0f"), within("least", least),
                   within("most", most), Cell::number(now, "%.7f")});
    }
    page.figure({drawn(plot)}, "Change of the energy, relative to the start.");
    page.table(table);
}

// ---- size of the step ----

void write_step_sizes(Context& context, const Cantilever& body) {
    Section& page = context.section;
    page.heading("Size of the step");
    const int r = 20;
    const double suggested = 1e-3;  // that of ReducedModel for a first frequency of 1 Hz
    page.text(
        "Published guidance: 30 steps per second suffice for content of about 1 Hz, 1000 for 10 "
        "to 30 Hz. Pliant suggests the haptic tick or a twentieth of the first period, whichever "
        "is shorter: 1 ms for this cantilever of 1 Hz. Bent by 0.3 m, let go, two seconds, no "
        "damping, one Newton iteration; tip error relative to the largest deflection, against "
        "steps of 1/16 ms.");
    const VectorXd tip = body.U.row(body.U.rows() - 1).head(r);
    struct Run {
        std::vector<double> tip;  ///< at every 64th of a second
        double energy;            ///< at the end over the start
        int halvings;
    };
    const auto run = [&](double dt) {
        const ReducedDynamics dynamics = body.dynamics(r);
        const auto ws = dynamics.make_workspace();
        const VectorXd none = VectorXd::Zero(r);
        ReducedState s = bent(body, dynamics, 0.3);
        const double start = total_energy(dynamics, s, *ws);
        Run result{{tip.dot(s.q)}, 0, 0};
        const int num_steps = static_cast<int>(std::lround(2 / dt));
        double q_before = tip.dot(s.q), next = 1;
        for (int k = 1; k <= num_steps; ++k) {
            result.halvings += dynamics.step(s, none, dt, *ws).halvings;
            const double q_now = tip.dot(s.q);
            for (; next / 64 <= k * dt + 1e-9; ++next)
                result.tip.push_back(q_before +
                                     (q_now - q_before) * (next / 64 - (k - 1) * dt) / dt);
            q_before = q_now;
        }
        result.energy = total_energy(dynamics, s, *ws) / start;
        return result;
    };
    const Run exact = run(suggested / 16);
    Table table{"step_size",
                "The same motion in steps of several sizes",
                {{"dt_ms", "dt, ms"},
                 {"per_period", "steps per first period"},
                 {"error", "largest error of the tip"},
                 {"energy", "energy after 2 s / start"},
                 {"halvings", "steps halved"}}};
    Plot plot{.title = "Tip of the cantilever",
              .x_label = "time, s",
              .y_label = "place, m",
              .width = 560};
    int color = 0;
    for (const double dt : {suggested / 4, suggested, 4 * suggested, 1.0 / 64, 1.0 / 32}) {
        const Run now = run(dt);
        double error = 0, size = 0;
        Series series{format("dt = %.3g ms", 1e3 * dt), {}, color++};
        const std::size_t count = std::min(now.tip.size(), exact.tip.size());
        for (std::size_t k = 0; k < count; ++k) {
            error = std::max(error, std::abs(now.tip[k] - exact.tip[k]));
            size = std::max(size, std::abs(exact.tip[k]));
            series.points.emplace_back(static_cast<double>(k) / 64, now.tip[k]);
        }
        table.add({Cell::number(1e3 * dt, "%.3g"), Cell::number(1 / dt, "%.0f"),
                   dt == suggested ? page.at_most("error of the tip with the suggested step",
                                                  error / size, 0.05, "%.4f")
                                   : Cell::number(error / size, "%.4f"),
                   Cell::number(now.energy, "%.4f"), Cell::count(now.halvings)});
        if (dt >= suggested) plot.series.push_back(std::move(series));
    }
    page.figure({drawn(plot)},
                "Steps of the suggested length and longer ones; all but the longest lie on one "
                "another.");
    page.table(table);
    page.text(
        "Steps of 31.2 ms, about as long as the published ones for 1 Hz, keep size and energy of "
        "the swing but lengthen its period: most of their error is a motion that comes late.");
}

}  // namespace

void run_steps(Context& context) {
    const int largest = context.sized(60, 30);
    const Cantilever body = make_cantilever(largest);
    context.section.text(
        format("A cantilever of %d hexes, 1.2 m × 0.2 m × 0.15 m, first frequency 1 Hz, %d modes "
               "and their derivatives.",
               body.sample.model.mesh().num_elements(), kNumModes));
    context.done(0.1);
    write_step_times(context, body, largest);
    write_explicit_limit(context, body, largest);
    context.done(0.5);
    write_convergence(context, body);
    context.done(0.6);
    write_energy(context, body);
    write_step_sizes(context, body);
}

}  // namespace pliant::reproduce
