#include "long_call.h"
#include "meshes.h"
#include "scene_handle.h"

#include "pliant/core/error.h"

#include <algorithm>

namespace pliant::python {
namespace {

using RecordingPointer = std::shared_ptr<Recording>;

void check_loop(const Recording& recording, int loop) {
    check_index("loop", loop, static_cast<py::ssize_t>(recording.header().loops.size()));
}

int recorded_place(const Recording& recording, const std::string& name) {
    const auto& bodies = recording.header().bodies;
    std::string names;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i].name == name) return static_cast<int>(i);
        names += (i > 0 ? ", " : "") + bodies[i].name;
    }
    throw InputError("", "body", "\"" + name + "\"", names.empty() ? "none was recorded" : names);
}

py::tuple states(const Recording& recording, const std::string& body) {
    const int i = recorded_place(recording, body);
    const auto& header = recording.header();
    const auto& recorded = header.bodies[static_cast<std::size_t>(i)];
    const double rate = header.loops[static_cast<std::size_t>(recorded.loop)].rate;
    const auto count = static_cast<py::ssize_t>(recording.num_states(i));
    py::array_t<double> times(count);
    py::array_t<double> values({count, static_cast<py::ssize_t>(recorded.state_size)});
    double* next = values.mutable_data();
    for (int k = 0; k < static_cast<int>(count); ++k) {
        times.mutable_at(k) = static_cast<double>(recording.state_tick(i, k)) / rate;
        const std::span<const double> state = recording.state(i, k);
        next = std::copy(state.begin(), state.end(), next);
    }
    return py::make_tuple(times, values);
}

/// The ticks of a loop, with what the device showed where a tool was in a hand in all of them.
Samples samples_of(const RecordingPointer& recording, int loop) {
    check_loop(*recording, loop);
    const std::vector<TickSample>& ticks = recording->samples(loop);
    const HapticTicks& haptics = recording->haptics(loop);
    if (haptics.empty() || haptics.size() != ticks.size())
        return Samples(SamplesPointer(recording, &ticks));
    auto shown = std::make_shared<std::vector<TickSample>>(ticks);
    auto next = shown->begin();
    for (const HapticTick& tick : haptics) (next++)->show_device(tick);
    return Samples(std::move(shown));
}

/// One number of each tick.
template <class Value>
py::array tick_numbers(const HapticTicks& ticks, Value&& value) {
    using T = std::decay_t<decltype(value(ticks.front()))>;
    py::array_t<T> numbers(static_cast<py::ssize_t>(ticks.size()));
    std::transform(ticks.begin(), ticks.end(), numbers.mutable_data(), value);
    return numbers;
}

/// One vector of each tick, (n, 3).
template <class Value>
py::array tick_vectors(const HapticTicks& ticks, Value&& value) {
    std::vector<Eigen::Vector3d> vectors(ticks.size());
    std::transform(ticks.begin(), ticks.end(), vectors.begin(), value);
    return array_of(vectors);
}

/// `name` (n, 3) and `name`_rotation (n, 4).
template <class Value>
void put_poses(py::dict& columns, const std::string& name, const HapticTicks& ticks, Value&& pose) {
    py::array_t<double> rotations({static_cast<py::ssize_t>(ticks.size()), py::ssize_t{4}});
    double* next = rotations.mutable_data();
    for (const HapticTick& tick : ticks) {
        const Quaternion& q = pose(tick).rotation;
        for (const double x : {q.w(), q.x(), q.y(), q.z()}) *next++ = x;
    }
    const auto position = [&](const HapticTick& tick) { return pose(tick).position; };
    columns[py::str(name)] = tick_vectors(ticks, position);
    columns[py::str(name + "_rotation")] = rotations;
}

/// `prefix`force and `prefix`torque, (n, 3) each.
template <class Value>
void put_loads(py::dict& columns, const std::string& prefix, const HapticTicks& ticks,
               Value&& load) {
    const auto force = [&](const HapticTick& tick) { return load(tick).force; };
    const auto torque = [&](const HapticTick& tick) { return load(tick).torque; };
    columns[py::str(prefix + "force")] = tick_vectors(ticks, force);
    columns[py::str(prefix + "torque")] = tick_vectors(ticks, torque);
}

/// What a tool in a hand did, by columns: all that save_csv writes.
py::dict tool_ticks(const Recording& recording, int loop) {
    check_loop(recording, loop);
    using T = const HapticTick&;
    const HapticTicks& ticks = recording.haptics(loop);
    py::dict columns;
    put_poses(columns, "device", ticks, [](T t) -> const Pose& { return t.device.pose; });
    put_poses(columns, "tool", ticks, [](T t) -> const Pose& { return t.tool; });
    put_poses(columns, "manipulandum", ticks, [](T t) -> const Pose& { return t.manipulandum; });
    put_loads(columns, "", ticks, [](T t) -> const DeviceCommand& { return t.command; });
    put_loads(columns, "contact_", ticks, [](T t) -> const Wrench& { return t.contact; });
    put_loads(columns, "coupling_", ticks, [](T t) -> const Wrench& { return t.coupling; });
    const auto put = [&](const char* name, auto value) {
        columns[name] = tick_numbers(ticks, value);
    };
    put("depth", [](T t) { return t.depth; });
    put("max_depth", [](T t) { return t.max_depth; });
    put("worst_depth", [](T t) { return t.worst_depth; });
    put("violations", [](T t) { return t.violations; });
    put("num_contacts", [](T t) { return t.num_contacts; });
    put("port_energy", [](T t) { return t.port_energy; });
    put("stored_energy", [](T t) { return t.stored_energy; });
    put("oscillation", [](T t) { return t.oscillation; });
    put("gain_scale", [](T t) { return t.gain_scale; });
    put("step_scale", [](T t) { return t.step_scale; });
    put("buttons", [](T t) { return t.device.buttons; });
    put("device_status", [](T t) { return static_cast<int>(t.device.status); });
    put("status", [](T t) { return static_cast<int>(t.status); });
    return columns;
}

py::dict recorded_parameters(const Recording& recording) {
    py::dict values;
    for (const auto& [name, value] : recording.header().parameters) values[name.c_str()] = value;
    return values;
}

/// A command with what the header knows about it.
struct RecordedCommand {
    Recording::TimedCommand timed;
    double time = 0;
    std::string parameter;

    [[nodiscard]] const Command& command() const noexcept { return timed.command; }
};

/// As the methods of a scene are called.
const char* kind_of(const Command& command) {
    switch (command.kind) {
        case Command::Kind::Grab: return "grab";
        case Command::Kind::Poke: return "poke";
        case Command::Kind::Drag: return "drag";
        case Command::Kind::Release: return "release";
        case Command::Kind::MoveTool: return "move_tool";
        case Command::Kind::SetParameter: return "set_parameter";
        case Command::Kind::Reset: return "reset";
        case Command::Kind::Exchange: return "exchange";
    }
    return "unknown";
}

std::vector<RecordedCommand> recorded_commands(const Recording& recording, int loop) {
    check_loop(recording, loop);
    const RecordingHeader& header = recording.header();
    const double rate = header.loops[static_cast<std::size_t>(loop)].rate;
    std::vector<RecordedCommand> commands;
    for (const Recording::TimedCommand& timed : recording.commands(loop)) {
        const auto i = static_cast<std::size_t>(timed.command.parameter);
        // −1, of commands without a parameter, is beyond all
        commands.push_back({timed, static_cast<double>(timed.tick) / rate,
                            i < header.parameters.size() ? header.parameters[i].first : ""});
    }
    return commands;
}

World world_of(const Recording& recording, Progress& progress) {
    return replay_world(recording, "scene of the recording", {}, progress);
}

void bind_commands(py::module_& m) {
    using C = RecordedCommand;
    py::class_<C>(m, "RecordedCommand", "What a hand did between two ticks of a loop.")
        .def_property_readonly(
            "tick", [](const C& c) { return c.timed.tick; }, "Ticks of the loop before it.")
        .def_readonly("time", &C::time, "When it came, since the recording began [s].")
        .def_property_readonly(
            "kind", [](const C& c) { return kind_of(c.command()); },
            "grab, poke, drag, release, move_tool, set_parameter or reset, as methods of a scene; "
            "exchange: in real time the loop had seen a tick of the other one of its tool.")
        .def_property_readonly(
            "slot", [](const C& c) { return c.command().slot; },
            "Of grab, poke, drag and release: which of four hands.")
        .def_property_readonly(
            "body", [](const C& c) { return c.command().body; },
            "Of grab and poke: place in the scene's body_names; −1: none.")
        .def_property_readonly(
            "triangle", [](const C& c) { return c.command().triangle; },
            "Of the body's surface, where the point is; −1: none.")
        .def_property_readonly(
            "weights", [](const C& c) { return array_of<double>(c.command().barycentric, {3}); },
            "Of the triangle's corners (3,).")
        .def_property_readonly(
            "vertex", [](const C& c) { return c.command().vertex; },
            "Of the body's surface, where the point is one; −1: none.")
        .def_property_readonly(
            "target", [](const C& c) { return array_of<double>(c.command().target, {3}); },
            "Of grab, drag and move_tool: a place in the world (3,) [m].")
        .def_property_readonly(
            "rotation", [](const C& c) { return array_of<double>(c.command().rotation, {4}); },
            "Of move_tool: quaternion (w, x, y, z).")
        .def_property_readonly(
            "duration", [](const C& c) { return c.command().duration; },
            "In which the target is reached evenly [s]; 0: at once.")
        .def_property_readonly(
            "buttons", [](const C& c) { return c.command().buttons; },
            "Of move_tool: bit i: button i is down.")
        .def_readonly("parameter", &C::parameter, "Of set_parameter: its name; empty: none.")
        .def_property_readonly(
            "value", [](const C& c) { return c.command().value; },
            "Of poke the force [N], 0: the scene's; of set_parameter the value, of exchange the "
            "tick.");
}

}  // namespace

void bind_recording(py::module_& m) {
    bind_commands(m);
    py::class_<Recording, RecordingPointer>(m, "Recording", "What happened in a scene.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<Recording>(Recording::load(path));
            },
            py::arg("path"), Unlocked(), "A .pliantrec file.")
        .def_property_readonly("duration", &Recording::duration, "[s]")
        .def_property_readonly("is_complete", &Recording::is_complete,
                               "False: the file ends early; all before is there.")
        .def_property_readonly("problem", &Recording::problem,
                               "What is wrong with the file; empty: nothing.")
        .def_property_readonly(
            "scene",
            [](const Recording& r) {
                return std::make_shared<SceneHandle>(recorded_scene(r, "scene of the recording"));
            },
            "That was recorded, at its start.")
        .def_property_readonly(
            "loops",
            [](const Recording& recording) {
                py::dict rates;
                for (const RecordingHeader::Loop& loop : recording.header().loops)
                    rates[loop.name.c_str()] = loop.rate;
                return rates;
            },
            "Rates by name [Hz].")
        .def_property_readonly(
            "body_names",
            [](const Recording& recording) {
                std::vector<std::string> names;
                for (const auto& body : recording.header().bodies) names.push_back(body.name);
                return names;
            },
            "Whose states it has.")
        .def_property_readonly("parameters", &recorded_parameters,
                               "Values by name when the recording began.")
        .def("samples", &samples_of, py::arg("loop") = 0,
             "Ticks of a loop; recordings keep single precision.")
        .def("commands", &recorded_commands, py::arg("loop") = 0,
             "What hands and sliders of the viewer did to a loop, in order; what the script of the "
             "scene does is in its text.")
        .def(
            "tool", &tool_ticks, py::arg("loop") = 0,
            "What a tool in a hand did in each tick of a loop, a dictionary of arrays; empty ones: "
            "it has none. Positions (n, 3) [m] and rotations (n, 4), quaternions (w, x, y, z): "
            "device, device_rotation of the handle in axes of the device, tool, tool_rotation and "
            "manipulandum, manipulandum_rotation in the world. Loads (n, 3) [N], [N m]: force, "
            "torque by the device in its axes; contact_force, contact_torque on the tool about the "
            "grasp point; coupling_force, coupling_torque on the hand, scene units. Numbers (n,): "
            "depth of the deepest contact, max_depth, its bound, 0: none, worst_depth since the "
            "reset [m]; violations: ticks deeper than the bound since the reset; num_contacts: "
            "points that touch; port_energy, that the hand put in, stored_energy [J]; oscillation "
            "of the force in the last window [N]; gain_scale, step_scale: what back-off made of "
            "gains and steps, 1: nothing; buttons: bit i: button i is down; device_status, status: "
            "values of DeviceStatus, StepStatus.")
        .def("states", &states, py::arg("body"),
             "Times (k,) [s] and states (k, size) of a body, as Body.state has them.")
        .def(
            "save_csv",
            [](const Recording& recording, const std::filesystem::path& path, int loop) {
                check_loop(recording, loop);
                save_csv(recording, loop, path);
            },
            Unlocked(), py::arg("path"), py::arg("loop") = 0,
            "Ticks of a loop as a table, units in its head.")
        .def(
            "save_frames",
            [](const Recording& recording, const std::filesystem::path& folder,
               const std::string& extension, double frames_per_second,
               const ProgressArgument& progress) {
                return run_long(progress, [&](Progress& shown) {
                    World world = world_of(recording, shown);
                    return save_frames(recording, world, folder, extension, frames_per_second,
                                       shown);
                });
            },
            py::arg("folder"), py::arg("extension") = "vtu", py::arg("frames_per_second") = 30.0,
            py::arg("progress") = py::none(),
            "Surfaces of the recorded bodies, a file per frame (extension obj or vtu) into the "
            "folder, frames_per_second of simulated time from the states nearest [1/s]; returns "
            "their number.")
        .def(
            "check",
            [](const Recording& recording, const ProgressArgument& progress) {
                const ReplayCheck check = run_long(progress, [&](Progress& shown) {
                    World world = world_of(recording, shown);
                    return check_replay(recording, world, shown);
                });
                return py::make_tuple(check.num_compared, check.num_different,
                                      check.first_difference);
            },
            py::arg("progress") = py::none(),
            "Runs it again: numbers of states compared and of those that differ in any bit, and "
            "the "
            "first difference.")
        .def("__repr__", [](const Recording& recording) -> std::string {
            return py::str("<Recording of {:.3g} s>").format(recording.duration());
        });
}

}  // namespace pliant::python
