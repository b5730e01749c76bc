#pragma once

#include "arguments.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/selection.h"

namespace pliant::python {

[[nodiscard]] Shape rows_of(std::size_t count, py::ssize_t columns);
/// (2, 3): lowest and highest corner.
[[nodiscard]] py::array box_array(const Box& box);
/// Without a copy; `self` holds them.
[[nodiscard]] py::array vertices_view(const py::object& self,
                                      const std::vector<Eigen::Vector3d>& vertices);
/// A dictionary of arrays with `count` numbers or vectors each.
[[nodiscard]] std::vector<DataArray> data_arrays(const py::object& data, const char* name,
                                                 std::size_t count);

/// What surfaces and volumes have in common: vertices, their box, selections.
template <class Mesh>
void bind_vertices(py::class_<Mesh, std::shared_ptr<Mesh>>& mesh_class) {
    mesh_class
        .def_property_readonly(
            "vertices",
            [](const py::object& self) {
                return vertices_view(self, self.cast<const Mesh&>().vertices);
            },
            "(n, 3) float64 [m], no copy.")
        .def_property_readonly("num_vertices", &Mesh::num_vertices, "n.")
        .def_property_readonly(
            "bounds", [](const Mesh& mesh) { return box_array(bounding_box(mesh.vertices)); },
            "(2, 3): lowest and highest corner [m].")
        .def(
            "select",
            [](const Mesh& mesh, const std::string& selection) {
                const std::vector<int> found = select_some(selection, mesh.vertices, "selection");
                return array_of<int>(found, {static_cast<py::ssize_t>(found.size())});
            },
            py::arg("selection"),
            "Vertices of a selection, as \"z < 5 %\" or \"sphere 0 0 1 0.1\".");
}

/// `save_plain` as its extension says; with data as VTU.
template <class Mesh>
void save_mesh(const Mesh& mesh, std::size_t num_cells, const std::filesystem::path& path,
               const py::object& point_data, const py::object& cell_data,
               void (*save_plain)(const Mesh&, const std::filesystem::path&)) {
    if (point_data.is_none() && cell_data.is_none()) {
        const py::gil_scoped_release release;
        return save_plain(mesh, path);
    }
    if (path.extension() != ".vtu")
        refuse("path", py::str(path.string()), ".vtu, which holds data");
    const std::vector<DataArray> of_points =
        data_arrays(point_data, "point_data", mesh.vertices.size());
    const std::vector<DataArray> of_cells = data_arrays(cell_data, "cell_data", num_cells);
    const py::gil_scoped_release release;
    save_vtu(mesh, path, of_points, of_cells);
}

}  // namespace pliant::python
