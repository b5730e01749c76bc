#include "arrays.h"

#include "pliant/core/error.h"

namespace pliant::python {
namespace {

std::string shape_text(const Shape& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i > 0 ? ", " : "") + (shape[i] < 0 ? std::string("n") : std::to_string(shape[i]));
    return text + (shape.size() == 1 ? ",)" : ")");
}

bool has_shape(const py::array& array, const Shape& shape) {
    if (array.ndim() != static_cast<py::ssize_t>(shape.size())) return false;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] >= 0 && array.shape(static_cast<py::ssize_t>(i)) != shape[i]) return false;
    return true;
}

/// Of these kinds of numbers (NumPy's letters) and this shape.
py::array checked(py::handle value, const std::string& name, const Shape& shape,
                  std::string_view kinds, const std::string& expected) {
    py::array array = py::array::ensure(value);
    // an empty list has no kind of its own
    const bool is_good = array && has_shape(array, shape) &&
                         (array.size() == 0 || kinds.find(array.dtype().kind()) != kinds.npos);
    if (!is_good) {
        PyErr_Clear();
        refuse(name, value, expected + " of shape " + shape_text(shape));
    }
    return array;
}

}  // namespace

std::string describe(py::handle value) {
    const py::array array = py::array::ensure(value);
    PyErr_Clear();
    if (!array || array.dtype().kind() == 'O') return py::str(py::type::of(value).attr("__name__"));
    if (array.ndim() == 0) return py::str(value);
    Shape shape(array.shape(), array.shape() + array.ndim());
    return std::string(py::str(array.dtype())) + " array of shape " + shape_text(shape);
}

void refuse(const std::string& name, py::handle value, const std::string& expected) {
    throw InputError("", name, describe(value), expected);
}

py::array_t<double> real_array(py::handle value, const std::string& name, const Shape& shape) {
    return py::array_t<double, py::array::c_style | py::array::forcecast>(
        checked(value, name, shape, "fiub", "numbers"));
}

py::array_t<int> index_array(py::handle value, const std::string& name, const Shape& shape) {
    const py::array array = checked(value, name, shape, "iu", "integers");
    // longer ones would lose their upper half
    for (const char* const end : {"min", "max"}) {
        if (array.size() == 0) break;
        const py::int_ number(array.attr(end)());
        int overflow = 0;
        const long read = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
        if (overflow != 0 || read != static_cast<int>(read))
            refuse(name, number, "integers of 32 bits");
    }
    return py::array_t<int, py::array::c_style | py::array::forcecast>(array);
}

std::vector<Eigen::Vector3d> points_of(py::handle value, const std::string& name) {
    const py::array_t<double> array = real_array(value, name, {-1, 3});
    std::vector<Eigen::Vector3d> points(static_cast<std::size_t>(array.shape(0)));
    for (std::size_t i = 0; i < points.size(); ++i)
        points[i] = Eigen::Map<const Eigen::Vector3d>(array.data() + 3 * i);
    return points;
}

Eigen::Vector3d vector_of(py::handle value, const std::string& name) {
    // the usual ones without a detour
    PyObject* const object = value.ptr();
    if (PyTuple_Check(object) && PyTuple_GET_SIZE(object) == 3) {
        Eigen::Vector3d v;
        bool is_plain = true;
        for (int i = 0; i < 3; ++i) {
            PyObject* const item = PyTuple_GET_ITEM(object, i);
            is_plain = PyFloat_Check(item) || PyLong_Check(item);
            if (!is_plain) break;
            v[i] = PyFloat_AsDouble(item);
            // integers have no bounds
            if (v[i] == -1 && PyErr_Occurred() != nullptr) {
                PyErr_Clear();
                refuse(name + "[" + std::to_string(i) + "]", item, "a number up to 1.8e308");
            }
        }
        if (is_plain) return v;
    } else if (py::isinstance<py::array_t<double>>(value)) {
        const auto array = py::reinterpret_borrow<py::array_t<double>>(value);
        if (array.ndim() == 1 && array.shape(0) == 3)
            return {array.at(0), array.at(1), array.at(2)};
    }
    return Eigen::Map<const Eigen::Vector3d>(real_array(value, name, {3}).data());
}

Eigen::VectorXd reals_of(py::handle value, const std::string& name, py::ssize_t count) {
    const py::array array = py::array::ensure(value);
    PyErr_Clear();
    const std::string kinds = "fiub";
    if (!array || array.size() != count || kinds.find(array.dtype().kind()) == kinds.npos)
        refuse(name, value, std::to_string(count) + " numbers");
    const py::array_t<double, py::array::c_style | py::array::forcecast> reals(array);
    return Eigen::Map<const Eigen::VectorXd>(reals.data(), count);
}

double number_of(py::handle value, const std::string& name) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        refuse(name, value, "a number");
    }
    return number;
}

bool is_integer(py::handle value) {
    if (PyIndex_Check(value.ptr()) == 0) return false;
    // an array of several claims to be one, and fails
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    PyErr_Clear();
    return static_cast<bool>(index);
}

void check_index(std::string_view name, py::ssize_t i, py::ssize_t count) {
    if (i < 0 || i >= count)
        throw InputError("", std::string(name), std::to_string(i),
                         "0 … " + std::to_string(count - 1));
}

int index_of(py::handle value, const std::string& name, py::ssize_t count) {
    if (!is_integer(value)) refuse(name, value, "an integer");
    const py::ssize_t i = PyNumber_AsSsize_t(value.ptr(), nullptr);
    check_index(name, i, count);
    return static_cast<int>(i);
}

bool is_pair(py::handle value) {
    return py::isinstance<py::sequence>(value) && py::len_hint(value) == 2;
}

std::array<py::object, 2> pair_of(py::handle value, const std::string& name,
                                  const std::string& expected) {
    if (!is_pair(value)) refuse(name, value, expected);
    const auto parts = py::reinterpret_borrow<py::sequence>(value);
    return {parts[0], parts[1]};
}

std::vector<py::object> items_of(py::handle value, const std::string& name,
                                 const std::string& expected) {
    if (!py::isinstance<py::iterable>(value)) refuse(name, value, expected);
    std::vector<py::object> items;
    for (const py::handle item : value) items.push_back(py::reinterpret_borrow<py::object>(item));
    return items;
}

py::array array_of(const Eigen::VectorXd& numbers) {
    return py::array_t<double>(numbers.size(), numbers.data());
}

py::array array_of(const std::vector<Eigen::Vector3d>& points) {
    const auto* const data = reinterpret_cast<const double*>(points.data());
    return py::array_t<double>({static_cast<py::ssize_t>(points.size()), py::ssize_t{3}}, data);
}

}  // namespace pliant::python
