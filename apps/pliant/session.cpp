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
};

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
    json.end_array().member("peak_force_N", summary.peak_force).key("statuses").begin_object();
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
                    {"--record", "FILE", "write a recording, .pliantrec; see pliant replay"}});
    return options;
}

std::unique_ptr<World> make_world(const Arguments& arguments, SceneDescription scene) {
    Progress progress(progress_style(arguments));
    auto world = std::make_unique<World>(std::move(scene), world_options(arguments), progress);
    progress.finish();
    return world;
}

int run_session(const Arguments& arguments, const SceneDescription& scene) {
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
    options.open_scene = [scene](const std::string& name, Progress& progress) {
        return std::make_unique<World>(name == scene.name ? scene : demo_scene(name),
                                       WorldOptions{}, progress);
    };
    std::unique_ptr<World> world = make_world(arguments, scene);
    serve_viewer(arguments, format("Running at %g Hz", scene.rate),
                 "pull: drag · depth: wheel · tool: T · pause: space · help: ?",
                 [&] { return std::make_unique<ViewerServer>(std::move(world), options); });
    return 0;
}

}  // namespace pliant::cli
