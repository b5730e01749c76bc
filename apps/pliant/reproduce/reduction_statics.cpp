#include "reduction_statics.h"

#include <cmath>

#include "pliant/reduction/reduced_dynamics.h"

namespace pliant::reproduce {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SketchRun run_sketch(const Sample& sample, const FemModel& model, std::vector<SketchLoad> loads,
                     const SketchOptions& options) {
    SketchRun run{std::move(loads), {}};
    // those that solve_sketch keeps, by the same distances
    const LinearModes& modes = sample.modes;
    MatrixXd responses = MatrixXd::Zero(modes.size(), static_cast<Eigen::Index>(run.loads.size()));
    for (std::size_t i = 0; i < run.loads.size(); ++i) {
        auto q = responses.col(static_cast<Eigen::Index>(i));
        const SketchLoad& load = run.loads[i];
        for (std::size_t s = 0; s < load.nodes.size(); ++s)
            q += modes.shapes.middleRows<3>(3 * load.nodes[s]).transpose() * load.forces[s];
        q.array() /= modes.eigenvalues.array();
    }
    const double largest = responses.colwise().norm().maxCoeff();
    run.num_solved =
        static_cast<int>(thin_samples(responses, options.load_distance * largest).size());
    const double start = cpu_seconds();
    run.sketch = solve_sketch(model, sample.constraints, sample.modes, run.loads, options);
    run.seconds = cpu_seconds() - start;
    return run;
}

void add_sketch_table(Section& page, const PublishedSketch& published, const SketchRun& ours) {
    Table table{"sketch",
                "What was recorded, kept and solved; times on one core",
                {{"whose", ""},
                 {"recorded", "loads recorded"},
                 {"solved", "loads kept and solved"},
                 {"failed", "without equilibrium"},
                 {"shapes", "shapes kept"},
                 {"seconds", "static solves, s"},
                 {"seconds_per_load", "s for each load"}}};
    const double before = published.seconds / published.num_solved,
                 now = ours.seconds / ours.num_solved;
    table.add({"published, 2004", "–", Cell::count(published.num_solved), "–",
               Cell::count(published.num_shapes), Cell::number(published.seconds, "%.0f"),
               Cell::number(before, "%.1f")});
    table.add({"measured", Cell::count(static_cast<std::int64_t>(ours.loads.size())),
               Cell::count(ours.num_solved),
               Cell::count(static_cast<std::int64_t>(ours.sketch.failed.size())),
               Cell::count(ours.sketch.shapes.cols()), Cell::number(ours.seconds, "%.1f"),
               page.at_most("time of one static solve of the sketch [s]", now, before, "%.2f")});
    page.table(table);
}

MatrixXd reduced_equilibria(const FemModel& model, const MatrixXd& U, const VectorXd& f,
                            std::span<const double> loads) {
    const ReducedDynamics dynamics(polynomial_force(model, U),
                                   MatrixXd::Identity(U.cols(), U.cols()));
    ReducedState s = dynamics.make_state();
    const auto workspace = dynamics.make_workspace();
    MatrixXd q(U.cols(), static_cast<Eigen::Index>(loads.size()));
    for (std::size_t i = 0; i < loads.size(); ++i) {
        const VectorXd load = loads[i] * (U.transpose() * f);
        const ReducedReport report = dynamics.solve_static(s, load, 500, *workspace);
        auto found = q.col(static_cast<Eigen::Index>(i));
        found = s.q;
        if (report.status != StepStatus::Ok) found.setConstant(std::nan(""));
    }
    return U * q;
}

}  // namespace pliant::reproduce
