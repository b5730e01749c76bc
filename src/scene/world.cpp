#include "pliant/scene/world.h"

#include "geometry/closest_on_triangle.h"
#include "pliant/core/hash.h"
#include "pliant/core/nearest_name.h"
#include "scene/finite_command.h"
#include "scene/haptic_record.h"
#include "scene/loop_order.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Kind = Command::Kind;

bool takes_slot(const Command& command) {
    return command.kind == Kind::Grab || command.kind == Kind::Poke;
}

[[noreturn]] void throw_unknown(const std::string& field, const std::string& name,
                                const std::vector<std::string>& known) {
    const std::string nearest = nearest_name(name, known);
    throw InputError("", field, "\"" + name + "\"",
                     nearest.empty() ? "a name of the scene" : "did you mean \"" + nearest + "\"?");
}

}  // namespace

/// What changes while a world runs, beside its loops.
struct World::Live {
    struct TimedCommand {
        std::uint64_t tick = 0;  ///< applied before it
        Command command;
    };
    struct Script {
        std::vector<TimedCommand> commands;
        std::size_t next = 0;
        std::uint64_t ticks_before_reset = 0;  ///< by the script itself, which goes on
    };
    std::vector<Script> scripts;              ///< of each loop, touched by its thread only
    std::vector<std::atomic<double>> values;  ///< of the parameters, for any thread
    /// The same as each loop has them, touched by its thread only.
    std::vector<std::vector<double>> values_in;
};

World::World(SceneDescription scene, WorldParts parts)
    : scene_(std::move(scene)),
      loops_(std::move(parts.loops)),
      bodies_(std::move(parts.bodies)),
      warnings_(std::move(parts.warnings)),
      live_(std::make_unique<Live>()) {
    assert(!loops_.empty());
    live_->scripts.resize(loops_.size());
    list_parameters();
    write_script();
}

World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

void World::list_parameters() {
    const auto add = [&](const std::vector<LiveParameter>& found, const std::string& prefix,
                         int description) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            parameters_.push_back({found[i], description, static_cast<int>(i)});
            parameters_.back().parameter.name = prefix + found[i].name;
        }
    };
    add(loops_[0]->parameters(), "", -1);
    // once for all copies
    int last = -1;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const int description = bodies_[i].description;
        if (description == last) continue;
        last = description;
        const auto d = static_cast<std::size_t>(description);
        const std::string& name =
            d < scene_.bodies.size() ? scene_.bodies[d].name : bodies_[i].name;
        add(body(static_cast<int>(i)).parameters(), name + ".", description);
    }
    const auto add_of_loop = [&](const std::vector<LiveParameter>& found, const std::string& prefix,
                                 int l, int contact) {
        const std::size_t first = parameters_.size();
        add(found, prefix, -1);
        for (std::size_t i = first; i < parameters_.size(); ++i) {
            parameters_[i].loop = l;
            parameters_[i].contact = contact;
        }
    };
    for (int l = 0; l < num_loops(); ++l) {
        for (int c = 0; c < loop(l).num_contacts(); ++c)
            add_of_loop(loop(l).contact_parameters(c), loop(l).contact(c).name + ".", l, c);
        add_of_loop(loop(l).haptic_parameters(), "", l, -1);
    }
    live_->values = std::vector<std::atomic<double>>(parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        live_->values[i].store(parameters_[i].parameter.value, std::memory_order_relaxed);
    std::vector<double> first;
    for (const WorldParameter& one : parameters_) first.push_back(one.parameter.value);
    live_->values_in.assign(loops_.size(), first);
}

/// Events become commands: names are looked up, places are picked on the surfaces at the start.
void World::write_script() {
    for (std::size_t e = 0; e < scene_.script.size(); ++e) {
        const ScriptEvent& event = scene_.script[e];
        const std::string path = "script[" + std::to_string(e) + "].";
        if (!std::isfinite(event.time) || event.time < 0)
            throw InputError("", path + "time", std::to_string(event.time), "seconds from 0 on");
        Command command{.kind = event.kind,
                        .slot = event.slot,
                        .duration = event.duration,
                        .value = event.value};
        std::copy_n(event.target.data(), 3, command.target.begin());
        command.rotation = {event.rotation.w(), event.rotation.x(), event.rotation.y(),
                            event.rotation.z()};
        command.buttons = event.buttons;
        if (takes_slot(command)) {
            command.body = find_body(event.body);
            if (command.body < 0) command.body = find_body(event.body + "[0]");
            if (command.body < 0) {
                std::vector<std::string> known;
                for (const WorldBody& one : bodies_) known.push_back(one.name);
                throw_unknown(path + "body", event.body, known);
            }
            const SurfacePoint point = nearest_point(command.body, event.at);
            command.triangle = point.triangle;
            std::copy_n(point.barycentric.data(), 3, command.barycentric.begin());
        } else if (command.kind == Kind::SetParameter) {
            command.parameter = find_parameter(event.parameter);
            if (command.parameter < 0) {
                std::vector<std::string> known;
                for (const WorldParameter& one : parameters_) known.push_back(one.parameter.name);
                throw_unknown(path + "parameter", event.parameter, known);
            }
        }
        for (std::size_t l = 0; l < loops_.size(); ++l)
            if (concerns(command, static_cast<int>(l)))
                live_->scripts[l].commands.push_back(
                    {tick_at(event.time, static_cast<int>(l)), command});
    }
    for (Live::Script& script : live_->scripts)
        std::stable_sort(script.commands.begin(), script.commands.end(),
                         [](const auto& a, const auto& b) { return a.tick < b.tick; });
}

const Body& World::body(int i) const noexcept {
    const WorldBody& entry = bodies_[static_cast<std::size_t>(i)];
    return loop(entry.loop).body(entry.place);
}

int World::find_body(const std::string& name) const noexcept {
    const auto found = std::find_if(bodies_.begin(), bodies_.end(),
                                    [&](const WorldBody& body) { return body.name == name; });
    return found == bodies_.end() ? -1 : static_cast<int>(found - bodies_.begin());
}

int World::find_parameter(const std::string& name) const noexcept {
    const auto found =
        std::find_if(parameters_.begin(), parameters_.end(),
                     [&](const WorldParameter& one) { return one.parameter.name == name; });
    return found == parameters_.end() ? -1 : static_cast<int>(found - parameters_.begin());
}

double World::parameter_value(int i) const noexcept {
    return live_->values[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
}

void World::expect_parameter(int i, double value) noexcept { note_parameter(i, value, {}); }

/// `values_in`: those of the loop that has it now; empty: none has it yet.
void World::note_parameter(int i, double value, std::span<double> values_in) noexcept {
    const auto p = static_cast<std::size_t>(i);
    if (i < 0 || p >= parameters_.size() || !std::isfinite(value)) return;
    const auto store = [&](std::size_t k, double wanted) {
        const double noted = clamped(parameters_[k].parameter, wanted);
        live_->values[k].store(noted, std::memory_order_relaxed);
        if (!values_in.empty()) values_in[k] = noted;
    };
    store(p, value);
    // one stiffness for all contacts of a tool in a hand, the last that was set
    const auto is_of_tool = [&](const WorldParameter& one) {
        return one.contact >= 0 && one.index == SimulationLoop::kContactStiffness &&
               loop(one.loop).shares_stiffness(one.contact);
    };
    if (!is_of_tool(parameters_[p])) return;
    for (std::size_t k = 0; k < parameters_.size(); ++k)
        if (k != p && parameters_[k].loop == parameters_[p].loop && is_of_tool(parameters_[k]))
            store(k, clamped(parameters_[p].parameter, value));
}

bool World::concerns(const Command& command, int loop) const noexcept {
    switch (command.kind) {
        case Kind::Grab:
        case Kind::Poke:
            return command.body >= 0 && command.body < static_cast<int>(bodies_.size());
        case Kind::MoveTool: {
            const SimulationLoop& one = *loops_[static_cast<std::size_t>(loop)];
            return one.tool() != nullptr || one.haptics() != nullptr;
        }
        case Kind::SetParameter: {
            if (command.parameter < 0 || command.parameter >= static_cast<int>(parameters_.size()))
                return false;
            const WorldParameter& parameter =
                parameters_[static_cast<std::size_t>(command.parameter)];
            const int description = parameter.description;
            if (parameter.loop >= 0) return parameter.loop == loop;
            return description < 0 ||
                   std::any_of(bodies_.begin(), bodies_.end(), [&](const WorldBody& body) {
                       return body.description == description && body.loop == loop;
                   });
        }
        case Kind::Drag:
        case Kind::Release:
        case Kind::Reset: return true;
        case Kind::Exchange: return false;
    }
    return false;
}

void World::apply(const Command& command, int loop) noexcept {
    if (!is_finite(command) || !concerns(command, loop)) return;
    const auto l = static_cast<std::size_t>(loop);
    if (command.kind == Kind::Reset) {
        loops_[l]->apply(Command{.kind = Kind::Reset});
        live_->scripts[l].next = 0;
        live_->scripts[l].ticks_before_reset = 0;
    } else if (command.kind == Kind::SetParameter) {
        const WorldParameter& parameter = parameters_[static_cast<std::size_t>(command.parameter)];
        const double value = clamped(parameter.parameter, command.value);
        if (parameter.contact >= 0)
            loops_[l]->set_contact_parameter(parameter.contact, parameter.index, value);
        else if (parameter.loop >= 0)
            loops_[l]->set_haptic_parameter(parameter.index, value);
        else if (parameter.description < 0)
            loops_[l]->set_parameter(parameter.index, value);
        for (const WorldBody& body : bodies_)
            if (body.description == parameter.description && body.loop == loop)
                loops_[l]->body(body.place).set_parameter(parameter.index, value);
        note_parameter(command.parameter, value, live_->values_in[l]);
    } else {
        loops_[l]->apply(command);
    }
}

void World::apply(const Command& command) noexcept {
    for (int l = 0; l < num_loops(); ++l) apply(command, l);
}

void World::restore_parameters(std::span<const double> values, int loop) noexcept {
    const std::vector<double>& now = live_->values_in[static_cast<std::size_t>(loop)];
    for (std::size_t i = 0; i < std::min(values.size(), now.size()); ++i)
        if (now[i] != values[i])
            apply(
                {.kind = Kind::SetParameter, .parameter = static_cast<int>(i), .value = values[i]},
                loop);
}

std::uint64_t World::elapsed_ticks(int loop) const noexcept {
    const auto l = static_cast<std::size_t>(loop);
    return live_->scripts[l].ticks_before_reset + loops_[l]->ticks();
}

void World::run_script(int loop) noexcept {
    Live::Script& script = live_->scripts[static_cast<std::size_t>(loop)];
    const std::uint64_t tick = elapsed_ticks(loop);
    while (script.next < script.commands.size() && script.commands[script.next].tick <= tick) {
        const Command& command = script.commands[script.next++].command;
        if (command.kind == Kind::Reset) {
            this->loop(loop).reset();
            script.ticks_before_reset = tick;
        } else {
            apply(command, loop);
        }
    }
}

std::uint64_t World::tick_at(double time, int loop) const noexcept {
    return pliant::tick_at(time, this->loop(loop).settings().rate);
}

int World::next_loop() const noexcept {
    return next_to_tick(
        num_loops(), [](int) { return true; }, [&](int l) { return elapsed_ticks(l); },
        [&](int l) { return loop(l).settings().rate; });
}

int World::advance() noexcept {
    const int next = next_loop();
    run_script(next);
    loop(next).tick();
    return next;
}

void World::advance_to(double time) noexcept {
    assert(std::isfinite(time));
    for (int l = 0; l < num_loops(); ++l)
        while (elapsed_ticks(l) < tick_at(time, l)) advance();
}

void World::reset() noexcept {
    for (const auto& loop : loops_) loop->rewind_device();
    apply(Command{.kind = Kind::Reset});
}

std::uint64_t World::state_hash() const {
    std::uint64_t hash = 0;
    std::vector<double> state;
    const auto add = [&](const Body& body) {
        state.resize(static_cast<std::size_t>(body.state_size()));
        body.save_state(state);
        hash = hash_bytes(state.data(), state.size() * sizeof(double), hash);
    };
    for (const auto& loop : loops_) {
        const std::uint64_t ticks = loop->ticks();
        hash = hash_bytes(&ticks, sizeof ticks, hash);
        if (loop->tool()) add(*loop->tool());
        if (const HapticTick* const tick = loop->haptic_tick()) {
            const HapticRecord record = to_record(*tick);
            hash = hash_bytes(&record, sizeof record, hash);
        }
    }
    for (int i = 0; i < static_cast<int>(bodies_.size()); ++i) add(body(i));
    return hash;
}

SurfacePoint World::nearest_point(int body, const Eigen::Vector3d& x_world) const {
    const Body& one = this->body(body);
    const SurfaceMesh& surface = one.surface();
    std::vector<Eigen::Vector3d> x(surface.vertices.size());
    for (std::size_t v = 0; v < x.size(); ++v)
        x[v] = one.position(SurfacePoint::at_vertex(static_cast<int>(v)));
    SurfacePoint nearest;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
        const auto& [a, b, c] = surface.triangles[t];
        const detail::TrianglePoint found = detail::nearest_on_triangle(
            x_world, x[static_cast<std::size_t>(a)], x[static_cast<std::size_t>(b)],
            x[static_cast<std::size_t>(c)]);
        if (!(found.distance_squared < smallest)) continue;
        smallest = found.distance_squared;
        nearest = SurfacePoint::on_triangle(static_cast<int>(t), found.barycentric);
    }
    return nearest;
}

}  // namespace pliant
