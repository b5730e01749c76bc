#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/pliant/output.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/geometry/surface_check.h"
#include "proxy_experiments.h"
#include "proxy_samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kFoldRadius = 0.03, kFoldStep = 0.01, kFoldSpeed = 3;
constexpr int kRim = 32;

/// A disk of 1 m: 32 particles of its rim are held, the middle moves.
ParticleBody make_fan() {
    SurfaceMesh mesh;
    mesh.vertices.emplace_back(0, 0, 0);
    for (int i = 0; i < kRim; ++i) {
        const double a = 2 * EIGEN_PI * i / kRim;
        mesh.vertices.emplace_back(std::cos(a), std::sin(a), 0);
        mesh.triangles.push_back({0, 1 + i, 1 + (i + 1) % kRim});
    }
    mesh = double_faced(mesh);
    ParticleLayout layout;
    for (const Vector3d& v : mesh.vertices) {
        Particle p;
        p.position = v;
        p.radii.setConstant(0.02);
        p.mass = 0.1;
        p.stiffness = 0;
        layout.particles.push_back(p);
    }
    layout.particles[0].stiffness = 0.02;  // soft: it is pushed three metres down
    ParticleBodyOptions options;
    options.dynamics.iterations = 1;
    for (int i = 1; i <= kRim; ++i) layout.links.push_back({0, i});
    options.held.push_back({.selection = "list 1-32", .motion = {}});
    return ParticleBody(make_particle_model(std::move(layout), mesh), options);
}

/// Down in the middle, then to the left and to the right at 3 m/s, twice.
Vector3d fold_hand(double t, double depth) {
    const double down = depth / kFoldSpeed;
    if (t < down) return {0.011, 0.007, 0.1 - (depth + 0.1) * t / down};
    const double reach = 0.5, period = 4 * reach / kFoldSpeed;
    const double phase = std::fmod(t - down, period) / period;
    const double x = phase < 0.25 ? -4 * phase : phase < 0.75 ? 4 * phase - 2 : 4 - 4 * phase;
    return {0.011 + reach * x, 0.007, -depth};
}

struct FoldRun {
    ProxyRecording recording;
    std::vector<double> rounds, tip;
    bool has_passed = false;  // ended below the fan
    int squeezed = 0;
};

FoldRun push_fold(double depth, PopOutMode mode, bool has_pop_out) {
    ParticleBody fan = make_fan();
    const auto surface = make_moving_surface(fan);
    ProxyOptions options;
    options.sphere.radius = kFoldRadius;
    options.sphere.pop_out = mode;
    options.sphere.max_pops = 1000;
    options.has_pop_out = has_pop_out;
    options.stiffness = 500;
    VirtualProxy proxy({surface.get()}, options);
    proxy.reset(fold_hand(0, depth));
    FoldRun run;
    for (int k = 0; k < 250; ++k) {
        const double t = k * kFoldStep;
        const ProxyState& state = proxy.tick(fold_hand(t, depth));
        proxy.apply_forces();
        run.recording.add(t, state);
        run.rounds.push_back(state.pop_rounds);
        run.squeezed += state.is_squeezed;
        run.tip.push_back(fan.state().position[0].z());
        // below the cone whose tip is the middle
        const Vector3d tip = fan.state().position[0];
        const Vector3d p = state.position;
        const SurfaceMesh now = surface_now(fan);
        double height = 0;
        for (int i = 0; i < kRim; ++i) {
            const Vector3d a = now.corner(i, 1), b = now.corner(i, 2);
            const auto cross = [](const Vector3d& u, const Vector3d& v) {
                return u.x() * v.y() - u.y() * v.x();
            };
            const double area = cross(a - tip, b - tip);
            const double wa = cross(p - tip, b - tip) / area, wb = cross(a - tip, p - tip) / area;
            if (wa < 0 || wb < 0 || wa + wb > 1) continue;
            height = p.z() - (tip + wa * (a - tip) + wb * (b - tip)).z();
        }
        run.has_passed = run.has_passed || height < -1e-6;
        fan.step(kFoldStep);
    }
    return run;
}

double most_rounds(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
}
double mean_rounds(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

/// Thread CPU time of a call, median of ten runs of at least 0.2 ms [µs].
double median_time_us(const std::function<void()>& call) {
    int calls = 1;
    const auto run = [&] {
        const double start = thread_cpu_time_us();
        for (int i = 0; i < calls; ++i) call();
        return thread_cpu_time_us() - start;
    };
    while (calls < 1000 && run() < 200) calls *= 2;
    std::vector<double> times;
    for (int i = 0; i < 10; ++i) times.push_back(run() / calls);
    std::nth_element(times.begin(), times.begin() + 5, times.end());
    return times[5];
}

/// Two sheets around a sphere with no room for it, of `count` triangles together, both faces
/// counted: pop-out never ends.
SurfaceMesh facing_sheets(int count) {
    SurfaceMesh mesh;
    const int below = count / 4, above = count / 2 - below;
    for (const auto& [height, triangles] : {std::pair{-0.021, below}, {0.024, above}}) {
        const int first = mesh.num_vertices();
        if (triangles == 2) {
            for (const auto& [x, y] : {std::pair{-0.1, -0.1}, {0.1, -0.1}, {0.1, 0.1}, {-0.1, 0.1}})
                mesh.vertices.emplace_back(x, y, height);
            mesh.triangles.push_back({first, first + 1, first + 2});
            mesh.triangles.push_back({first, first + 2, first + 3});
            continue;
        }
        mesh.vertices.emplace_back(0.001, 0.002, height);
        for (int i = 0; i < triangles; ++i) {
            const double a = 2 * EIGEN_PI * i / triangles;
            mesh.vertices.emplace_back(0.1 * std::cos(a), 0.1 * std::sin(a), height);
            mesh.triangles.push_back({first, first + 1 + i, first + 1 + (i + 1) % triangles});
        }
    }
    return double_faced(mesh);
}

}  // namespace

void run_fold(Context& context) {
    Section& page = context.section;
    page.text(
        "A fan of 33 vertices and 32 faces (here with both sides; the rim of 1 m is held) is "
        "pushed 1, 2 and 3 m deep in its middle by a sphere of radius 3 cm, which then goes left "
        "and right at 3 m/s: rounds of pop-out in each step of 10 ms, as published (every triangle "
        "pushes, shortest push 0.002 r) and guarded, which is our default. Published as curves: "
        "rounds grow with depth, peaks when the fold springs back; without pop-out the proxy "
        "passes through (here at 2 and 3 m, not at 1 m). A sphere that has passed through the fan "
        "has nothing more to come out of: where plain pop-out lets it pass, its rounds do not "
        "grow.");
    Table table{"fold",
                "Rounds of pop-out in a fold",
                {{"pop_out", "pop-out"},
                 {"depth_m", "depth of the hand, m"},
                 {"tip_m", "deepest tip, m"},
                 {"mean", "rounds, mean"},
                 {"most", "rounds, most"},
                 {"squeezed", "steps without room"},
                 {"passed", "passed through (1: yes)"}}};
    std::vector<std::string> plots;
    struct Mode {
        const char* name;
        PopOutMode mode;
        bool has_pop_out;
    };
    std::vector<double> means, plain_means;
    for (const Mode& mode :
         {Mode{"plain", PopOutMode::Plain, true}, Mode{"guarded", PopOutMode::Guarded, true},
          Mode{"none", PopOutMode::Plain, false}}) {
        Plot plot{.title = format("Rounds, %s pop-out", mode.name),
                  .x_label = "time, s",
                  .y_label = "rounds"};
        for (const double depth : {1.0, 2.0, 3.0}) {
            const FoldRun run = push_fold(depth, mode.mode, mode.has_pop_out);
            Series series{format("%.0f m", depth), {}, static_cast<int>(depth) - 1};
            for (std::size_t i = 0; i < run.rounds.size(); ++i)
                series.points.emplace_back(kFoldStep * static_cast<double>(i), run.rounds[i]);
            plot.series.push_back(std::move(series));
            if (mode.has_pop_out)
                (mode.mode == PopOutMode::Guarded ? means : plain_means)
                    .push_back(mean_rounds(run.rounds));
            const std::string what =
                format("passed through at %.0f m, %s pop-out", depth, mode.name);
            table.add({mode.name, Cell::number(depth, "%.0f"),
                       Cell::number(*std::min_element(run.tip.begin(), run.tip.end()), "%.2f"),
                       Cell::number(mean_rounds(run.rounds), "%.2f"),
                       Cell::number(most_rounds(run.rounds), "%.0f"), Cell::count(run.squeezed),
                       // what is published of it, and what ours must do
                       mode.mode == PopOutMode::Guarded || (!mode.has_pop_out && depth == 3)
                           ? page.compared(what, run.has_passed, !mode.has_pop_out, 0, "%.0f")
                           : Cell::count(run.has_passed)});
            page.log(format("fold-%s-%.0fm", mode.name, depth), run.recording.csv());
        }
        if (mode.has_pop_out) plots.push_back(drawn(plot));
        context.done(plots.size() / 3.0);
    }
    page.figure(plots, "Rounds in each step, by depth of the hand.");
    page.table(table);
    Table growth{"fold_growth",
                 "Mean rounds of one depth over those of the one before",
                 {{"from", "from, m"}, {"to", "to, m"}, {"ratio", "guarded"}, {"plain", "plain"}}};
    for (std::size_t i = 0; i < 2; ++i)
        growth.add({Cell::count(static_cast<int>(i) + 1), Cell::count(static_cast<int>(i) + 2),
                    page.at_least(format("rounds at %zu m over those at %zu m", i + 2, i + 1),
                                  means[i + 1] / means[i], 1, "%.2f"),
                    Cell::number(plain_means[i + 1] / plain_means[i], "%.2f")});
    page.table(growth);
}

void run_pop_out_times(Context& context) {
    Section& page = context.section;
    page.text(
        "Pop-out between two sheets that leave no room, so that it runs to its limit of rounds, "
        "without making the list of triangles; median of 10 runs. The published grid is labelled "
        "microseconds, but 10,000 tests of triangles in 0.99 µs are impossible: read as "
        "milliseconds, mean of 10 runs on an i5-4210U.");
    constexpr double kPublished[3][3] = {
        {0.010, 0.134, 0.989}, {0.018, 0.166, 1.533}, {0.028, 0.269, 2.234}};
    Table table{"pop_out_times",
                "Time of pop-out, ms",
                {{"triangles", "triangles"},
                 {"rounds", "rounds"},
                 {"published_ms", "published"},
                 {"plain_ms", "plain"},
                 {"guarded_ms", "guarded"},
                 {"ns_per_test", "plain, ns for each triangle and round"}}};
    Plot plot{.title = "Time of pop-out",
              .x_label = "rounds",
              .y_label = "time, ms",
              .log_x = true,
              .log_y = true};
    for (int row = 0; row < 3; ++row) {
        const int triangles = 10 * (row + 1);
        VertexSurface surface(facing_sheets(triangles));
        SurfaceNeighbourhood near({&surface});
        SphereCarryOptions options;
        options.radius = 0.03;
        Series published{format("%d triangles, published", triangles), {}, row, Stroke::Dashed};
        Series plain{format("%d triangles, plain", triangles), {}, row, Stroke::LineAndDots};
        for (int column = 0; column < 3; ++column) {
            const double rounds = std::pow(10, column + 1);
            options.max_pops = static_cast<int>(rounds);
            double ms[2];
            for (const PopOutMode mode : {PopOutMode::Plain, PopOutMode::Guarded}) {
                options.pop_out = mode;
                const Vector3d start = Vector3d::Zero();
                near.forget();
                near.require(start, 0.2, 0);
                int done = 0;
                ms[mode == PopOutMode::Guarded] =
                    1e-3 * median_time_us([&] { done = pop_out(near, start, options).rounds; });
                if (mode == PopOutMode::Plain)
                    (void)page.compared(format("rounds of %d triangles to %.0f", triangles, rounds),
                                        done, rounds, 0, "%.0f");
            }
            table.add(
                {Cell::count(triangles), Cell::count(static_cast<int>(rounds)),
                 Cell::number(kPublished[row][column], "%.3f"),
                 page.at_most(format("pop-out, %d triangles, %.0f rounds [ms]", triangles, rounds),
                              ms[0], kPublished[row][column], "%.4f"),
                 Cell::number(ms[1], "%.4f"),
                 Cell::number(1e6 * ms[0] / (rounds * triangles), "%.1f")});
            published.points.emplace_back(rounds, kPublished[row][column]);
            plain.points.emplace_back(rounds, ms[0]);
        }
        plot.series.push_back(std::move(published));
        plot.series.push_back(std::move(plain));
        context.done((row + 1) / 3.0);
    }
    page.figure({drawn(plot)}, "Plain pop-out by rounds, here and as published.");
    page.table(table);
}

}  // namespace pliant::reproduce
