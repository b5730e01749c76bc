#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "apps/pliant/output.h"
#include "core/numbers.h"
#include "greens_experiments.h"
#include "greens_samples.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// The body within a surface that can be seen whole from the middle of its box: layers of prisms,
/// each of three tetrahedra. The vertices of the surface come first.
VolumeMesh layered_body(const SurfaceMesh& surface, int layers) {
    VolumeMesh mesh;
    const int n = surface.num_vertices();
    const Vector3d centre = bounding_box(surface.vertices).center();
    for (int layer = 0; layer < layers; ++layer)
        for (const Vector3d& x : surface.vertices)
            mesh.vertices.push_back(centre +
                                    (1 - static_cast<double>(layer) / layers) * (x - centre));
    mesh.vertices.push_back(centre);
    const auto add = [&](std::array<int, 4> tet) {
        const Vector3d a = mesh.vertices[at(tet[0])];
        const Vector3d b = mesh.vertices[at(tet[1])] - a, c = mesh.vertices[at(tet[2])] - a,
                       d = mesh.vertices[at(tet[3])] - a;
        if (b.cross(c).dot(d) < 0) std::swap(tet[2], tet[3]);
        mesh.elements.insert(mesh.elements.end(), tet.begin(), tet.end());
    };
    for (Triangle t : surface.triangles) {
        // the same diagonal on both sides of a face between prisms
        std::sort(t.begin(), t.end());
        for (int layer = 0; layer + 1 < layers; ++layer) {
            const int o = layer * n, i = o + n;
            add({o + t[0], o + t[1], o + t[2], i + t[2]});
            add({o + t[0], o + t[1], i + t[1], i + t[2]});
            add({o + t[0], i + t[0], i + t[1], i + t[2]});
        }
        const int last = (layers - 1) * n;
        add({last + t[0], last + t[1], last + t[2], layers * n});
    }
    return mesh;
}

/// How far two models with the same nodes are from each other, relative to the first.
struct MethodDifference {
    double columns = 0;  ///< of Green's functions between free nodes
    double smooth = 0;   ///< of displacements under a smooth pressure
    double size = 0;     ///< of these displacements, second over first
};

MethodDifference difference_of(const GreensModel& first, const GreensModel& second) {
    const GreensFunctions& a = *first.reference.functions;
    const GreensFunctions& b = *second.reference.functions;
    const Box box = bounding_box(first.surface.mesh.vertices);
    std::vector<int> nodes;
    std::vector<float> load;
    double apart = 0, total = 0;
    float of_a[9], of_b[9];
    for (int j = 0; j < first.num_nodes(); ++j) {
        if (!a.has_column(j)) continue;
        nodes.push_back(j);
        // falls off from the highest point
        const double s = (box.max().z() - first.reference.positions[at(j)].z()) / box.sizes().z();
        for (int k = 0; k < 3; ++k)
            load.push_back(static_cast<float>(-std::exp(-20 * s) * first.normals[at(j)][k]));
        for (int i = 0; i < first.num_nodes(); ++i) {
            if (first.reference.kinds[at(i)] == NodeKind::Fixed) continue;
            a.element(i, j, of_a);
            b.element(i, j, of_b);
            for (int k = 0; k < 9; ++k) {
                apart += std::pow(double{of_b[k]} - double{of_a[k]}, 2);
                total += std::pow(double{of_a[k]}, 2);
            }
        }
    }
    MethodDifference result;
    result.columns = std::sqrt(apart / total);
    Eigen::VectorXf u[2];
    for (const int k : {0, 1}) {
        u[k] = Eigen::VectorXf::Zero(3 * first.num_nodes());
        (k == 0 ? a : b)
            .add_columns(nodes, load, {u[k].data(), static_cast<std::size_t>(u[k].size())});
        for (int i = 0; i < first.num_nodes(); ++i)
            if (first.reference.kinds[at(i)] == NodeKind::Fixed) u[k].segment<3>(3 * i).setZero();
    }
    result.smooth = double{(u[1] - u[0]).norm()} / double{u[0].norm()};
    result.size = double{u[1].norm()} / double{u[0].norm()};
    return result;
}

}  // namespace

void run_greens_methods(Context& context) {
    Section& page = context.section;
    page.text(
        "One body, a smooth blob whose lowest sixth is fixed, by boundary elements on its surface "
        "and by tetrahedra within, in layers under the same surface: both have the same nodes. "
        "Green's functions of the upper part and displacements under a pressure that falls off "
        "from the top differ by the error of discretisation of both, which falls with the size of "
        "the elements.");
    Table table{"methods",
                "Finite against boundary elements",
                {{"nu", "ν"},
                 {"nodes", "nodes of the surface"},
                 {"layers", "layers"},
                 {"unknowns", "unknowns, FEM"},
                 {"bem_s", "BEM, s"},
                 {"fem_s", "FEM, s"},
                 {"columns_percent", "columns, %"},
                 {"smooth_percent", "under a smooth load, %"},
                 {"size", "displacement, FEM over BEM"},
                 {"bem_asymmetry", "asymmetry of BEM, %"},
                 {"fem_asymmetry", "of FEM, %"}}};
    std::vector<Series> curves;
    int done = 0;
    for (const double nu : {0.3, 0.45}) {
        Series columns{format("columns, ν = %g", nu), {}, done, Stroke::LineAndDots},
            smooth{format("smooth load, ν = %g", nu), {}, done, Stroke::DashedAndDots};
        double before = kInfinity;
        for (int level = 1; level <= context.sized(3, 2); ++level) {
            const SemiRegularMesh surface = greens_blob(level);
            GreensBuildOptions options;
            options.youngs_modulus = 1e4;
            options.poisson_ratio = nu;
            options.fixed = "z < 17 %";
            options.contactable = "z > 70 %";
            GreensBuildReport of_boundary, of_finite;
            const int layers = 3 << (level - 1);
            const GreensModel boundary = build_greens_model(surface, options, Progress::none(),
                                                            &of_boundary),
                              finite = build_greens_model(layered_body(surface.mesh, layers),
                                                          options, Progress::none(), &of_finite);
            const MethodDifference d = difference_of(boundary, finite);
            const std::string what = format("ν = %g, %d nodes: ", nu, boundary.num_nodes());
            // each refinement halves the elements: both differences must fall
            table.add(
                {Cell::number(nu), Cell::count(boundary.num_nodes()), Cell::count(layers),
                 Cell::count(of_finite.num_unknowns), Cell::number(of_boundary.seconds(), "%.2g"),
                 Cell::number(of_finite.seconds(), "%.2g"),
                 level == 1 ? Cell::number(100 * d.columns, "%.1f")
                            : page.at_most(what + "columns, %", 100 * d.columns,
                                           level == 2 ? 15 : 8, "%.1f"),
                 level == 1 ? Cell::number(100 * d.smooth, "%.1f")
                            : page.at_most(what + "smooth load, % (below the coarser one)",
                                           100 * d.smooth, 100 * before, "%.1f"),
                 Cell::number(d.size, "%.3f"), Cell::number(100 * of_boundary.asymmetry, "%.2f"),
                 page.at_most(what + "asymmetry of finite elements, %", 100 * of_finite.asymmetry,
                              1e-3, "%.1e")});
            before = d.smooth;
            columns.points.emplace_back(boundary.num_nodes(), 100 * d.columns);
            smooth.points.emplace_back(boundary.num_nodes(), 100 * d.smooth);
        }
        curves.push_back(columns);
        curves.push_back(smooth);
        context.done(++done / 2.0);
    }
    page.table(table);
    page.figure({drawn({.title = "Difference of both methods",
                        .x_label = "nodes of the surface",
                        .y_label = "difference, %",
                        .series = curves,
                        .log_x = true,
                        .log_y = true})},
                "Columns of single nodes and a smooth load, under refinement.");
}

}  // namespace pliant::reproduce
