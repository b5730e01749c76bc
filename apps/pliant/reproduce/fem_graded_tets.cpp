#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "apps/pliant/output.h"
#include "fem_experiments.h"
#include "mesh_picture.h"
#include "pliant/geometry/tet_mesh.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// Faces by the number of elements that they belong to.
struct FaceUse {
    double single_area = 0;  ///< of those of one element
    int num_overused = 0;    ///< those of three or more
};
FaceUse face_use(const VolumeMesh& tets) {
    std::map<std::array<int, 3>, int> uses;
    for (int e = 0; e < tets.num_elements(); ++e)
        for (std::size_t skipped = 0; skipped < 4; ++skipped) {
            std::array<int, 3> face{};
            for (std::size_t k = 0, at = 0; k < 4; ++k)
                if (k != skipped) face[at++] = tets.element(e)[k];
            std::sort(face.begin(), face.end());
            ++uses[face];
        }
    FaceUse found;
    for (const auto& [face, count] : uses) {
        if (count > 2) ++found.num_overused;
        if (count != 1) continue;
        const Vector3d &a = tets.vertices[static_cast<std::size_t>(face[0])],
                       &b = tets.vertices[static_cast<std::size_t>(face[1])],
                       &c = tets.vertices[static_cast<std::size_t>(face[2])];
        found.single_area += 0.5 * (b - a).cross(c - a).norm();
    }
    return found;
}

}  // namespace

void run_graded_tets(Context& context) {
    Section& page = context.section;
    page.text(
        "Unit cubes of tetrahedra by tagged bisection, edges at most as long as the depth below "
        "the surface or, near it, as the cells there. They conform: at a hanging node, faces on "
        "its two sides would differ and "
        "belong to one element each, and the area of such faces would be above 6, that of the "
        "cube.");
    Table table{
        "tets",
        "Graded tetrahedra with n cells along a side at the surface; the last power of n is "
        "judged by 2 ± 0.15",
        {{"n", "n"},
         {"uniform", "uniform elements"},
         {"graded", "graded elements"},
         {"nodes", "nodes"},
         {"area", "area of faces of one element"},
         {"overused", "faces of three or more elements"},
         {"angles", "dihedral angles, °"},
         {"power", "power of n since the row before"}}};
    int last_n = 0, last_elements = 0;
    VolumeMesh shown;
    const std::vector<int> sizes =
        context.sized(std::vector<int>{8, 16, 32, 64, 128}, std::vector<int>{8, 16});
    for (const int n : sizes) {
        VolumeMesh mesh = graded_tet_box(n, 1, 1.0);
        const FaceUse use = face_use(mesh);
        const auto [least, most] = dihedral_range(mesh);
        const double power = growth_power(last_n, last_elements, n, mesh.num_elements());
        const std::string what = format("graded tetrahedra, n = %d: ", n);
        table.add(
            {Cell::count(n), Cell::count(6LL * n * n * n), Cell::count(mesh.num_elements()),
             Cell::count(mesh.num_vertices()),
             page.compared(what + "area of faces of one element", use.single_area, 6, 1e-9, "%.6f"),
             page.at_most(what + "faces of three or more", use.num_overused, 0, "%.0f"),
             format("%.0f … %.0f", least, most),
             last_n == 0 ? Cell("–")
             : n < 128   ? Cell::number(power, "%.2f")
                         : page.compared("graded tetrahedra: power of n", power, 2, 0.15, "%.2f")});
        last_n = n;
        last_elements = mesh.num_elements();
        if (n == 16) shown = std::move(mesh);
        context.done(std::pow(n / static_cast<double>(sizes.back()), 2));
    }
    const VolumeMesh part = cut_open(shown, 0.5);
    const Box box(Vector3d::Zero(), Vector3d::Ones());
    const View view{.azimuth = -65, .elevation = 25, .width = 360};
    page.figure({picture({{&shown, {}}}, box, view, "whole"),
                 picture({{&part, {}}}, box, view, "cut open")},
                "The cube of n = 16: its elements grow with depth.");
    page.table(table);
}

}  // namespace pliant::reproduce
