#include "body_handle.h"

#include "pliant/core/error.h"
#include "pliant/core/parallel.h"
#include "pliant/core/progress.h"
#include "pliant/core/version.h"

namespace pliant::python {
namespace {

// they live as long as the interpreter
PyObject* input_error_type = nullptr;
PyObject* cancelled_type = nullptr;

PyObject* add_exception(py::module_& m, const char* name, const char* doc, PyObject* base) {
    PyObject* const type =
        PyErr_NewExceptionWithDoc((std::string("pliant.") + name).c_str(), doc, base, nullptr);
    m.add_object(name, py::reinterpret_borrow<py::object>(type));
    return type;
}

void set_input_error(const InputError& error) {
    const py::object instance =
        py::reinterpret_borrow<py::object>(input_error_type)(std::string(error.what()));
    instance.attr("file") = error.file();
    instance.attr("field") = error.field();
    instance.attr("value") = error.value();
    instance.attr("expected") = error.expected();
    PyErr_SetObject(input_error_type, instance.ptr());
}

void bind_errors(py::module_& m) {
    input_error_type = add_exception(m, "InputError",
                                     "A file, option or array that cannot be used: what it is and "
                                     "what was expected. Has file, field, value and expected.",
                                     PyExc_ValueError);
    cancelled_type = add_exception(
        m, "Cancelled", "A long call that its progress function ended by returning False.",
        PyExc_RuntimeError);
    // NOLINTNEXTLINE(performance-unnecessary-value-param): as pybind11 calls it
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const InputError& error) {
            set_input_error(error);
        } catch (const Cancelled& error) {
            PyErr_SetString(cancelled_type, error.what());
        }
    });
}

std::string pose_text(const Pose& pose) {
    return py::str("Pose(position={}, rotation={})")
        .format(py::cast(pose.position), quaternion_array(pose.rotation));
}

}  // namespace

void bind_core(py::module_& m) {
    bind_errors(m);
    m.attr("__version__") = kVersion;
    m.def("set_num_threads", &set_num_threads, py::arg("num_threads"),
          "Threads of builds and large bodies; 0: all cores. Results never depend on it.");
    m.def("num_threads", &num_threads, "Threads in use.");

    py::enum_<StepStatus>(m, "StepStatus", "What happened inside one step; it never throws.")
        .value("Ok", StepStatus::Ok)
        .value("NotConverged", StepStatus::NotConverged, "best iterate kept")
        .value("StepRejected", StepStatus::StepRejected, "previous state kept")
        .value("StateReset", StepStatus::StateReset, "state was not finite and set back to rest")
        .value("InputIgnored", StepStatus::InputIgnored, "non-finite force, pose or time dropped")
        .value("CapacityExceeded", StepStatus::CapacityExceeded,
               "more items than there is room for");

    py::class_<Pose>(
        m, "Pose",
        "Place of a frame in the world: x_world = R x_body + position [m]; rotation is "
        "a quaternion (w, x, y, z).")
        .def(py::init([](const ArrayArgument& position, const ArrayArgument& rotation) {
                 Pose pose;
                 pose.position = vector_of(position, "position");
                 pose.rotation = quaternion_of(rotation, "rotation");
                 return pose;
             }),
             py::arg("position") = py::make_tuple(0, 0, 0),
             py::arg("rotation") = py::make_tuple(1, 0, 0, 0),
             "position [m]; rotation: quaternion (w, x, y, z), made a unit one.")
        .def_static(
            "rotated",
            [](const ArrayArgument& vector, const ArrayArgument& position) {
                return Pose{vector_of(position, "position"),
                            rotation_from_vector(vector_of(vector, "vector"))};
            },
            py::arg("vector"), py::arg("position") = py::make_tuple(0, 0, 0),
            "By a rotation vector [rad].")
        .def_property(
            "position", [](const Pose& pose) { return pose.position; },
            vector_setter(&Pose::position, "position"), "[m]")
        .def_property(
            "rotation", [](const Pose& pose) { return quaternion_array(pose.rotation); },
            [](Pose& pose, const ArrayArgument& q) {
                pose.rotation = quaternion_of(q, "rotation");
            },
            "Unit quaternion (w, x, y, z).")
        .def_property_readonly(
            "rotation_vector", [](const Pose& pose) { return rotation_vector(pose.rotation); },
            "[rad]")
        .def(
            "to_world",
            [](const Pose& pose, const ArrayArgument& x) {
                return pose.to_world(vector_of(x, "x_body"));
            },
            py::arg("x_body"), "A point of the body in the world [m].")
        .def(
            "to_body",
            [](const Pose& pose, const ArrayArgument& x) {
                return pose.to_body(vector_of(x, "x_world"));
            },
            py::arg("x_world"), "A point of the world in the body [m].")
        .def("inverse", &Pose::inverse, "From the world to the body.")
        .def(
            "__matmul__", [](const Pose& a, const Pose& b) { return a * b; }, py::arg("other"),
            "First the other, then this.")
        .def("__repr__", &pose_text);

    py::class_<Twist>(m, "Twist", "Velocity of a rigid body in world axes.")
        .def(py::init<>(), "At rest.")
        .def(py::init([](const ArrayArgument& linear, const ArrayArgument& angular) {
                 return Twist{vector_of(linear, "linear"), vector_of(angular, "angular")};
             }),
             py::arg("linear"), py::arg("angular") = py::make_tuple(0, 0, 0),
             "linear [m/s], angular [rad/s].")
        .def_property(
            "linear", [](const Twist& twist) { return twist.linear; },
            vector_setter(&Twist::linear, "linear"), "Of the frame's origin [m/s].")
        .def_property(
            "angular", [](const Twist& twist) { return twist.angular; },
            vector_setter(&Twist::angular, "angular"), "[rad/s]");
    py::class_<Wrench>(m, "Wrench", "Force and torque in world axes.")
        .def(py::init([](const ArrayArgument& force, const ArrayArgument& torque) {
                 return Wrench{vector_of(force, "force"), vector_of(torque, "torque")};
             }),
             py::arg("force") = py::make_tuple(0, 0, 0),
             py::arg("torque") = py::make_tuple(0, 0, 0), "force [N], torque [N m].")
        .def_property(
            "force", [](const Wrench& wrench) { return wrench.force; },
            vector_setter(&Wrench::force, "force"), "[N]")
        .def_property(
            "torque", [](const Wrench& wrench) { return wrench.torque; },
            vector_setter(&Wrench::torque, "torque"), "[N m]")
        .def("__repr__", [](const Wrench& wrench) -> std::string {
            return py::str("Wrench(force={}, torque={})")
                .format(py::cast(wrench.force), py::cast(wrench.torque));
        });
}

}  // namespace pliant::python

PYBIND11_MODULE(_core, m) {
    using namespace pliant::python;
    // stubs and help say the types without the name of this part
    m.attr("__name__") = "pliant._core";
    m.doc() = "Deformable objects you can touch. SI units, z up, quaternions (w, x, y, z).";
    bind_core(m);
    bind_geometry(m);
    bind_meshing(m);
    bind_body(m);
    bind_rigid(m);
    bind_fem(m);
    bind_reduced(m);
    bind_greens(m);
    bind_greens_levels(m);
    bind_greens_measured(m);
    bind_zones(m);
    bind_particles(m);
    bind_field(m);
    bind_contact(m);
    bind_contact_solver(m);
    bind_devices(m);
    bind_haptics(m);
    bind_sphere_tools(m);
    bind_scene(m);
    bind_recording(m);
    bind_viewer(m);
}
