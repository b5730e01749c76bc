#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "plot.h"
#include "proxy_experiments.h"
#include "proxy_samples.h"
#include "tests/haptics/proxy_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

struct StrokeSteps {
    int beyond = 0;
    double largest = 0, excess = 0;  // of changes of force; beyond k Δg [N]
    ProxyRecording recording;
};

/// `move` puts the surface where it is in each step.
template <class Move>
StrokeSteps stroke_ring(VirtualProxy& proxy, double step, int steps, const Move& move) {
    StrokeSteps result;
    move(0);
    proxy.reset(test::ring_stroke(0, -0.03));
    const double k = proxy.options().stiffness;
    Vector3d force = Vector3d::Zero(), goal = Vector3d::Zero();
    for (int i = 0; i < steps; ++i) {
        move(i);
        const Vector3d next = test::ring_stroke(step * i, 4e-3);
        const ProxyState& state = proxy.tick(next);
        if (i > 20) {
            const double change = (state.force - force).norm(), asked = k * (next - goal).norm();
            result.beyond += change > 3 * asked + 0.5;
            result.largest = std::max(result.largest, change);
            result.excess = std::max(result.excess, change - asked);
        }
        if (i < 1000) result.recording.add(1e-3 * i, state);
        force = state.force;
        goal = next;
    }
    return result;
}

}  // namespace

void run_fine_stroke(Context& context) {
    Section& page = context.section;
    const SurfaceMesh ring = test::ring_of_70k();
    const int steps = context.sized(20'000, 2000);
    page.text(format(
        "A ring of %s triangles of 1 to 3 mm with slight bumps is stroked with the goal 4 mm below "
        "its surface, 500 N/m, %s steps each; at rest, and as a reduced body that swings in 15 "
        "shapes. Beyond: steps in which the force changes by more than 3 k Δg + 0.5 N (k: "
        "the spring, Δg: the step of the goal). The best-known open proxy: 16 to 1,230 steps, "
        "changes of 10 to 50 N.",
        cli::grouped(ring.num_triangles()).c_str(), cli::grouped(steps).c_str()));
    Table table{"stroke",
                "Force while stroking",
                {{"surface", "surface"},
                 {"step_mm", "steps of the goal, mm"},
                 {"beyond", "steps beyond"},
                 {"largest_n", "largest change, N"},
                 {"excess_n", "largest beyond k Δg, N"}}};
    std::vector<std::string> plots;
    VertexSurface resting(ring);
    ReducedSurface swinging(test::waving_shapes(ring, 15, 1.0));
    std::array<double, 15> q = {};
    for (const bool is_swinging : {false, true}) {
        VirtualProxy proxy(is_swinging ? std::vector<MovingSurface*>{&swinging}
                                       : std::vector<MovingSurface*>{&resting});
        Plot plot{
            .title = is_swinging ? "Size of the force, swinging" : "Size of the force, at rest",
            .x_label = "step",
            .y_label = "force, N"};
        for (const double step : {3e-4, 2e-3}) {
            const StrokeSteps result = stroke_ring(proxy, step, steps, [&](int i) {
                if (!is_swinging) return;
                for (std::size_t j = 0; j < q.size(); ++j)
                    q[j] = 2e-3 * std::sin((4.0 + 1.3 * static_cast<double>(j)) * 1e-3 * i);
                swinging.set_motion(Pose{}, q);
            });
            const std::string name =
                format("%s, %.1f mm", is_swinging ? "swinging" : "at rest", 1e3 * step);
            table.add({is_swinging ? "swinging" : "at rest", Cell::number(1e3 * step, "%.1f"),
                       page.at_most("steps beyond, " + name, result.beyond, 10, "%.0f"),
                       Cell::number(result.largest, "%.2f"),
                       page.at_most("largest change of force beyond k Δg [N], " + name,
                                    result.excess, 3, "%.2f")});
            Series series{format("steps of %.1f mm", 1e3 * step), {}, step > 1e-3 ? 1 : 0};
            for (std::size_t i = 20; i < result.recording.rows.size(); i += 2)
                series.points.emplace_back(static_cast<double>(i),
                                           result.recording.rows[i].force.norm());
            plot.series.push_back(std::move(series));
            page.log(format("stroke-%s-%.0fum", is_swinging ? "swinging" : "at-rest", 1e6 * step),
                     result.recording.csv());
        }
        plots.push_back(drawn(plot));
        context.done(is_swinging ? 1 : 0.4);
    }
    page.figure(plots, "The first thousand steps.");
    page.table(table);
}

}  // namespace pliant::reproduce
