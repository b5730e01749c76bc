#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>
#include <random>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/mass.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/reduction/reduced_dynamics.h"
#include "pliant/reduction/reduced_model.h"
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

using Materials = std::vector<Material>;  ///< of the ends and of the middle

constexpr double kJoinedLength = 1.2;
constexpr double kSoftest = 1.0 / 16, kStiffest = 16;  // of the merged basis

/// 0.05 m cubes; the middle third is a region of its own.
VolumeMesh beam_in_two_regions() {
    VolumeMesh mesh = hex_box(24, 4, 3, Box(Vector3d::Zero(), Vector3d(kJoinedLength, 0.2, 0.15)));
    for (int e = 0; e < mesh.num_elements(); ++e) {
        const double x = mesh.vertices[static_cast<std::size_t>(mesh.element(e)[0])].x();
        mesh.regions.push_back(x > kJoinedLength / 3 - 1e-9 && x < 2 * kJoinedLength / 3 - 1e-9);
    }
    return mesh;
}

Materials uniform() { return {isotropic(1e6, 0.4, 1000), isotropic(1e6, 0.4, 1000)}; }

/// Material of the middle with λ, μ and ρ times factors.
Materials edited_middle(double lambda, double mu, double density) {
    Materials materials = uniform();
    materials[1].lambda *= lambda;
    materials[1].mu *= mu;
    materials[1].density *= density;
    return materials;
}

struct Built {
    ReducedModel model;
    Constraints constraints;
    double seconds;  ///< CPU time
};

/// With one basis for beams whose middle has its modulus times each of the factors.
Built build_model(int num_modes, int rank, const std::vector<double>& factors) {
    const double start = cpu_seconds();
    ReducedModelParts parts;
    parts.mesh = beam_in_two_regions();
    parts.materials = uniform();
    parts.fixed_vertices =
        vertices_where(parts.mesh, [](const Vector3d& x) { return x.x() < 1e-9; });
    parts.surface = {parts.mesh.vertices, boundary_triangles(parts.mesh)};
    parts.elements = kPublishedElements.elements;
    const FemModel model(parts.mesh, parts.materials, kPublishedElements);
    Constraints constraints(model.num_nodes());
    constraints.fix(parts.fixed_vertices);
    const auto M = mass_matrix(model);
    MatrixXd X(model.num_unknowns(), 0);
    for (const double factor : factors) {
        const FemModel sample(parts.mesh, edited_middle(factor, factor, 1), kPublishedElements);
        const LinearModes modes = compute_modes(sample, constraints, {.num_modes = num_modes});
        const MatrixXd of_sample =
            weighted_modes_and_derivatives(modes, modal_derivatives(sample, constraints, modes), M);
        X.conservativeResize(Eigen::NoChange, X.cols() + of_sample.cols());
        X.rightCols(of_sample.cols()) = of_sample;
        if (factor == 1) parts.eigenvalues = modes.eigenvalues;
    }
    parts.basis = mass_pca(X, M, rank);
    add_projections(parts, model);
    return {ReducedModel(std::move(parts)), constraints, cpu_seconds() - start};
}

// ---- exactness and time ----

struct ForceAndStiffness {
    VectorXd R;
    MatrixXd K;
};
ForceAndStiffness evaluate(const ReducedForce& force, const VectorXd& q) {
    ForceAndStiffness at{VectorXd(force.size()), MatrixXd(force.size(), force.size())};
    force.force_and_stiffness(q, at.R, at.K, *force.make_workspace());
    return at;
}

/// The larger of the relative differences of force and stiffness over a few shapes.
double difference(const ReducedForce& a, const ReducedForce& b, const std::vector<VectorXd>& qs) {
    double largest = 0;
    for (const VectorXd& q : qs) {
        const ForceAndStiffness x = evaluate(a, q), y = evaluate(b, q);
        largest =
            std::max({largest, (x.R - y.R).norm() / y.R.norm(), (x.K - y.K).norm() / y.K.norm()});
    }
    return largest;
}

/// Random shapes that move by a tenth of the length at most.
std::vector<VectorXd> some_shapes(const ReducedModel& model, int count) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    std::vector<VectorXd> qs;
    for (int k = 0; k < count; ++k) {
        VectorXd q(model.rank());
        for (double& x : q) x = normal(random);
        q *= 0.1 * kJoinedLength / (model.basis() * q).lpNorm<Eigen::Infinity>();
        qs.push_back(q);
    }
    return qs;
}

void write_exactness(Context& context, const Built& built) {
    Section& page = context.section;
    const ReducedModel& model = built.model;
    page.heading("An edit equals a new precomputation");
    page.text(
        "Polynomials are kept for λ = 1 Pa and μ = 1 Pa of each region, reduced masses for ρ = 1 "
        "kg/m³: an edit is a sum. Compared, on the same basis: force, stiffness and mass of the "
        "edited model, of polynomials computed anew for the edited body, and of the elements "
        "themselves (without polynomials). Relative, the largest of five random shapes. "
        "Polynomials of unit constants do not depend on the material: the first are equal to the "
        "last bit.");
    struct Edit {
        const char* name;
        Materials materials;
    };
    Materials both = edited_middle(0.3, 2, 0.5);
    both[0] = isotropic(3e5, 0.2, 1700);
    const std::vector<Edit> edits{
        {"λ of the middle × 0.1", edited_middle(0.1, 1, 1)},
        {"μ of the middle × 0.1", edited_middle(1, 0.1, 1)},
        {"ρ of the middle × 5", edited_middle(1, 1, 5)},
        {"λ, μ, ρ of the middle × 0.05, 0.02, 3", edited_middle(0.05, 0.02, 3)},
        {"everything of both regions", both}};
    Table table{"edit",
                "Relative difference of the edited model from …",
                {{"edit", "edit"},
                 {"rebuilt", "new polynomials"},
                 {"direct", "elements"},
                 {"mass", "mass UᵀMU"}}};
    const MatrixXd U = model.basis();
    const std::vector<VectorXd> qs = some_shapes(model, 5);
    for (const Edit& edit : edits) {
        const ReducedModel edited = model.with_materials(edit.materials);
        const FemModel full(model.mesh(), edit.materials, kPublishedElements);
        const auto force = edited.make_force();
        const auto rebuilt = polynomial_force(full, U);
        const auto direct = make_direct_force(full, U);
        const MatrixXd mass = U.transpose() * (mass_matrix(full) * U);
        const std::string what = std::string(edit.name) + ": ";
        table.add({edit.name,
                   page.at_most(what + "difference from new polynomials",
                                difference(*force, *rebuilt, qs), 1e-12, "%.2g"),
                   page.at_most(what + "difference from the elements",
                                difference(*force, *direct, qs), 1e-10, "%.2g"),
                   page.at_most(what + "difference of the mass",
                                (edited.mass() - mass).norm() / mass.norm(), 1e-12, "%.2g")});
    }
    page.table(table);

    const Materials& last = edits.back().materials;
    const double edit_us = best_time_us([&] {
        const ReducedModel edited = model.with_materials(last);
        const ReducedDynamics dynamics(edited.make_force(), edited.mass());
    });
    const double rebuild_us =
        best_time_us(
            [&] {
                (void)build_coefficients(FemModel(model.mesh(), last, kPublishedElements), U);
            },
            context.sized(1e6, 1e5));
    Table times{"edit_time",
                format("Time of an edit, %d hexes, r = %d", model.num_elements(), model.rank()),
                {{"edit_ms", "edit, ms"},
                 {"rebuild_ms", "polynomials anew, ms"},
                 {"build_ms", "whole model anew, ms"}}};
    times.add({page.at_most("time of an edit [ms]", 1e-3 * edit_us, 1e3 / 60, "%.2f"),
               Cell::number(1e-3 * rebuild_us, "%.0f"), Cell::number(1e3 * built.seconds, "%.0f")});
    page.table(times);
    page.text(
        "An edit includes the sum of the groups, the layout of the coefficients for evaluation "
        "and the factor of the mass: less than a picture at 60 per second. Its time does not "
        "depend on the mesh.");
}

// ---- frequency and deflection ----

/// First frequency of a reduced model at rest [Hz].
double first_frequency(const ReducedModel& model) {
    const VectorXd rest = VectorXd::Zero(model.rank());
    const MatrixXd K = evaluate(*model.make_force(), rest).K;
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(K, model.mass(),
                                                                    Eigen::EigenvaluesOnly);
    return std::sqrt(solver.eigenvalues()[0]) / (2 * std::numbers::pi);
}

/// A force along z, spread over the end.
VectorXd end_load(const FemModel& model, double force) {
    const std::vector<int> end = vertices_where(
        model.mesh(), [](const Vector3d& x) { return x.x() > kJoinedLength - 1e-9; });
    VectorXd f = VectorXd::Zero(model.num_unknowns());
    add_nodal_force(end, Vector3d(0, 0, force / static_cast<double>(end.size())), f);
    return f;
}

VectorXd reduced_shape(const ReducedModel& model, const VectorXd& f) {
    const ReducedDynamics dynamics(model.make_force(), model.mass());
    ReducedState s = dynamics.make_state();
    const VectorXd f_reduced = model.basis().transpose() * f;
    (void)dynamics.solve_static(s, f_reduced, 200, *dynamics.make_workspace());
    return model.basis() * s.q;
}

void write_sweep(Context& context, const Built& built, const Built& merged) {
    Section& page = context.section;
    page.heading("A soft or a heavy middle");
    const double force = 30;  // bends the uniform beam by about a fifth of its length
    page.text(
        "The modulus of the middle third is edited, or its density. Full: the edited mesh "
        "itself. " +
        format("Deflection: of the end under %g N, static and nonlinear. ", force) +
        format("The subspace of the uniform beam (k = %d, r = %d) suits a middle of another "
               "modulus the less, the further it is from its own, and one of any density; ",
               built.model.num_modes(), built.model.rank()) +
        format("one of the same size made from modes and derivatives for factors %g, 1 and %g "
               "together (merged) covers the whole range.",
               kSoftest, kStiffest));
    Table table{"sweep",
                "First frequency and deflection after edits of the middle, and errors of the "
                "edited models against the full mesh: basis of the uniform beam, merged basis",
                {{"edit", "middle"},
                 {"full_hz", "frequency, full, Hz"},
                 {"frequency_error", "uniform, %"},
                 {"merged_frequency_error", "merged, %"},
                 {"full_m", "deflection, full, m"},
                 {"deflection_error", "uniform, %"},
                 {"merged_deflection_error", "merged, %"}}};
    const auto curves = [](const std::string& what) {
        return std::vector<Series>{{what + "full", {}, 0, Stroke::Line},
                                   {what + "uniform basis", {}, 1, Stroke::DashedAndDots},
                                   {what + "merged basis", {}, 2, Stroke::DashedAndDots}};
    };
    Plot of_modulus{.title = "First frequency",
                    .x_label = "factor of the modulus of the middle",
                    .y_label = "frequency, Hz",
                    .series = curves(""),
                    .log_x = true};
    Plot deflections = of_modulus, of_density = of_modulus;
    deflections.title = format("Deflection under %g N", force);
    deflections.y_label = "deflection, m";
    of_density.x_label = "factor of the density of the middle";
    const VolumeMesh mesh = built.model.mesh();
    const int end = mesh.num_vertices() - 1;
    std::vector<Drawn> soft{{&mesh, {}, true}};

    const auto percent = [](double value, double reference) {
        return Cell::number(100 * (value / reference - 1), "%.2f");
    };
    const int range = context.sized(4, 2);
    for (const bool is_density : {false, true}) {
        for (int power = -range; power <= range; ++power) {
            const double factor = std::pow(2, power);
            const Materials materials =
                is_density ? edited_middle(1, 1, factor) : edited_middle(factor, factor, 1);
            const FemModel full(mesh, materials, kPublishedElements);
            const ReducedModel edited[] = {built.model.with_materials(materials),
                                           merged.model.with_materials(materials)};
            const double frequency =
                compute_modes(full, built.constraints, {.num_modes = 2}).frequency(0);
            std::vector<Cell> row{format("%s × %.4g", is_density ? "ρ" : "E", factor),
                                  Cell::number(frequency, "%.4f")};
            Plot& plot = is_density ? of_density : of_modulus;
            plot.series[0].points.emplace_back(factor, frequency);
            for (const std::size_t which : {0u, 1u}) {
                const double reduced = first_frequency(edited[which]);
                row.push_back(percent(reduced, frequency));
                plot.series[which + 1].points.emplace_back(factor, reduced);
            }
            if (is_density) {
                row.insert(row.end(), {"–", "–", "–"});
            } else {
                const VectorXd load = end_load(full, force);
                const VectorXd u = solve_static(full, built.constraints, load).u;
                const double deflection = u.segment<3>(3 * end).norm();
                row.push_back(Cell::number(deflection, "%.4f"));
                deflections.series[0].points.emplace_back(factor, deflection);
                if (power == -2) soft.push_back({&mesh, u});
                for (const std::size_t which : {0u, 1u}) {
                    const VectorXd shape = reduced_shape(edited[which], load);
                    const double reduced = shape.segment<3>(3 * end).norm();
                    row.push_back(percent(reduced, deflection));
                    deflections.series[which + 1].points.emplace_back(factor, reduced);
                    if (power == -2) soft.push_back({&mesh, shape});
                }
            }
            table.add(std::move(row));
        }
        context.done(is_density ? 1 : 0.75);
    }
    page.figure({drawn(of_modulus), drawn(deflections), drawn(of_density)},
                "The edited beam in two bases against the full mesh.");
    const Box box = box_around(soft);
    const View view{.azimuth = -80, .elevation = 10, .width = 300};
    page.figure({picture({soft[0], soft[1]}, box, view, "full"),
                 picture({soft[0], soft[2]}, box, view, "edited, basis of the uniform beam"),
                 picture({soft[0], soft[3]}, box, view, "edited, merged basis")},
                "The middle four times softer.");
    page.table(table);

    // scaling everything leaves the basis right
    Materials stiffer = uniform();
    for (Material& material : stiffer) {
        material.lambda *= 4;
        material.mu *= 4;
    }
    Table scaling{"scaling",
                  "Both regions four times stiffer: the basis stays the best one",
                  {{"ratio", "first frequency / before"}, {"expected", "expected"}}};
    scaling.add({page.compared("frequency ratio after E × 4",
                               first_frequency(built.model.with_materials(stiffer)) /
                                   first_frequency(built.model),
                               2, 1e-10, "%.10f"),
                 "2"});
    page.table(scaling);
}

}  // namespace

void run_materials(Context& context) {
    context.section.text(
        "Published: λ, μ and density of groups of elements can be changed while the model runs, "
        "exactly, without a new precomputation. A beam of two regions, held at one end: its "
        "middle third and the rest.");
    const int rank = context.sized(30, 15);
    const Built built = build_model(10, rank, {1});
    context.done(0.2);
    const Built merged = build_model(10, rank, {kSoftest, 1, kStiffest});
    context.done(0.3);
    write_exactness(context, built);
    context.done(0.5);
    write_sweep(context, built, merged);
}

}  // namespace pliant::reproduce
