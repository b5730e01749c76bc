#include <cmath>
#include <numbers>
#include <random>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/fem/free_system.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
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

constexpr int kLayersX = 32, kLayersY = 5, kLayersZ = 3;

/// Largest displacement of a vertex.
double reach(const VectorXd& u) {
    return std::sqrt(u.reshaped(3, u.size() / 3).colwise().squaredNorm().maxCoeff());
}

// ---- extreme shapes ----

/// Cubes of 1/32 m, held at x = 0; pulled at x = 1 m.
struct Beam {
    Sample sample;
    std::vector<int> end;
    [[nodiscard]] const FemModel& model() const { return sample.model; }
    [[nodiscard]] Vector3d rest(int node) const {
        return sample.model.mesh().vertices[static_cast<std::size_t>(node)];
    }
};

Beam make_beam() {
    const Vector3d half(0, kLayersY / 64.0, kLayersZ / 64.0);
    const FemModel model(
        hex_box(kLayersX, kLayersY, kLayersZ, Box(-half, Vector3d::UnitX() + half)),
        {isotropic(1e6, 0.4, 1000)}, kPublishedElements);
    Constraints constraints(model.num_nodes());
    constraints.fix(vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() < 1e-9; }));
    const LinearModes modes = compute_modes(model, constraints, {.num_modes = 10});
    return {{model, constraints, mass_matrix(model), modes,
             modal_derivatives(model, constraints, modes)},
            vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() > 1 - 1e-9; })};
}

/// By the motion of the cross-sections as wholes: none in torsion.
std::string kind_of_mode(const Beam& beam, int mode) {
    const auto shape = beam.sample.modes.shapes.col(mode);
    constexpr int kPerSection = (kLayersY + 1) * (kLayersZ + 1);
    Eigen::Matrix3Xd mean = Eigen::Matrix3Xd::Zero(3, kLayersX + 1);
    for (int i = 0; i < beam.model().num_nodes(); ++i)
        mean.col(std::lround(kLayersX * beam.rest(i).x())) += shape.segment<3>(3 * i) / kPerSection;
    const Vector3d part = mean.rowwise().squaredNorm() * kPerSection / shape.squaredNorm();
    if (part.sum() < 0.1) return "torsion";
    const char* kNames[] = {"stretching", "bending along y", "bending along z"};
    Eigen::Index axis = 0;
    part.maxCoeff(&axis);
    return kNames[axis];
}

/// The first two modes of a kind.
std::pair<int, int> modes_of_kind(const Beam& beam, const std::string& kind) {
    std::vector<int> found;
    for (int i = 0; i < beam.sample.modes.size(); ++i)
        if (kind_of_mode(beam, i) == kind) found.push_back(i);
    return {found.at(0), found.at(1)};
}

/// Where the end of the beam is pulled to.
struct Turn {
    const char* name;
    double angle;        ///< [rad]
    double least_angle;  ///< ten degrees less
    const char* modes;
    bool is_twist;

    /// Displacement of a point of the end; bent, the axis is an arc of its rest length.
    [[nodiscard]] Vector3d goal(const Vector3d& x, double part) const {
        const double a = part * angle, c = std::cos(a), s = std::sin(a);
        if (is_twist) return Vector3d(x.x(), c * x.y() - s * x.z(), s * x.y() + c * x.z()) - x;
        return Vector3d(s / a - s * x.z(), x.y(), (1 - c) / a + c * x.z()) - x;
    }
    /// Of the end of a deformed beam, within half a turn of `before`.
    [[nodiscard]] double measured(const Beam& beam, const VectorXd& u, double before) const {
        double along = 0, across = 0;
        for (const int i : beam.end) {
            const Vector3d x = beam.rest(i), y = x + u.segment<3>(3 * i);
            along += is_twist ? x.y() * y.y() + x.z() * y.z() : x.z() * y.z();
            across += is_twist ? x.y() * y.z() - x.z() * y.y() : -x.z() * y.x();
        }
        return before + std::remainder(std::atan2(across, along) - before, 2 * std::numbers::pi);
    }
};
constexpr Turn kTwist{"twist", 270 * kDegree, 260 * kDegree, "torsion", true},
    kBend{"bend", 90 * kDegree, 80 * kDegree, "bending along z", false};

/// Of the spring at each node of the end [N/m].
constexpr double kSpring = 1e5;

/// A body pulled to a turn step by step.
struct Pulled {
    VectorXd u = {};
    double angle = 0;                   ///< of the end, followed from rest [rad]
    std::vector<double> energies = {};  ///< elastic, after each step [J]
};

Pulled pull_full(const Beam& beam, const Turn& turn, int num_steps) {
    const FemModel& model = beam.model();
    const FreeSystem system(model, beam.sample.constraints);
    auto workspace = system.make_workspace();
    auto K = model.make_matrix(), K_free = system.make_matrix();
    auto model_workspace = model.make_workspace();
    const auto solver = make_linear_solver();
    Pulled pulled{.u = VectorXd::Zero(model.num_unknowns())};
    VectorXd q = VectorXd::Zero(system.num_unknowns()), residual = q, R = pulled.u;
    for (int step = 1; step <= num_steps; ++step) {
        for (int k = 0; k < 20; ++k) {
            model.force_and_tangent(pulled.u, R, K);
            for (const int i : beam.end) {
                R.segment<3>(3 * i) +=
                    kSpring * (pulled.u.segment<3>(3 * i) -
                               turn.goal(beam.rest(i), static_cast<double>(step) / num_steps));
                for (int axis = 0; axis < 3; ++axis)
                    K.coeffRef(3 * i + axis, 3 * i + axis) += kSpring;
            }
            system.fold(R, residual);
            if (residual.norm() < 1e-6) break;
            system.fold(K, K_free, workspace);
            if (!solver->factor(K_free).is_ok()) break;
            q -= solver->solve(residual);
            system.expand(q, 0, pulled.u);
        }
        pulled.energies.push_back(model.energy(pulled.u, model_workspace));
        pulled.angle = turn.measured(beam, pulled.u, pulled.angle);
    }
    return pulled;
}

/// The same in a subspace. Springs add to the coefficients of second degree.
Pulled pull_reduced(const Beam& beam, const MatrixXd& U, const Turn& turn, int num_steps) {
    const int r = static_cast<int>(U.cols()), num_end = static_cast<int>(beam.end.size());
    ReducedCoefficients w = combine(build_coefficients(beam.model(), U), beam.model().materials());
    const auto elastic = make_polynomial_force(w);
    const auto elastic_workspace = elastic->make_workspace();
    MatrixXd U_end(3 * num_end, r);
    for (int k = 0; k < num_end; ++k)
        U_end.middleRows<3>(3 * k) = U.middleRows<3>(3 * beam.end[static_cast<std::size_t>(k)]);
    const MatrixXd springs = kSpring * U_end.transpose() * U_end;
    for (int i = 0; i < r; ++i)
        for (int j = i; j < r; ++j)
            w.w[static_cast<std::size_t>(quartic_index(0, 0, i + 1, j + 1))] +=
                (i == j ? 0.5 : 1) * springs(i, j);

    const ReducedDynamics dynamics(make_polynomial_force(w), MatrixXd::Identity(r, r));
    const auto workspace = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    Pulled pulled;
    for (int step = 1; step <= num_steps; ++step) {
        VectorXd goal(3 * num_end);
        for (int k = 0; k < num_end; ++k)
            goal.segment<3>(3 * k) = turn.goal(beam.rest(beam.end[static_cast<std::size_t>(k)]),
                                               static_cast<double>(step) / num_steps);
        (void)dynamics.solve_static(s, kSpring * U_end.transpose() * goal, 100, *workspace);
        pulled.energies.push_back(elastic->energy(s.q, *elastic_workspace));
        pulled.u.noalias() = U * s.q;
        pulled.angle = turn.measured(beam, pulled.u, pulled.angle);
    }
    return pulled;
}

struct NamedBasis {
    std::string name;
    MatrixXd U;
    int color;
};

/// Two modes, with and without their derivatives, and general bases.
std::vector<NamedBasis> beam_bases(const Beam& beam, int i, int j) {
    const Sample& s = beam.sample;
    const auto derivative = [&](int a, int b) {
        return s.derivatives.col(derivative_column(a, b));
    };
    MatrixXd X(s.modes.shapes.rows(), 5);
    X << s.modes.shapes.col(i), s.modes.shapes.col(j), derivative(i, i), derivative(i, j),
        derivative(j, j);
    return {
        {format("Ψ%d, Ψ%d", i + 1, j + 1), mass_gram_schmidt(X.leftCols(2), s.mass), 3},
        {format("Ψ%d, Ψ%d and their derivatives", i + 1, j + 1), mass_gram_schmidt(X, s.mass), 1},
        {"k = 10, mass-PCA", derivative_basis(s, 15).U, 2},
        {"k = 10, mass-PCA", derivative_basis(s, 30).U, 4}};
}

void turn_beam(Context& context, const Beam& beam, const Turn& turn, Table& table,
               std::vector<std::string>& plots) {
    Section& page = context.section;
    const int step_degrees = context.sized(9, 18),
              num_steps = static_cast<int>(std::lround(turn.angle / kDegree)) / step_degrees;
    const Pulled full = pull_full(beam, turn, num_steps);
    const auto norm = [&](const VectorXd& u) { return std::sqrt(u.dot(beam.sample.mass * u)); };

    const auto series_of = [&](const std::string& label, const Pulled& pulled, int color) {
        Series series{label, {}, color};
        for (std::size_t k = 0; k < pulled.energies.size(); ++k)
            series.points.emplace_back(step_degrees * static_cast<double>(k + 1),
                                       pulled.energies[k]);
        return series;
    };
    Plot plot{.title = turn.is_twist ? "Elastic energy while twisted" : "Elastic energy while bent",
              .x_label = "angle of the pull, degrees",
              .y_label = "W, J",
              .log_y = true,
              .y_low = 0.1,
              .y_high = 1e4};
    plot.series.push_back(series_of("full", full, 0));
    const VolumeMesh& mesh = beam.model().mesh();
    std::vector<Drawn> drawn_bodies{{&mesh, {}, true}, {&mesh, full.u}};
    std::vector<std::string> labels{"", "full"};

    table.add({turn.name, "full", Cell::count(beam.sample.constraints.num_nodes() * 3),
               Cell::number(full.angle / kDegree, "%.1f"), "–", "–", Cell::number(1, "%.2f")});
    const auto [i, j] = modes_of_kind(beam, turn.modes);
    for (const NamedBasis& basis : beam_bases(beam, i, j)) {
        const MatrixXd& U = basis.U;
        const int r = static_cast<int>(U.cols());
        const Pulled pulled = pull_reduced(beam, U, turn, num_steps);
        const double angle = pulled.angle / kDegree, error = norm(pulled.u - full.u) / norm(full.u),
                     nearest = norm(U * (U.transpose() * (beam.sample.mass * full.u)) - full.u) /
                               norm(full.u);
        const bool is_published = r == 5;
        const std::string what = format("%s, r = 5: ", turn.name);
        table.add({turn.name, basis.name, Cell::count(r),
                   is_published ? page.at_least(what + "angle of the end [degrees]", angle,
                                                turn.least_angle / kDegree, "%.1f")
                                : Cell::number(angle, "%.1f"),
                   Cell::number(nearest, "%.3f"),
                   is_published ? page.at_most(what + "error of the shape", error, 0.1, "%.3f")
                                : Cell::number(error, "%.3f"),
                   Cell::number(pulled.energies.back() / full.energies.back(), "%.2f")});
        plot.series.push_back(
            series_of(format("%s, r = %d", basis.name.c_str(), r), pulled, basis.color));
        if (r > 5) continue;
        drawn_bodies.push_back({&mesh, pulled.u});
        labels.push_back(format("%s, r = %d", basis.name.c_str(), r));
    }
    plots.push_back(drawn(plot));

    const Box box = box_around(drawn_bodies);
    const View view{.azimuth = turn.is_twist ? -50.0 : -75.0,
                    .elevation = turn.is_twist ? 25.0 : 10.0,
                    .width = 300};
    std::vector<std::string> pictures;
    for (std::size_t k = 1; k < drawn_bodies.size(); ++k)
        pictures.push_back(picture({drawn_bodies[0], drawn_bodies[k]}, box, view, labels[k]));
    page.figure(pictures, turn.is_twist
                              ? "Twisted by 270°. Faces are coloured by the change of volume: grey "
                                "unchanged, red doubled, blue halved."
                              : "Pulled to 90°; the angles that are reached are in the table.");
}

void write_extreme_shapes(Context& context) {
    Section& page = context.section;
    page.heading("A beam twisted by 270° and bent by 90° with five vectors");
    const Beam beam = make_beam();
    const auto [first, second] = modes_of_kind(beam, kTwist.modes);
    page.text(
        format("1 m × 0.16 m × 0.09 m, %d cubes, held at one end; the nodes of the other end are "
               "pulled by springs of %.0f N/mm to where a turned end would be, ",
               beam.model().mesh().num_elements(), 1e-3 * kSpring) +
        "a few degrees at a time, statically. Published, as pictures: a beam of r = 5 (Ψ4, Ψ9, "
        "Φ44, Φ49, Φ99) twists by 270°, a cantilever of modes and derivatives bends by 90°. Two "
        "torsion modes make sense of the published choice: their profiles are sin(πx/2L) and "
        "sin(3πx/2L), and the second is the sine of an even twist by 270°; products of the two, "
        "the derivatives, give its cosine. " +
        format("The torsion modes of our beam are %d and %d. For the bend the first two modes of "
               "bending along z take their place.",
               first + 1, second + 1));
    Table modes{"beam_modes",
                "Modes of the beam",
                {{"mode", "mode"}, {"frequency_hz", "frequency, Hz"}, {"kind", "kind"}}};
    for (int i = 0; i < beam.sample.modes.size(); ++i)
        modes.add({Cell::count(i + 1), Cell::number(beam.sample.modes.frequency(i), "%.3f"),
                   kind_of_mode(beam, i)});

    Table table{"extreme",
                "Shapes reached. Errors in the norm of mass, relative to the displacement of the "
                "full mesh; nearest: the best that the subspace can do. With five vectors the end "
                "must come within 10° of the pull, the error be at most 0.1.",
                {{"turn", "turn"},
                 {"basis", "basis"},
                 {"r", "r"},
                 {"angle_deg", "angle of the end, °"},
                 {"nearest", "nearest shape"},
                 {"error", "error of the shape"},
                 {"energy", "energy / full"}}};
    std::vector<std::string> plots;
    turn_beam(context, beam, kTwist, table, plots);
    context.done(0.4);
    turn_beam(context, beam, kBend, table, plots);
    page.table(table);
    page.figure(
        plots,
        "Where a subspace needs many times the energy of the full body for the same pull, it "
        "locks. Less energy means that its end has not followed the pull as far.");
    page.text(
        "Modes without derivatives lock at once. Five vectors follow, at an energy that shows "
        "their limit: the nearest shape is close, but carries strains that the full body "
        "avoids. The general basis of 10 modes has the derivatives of the torsion modes only "
        "beyond r = 15, because weights favour low frequencies; at r = 30 it needs less energy "
        "than the five vectors but spreads the twist less evenly. A wanted motion is worth its "
        "own vectors.");
    page.table(modes);
}

// ---- spurious equilibria ----

/// Equilibria found from many places.
struct Equilibria {
    std::vector<VectorXd> upright, inside_out;  ///< distinct ones
    int num_failed = 0;                         ///< starts without result
};

struct ReducedSpoon {
    Sample sample;
    MatrixXd U;
    ReducedCoefficients coefficients;
    double length;
};

std::shared_ptr<const ReducedForce> force_of(const ReducedSpoon& spoon, int r) {
    return make_polynomial_force(spoon.coefficients.truncated(r));
}

Equilibria find_equilibria(const ReducedSpoon& spoon, int r, const VectorXd& f, int num_starts) {
    const auto U = spoon.U.leftCols(r);
    const ReducedDynamics dynamics(force_of(spoon, r), MatrixXd::Identity(r, r));
    const auto workspace = dynamics.make_workspace();
    auto model_workspace = spoon.sample.model.make_workspace();
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0, 1.2);
    Equilibria found;
    for (int k = 0; k < num_starts; ++k) {
        ReducedState s = dynamics.make_state();
        for (double& x : s.q) x = normal(random);
        s.q *= uniform(random) * spoon.length / reach(U * s.q);
        // small beside the force of the first mode at the start
        const double limit = 1e-9 * spoon.sample.modes.eigenvalues[0] * s.q.norm();
        const ReducedReport report = dynamics.solve_static(s, f, 300, *workspace);
        if (report.status != StepStatus::Ok && report.residual > limit) {
            ++found.num_failed;
            continue;
        }
        const VectorXd u = U * s.q;
        auto& list = spoon.sample.model.smallest_det_F(u, model_workspace).value > 0
                         ? found.upright
                         : found.inside_out;
        const bool is_known = std::any_of(list.begin(), list.end(), [&](const VectorXd& q) {
            return reach(u - U * q) < 1e-3 * spoon.length;
        });
        if (!is_known) list.push_back(s.q);
    }
    return found;
}

/// W on the straight line from rest through an equilibrium, 1 there.
Series energy_on_line(const ReducedSpoon& spoon, const VectorXd& q, int color) {
    const auto force = force_of(spoon, static_cast<int>(q.size()));
    const auto workspace = force->make_workspace();
    Series series{format("r = %d", static_cast<int>(q.size())), {}, color};
    for (int k = -15; k <= 115; ++k)
        series.points.emplace_back(0.01 * k, force->energy(0.01 * k * q, *workspace));
    return series;
}

/// How far from rest a body comes to stand when it is let go at an equilibrium of fewer vectors.
double released(const ReducedSpoon& spoon, int r, const VectorXd& q) {
    const ReducedDynamics dynamics(force_of(spoon, r), MatrixXd::Identity(r, r));
    const auto workspace = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    s.q.head(q.size()) = q;
    // a little aside, so that it does not stay on a ridge
    s.q.tail(r - q.size()).setConstant(1e-6 * q.norm());
    (void)dynamics.solve_static(s, VectorXd::Zero(r), 1000, *workspace);
    return reach(spoon.U.leftCols(r) * s.q);
}

void write_spurious_equilibria(Context& context) {
    Section& page = context.section;
    page.heading("Spurious equilibria");
    const int num_starts = context.sized(400, 60), largest = context.sized(20, 5);
    ReducedSpoon spoon{make_sample({.shape = "spoon",
                                    .resolution = 50,
                                    .fixed = "x < 5 %",
                                    .num_modes = 6,
                                    .lowest_frequency = 1}),
                       {},
                       {},
                       1};
    const FemModel& model = spoon.sample.model;
    spoon.U = derivative_basis(spoon.sample, largest).U;
    spoon.coefficients = combine(build_coefficients(model, spoon.U), model.materials());
    // a weight whose linear answer is twice the length of the spoon
    const VectorXd weight = gravity_load(model, {0, 1, 0});
    const LinearModes& modes = spoon.sample.modes;
    const VectorXd answer =
        modes.shapes *
        ((modes.shapes.transpose() * weight).array() / modes.eigenvalues.array()).matrix();
    const VectorXd load = 2 * spoon.length / reach(answer) * (spoon.U.transpose() * weight);

    page.text(
        "Published: too few vectors (r = 2, of the bridge) can give a body stable shapes away from "
        "rest without any load; more vectors cure it. " +
        format("A spoon (%d voxels, k = 6, held at one end), Newton's method with line search from "
               "%d random shapes of up to 1.2 lengths. ",
               model.mesh().num_elements(), num_starts) +
        "Upright: det F > 0 at all points. Under load: its own weight along y, times a factor that "
        "makes the linear answer two lengths. Let go: where the body comes to stand from the "
        "spurious shape of r = 2.");
    Table table{"equilibria",
                "Distinct stable equilibria found",
                {{"r", "r"},
                 {"upright", "no load: upright"},
                 {"farthest", "farthest, lengths"},
                 {"inside_out", "inside out"},
                 {"released", "let go, lengths"},
                 {"failed", "starts without result"},
                 {"loaded", "under load: upright"},
                 {"loaded_inside_out", "inside out"}}};
    std::vector<std::pair<int, VectorXd>> spurious;
    for (const int r : {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20}) {
        if (r > largest) break;
        const auto U = spoon.U.leftCols(r);
        const Equilibria free = find_equilibria(spoon, r, VectorXd::Zero(r), num_starts);
        const Equilibria loaded = find_equilibria(spoon, r, load.head(r), num_starts);
        double farthest = 0;
        for (const VectorXd& q : free.upright) {
            farthest = std::max(farthest, reach(U * q) / spoon.length);
            if (reach(U * q) > 1e-3 * spoon.length) spurious.emplace_back(r, q);
        }
        const auto count = static_cast<double>(free.upright.size());
        Cell let_go = "–";
        if (!spurious.empty() && spurious.back().first < r)
            let_go = page.at_most(format("let go from the shape of r = 2, r = %d [lengths]", r),
                                  released(spoon, r, spurious.back().second) / spoon.length, 1e-3,
                                  "%.2f");
        table.add(
            {Cell::count(r),
             r <= 2 ? page.at_least(format("equilibria without load, r = %d", r), count, 2, "%.0f")
                    : page.at_most(format("equilibria without load, r = %d", r), count, 1, "%.0f"),
             Cell::number(farthest, "%.2f"),
             Cell::count(static_cast<std::int64_t>(free.inside_out.size())), let_go,
             Cell::count(free.num_failed),
             Cell::count(static_cast<std::int64_t>(loaded.upright.size())),
             Cell::count(static_cast<std::int64_t>(loaded.inside_out.size()))});
        context.done(0.5 + 0.5 * r / largest);
    }
    if (!spurious.empty()) {
        Plot plot{.title = "Energy between rest and the spurious shape",
                  .x_label = "part of the way",
                  .y_label = "W, J",
                  .width = 420};
        for (const auto& [r, q] : spurious) plot.series.push_back(energy_on_line(spoon, q, r));
        const VolumeMesh& mesh = model.mesh();
        std::vector<Drawn> bodies{{&mesh, {}, true}};
        for (const auto& [r, q] : spurious) bodies.push_back({&mesh, spoon.U.leftCols(r) * q});
        const Box box = box_around(bodies);
        std::vector<std::string> drawings{drawn(plot)};
        for (std::size_t k = 1; k < std::min<std::size_t>(bodies.size(), 3); ++k)
            drawings.push_back(
                picture({bodies[0], bodies[k]}, box, {.width = 250},
                        format("stable without load at r = %d", spurious[k - 1].first)));
        page.figure(drawings,
                    "Shapes that should not be stable. On the straight line from rest their "
                    "energy has a second minimum.");
    }
    page.table(table);
    page.text(
        "Without load the spurious shapes are gone from r = 3 on, under load from r = 5 on. What "
        "larger subspaces add are shapes with elements turned inside out, reached from wild "
        "starts only: St. Venant–Kirchhoff material is without stress when mirrored, and a "
        "richer basis can show more of that. Starts without result ran out of 300 iterations on "
        "the way to such shapes.");
}

}  // namespace

void run_beam(Context& context) {
    write_extreme_shapes(context);
    context.done(0.5);
    write_spurious_equilibria(context);
}

}  // namespace pliant::reproduce
