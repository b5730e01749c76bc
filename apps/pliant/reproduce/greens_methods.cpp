#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_query.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// A kidney under pressure that falls off smoothly from a place on its top.
struct PressedKidney {
    std::string method;
    double poisson_ratio;
    GreensBuildReport report;
    GreensModel model;
    std::vector<Vector3d> displacements;  ///< of nodes [m]; zero where fixed
    double load = 0;                      ///< [N]
    double balance = 0;                   ///< load and reaction, relative to the load
};
constexpr double kPressure = 500;         ///< [Pa]
constexpr double kPressedRadius = 0.015;  ///< [m]

PressedKidney pressed_kidney(const SemiRegularMesh& surface, const GreensBuildOptions& options,
                             const std::string& method, const Vector3d& centre) {
    PressedKidney result{method, options.poisson_ratio, {}, {}, {}, 0, 0};
    result.model = build_greens_model(surface, options, Progress::none(), &result.report);
    const ReferenceProblem& reference = result.model.reference;
    std::vector<int> nodes;
    std::vector<float> tractions;
    Vector3d load = Vector3d::Zero(), reaction = Vector3d::Zero();
    for (int i = 0; i < result.model.num_nodes(); ++i) {
        if (reference.kinds[at(i)] == NodeKind::Fixed || !reference.functions->has_column(i))
            continue;
        const double r = (reference.positions[at(i)] - centre).norm() / kPressedRadius;
        const Vector3d p = -kPressure * std::exp(-r * r) * result.model.normals[at(i)];
        nodes.push_back(i);
        for (int k = 0; k < 3; ++k)
            tractions.push_back(static_cast<float>(p[k] / reference.modulus));
        load += reference.areas[at(i)] * p;
    }
    std::vector<float> field(3 * at(result.model.num_nodes()));
    reference.functions->add_columns(nodes, tractions, field);
    for (int i = 0; i < result.model.num_nodes(); ++i) {
        const Vector3d value = Eigen::Map<Eigen::Vector3f>(field.data() + 3 * i).cast<double>();
        const bool is_fixed = reference.kinds[at(i)] == NodeKind::Fixed;
        if (is_fixed) reaction += reference.areas[at(i)] * reference.modulus * value;
        result.displacements.push_back(is_fixed ? Vector3d(Vector3d::Zero())
                                                : Vector3d(reference.length * value));
    }
    result.load = load.norm();
    result.balance = (load + reaction).norm() / load.norm();
    return result;
}

/// Displacement of the nearest point of the surface.
class SurfaceDisplacement {
public:
    explicit SurfaceDisplacement(const PressedKidney& kidney)
        : kidney_(kidney), query_(kidney.model.surface.mesh) {}
    [[nodiscard]] Vector3d operator()(const Vector3d& x) const {
        const ClosestPoint closest = query_.closest(x);
        Vector3d u = Vector3d::Zero();
        for (int k = 0; k < 3; ++k)
            u += closest.barycentric[k] *
                 kidney_.displacements[at(kidney_.model.corner_nodes[at(closest.triangle)][at(k)])];
        return u;
    }

private:
    const PressedKidney& kidney_;
    SurfaceQuery query_;
};

}  // namespace

void run_greens_methods(Context& context) {
    Section& page = context.section;
    page.text(
        "The same kidney (E = 10 kPa, x < 33 % fixed) by boundary elements on its surface and by "
        "finite elements within it, under a pressure of 500 Pa that falls off as exp(−(r / 15 "
        "mm)²) from the top. Displacements at the vertices of the coarser surface are compared "
        "with those of the finest boundary elements of the page. Linear tetrahedra are too stiff, "
        "collocation a little too soft; the difference falls with the size of the elements.");
    const int finest_level = context.sized(3, 2);
    const SemiRegularMesh fine = make_semi_regular("kidney", finest_level);
    const SurfaceMesh samples = make_semi_regular("kidney", 1).mesh;
    const Box box = bounding_box(fine.mesh.vertices);
    const Vector3d above = box.center() + Vector3d(0.01, 0.005, 1);
    const auto hit = SurfaceQuery(fine.mesh).ray(above, {0, 0, -1});
    const Vector3d centre = above - hit->t * Vector3d::UnitZ();
    GreensBuildOptions options;
    options.youngs_modulus = 1e4;
    options.fixed = "x < 33 %";
    options.contactable = "z > 55 %";
    Table table{"methods",
                "Displacements of one body by both methods",
                {{"nu", "ν"},
                 {"method", "method"},
                 {"nodes", "nodes of the surface"},
                 {"unknowns", "unknowns"},
                 {"seconds", "built in, s"},
                 {"depth_mm", "depth under the load, mm"},
                 {"difference_percent", "difference, %"},
                 {"ratio", "mean size, relative"},
                 {"balance_percent", "load and reaction, %"},
                 {"asymmetry_percent", "asymmetry, %"}}};
    Series curves[2] = {{"finite elements, ν = 0.3", {}, 0, Stroke::LineAndDots},
                        {"finite elements, ν = 0.45", {}, 1, Stroke::LineAndDots}};
    int done = 0;
    for (const double nu : {0.3, 0.45}) {
        if (context.is_quick && nu > 0.3) continue;
        options.poisson_ratio = nu;
        options.method = GreensMethod::BoundaryElements;
        std::vector<PressedKidney> runs;
        runs.push_back(pressed_kidney(
            fine, options, format("boundary, %d vertices", fine.mesh.num_vertices()), centre));
        const SemiRegularMesh coarse = make_semi_regular("kidney", finest_level - 1);
        runs.push_back(pressed_kidney(
            coarse, options, format("boundary, %d vertices", coarse.mesh.num_vertices()), centre));
        options.method = GreensMethod::FiniteElements;
        const std::vector<int> resolutions =
            context.sized(std::vector<int>{10, 16, 24}, std::vector<int>{8, 12});
        for (const int resolution : resolutions) {
            options.mesh.resolution = resolution;
            runs.push_back(
                pressed_kidney(fine, options, format("finite, resolution %d", resolution), centre));
        }
        const SurfaceDisplacement expected(runs[0]);
        for (std::size_t k = 0; k < runs.size(); ++k) {
            const PressedKidney& run = runs[k];
            const SurfaceDisplacement found(run);
            double difference = 0, size = 0, size_found = 0;
            for (const Vector3d& x : samples.vertices) {
                difference += (found(x) - expected(x)).squaredNorm();
                size += expected(x).squaredNorm();
                size_found += found(x).squaredNorm();
            }
            const double percent = 100 * std::sqrt(difference / size);
            const bool is_finite = run.model.method == GreensMethod::FiniteElements;
            if (is_finite) curves[nu > 0.3].points.emplace_back(resolutions[k - 2], percent);
            const bool is_judged = k == 1 || k + 1 == runs.size();
            table.add(
                {Cell::number(nu), run.method, Cell::count(run.model.num_nodes()),
                 Cell::count(run.report.num_unknowns), Cell::number(run.report.seconds(), "%.2f"),
                 Cell::number(-1e3 * found(centre).z(), "%.3f"),
                 k == 0 ? Cell("–")
                 : is_judged
                     ? page.at_most(format("ν = %g, %s: difference, %%", nu, run.method.c_str()),
                                    percent, context.sized(8.0, 20.0), "%.1f")
                     : Cell::number(percent, "%.1f"),
                 Cell::number(std::sqrt(size_found / size), "%.3f"),
                 is_finite ? page.at_most(format("ν = %g, %s: load and reaction, %%", nu,
                                                 run.method.c_str()),
                                          100 * run.balance, 0.01, "%.4f")
                           : Cell::number(100 * run.balance, "%.2f"),
                 is_finite
                     ? page.at_most(format("ν = %g, %s: asymmetry, %%", nu, run.method.c_str()),
                                    100 * run.report.asymmetry, 1e-3, "%.1e")
                     : Cell::number(100 * run.report.asymmetry, "%.2f")});
        }
        context.done(++done / 2.0);
    }
    page.table(table);
    page.figure({drawn({.title = "Finite against boundary elements",
                        .x_label = "resolution of the tetrahedra",
                        .y_label = "difference, %",
                        .series = {curves[0], curves[1]},
                        .y_low = 0,
                        .y_high = 40})},
                "");
}

}  // namespace pliant::reproduce
