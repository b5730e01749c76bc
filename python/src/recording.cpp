#include "long_call.h"
#include "meshes.h"
#include "scene_handle.h"

#include "pliant/core/error.h"
#include "pliant/scene/scene_file.h"

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

/// What a tool in a hand did, by columns.
py::dict tool_ticks(const Recording& recording, int loop) {
    check_loop(recording, loop);
    const std::vector<HapticTick>& ticks = recording.haptics(loop);
    const auto n = static_cast<py::ssize_t>(ticks.size());
    const Shape rows{n, 3};
    py::array_t<double> device(rows), tool(rows), manipulandum(rows), force(rows), torque(rows);
    py::array_t<double> depth(n), port_energy(n), stored_energy(n);
    py::array_t<int> contacts(n);
    for (py::ssize_t i = 0; i < n; ++i) {
        const HapticTick& tick = ticks[static_cast<std::size_t>(i)];
        for (py::ssize_t axis = 0; axis < 3; ++axis) {
            device.mutable_at(i, axis) = tick.device.pose.position[axis];
            tool.mutable_at(i, axis) = tick.tool.position[axis];
            manipulandum.mutable_at(i, axis) = tick.manipulandum.position[axis];
            force.mutable_at(i, axis) = tick.command.force[axis];
            torque.mutable_at(i, axis) = tick.command.torque[axis];
        }
        depth.mutable_at(i) = tick.depth;
        port_energy.mutable_at(i) = tick.port_energy;
        stored_energy.mutable_at(i) = tick.stored_energy;
        contacts.mutable_at(i) = tick.num_contacts;
    }
    py::dict result;
    result["device"] = device;
    result["tool"] = tool;
    result["manipulandum"] = manipulandum;
    result["force"] = force;
    result["torque"] = torque;
    result["depth"] = depth;
    result["port_energy"] = port_energy;
    result["stored_energy"] = stored_energy;
    result["num_contacts"] = contacts;
    return result;
}

World world_of(const Recording& recording, Progress& progress) {
    WorldOptions options;
    options.device = recorded_device(recording);
    return World(parse_scene(recording.header().scene, "scene of the recording",
                             recording.header().scene_folder),
                 options, progress);
}

}  // namespace

void bind_recording(py::module_& m) {
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
                return std::make_shared<SceneHandle>(parse_scene(
                    r.header().scene, "scene of the recording", r.header().scene_folder));
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
        .def(
            "samples",
            [](const RecordingPointer& recording, int loop) {
                check_loop(*recording, loop);
                return Samples(SamplesPointer(recording, &recording->samples(loop)));
            },
            py::arg("loop") = 0, "Ticks of a loop.")
        .def("tool", &tool_ticks, py::arg("loop") = 0,
             "What a tool in a hand did: a dictionary of device, tool, manipulandum (n, 3) [m], "
             "force [N], torque [N m], depth [m], port_energy, stored_energy [J], num_contacts.")
        .def("states", &states, py::arg("body"),
             "Times (k,) [s] and states (k, size) of a body, as Body.state has them.")
        .def(
            "save_csv",
            [](const Recording& recording, const std::filesystem::path& path, int loop) {
                check_loop(recording, loop);
                save_csv(recording, loop, path);
            },
            py::arg("path"), py::arg("loop") = 0, "Ticks of a loop as a table, units in its head.")
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
            "Surfaces of the recorded bodies, a file per frame (obj or vtu); returns their number.")
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
