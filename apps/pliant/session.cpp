#include "session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "core/printable.h"
#include "device_options.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_writer.h"
#include "pliant/scene/body_watch.h"
#include "pliant/scene/recording.h"
#include "pliant/scene/scene_file.h"
#include "stopwatch.h"
#include "viewing.h"

namespace pliant::cli {
namespace {

WorldOptions world_options(const Arguments& arguments) {
    WorldOptions options;
    if (!arguments.json())
        options.say = [](const std::string& line) {
            std::fprintf(stderr, "%s\n", printable(line, "\n").c_str());
        };
    return options;
}

/// What a run in virtual time was like.
struct Summary {
    double simulated = 0, wall = 0, peak_force = 0;
    std::vector<TickHistogram> work;  ///< of each loop
    std::uint64_t recorded_bytes = 0;
    double oscillation = 0;  ///< of the force on the hand, the largest of all windows [N]
    BodyWatch watch;
};

/// Of the tool in a hand; null: there is none.
const HapticTick* haptics_of(const World& world, const HapticInfo*& info) {
    for (int l = 0; l < world.num_loops(); ++l)
        if ((info = world.loop(l).haptics()) != nullptr) return world.loop(l).haptic_tick();
    return nullptr;
}

Summary simulate(const Arguments& arguments, World& world, double duration) {
    Summary summary{.work = {}, .watch = BodyWatch(world)};
    std::uint64_t num_ticks = 0;
    for (int l = 0; l < world.num_loops(); ++l) {
        num_ticks += world.tick_at(duration, l);
        summary.work.emplace_back(1e6 * world.loop(l).dt());
    }
    std::optional<WorldRecorder> recorder;
    if (arguments.has("--record"))
        recorder.emplace(arguments.text("--record"), world, recording_header(world));

    constexpr std::uint64_t kTicksBetweenLooks = 64;
    Progress progress(progress_style(arguments));
    progress.stage("simulating", num_ticks);
    const auto start = Clock::now();
    const auto advance = [&] {
        const double before = thread_cpu_time_us();
        const int loop = world.advance();
        const double work = thread_cpu_time_us() - before;
        summary.work[static_cast<std::size_t>(loop)].record(work);
        const std::array<double, 3>& force = world.loop(loop).sample().force;
        summary.peak_force = std::max(summary.peak_force, std::hypot(force[0], force[1], force[2]));
        if (const HapticTick* const haptics = world.loop(loop).haptic_tick())
            summary.oscillation = std::max(summary.oscillation, haptics->oscillation);
        if (recorder) recorder->add_tick(world, loop, work);
        summary.watch.look_after_tick(loop);
    };
    try {
        for (std::uint64_t tick = 0; tick < num_ticks; ++tick) {
            advance();
            if ((tick + 1) % kTicksBetweenLooks == 0) progress.advance(kTicksBetweenLooks);
        }
    } catch (const Cancelled&) {
        if (recorder) recorder->finish();  // says what is lost
        throw;
    }
    summary.wall = seconds_since(start);
    progress.finish();
    summary.watch.look_at_all();
    summary.simulated = world.loop(0).time();
    if (recorder) {
        recorder->finish();
        summary.recorded_bytes = recorder->bytes_written();
    }
    return summary;
}

using StatusCounts = std::array<std::uint64_t, kNumStepStatuses>;

/// Of bodies, contacts and commands.
StatusCounts status_counts(const World& world) {
    StatusCounts counts{};
    for (int l = 0; l < world.num_loops(); ++l) {
        const LoopFrame frame = world.loop(l).make_frame();
        for (std::size_t s = 0; s < counts.size(); ++s) counts[s] += frame.status_counts[s];
    }
    return counts;
}

/// What does not look right: ticks that took longer than their period, and bodies.
void print_troubles(const World& world, const Summary& summary) {
    for (int l = 0; l < world.num_loops(); ++l) {
        const SimulationLoop& loop = world.loop(l);
        const TickHistogram::Summary work = summary.work[static_cast<std::size_t>(l)].summary();
        if (work.missed > 0)
            std::printf(
                "%-12s %s of %s ticks of \"%s\" took longer than their %.3g ms, up to %.3g "
                "ms%s\n",
                "late", grouped(static_cast<std::int64_t>(work.missed)).c_str(),
                grouped(static_cast<std::int64_t>(work.count)).c_str(),
                loop.settings().name.c_str(), 1e3 * loop.dt(), 1e-3 * work.max_us,
                work.p50_us > 1e6 * loop.dt() ? ": it cannot run in real time" : "");
    }
    for (const std::string& text : summary.watch.texts())
        std::printf("%-12s %s\n", "not well", text.c_str());
}

/// Where those bodies were that have moved, and how fast they are.
void print_bodies(const World& world, const BodyWatch& watch) {
    constexpr int kMost = 12;
    int count = 0;
    for (int b = 0; b < static_cast<int>(world.bodies().size()); ++b) {
        const BodySight& sight = watch.sight(b);
        if (!sight.has_moved || ++count > kMost) continue;
        std::printf(
            "%-12s z from %.4g to %.4g m%s, %.3g m/s at the end\n",
            printable(world.bodies()[static_cast<std::size_t>(b)].name).c_str(), sight.lowest,
            sight.highest,
            std::isfinite(sight.least_volume) && world.body(b).kind() != "rigid"
                ? format(", %.3g %% of its volume at least", 100 * sight.least_volume).c_str()
                : "",
            watch.speed(b));
    }
    if (count > kMost) std::printf("%-12s and %d more bodies moved\n", "", count - kMost);
}

void put_bodies(JsonWriter& json, const World& world, const BodyWatch& watch) {
    json.key("bodies").begin_array();
    for (int b = 0; b < static_cast<int>(world.bodies().size()); ++b) {
        const BodySight& sight = watch.sight(b);
        json.begin_object()
            .member("name", world.bodies()[static_cast<std::size_t>(b)].name)
            .member("lowest_m", sight.lowest)
            .member("highest_m", sight.highest)
            .member("least_volume", sight.least_volume)
            .member("speed_m_s", watch.speed(b))
            .member("moved", sight.has_moved)
            .end_object();
    }
    json.end_array();
}

void put_troubles(JsonWriter& json, const World& world, const BodyWatch& watch) {
    json.key("warnings").begin_array();
    for (const std::string& warning : world.warnings()) json.value(warning);
    json.end_array().key("troubles").begin_array();
    for (const BodyTrouble& trouble : watch.troubles())
        json.begin_object()
            .member("body", world.bodies()[static_cast<std::size_t>(trouble.body)].name)
            .member("what", trouble.name())
            .member("since_s", trouble.since)
            .member("until_s", trouble.until)
            .member("steps", trouble.count)
            .member("value", trouble.value)
            .member("text", watch.text(trouble))
            .end_object();
    json.end_array();
}

void print_summary(const Arguments& arguments, const World& world, const Summary& summary) {
    const StatusCounts statuses = status_counts(world);
    std::printf("%-12s %.6g s simulated in %.3g s, %.3g times as fast\n",
                printable(world.scene().name).c_str(), summary.simulated, summary.wall,
                summary.simulated / std::max(summary.wall, 1e-9));
    for (int l = 0; l < world.num_loops(); ++l) {
        const TickHistogram::Summary work = summary.work[static_cast<std::size_t>(l)].summary();
        std::printf("%-12s %s ticks at %g Hz, work p50 %.1f µs, p99 %.1f, p99.9 %.1f, max %.1f\n",
                    printable(world.loop(l).settings().name).c_str(),
                    grouped(static_cast<std::int64_t>(work.count)).c_str(),
                    world.loop(l).settings().rate, work.p50_us, work.p99_us, work.p999_us,
                    work.max_us);
    }
    std::printf("%-12s %.4g N at most on the hand\n", "force", summary.peak_force);
    const HapticInfo* info = nullptr;
    if (const HapticTick* const haptics = haptics_of(world, info)) {
        if (haptics->max_depth > 0)
            std::printf("%-12s %.3g of %.3g mm at most, %s of %s ticks deeper\n", "depth",
                        1e3 * haptics->worst_depth, 1e3 * haptics->max_depth,
                        grouped(static_cast<std::int64_t>(haptics->violations)).c_str(),
                        grouped(static_cast<std::int64_t>(world.loop(0).ticks())).c_str());
        else
            std::printf("%-12s %.3g mm at most\n", "depth", 1e3 * haptics->worst_depth);
        std::printf("%-12s %s, up to %.3g N and %.3g N m, 1 : %.3g, oscillation %.3g N at most\n",
                    "device", printable(info->capabilities.name).c_str(),
                    info->capabilities.max_force, info->capabilities.max_torque,
                    1 / info->workspace.scale, summary.oscillation);
        if (haptics->faults > 0)
            std::printf("%-12s %s jumped or were faster than a hand: without force\n", "readings",
                        grouped(static_cast<std::int64_t>(haptics->faults)).c_str());
        if (info->kind == "recorded" && haptics->device.status == DeviceStatus::Disconnected)
            std::printf("%-12s has ended: the tool stayed where it was, without force\n",
                        "recording");
    }
    for (std::size_t s = 1; s < statuses.size(); ++s)
        if (statuses[s] > 0)
            std::printf("%-12s %s steps said %s\n", "status",
                        grouped(static_cast<std::int64_t>(statuses[s])).c_str(),
                        std::string(to_string(static_cast<StepStatus>(s))).c_str());
    print_bodies(world, summary.watch);
    print_troubles(world, summary);
    std::printf("%-12s %s\n", "state", hash_text(world.state_hash()).c_str());
    if (arguments.has("--record"))
        std::printf("%-12s %s, %s\n", "recording", arguments.text("--record").c_str(),
                    byte_size(static_cast<double>(summary.recorded_bytes)).c_str());
}

void print_json(const Arguments& arguments, const World& world, const Summary& summary) {
    JsonWriter json;
    json.begin_object()
        .member("scene", world.scene().name)
        .member("simulated_s", summary.simulated)
        .member("wall_s", summary.wall)
        .key("loops")
        .begin_array();
    for (int l = 0; l < world.num_loops(); ++l) {
        const TickHistogram::Summary work = summary.work[static_cast<std::size_t>(l)].summary();
        json.begin_object()
            .member("name", world.loop(l).settings().name)
            .member("rate_hz", world.loop(l).settings().rate)
            .member("ticks", work.count)
            .member("missed", work.missed)
            .member("p50_us", work.p50_us)
            .member("p99_us", work.p99_us)
            .member("p999_us", work.p999_us)
            .member("max_us", work.max_us)
            .end_object();
    }
    json.end_array().member("peak_force_N", summary.peak_force);
    const HapticInfo* info = nullptr;
    if (const HapticTick* const haptics = haptics_of(world, info))
        json.key("haptics")
            .begin_object()
            .member("device", info->capabilities.name)
            .member("max_force_N", info->capabilities.max_force)
            .member("max_torque_Nm", info->capabilities.max_torque)
            .member("worst_depth_m", haptics->worst_depth)
            .member("max_depth_m", haptics->max_depth)
            .member("violations", haptics->violations)
            .member("oscillation_N", summary.oscillation)
            .end_object();
    json.key("statuses").begin_object();
    const StatusCounts statuses = status_counts(world);
    for (std::size_t s = 0; s < statuses.size(); ++s)
        json.member(to_string(static_cast<StepStatus>(s)), statuses[s]);
    json.end_object();
    put_bodies(json, world, summary.watch);
    put_troubles(json, world, summary.watch);
    json.member("state_hash", hash_text(world.state_hash()));
    if (arguments.has("--record"))
        json.member("recording", arguments.text("--record"))
            .member("recording_bytes", summary.recorded_bytes);
    std::printf("%s\n", json.end_object().text().c_str());
}

int run_headless(const Arguments& arguments, const SceneDescription& scene) {
    for (const char* option : {"--port", "--address", "--keep-token", "--no-browser", "--speed"})
        if (arguments.has(option))
            throw InputError(
                "", std::string(option) + " is for the viewer, which --headless does without");
    if (!is_virtual(scene.device))
        throw InputError("", std::string("--headless runs in virtual time, in which no ") +
                                 kind(scene.device) +
                                 " device can take part; leave it out, or add --device simulated");
    const double duration = arguments.real("--duration", 10, 0, 1e9);
    const std::unique_ptr<World> world = make_world(arguments, scene);
    const Summary summary = simulate(arguments, *world, duration);
    if (arguments.json())
        print_json(arguments, *world, summary);
    else
        print_summary(arguments, *world, summary);
    return 0;
}

bool has_choice(const Arguments& arguments) {
    return std::ranges::any_of(
        std::array{"--device", "--hand", "--recording", "--profile", "--device-library",
                   "--device-address", "--max-force", "--max-torque"},
        [&](const char* option) { return arguments.has(option); });
}

DeviceChoice device_choice(const Arguments& arguments) {
    DeviceChoice choice;
    choice.kind = arguments.text("--device");
    choice.hand = arguments.text("--hand");
    choice.recording = arguments.text("--recording");
    choice.profile = arguments.text("--profile");
    choice.limits = device_limits(arguments);
    choice.library = arguments.text("--device-library");
    choice.address = arguments.text("--device-address");
    if (!choice.profile.empty() && !choice.kind.empty())
        throw InputError("", "--profile says which device it is of; drop --device");
    if (choice.kind == "recorded" && choice.recording.empty())
        throw InputError("",
                         "--device recorded needs the recording that it plays: --recording "
                         "FILE.pliantrec");
    return choice;
}

}  // namespace

std::vector<Option> session_options() {
    std::vector<Option> options = viewing_options();
    options.insert(options.end(),
                   {{"--headless", "",
                     "in virtual time, as fast as possible, for --duration (default 10) "
                     "simulated seconds"},
                    {"--record", "FILE", "write a recording, .pliantrec; see pliant replay"},
                    {"--device", "KIND",
                     "in the hand that holds the tool: simulated, recorded, network, haply, "
                     "force-dimension, openhaptics"},
                    {"--recording", "FILE",
                     "that a recorded device plays or a simulated hand follows, .pliantrec"},
                    {"--hand", "GRIP", "of a simulated device: loose, normal or firm"},
                    {"--profile", "FILE",
                     "the device of a profile that pliant haptics check --profile wrote"}});
    const std::vector<Option> device = device_options();
    options.insert(options.end(), device.begin(), device.end());
    return options;
}

std::unique_ptr<World> make_world(const Arguments& arguments, SceneDescription scene) {
    Progress progress(progress_style(arguments));
    auto world = std::make_unique<World>(std::move(scene), world_options(arguments), progress);
    progress.finish();
    return world;
}

std::unique_ptr<World> make_replay(const Arguments& arguments, const Recording& recording,
                                   const std::string& path) {
    Progress progress(progress_style(arguments));
    auto world =
        std::make_unique<World>(replay_world(recording, path, world_options(arguments), progress));
    progress.finish();
    return world;
}

int run_session(const Arguments& arguments, const SceneDescription& wanted) {
    const DeviceChoice chosen = device_choice(arguments);
    const SceneDescription scene = has_choice(arguments) ? with_device(wanted, chosen) : wanted;
    warn_of_network(scene.device);
    if (arguments.has("--record"))
        check_output(arguments.text("--record"), {".pliantrec"}, Writing::InPlace);
    if (arguments.has("--headless")) return run_headless(arguments, scene);

    ViewerOptions options;
    options.web = viewer_address(arguments);
    options.record = arguments.text("--record");
    options.speed = arguments.real("--speed", 1, 0.01, 1);
    // the scene itself first, where it is not one of the demos
    const auto& demos = demo_list();
    const bool is_demo = std::any_of(demos.begin(), demos.end(),
                                     [&](const DemoInfo& demo) { return demo.name == scene.name; });
    if (!is_demo) options.scenes.push_back({scene.name, scene.description});
    for (const DemoInfo& demo : demos) options.scenes.push_back({demo.name, demo.description});
    // a recording is of one scene, and a library or address of the kind of device that was chosen
    DeviceChoice elsewhere = chosen;
    if (chosen.kind.empty() && chosen.profile.empty()) elsewhere.library = elsewhere.address = "";
    const bool is_elsewhere = has_choice(arguments) && chosen.recording.empty();
    options.open_scene = [scene, elsewhere, is_elsewhere](const std::string& name,
                                                          Progress& progress) {
        SceneDescription next = name == scene.name ? scene : demo_scene(name);
        if (name != scene.name && next.held_tool && is_elsewhere)
            next = with_device(next, elsewhere);
        return std::make_unique<World>(std::move(next), WorldOptions{}, progress);
    };
    std::unique_ptr<World> world = make_world(arguments, scene);
    if (arguments.json())
        for (const std::string& warning : world->warnings())
            std::fprintf(stderr, "warning: %s\n", printable(warning).c_str());
    return serve_viewer(arguments, format("Running at %g Hz", scene.rate),
                        "pull: drag · depth: wheel · tool: T · pause: space · help: ?",
                        [&] { return std::make_unique<ViewerServer>(std::move(world), options); });
}

}  // namespace pliant::cli
