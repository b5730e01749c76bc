#include "device_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/body/scripted_motion.h"
#include "pliant/core/error.h"
#include "pliant/haptics/oscillation.h"
#include "pliant/haptics/recorded_device.h"
#include "pliant/haptics/scripted_device.h"
#include "pliant/haptics/simulated_device.h"
#include "pliant/haptics/zwidth.h"

namespace pliant::python {
namespace {

void bind_device_values(py::module_& m) {
    py::enum_<DeviceStatus>(m, "DeviceStatus", "What a device says of itself.")
        .value("Ok", DeviceStatus::Ok)
        .value("Disabled", DeviceStatus::Disabled, "ready, motors off")
        .value("Stale", DeviceStatus::Stale, "no new data since the last read")
        .value("Disconnected", DeviceStatus::Disconnected, "gone; it may come back")
        .value("Uncalibrated", DeviceStatus::Uncalibrated, "does not know where it is: no force")
        .value("NoRotation", DeviceStatus::NoRotation,
               "the rest is new and good; the rotation is the last one that was");
    py::class_<DeviceCapabilities>(m, "DeviceCapabilities", "What a device is and can do.")
        .def(py::init<>(), "Of a desktop device; set what is otherwise.")
        .def_readwrite("name", &DeviceCapabilities::name, "For people.")
        .def_property(
            "workspace", [](const DeviceCapabilities& device) { return device.workspace; },
            vector_setter(&DeviceCapabilities::workspace, "workspace"), "Half sides [m].")
        .def_readwrite("max_force", &DeviceCapabilities::max_force, "[N]")
        .def_readwrite("max_torque", &DeviceCapabilities::max_torque, "[N m]")
        .def_readwrite("continuous_force", &DeviceCapabilities::continuous_force, "[N]")
        .def_readwrite("max_stiffness", &DeviceCapabilities::max_stiffness, "[N/m]")
        .def_readwrite("max_angular_stiffness", &DeviceCapabilities::max_angular_stiffness,
                       "[N m/rad]")
        .def_readwrite("damping", &DeviceCapabilities::damping, "[N s/m]")
        .def_readwrite("angular_damping", &DeviceCapabilities::angular_damping, "[N m s/rad]")
        .def_readwrite("delay", &DeviceCapabilities::delay, "Samples from a command to its force.")
        .def_readwrite("position_step", &DeviceCapabilities::position_step, "Of encoders [m].")
        .def_readwrite("angle_step", &DeviceCapabilities::angle_step, "[rad]");
    py::class_<DeviceState>(m, "DeviceState", "One reading of a device, axes of the device.")
        .def(py::init([](double time, const PoseArgument& pose, const Twist& twist,
                         std::uint32_t buttons) {
                 DeviceState state;
                 state.time = time;
                 state.pose = pose_of(pose);
                 state.twist = twist;
                 state.buttons = buttons;
                 return state;
             }),
             py::arg("time") = 0.0, py::arg("pose") = py::none(), py::arg("twist") = Twist{},
             py::arg("buttons") = 0,
             "time of the reading [s]; pose and twist of the handle; bit i of buttons: button i is "
             "down.")
        .def_readwrite("time", &DeviceState::time, "[s]")
        .def_readwrite("pose", &DeviceState::pose, "Of the handle.")
        .def_readwrite("twist", &DeviceState::twist,
                       "Of the handle; zero where the device does not say.")
        .def_readwrite("gripper", &DeviceState::gripper, "Opening, 0 to 1.")
        .def_readwrite("buttons", &DeviceState::buttons, "Bit i: button i is down.")
        .def_readwrite("status", &DeviceState::status, py::return_value_policy::copy,
                       "Whether the reading counts.")
        .def_readwrite("clock", &DeviceState::clock,
                       "When it was measured by the device's own clock, of which differences count "
                       "[s]; 0: it does not say.");
    py::class_<HandModel>(m, "HandModel", "A hand that holds a simulated device.")
        .def(py::init<>(), "Between loose and firm.")
        .def_static("loose", &HandModel::loose, "Soft springs: two fingers.")
        .def_static("firm", &HandModel::firm, "Stiff springs: a fist.")
        .def_static("absent", &HandModel::absent, "Nobody holds it.")
        .def_readwrite("stiffness", &HandModel::stiffness, "[N/m]")
        .def_readwrite("damping", &HandModel::damping, "[N s/m]")
        .def_readwrite("angular_stiffness", &HandModel::angular_stiffness, "[N m/rad]")
        .def_readwrite("angular_damping", &HandModel::angular_damping, "[N m s/rad]")
        .def_readwrite("mass", &HandModel::mass, "Of the fingers [kg].")
        .def_readwrite("tremor", &HandModel::tremor, "Amplitude of 8–12 Hz [m].");
    py::class_<DeviceModel>(m, "DeviceModel", "Mechanics and electronics of a simulated device.")
        .def(py::init<>(), "A light desktop device at 1 kHz.")
        .def_readwrite("capabilities", &DeviceModel::capabilities,
                       "Limits, encoder steps and axes.")
        .def_readwrite("mass", &DeviceModel::mass, "Felt at the handle [kg].")
        .def_readwrite("inertia", &DeviceModel::inertia, "[kg m²]")
        .def_readwrite("damping", &DeviceModel::damping, "[N s/m]")
        .def_readwrite("angular_damping", &DeviceModel::angular_damping, "[N m s/rad]")
        .def_readwrite("friction", &DeviceModel::friction, "Dry [N].")
        .def_readwrite("motor_bandwidth", &DeviceModel::motor_bandwidth, "[Hz]; 0: at once.")
        .def_readwrite("rate", &DeviceModel::rate, "[Hz]")
        .def_readwrite("delay", &DeviceModel::delay, "Whole samples.")
        .def_readwrite("seed", &DeviceModel::seed, "Of the tremor.");
}

void bind_devices_of_kinds(py::module_& m) {
    py::class_<HapticDevice, DevicePointer>(m, "HapticDevice",
                                            "A source of poses and a sink of forces.")
        .def_property_readonly(
            "capabilities", [](const HapticDevice& device) { return device.capabilities(); },
            "What it is and can do; a copy.")
        .def("read", &HapticDevice::read, py::arg("now"), "The newest state at a time [s].")
        .def(
            "write",
            [](HapticDevice& device, const ArrayArgument& force, const ArrayArgument& torque) {
                device.write({vector_of(force, "force"), vector_of(torque, "torque"), 0});
            },
            py::arg("force"), py::arg("torque") = py::make_tuple(0, 0, 0),
            "On the hand until the next write: [N], [N m].");
    py::class_<ScriptedDevice, HapticDevice, std::shared_ptr<ScriptedDevice>>(
        m, "ScriptedDevice", "A handle that follows a path whatever force it is shown.")
        .def(py::init<const ScriptedMotion&, const DeviceCapabilities&>(), py::arg("motion"),
             py::arg("capabilities") = DeviceCapabilities{},
             "motion: poses of the handle over time [s], axes of the device.")
        .def_property_readonly(
            "shown_force", [](const ScriptedDevice& device) { return device.shown().force; },
            "The last force written [N].")
        .def("set_buttons", &ScriptedDevice::set_buttons, py::arg("buttons"),
             "Bit i: button i is down from now on.");
    py::class_<RecordedDevice, HapticDevice, std::shared_ptr<RecordedDevice>>(
        m, "RecordedDevice", "Readings of another time, one per call.")
        .def(py::init<std::vector<DeviceState>, const DeviceCapabilities&>(), py::arg("states"),
             py::arg("capabilities") = DeviceCapabilities{},
             "states: readings in their order; after the last it stays there.")
        .def_property_readonly(
            "shown_force", [](const RecordedDevice& device) { return device.shown().force; },
            "The last force written [N].")
        .def("seek", &RecordedDevice::seek, py::arg("tick"), "The reading that comes next.")
        .def_property_readonly("is_at_end", &RecordedDevice::is_at_end, "All readings were given.");
    py::class_<SimulatedDevice, HapticDevice, std::shared_ptr<SimulatedDevice>>(
        m, "SimulatedDevice", "A device in a hand, in virtual time.")
        .def(py::init<const DeviceModel&, const HandModel&>(), py::arg("model") = DeviceModel{},
             py::arg("hand") = HandModel{},
             "At the origin, in a hand that wants to stay there; read() advances it.")
        .def(
            "aim", [](SimulatedDevice& d, const PoseArgument& p) { d.aim(pose_of(p)); },
            py::arg("target"), "Where the hand wants the handle to be.")
        .def(
            "place", [](SimulatedDevice& d, const PoseArgument& p) { d.place(pose_of(p)); },
            py::arg("pose"), "Puts handle and hand there.")
        .def(
            "reset", [](SimulatedDevice& d, const PoseArgument& p) { d.reset(pose_of(p)); },
            py::arg("pose") = py::none(), "As new, at rest at a pose; its clock begins at 0 s.")
        .def("set_hand", &SimulatedDevice::set_hand, py::arg("hand"), "Another grip from now on.")
        .def("set_connected", &SimulatedDevice::set_connected, py::arg("is_connected"),
             "Pulls the plug, or puts it back.")
        .def_property_readonly(
            "true_pose", [](const SimulatedDevice& d) { return d.true_pose(); },
            "Of the handle now, which no encoder sees; a copy.")
        .def_property_readonly(
            "applied_force", [](const SimulatedDevice& d) { return d.applied().force; },
            "By the motors now [N].")
        .def_property_readonly(
            "hand_force", [](const SimulatedDevice& d) { return d.hand_load().force; },
            "Of the hand on the handle [N].")
        .def_property_readonly("stored_energy", &SimulatedDevice::stored_energy,
                               "Of motion and of the hand's springs [J].")
        .def_property_readonly("motor_work", &SimulatedDevice::motor_work,
                               "Of the motors on the handle since place() [J].");
}

std::vector<double> reals_or_none(const py::object& value, const char* name) {
    if (value.is_none()) return {};
    const auto array = real_array(value, name, {-1});
    return {array.data(), array.data() + array.size()};
}

py::dict zwidth_map(const DeviceModel& device, const HandModel& hand, const py::object& stiffnesses,
                    const py::object& dampings, double duration, const ProgressArgument& progress) {
    ZWidthOptions options;
    options.device = device;
    options.hand = hand;
    options.stiffnesses = reals_or_none(stiffnesses, "stiffnesses");
    options.dampings = reals_or_none(dampings, "dampings");
    options.duration = duration;
    const ZWidthMap map =
        run_long(progress, [&](Progress& shown) { return sweep_zwidth(options, shown); });
    const auto rows = static_cast<py::ssize_t>(map.stiffnesses.size());
    const auto columns = static_cast<py::ssize_t>(map.dampings.size());
    py::array_t<bool> stable({rows, columns});
    py::array_t<double> growth({rows, columns});
    for (std::size_t i = 0; i < map.cells.size(); ++i) {
        stable.mutable_data()[i] = map.cells[i].is_stable;
        growth.mutable_data()[i] = map.cells[i].growth;
    }
    py::dict result;
    result["stiffnesses"] = array_of<double>(map.stiffnesses, {rows});
    result["dampings"] = array_of<double>(map.dampings, {columns});
    result["is_stable"] = stable;
    result["growth"] = growth;
    result["needed_damping"] = array_of<double>(map.needed_damping, {rows});
    return result;
}

}  // namespace

void bind_devices(py::module_& m) {
    bind_device_values(m);
    bind_devices_of_kinds(m);
    m.def(
        "zwidth_map", &zwidth_map, py::arg("device") = DeviceModel{},
        py::arg("hand") = HandModel::absent(), py::arg("stiffnesses") = py::none(),
        py::arg("dampings") = py::none(), py::arg("duration") = 4.0,
        py::arg("progress") = py::none(),
        "Which virtual walls a device can show without oscillating. hand that holds it, by default "
        "none; stiffnesses of walls [N/m], None: 12 from 50 to 10,000; dampings [N s/m], None: 0 "
        "and up to the unstable; duration of one trial, or four periods if that is more [s]. A "
        "dictionary with stiffnesses, dampings, is_stable and growth (stiffnesses, dampings), the "
        "last amplitude over the first, and needed_damping (stiffnesses,) [N s/m].");
    m.def(
        "force_spectrum",
        [](const ArrayArgument& force, double rate) {
            const ForceSpectrum spectrum = force_spectrum(points_of(force, "force"), rate);
            const auto n = static_cast<py::ssize_t>(spectrum.frequency.size());
            return py::make_tuple(array_of<double>(spectrum.frequency, {n}),
                                  array_of<double>(spectrum.amplitude, {n}));
        },
        py::arg("force"), py::arg("rate"),
        "Frequencies [Hz] and amplitudes [N] of forces (n, 3) at a rate [Hz].");
}

}  // namespace pliant::python
