#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "pliant/fem/explicit_scene.h"
#include "pliant/fem/penalty_contact.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using Eigen::VectorXd;

// a cube of 0.1 m flies at a plane, without gravity, and leaves it
constexpr double kPenaltySide = 0.1, kPenaltySpeed = 0.5, kPenaltyGap = 1e-3,
                 kPenaltyDuration = 0.12;

struct Outcome {
    bool is_stable = false;
    double deepest = 0;  ///< of any node at any time [m]
    double held = 0;     ///< of a node that stays inside for more than one step [m]
    double energy_ratio = 0;
};

class PenaltyImpact {
public:
    explicit PenaltyImpact(int n)
        : n_(n), model_(lifted(n), {isotropic(2e4, 0.3, 1000)}, kPublishedElements) {}

    [[nodiscard]] int elements_per_side() const { return n_; }

    [[nodiscard]] double stable_step() const { return body().stable_step().dt; }
    [[nodiscard]] double corner_mass() const { return body().mass().minCoeff(); }

    [[nodiscard]] Outcome with_constraint(double dt) const {
        std::vector<ExplicitDynamics> bodies{body()};
        const ExplicitScene scene(std::move(bodies), {RigidShape::half_space()}, {.friction = 0});
        ExplicitScene::State state = scene.make_state();
        ExplicitScene::Workspace workspace = scene.make_workspace();
        FemState& s = state.bodies[0];
        launch(s);
        const std::vector<VectorXd> loads{VectorXd::Zero(s.u.size())};
        const std::vector<RigidMotion> motions(1);
        Watch watch(*this, s);
        while (s.time < kPenaltyDuration && watch.is_bounded()) {
            (void)scene.step(state, loads, motions, dt, workspace);
            watch.look(s, 0);
        }
        return watch.outcome();
    }

    /// Without plane, swinging along z with the energy of the flight: what the body alone allows at
    /// such deformations.
    [[nodiscard]] Outcome without_contact(double dt) const {
        const ExplicitDynamics dynamics = body();
        FemState s = dynamics.make_state();
        ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
        for (int i = 0; i < model_.num_nodes(); ++i) {
            const double z = model_.mesh().vertices[static_cast<std::size_t>(i)].z() - kPenaltyGap;
            s.v[3 * i + 2] = -std::numbers::sqrt2 * kPenaltySpeed *
                             std::sin(std::numbers::pi * (z / kPenaltySide - 0.5));
        }
        const VectorXd none = VectorXd::Zero(s.u.size());
        Watch watch(*this, s);
        while (s.time < kPenaltyDuration && watch.is_bounded()) {
            if (dynamics.step(s, none, dt, workspace).status != StepStatus::Ok) break;
            watch.look(s, 0);
        }
        return watch.outcome();
    }

    [[nodiscard]] Outcome with_springs(double stiffness, double dt) const {
        const ExplicitDynamics dynamics = body();
        const PenaltyContact springs(model_, {RigidShape::half_space()}, {.stiffness = stiffness});
        FemState s = dynamics.make_state();
        ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
        launch(s);
        VectorXd f(s.u.size());
        const std::vector<RigidMotion> motions(1);
        Watch watch(*this, s);
        while (s.time < kPenaltyDuration && watch.is_bounded()) {
            // the springs' force belongs to the places at the end of the step
            dynamics.predict(s, dt, workspace);
            f.setZero();
            const PenaltyContact::Report report =
                springs.add_force(s.u, workspace.half_v, motions, f, {});
            (void)dynamics.accelerate(s, f, dt, workspace);
            if (dynamics.finish(s, dt, workspace) != StepStatus::Ok) break;
            watch.look(s, report.energy);
        }
        return watch.outcome();
    }

private:
    static VolumeMesh lifted(int n) {
        VolumeMesh mesh = soft_cube(n, kPenaltySide);
        for (Eigen::Vector3d& x : mesh.vertices) x.z() += kPenaltyGap;
        return mesh;
    }
    [[nodiscard]] ExplicitDynamics body() const {
        return {model_, Constraints(model_.num_nodes())};
    }
    static void launch(FemState& s) {
        for (Eigen::Index i = 2; i < s.v.size(); i += 3) s.v[i] = -kPenaltySpeed;
    }

    /// Follows one run.
    class Watch {
    public:
        Watch(const PenaltyImpact& impact, const FemState& s)
            : impact_(impact),
              dynamics_(impact.body()),
              workspace_(dynamics_.make_workspace()),
              inside_(impact.model_.mesh().vertices.size(), 0),
              start_(dynamics_.energy(s, workspace_).total()),
              last_(start_) {}
        void look(const FemState& s, double spring_energy) {
            // energies cost as much as a step; growth shows soon enough at every eighth
            is_finished_ = s.time >= kPenaltyDuration;
            if (++looks_ % 8 == 0 || is_finished_) {
                last_ = dynamics_.energy(s, workspace_).total() + spring_energy;
                highest_ = std::isfinite(last_) ? std::max(highest_, last_ / start_)
                                                : std::numeric_limits<double>::infinity();
            }
            for (std::size_t i = 0; i < inside_.size(); ++i) {
                const double depth = -(impact_.model_.mesh().vertices[i].z() +
                                       s.u[3 * static_cast<Eigen::Index>(i) + 2]);
                deepest_ = std::max(deepest_, depth);
                // shallower of two steps in a row
                if (depth > 0 && inside_[i] > 0)
                    held_ = std::max(held_, std::min(depth, inside_[i]));
                inside_[i] = std::max(depth, 0.0);
            }
        }
        /// Energy doubled out of nothing: the step is too long.
        [[nodiscard]] bool is_bounded() const { return highest_ < 2; }
        [[nodiscard]] Outcome outcome() const {
            return {is_bounded() && is_finished_, deepest_, held_, last_ / start_};
        }

    private:
        const PenaltyImpact& impact_;
        ExplicitDynamics dynamics_;
        ExplicitDynamics::Workspace workspace_;
        std::vector<double> inside_;
        double start_, last_, highest_ = 1, deepest_ = 0, held_ = 0;
        int looks_ = 0;
        bool is_finished_ = false;
    };

    int n_;
    FemModel model_;
};

/// Largest step at which `run(dt)` is stable, to 3 %, searched downwards from `high`.
template <class RunAt>
double largest_stable(double high, const RunAt& run) {
    double low = high;
    while (low > 1e-3 * high && !run(low).is_stable) {
        high = low;
        low /= 1.5;
    }
    if (low == high) return high;
    for (int k = 0; k < 4; ++k) {
        const double middle = std::sqrt(low * high);
        (run(middle).is_stable ? low : high) = middle;
    }
    return low;
}

using Points = std::vector<std::pair<double, double>>;

/// x at which a falling curve of (x, y), x descending, reaches y: straight in logarithms.
double crossing(const Points& points, double y) {
    for (std::size_t k = 1; k < points.size(); ++k) {
        const auto [x0, y0] = points[k - 1];
        const auto [x1, y1] = points[k];
        if (y0 < y && y1 >= y) return x0 * std::pow(x1 / x0, std::log(y / y0) / std::log(y1 / y0));
    }
    return std::numeric_limits<double>::quiet_NaN();
}
double value_at(const Points& points, double x) {
    for (std::size_t k = 1; k < points.size(); ++k) {
        const auto [x0, y0] = points[k - 1];
        const auto [x1, y1] = points[k];
        if (x0 >= x && x1 < x) return y0 * std::pow(y1 / y0, std::log(x / x0) / std::log(x1 / x0));
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void run_penalty(Context& context) {
    Section& page = context.section;
    const PenaltyImpact impact(context.sized(4, 3));
    const double limit = impact.stable_step();
    page.text(
        "A soft cube of 0.1 m meets a plane at 0.5 m/s. Contact springs let nodes sink in; to "
        "let them sink in less they must be stiffer, and the stiffest spring sets the largest "
        "stable step. The constraint has no stiffness: its step is that of the body alone. "
        "Published: the ratio of the two steps is in the order of hundreds or more; for what "
        "penetration is not said.");
    page.text(
        "A step counts as stable when the energy never doubles; the largest is found by "
        "bisection, to 3 %. Springs are as stiff as m (v/δ)² for the mass m of a corner node "
        "and a wanted depth δ; the depth reached is measured at a fifth of the largest stable "
        "step.");

    const double constraint_step =
        largest_stable(2 * limit, [&](double dt) { return impact.with_constraint(dt); });
    const double free_step =
        largest_stable(2 * limit, [&](double dt) { return impact.without_contact(dt); });
    const Outcome constraint = impact.with_constraint(0.6 * limit);
    Table table{"steps",
                "Largest stable step against penetration",
                {{"contact", "contact"},
                 {"stiffness", "stiffness of a node, N/m"},
                 {"deepest_mm", "deepest, mm"},
                 {"held_mm", "deepest for more than one step, mm"},
                 {"step_us", "largest stable step, µs"},
                 {"ratio", "constraint step / this step"},
                 {"energy_ratio", "energy after / before"}}};
    table.add({"constraint (0.6 of the limit for depth and energy)", "–",
               Cell::number(1e3 * constraint.deepest, "%.3f"),
               Cell::number(1e3 * constraint.held, "%.4f"),
               Cell::number(1e6 * constraint_step, "%.0f"), Cell::number(1, "%.0f"),
               Cell::number(constraint.energy_ratio, "%.3f")});
    context.done(0.1);

    Plot plot{.title = "Step ratio, constraint over springs",
              .x_label = "depth that springs allow, mm",
              .y_label = "ratio",
              .guides = {{100, "hundreds", false}},
              .log_x = true,
              .log_y = true,
              .width = 560};
    Series series{"springs, measured", {}, 0, Stroke::LineAndDots};
    const std::vector<double> depths =
        context.sized(std::vector<double>{2e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 4e-6},
                      std::vector<double>{1e-3, 3e-4, 1e-4, 3e-5});
    double previous = 2 * limit;
    for (std::size_t k = 0; k < depths.size(); ++k) {
        const double stiffness = impact.corner_mass() * std::pow(kPenaltySpeed / depths[k], 2);
        const double step =
            largest_stable(std::min(previous, 6 * depths[k] / kPenaltySpeed),
                           [&](double dt) { return impact.with_springs(stiffness, dt); });
        previous = 1.2 * step;
        const Outcome outcome = impact.with_springs(stiffness, 0.2 * step);
        const double ratio = constraint_step / step;
        table.add({"springs", Cell::count(std::llround(stiffness)),
                   Cell::number(1e3 * outcome.deepest, "%.4f"),
                   Cell::number(1e3 * outcome.held, "%.4f"), Cell::number(1e6 * step, "%.1f"),
                   Cell::number(ratio, "%.1f"), Cell::number(outcome.energy_ratio, "%.3f")});
        series.points.emplace_back(1e3 * outcome.deepest, ratio);
        context.done(0.1 + 0.9 * (k + 1.0) / static_cast<double>(depths.size()));
    }
    const double depth_at_hundred = crossing(series.points, 100),
                 ratio_at_depth = value_at(series.points, 1e3 * constraint.deepest);
    plot.series.push_back(std::move(series));
    if (constraint.held > 1e-9)
        plot.guides.push_back({1e3 * constraint.held, "held by the constraint", true});
    plot.guides.push_back({1e3 * constraint.deepest, "constraint, one step", true});
    page.figure({drawn(plot)},
                "Below a millimetre the ratio grows in inverse proportion to the depth that is "
                "allowed; softer springs cost no step.");
    page.table(table);

    Table findings{"findings",
                   "Step ratio",
                   {{"statement", "statement"}, {"value", "here"}, {"expected", "expected"}}};
    findings.add(
        {"largest step of the constraint over that of the body swinging freely with equal energy",
         page.at_least("constraint step over step without contact", constraint_step / free_step,
                       0.95, "%.3f"),
         "1: contact costs no step length"});
    findings.add({"largest step without contact over the limit of the elements at rest",
                  Cell::number(free_step / limit, "%.3f"),
                  "above 1: the bound by elements is on the safe side"});
    findings.add(
        {"step ratio for springs that let nodes as deep as the constraint does in its one step",
         Cell::number(ratio_at_depth, "%.1f"), "–"});
    findings.add({"depth at which springs need a hundredth of the constraint's step, mm",
                  Cell::number(depth_at_hundred, "%.4f"), "not published"});
    findings.add(
        {"the same relative to the edge of an element",
         Cell::number(1e-3 * depth_at_hundred / (kPenaltySide / impact.elements_per_side()),
                      "%.4f"),
         "–"});
    page.table(findings);
    page.text(
        "The constraint lets a node inside for one step; from then on it stays above the "
        "surface, where springs have it inside for the whole contact. The hundreds of the "
        "publication are those of springs that keep a lasting contact that tight.");
}

}  // namespace pliant::reproduce
