#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "fem_experiments.h"
#include "mesh_picture.h"
#include "pliant/fem/statics.h"
#include "pliant/geometry/structured_mesh.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kStaticModulus = 1e5, kStaticPoisson = 0.3, kStaticEdge = 0.1;

/// The reference bar of hexes, and the same lattice cut into tetrahedra.
VolumeMesh static_bar(ElementKind kind) {
    return kind == ElementKind::Hex8
               ? reference_bar()
               : tet_box(8, 2, 2, Box(Vector3d::Zero(), Vector3d(0.8, 0.2, 0.2)));
}
const char* name_of(ElementKind kind) { return kind == ElementKind::Hex8 ? "hex" : "tet"; }

void rigid_rotation(Context& context) {
    Section& page = context.section;
    page.heading("Rigid rotation");
    page.text(
        "A free bar of 8 × 2 × 2 cubes of h = 0.1 m (E = 1e5 Pa, ν = 0.3), and the same cut into "
        "tetrahedra, is turned about a skew axis and carried away, without changing its shape. "
        "Quadratic strain then has no energy and no force but those of rounding; linear strain "
        "takes the rotation for a stretch.");
    Table table{
        "rotation",
        "Largest nodal force over E h² (with quadratic strain at most 1e-13), and energy over "
        "E times the volume (at most 1e-26)",
        {{"mesh", "mesh"},
         {"angle_deg", "angle, °"},
         {"force", "force, quadratic"},
         {"energy", "energy, quadratic"},
         {"linear_force", "force, linear"},
         {"linear_energy", "energy, linear"}}};
    const Vector3d axis = Vector3d(1, 2, -0.5).normalized();
    for (const ElementKind kind : {ElementKind::Hex8, ElementKind::Tet4}) {
        const FemModel quadratic(static_bar(kind),
                                 {isotropic(kStaticModulus, kStaticPoisson, 1000)},
                                 kPublishedElements);
        const FemModel linear(static_bar(kind),
                              {isotropic(kStaticModulus, kStaticPoisson, 1000, Law::SmallStrain)},
                              kPublishedElements);
        const double volume = total_volume(quadratic.mesh());
        for (const double angle : {10.0, 90.0, 180.0}) {
            const Eigen::Matrix3d R = Eigen::AngleAxisd(angle * kDegree, axis).toRotationMatrix();
            VectorXd u(quadratic.num_unknowns());
            for (int i = 0; i < quadratic.num_nodes(); ++i) {
                const Vector3d& x = quadratic.mesh().vertices[static_cast<std::size_t>(i)];
                u.segment<3>(3 * i) = R * x - x + Vector3d(0.3, -0.2, 0.5);
            }
            const auto force = [&](const FemModel& model) {
                VectorXd f(u.size());
                model.internal_force(u, f);
                return f.cwiseAbs().maxCoeff() / (kStaticModulus * kStaticEdge * kStaticEdge);
            };
            const auto energy = [&](const FemModel& model) {
                FemModel::Workspace workspace = model.make_workspace();
                return model.energy(u, workspace) / (kStaticModulus * volume);
            };
            const std::string what = format("rotation by %.0f°, %s: ", angle, name_of(kind));
            table.add({name_of(kind), Cell::number(angle, "%.0f"),
                       page.at_most(what + "force", force(quadratic), 1e-13, "%.1e"),
                       page.at_most(what + "energy", energy(quadratic), 1e-26, "%.1e"),
                       Cell::number(force(linear), "%.2g"), Cell::number(energy(linear), "%.2g")});
        }
    }
    page.table(table);
}

void newton(Context& context) {
    Section& page = context.section;
    page.heading("Newton's method");
    page.text(
        "The bar, clamped at x = 0, is pulled down by a dead load of 30 N at its free end and "
        "solved in one load step. Close to the solution each iteration squares the residual r, "
        "relative to "
        "the load: the order is log r₂ / log r₁ of two successive ones, the least of those with r₁ "
        "below 0.1 and r₂ above 1e-12, where rounding begins.");
    Table table{"newton",
                "Residuals of the whole iteration, relative to the load",
                {{"mesh", "mesh"},
                 {"tip_m", "deflection of the end, m"},
                 {"iterations", "iterations"},
                 {"residual", "last residual"},
                 {"order", "order"},
                 {"limit", "expected"}}};
    Plot plot{.title = "Residual",
              .x_label = "iteration",
              .y_label = "residual / load",
              .log_y = true,
              .width = 420};
    std::vector<FemModel> models;
    std::vector<VectorXd> shapes;
    for (const ElementKind kind : {ElementKind::Hex8, ElementKind::Tet4}) {
        const FemModel model(static_bar(kind), {isotropic(kStaticModulus, kStaticPoisson, 1000)},
                             kPublishedElements);
        Constraints clamps(model.num_nodes());
        clamps.fix(vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() < 1e-9; }));
        VectorXd f = VectorXd::Zero(model.num_unknowns());
        const std::vector<int> end =
            vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() > 0.8 - 1e-9; });
        for (const int i : end) f[3 * i + 2] = -30.0 / static_cast<double>(end.size());
        const StaticResult result = solve_static(model, clamps, f, {.tolerance = 1e-13});
        Series series{name_of(kind), {}, kind == ElementKind::Hex8 ? 0 : 1, Stroke::LineAndDots};
        std::vector<double> residuals;
        for (const StaticIteration& iteration : result.iterations) {
            const double residual = iteration.residual / f.norm();
            series.points.emplace_back(static_cast<double>(residuals.size()), residual);
            residuals.push_back(residual);
        }
        plot.series.push_back(std::move(series));
        double order = kInfinity;
        for (std::size_t k = 1; k < residuals.size(); ++k)
            if (residuals[k - 1] < 0.1 && residuals[k] > 1e-12)
                order = std::min(order, std::log(residuals[k]) / std::log(residuals[k - 1]));
        const std::string what = format("Newton's method, %s: ", name_of(kind));
        table.add({name_of(kind), Cell::number(-result.u[3 * end.front() + 2], "%.4f"),
                   Cell::count(static_cast<std::int64_t>(residuals.size()) - 1),
                   page.at_most(what + "last residual", residuals.back(), 1e-11, "%.1e"),
                   page.at_least(what + "order", order, 1.8, "%.2f"),
                   "residual at most 1e-11; order 2, at least 1.8"});
        models.push_back(model);
        shapes.push_back(result.u);
    }
    std::vector<std::string> pictures{drawn(plot)};
    const Drawn rest{&models[0].mesh(), {}, true};
    const Box box = box_around({rest, {&models[0].mesh(), shapes[0]}});
    for (std::size_t k = 0; k < models.size(); ++k)
        pictures.push_back(picture({rest, {&models[k].mesh(), shapes[k]}}, box,
                                   {.azimuth = -70, .elevation = 12, .width = 240},
                                   k == 0 ? "hexes" : "tetrahedra"));
    page.figure(pictures,
                "Residuals, and the two bars in equilibrium; outline: at rest. Tetrahedra of this "
                "size are stiffer in bending.");
    page.table(table);
}

}  // namespace

void run_statics(Context& context) {
    rigid_rotation(context);
    context.done(0.3);
    newton(context);
}

}  // namespace pliant::reproduce
