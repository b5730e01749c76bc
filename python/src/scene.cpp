#include "long_call.h"
#include "scene_handle.h"

#include "pliant/body/rigid_body.h"
#include "pliant/core/error.h"
#include "pliant/fem/fem_body.h"
#include "pliant/greens/zoned_body.h"
#include "pliant/particles/particle_body.h"
#include "pliant/reduction/reduced_body.h"
#include "pliant/scene/scene_file.h"

#include <cmath>

namespace pliant::python {

BodyPointer handle_of(const std::shared_ptr<Body>& body) {
    const std::string_view kind = body->kind();
    if (kind == "reduced") return std::make_shared<HandleOf<ReducedBody>>(body);
    if (kind == "rigid") return std::make_shared<HandleOf<RigidBody>>(body);
    if (kind == "fem") return std::make_shared<HandleOf<FemBody>>(body, nullptr, true);
    if (kind == "greens") return std::make_shared<HandleOf<GreensBody>>(body);
    if (kind == "zones") return std::make_shared<HandleOf<ZonedBody>>(body);
    if (kind == "particles") return std::make_shared<HandleOf<ParticleBody>>(body);
    return std::make_shared<BodyHandle>(body);
}

const std::shared_ptr<World>& SceneHandle::world(const ProgressArgument& progress) {
    if (!world_) {
        if (!is_virtual(description_.device))
            throw InputError("", std::string("no ") + kind(description_.device) +
                                     " device can take part in virtual time; use with_device("
                                     "\"simulated\"), or view() for real time");
        world_ = run_long(progress, [&](Progress& shown) {
            shown.stage("scene");
            return std::make_shared<World>(description_, WorldOptions{}, shown);
        });
        watch_.emplace(*world_);
        for (const std::string& warning : world_->warnings()) warn(warning);
    }
    return world_;
}

BodyWatch& SceneHandle::watch() {
    (void)world();
    return *watch_;
}

BodyPointer SceneHandle::body(const std::string& name) {
    const auto known = bodies_.find(name);
    if (known != bodies_.end()) return known->second;
    const std::shared_ptr<World>& world = this->world();
    const int i = world->find_body(name);
    if (i < 0) {
        std::string names;
        for (const WorldBody& body : world->bodies())
            names += (names.empty() ? "" : ", ") + body.name;
        throw InputError("", "body", "\"" + name + "\"", names);
    }
    const WorldBody& placed = world->bodies()[static_cast<std::size_t>(i)];
    const std::shared_ptr<Body> body(world, &world->loop(placed.loop).body(placed.place));
    return bodies_[name] = handle_of(body);
}

std::vector<std::vector<BodyPointer>> SceneHandle::bodies_of_loops() {
    const World& world = *this->world();
    std::vector<std::vector<BodyPointer>> bodies(static_cast<std::size_t>(world.num_loops()));
    for (const auto& [name, body] : bodies_) {
        const auto i = static_cast<std::size_t>(world.find_body(name));
        bodies[static_cast<std::size_t>(world.bodies()[i].loop)].push_back(body);
    }
    return bodies;
}

void SceneHandle::refuse_loads(const std::string& reason) const {
    for (const auto& [name, body] : bodies_)
        if (body->has_loads())
            throw InputError("", reason + "; set those of \"" + name +
                                     "\" to 0, and pull or poke in the script of the scene");
}

void SceneHandle::reset() {
    world()->reset();
    watch().forget();
    is_touched = false;
    for (const auto& [name, body] : bodies_) body->clear_loads();
}

namespace {

using ScenePointer = std::shared_ptr<SceneHandle>;

/// Ticks until every loop has gone on for so many seconds.
std::int64_t ticks_for(const World& world, double seconds) {
    if (!(seconds >= 0 && seconds < 1e9)) refuse("seconds", py::float_(seconds), "0 or more");
    const auto& first = world.loop(0);
    const double end = static_cast<double>(world.elapsed_ticks(0)) * first.dt() + seconds;
    std::int64_t count = 0;
    for (int l = 0; l < world.num_loops(); ++l) {
        const auto wanted = static_cast<std::int64_t>(world.tick_at(end, l));
        count +=
            std::max<std::int64_t>(0, wanted - static_cast<std::int64_t>(world.elapsed_ticks(l)));
    }
    return count;
}

Samples advance(SceneHandle& scene, double seconds, const py::object& record) {
    World& world = *scene.world();
    std::optional<WorldRecorder> recorder;
    if (!record.is_none()) {
        if (world.elapsed_ticks(0) != 0)
            throw InputError("", "a recording begins at the start of a scene: reset() it first");
        if (scene.is_touched)
            throw InputError("",
                             "a recording does not hold what hands did before: reset() first, "
                             "and put it into the script of the scene");
        scene.refuse_loads("a recording does not hold forces in arrays");
        recorder.emplace(path_of(record, "record", "None or a .pliantrec file"), world,
                         recording_header(world));
    }
    const auto bodies = scene.bodies_of_loops();
    auto ticks = std::make_shared<std::vector<TickSample>>();
    BodyWatch& watch = scene.watch();
    run_many(ticks_for(world, seconds), [&](std::int64_t /*i*/) {
        const double before = thread_cpu_time_us();
        const int loop = world.next_loop();
        // a script that resets would drop what was added before it
        world.run_script(loop);
        for (const BodyPointer& body : bodies[static_cast<std::size_t>(loop)]) body->apply_loads();
        world.advance();
        const double work = thread_cpu_time_us() - before;
        if (recorder) recorder->add_tick(world, loop, work);
        watch.look_after_tick(loop);
        if (loop != 0) return;
        ticks->push_back(world.loop(0).sample());
        ticks->back().work_us = static_cast<float>(work);
    });
    if (recorder) recorder->finish();
    for (const std::string& text : watch.news()) warn(text);
    return Samples(std::move(ticks));
}

/// What bodies have said or become so far.
py::list troubles(SceneHandle& scene) {
    BodyWatch& watch = scene.watch();
    watch.look_at_all();
    py::list result;
    for (const BodyTrouble& trouble : watch.troubles()) {
        py::dict one;
        one["body"] = scene.world()->bodies()[static_cast<std::size_t>(trouble.body)].name;
        one["what"] = std::string(trouble.name());
        one["since"] = trouble.since;
        one["until"] = trouble.until;
        one["steps"] = trouble.count;
        one["value"] = trouble.value;
        one["text"] = watch.text(trouble);
        result.append(one);
    }
    return result;
}

/// Of each body, by its name: where it was, its least volume, and its speed now.
py::dict sights(SceneHandle& scene) {
    BodyWatch& watch = scene.watch();
    watch.look_at_all();
    py::dict result;
    for (std::size_t b = 0; b < scene.world()->bodies().size(); ++b) {
        const BodySight& sight = watch.sight(static_cast<int>(b));
        py::dict one;
        one["lowest"] = sight.lowest;
        one["highest"] = sight.highest;
        one["least_volume"] = sight.least_volume;
        one["speed"] = watch.speed(static_cast<int>(b));
        result[scene.world()->bodies()[b].name.c_str()] = one;
    }
    return result;
}

// What a world would ignore is refused, in the words of the C interface.

void check_finite(std::span<const double> x, const std::string& name) {
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!std::isfinite(x[i]))
            refuse(name + "[" + std::to_string(i) + "]", py::float_(x[i]), "a finite number");
}

std::array<double, 3> place_of(const Eigen::Vector3d& x, const std::string& name) {
    const std::array<double, 3> place{x.x(), x.y(), x.z()};
    check_finite(place, name);
    return place;
}

double not_negative(double value, const std::string& name, const std::string& unit) {
    if (!(value >= 0 && std::isfinite(value)))
        refuse(name, py::float_(value), "0 " + unit + " or more");
    return value;
}

Command hand_command(Command::Kind kind, int slot, double duration = 0) {
    check_index("slot", slot, Command::kMaxSlots);
    Command command;
    command.kind = kind;
    command.slot = slot;
    command.duration = not_negative(duration, "duration", "s");
    return command;
}

/// What a hand takes hold of.
void take(SceneHandle& scene, Command& command, const std::string& name,
          const PointArgument& point) {
    const SurfacePoint place = scene.body(name)->point(point);
    command.body = scene.world()->find_body(name);
    command.triangle = place.triangle;
    command.vertex = place.vertex;
    command.barycentric = {place.barycentric.x(), place.barycentric.y(), place.barycentric.z()};
}

void apply(SceneHandle& scene, const Command& command) {
    scene.world()->apply(command);
    scene.is_touched = true;
}

void grab(SceneHandle& scene, const std::string& body, const PointArgument& point,
          const ArrayArgument& target, int slot, double duration) {
    Command command = hand_command(Command::Kind::Grab, slot, duration);
    take(scene, command, body, point);
    command.target = place_of(vector_of(target, "target"), "target");
    apply(scene, command);
}

void poke(SceneHandle& scene, const std::string& body, const PointArgument& point, double force,
          int slot) {
    Command command = hand_command(Command::Kind::Poke, slot);
    take(scene, command, body, point);
    command.value = not_negative(force, "force", "N");
    apply(scene, command);
}

/// By a hand of the script, too.
bool is_grabbed(const World& world, int slot) {
    for (int l = 0; l < world.num_loops(); ++l) {
        const HeldPoint held = world.loop(l).make_frame().held[static_cast<std::size_t>(slot)];
        if (held.body >= 0 && !held.is_poke) return true;
    }
    return false;
}

void drag(SceneHandle& scene, const ArrayArgument& target, int slot, double duration) {
    Command command = hand_command(Command::Kind::Drag, slot, duration);
    command.target = place_of(vector_of(target, "target"), "target");
    if (!is_grabbed(*scene.world(), slot))
        throw InputError("",
                         "nothing is held in slot " + std::to_string(slot) + "; call grab() first");
    apply(scene, command);
}

/// Throws InputError unless a hand can move the tool of the world.
void require_tool(const World& world) {
    for (int l = 0; l < world.num_loops(); ++l) {
        const HapticInfo* const held = world.loop(l).haptics();
        if (held != nullptr && held->kind != "simulated")
            throw InputError("", "the tool follows a " + held->kind +
                                     " device; use with_device(\"simulated\") to move it");
        if (held != nullptr || world.loop(l).tool() != nullptr) return;
    }
    throw InputError("", "the scene \"" + world.scene().name +
                             "\" has no tool; give it one with \"tool\", or push vertices with "
                             "add_force() and grab()");
}

void move_tool(SceneHandle& scene, const PoseArgument& pose, double duration,
               std::uint32_t buttons) {
    require_tool(*scene.world());
    Command command = hand_command(Command::Kind::MoveTool, 0, duration);
    const Pose target = pose_of(pose);
    const Quaternion& q = target.rotation;
    command.target = place_of(target.position, "position");
    command.rotation = {q.w(), q.x(), q.y(), q.z()};
    check_finite(command.rotation, "rotation");
    command.buttons = buttons;
    apply(scene, command);
}

void set_parameter(SceneHandle& scene, const std::string& name, double value) {
    World& world = *scene.world();
    Command command;
    command.kind = Command::Kind::SetParameter;
    command.parameter = world.find_parameter(name);
    command.value = value;
    if (!std::isfinite(value)) refuse("value", py::float_(value), "a finite number");
    if (command.parameter < 0) {
        std::string names;
        for (const WorldParameter& known : world.parameters())
            names += (names.empty() ? "" : ", ") + known.parameter.name;
        throw InputError("", "parameter", "\"" + name + "\"", names);
    }
    world.apply(command);
}

/// A column of the ticks, where they are.
template <class T>
py::array column(const py::object& self, const T TickSample::*member) {
    const std::vector<TickSample>& ticks = self.cast<const Samples&>().ticks();
    const auto n = static_cast<py::ssize_t>(ticks.size());
    static const TickSample kNone;
    const TickSample& first = ticks.empty() ? kNone : ticks.front();
    const auto stride = static_cast<py::ssize_t>(sizeof(TickSample));
    py::array array;
    if constexpr (std::is_arithmetic_v<T>)
        array = py::array(py::dtype::of<T>(), {n}, {stride}, &(first.*member), self);
    else
        array = py::array(py::dtype::of<double>(), {n, py::ssize_t{3}},
                          {stride, static_cast<py::ssize_t>(sizeof(double))},
                          (first.*member).data(), self);
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}

void bind_samples(py::module_& m) {
    py::class_<Samples>(m, "Samples", "Ticks of a loop as arrays; no copies.")
        .def("__len__", [](const Samples& samples) { return samples.ticks().size(); })
        .def_property_readonly(
            "tick", [](const py::object& s) { return column(s, &TickSample::tick); },
            "Numbers of the ticks, 1 for the first (n,).")
        .def_property_readonly(
            "time", [](const py::object& s) { return column(s, &TickSample::time); },
            "Simulated, at the end of the tick (n,) [s].")
        .def_property_readonly(
            "hand", [](const py::object& s) { return column(s, &TickSample::hand); },
            "Where the hand wants to be (n, 3) [m].")
        .def_property_readonly(
            "point", [](const py::object& s) { return column(s, &TickSample::point); },
            "What it holds: a point of a surface, or the tool (n, 3) [m].")
        .def_property_readonly(
            "force", [](const py::object& s) { return column(s, &TickSample::force); },
            "On the hand (n, 3) [N].")
        .def_property_readonly(
            "energy", [](const py::object& s) { return column(s, &TickSample::energy); },
            "Of all bodies, each as at most 16 ticks ago (n,) [J].")
        .def_property_readonly(
            "work_us", [](const py::object& s) { return column(s, &TickSample::work_us); },
            "CPU time of the ticks (n,) [µs].")
        .def_property_readonly(
            "late_us", [](const py::object& s) { return column(s, &TickSample::late_us); },
            "How late they began (n,) [µs]; 0 in virtual time.")
        .def_property_readonly(
            "device_force",
            [](const py::object& s) { return column(s, &TickSample::device_force); },
            "Shown by the device of a tool in a hand (n,) [N]; −1: none.")
        .def_property_readonly(
            "port_energy", [](const py::object& s) { return column(s, &TickSample::port_energy); },
            "That the hand of a tool put in, less what it got back (n,) [J]; 0: no tool in a hand.")
        .def_property_readonly(
            "stored_energy",
            [](const py::object& s) { return column(s, &TickSample::stored_energy); },
            "In coupling and contacts of a tool in a hand (n,) [J]; 0: none.");
}

void bind_scene_class(py::module_& m) {
    py::class_<SceneHandle, ScenePointer>(
        m, "Scene", "Bodies, tools and devices together; here in virtual time.")
        .def_property_readonly(
            "name", [](const SceneHandle& s) { return s.description().name; }, "Of the scene.")
        .def_property_readonly(
            "description", [](const SceneHandle& s) { return s.description().description; },
            "What it shows.")
        .def_property_readonly(
            "text", [](const SceneHandle& s) { return s.description().text; }, "JSON.")
        .def_property_readonly(
            "rate", [](const SceneHandle& s) { return s.description().rate; },
            "Of the haptic loop [Hz].")
        .def(
            "build",
            [](SceneHandle& s, const ProgressArgument& progress) { (void)s.world(progress); },
            py::arg("progress") = py::none(),
            "Builds or loads all models; otherwise done when they are needed.")
        .def_property_readonly(
            "body_names",
            [](SceneHandle& s) {
                std::vector<std::string> names;
                for (const WorldBody& body : s.world()->bodies()) names.push_back(body.name);
                return names;
            },
            "For body(name).")
        .def("body", &SceneHandle::body, py::arg("name"),
             "Stepped by the scene: only look and load. What stands in its arrays of forces acts "
             "in every tick of its loop.")
        .def_property_readonly(
            "time", [](SceneHandle& s) { return s.world()->loop(0).time(); }, "[s]")
        .def_property_readonly(
            "warnings", [](SceneHandle& s) { return s.world()->warnings(); },
            "What it will not do as it may seem, one sentence each: bodies that pass through each "
            "other, loops that will not keep their rate, meshes made anew. Python's warnings say "
            "them as well when the scene is built.")
        .def_property_readonly(
            "troubles", &troubles,
            "Of bodies that are not well, or whose steps were not ok, since the start: dicts of "
            "body, what (collapsed, inside out, stretched, away, element inside out, or the "
            "status), since, until [s], steps, value (volume or length over that at rest, distance "
            "[m], det F) and text. advance() says new ones by Python's warnings.")
        .def_property_readonly(
            "sights", &sights,
            "Of each body by its name, since the start: lowest and highest z of its drawn surface "
            "[m] and least_volume over that at rest, by looks ten times a simulated second, and "
            "speed of its fastest vertex now [m/s].")
        .def(
            "advance", &advance, py::arg("seconds"), py::arg("record") = py::none(),
            "Goes on in virtual time, without the interpreter's lock, and returns the ticks of the "
            "haptic loop. record: a .pliantrec file, from the start of the scene.")
        .def("grab", &grab, py::arg("body"), py::arg("point"), py::arg("target"),
             py::arg("slot") = 0, py::arg("duration") = 0.0,
             "Pulls a point with a spring towards a place [m], which moves there from the point "
             "evenly over a duration [s], 0: at once. slot: which of four hands.")
        .def("poke", &poke, py::arg("body"), py::arg("point"), py::arg("force") = 0.0,
             py::arg("slot") = 0, "Pushes a point inwards [N]; 0: the scene's force.")
        .def("drag", &drag, py::arg("target"), py::arg("slot") = 0, py::arg("duration") = 0.0,
             "Moves the place that a grab pulls to [m], evenly over a duration [s].")
        .def(
            "release",
            [](SceneHandle& s, int slot) { apply(s, hand_command(Command::Kind::Release, slot)); },
            py::arg("slot") = 0, "Lets go of what grab or poke of a slot holds.")
        .def("move_tool", &move_tool, py::arg("pose"), py::arg("duration") = 0.0,
             py::arg("buttons") = 0,
             "Where the hand wants the tool to be: a pose in the world [m], reached evenly over a "
             "duration [s], 0: at once; bit i of buttons: button i is down.")
        .def_property_readonly(
            "parameters",
            [](SceneHandle& s) {
                const World& world = *s.world();
                py::dict values;
                for (std::size_t i = 0; i < world.parameters().size(); ++i)
                    values[world.parameters()[i].parameter.name.c_str()] =
                        world.parameter_value(static_cast<int>(i));
                return values;
            },
            "Present values by name.")
        .def("set_parameter", &set_parameter, py::arg("name"), py::arg("value"),
             "Kept in its range.")
        .def("reset", &SceneHandle::reset, "Back to the start; forces written into arrays end.")
        .def_property_readonly(
            "state_hash", [](SceneHandle& s) { return s.world()->state_hash(); },
            "Of all states: equal for equal histories.")
        .def(
            "with_device",
            [](const SceneHandle& s, const std::string& kind, const std::string& hand,
               const std::filesystem::path& recording, const std::filesystem::path& profile,
               std::optional<double> max_force, std::optional<double> max_torque,
               const std::string& library, const std::string& address) {
                DeviceLimits limits;
                limits = {max_force.value_or(limits.max_force),
                          max_torque.value_or(limits.max_torque)};
                return std::make_shared<SceneHandle>(with_device(
                    s.description(), {kind, hand, recording, profile, limits, library, address}));
            },
            py::arg("kind") = "", py::arg("hand") = "", py::arg("recording") = "",
            py::arg("profile") = "", py::arg("max_force") = py::none(),
            py::arg("max_torque") = py::none(), py::arg("library") = "", py::arg("address") = "",
            "With another device or grip (loose, normal, firm) in the hand of its tool. recording: "
            "a .pliantrec file whose readings the kind \"recorded\" plays, or whose hand a "
            "simulated one follows. profile: of a device, as pliant haptics check writes it. "
            "max_force [N], max_torque [N m]: limits on top of those of scene, profile and device. "
            "library: of a maker; address: where a network device listens, or the URL of a haply "
            "service: no scene file can name a library or another computer.")
        .def("__repr__",
             [](const SceneHandle& s) { return "<Scene " + s.description().name + ">"; });
}

}  // namespace

void bind_scene(py::module_& m) {
    bind_samples(m);
    bind_scene_class(m);
    const auto scene = [](SceneDescription description) {
        return std::make_shared<SceneHandle>(std::move(description));
    };
    m.def(
        "load_scene",
        [=](const std::filesystem::path& path) {
            return scene(path.extension() == ".pliant" ? scene_of_model(path) : load_scene(path));
        },
        py::arg("path"), "A scene file, or a scene of the body in a .pliant file.");
    m.def(
        "parse_scene",
        [=](const std::string& text, const std::string& name, const std::filesystem::path& folder) {
            return scene(parse_scene(text, name, folder));
        },
        py::arg("text"), py::arg("name") = "scene", py::arg("folder") = "",
        "From JSON; relative files are found from the folder.");
    m.def(
        "demo", [=](const std::string& name) { return scene(demo_scene(name)); }, py::arg("name"),
        "A scene that comes with the library; see demo_names().");
    m.def(
        "demo_names",
        [] {
            std::vector<std::string> names;
            for (const DemoInfo& info : demo_list()) names.push_back(info.name);
            return names;
        },
        "Of the scenes that come with the library.");
}

}  // namespace pliant::python
