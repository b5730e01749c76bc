#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/pliant/output.h"
#include "carried_body.h"
#include "mesh_picture.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/statics.h"
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

/// A dead load on some vertices, and how far it pulls them.
struct Pull {
    std::string name;
    Vector3d direction;
    double reach;  ///< linear deflection under the whole load [m]
    std::vector<int> nodes = {};
};

std::vector<Pull> pulls(const VolumeMesh& mesh) {
    // a body 1 m high: the head looks along +x from z = 0.65 m on, the neck rises behind it
    std::vector<Pull> all{{"head", Vector3d::UnitY(), 0.7}, {"back", -Vector3d::UnitX(), 0.35}};
    all[0].nodes = vertices_where(
        mesh, [](const Vector3d& x) { return x.z() > 0.65 && x.z() < 0.9 && x.x() > 0.25; });
    all[1].nodes = vertices_where(
        mesh, [](const Vector3d& x) { return x.z() > 0.5 && x.z() < 0.7 && x.x() < -0.06; });
    return all;
}

Vector3d mean_displacement(const VectorXd& u, const std::vector<int>& nodes) {
    Vector3d sum = Vector3d::Zero();
    for (const int i : nodes) sum += u.segment<3>(3 * i);
    return sum / static_cast<double>(nodes.size());
}

/// Equilibria of one model under the rising load.
struct Response {
    std::string name, label;
    int r = 0;  ///< of subspaces
    std::vector<VectorXd> shapes = {};
    double seconds = 0;       ///< CPU time of all
    bool has_settled = true;  ///< every equilibrium was found
};

struct SerpentCase {
    Pull pull;
    VectorXd load;  ///< the whole
    int num_levels;
    [[nodiscard]] double level(int i) const { return (i + 1.0) / num_levels; }
};

/// The load that moves its place by `reach` in linear theory, and the linear shape under it.
std::pair<SerpentCase, VectorXd> scaled_case(const Sample& body, const Pull& pull, int num_levels) {
    SerpentCase loading{pull, VectorXd::Zero(body.model.num_unknowns()), num_levels};
    add_nodal_force(pull.nodes, pull.direction, loading.load);
    VectorXd u = solve_linear_static(body.model, body.constraints, loading.load);
    const double factor = pull.reach / mean_displacement(u, pull.nodes).norm();
    loading.load *= factor;
    return {loading, factor * u};
}

Response linear_response(const SerpentCase& loading, const VectorXd& u) {
    Response response{"linear", "linear strain"};
    for (int i = 0; i < loading.num_levels; ++i) response.shapes.push_back(loading.level(i) * u);
    return response;
}

Response full_response(const Sample& body, const SerpentCase& loading,
                       const std::function<void(double)>& done) {
    Response response{"full", "full"};
    for (int i = 0; i < loading.num_levels; ++i) {
        const double start = cpu_seconds();
        const StaticResult result =
            solve_static(body.model, body.constraints, loading.level(i) * loading.load);
        response.seconds += cpu_seconds() - start;
        response.has_settled &= result.status != StaticStatus::NotConverged;
        response.shapes.push_back(result.u);
        done((i + 1.0) / loading.num_levels);
    }
    return response;
}

Response reduced_response(const ReducedDynamics& dynamics, const MatrixXd& U,
                          const SerpentCase& loading) {
    constexpr int kMaxIterations = 200;
    const int r = dynamics.size();
    Response response{"reduced", format("r = %d", r), r};
    const VectorXd f = U.transpose() * loading.load;
    const auto workspace = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const double start = cpu_seconds();
    for (int i = 0; i < loading.num_levels; ++i) {
        const VectorXd part = loading.level(i) * f;
        const ReducedReport report = dynamics.solve_static(s, part, kMaxIterations, *workspace);
        response.has_settled &= report.status == StepStatus::Ok;
        response.shapes.push_back(U * s.q);
    }
    response.seconds = cpu_seconds() - start;
    return response;
}

double mass_norm(const Sample& body, const VectorXd& u) { return std::sqrt(u.dot(body.mass * u)); }

// ---- the page ----

void draw_curves(Section& page, const std::vector<SerpentCase>& cases,
                 const std::vector<std::vector<Response>>& responses) {
    std::vector<std::string> drawings;
    for (std::size_t c = 0; c < cases.size(); ++c) {
        Plot plot{.title = "Load at the " + cases[c].pull.name,
                  .x_label = "load / whole load",
                  .y_label = "deflection of the loaded place, m"};
        for (std::size_t k = 0; k < responses[c].size(); ++k) {
            const Response& response = responses[c][k];
            Series series{response.label, {{0, 0}}, static_cast<int>(k)};
            if (response.name == "linear") series.stroke = Stroke::Dashed;
            if (response.name == "full") series.stroke = Stroke::LineAndDots;
            for (int i = 0; i < cases[c].num_levels; ++i)
                series.points.emplace_back(
                    cases[c].level(i),
                    mean_displacement(response.shapes[static_cast<std::size_t>(i)],
                                      cases[c].pull.nodes)
                        .norm());
            plot.series.push_back(std::move(series));
        }
        drawings.push_back(drawn(plot));
    }
    page.figure(drawings,
                "Static deflection against load. A subspace that lacks a shape resists it: its "
                "curve lies below that of the full model.");
}

void draw_shapes(Context& context, const Sample& body, const std::vector<SerpentCase>& cases,
                 const std::vector<std::vector<Response>>& responses) {
    const CarriedBody carried(body.model.mesh(), "serpent", 24);
    for (std::size_t c = 0; c < cases.size(); ++c) {
        // the full model, linear strain, the smallest subspace and the recommended one
        const std::vector<Response>& all = responses[c];
        std::vector<Drawn> shapes{{&carried.mesh(), {}}};
        std::vector<std::string> labels{"at rest"};
        for (const std::size_t k :
             {std::size_t{0}, std::size_t{1}, std::size_t{2}, all.size() - 2}) {
            shapes.push_back({&carried.mesh(), carried.moved(all[k].shapes.back())});
            labels.push_back(all[k].label);
        }
        const Box box = box_around(shapes);
        // sideways loads are seen from the front, the others from the side
        const View view{.azimuth = cases[c].pull.direction.y() > 0.5 ? 15.0 : -75.0,
                        .elevation = 15,
                        .width = 180};
        std::vector<std::string> drawings;
        for (std::size_t k = 0; k < shapes.size(); ++k)
            drawings.push_back(picture({shapes[k]}, box, view, labels[k]));
        context.section.figure(drawings,
                               "Under the whole load at the " + cases[c].pull.name +
                                   ", on larger voxels that move with the mesh. Colours: change of "
                                   "volume, red doubled, blue halved.");
    }
}

double shape_error(const Sample& body, const VectorXd& u, const VectorXd& full) {
    return mass_norm(body, u - full) / mass_norm(body, full);
}

void draw_errors(Section& page, const Sample& body, const std::vector<SerpentCase>& cases,
                 const std::vector<std::vector<Response>>& responses) {
    Plot plot{.title = "Error of the shape under the whole load",
              .x_label = "r",
              .y_label = "error, %",
              .guides = {{3.0 * body.modes.size(), "r = 3k", true}},
              .log_x = true,
              .log_y = true};
    for (std::size_t c = 0; c < cases.size(); ++c) {
        Series series{
            "load at the " + cases[c].pull.name, {}, static_cast<int>(c), Stroke::LineAndDots};
        for (const Response& response : responses[c])
            if (response.r > 0)
                series.points.emplace_back(
                    response.r,
                    100 * shape_error(body, response.shapes.back(), responses[c][1].shapes.back()));
        plot.series.push_back(std::move(series));
    }
    page.figure({drawn(plot)}, "Against the size of the subspace.");
}

void write_errors(Section& page, const Sample& body, const std::vector<SerpentCase>& cases,
                  const std::vector<std::vector<Response>>& responses) {
    Table table{"serpent",
                "Deflection of the loaded place, and error of the whole shape against the full "
                "model, |u − u_full| / |u_full| in the norm of the mass",
                {{"load", "load at"},
                 {"model", "model"},
                 {"half_m", "deflection at half load, m"},
                 {"half_error", "error of shape, %"},
                 {"whole_m", "at the whole load, m"},
                 {"ratio", "over full"},
                 {"whole_error", "error of shape, %"},
                 {"milliseconds", "CPU time of all loads, ms"}}};
    for (std::size_t c = 0; c < cases.size(); ++c) {
        const auto& full = responses[c][1];
        const auto half = static_cast<std::size_t>(cases[c].num_levels / 2 - 1),
                   whole = static_cast<std::size_t>(cases[c].num_levels - 1);
        const auto deflection = [&](const Response& response, std::size_t i) {
            return mean_displacement(response.shapes[i], cases[c].pull.nodes).norm();
        };
        for (const Response& response : responses[c]) {
            const auto error = [&](std::size_t i) {
                return response.name == "full"
                           ? Cell("–")
                           : Cell::number(
                                 100 * shape_error(body, response.shapes[i], full.shapes[i]),
                                 "%.1f");
            };
            table.add({cases[c].pull.name,
                       response.label + (response.has_settled ? "" : " (not settled)"),
                       Cell::number(deflection(response, half), "%.3f"), error(half),
                       Cell::number(deflection(response, whole), "%.3f"),
                       Cell::number(deflection(response, whole) / deflection(full, whole), "%.3f"),
                       error(whole),
                       response.name == "linear" ? Cell("–")
                                                 : Cell::number(1e3 * response.seconds, "%.1f")});
        }
    }
    page.table(table);
    draw_errors(page, body, cases, responses);

    Table claims{
        "serpent_claims",
        "The published findings as ratios of deflections at the whole load: similar is "
        "taken as within 10 %, visibly stiffer as at least 5 % less",
        {{"load", "load at"}, {"what", "ratio"}, {"ratio", "measured"}, {"limit", "claim"}}};
    for (std::size_t c = 0; c < cases.size(); ++c) {
        const auto deflection = [&](std::size_t k) {
            return mean_displacement(responses[c][k].shapes.back(), cases[c].pull.nodes).norm();
        };
        // 0: linear, 1: full, 2 …: subspaces by rising size
        const std::size_t largest = responses[c].size() - 1, good = largest - 1;
        const auto ratio = [&](std::size_t a, std::size_t b) {
            return std::pair{responses[c][a].label + " over " + responses[c][b].label,
                             deflection(a) / deflection(b)};
        };
        const auto [similar, similar_ratio] = ratio(good, largest);
        const std::string what = "serpent, load at the " + cases[c].pull.name + ": ";
        claims.add({cases[c].pull.name, similar,
                    page.compared(what + similar, similar_ratio, 1, 0.1, "%.3f"), "1 ± 0.1"});
        for (std::size_t k = 2; k < good; ++k) {
            const auto [stiffer, stiffer_ratio] = ratio(k, largest);
            claims.add({cases[c].pull.name, stiffer,
                        page.at_most(what + stiffer, stiffer_ratio, 0.95, "%.3f"), "at most 0.95"});
        }
    }
    page.table(claims);
}

}  // namespace

void run_serpent(Context& context) {
    Section& page = context.section;
    const int k = context.sized(20, 8), resolution = context.sized(40, 14);
    const std::vector<int> sizes =
        context.sized(std::vector<int>{15, 30, 60, 230}, std::vector<int>{6, 12, 24, 44});
    const Sample body = make_sample({.shape = "serpent",
                                     .resolution = resolution,
                                     .fixed = "z < 5 %",
                                     .num_modes = k,
                                     .lowest_frequency = 1});
    context.done(0.1);
    const VolumeMesh& mesh = body.model.mesh();
    page.text(
        format("How many vectors of the mass-PCA of k = %d modes and their %d derivatives does a "
               "body need? ",
               k, k * (k + 1) / 2) +
        "Published on a dragon (27,314 voxels, resolution 120) in motion: r = 230, which is all of "
        "them, and r = 60 are similar and reasonable, r = 15 and 30 are visibly too stiff; "
        "therefore r of about 3k. Here a serpent of our own in equilibrium, 1 m high and held at "
        "the lowest 5 %, " +
        format("in hollow voxels at resolution %d: ", resolution) +
        cli::grouped(mesh.num_elements()) + " elements, " + cli::grouped(mesh.num_vertices()) +
        " vertices. "
        "Loads on the snout, sideways, and on the back of the neck, backwards, grow until linear "
        "theory would move their places by 0.7 and 0.35 m. Up to r = 30 by polynomials, above by "
        "direct evaluation. At the published resolution (27,275 elements here) modes took 13 s on "
        "one core of 3.7 GHz, and a Newton iteration of the full model, of which there are about "
        "200, 2 to 3 s: the whole would take about ten minutes.");
    // weights make the last vectors of the PCA so small that rounding hides them: all vectors are
    // spanned without weights
    const Basis basis = derivative_basis(body, sizes[sizes.size() - 2]);
    MatrixXd all(mesh.num_vertices() * 3, k + body.derivatives.cols());
    all << body.modes.shapes, body.derivatives;
    all = mass_gram_schmidt(all, body.mass);
    std::vector<SerpentCase> cases;
    std::vector<std::vector<Response>> responses;
    double fraction = 0.15;
    context.done(fraction);
    for (const Pull& pull : pulls(mesh)) {
        const auto [loading, linear] = scaled_case(body, pull, context.sized(6, 4));
        cases.push_back(loading);
        responses.push_back({linear_response(loading, linear)});
        responses.back().push_back(full_response(
            body, loading, [&](double part) { context.done(fraction + 0.2 * part); }));
        fraction += 0.2;
    }
    for (const int wanted : sizes) {
        // polynomials cost r⁴ once, which pays in real time; a few equilibria do not need them
        constexpr int kLargestPolynomial = 30;
        const MatrixXd U = wanted > basis.size() ? all : MatrixXd(basis.U.leftCols(wanted));
        const int r = static_cast<int>(U.cols());
        const std::shared_ptr<const ReducedForce> force = r <= kLargestPolynomial
                                                              ? polynomial_force(body.model, U)
                                                              : make_direct_force(body.model, U);
        // residuals this small change no digit of the tables
        const ReducedDynamics dynamics(force, MatrixXd::Identity(r, r), {.tolerance = 1e-5});
        for (std::size_t c = 0; c < cases.size(); ++c) {
            responses[c].push_back(reduced_response(dynamics, U, cases[c]));
            context.done(fraction += 0.05);
        }
    }
    draw_curves(page, cases, responses);
    write_errors(page, body, cases, responses);
    draw_shapes(context, body, cases, responses);
}

}  // namespace pliant::reproduce
