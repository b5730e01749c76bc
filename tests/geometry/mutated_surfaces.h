#pragma once

#include "geometry/test_meshes.h"
#include "pliant/core/error.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/remesh.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/geometry/surface_check.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// Surfaces as scanners, exports and mistakes leave them, and what every mesher must make of them:
/// a sound mesh, or one InputError. `Chooser` has below(n) and uniform(low, high), as Random has.
namespace pliant::test {

inline constexpr const char* kMesherNames[] = {"voxel", "hollow",     "graded",
                                               "tet",   "graded-tet", "semiregular"};
inline constexpr int kNumMeshers = 6, kNumSimpleSurfaces = 7, kNumMutations = 19;

inline int num_base_surfaces() {
    return kNumSimpleSurfaces + static_cast<int>(shape_list().size());
}

/// Simple bodies first, then the built-in shapes, coarse: 1,500 triangles at most.
inline SurfaceMesh base_surface(int which) {
    switch (which) {
        case 0: return make_cube();
        case 1: return make_sphere(1, 5);
        case 2: return make_torus(1, 0.4, 9, 6);
        case 3: return make_wedge();
        case 4: return make_stack_of_sheets(6);
        case 5: return make_random_soup(20, 1);
        case 6: {
            SurfaceMesh sheet;
            sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
            sheet.triangles = kSquareFan;
            return sheet;
        }
        default: break;
    }
    const ShapeInfo& info = shape_list()[static_cast<std::size_t>(which - kNumSimpleSurfaces)];
    static std::map<std::string, SurfaceMesh> made;  // some take longer than all that follows
    SurfaceMesh& shape = made[info.name];
    if (shape.triangles.empty()) {
        shape = make_shape(info.name, 8);
        // of those that have no coarse form, an open piece
        constexpr std::size_t kMostTriangles = 1500;
        if (shape.triangles.size() > kMostTriangles) shape.triangles.resize(kMostTriangles);
        repair_surface(shape);  // without the vertices of the rest
    }
    return shape;
}

template <class Chooser>
void remove_some(Chooser& choose, SurfaceMesh& mesh, int one_in) {
    std::erase_if(mesh.triangles, [&](const Triangle&) { return choose.below(one_in) == 0; });
}

/// The triangles again, on vertices of their own that `place` moves.
template <class Place>
void add_copy(SurfaceMesh& mesh, bool is_turned, Place&& place) {
    SurfaceMesh copy = mesh;
    for (Eigen::Vector3d& x : copy.vertices) x = place(x);
    if (is_turned)
        for (Triangle& t : copy.triangles) std::swap(t[1], t[2]);
    append(mesh, copy);
}

/// One of kNumMutations defects, as often as `choose` says.
template <class Chooser>
void mutate(Chooser& choose, int which, SurfaceMesh& mesh) {
    if (mesh.vertices.empty() || mesh.triangles.empty()) return;
    const int n = mesh.num_vertices();
    const Box box = box_of_triangles(mesh);
    const double size = box.isEmpty() ? 1 : box.sizes().maxCoeff();
    const auto vertex = [&]() -> Eigen::Vector3d& {
        return mesh.vertices[static_cast<std::size_t>(choose.below(n))];
    };
    const auto triangle = [&]() -> Triangle& {
        return mesh.triangles[static_cast<std::size_t>(choose.below(mesh.num_triangles()))];
    };
    switch (which) {
        case 0:  // every second triangle faces the other way
            for (std::size_t t = 0; t < mesh.triangles.size(); t += 2)
                std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
            return;
        case 1:
            for (Triangle& t : mesh.triangles)
                if (choose.below(4) == 0) std::swap(t[1], t[2]);
            return;
        case 2: return remove_some(choose, mesh, 2 + choose.below(12));
        case 3:  // written twice
            for (int k = 0; k < 5; ++k) mesh.triangles.push_back(triangle());
            return;
        case 4:  // and for both sides
            for (int k = 0; k < 5; ++k) {
                const Triangle t = triangle();
                mesh.triangles.push_back({t[0], t[2], t[1]});
            }
            return;
        case 5:  // without area, by index and by place
            for (int k = 0; k < 3; ++k) triangle()[0] = choose.below(n);
            vertex() = vertex();
            mesh.triangles.push_back({0, 0, n - 1});
            return;
        case 6: vertex() += 30 * size * Eigen::Vector3d::Ones(); return;  // needles
        case 7:                                                           // through itself
            for (Eigen::Vector3d& x : mesh.vertices)
                for (int a = 0; a < 3; ++a) x[a] += choose.uniform(-0.3, 0.3) * size;
            return;
        case 8:  // a second shell: beside, inside, or where the first one is
        case 9: {
            const double factor = choose.below(2) == 0 ? 1 : choose.uniform(0.3, 1.5);
            const double shift = choose.below(2) == 0 ? 0 : choose.uniform(-1.5, 1.5) * size;
            const Eigen::Vector3d c = box.center();
            return add_copy(mesh, which == 9, [&](const Eigen::Vector3d& x) {
                return (c + factor * (x - c) + Eigen::Vector3d(shift, 0, 0)).eval();
            });
        }
        case 10:  // fans of several triangles on one edge
            for (int k = 0; k < 3; ++k) {
                const Triangle t = triangle();
                mesh.vertices.push_back(box.center() +
                                        size * Eigen::Vector3d(choose.uniform(-1, 1),
                                                               choose.uniform(-1, 1),
                                                               choose.uniform(-1, 1)));
                mesh.triangles.push_back({t[0], t[1], mesh.num_vertices() - 1});
            }
            return;
        case 11:  // inside out
            for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
            return;
        case 12: {  // from atoms to galaxies
            const double factor = std::pow(10.0, choose.uniform(-35, 35));
            for (Eigen::Vector3d& x : mesh.vertices) x *= factor;
            return;
        }
        case 13: {  // flat, or nearly so
            const int axis = choose.below(3);
            const double factor = choose.below(2) == 0 ? 0 : std::pow(10.0, choose.uniform(-12, 0));
            for (Eigen::Vector3d& x : mesh.vertices) x[axis] *= factor;
            return;
        }
        case 14: {  // far from the origin
            const double far = size * std::pow(10.0, choose.uniform(0, 16));
            for (Eigen::Vector3d& x : mesh.vertices) x += Eigen::Vector3d(far, -far, far);
            return;
        }
        case 15: {  // corners of their own, a little apart
            const double apart =
                choose.below(2) == 0 ? 0 : size * std::pow(10.0, choose.uniform(-12, -2));
            SurfaceMesh soup;
            for (const Triangle& t : mesh.triangles) {
                const int first = soup.num_vertices();
                for (const int v : t)
                    soup.vertices.push_back(
                        mesh.vertices[static_cast<std::size_t>(v)] +
                        apart * Eigen::Vector3d(choose.uniform(-1, 1), 0, choose.uniform(-1, 1)));
                soup.triangles.push_back({first, first + 1, first + 2});
            }
            mesh = std::move(soup);
            return;
        }
        case 16: {  // an open scan
            const double level = choose.uniform(box.min().x(), box.max().x());
            std::erase_if(mesh.triangles, [&](const Triangle& t) {
                return mesh.vertices[static_cast<std::size_t>(t[0])].x() > level;
            });
            return;
        }
        case 17:  // corners that belong elsewhere
            for (int k = 0; k < 4; ++k)
                triangle()[static_cast<std::size_t>(choose.below(3))] = choose.below(n);
            return;
        default: {  // no number at all, and vertices that nothing uses
            const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::infinity(), 1e300, -1e200};
            mesh.vertices.emplace_back(odd[choose.below(4)], 0, 0);
            if (choose.below(2) == 0) vertex()[1] = odd[choose.below(4)];
            return;
        }
    }
}

template <class Chooser>
SurfaceMesh mutated_surface(Chooser& choose) {
    // simple bodies as often as all others together
    const int which =
        choose.below(2) == 0 ? choose.below(kNumSimpleSurfaces) : choose.below(num_base_surfaces());
    SurfaceMesh mesh = base_surface(which);
    const int count = 1 + choose.below(3);
    for (int k = 0; k < count; ++k) mutate(choose, choose.below(kNumMutations), mesh);
    return mesh;
}

/// What is wrong with a filled surface; empty: nothing.
inline std::string fault_of(const VolumeMesh& mesh, const SurfaceMesh& surface) {
    if (mesh.num_elements() == 0) return "no elements";
    const VolumeReport report = check_volume(mesh);
    if (report.num_inverted + report.num_invalid + report.num_non_finite + report.num_orphans > 0)
        return report.text();
    for (const double filled : mesh.filled)
        if (!(filled > 0 && filled <= 1)) return "an element filled by " + std::to_string(filled);
    // elements do not overlap: no more volume than their box
    const double volume = total_volume(mesh), weighted = total_volume(mesh, true);
    if (!(weighted > 0 && weighted <= volume * (1 + 1e-9) &&
          volume <= report.box.volume() * (1 + 1e-6)))
        return "a volume of " + std::to_string(volume) + " m³ in a box of " +
               std::to_string(report.box.volume());
    const Embedding embedding(mesh, surface.vertices);
    for (const double weight : embedding.weights())
        if (!std::isfinite(weight)) return "a weight that is no number";
    return {};
}

inline std::string fault_of(const SemiRegularMesh& mesh, const RemeshReport& report) {
    const SurfaceReport checked = check_surface(mesh.mesh);
    if (checked.num_triangles == 0) return "no triangles";
    if (checked.non_finite_vertices.count + checked.invalid_indices.count > 0)
        return checked.text();
    for (const double number : {report.mean_distance, report.max_distance, report.volume_ratio,
                                report.smallest_angle, report.edge_ratio})
        if (!std::isfinite(number)) return "a report with " + std::to_string(number);
    return {};
}

/// Does what `pliant mesh` does with a surface, by one of kNumMeshers. Returns what is wrong with
/// the result; empty: nothing. Throws InputError as the command does.
inline std::string mesh_and_check(SurfaceMesh surface, int mesher, int resolution, int levels,
                                  bool is_repaired) {
    if (is_repaired) repair_surface(surface);
    const SurfaceReport report = check_surface(surface);
    if (report.num_triangles == 0) throw InputError("", "no triangles; a surface mesh is needed");
    if (report.non_finite_vertices.count + report.invalid_indices.count > 0 || report.is_inside_out)
        throw InputError("", report.text() + "; try --repair");
    const std::string kind = kMesherNames[mesher];
    if (kind == "semiregular") {
        RemeshReport remeshed;
        const SemiRegularMesh mesh =
            remesh(surface, {.base_vertices = 8 + resolution, .levels = levels % 3},
                   Progress::none(), &remeshed);
        return fault_of(mesh, remeshed);
    }
    SimulationMeshOptions options{.kind = kind, .resolution = resolution};
    options.is_hollow = kind == "hollow";
    if (options.is_hollow) options.kind = "voxel";
    options.levels = levels % 3;  // 2² is at most the resolution
    const SurfaceQuery query(std::move(surface));
    return fault_of(build_simulation_mesh(query, options), query.mesh());
}

}  // namespace pliant::test
