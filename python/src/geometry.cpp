#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/archive.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/picture.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/geometry/surface_query.h"

namespace pliant::python {

Shape rows_of(std::size_t count, py::ssize_t columns) {
    return {static_cast<py::ssize_t>(count), columns};
}

py::array box_array(const Box& box) {
    const std::vector<Eigen::Vector3d> corners{box.min(), box.max()};
    return array_of(corners);
}

py::array vertices_view(const py::object& self, const std::vector<Eigen::Vector3d>& vertices) {
    return view_of(reinterpret_cast<const double*>(vertices.data()), rows_of(vertices.size(), 3),
                   self);
}

std::vector<DataArray> data_arrays(const py::object& data, const char* name, std::size_t count) {
    std::vector<DataArray> arrays;
    if (data.is_none()) return arrays;
    if (!py::isinstance<py::dict>(data)) refuse(name, data, "a dictionary of arrays by name");
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(data)) {
        const py::array array = py::array::ensure(value);
        const bool is_vector = array && array.ndim() == 2;
        const Shape shape = is_vector ? rows_of(count, 3) : Shape{static_cast<py::ssize_t>(count)};
        const std::string key_text = py::str(key);
        const py::array_t<double> numbers =
            real_array(value, std::string(name) + "[\"" + key_text + "\"]", shape);
        arrays.push_back(
            {key_text, is_vector ? 3 : 1, {numbers.data(), numbers.data() + numbers.size()}});
    }
    return arrays;
}

namespace {

std::shared_ptr<SurfaceMesh> make_surface(const ArrayArgument& vertices,
                                          const ArrayArgument& triangles) {
    auto mesh = std::make_shared<SurfaceMesh>();
    mesh->vertices = points_of(vertices, "vertices");
    const py::array_t<int> indices = index_array(triangles, "triangles", {-1, 3});
    mesh->triangles.resize(static_cast<std::size_t>(indices.shape(0)));
    for (std::size_t i = 0; i < mesh->triangles.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            const int vertex = indices.data()[3 * i + k];
            if (vertex < 0 || vertex >= mesh->num_vertices())
                refuse("triangles[" + std::to_string(i) + "]", py::int_(vertex),
                       "0 … " + std::to_string(mesh->num_vertices() - 1));
            mesh->triangles[i][k] = vertex;
        }
    return mesh;
}

void bind_surface_reports(py::module_& m) {
    py::class_<SurfaceReport>(m, "SurfaceReport", "What is wrong, or right, with a surface.")
        .def_readonly("num_vertices", &SurfaceReport::num_vertices, "Vertices.")
        .def_readonly("num_triangles", &SurfaceReport::num_triangles, "Triangles.")
        .def_readonly("num_components", &SurfaceReport::num_components,
                      "Parts that do not hang together.")
        .def_readonly("euler_number", &SurfaceReport::euler_number,
                      "Vertices less edges plus triangles: 2 for a closed surface without handles.")
        .def_readonly("inside_out", &SurfaceReport::is_inside_out,
                      "Closed and consistent, but of negative volume.")
        .def_readonly("area", &SurfaceReport::area, "[m²]")
        .def_readonly("volume", &SurfaceReport::volume, "[m³], only when closed")
        .def_property_readonly("is_closed", &SurfaceReport::is_closed,
                               "No open or non-manifold edge, consistent orientation.")
        .def_property_readonly("is_manifold", &SurfaceReport::is_manifold,
                               "Closed or with a border, every vertex one fan.")
        .def_property_readonly("is_clean", &SurfaceReport::is_clean,
                               "Nothing at all is to be reported.")
        .def("__str__", [](const SurfaceReport& report) {
            return report.is_clean() ? std::string("clean") : report.text();
        });
    py::class_<RepairReport>(m, "RepairReport", "What a repair changed.")
        .def_readonly("welded_vertices", &RepairReport::welded_vertices,
                      "Vertices that became one with another.")
        .def_readonly("removed_vertices", &RepairReport::removed_vertices,
                      "Vertices that nothing used.")
        .def_readonly("removed_degenerate", &RepairReport::removed_degenerate,
                      "Triangles with a repeated corner or without area.")
        .def_readonly("removed_duplicate", &RepairReport::removed_duplicate,
                      "Triangles that were there twice.")
        .def_readonly("removed_invalid", &RepairReport::removed_invalid,
                      "Triangles with corners that do not exist.")
        .def_readonly("flipped_triangles", &RepairReport::flipped_triangles,
                      "Triangles turned over.")
        .def_property_readonly("changed", &RepairReport::has_changed,
                               "Whether anything was changed.")
        .def("__str__", &RepairReport::text);
}

void bind_surface(py::module_& m) {
    using Mesh = SurfaceMesh;
    py::class_<Mesh, std::shared_ptr<Mesh>> surface(
        m, "SurfaceMesh", "Indexed triangles, anticlockwise seen from outside. Cannot be changed.");
    surface.def(py::init(&make_surface), py::arg("vertices"), py::arg("triangles"),
                "vertices: (n, 3) numbers [m]; triangles: (m, 3) integers.");
    bind_vertices(surface);
    surface
        .def_property_readonly(
            "triangles",
            [](const py::object& self) {
                const auto& triangles = self.cast<const Mesh&>().triangles;
                return view_of(reinterpret_cast<const int*>(triangles.data()),
                               rows_of(triangles.size(), 3), self);
            },
            "(m, 3) int32, no copy.")
        .def_property_readonly("num_triangles", &Mesh::num_triangles, "m.")
        .def_property_readonly("area", &surface_area, "[m²]")
        .def_property_readonly("volume", &enclosed_volume, "Of a closed surface [m³].")
        .def(
            "face_normals", [](const Mesh& mesh) { return array_of(face_normals(mesh)); },
            "(m, 3), unit.")
        .def(
            "vertex_normals", [](const Mesh& mesh) { return array_of(vertex_normals(mesh)); },
            "(n, 3), unit, weighted by angle.")
        .def("check", &check_surface, Unlocked(), "What is wrong with it.")
        .def(
            "repaired",
            [](const Mesh& mesh, double weld_distance) {
                auto copy = std::make_shared<Mesh>(mesh);
                const RepairReport report = repair_surface(*copy, {.weld_distance = weld_distance});
                return std::make_pair(copy, report);
            },
            py::arg("weld_distance") = RepairOptions{}.weld_distance, Unlocked(),
            "Welded, cleaned and oriented, and what was done; vertices closer than weld_distance "
            "times the diagonal of the box become one.")
        .def(
            "scaled",
            [](const Mesh& mesh, double size) {
                auto copy = std::make_shared<Mesh>(mesh);
                if (!(size > 0)) refuse("size", py::float_(size), "above 0 m");
                scale_to_size(*copy, size);
                return copy;
            },
            py::arg("size"), "With a longest side of so many metres, about the same centre.")
        .def(
            "joined",
            [](const Mesh& mesh, const Mesh& other) {
                auto copy = std::make_shared<Mesh>(mesh);
                append(*copy, other);
                return copy;
            },
            py::arg("other"), "Both as one mesh.")
        .def(
            "moved",
            [](const Mesh& mesh, const PoseArgument& pose) {
                auto copy = std::make_shared<Mesh>(mesh);
                const Pose to = pose_of(pose);
                for (Eigen::Vector3d& x : copy->vertices) x = to.to_world(x);
                return copy;
            },
            py::arg("pose"), "At a pose.")
        .def(
            "topmost",
            [](const Mesh& mesh) {
                if (mesh.vertices.empty()) throw py::index_error("the surface has no vertex");
                const auto lower = [](const auto& a, const auto& b) { return a.z() < b.z(); };
                return std::max_element(mesh.vertices.begin(), mesh.vertices.end(), lower) -
                       mesh.vertices.begin();
            },
            "The vertex with the largest z.")
        .def(
            "save",
            [](const Mesh& mesh, const std::filesystem::path& path, const py::object& point_data,
               const py::object& cell_data) {
                save_mesh(mesh, mesh.triangles.size(), path, point_data, cell_data, &save_surface);
            },
            py::arg("path"), py::arg("point_data") = py::none(), py::arg("cell_data") = py::none(),
            "As OBJ, PLY, STL or VTU, by extension. VTU takes named arrays of numbers or vectors.")
        .def("__repr__", [](const Mesh& mesh) {
            return "<SurfaceMesh of " + std::to_string(mesh.num_vertices()) + " vertices, " +
                   std::to_string(mesh.num_triangles()) + " triangles>";
        });
    m.def(
        "load_surface",
        [](const std::filesystem::path& path) {
            return std::make_shared<Mesh>(load_surface(path));
        },
        py::arg("path"), Unlocked(), "From OBJ, PLY, STL, OFF, or the boundary of a volume mesh.");
}

void bind_query(py::module_& m) {
    py::class_<SurfaceQuery>(m, "SurfaceQuery", "Distances and rays; many points at once.")
        .def(py::init([](const SurfaceMesh& mesh) {
                 const py::gil_scoped_release release;
                 return std::make_unique<SurfaceQuery>(mesh);
             }),
             py::arg("mesh"), "Keeps its own copy of the mesh.")
        .def(
            "signed_distance",
            [](const SurfaceQuery& query, const ArrayArgument& points) {
                const auto x = points_of(points, "points");
                std::vector<double> d(x.size());
                {
                    const py::gil_scoped_release release;
                    for (std::size_t i = 0; i < x.size(); ++i) d[i] = query.signed_distance(x[i]);
                }
                return array_of<double>(d, {static_cast<py::ssize_t>(d.size())});
            },
            py::arg("points"), "(n,) [m], negative inside.")
        .def(
            "closest",
            [](const SurfaceQuery& query, const ArrayArgument& points) {
                const auto x = points_of(points, "points");
                std::vector<Eigen::Vector3d> found(x.size()), weights(x.size());
                std::vector<int> triangles(x.size());
                {
                    const py::gil_scoped_release release;
                    for (std::size_t i = 0; i < x.size(); ++i) {
                        const ClosestPoint closest = query.closest(x[i]);
                        found[i] = closest.point;
                        triangles[i] = closest.triangle;
                        weights[i] = closest.barycentric;
                    }
                }
                return py::make_tuple(
                    array_of(found),
                    array_of<int>(triangles, {static_cast<py::ssize_t>(triangles.size())}),
                    array_of(weights));
            },
            py::arg("points"),
            "Nearest places (n, 3) [m], their triangles (n,) and weights (n, 3).")
        .def(
            "ray",
            [](const SurfaceQuery& query, const ArrayArgument& origin,
               const ArrayArgument& direction) -> py::object {
                const auto hit =
                    query.ray(vector_of(origin, "origin"), vector_of(direction, "direction"));
                if (!hit) return py::none();
                return py::make_tuple(hit->t, hit->triangle, hit->barycentric);
            },
            py::arg("origin"), py::arg("direction"),
            "First hit: t along the direction, triangle and weights, or None.");
}

/// Of pictures, whose buffers take some 35 bytes a pixel.
void check_sides(int width, int height) {
    constexpr int kMaxSide = 16384, kMaxPixels = 1 << 26;
    for (const auto& [name, side] : {std::pair("width", width), std::pair("height", height)})
        if (side < 1 || side > kMaxSide)
            throw InputError("", name, std::to_string(side),
                             "1 to " + std::to_string(kMaxSide) + " pixels");
    if (width > kMaxPixels / height)
        throw InputError("", "height", std::to_string(height),
                         "at most " + std::to_string(kMaxPixels / width) + " pixels for " +
                             std::to_string(width) + " of width");
}

void bind_shapes(py::module_& m) {
    py::class_<ShapeInfo>(m, "ShapeInfo", "A procedural shape.")
        .def_readonly("name", &ShapeInfo::name, "For make_shape.")
        .def_readonly("description", &ShapeInfo::description, "What it is.")
        .def_readonly("size", &ShapeInfo::size, "Longest side [m].")
        .def_readonly("azimuth", &ShapeInfo::azimuth, "To see it from [degrees].")
        .def_readonly("elevation", &ShapeInfo::elevation, "[degrees]")
        .def_property_readonly(
            "is_closed", [](const ShapeInfo& info) { return info.kind == ShapeKind::Closed; },
            "Whether it has an inside.")
        .def("__repr__", [](const ShapeInfo& info) { return "<shape " + info.name + ">"; });
    m.def("shape_list", &shape_list, "All procedural shapes.");
    m.def(
        "make_shape",
        [](const std::string& name, int resolution, const ProgressArgument& progress) {
            return std::make_shared<SurfaceMesh>(run_long(
                progress, [&](Progress& shown) { return make_shape(name, resolution, shown); }));
        },
        py::arg("name"), py::arg("resolution") = 0, py::arg("progress") = py::none(),
        "A procedural shape; resolution 0: its default.");
    m.def(
        "render",
        [](const SurfaceMesh& mesh, int width, int height, double azimuth, double elevation,
           bool wireframe, const py::object& colors) {
            check_sides(width, height);
            std::vector<Eigen::Vector3f> rgb;
            if (!colors.is_none()) {
                const py::array_t<double> c =
                    real_array(colors, "colors", {mesh.num_vertices(), 3});
                for (py::ssize_t i = 0; i < c.shape(0); ++i)
                    rgb.push_back(
                        Eigen::Vector3d(c.at(i, 0), c.at(i, 1), c.at(i, 2)).cast<float>());
            }
            Picture picture;
            {
                const py::gil_scoped_release release;
                picture = render(mesh,
                                 {.width = width,
                                  .height = height,
                                  .azimuth = azimuth,
                                  .elevation = elevation,
                                  .has_wireframe = wireframe},
                                 rgb);
            }
            return array_of<std::uint8_t>(picture.rgb, {picture.height, picture.width, 3});
        },
        py::arg("mesh"), py::arg("width") = 640, py::arg("height") = 480, py::arg("azimuth") = 35.0,
        py::arg("elevation") = 20.0, py::arg("wireframe") = false, py::arg("colors") = py::none(),
        "A picture, (height, width, 3) uint8, of 1 to 16384 pixels along each side; angles in "
        "degrees; colors of vertices (n, 3) from 0 to 1.");
}

}  // namespace

void bind_geometry(py::module_& m) {
    bind_surface_reports(m);
    bind_surface(m);
    bind_query(m);
    bind_shapes(m);
    m.def(
        "archive_kind", [](const std::filesystem::path& path) { return Archive(path).kind(); },
        py::arg("path"), "What a .pliant file holds: \"reduced-model\", …");
}

}  // namespace pliant::python
