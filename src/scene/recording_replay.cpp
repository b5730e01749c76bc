#include <algorithm>
#include <cstring>
#include <string_view>

#include "pliant/core/error.h"
#include "pliant/core/json_value.h"
#include "pliant/scene/recording.h"
#include "pliant/scene/scene_file.h"
#include "scene/haptic_record.h"
#include "scene/loop_order.h"
#include "scene/recorded_bodies.h"

namespace pliant {
namespace {

/// One loop while it runs again.
struct LoopReplay {
    std::uint64_t ticks = 0;       // since the start, whatever resets there were
    std::size_t next_command = 0;  // of the recording
    std::size_t next_haptic = 0;   // of the recording
    std::vector<int> bodies;       // of the recording's header
    bool has_begun = false;        // commands and script of the next tick are done
    std::uint64_t seen = 0;        // of the other loop, by the next tick
    bool is_ready = false;         // the other loop has done so much
};

/// Whether loops saw of each other what they happened to: made by an engine, with a tool among full
/// FEM bodies.
bool has_exchanges(const Recording& recording, int num_loops) {
    for (int l = 0; l < num_loops; ++l)
        for (const Recording::TimedCommand& timed : recording.commands(l))
            if (timed.command.kind == Command::Kind::Exchange) return true;
    return false;
}

/// Brings parameters to where they were when the recording began.
void set_parameters(const RecordingHeader& header, World& world) {
    for (const auto& [name, value] : header.parameters) {
        const int parameter = world.find_parameter(name);
        if (parameter < 0)
            throw InputError("", "the recording has a parameter '" + name +
                                     "' that its scene no longer has; was it made by another "
                                     "version (" +
                                     header.version + ")?");
        if (world.parameter_value(parameter) != value)
            world.apply(Command{
                .kind = Command::Kind::SetParameter, .parameter = parameter, .value = value});
    }
}

/// What says that the device is played, before its own name.
constexpr std::string_view kPlayedName = "recording of ";
/// Readings that are older than the one before by this much: the loop was reset [s].
constexpr double kClockFall = 0.02;

/// Of the tool in a hand, one for each tick. `file` is for messages, or empty.
const HapticTicks& all_haptics(const Recording& recording, const std::string& file,
                               bool may_be_cut) {
    const std::optional<RecordingHeader::Device>& device = recording.header().device;
    if (!device)
        throw InputError(file,
                         "nothing was held in a hand in this recording, so that it has no "
                         "readings of a device; record a scene with \"tool\": {\"body\": …}");
    const HapticTicks& ticks = recording.haptics(device->loop);
    const std::uint64_t num_ticks = recording.num_ticks(device->loop);
    // a file may be cut between what the last tick left
    const bool is_cut = may_be_cut && !recording.is_complete() && ticks.size() + 1 == num_ticks;
    if (ticks.size() != num_ticks && !is_cut)
        throw InputError(file, "the recording has " + std::to_string(ticks.size()) +
                                   " readings of its device for " + std::to_string(num_ticks) +
                                   " ticks; it cannot be simulated again");
    if (ticks.empty()) throw InputError(file, "no tick was recorded; record a longer run");
    return ticks;
}

}  // namespace

std::optional<DeviceDescription> recorded_device(const Recording& recording) {
    const std::optional<RecordingHeader::Device>& device = recording.header().device;
    // what was itself played from a file is here as well: that file is not needed
    if (!device || (device->is_virtual && device->kind != "recorded")) return std::nullopt;
    RecordedDescription again;
    again.capabilities = device->capabilities;
    for (const HapticTick& tick : all_haptics(recording, "", false))
        again.states.push_back(tick.device);
    return again;
}

SceneDescription recorded_scene(const Recording& recording, const std::string& name) {
    const RecordingHeader& header = recording.header();
    std::string text = header.scene;
    const JsonValue json = parse_json(text, name);
    const JsonValue* const device = json.find("device");
    if (device && device->is(JsonValue::Type::Object)) {
        JsonValue::Object scene = json.object();
        const auto is_reach = [](const JsonValue::Member& member) {
            return member.first == "library" || member.first == "address" || member.first == "url";
        };
        for (auto& [key, value] : scene) {
            if (key != "device") continue;
            JsonValue::Object kept = value.object();
            if (std::erase_if(kept, is_reach) == 0) break;
            value = JsonValue(std::move(kept));
            text = to_text(JsonValue(scene), std::string::npos);
            break;
        }
    }
    return parse_scene(text, name, header.scene_folder);
}

World replay_world(const Recording& recording, const std::string& name, WorldOptions options,
                   Progress& progress) {
    SceneDescription scene = recorded_scene(recording, name);
    options.device = recorded_device(recording);
    if (!options.device && !is_virtual(scene.device))
        throw InputError(name, std::string("has no readings of the ") + kind(scene.device) +
                                   " device that its scene names, and a replay opens none; record "
                                   "the scene again, or run it with pliant run");
    if (options.say && scene.text != recording.header().scene)
        options.say(
            "device: the library or address that the recording names is left out; a "
            "replay opens no device");
    return World(std::move(scene), options, progress);
}

RecordedDescription recorded_readings(const Recording& recording, const std::string& name) {
    const HapticTicks& ticks = all_haptics(recording, name, true);
    HapticTicks::Reader reader(ticks);
    const RecordingHeader::Device& device = *recording.header().device;
    RecordedDescription played;
    played.capabilities = device.capabilities;
    if (!played.capabilities.name.starts_with(kPlayedName))
        played.capabilities.name.insert(0, kPlayedName);
    played.rate = recording.header().loops[static_cast<std::size_t>(device.loop)].rate;
    played.states.reserve(ticks.size());
    double last = 0, before = 0;  // on the recorded clock: the last reading; the last reset
    for (std::size_t k = 0; k < ticks.size(); ++k) {
        DeviceState& state = played.states.emplace_back(reader[k].device);
        if (state.status != DeviceStatus::Disconnected) {
            if (state.time < last - kClockFall)
                before = static_cast<double>(k + 1) / played.rate - state.time;
            last = state.time;
        }
        state.time += before;
    }
    return played;
}

std::vector<Keyframe> recorded_path(const Recording& recording, const std::string& name) {
    const HapticTicks& ticks = all_haptics(recording, name, true);
    HapticTicks::Reader reader(ticks);
    const auto loop = static_cast<std::size_t>(recording.header().device->loop);
    const double rate = recording.header().loops[loop].rate;
    std::vector<Keyframe> keys;
    keys.reserve(ticks.size());
    for (std::size_t k = 0; k < ticks.size(); ++k)
        if (is_finite(reader[k].manipulandum))
            keys.push_back({static_cast<double>(k + 1) / rate, reader[k].manipulandum});
    if (keys.empty()) throw InputError(name, "has no place of a hand to follow");
    return keys;
}

std::vector<Body*> recorded_bodies(const Recording& recording, World& world) {
    std::vector<Body*> bodies;
    for (const RecordingHeader::RecordedBody& recorded : recording.header().bodies) {
        const int i = world.find_body(recorded.name);
        if (i < 0) throw InputError("", "the scene has no body '" + recorded.name + "' any more");
        const WorldBody& entry = world.bodies()[static_cast<std::size_t>(i)];
        Body& body = world.loop(entry.loop).body(entry.place);
        if (body.state_size() != recorded.state_size)
            throw InputError("",
                             "'" + recorded.name + "' had " + std::to_string(recorded.state_size) +
                                 " numbers of state when it was recorded and now has " +
                                 std::to_string(body.state_size()) + "; was its model built anew?");
        bodies.push_back(&body);
    }
    return bodies;
}

ReplayCheck check_replay(const Recording& recording, World& world, Progress& progress) {
    const RecordingHeader& header = recording.header();
    const int num_loops = static_cast<int>(header.loops.size());
    if (num_loops != world.num_loops())
        throw InputError("", "the recording has " + std::to_string(num_loops) +
                                 " loops, its scene now " + std::to_string(world.num_loops()));
    const std::vector<Body*> bodies = recorded_bodies(recording, world);
    std::vector<LoopReplay> loops(static_cast<std::size_t>(num_loops));
    std::vector<HapticTicks::Reader> haptics;
    for (int l = 0; l < num_loops; ++l) haptics.emplace_back(recording.haptics(l));
    std::uint64_t total = 0;
    for (int l = 0; l < num_loops; ++l) total += recording.num_ticks(l);
    for (int i = 0; i < static_cast<int>(bodies.size()); ++i) {
        const auto loop = static_cast<std::size_t>(header.bodies[static_cast<std::size_t>(i)].loop);
        loops[loop].bodies.push_back(i);
    }

    ReplayCheck check;
    std::vector<int> next_state(bodies.size());
    std::vector<double> state;
    const auto note = [&](const std::string& name, std::uint64_t tick, bool is_different) {
        ++check.num_compared;
        if (is_different && check.num_different++ == 0)
            check.first_difference = name + " at tick " + std::to_string(tick);
    };
    const auto compare = [&](const LoopReplay& loop) {
        for (const int i : loop.bodies) {
            int& k = next_state[static_cast<std::size_t>(i)];
            if (k >= recording.num_states(i) || recording.state_tick(i, k) != loop.ticks) continue;
            const std::span<const double> recorded = recording.state(i, k++);
            state.resize(recorded.size());
            bodies[static_cast<std::size_t>(i)]->save_state(state);
            note(header.bodies[static_cast<std::size_t>(i)].name, loop.ticks,
                 std::memcmp(state.data(), recorded.data(), recorded.size_bytes()) != 0);
        }
    };
    // of the tool in a hand, after the same tick
    const auto compare_haptics = [&](int l, LoopReplay& loop) {
        const HapticTick* const now = world.loop(l).haptic_tick();
        if (!now) return;
        const std::vector<std::uint64_t>& ticks = recording.haptic_ticks(l);
        std::size_t& k = loop.next_haptic;
        while (k < ticks.size() && ticks[k] < loop.ticks) ++k;
        if (k == ticks.size() || ticks[k] != loop.ticks) {
            // a file that is not whole may lack it, and says so itself
            if (check.num_skipped++ == 0 && recording.is_complete())
                note("the tool in the hand (the recording lacks what it did)", loop.ticks, true);
            return;
        }
        const HapticRecord a = to_record(haptics[static_cast<std::size_t>(l)][k]),
                           b = to_record(*now);
        note("the tool in the hand", loop.ticks, std::memcmp(&a, &b, sizeof a) != 0);
    };

    const auto begin_tick = [&](LoopReplay& loop, int l) {
        const std::vector<Recording::TimedCommand>& commands = recording.commands(l);
        for (;
             loop.next_command < commands.size() && commands[loop.next_command].tick <= loop.ticks;
             ++loop.next_command) {
            const Command& command = commands[loop.next_command].command;
            if (command.kind == Command::Kind::Exchange)
                loop.seen = static_cast<std::uint64_t>(std::clamp(command.value, 0.0, 1e15));
            else
                world.apply(command, l);
        }
        world.run_script(l);
        loop.has_begun = true;
    };
    /// All up to the next tick, as soon as it can be done.
    const auto prepare = [&](int l) {
        LoopReplay& loop = loops[static_cast<std::size_t>(l)];
        if (loop.is_ready || loop.ticks >= recording.num_ticks(l)) return;
        if (!loop.has_begun) begin_tick(loop, l);
        // what the other loop had done by then, no less and no more
        loop.is_ready = world.loop(l).receive(loop.seen);
    };
    /// Whether what a loop waits for was done after the last tick of another one in the file: they
    /// end to record one after the other, within moments.
    const auto saw_more = [&](int l) {
        for (int o = 0; o < num_loops; ++o)
            if (o != l && world.loop(o).exchanges() &&
                loops[static_cast<std::size_t>(o)].ticks >= recording.num_ticks(o))
                return true;
        return false;
    };

    if (has_exchanges(recording, num_loops))
        for (int l = 0; l < num_loops; ++l) world.loop(l).keep_exchange();
    // a recording begins with a reset, whatever was set before
    set_parameters(header, world);
    world.reset();
    for (const LoopReplay& loop : loops) compare(loop);
    progress.stage("replay", static_cast<std::size_t>(total));
    for (std::uint64_t done = 0; done < total; ++done) {
        for (int l = 0; l < num_loops; ++l) prepare(l);
        // the order of World::advance
        const auto at = [&](int l) -> LoopReplay& { return loops[static_cast<std::size_t>(l)]; };
        const int next = next_to_tick(
            num_loops, [&](int l) { return at(l).is_ready; }, [&](int l) { return at(l).ticks; },
            [&](int l) { return world.loop(l).settings().rate; });
        if (next < 0) {
            bool is_end = true;
            for (int l = 0; l < num_loops; ++l)
                if (at(l).ticks < recording.num_ticks(l)) is_end = is_end && saw_more(l);
            if (!is_end) {
                note("the tool in the hand (ticks of the other loop are missing)", done, true);
                break;
            }
            check.num_beyond = total - done;
            for (int l = 0; l < num_loops && recording.is_complete(); ++l) {
                const std::uint64_t left = recording.num_ticks(l) - at(l).ticks;
                const RecordingHeader::Loop& of = header.loops[static_cast<std::size_t>(l)];
                // more than a second: its loops did not end together, or records were lost
                if (static_cast<double>(left) > std::max(of.rate, 1.0))
                    note("the loop \"" + of.name + "\" (its last " + std::to_string(left) +
                             " ticks saw more of another loop than the recording has)",
                         at(l).ticks, true);
            }
            break;
        }
        LoopReplay& loop = at(next);
        world.loop(next).tick();
        loop.has_begun = loop.is_ready = false;
        loop.seen = 0;
        ++loop.ticks;
        compare(loop);
        compare_haptics(next, loop);
        progress.advance();
    }
    progress.finish();
    return check;
}

}  // namespace pliant
