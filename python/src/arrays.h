#pragma once

#include "pliant/core/pose.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace py = pybind11;

namespace pliant::python {

using Shape = std::vector<py::ssize_t>;  ///< −1: any extent

/// `float64 array of shape (4, 2)`, or the type of what is no array.
[[nodiscard]] std::string describe(py::handle value);
/// Throws InputError: `vertices = float64 array of shape (4, 2) (expected …)`.
[[noreturn]] void refuse(const std::string& name, py::handle value, const std::string& expected);

// Numbers of a given shape; converted where it loses nothing, refused by name otherwise.
[[nodiscard]] py::array_t<double> real_array(py::handle value, const std::string& name,
                                             const Shape& shape);
[[nodiscard]] py::array_t<int> index_array(py::handle value, const std::string& name,
                                           const Shape& shape);
/// (n, 3) numbers.
[[nodiscard]] std::vector<Eigen::Vector3d> points_of(py::handle value, const std::string& name);
[[nodiscard]] Eigen::Vector3d vector_of(py::handle value, const std::string& name);
/// Any shape with that many numbers in all.
[[nodiscard]] Eigen::VectorXd reals_of(py::handle value, const std::string& name,
                                       py::ssize_t count);
[[nodiscard]] double number_of(py::handle value, const std::string& name);

// Things in lists, refused by name where there is no list.
/// Whether it is an integer of Python or NumPy, or an array of one.
[[nodiscard]] bool is_integer(py::handle value);
/// Throws InputError unless 0 ≤ i < count.
void check_index(std::string_view name, py::ssize_t i, py::ssize_t count);
/// An integer in that range.
[[nodiscard]] int index_of(py::handle value, const std::string& name, py::ssize_t count);
[[nodiscard]] bool is_pair(py::handle value);
[[nodiscard]] std::array<py::object, 2> pair_of(py::handle value, const std::string& name,
                                                const std::string& expected);
[[nodiscard]] std::vector<py::object> items_of(py::handle value, const std::string& name,
                                               const std::string& expected);
/// pybind11 takes None for any of them.
template <class Thing>
void check_all(const std::vector<std::shared_ptr<Thing>>& things, const std::string& name,
               const std::string& expected) {
    for (std::size_t i = 0; i < things.size(); ++i)
        if (!things[i]) refuse(name + "[" + std::to_string(i) + "]", py::none(), expected);
}

/// Of these numbers where they are: no copy. `owner` lives as long as the array.
template <class T>
[[nodiscard]] py::array view_of(const T* data, const Shape& shape, py::handle owner,
                                bool is_writable = false) {
    py::array array(py::dtype::of<T>(), shape, data, owner);
    if (!is_writable)
        py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}
/// Numbers that an array and the library share.
template <class T>
using Shared = std::shared_ptr<std::vector<T>>;
template <class T>
[[nodiscard]] py::array view_of(const Shared<T>& numbers, const Shape& shape, bool is_writable) {
    const py::capsule owner(new Shared<T>(numbers),
                            [](void* kept) { delete static_cast<Shared<T>*>(kept); });
    return view_of(numbers->data(), shape, owner, is_writable);
}
/// A copy, shared with nobody.
template <class T>
[[nodiscard]] py::array array_of(std::span<const T> numbers, const Shape& shape) {
    return py::array(py::dtype::of<T>(), shape, numbers.data());
}
[[nodiscard]] py::array array_of(const Eigen::VectorXd& numbers);
[[nodiscard]] py::array array_of(const std::vector<Eigen::Vector3d>& points);

/// A Python object whose type the stubs call by another name; what it may be is checked where it
/// is used.
inline bool is_anything(PyObject* /*object*/) { return true; }
// NOLINTBEGIN(bugprone-macro-parentheses): names of classes
#define PLIANT_ARGUMENT(Name)                                          \
    class Name : public py::object {                                   \
        PYBIND11_OBJECT(Name, py::object, pliant::python::is_anything) \
    }
// NOLINTEND(bugprone-macro-parentheses)
PLIANT_ARGUMENT(ArrayArgument);
PLIANT_ARGUMENT(SurfaceArgument);
PLIANT_ARGUMENT(VolumeArgument);
PLIANT_ARGUMENT(MaterialArgument);
PLIANT_ARGUMENT(PointArgument);
PLIANT_ARGUMENT(ProgressArgument);
PLIANT_ARGUMENT(CacheArgument);
PLIANT_ARGUMENT(PoseArgument);

/// Of a property: writes a member that is a vector.
template <class Class>
[[nodiscard]] auto vector_setter(Eigen::Vector3d Class::*member, const char* name) {
    return [=](Class& self, const ArrayArgument& value) { self.*member = vector_of(value, name); };
}

}  // namespace pliant::python

namespace pybind11::detail {

#define PLIANT_ARGUMENT_NAME(Name, text)               \
    template <>                                        \
    struct handle_type_name<pliant::python::Name> {    \
        static constexpr auto name = const_name(text); \
    }
PLIANT_ARGUMENT_NAME(ArrayArgument, "ArrayLike");
PLIANT_ARGUMENT_NAME(SurfaceArgument, "SurfaceLike");
PLIANT_ARGUMENT_NAME(VolumeArgument, "VolumeLike");
PLIANT_ARGUMENT_NAME(MaterialArgument, "MaterialLike");
PLIANT_ARGUMENT_NAME(PointArgument, "PointLike");
PLIANT_ARGUMENT_NAME(ProgressArgument, "ProgressLike");
PLIANT_ARGUMENT_NAME(CacheArgument, "CacheLike");
PLIANT_ARGUMENT_NAME(PoseArgument, "PoseLike");

/// An array out, and nothing in: arguments go through vector_of, which says their name.
template <>
struct type_caster<Eigen::Vector3d> {
    PYBIND11_TYPE_CASTER(Eigen::Vector3d, const_name("ArrayLike"));
    static handle cast(const Eigen::Vector3d& v, return_value_policy /*policy*/,
                       handle /*parent*/) {
        return array_t<double>(3, v.data()).release();
    }
};

}  // namespace pybind11::detail
