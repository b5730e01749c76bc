#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "pliant/geometry/shapes.h"
#include "pliant/greens/point_contact.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::byte_size;
using cli::format;
using Eigen::Vector3d;

/// Deformation of the whole surface under a force at one place, spread by a mask [µs].
double contact_frame_us(const std::shared_ptr<const GreensModel>& model) {
    const SurfaceStiffness stiffness = masked_stiffness(model, MaskKind::Cone);
    PointContact contact;
    contact.phase = PointPhase::Sticking;
    contact.barycentric = Vector3d::Constant(1.0 / 3);
    contact.force = {0, 0, -1};
    const SurfaceMesh& mesh = model->surface.mesh;
    // the highest triangle that is free
    double highest = -kInfinity;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        bool is_free = true;
        for (int k = 0; k < 3; ++k)
            is_free = is_free && !stiffness.is_rigid(mesh.triangles[at(t)][at(k)]);
        if (!is_free || mesh.corner(t, 0).z() <= highest) continue;
        highest = mesh.corner(t, 0).z();
        contact.triangle = t;
    }
    CapacitanceOptions options;
    options.max_dofs = 3;
    options.max_loads = 200;
    CapacitanceSolver solver(model->reference, UpdateCosts(), options);
    PointLoads loads(model->num_nodes(), 200);
    std::vector<float> field(3 * at(model->num_nodes()));
    return best_time_us([&] {
        loads.clear();
        (void)loads.add(stiffness, contact);
        (void)solver.set_loads(loads.nodes(), loads.tractions());
        (void)solver.solve({}, {});
        solver.evaluate(model->num_nodes());
        solver.write_displacements(field);
    });
}

std::size_t stored_bytes(const GreensModel& model) {
    const auto* dense = dynamic_cast<const DenseGreensFunctions*>(model.reference.functions.get());
    return dense == nullptr ? 0 : dense->num_bytes();
}

/// A smooth body of the published number of vertices, its lowest ones fixed.
std::shared_ptr<const GreensModel> blob_model(int level, int free_vertices,
                                              GreensBuildReport& report) {
    const SemiRegularMesh surface = greens_blob(level);
    std::vector<int> order;
    for (int v = 0; v < surface.mesh.num_vertices(); ++v) order.push_back(v);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return surface.mesh.vertices[at(a)].z() < surface.mesh.vertices[at(b)].z();
    });
    GreensBuildOptions options;
    options.youngs_modulus = 1e4;
    order.resize(order.size() - at(free_vertices));
    options.fixed = listed(order);
    return std::make_shared<GreensModel>(
        build_greens_model(surface, options, Progress::none(), &report));
}

/// A newton down at the end of the blade: what the support carries [N], how far it gives [mm].
struct BladeLoad {
    double reaction = 0, displacement = 0;
};
BladeLoad load_blade(const std::shared_ptr<const GreensModel>& model) {
    const SurfaceStiffness stiffness = masked_stiffness(model, MaskKind::Cone, 0.015);
    const auto& vertices = model->surface.mesh.vertices;
    int end = -1;
    for (int v = 0; v < model->surface.mesh.num_vertices(); ++v)
        if (!stiffness.is_rigid(v) && (end < 0 || vertices[at(v)].x() > vertices[at(end)].x()))
            end = v;
    const auto mask = stiffness.mask_nodes(end);
    const std::vector<int> nodes(mask.begin(), mask.end());
    std::vector<float> tractions;
    for (const double density : stiffness.mask_densities(end))
        tractions.insert(tractions.end(),
                         {0, 0, static_cast<float>(-density / model->reference.modulus)});
    std::vector<float> values(3 * at(model->num_nodes()), 0.0f);
    model->reference.functions->add_columns(nodes, tractions, values);
    BladeLoad result;
    for (int i = 0; i < model->num_nodes(); ++i)
        if (model->reference.kinds[at(i)] == NodeKind::Fixed)
            result.reaction += model->reference.modulus * model->reference.areas[at(i)] *
                               double{values[3 * at(i) + 2]};
    const int node = model->vertex_nodes[at(model->vertex_offsets[at(end)])];
    result.displacement = -1e3 * model->reference.length * double{values[3 * at(node) + 2]};
    return result;
}

/// The spatula by both methods; that by finite elements is the one of the demo.
void compare_thin_bodies(Section& page) {
    Table table{
        "thin",
        "A thin body: the spatula of the demo (E = 20 MPa, ν = 0.4) under one newton at its end, "
        "held at its handle",
        {{"method", "method"},
         {"nodes", "nodes"},
         {"asymmetry", "asymmetry, %"},
         {"reaction", "support carries, N"},
         {"displacement", "gives, mm"}}};
    GreensBuildOptions options;
    options.youngs_modulus = 2e7;
    options.poisson_ratio = 0.4;
    options.fixed = "x < 25 %";
    for (const bool is_finite : {false, true}) {
        options.method = is_finite ? GreensMethod::FiniteElements : GreensMethod::BoundaryElements;
        if (is_finite) options.mesh = {.kind = "tet", .resolution = 40};
        const auto model = std::make_shared<const GreensModel>(
            build_greens_model(make_semi_regular("spatula", -1), options));
        const BladeLoad load = load_blade(model);
        // collocation is told, not judged
        const double asymmetry = 100 * model->asymmetry;
        table.add({is_finite ? "finite elements" : "boundary elements",
                   Cell::count(model->num_nodes()),
                   is_finite ? page.at_most("Spatula by finite elements: departure from "
                                            "reciprocity, %",
                                            asymmetry, 6, "%.2g")
                             : Cell::number(asymmetry, "%.2f"),
                   is_finite ? page.compared("Spatula by finite elements: reaction to one newton",
                                             load.reaction, 1, 1e-4)
                             : Cell::number(load.reaction, "%.3f"),
                   Cell::number(load.displacement, "%.1f")});
    }
    page.table(table);
}

}  // namespace

void run_greens_precomputation(Context& context) {
    Section& page = context.section;
    page.text(
        "Boundary elements, linear, one thread (the published ones: Java, one Pentium III of 450 "
        "MHz; eight of them for 2,562 vertices). The shapes are ours; they were made with the "
        "published numbers of vertices, triangles and free vertices, so that times can be set "
        "beside those published. In the place of the rabbits stands a smooth blob, of which as "
        "many of the lowest vertices are fixed as leave the published number free. A frame in "
        "contact: a force through a mask, and the displacements of all vertices. "
        "The spatula is a sheet as thin as its triangles are long: collocation is far from "
        "reciprocity there, and comes nearer only with finer meshes (28 % at 2,492 vertices); the "
        "last table has it by finite elements, as the demo.");
    Table sizes{"sizes",
                "Sizes, and departure from reciprocity (at most 6 %, but of the spatula)",
                {{"body", "body"},
                 {"vertices", "vertices"},
                 {"triangles", "triangles"},
                 {"free", "free vertices"},
                 {"unknowns", "unknowns"},
                 {"estimated_bytes", "memory, estimated"},
                 {"stored_bytes", "stored"},
                 {"asymmetry", "asymmetry, %"}}};
    Table times{"precomputation",
                "Precomputation, and a frame in contact",
                {{"body", "body"},
                 {"assembly_s", "assembly, s"},
                 {"lu_s", "LU, s"},
                 {"columns_s", "columns, s"},
                 {"total_s", "all, s"},
                 {"published_min", "published, min"},
                 {"lu_percent", "LU share, %"},
                 {"published_lu_percent", "published, %"},
                 {"frame_us", "frame, µs"},
                 {"published_frame_ms", "published, ms"}}};
    const auto add = [&](const GreensSample& sample, const GreensModel& model,
                         const GreensBuildReport& report, double frame_us) {
        const std::string& name = sample.title;
        const auto bytes = [](double value) {
            Cell cell = Cell::number(value);
            cell.text = byte_size(value);
            return cell;
        };
        sizes.add({name, Cell::count(report.num_vertices), Cell::count(report.num_triangles),
                   Cell::count(report.num_columns), Cell::count(report.num_unknowns),
                   bytes(static_cast<double>(report.estimated_bytes)),
                   bytes(static_cast<double>(stored_bytes(model))),
                   // a thin sheet: told in the text
                   sample.shape == "spatula"
                       ? Cell::number(100 * report.asymmetry, "%.2f")
                       : page.at_most(name + ": departure from reciprocity, %",
                                      100 * report.asymmetry, 6, "%.2f")});
        times.add({name, Cell::number(report.assembly_seconds, "%.2g"),
                   Cell::number(report.factor_seconds, "%.2g"),
                   Cell::number(report.column_seconds, "%.2g"),
                   Cell::number(report.seconds(), "%.2g"), Cell::number(sample.minutes),
                   Cell::number(100 * report.factor_seconds / report.seconds(), "%.0f"),
                   sample.factor_percent > 0 ? Cell::number(sample.factor_percent) : Cell("–"),
                   Cell::number(frame_us, "%.1f"), Cell::number(sample.frame_ms)});
    };
    for (const GreensSample& sample : greens_samples()) {
        if (context.is_quick && sample.vertices > 400) continue;
        GreensBuildReport report;
        const auto model = greens_sample_model(sample.shape, -1, &report);
        add(sample, *model, report, contact_frame_us(model));
    }
    context.done(0.1);
    const GreensSample blobs[] = {{"Blob (Rabbit 2)", "", 162, 133, 1.8, 1, 0.07},
                                  {"Blob (Rabbit 3)", "", 642, 537, 40, 9, 0.33},
                                  {"Blob (Rabbit 4)", "", 2562, 2145, 540, 0, 1.3}};
    for (int k = 0; k < context.sized(3, 1); ++k) {
        const GreensSample& sample = blobs[k];
        GreensBuildReport report;
        const auto model = blob_model(k + 2, sample.free_vertices, report);
        add(sample, *model, report, contact_frame_us(model));
    }
    page.table(sizes);
    page.table(times);
    compare_thin_bodies(page);
}

}  // namespace pliant::reproduce
