#pragma once

#include "arguments.h"
#include "pliant/geometry/mesh_io.h"

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

}  // namespace pliant::python
