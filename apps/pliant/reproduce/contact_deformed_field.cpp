#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "pliant/geometry/polygonize.h"
#include "pliant/geometry/surface_query.h"
#include "pliant/reduction/reduced_dynamics.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A tuning fork: two long legs side by side on a short stem.
SurfaceMesh fork_mesh(int resolution) {
    using implicit::SplinePoint;
    std::vector<SplinePoint> bow;
    for (const auto& [x, z] : {std::pair{-0.05, 0.5},
                               {-0.05, 0.35},
                               {-0.05, 0.2},
                               {-0.045, 0.12},
                               {0.0, 0.08},
                               {0.045, 0.12},
                               {0.05, 0.2},
                               {0.05, 0.35},
                               {0.05, 0.5}})
        bow.push_back({Vector3d(x, 0, z), 0.025});
    return polygonize(implicit::smooth_unite(
                          {implicit::sweep(bow),
                           implicit::capsule(Vector3d::Zero(), Vector3d(0, 0, 0.1), 0.03, 0.03)},
                          0.02),
                      {.resolution = resolution});
}

/// Equilibrium with the ends of the legs pulled apart (or together) until they moved by `way` [m].
VectorXd spread_shape(const ReducedModel& model, double way) {
    const ReducedDynamics dynamics(std::shared_ptr<const ReducedForce>(model.make_force()),
                                   model.mass());
    const auto ws = dynamics.make_workspace();
    const SurfaceMesh surface = model.surface();
    const SurfaceShapes shapes = model.shapes();
    VectorXd load = VectorXd::Zero(model.rank());
    int tip = 0;
    for (int i = 0; i < surface.num_vertices(); ++i) {
        const Vector3d& x = surface.vertices[static_cast<std::size_t>(i)];
        if (x.z() > surface.vertices[static_cast<std::size_t>(tip)].z() && x.x() > 0) tip = i;
        if (x.z() > 0.45) shapes.add_force(i, Vector3d(x.x() > 0 ? 1 : -1, 0, 0), load);
    }
    const auto moved = [&](const VectorXd& q) {
        return shapes.position(tip, q).x() - surface.vertices[static_cast<std::size_t>(tip)].x();
    };
    // the compliance at rest says where to begin; then every equilibrium is near the one before
    ReducedState s = dynamics.make_state();
    (void)dynamics.solve_static(s, 1e-3 * load, 50, *ws);
    double size = 0.1 * 1e-3 * way / moved(s.q);
    for (int k = 0; k < 60; ++k) {
        (void)dynamics.solve_static(s, size * load, 50, *ws);
        const double wanted = way / moved(s.q);
        if (std::abs(wanted - 1) < 5e-3) break;
        size *= std::clamp(wanted, 0.8, 1.25);
    }
    return s.q;
}

/// Places farther than a cell outside that seem inside, over those inside, on a lattice [%].
double ghosts(const DeformedField& field, const ReducedModel& model, const VectorXd& q, int n) {
    const SurfaceQuery exact(deformed_surface(model, q));
    const Box box = bounding_box(exact.mesh().vertices);
    int seeming = 0, inside = 0;
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const Vector3d x =
                    box.min() + box.sizes().cwiseProduct(Vector3d(i + 0.5, j + 0.5, k + 0.5) / n);
                const double d = exact.signed_distance(x);
                inside += d < 0;
                seeming += d > field.resolution() && field.distance(x) < 0;
            }
    return 100.0 * seeming / std::max(1, inside);
}

struct NamedShape {
    std::string name;
    VectorXd q;
};

}  // namespace

void run_deformed_field(Context& context) {
    Section& page = context.section;
    const SurfaceMesh mesh = fork_mesh(context.sized(60, 40));
    const ReducedModel model = make_soft(
        mesh,
        {.fixed = "z < 10 %", .resolution = context.sized(40, 30), .num_modes = 6, .rank = 27});
    page.text(format(
        "A fork of two legs, %d vectors, %d proxies: the field at rest is pulled back through the "
        "nearest proxies. With one domain the leg on the other side appears where it was at rest: "
        "a ghost. Domains, found from the mesh, remove most of it; the last column of the table "
        "says "
        "what is left. Iso-lines every 15 mm in the plane of "
        "the legs, surface red; below, the error near the deformed surface (within 40 mm) against "
        "its exact distance, and how much of the space around it seems inside. Push-forward: "
        "the distance is that to the image of the tangent plane at rest. Published: pictures "
        "only.",
        model.rank(), DeformedFieldOptions{}.num_proxies));
    std::vector<NamedShape> shapes = {{"at rest", VectorXd::Zero(model.rank())},
                                      {"spread", spread_shape(model, 0.16)},
                                      {"bent", bent_shape(model, 1, 0.9)}};
    Table table{"accuracy",
                "Errors of the deformed field",
                {{"shape", "shape"},
                 {"domains", "domains"},
                 {"push_forward", "push-forward"},
                 {"mean_mm", "mean error, mm"},
                 {"rms_mm", "rms, mm"},
                 {"largest_mm", "largest, mm"},
                 {"wrong_signs", "wrong signs, %"},
                 {"too_large", "too large by a cell, %"},
                 {"ghosts", "ghosts, % of the volume"}}};
    struct Variant {
        int domains;
        bool pushes_forward;
    };
    const FieldBuildOptions build{.resolution = context.sized(128, 64), .expansion = 2};
    for (const Variant variant : {Variant{1, false}, {0, false}, {0, true}}) {
        const DeformedFieldModel found = [&] {
            const AllCores all;
            return DeformedFieldModel(
                model, build,
                {.num_domains = variant.domains, .pushes_forward = variant.pushes_forward});
        }();
        DeformedField field(found);
        std::vector<std::string> pictures;
        for (const NamedShape& shape : shapes) {
            const DeformedFieldAccuracy accuracy =
                compare_with_exact(field, model, shape.q, 0.04, context.sized(20000, 2000));
            (void)field.update(shape.q);
            const double ghost = ghosts(field, model, shape.q, context.sized(40, 28));
            const double wrong = 100 * accuracy.wrong_signs;
            table.add({shape.name, Cell::count(found.num_domains()),
                       variant.pushes_forward ? "yes" : "no",
                       Cell::number(1e3 * accuracy.mean_error, "%.2f"),
                       Cell::number(1e3 * accuracy.rms_error, "%.2f"),
                       Cell::number(1e3 * accuracy.largest_error, "%.1f"),
                       variant.domains != 1
                           ? page.at_most("wrong signs of the fork, " + shape.name + " [%]", wrong,
                                          0.5, "%.2f")
                           : Cell::number(wrong, "%.2f"),
                       Cell::number(100 * accuracy.too_large, "%.2f"),
                       variant.domains != 1
                           ? page.at_most("ghosts around the fork, " + shape.name + " [%]", ghost,
                                          context.sized(2.0, 10.0), "%.2f")
                           : Cell::number(ghost, "%.2f")});
            pictures.push_back(slice_picture(field,
                                             {.origin = Vector3d(-0.45, 0, -0.06),
                                              .across = Vector3d(0.77, 0, 0),
                                              .up = Vector3d(0, 0, 0.66),
                                              .width = 230,
                                              .spacing = 0.015},
                                             shape.name));
        }
        if (!variant.pushes_forward)
            page.figure(pictures, variant.domains == 1
                                      ? "One domain."
                                      : format("%d domains.", found.num_domains()));
    }
    page.table(table);
}

}  // namespace pliant::reproduce
