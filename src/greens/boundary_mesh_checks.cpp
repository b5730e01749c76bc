#include "greens/boundary_mesh_checks.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>

#include "core/numbers.h"
#include "geometry/triangle.h"
#include "geometry/wording.h"
#include "greens/triangle_crossing.h"
#include "pliant/core/error.h"
#include "pliant/geometry/surface_check.h"

namespace pliant {
namespace {

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
}

[[noreturn]] void refuse_surface(const Defect& defect, const char* singular, const char* plural,
                                 const char* place, const char* remedy) {
    throw InputError("", "boundary elements need a closed surface: this one has " +
                             counted(defect.count, singular, plural) +
                             (defect.count == 1 ? " (" : " (first: ") + place + " " +
                             std::to_string(defect.first) + "); " + remedy);
}

constexpr const char* kRepairRemedy = "'pliant convert --repair' may mend it";

/// The worst triangle, and how many are below the limit.
void check_shapes(const SurfaceMesh& mesh) {
    int count = 0, worst = -1;
    double least = kMinBoundaryQuality;
    for (int t = 0; t < mesh.num_triangles(); ++t) {
        const double quality =
            triangle_quality(mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2));
        if (quality >= kMinBoundaryQuality) continue;
        ++count;
        if (worst < 0 || quality < least) std::tie(worst, least) = std::pair(t, quality);
    }
    if (count == 0) return;
    throw InputError("",
                     "triangle " + std::to_string(worst) +
                         " is too thin for boundary elements: "
                         "quality " +
                         short_number(least) + ", at least " + short_number(kMinBoundaryQuality) +
                         " is needed (" +
                         (count == 1 ? "the only one" : "the worst of " + std::to_string(count)) +
                         "); remesh the surface with triangles of more even sides");
}

}  // namespace

double triangle_quality(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                        const Eigen::Vector3d& c) noexcept {
    const double sides = (b - a).squaredNorm() + (c - b).squaredNorm() + (a - c).squaredNorm();
    if (!(sides > 0)) return 0;
    return 2 * std::sqrt(3.0) * area_vector(a, b, c).norm() / sides;
}

void check_boundary_mesh(const SurfaceMesh& mesh) {
    const SurfaceReport report = check_surface(mesh);
    if (report.num_triangles == 0)
        throw InputError("", "boundary elements need a closed surface: this one has no triangles");
    const struct {
        const Defect& defect;
        const char *singular, *plural, *place, *remedy;
    } defects[] = {
        {report.invalid_indices, "triangle with a vertex index out of range",
         "triangles with a vertex index out of range", "triangle", kRepairRemedy},
        {report.non_finite_vertices, "vertex that is not finite", "vertices that are not finite",
         "vertex", "correct the file"},
        {report.degenerate_triangles, "triangle without area", "triangles without area", "triangle",
         kRepairRemedy},
        {report.duplicate_triangles, "triangle twice", "triangles twice", "triangle",
         kRepairRemedy},
        {report.open_edges, "open edge", "open edges", "triangle", "close its holes"},
        {report.non_manifold_edges, "edge shared by more than two triangles",
         "edges shared by more than two triangles", "triangle", "separate its parts"},
        {report.inconsistent_edges, "edge between triangles of opposite orientation",
         "edges between triangles of opposite orientation", "triangle", kRepairRemedy},
        {report.non_manifold_vertices, "vertex where separate fans meet",
         "vertices where separate fans meet", "vertex", "separate them"},
        {report.unused_vertices, "vertex without triangles", "vertices without triangles", "vertex",
         kRepairRemedy},
    };
    for (const auto& d : defects)
        if (d.defect.count > 0) refuse_surface(d.defect, d.singular, d.plural, d.place, d.remedy);
    if (report.is_inside_out)
        throw InputError("", "the surface is inside out: its volume is " +
                                 short_number(report.volume) + "; " + kRepairRemedy);
    check_shapes(mesh);
    if (const auto pair = first_crossing_triangles(mesh))
        throw InputError(
            "", "the surface cuts or touches itself: triangles " + std::to_string(pair->first) +
                    " and " + std::to_string(pair->second) + " meet; move or remesh these parts");
}

}  // namespace pliant
