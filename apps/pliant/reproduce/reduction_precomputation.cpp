#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/ordering.h"
#include "pliant/fem/symbolic_factor.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/simulation_mesh.h"
#include "plot.h"
#include "reduction_experiments.h"
#include "reduction_models.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::byte_size;
using cli::format;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Published numbers of a body; zero: not published.
struct PublishedCosts {
    int render_vertices = 0, render_triangles = 0, resolution = 0, vertices = 0, elements = 0;
    double modes_s = 0, right_hand_sides_s = 0, solves_s = 0, polynomials_s = 0;
    double mass_percent = 0, factor_percent = 0;
};

struct PrecomputedBody {
    std::string shape;
    int resolution, quick_resolution;  ///< 0: not on the quick page
    std::string fixed = {};
    int k = 0, r = 0;  ///< 0: only the mass matrix is looked at
    PublishedCosts published;
};

std::vector<PrecomputedBody> bodies() {
    return {
        {.shape = "spoon",
         .resolution = 96,
         .quick_resolution = 30,
         .fixed = "x < 5 %",
         .k = 6,
         .r = 12,
         .published = {.render_vertices = 3321,
                       .render_triangles = 6638,
                       .resolution = 100,
                       .vertices = 3698,
                       .elements = 2005,
                       .modes_s = 24,
                       .right_hand_sides_s = 6.5,
                       .solves_s = 33,
                       .polynomials_s = 60}},
        {.shape = "bridge",
         .resolution = 124,
         .quick_resolution = 0,
         .fixed = "z < 3 %",
         .k = 10,
         .r = 15,
         .published = {.render_vertices = 41361,
                       .render_triangles = 59630,
                       .resolution = 128,
                       .vertices = 11829,
                       .elements = 5854,
                       .polynomials_s = 186}},
        {.shape = "tower",
         .resolution = 133,
         .quick_resolution = 30,
         .fixed = "z < 5 %",
         .k = 20,
         .r = 30,
         .published = {.render_vertices = 45882,
                       .render_triangles = 105788,
                       .resolution = 140,
                       .vertices = 20713,
                       .elements = 11304,
                       .modes_s = 65,
                       .right_hand_sides_s = 226,
                       .solves_s = 26 * 60,
                       .polynomials_s = 79.2 * 60,
                       .mass_percent = 0.031,
                       .factor_percent = 0.140}},
        {.shape = "heart",
         .resolution = 110,
         .quick_resolution = 18,
         .fixed = "z > 80 %",
         .k = 20,
         .r = 30,
         .published = {.render_vertices = 12186,
                       .render_triangles = 23616,
                       .resolution = 80,
                       .vertices = 28041,
                       .elements = 14444,
                       .modes_s = 111,
                       .right_hand_sides_s = 291,
                       .solves_s = 28 * 60,
                       .polynomials_s = 97.4 * 60,
                       .mass_percent = 0.022,
                       .factor_percent = 0.147}},
        // in the place of the dragon
        {.shape = "serpent",
         .resolution = 117,
         .quick_resolution = 0,
         .published = {.render_triangles = 150000,
                       .resolution = 120,
                       .vertices = 53449,
                       .elements = 27314,
                       .mass_percent = 0.011,
                       .factor_percent = 0.059}},
    };
}

/// Of the published layout: cubic, quadratic and linear matrices of the force, and those of the
/// stiffness on pairs.
std::int64_t published_numbers(std::int64_t r) {
    const std::int64_t pairs = r * (r + 1) / 2, triples = r * (r + 1) * (r + 2) / 6;
    return r * triples + r * pairs + r * r + pairs * (pairs + r + 1);
}

/// Seconds of the stages on one core.
struct Stages {
    double modes = 0, right_hand_sides = 0, solves = 0, basis = 0, polynomials = 0;
    [[nodiscard]] double total() const {
        return modes + right_hand_sides + solves + basis + polynomials;
    }
};

/// A number that may not be published.
Cell published_cell(double value, const char* pattern = "%.4g") {
    return value > 0 ? Cell::number(value, pattern) : Cell("–");
}

/// Judged as a time not above the published one, where there is one.
Cell time_cell(Section& page, const std::string& what, double seconds, double published) {
    return published > 0 ? page.at_most(what + " [s]", seconds, published, "%.3g")
                         : Cell::number(seconds, "%.3g");
}

/// The right-hand sides of all derivatives once more, to tell them from the solves.
double right_hand_side_seconds(const Sample& sample) {
    const VectorXd at_rest = VectorXd::Zero(sample.model.num_unknowns());
    VectorXd b = at_rest;
    const double start = cpu_seconds();
    for (int j = 0; j < sample.modes.size(); ++j)
        for (int i = 0; i <= j; ++i)
            sample.model.hessian_contraction(at_rest, sample.modes.shapes.col(j),
                                             sample.modes.shapes.col(i), b);
    return cpu_seconds() - start;
}

// ---- tables ----

struct Tables {
    Table meshes{"meshes",
                 "Sizes. Resolutions are chosen to give our shapes about the published number of "
                 "elements",
                 {{"body", "body"},
                  {"render_vertices", "surface vertices"},
                  {"published_render_vertices", "published"},
                  {"render_triangles", "surface triangles"},
                  {"published_render_triangles", "published"},
                  {"resolution", "voxels along"},
                  {"published_resolution", "published"},
                  {"vertices", "vertices"},
                  {"published_vertices", "published"},
                  {"elements", "elements"},
                  {"published_elements", "published"}}};
    Table derivatives{"derivatives",
                      "Modes and their derivatives, seconds. Derivatives share one factorisation, "
                      "counted with the solves; published with incomplete Cholesky and conjugate "
                      "gradients",
                      {{"body", "body"},
                       {"k", "k"},
                       {"modes_s", "modes"},
                       {"published_modes_s", "published"},
                       {"right_hand_sides_s", "right-hand sides"},
                       {"published_right_hand_sides_s", "published"},
                       {"solves_s", "solves"},
                       {"published_solves_s", "published"},
                       {"basis_s", "mass-PCA"}}};
    Table polynomials{"polynomials",
                      "Polynomials for force and stiffness, and everything from the mesh on, "
                      "seconds",
                      {{"body", "body"},
                       {"r", "r"},
                       {"polynomials_s", "polynomials"},
                       {"published_polynomials_s", "published"},
                       {"faster", "faster, times"},
                       {"total_s", "modes to polynomials"},
                       {"published_total_s", "published"}}};
    Table sizes{"coefficients",
                "Coefficients in double precision. Ours: each coefficient of the quartic energy "
                "once; the published layout stores force and stiffness apart",
                {{"r", "r"},
                 {"numbers", "ours, numbers"},
                 {"kib", "ours, KiB"},
                 {"published_layout", "published layout, numbers"},
                 {"published_layout_kib", "KiB"},
                 {"published_kb", "published size, KB"},
                 {"smaller", "ours smaller, times"}}};
    Table fill{"fill",
               "Mass matrix of all unknowns (3n rows) and its factor L, minimum degree order: "
               "share of nonzeros",
               {{"body", "body"},
                {"unknowns", "unknowns"},
                {"mass_percent", "M, %"},
                {"published_mass_percent", "published"},
                {"factor_percent", "L, %"},
                {"published_factor_percent", "published"},
                {"natural_percent", "L in the mesh's own order, %"},
                {"order_s", "order, s"},
                {"factor_s", "factorisation, s"}}};
    Table storage{"storage",
                  "What a body takes. The basis serves all vertices of the surface at run time; "
                  "shapes in single precision or 16 bits",
                  {{"body", "body"},
                   {"basis", "basis, vertices of the mesh"},
                   {"surface_single", "of the surface, single"},
                   {"surface_half", "of the surface, 16 bits"},
                   {"coefficients", "coefficients"},
                   {"mass", "M"},
                   {"factor", "L"}}};
    /// Seconds of the polynomials against elements · r⁴.
    Series measured{"this machine", {}, 1, Stroke::LineAndDots},
        published{"published", {}, 0, Stroke::DashedAndDots};
};

void add_mesh(Tables& tables, const PrecomputedBody& body, int resolution,
              const SurfaceMesh& surface, const VolumeMesh& mesh) {
    const PublishedCosts& p = body.published;
    const auto published = [](int count) { return count > 0 ? Cell::count(count) : Cell("–"); };
    tables.meshes.add({body.shape, Cell::count(static_cast<std::int64_t>(surface.vertices.size())),
                       published(p.render_vertices),
                       Cell::count(static_cast<std::int64_t>(surface.triangles.size())),
                       published(p.render_triangles), Cell::count(resolution),
                       Cell::count(p.resolution), Cell::count(mesh.num_vertices()),
                       Cell::count(p.vertices), Cell::count(mesh.num_elements()),
                       Cell::count(p.elements)});
}

void add_times(Section& page, Tables& tables, const PrecomputedBody& body, int k, int r,
               int elements, const Stages& stages) {
    const PublishedCosts& p = body.published;
    tables.measured.points.emplace_back(elements * std::pow(r, 4), stages.polynomials);
    tables.published.points.emplace_back(p.elements * std::pow(body.r, 4), p.polynomials_s);
    const std::string what = body.shape + ": ";
    tables.derivatives.add(
        {body.shape, Cell::count(k), time_cell(page, what + "modes", stages.modes, p.modes_s),
         published_cell(p.modes_s),
         time_cell(page, what + "right-hand sides", stages.right_hand_sides, p.right_hand_sides_s),
         published_cell(p.right_hand_sides_s),
         time_cell(page, what + "solves", stages.solves, p.solves_s), published_cell(p.solves_s),
         Cell::number(stages.basis, "%.2g")});
    const double published_total =
        p.modes_s > 0 ? p.modes_s + p.right_hand_sides_s + p.solves_s + p.polynomials_s : 0;
    tables.polynomials.add(
        {body.shape, Cell::count(r),
         time_cell(page, what + "polynomials", stages.polynomials, p.polynomials_s),
         published_cell(p.polynomials_s),
         Cell::number(p.polynomials_s / stages.polynomials, "%.0f"),
         Cell::number(stages.total(), "%.3g"), published_cell(published_total)});
}

void add_coefficient_sizes(Tables& tables, int r, double published_kb) {
    constexpr double kKib = 1024;
    const std::int64_t ours = num_quartic(r), theirs = published_numbers(r);
    tables.sizes.add(
        {Cell::count(r), Cell::count(ours), Cell::number(8 * static_cast<double>(ours) / kKib),
         Cell::count(theirs), Cell::number(8 * static_cast<double>(theirs) / kKib),
         Cell::number(published_kb, "%.0f"),
         Cell::number(static_cast<double>(theirs) / static_cast<double>(ours), "%.1f")});
}

/// Nonzeros of M and L of all 3n unknowns: three equal parts, one for each component.
struct MassFactor {
    std::int64_t mass = 0, factor = 0, natural = 0;
    double order_s = 0, factor_s = 0;
};
MassFactor factor_mass(const FemModel& model) {
    const Eigen::SparseMatrix<double> M = node_mass_matrix(model);
    const NodeGraph graph = node_graph(model.mesh());
    MassFactor result;
    double start = cpu_seconds();
    const std::vector<int> order = elimination_order(graph, Ordering::MinimumDegree);
    result.order_s = cpu_seconds() - start;
    const SymbolicFactor symbolic = symbolic_factor(graph, order, 1);
    result.mass = 3 * symbolic.matrix_nonzeros;
    result.factor = 3 * symbolic.factor_nonzeros;
    result.natural =
        3 * symbolic_factor(graph, elimination_order(graph, Ordering::Natural), 1).factor_nonzeros;
    // one component's factor serves the three
    const auto solver = make_linear_solver();
    start = cpu_seconds();
    (void)solver->analyse(M, order);
    (void)solver->factor(M);
    result.factor_s = cpu_seconds() - start;
    return result;
}

void add_fill(Section& page, Tables& tables, const PrecomputedBody& body, const FemModel& model,
              const MassFactor& f) {
    const PublishedCosts& p = body.published;
    const double all = std::pow(model.num_unknowns(), 2);
    const auto percent = [&](std::int64_t count) { return 100 * static_cast<double>(count) / all; };
    const std::string what = body.shape + ": mass factorisation";
    tables.fill.add(
        {body.shape, Cell::count(model.num_unknowns()), Cell::number(percent(f.mass), "%.3f"),
         published_cell(p.mass_percent, "%.3f"), Cell::number(percent(f.factor), "%.3f"),
         published_cell(p.factor_percent, "%.3f"), Cell::number(percent(f.natural), "%.3g"),
         Cell::number(f.order_s, "%.2g"), time_cell(page, what, f.factor_s, 60)});
}

void add_storage(Tables& tables, const PrecomputedBody& body, int r, const SurfaceMesh& surface,
                 const FemModel& model, const MassFactor& f) {
    const auto bytes = [](double count, double each) {
        Cell cell = Cell::number(each * count);
        cell.text = byte_size(each * count);
        return cell;
    };
    const double on_surface = 3.0 * static_cast<double>(surface.vertices.size()) * r;
    // a number and an index for each entry; one component's matrices serve the three
    const auto sparse = [&](std::int64_t count) {
        return bytes(static_cast<double>(count) / 3, sizeof(double) + sizeof(int));
    };
    tables.storage.add({format("%s, r = %d", body.shape.c_str(), r),
                        bytes(static_cast<double>(model.num_unknowns()) * r, 8),
                        bytes(on_surface, 4), bytes(on_surface, 2),
                        bytes(static_cast<double>(num_quartic(r)), 8), sparse(f.mass),
                        sparse(f.factor)});
}

/// Modes to polynomials of one body.
void look_at(Context& context, const PrecomputedBody& body, Tables& tables) {
    constexpr int kQuickModes = 6, kQuickSize = 12;
    Section& page = context.section;
    const int k = context.sized(body.k, kQuickModes), r = context.sized(body.r, kQuickSize);
    const int resolution = context.sized(body.resolution, body.quick_resolution);
    const Sample sample = make_sample(
        {.shape = body.shape, .resolution = resolution, .fixed = body.fixed, .num_modes = k});
    const SurfaceMesh surface = make_shape(body.shape);
    add_mesh(tables, body, resolution, surface, sample.model.mesh());
    const MassFactor mass = factor_mass(sample.model);
    if (body.published.mass_percent > 0) add_fill(page, tables, body, sample.model, mass);

    Stages stages;
    stages.modes = sample.modes_seconds;
    stages.right_hand_sides = right_hand_side_seconds(sample);
    stages.solves = std::max(0.0, sample.derivatives_seconds - stages.right_hand_sides);
    double start = cpu_seconds();
    const MatrixXd U = derivative_basis(sample, r).U;
    stages.basis = cpu_seconds() - start;
    start = cpu_seconds();
    (void)build_coefficients(sample.model, U);
    stages.polynomials = cpu_seconds() - start;
    add_times(page, tables, body, k, r, sample.model.mesh().num_elements(), stages);
    add_storage(tables, body, r, surface, sample.model, mass);
}

/// Its mesh and mass matrix alone.
void look_at_mass(Context& context, const PrecomputedBody& body, Tables& tables) {
    const SurfaceMesh surface = make_shape(body.shape);
    const FemModel model(
        build_simulation_mesh(SurfaceQuery(surface),
                              {.kind = "voxel", .resolution = body.resolution, .is_hollow = true}),
        {isotropic(1e6, 0.4, 1000)}, kPublishedElements);
    add_mesh(tables, body, body.resolution, surface, model.mesh());
    add_fill(context.section, tables, body, model, factor_mass(model));
}

}  // namespace

void run_precomputation(Context& context) {
    Section& page = context.section;
    page.text(
        "What happens once, before a model runs. Published times are those of one core of "
        "3 GHz, built in 2004; ours are CPU times of one core of this machine. Direct "
        "factorisation takes the place of preconditioned conjugate gradients, and products of "
        "large dense matrices that of loops over coefficients, so that hours became seconds. "
        "The shapes are our own, with the same names except the serpent, which stands for the "
        "dragon; a time counts as a deviation when it is above the published one.");
    if (context.is_quick)
        page.text(
            "This quick page uses small meshes, k = 6 and r = 12: its times cannot be compared.");
    Tables tables;
    double fraction = 0;
    for (const PrecomputedBody& body : bodies()) {
        if (context.is_quick && body.quick_resolution == 0) continue;
        body.k > 0 ? look_at(context, body, tables) : look_at_mass(context, body, tables);
        fraction += body.shape == "tower" ? 0.3 : body.shape == "heart" ? 0.45 : 0.08;
        context.done(fraction);
    }
    for (const auto& [r, kb] : {std::pair{12, 98.0}, {15, 223.0}, {30, 3072.0}})
        add_coefficient_sizes(tables, r, kb);
    page.heading("Meshes");
    page.table(tables.meshes);
    page.heading("Modes and derivatives");
    page.table(tables.derivatives);
    page.heading("Polynomials");
    page.table(tables.polynomials);
    page.figure({drawn({.title = "Polynomials of four bodies",
                        .x_label = "elements · r⁴",
                        .y_label = "time, s",
                        .series = {tables.published, tables.measured},
                        .log_x = true,
                        .log_y = true})},
                "Cost is of order elements · r⁴; lower orders count at small r.");
    page.table(tables.sizes);
    page.heading("Mass matrix");
    page.text(
        "The mass matrix couples no components: three equal blocks, of which one is ordered, "
        "factored and stored. Shares are counted as published, over all 3n × 3n places; they "
        "depend "
        "on the shapes and are not judged. Published: under a minute each, and without an order "
        "beyond 2 GB.");
    page.table(tables.fill);
    page.heading("Storage");
    page.table(tables.storage);
}

}  // namespace pliant::reproduce
