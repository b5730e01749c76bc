#include <cmath>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "mesh_picture.h"
#include "pliant/fem/loads.h"
#include "pliant/fem/statics.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kStrainPoisson = 0.3, kStrainDensity = 1000;

Constraints clamped(const FemModel& model) {
    Constraints constraints(model.num_nodes());
    constraints.fix(vertices_where(model.mesh(), [](const Vector3d& x) { return x.x() < 1e-9; }));
    return constraints;
}

double volume_ratio(const VolumeMesh& mesh, const VectorXd& u) {
    return total_volume(deformed(mesh, u)) / total_volume(mesh);
}

double axis_ratio(const VolumeMesh& mesh, const VectorXd& u) {
    const VolumeMesh now = deformed(mesh, u);
    double length = 0;
    for (int i = 0; i < 8; ++i) {
        const auto a = static_cast<std::size_t>(vertex_at(mesh, {0.1 * i, 0.1, 0.1})),
                   b = static_cast<std::size_t>(vertex_at(mesh, {0.1 * (i + 1), 0.1, 0.1}));
        length += (now.vertices[b] - now.vertices[a]).norm();
    }
    return length / 0.8;
}

/// Linear and quadratic strain under the same load.
struct StrainPair {
    VectorXd linear, quadratic;
    StaticStatus status;
};
StrainPair solve_both(const FemModel& model, const VectorXd& f) {
    const StaticResult result = solve_static(model, clamped(model), f);
    return {solve_linear_static(model, clamped(model), f), result.u, result.status};
}

/// The rest shape as an outline behind each of the two, all at one scale.
void draw(Context& context, const VolumeMesh& mesh, const StrainPair& pair, View view,
          const std::string& caption) {
    const Drawn rest{&mesh, {}, true};
    const Drawn linear{&mesh, pair.linear}, quadratic{&mesh, pair.quadratic};
    const Box box = box_around({rest, linear, quadratic});
    view.up = Vector3d::UnitY();
    view.width = 420;
    context.section.figure({picture({rest, linear}, box, view, "linear strain"),
                            picture({rest, quadratic}, box, view, "quadratic strain")},
                           caption);
}

void cantilever(Context& context) {
    struct Reference {
        double modulus;
        bool is_linear;
        double x, y, volume, length;
    };
    constexpr Reference kReferences[] = {{2e5, true, 0, -0.6786, 1.761, 1.332},
                                         {2e5, false, -0.1956, -0.4989, 0.989, 1.000},
                                         {1e5, true, 0, -1.3572, 4.043, 2.001},
                                         {1e5, false, -0.7201, -0.7647, 0.886, 0.995}};
    Section& page = context.section;
    page.heading("Cantilever under its own weight");
    page.text(
        "8 × 2 × 2 cubes of 0.1 m, clamped at x = 0, density 1000 kg/m³, Poisson's ratio 0.3, "
        "gravity 9.81 m/s² downwards, static. The reference gives four digits; the tolerance is "
        "half a unit of its last one.");
    Table table{"cantilever",
                "Tip displacement, volume and length of the axis relative to rest",
                {{"youngs_modulus_pa", "E, Pa"},
                 {"strain", "strain"},
                 {"tip_x_m", "tip x, m"},
                 {"reference_x_m", "reference"},
                 {"tip_y_m", "tip y, m"},
                 {"reference_y_m", "reference"},
                 {"volume_ratio", "volume"},
                 {"reference_volume", "reference"},
                 {"length_ratio", "length"},
                 {"reference_length", "reference"}}};
    for (const double modulus : {2e5, 1e5}) {
        const FemModel model(reference_bar(), {isotropic(modulus, kStrainPoisson, kStrainDensity)},
                             kPublishedElements);
        const VolumeMesh& mesh = model.mesh();
        const int tip = vertex_at(mesh, {0.8, 0.1, 0.1});
        const StrainPair pair = solve_both(model, gravity_load(model, {0, -9.81, 0}));
        for (const Reference& r : kReferences) {
            if (r.modulus != modulus) continue;
            const VectorXd& u = r.is_linear ? pair.linear : pair.quadratic;
            const std::string what = format("cantilever, E = %.0e Pa, %s strain, ", modulus,
                                            r.is_linear ? "linear" : "quadratic");
            table.add({Cell::count(static_cast<std::int64_t>(modulus)),
                       r.is_linear ? "linear" : "quadratic",
                       page.compared(what + "tip x [m]", u[3 * tip], r.x, 0.5e-4, "%.4f"),
                       Cell::number(r.x, "%.4f"),
                       page.compared(what + "tip y [m]", u[3 * tip + 1], r.y, 0.5e-4, "%.4f"),
                       Cell::number(r.y, "%.4f"),
                       page.compared(what + "volume ratio", volume_ratio(mesh, u), r.volume, 0.5e-3,
                                     "%.3f"),
                       Cell::number(r.volume, "%.3f"),
                       page.compared(what + "length ratio", axis_ratio(mesh, u), r.length, 0.5e-3,
                                     "%.3f"),
                       Cell::number(r.length, "%.3f")});
        }
        if (modulus == 2e5)
            draw(context, mesh, pair, {.azimuth = -70, .elevation = 12},
                 "E = 2e5 Pa. Faces are coloured by the change of volume: grey unchanged, red "
                 "doubled, blue halved.");
        if (pair.status == StaticStatus::Collapsed)
            page.text(
                format("At E = %.0f Pa the equilibrium with quadratic strain, the one of the "
                       "reference, has elements at the clamped end that are turned inside out: "
                       "this material gives way there. The solver reports it as collapsed.",
                       modulus));
        context.done(modulus == 2e5 ? 0.3 : 0.6);
    }
    page.table(table);
}

void twist(Context& context) {
    struct Reference {
        double load;
        bool is_linear;
        double radius, angle, volume;
    };
    constexpr Reference kReferences[] = {{1, true, 1.2546, 0.648, 1.187},
                                         {1, false, 1.0175, 0.625, 0.998},
                                         {2, true, 1.8154, 0.987, 1.748},
                                         {2, false, 1.0459, 0.937, 0.995}};
    Section& page = context.section;
    page.heading("Twist");
    page.text(
        "The same bar with E = 1e5 Pa; each node of the end x = 0.8 m is loaded by 80 N/m · "
        "load · (axis × r), a dead load. With linear strain the end grows by 1/cos of the "
        "angle: it is a rotation to first order only. The reference volume 0.998 is rounded "
        "from 0.9975, therefore a tolerance of one unit of the last digit for volumes.");
    Table table{"twist",
                "Corner of the loaded end: radius and volume relative to rest, angle",
                {{"load", "load"},
                 {"strain", "strain"},
                 {"radius_ratio", "radius"},
                 {"reference_radius", "reference"},
                 {"angle_rad", "angle, rad"},
                 {"reference_angle", "reference"},
                 {"inverse_cosine", "1/cos angle"},
                 {"volume_ratio", "volume"},
                 {"reference_volume", "reference"}}};
    const FemModel model(reference_bar(), {isotropic(1e5, kStrainPoisson, kStrainDensity)},
                         kPublishedElements);
    const VolumeMesh& mesh = model.mesh();
    const Vector3d centre(0.8, 0.1, 0.1);
    const int corner = vertex_at(mesh, {0.8, 0.2, 0.2});
    for (const double load : {1.0, 2.0}) {
        VectorXd f = VectorXd::Zero(model.num_unknowns());
        for (const int i :
             vertices_where(mesh, [](const Vector3d& x) { return x.x() > 0.8 - 1e-9; }))
            f.segment<3>(3 * i) =
                80 * load *
                Vector3d::UnitX().cross(mesh.vertices[static_cast<std::size_t>(i)] - centre);
        const StrainPair pair = solve_both(model, f);
        for (const Reference& r : kReferences) {
            if (r.load != load) continue;
            const VectorXd& u = r.is_linear ? pair.linear : pair.quadratic;
            const Vector3d before = mesh.vertices[static_cast<std::size_t>(corner)] - centre;
            Vector3d after = before + u.segment<3>(3 * corner);
            after.x() = 0;
            const double radius = after.norm() / before.norm(),
                         angle = std::acos(before.dot(after) / (before.norm() * after.norm()));
            const std::string what =
                format("twist, load %g, %s strain, ", load, r.is_linear ? "linear" : "quadratic");
            table.add({Cell::number(load, "%g"), r.is_linear ? "linear" : "quadratic",
                       page.compared(what + "radius ratio", radius, r.radius, 0.5e-4, "%.4f"),
                       Cell::number(r.radius, "%.4f"),
                       page.compared(what + "angle [rad]", angle, r.angle, 0.5e-3, "%.3f"),
                       Cell::number(r.angle, "%.3f"), Cell::number(1 / std::cos(angle), "%.4f"),
                       page.compared(what + "volume ratio", volume_ratio(mesh, u), r.volume, 1e-3,
                                     "%.3f"),
                       Cell::number(r.volume, "%.3f")});
        }
        if (load == 2)
            draw(context, mesh, pair, {.azimuth = 40, .elevation = 22},
                 "Twist with load 2. With linear strain the loaded end swells to 1.8 times its "
                 "size.");
        context.done(load == 1 ? 0.8 : 1);
    }
    page.table(table);
}

}  // namespace

void run_strain(Context& context) {
    context.section.text(
        "Linear strain takes a rotation for a stretch: bodies that turn far swell. Quadratic "
        "(Green–Lagrange) strain is zero for every rigid motion. Published as pictures; the "
        "numbers are those of an independent reference computation.");
    cantilever(context);
    twist(context);
}

}  // namespace pliant::reproduce
