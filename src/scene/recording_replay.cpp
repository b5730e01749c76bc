#include <algorithm>
#include <cstring>

#include "pliant/core/error.h"
#include "pliant/scene/recording.h"
#include "scene/haptic_record.h"
#include "scene/recorded_bodies.h"

namespace pliant {
namespace {

/// One loop while it runs again.
struct LoopReplay {
    std::uint64_t ticks = 0;       // since the start, whatever resets there were
    std::size_t next_command = 0;  // of the recording
    std::vector<int> bodies;       // of the recording's header
    bool has_begun = false;        // commands and script of the next tick are done
    double seen = 0;               // of the other loop, by the next tick
    bool is_waiting = false;       // for the other loop
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

}  // namespace

std::optional<DeviceDescription> recorded_device(const Recording& recording) {
    const std::optional<RecordingHeader::Device>& device = recording.header().device;
    if (!device || device->is_virtual) return std::nullopt;
    const std::vector<HapticTick>& ticks = recording.haptics(device->loop);
    if (ticks.size() != recording.num_ticks(device->loop))
        throw InputError("", "the recording has " + std::to_string(ticks.size()) +
                                 " readings of its device for " +
                                 std::to_string(recording.num_ticks(device->loop)) +
                                 " ticks; it cannot be simulated again");
    RecordedDescription again;
    again.capabilities = device->capabilities;
    again.states.reserve(ticks.size());
    for (const HapticTick& tick : ticks) again.states.push_back(tick.device);
    return again;
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
    // of the tool in a hand, after the tick of its place in the recording
    const auto compare_haptics = [&](int l, std::uint64_t ticks) {
        const std::vector<HapticTick>& recorded = recording.haptics(l);
        const HapticTick* const now = world.loop(l).haptic_tick();
        if (!now || recorded.size() != recording.num_ticks(l)) return;
        const HapticRecord a = to_record(recorded[static_cast<std::size_t>(ticks - 1)]),
                           b = to_record(*now);
        note("the tool in the hand", ticks, std::memcmp(&a, &b, sizeof a) != 0);
    };

    const auto begin_tick = [&](LoopReplay& loop, int l) {
        const std::vector<Recording::TimedCommand>& commands = recording.commands(l);
        for (;
             loop.next_command < commands.size() && commands[loop.next_command].tick <= loop.ticks;
             ++loop.next_command) {
            const Command& command = commands[loop.next_command].command;
            if (command.kind == Command::Kind::Exchange)
                loop.seen = std::clamp(command.value, 0.0, 1e15);
            else
                world.apply(command, l);
        }
        world.run_script(l);
        loop.has_begun = true;
    };

    if (has_exchanges(recording, num_loops))
        for (int l = 0; l < num_loops; ++l) world.loop(l).keep_exchange();
    world.reset();
    set_parameters(header, world);
    for (const LoopReplay& loop : loops) compare(loop);
    progress.stage("replay", static_cast<std::size_t>(total));
    for (std::uint64_t done = 0; done < total;) {
        // the loop that is furthest behind, as World::advance chooses
        int behind = -1;
        const auto time = [&](int l) {
            const auto at = static_cast<std::size_t>(l);
            return static_cast<double>(loops[at].ticks) / header.loops[at].rate;
        };
        for (int l = 0; l < num_loops; ++l) {
            const LoopReplay& one = loops[static_cast<std::size_t>(l)];
            if (one.ticks < recording.num_ticks(l) && !one.is_waiting &&
                (behind < 0 || time(l) < time(behind)))
                behind = l;
        }
        if (behind < 0) {
            note("the tool in the hand (ticks of the other loop are missing)", done, true);
            break;
        }

        LoopReplay& loop = loops[static_cast<std::size_t>(behind)];
        if (!loop.has_begun) begin_tick(loop, behind);
        // what the other loop had done by then, no less and no more
        loop.is_waiting = !world.loop(behind).receive(static_cast<std::uint64_t>(loop.seen));
        if (loop.is_waiting) continue;
        for (LoopReplay& other : loops) other.is_waiting = false;
        world.loop(behind).tick();
        loop.has_begun = false;
        loop.seen = 0;
        ++loop.ticks;
        ++done;
        compare(loop);
        compare_haptics(behind, loop.ticks);
        progress.advance();
    }
    progress.finish();
    return check;
}

}  // namespace pliant
