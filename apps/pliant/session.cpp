#include "session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_writer.h"
#include "pliant/scene/recording.h"
#include "pliant/scene/scene_file.h"
#include "stopwatch.h"
#include "viewing.h"

namespace pliant::cli {
namespace {

WorldOptions world_options(const Arguments& arguments) {
    WorldOptions options;
    if (!arguments.json())
        options.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
    return options;
}

/// What a run in virtual time was like.
struct Summary {
    double simulated = 0, wall = 0, peak_force = 0;
    std::vector<TickHistogram> work;  ///< of each loop
    std::uint64_t recorded_bytes = 0;
    double oscillation = 0;  ///< of the force on the hand, the largest of all windows [N]
};

/// Of the tool in a hand; null: there is none.
const HapticTick* haptics_of(const World& world, const HapticInfo*& info) {
    for (int l = 0; l < world.num_loops(); ++l)
        if ((info = world.loop(l).haptics()) != nullptr) return world.loop(l).haptic_tick();
    return nullptr;
}

/// Whole ticks that reach a time.
std::uint64_t ticks_until(double time, const SimulationLoop& loop) {
    return static_cast<std::uint64_t>(std::ceil(time * loop.settings().rate - 1e-6));
}

Summary simulate(const Arguments& arguments, World& world, double duration) {
    Summary summary;
    std::uint64_t num_ticks = 0;
    for (int l = 0; l < world.num_loops(); ++l) {
        num_ticks += ticks_until(duration, world.loop(l));
        summary.work.emplace_back(1e6 * world.loop(l).dt());
    }
    std::optional<WorldRecorder> recorder;
    if (arguments.has("--record"))
        recorder.emplace(arguments.text("--record"), world, recording_header(world));

    constexpr std::uint64_t kTicksBetweenLooks = 64;
    Progress progress(progress_style(arguments));
    progress.stage("simulating", num_ticks);
    const auto start = Clock::now();
    for (std::uint64_t tick = 0; tick < num_ticks; ++tick) {
        const double before = thread_cpu_time_us();
        const int loop = world.advance();
        const double work = thread_cpu_time_us() - before;
        summary.work[static_cast<std::size_t>(loop)].record(work);
        const std::array<double, 3>& force = world.loop(loop).sample().force;
        summary.peak_force = std::max(summary.peak_force, std::hypot(force[0], force[1], force[2]));
        if (const HapticTick* const haptics = world.loop(loop).haptic_tick())
            summary.oscillation = std::max(summary.oscillation, haptics->oscillation);
        if (recorder) recorder->add_tick(world, loop, work);
        if ((tick + 1) % kTicksBetweenLooks == 0) progress.advance(kTicksBetweenLooks);
    }
    summary.wall = seconds_since(start);
    progress.finish();
    summary.simulated = world.loop(0).time();
    if (recorder) {
        recorder->finish();
        summary.recorded_bytes = recorder->bytes_written();
    }
    return summary;
}

using StatusCounts = std::array<std::uint64_t, kNumStepStatuses>;

StatusCounts status_counts(const World& world) {
    StatusCounts counts{};
    for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i)
        for (std::size_t s = 0; s < counts.size(); ++s)
            counts[s] += world.body(i).report().counts[s];
    return counts;
}

void print_summary(const Arguments& arguments, const World& world, const Summary& summary) {
    const StatusCounts statuses = status_counts(world);
    std::printf("%-12s %.6g s simulated in %.3g s, %.3g times as fast\n",
                world.scene().name.c_str(), summary.simulated, summary.wall,
                summary.simulated / std::max(summary.wall, 1e-9));
    for (int l = 0; l < world.num_loops(); ++l) {
        const TickHistogram::Summary work = summary.work[static_cast<std::size_t>(l)].summary();
        std::printf("%-12s %s ticks at %g Hz, work p50 %.1f µs, p99 %.1f, p99.9 %.1f, max %.1f\n",
                    world.loop(l).settings().name.c_str(),
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
        std::printf("%-12s %s, 1 : %.3g, oscillation %.3g N at most\n", "device",
                    info->capabilities.name.c_str(), 1 / info->workspace.scale,
                    summary.oscillation);
        if (info->kind == "recorded" && haptics->device.status == DeviceStatus::Disconnected)
            std::printf("%-12s has ended: the tool stayed where it was, without force\n",
                        "recording");
    }
    for (std::size_t s = 1; s < statuses.size(); ++s)
        if (statuses[s] > 0)
            std::printf("%-12s %s steps of bodies said %s\n", "status",
                        grouped(static_cast<std::int64_t>(statuses[s])).c_str(),
                        std::string(to_string(static_cast<StepStatus>(s))).c_str());
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
            .member("worst_depth_m", haptics->worst_depth)
            .member("max_depth_m", haptics->max_depth)
            .member("violations", haptics->violations)
            .member("oscillation_N", summary.oscillation)
            .end_object();
    json.key("statuses").begin_object();
    const StatusCounts statuses = status_counts(world);
    for (std::size_t s = 0; s < statuses.size(); ++s)
        json.member(to_string(static_cast<StepStatus>(s)), statuses[s]);
    json.end_object().member("state_hash", hash_text(world.state_hash()));
    if (arguments.has("--record"))
        json.member("recording", arguments.text("--record"))
            .member("recording_bytes", summary.recorded_bytes);
    std::printf("%s\n", json.end_object().text().c_str());
}

int run_headless(const Arguments& arguments, const SceneDescription& scene) {
    for (const char* option : {"--port", "--address", "--no-browser", "--speed"})
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
    return options;
}

std::unique_ptr<World> make_world(const Arguments& arguments, SceneDescription scene,
                                  std::optional<DeviceDescription> device) {
    Progress progress(progress_style(arguments));
    WorldOptions options = world_options(arguments);
    options.device = std::move(device);
    auto world = std::make_unique<World>(std::move(scene), options, progress);
    progress.finish();
    return world;
}

int run_session(const Arguments& arguments, const SceneDescription& wanted) {
    const std::string device = arguments.text("--device"), hand = arguments.text("--hand");
    const std::string profile = arguments.text("--profile");
    if (!profile.empty() && !device.empty())
        throw InputError("", "--profile says which device it is of; drop --device");
    const std::string recording = arguments.text("--recording");
    if (device == "recorded" && recording.empty())
        throw InputError("",
                         "--device recorded needs the recording that it plays: --recording "
                         "FILE.pliantrec");
    const auto in_hand = [device, hand, profile, recording](const SceneDescription& scene) {
        const SceneDescription measured =
            profile.empty() ? scene : with_device_profile(scene, profile);
        return device.empty() && hand.empty() && recording.empty()
                   ? measured
                   : with_device(measured, device, hand, recording);
    };
    const SceneDescription scene = in_hand(wanted);
    if (arguments.has("--record")) check_output(arguments.text("--record"), {".pliantrec"});
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
    options.open_scene = [scene, in_hand, recording](const std::string& name, Progress& progress) {
        SceneDescription next = name == scene.name ? scene : demo_scene(name);
        // a recording is of one scene
        if (next.held_tool && recording.empty()) next = in_hand(next);
        return std::make_unique<World>(std::move(next), WorldOptions{}, progress);
    };
    std::unique_ptr<World> world = make_world(arguments, scene);
    serve_viewer(arguments, format("Running at %g Hz", scene.rate),
                 "pull: drag · depth: wheel · tool: T · pause: space · help: ?",
                 [&] { return std::make_unique<ViewerServer>(std::move(world), options); });
    return 0;
}

}  // namespace pliant::cli
