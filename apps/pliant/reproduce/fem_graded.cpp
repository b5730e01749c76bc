#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "mesh_picture.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/graded_mesh.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

// ---- counts ----

struct Counts {
    int n, graded, nodes, on_edges, on_faces;
};
constexpr Counts kReference[] = {
    {6, 160, 317, 48, 24},          {8, 323, 612, 108, 54},          {10, 545, 1014, 204, 102},
    {14, 1176, 2143, 480, 240},     {22, 3193, 5720, 1404, 702},     {30, 6224, 11073, 2832, 1416},
    {46, 15345, 27130, 7212, 3606}, {62, 28552, 50339, 13632, 6816},
};

void write_counts(Context& context) {
    Section& page = context.section;
    Table table{
        "counts",
        "Elements and nodes of graded cubes with n elements along a side: one layer of each "
        "size. All agree exactly with the reference unless marked; the last power is judged by 2 ± "
        "0.15.",
        {{"n", "n"},
         {"uniform", "uniform elements"},
         {"graded", "graded elements"},
         {"nodes", "nodes"},
         {"on_edges", "hanging on edges"},
         {"on_faces", "hanging on faces"},
         {"ratio", "ratio"},
         {"power", "power of n since the row before"}}};
    int last_n = 0, last_elements = 0;
    for (const Counts& r : kReference) {
        if (context.is_quick && r.n > 30) break;
        const VolumeMesh mesh = graded_box(r.n);
        const auto on_edges =
            std::count_if(mesh.hanging.begin(), mesh.hanging.end(),
                          [](const HangingNode& node) { return node.num_masters == 2; });
        const auto on_faces = static_cast<std::ptrdiff_t>(mesh.hanging.size()) - on_edges;
        const auto cell = [&](const char* what, std::ptrdiff_t value, int expected) {
            Cell counted = Cell::count(value);
            counted.deviates = page.compared(format("graded cube, n = %d: %s", r.n, what),
                                             static_cast<double>(value), expected, 0)
                                   .deviates;
            return counted;
        };
        const int uniform = r.n * r.n * r.n;
        const double power = growth_power(last_n, last_elements, r.n, mesh.num_elements());
        table.add({Cell::count(r.n), Cell::count(uniform),
                   cell("elements", mesh.num_elements(), r.graded),
                   cell("nodes", mesh.num_vertices(), r.nodes),
                   cell("on edges", on_edges, r.on_edges), cell("on faces", on_faces, r.on_faces),
                   Cell::number(mesh.num_elements() / static_cast<double>(uniform), "%.3f"),
                   last_n == 0 ? Cell("–")
                   : r.n < 62  ? Cell::number(power, "%.2f")
                              : page.compared("graded cubes: power of n", power, 2, 0.15, "%.2f")});
        last_n = r.n;
        last_elements = mesh.num_elements();
    }
    page.table(table);
}

// ---- cost of a step ----

double step_us(const VolumeMesh& mesh, double budget_us) {
    const FemModel model(mesh, {isotropic(2e4, 0.3, 1000)}, kPublishedElements);
    const ExplicitDynamics dynamics(model, Constraints(model.num_nodes()));
    FemState s = dynamics.make_state();
    ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
    const VectorXd none = VectorXd::Zero(model.num_unknowns());
    const double dt = 0.6 * dynamics.stable_step().dt;
    const int group = std::max(1, 20000 / mesh.num_elements());
    return best_time_us(
               [&] {
                   for (int k = 0; k < group; ++k) (void)dynamics.step(s, none, dt, workspace);
               },
               budget_us) /
           group;
}

void write_costs(Context& context) {
    Section& page = context.section;
    page.heading("Cost of an explicit step");
    page.text(
        "Published on a 400 MHz Pentium II: 0.11 s for the uniform and 0.06 s for the graded "
        "mesh of the same surface, a ratio of 0.545. The uniform mesh is said to have 1331 "
        "elements, which is the number of nodes of 10³ elements, and 545 of 1000 elements "
        "remain when these are graded: both sizes are measured.");
    Table table{"costs",
                "Time of one step, one core",
                {{"n", "n"},
                 {"uniform_us", "uniform, µs"},
                 {"graded_us", "graded, µs"},
                 {"time_ratio", "ratio of times"},
                 {"element_ratio", "ratio of elements"},
                 {"published", "published ratio"}}};
    Plot plot{.title = "Time of a step",
              .x_label = "elements along a side",
              .y_label = "time, µs",
              .log_x = true,
              .log_y = true};
    Plot elements = plot;
    elements.title = "Elements";
    elements.y_label = "elements";
    Series uniform_time{"uniform", {}, 0, Stroke::LineAndDots},
        graded_time{"graded", {}, 1, Stroke::LineAndDots};
    Series uniform_count = uniform_time, graded_count = graded_time;
    const double budget = context.sized(2e5, 4e4);
    for (const int n :
         context.sized(std::vector<int>{6, 10, 11, 14, 22, 30}, std::vector<int>{6, 10, 14})) {
        const VolumeMesh uniform = soft_cube(n, 1);
        const double uniform_us = step_us(uniform, budget);
        uniform_time.points.emplace_back(n, uniform_us);
        uniform_count.points.emplace_back(n, uniform.num_elements());
        if (n % 2 != 0) {  // odd ones cannot be graded
            table.add({Cell::count(n), Cell::number(uniform_us, "%.1f"), "–", "–", "–", "–"});
            continue;
        }
        const VolumeMesh graded = graded_box(n);
        const double graded_us = step_us(graded, budget);
        graded_time.points.emplace_back(n, graded_us);
        graded_count.points.emplace_back(n, graded.num_elements());
        table.add({Cell::count(n), Cell::number(uniform_us, "%.1f"),
                   Cell::number(graded_us, "%.1f"), Cell::number(graded_us / uniform_us, "%.3f"),
                   Cell::number(graded.num_elements() / static_cast<double>(uniform.num_elements()),
                                "%.3f"),
                   n == 10 ? Cell::number(0.545, "%.3f") : Cell("–")});
    }
    plot.series = {uniform_time, graded_time};
    elements.series = {uniform_count, graded_count};
    page.figure(
        {drawn(elements), drawn(plot)},
        "Uniform meshes grow with the cube of the resolution, graded ones nearly with its square.");
    page.table(table);
}

// ---- accuracy at the surface ----

/// A unit cube glued to the ground, pressed at the top by a smooth round load.
struct Load {
    const char* name;
    double radius, force;  ///< m, N
};
constexpr Load kBroad{"broad", 0.3, 300}, kNarrow{"narrow", 0.12, 60};

VectorXd indent(const VolumeMesh& mesh, const Load& load) {
    const FemModel model(mesh, {isotropic(2e4, 0.3, 1000)}, kPublishedElements);
    Constraints clamps(model.num_nodes());
    clamps.fix(vertices_where(mesh, [](const Vector3d& x) { return x.z() < 1e-9; }));
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    const auto top = vertices_where(mesh, [](const Vector3d& x) { return x.z() > 1 - 1e-9; });
    constexpr int kPoints = 8;  // along a side of each face
    for (const ElementFace& face : boundary_faces(mesh, top)) {
        // bilinear weights of the corners at a grid of points: faces are squares, in order around
        const auto corner = [&](std::size_t k) {
            return mesh.vertices[static_cast<std::size_t>(face[k])];
        };
        for (int p = 0; p < kPoints * kPoints; ++p) {
            const int row = p / kPoints;
            const double s = (p % kPoints + 0.5) / kPoints, t = (row + 0.5) / kPoints;
            const double weights[] = {(1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t};
            Vector3d x = Vector3d::Zero();
            for (std::size_t k = 0; k < 4; ++k) x += weights[k] * corner(k);
            const double r = std::hypot(x.x() - 0.5, x.y() - 0.5) / load.radius;
            if (r >= 1) continue;
            for (std::size_t k = 0; k < 4; ++k)
                f[3 * face[k] + 2] -= weights[k] * std::pow(1 - r * r, 2);
        }
    }
    f *= load.force / -f.sum();
    return solve_static(model, clamps, f).u;
}

/// Trilinear interpolation in a uniform cube of n³ elements.
Vector3d interpolated(int n, const VectorXd& u, const Vector3d& x) {
    Eigen::Vector3i cell;
    Vector3d t;
    for (int k = 0; k < 3; ++k) {
        cell[k] = std::clamp(static_cast<int>(x[k] * n), 0, n - 1);
        t[k] = x[k] * n - cell[k];
    }
    Vector3d sum = Vector3d::Zero();
    for (int corner = 0; corner < 8; ++corner) {
        const int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
        const int vertex = cell.x() + i + (n + 1) * (cell.y() + j + (n + 1) * (cell.z() + k));
        sum += (i ? t.x() : 1 - t.x()) * (j ? t.y() : 1 - t.y()) * (k ? t.z() : 1 - t.z()) *
               u.segment<3>(3 * vertex);
    }
    return sum;
}

bool is_on_surface(const Vector3d& x) { return x.minCoeff() < 1e-9 || x.maxCoeff() > 1 - 1e-9; }

/// Relative L2 difference of displacements over the surface nodes of `mesh` from a uniform
/// solution.
double surface_error(const VolumeMesh& mesh, const VectorXd& u, int n, const VectorXd& truth) {
    double difference = 0, size = 0;
    for (int i = 0; i < mesh.num_vertices(); ++i) {
        const Vector3d& x = mesh.vertices[static_cast<std::size_t>(i)];
        if (!is_on_surface(x)) continue;
        const Vector3d exact = interpolated(n, truth, x);
        difference += (u.segment<3>(3 * i) - exact).squaredNorm();
        size += exact.squaredNorm();
    }
    return std::sqrt(difference / size);
}

/// Elements at which a falling curve of (elements, error) has the error: straight in logarithms,
/// also beyond the ends.
double elements_at(const std::vector<std::pair<double, double>>& curve, double error) {
    std::size_t k = 1;
    while (k + 1 < curve.size() && curve[k].second > error) ++k;
    const auto [x0, y0] = curve[k - 1];
    const auto [x1, y1] = curve[k];
    return x0 * std::pow(x1 / x0, std::log(error / y0) / std::log(y1 / y0));
}

struct Trial {
    std::string name;
    VolumeMesh mesh;
    int n;
    bool is_uniform;
    VectorXd u = {};
};

void draw_trials(Section& page, const Trial& uniform, const Trial& graded) {
    // a part of the graded cube, cut between cells of all sizes, to show the inside
    const double cut_at = graded.n == 10 ? 0.3 : 0.5;
    const VolumeMesh part = cut_open(graded.mesh, cut_at);
    const Drawn whole{&graded.mesh, graded.u}, cut{&part, graded.u};
    const Box box = box_around({whole});
    const View view{.azimuth = -65, .elevation = 25, .width = 300};
    page.figure(
        {picture({{&uniform.mesh, uniform.u}}, box, view, uniform.name),
         picture({whole}, box, view, graded.name), picture({cut}, box, view, "graded, cut open")},
        "The two indented cubes: their surfaces have the same elements, the inside of the "
        "graded one is coarser.");
}

void write_accuracy(Context& context) {
    Section& page = context.section;
    page.heading("Surface error of an indentation");
    const int fine = context.sized(20, 12), shown = context.sized(10, 6);
    page.text(
        format("A unit cube, glued to the ground (E = 2e4 Pa, ν = 0.3, quadratic strain, static), "
               "is pressed on its top: broadly, by 300 N over a circle of radius 0.3 m, and "
               "narrowly, by 60 N over 0.12 m. ") +
        format("Errors are relative L2 differences of the displacements of surface nodes, from the "
               "uniform mesh of the same surface and from a uniform mesh of %d³ elements. No "
               "tolerance is given for them.",
               fine));
    std::vector<Trial> trials;
    for (const int n : context.sized(std::vector<int>{6, 8, 10, 14}, std::vector<int>{6, 8})) {
        const auto add = [&](const char* kind, VolumeMesh mesh, bool is_uniform) {
            std::string name = format("%s, n = %d", kind, n);
            trials.push_back({std::move(name), std::move(mesh), n, is_uniform});
        };
        add("uniform", soft_cube(n, 1), true);
        add("graded", graded_box(n), false);
        if (n >= 10) add("graded, two layers of each size", graded_box(n, 2), false);
    }
    std::vector<std::string> plots;
    std::vector<Table> tables;
    Table equal{
        "equal_accuracy",
        "Uniform elements with the error of the graded mesh of n = 10, on the line through two "
        "meshes that were measured, prolonged where they do not enclose it",
        {{"load", "load"},
         {"graded", "graded elements"},
         {"error", "error"},
         {"uniform", "uniform elements of equal error"},
         {"published", "published"}}};
    double done = 0.3;
    for (const Load& load : {kBroad, kNarrow}) {
        const VectorXd truth = indent(soft_cube(fine, 1), load);
        context.done(done += 0.15);
        Table table{std::string("indentation_") + load.name,
                    format("Indentation, %s load", load.name),
                    {{"mesh", "mesh"},
                     {"elements", "elements"},
                     {"against_uniform", "difference from the uniform mesh of equal surface"},
                     {"against_fine", "difference from the fine mesh"},
                     {"depth_mm", "depth in the middle, mm"}}};
        Plot plot{.title = format("Surface error, %s load", load.name),
                  .x_label = "elements",
                  .y_label = "difference from the fine mesh",
                  .log_x = true,
                  .log_y = true};
        plot.series = {{"uniform", {}, 0, Stroke::LineAndDots},
                       {"graded", {}, 1, Stroke::LineAndDots},
                       {"graded, two layers", {}, 2, Stroke::LineAndDots}};
        const Trial* uniform = nullptr;
        int since_uniform = 0;
        for (Trial& trial : trials) {
            trial.u = indent(trial.mesh, load);
            if (trial.is_uniform) uniform = &trial;
            since_uniform = trial.is_uniform ? 0 : since_uniform + 1;
            const double error = surface_error(trial.mesh, trial.u, fine, truth);
            plot.series[static_cast<std::size_t>(since_uniform)].points.emplace_back(
                trial.mesh.num_elements(), error);
            table.add({trial.name, Cell::count(trial.mesh.num_elements()),
                       trial.is_uniform
                           ? Cell("–")
                           : Cell::number(surface_error(trial.mesh, trial.u, trial.n, uniform->u),
                                          "%.4f"),
                       Cell::number(error, "%.4f"),
                       Cell::number(-1e3 * trial.u[3 * vertex_at(trial.mesh, {0.5, 0.5, 1}) + 2],
                                    "%.2f")});
            if (since_uniform == 1 && trial.n == shown && load.radius == kBroad.radius)
                draw_trials(page, *uniform, trial);
            context.done(done += 0.2 / static_cast<double>(trials.size()));
        }
        plots.push_back(drawn(plot));
        tables.push_back(std::move(table));
        if (context.is_quick) continue;
        const auto [elements, error] = plot.series[1].points[2];  // n = 10
        equal.add({load.name, Cell::count(static_cast<std::int64_t>(elements)),
                   Cell::number(error, "%.4f"),
                   page.at_least(format("uniform elements as accurate as 545 graded ones, %s load",
                                        load.name),
                                 elements_at(plot.series[0].points, error), 1000, "%.0f"),
                   "more than 1000 for 600"});
    }
    page.figure(plots, "Error against the number of elements.");
    for (const Table& table : tables) page.table(table);
    if (context.is_quick) return;
    page.table(equal);
    page.text(
        "The published statement that 600 graded elements are about as accurate as more than "
        "1000 uniform ones is not reproduced by one layer of each size: the elements under the "
        "first layer are too coarse for these loads. With two layers of each size the graded "
        "mesh differs from the uniform one of the same surface by about 2 %.");
}

// ---- momentum ----

void write_momentum(Context& context) {
    Section& page = context.section;
    page.heading("Hanging nodes and momentum");
    page.text(
        "A free graded cube (n = 10, 545 elements), spinning and vibrating, 400 steps. Folding "
        "hands the force and mass of hanging nodes to their masters; overwriting their "
        "displacements alone, the published 2-D rule, loses both.");
    const VolumeMesh mesh = graded_box(10);
    const FemModel model(mesh, {isotropic(2e4, 0.3, 1000)}, kPublishedElements);
    Table table{
        "momentum",
        "Change over 400 steps, relative; folded momenta are judged by 1e-10, the energy ratio by "
        "1 ± 0.01",
        {{"mode", "mode"},
         {"linear", "linear momentum"},
         {"angular", "angular momentum"},
         {"energy", "energy ratio"},
         {"reference", "reference"}}};
    for (const HangingMode mode : {HangingMode::Fold, HangingMode::OverwriteOnly}) {
        ExplicitOptions options;
        options.hanging = mode;
        const ExplicitDynamics dynamics(model, Constraints(model.num_nodes()), options);
        FemState s = dynamics.make_state();
        ExplicitDynamics::Workspace workspace = dynamics.make_workspace();
        const VectorXd none = VectorXd::Zero(model.num_unknowns());
        for (int i = 0; i < model.num_nodes(); ++i) {
            const Vector3d x = mesh.vertices[static_cast<std::size_t>(i)] - Vector3d::Constant(0.5);
            s.u.segment<3>(3 * i) =
                0.02 * Vector3d(std::sin(4 * x.x() + x.y()), std::cos(3 * x.y() - 2 * x.z()),
                                std::sin(5 * x.z() + 2 * x.x()));
            s.v.segment<3>(3 * i) = Vector3d(0.3, 0.1, 0.2) + Vector3d(0.4, -0.3, 1.0).cross(x);
        }
        dynamics.set_acceleration(s, none, workspace);
        const Momentum before = dynamics.momentum(s);
        const double energy = dynamics.energy(s, workspace).total();
        const double dt = 0.5 * dynamics.stable_step().dt;
        for (int k = 0; k < 400; ++k) (void)dynamics.step(s, none, dt, workspace);
        const Momentum after = dynamics.momentum(s);
        const double linear = (after.linear - before.linear).norm() / before.linear.norm(),
                     angular = (after.angular - before.angular).norm() / before.angular.norm(),
                     ratio = dynamics.energy(s, workspace).total() / energy;
        const bool folds = mode == HangingMode::Fold;
        table.add({folds ? "fold" : "overwrite only",
                   folds ? page.at_most("folded: drift of linear momentum", linear, 1e-10, "%.1e")
                         : Cell::number(linear, "%.3f"),
                   folds ? page.at_most("folded: drift of angular momentum", angular, 1e-10, "%.1e")
                         : Cell::number(angular, "%.3f"),
                   folds ? page.compared("folded: energy ratio", ratio, 1, 0.01, "%.4f")
                         : Cell::number(ratio, "%.4f"),
                   folds ? "2e-15, 2e-15, 1.0004" : "0.024, 0.12, 1.22 (another start)"});
    }
    page.table(table);
}

}  // namespace

void run_graded(Context& context) {
    context.section.text(
        "Loads on the surface are felt less and less inside: elements may grow with depth. A "
        "cube then needs a number of elements that grows with the square of its resolution, not "
        "with the cube.");
    write_counts(context);
    context.done(0.1);
    write_costs(context);
    context.done(0.3);
    write_accuracy(context);
    write_momentum(context);
}

}  // namespace pliant::reproduce
