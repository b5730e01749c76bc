#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/version.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/remesh.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/geometry/structured_mesh.h"

namespace pliant::python {
namespace {

std::shared_ptr<VolumeMesh> make_volume(const ArrayArgument& vertices,
                                        const ArrayArgument& elements) {
    auto mesh = std::make_shared<VolumeMesh>();
    mesh->vertices = points_of(vertices, "vertices");
    const py::array_t<int> indices = index_array(elements, "elements", {-1, -1});
    if (indices.shape(1) != 4 && indices.shape(1) != 8)
        refuse("elements", elements, "4 (tetrahedra) or 8 (hexahedra) vertices each");
    mesh->kind = indices.shape(1) == 4 ? ElementKind::Tet4 : ElementKind::Hex8;
    mesh->elements.assign(indices.data(), indices.data() + indices.size());
    for (const int vertex : mesh->elements) check_index("elements", vertex, mesh->num_vertices());
    return mesh;
}

void bind_volume(py::module_& m) {
    using Mesh = VolumeMesh;
    py::class_<VolumeReport>(m, "VolumeReport", "What is wrong, or right, with a volume mesh.")
        .def_readonly("num_inverted", &VolumeReport::num_inverted, "Elements turned inside out.")
        .def_readonly("num_orphans", &VolumeReport::num_orphans, "Vertices that no element uses.")
        .def_readonly("num_invalid", &VolumeReport::num_invalid,
                      "Elements with a vertex out of range or repeated.")
        .def_readonly("num_non_finite", &VolumeReport::num_non_finite,
                      "Vertices with a coordinate that is no number or beyond 1e30.")
        .def_readonly("first_inverted", &VolumeReport::first_inverted,
                      "Number of the first inverted element; -1: there is none.")
        .def_readonly("first_orphan", &VolumeReport::first_orphan,
                      "Number of the first vertex that no element uses; -1: there is none.")
        .def_readonly("first_invalid", &VolumeReport::first_invalid,
                      "Number of the first invalid element; -1: there is none.")
        .def_readonly("first_non_finite", &VolumeReport::first_non_finite,
                      "Number of the first vertex that is not finite; -1: there is none.")
        .def_readonly("first_weak_joint", &VolumeReport::first_weak_joint,
                      "Number of the first vertex at a weak joint; -1: there is none.")
        .def_readonly("num_parts", &VolumeReport::num_parts, "Connected through faces.")
        .def_readonly("num_weak_joints", &VolumeReport::num_weak_joints,
                      "Vertices whose elements are not connected through faces there.")
        .def_property_readonly("is_clean", &VolumeReport::is_clean,
                               "Nothing at all is to be reported.")
        .def("__str__", [](const VolumeReport& report) {
            return report.is_clean() ? std::string("clean") : report.text();
        });
    py::class_<Mesh, std::shared_ptr<Mesh>> volume(
        m, "VolumeMesh", "Simulation mesh of tetrahedra or hexahedra. Cannot be changed.");
    volume.def(py::init(&make_volume), py::arg("vertices"), py::arg("elements"),
               "vertices: (n, 3) numbers [m]; elements: (m, 4) tetrahedra or (m, 8) hexahedra, "
               "numbered as in VTK.");
    bind_vertices(volume);
    volume
        .def_property_readonly(
            "elements",
            [](const py::object& self) {
                const auto& mesh = self.cast<const Mesh&>();
                return view_of(mesh.elements.data(),
                               {mesh.num_elements(), nodes_per_element(mesh.kind)}, self);
            },
            "(m, 4 or 8) int32, no copy.")
        .def_property_readonly(
            "regions",
            [](const py::object& self) {
                const auto& regions = self.cast<const Mesh&>().regions;
                return view_of(regions.data(), {static_cast<py::ssize_t>(regions.size())}, self);
            },
            "Material region of each element; empty: all 0.")
        .def_property_readonly(
            "filled",
            [](const py::object& self) {
                const auto& filled = self.cast<const Mesh&>().filled;
                return view_of(filled.data(), {static_cast<py::ssize_t>(filled.size())}, self);
            },
            "Part of each element inside the body; empty: all 1.")
        .def_property_readonly(
            "kind",
            [](const Mesh& mesh) { return mesh.kind == ElementKind::Tet4 ? "tet4" : "hex8"; },
            "\"tet4\" or \"hex8\".")
        .def_property_readonly("num_elements", &Mesh::num_elements, "Elements.")
        .def_property_readonly(
            "num_hanging", [](const Mesh& mesh) { return mesh.hanging.size(); },
            "Vertices between those of coarser neighbours.")
        .def("volume", &total_volume, py::arg("weighted") = false,
             "[m³]; weighted: of the parts inside the body.")
        .def("check", &check_volume, Unlocked(), "What is wrong with it.")
        .def(
            "boundary",
            [](const Mesh& mesh) {
                auto surface = std::make_shared<SurfaceMesh>();
                surface->vertices = mesh.vertices;
                surface->triangles = boundary_triangles(mesh);
                return surface;
            },
            "Outer faces as triangles on the same vertices.")
        .def(
            "save",
            [](const Mesh& mesh, const std::filesystem::path& path, const py::object& point_data,
               const py::object& cell_data) {
                save_mesh(mesh, static_cast<std::size_t>(mesh.num_elements()), path, point_data,
                          cell_data, &save_volume);
            },
            py::arg("path"), py::arg("point_data") = py::none(), py::arg("cell_data") = py::none(),
            "As Gmsh, Vega, TetGen, Medit, VTU or .pliant, by extension. VTU takes named arrays of "
            "numbers or vectors.")
        .def("__repr__", [](const Mesh& mesh) {
            return "<VolumeMesh of " + std::to_string(mesh.num_vertices()) + " vertices, " +
                   std::to_string(mesh.num_elements()) +
                   (mesh.kind == ElementKind::Tet4 ? " tetrahedra>" : " hexahedra>");
        });
    m.def(
        "load_volume",
        [](const std::filesystem::path& path) { return std::make_shared<Mesh>(load_volume(path)); },
        py::arg("path"), Unlocked(), "From Gmsh, Vega, TetGen, Medit or .pliant.");
}

Box box_of(const ArrayArgument& low, const ArrayArgument& high) {
    return {vector_of(low, "low"), vector_of(high, "high")};
}

void bind_meshers(py::module_& m) {
    m.def(
        "build_mesh",
        [](const SurfaceArgument& surface, const std::string& kind, int resolution, double size,
           bool hollow, double growth, int levels, const ProgressArgument& progress) {
            const SimulationMeshOptions options{.kind = kind,
                                                .resolution = resolution,
                                                .is_hollow = hollow,
                                                .growth = growth,
                                                .levels = levels};
            check_options(options);
            const SurfaceInput input(surface);
            return std::make_shared<VolumeMesh>(run_long(progress, [&](Progress& shown) {
                return build_simulation_mesh(SurfaceQuery(input.load(shown, size)), options, shown);
            }));
        },
        py::arg("surface"), py::arg("kind") = "voxel", py::arg("resolution") = 64,
        py::arg("size") = 0.0, py::arg("hollow") = false, py::arg("growth") = 0.5,
        py::arg("levels") = 4, py::arg("progress") = py::none(),
        "Fills a surface with elements: kind voxel, graded, tet or graded-tet, so many cells along "
        "the longest side, which is scaled to size [m] unless 0. hollow: only where the surface is "
        "(voxel); growth: cell size over depth, and levels of sizes (graded kinds).");
    m.def(
        "hex_box",
        [](std::array<int, 3> cells, const ArrayArgument& low, const ArrayArgument& high) {
            return std::make_shared<VolumeMesh>(
                hex_box(cells[0], cells[1], cells[2], box_of(low, high)));
        },
        py::arg("cells"), py::arg("low"), py::arg("high"),
        "A box between two corners [m] of so many hexahedra along each side.");
    m.def(
        "tet_box",
        [](std::array<int, 3> cells, const ArrayArgument& low, const ArrayArgument& high) {
            return std::make_shared<VolumeMesh>(
                tet_box(cells[0], cells[1], cells[2], box_of(low, high)));
        },
        py::arg("cells"), py::arg("low"), py::arg("high"),
        "The same with six tetrahedra in each cell.");
    py::class_<Embedding>(m, "Embedding", "Points carried by a simulation mesh.")
        .def(py::init([](const VolumeMesh& mesh, const ArrayArgument& points) {
                 const auto x = points_of(points, "points");
                 const py::gil_scoped_release release;
                 return Embedding(mesh, x);
             }),
             py::arg("mesh"), py::arg("points"), "points: (p, 3) [m] at rest.")
        .def_property_readonly("num_points", &Embedding::num_points, "p: points carried.")
        .def_property_readonly("num_outside", &Embedding::num_outside, "Points in no element.")
        .def(
            "transfer",
            [](const Embedding& embedding, const ArrayArgument& u) {
                const auto values = real_array(u, "u", {embedding.num_vertices(), 3});
                py::array_t<double> out({embedding.num_points(), 3});
                embedding.transfer({values.data(), static_cast<std::size_t>(values.size())},
                                   {out.mutable_data(), static_cast<std::size_t>(out.size())});
                return out;
            },
            py::arg("u"),
            "Displacements [m] of the mesh's vertices (n, 3) to those of points (p, 3).")
        .def(
            "transfer_transposed",
            [](const Embedding& embedding, const ArrayArgument& f) {
                const auto values = real_array(f, "f", {embedding.num_points(), 3});
                std::vector<double> out(3 * static_cast<std::size_t>(embedding.num_vertices()));
                embedding.transfer_transposed(
                    {values.data(), static_cast<std::size_t>(values.size())}, out);
                return array_of<double>(out, {embedding.num_vertices(), 3});
            },
            py::arg("f"),
            "Forces [N] on points (p, 3) to forces on the mesh's vertices (n, 3) that do the same "
            "work.");
}

/// As pliant mesh --kind semiregular writes them.
void save_levels(const SemiRegularMesh& levels, const std::filesystem::path& path) {
    ArchiveWriter writer(kSemiRegularKind);
    writer.set_provenance("version", kVersion);
    add_semi_regular_mesh(writer, levels);
    writer.save(path);
}

void bind_levels(py::module_& m) {
    py::class_<SemiRegularMesh, std::shared_ptr<SemiRegularMesh>>(
        m, "SemiRegularMesh", "A surface on levels, each the one before with triangles in four.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<SemiRegularMesh>(load_levels_file(path));
            },
            py::arg("path"), Unlocked(),
            "From a .pliant file, as pliant mesh --kind semiregular makes it.")
        .def("save", &save_levels, py::arg("path"), Unlocked(),
             "To a .pliant file, which pliant build --kind greens takes.")
        .def_property_readonly(
            "mesh",
            [](const std::shared_ptr<SemiRegularMesh>& levels) {
                return std::shared_ptr<SurfaceMesh>(levels, &levels->mesh);
            },
            "The finest level.")
        .def_readonly("num_vertices", &SemiRegularMesh::num_vertices, "Of each level.")
        .def_property_readonly("num_levels", &SemiRegularMesh::num_levels, "Rounds of splitting.");
    m.def(
        "make_semi_regular",
        [](const std::string& name, int levels) {
            return std::make_shared<SemiRegularMesh>(make_semi_regular(name, levels));
        },
        py::arg("name"), py::arg("levels") = -1, Unlocked(),
        "A procedural shape with its levels: nodule, kidney, spatula, rabbit, …");
    m.def(
        "remesh",
        [](const SurfaceArgument& surface, int base_vertices, int levels,
           const ProgressArgument& progress) {
            const SurfaceInput input(surface);
            return std::make_shared<SemiRegularMesh>(run_long(progress, [&](Progress& shown) {
                return remesh(input.load(shown), {.base_vertices = base_vertices, .levels = levels},
                              shown);
            }));
        },
        py::arg("surface"), py::arg("base_vertices") = 150, py::arg("levels") = 3,
        py::arg("progress") = py::none(),
        "A closed surface (mesh, file or name of a shape) on levels: base_vertices of the coarsest "
        "one, 4 or more, and more where topology needs them; levels: rounds of splitting its "
        "triangles in four, 0: none.");
}

}  // namespace

void bind_meshing(py::module_& m) {
    bind_volume(m);
    bind_meshers(m);
    bind_levels(m);
}

}  // namespace pliant::python
