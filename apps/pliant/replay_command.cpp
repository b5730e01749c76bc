#include <cstdio>

#include "commands.h"
#include "core/printable.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/scene/recording.h"
#include "recording_report.h"
#include "session.h"
#include "viewing.h"

namespace pliant::cli {
namespace {

constexpr int kDifferent = 1;

int loop_named(const Recording& recording, const std::string& name) {
    std::string known;
    const auto& loops = recording.header().loops;
    for (std::size_t l = 0; l < loops.size(); ++l) {
        if (loops[l].name == name) return static_cast<int>(l);
        known += (known.empty() ? "" : ", ") + loops[l].name;
    }
    throw InputError("", "--loop", name, "one of " + known);
}

int run_replay(const Arguments& arguments) {
    const std::string& path = arguments.operands()[0];
    const bool wants_export = arguments.has("--csv") || arguments.has("--obj") ||
                              arguments.has("--vtu") || arguments.has("--check");
    if (arguments.has("--csv")) check_output(arguments.text("--csv"), {".csv"});
    const double fps = arguments.real("--fps", 30, 1e-3, 1e4);
    const Recording recording = Recording::load(path);
    const WebServerOptions web = wants_export ? WebServerOptions{} : viewer_address(arguments);
    const RecordingHeader& header = recording.header();
    if (!arguments.json()) print_content(recording, path);
    JsonWriter json;
    json.begin_object()
        .member("file", path)
        .member("duration_s", recording.duration())
        .member("problem", recording.problem());

    if (arguments.has("--csv")) {
        if (header.loops.empty()) throw InputError(path, "has no loop to write a table of");
        const int loop = loop_named(recording, arguments.text("--loop", header.loops[0].name));
        save_csv(recording, loop, arguments.text("--csv"));
        const auto rows = static_cast<std::int64_t>(recording.samples(loop).size());
        json.member("csv", arguments.text("--csv")).member("rows", rows);
        if (!arguments.json())
            std::printf("%-12s %s rows in %s\n", "table", grouped(rows).c_str(),
                        arguments.text("--csv").c_str());
    }
    bool is_same = true;
    if (arguments.has("--obj") || arguments.has("--vtu") || arguments.has("--check") ||
        !wants_export) {
        std::unique_ptr<World> world = make_replay(arguments, recording, path);
        if (!wants_export) {
            ViewerOptions options;
            options.web = web;
            return serve_viewer(arguments, "Replaying " + path, "pause: space · help: ?", [&] {
                return std::make_unique<ViewerServer>(recording, std::move(world), options);
            });
        }
        Progress progress(progress_style(arguments));
        // compared first: drawing leaves the world in other states
        if (arguments.has("--check")) {
            const ReplayCheck check = check_replay(recording, *world, progress);
            is_same = check.num_different == 0;
            json.member("states_compared", check.num_compared)
                .member("states_different", check.num_different)
                .member("first_difference", check.first_difference)
                .member("ticks_beyond", check.num_beyond)
                .member("ticks_skipped", check.num_skipped);
            if (!arguments.json())
                std::printf("%-12s %s of %s states differ%s%s\n", "replay",
                            is_same
                                ? "none"
                                : grouped(static_cast<std::int64_t>(check.num_different)).c_str(),
                            grouped(static_cast<std::int64_t>(check.num_compared)).c_str(),
                            is_same ? "" : ", first ", printable(check.first_difference).c_str());
            if (!arguments.json() && check.num_beyond > 0)
                std::printf(
                    "%-12s the last %s ticks are left out: the recording of another loop, "
                    "which they saw, ends before\n",
                    "", grouped(static_cast<std::int64_t>(check.num_beyond)).c_str());
            if (!arguments.json() && check.num_skipped > 0)
                std::printf("%-12s %s ticks of the tool are not in the file and were not compared\n",
                            "", grouped(static_cast<std::int64_t>(check.num_skipped)).c_str());
        }
        for (const char* extension : {"obj", "vtu"}) {
            const std::string option = std::string("--") + extension;
            if (!arguments.has(option)) continue;
            const int files =
                save_frames(recording, *world, arguments.text(option), extension, fps, progress);
            json.member(extension, arguments.text(option))
                .member(std::string(extension) + "_files", files);
            if (!arguments.json())
                std::printf("%-12s %s files in %s\n", extension, grouped(files).c_str(),
                            arguments.text(option).c_str());
        }
    }
    if (arguments.json()) std::printf("%s\n", json.end_object().text().c_str());
    return is_same ? 0 : kDifferent;
}

}  // namespace

Command replay_command() {
    std::vector<Option> options = viewing_options();
    options.insert(
        options.begin(),
        {{"--csv", "FILE", "write hand, force, energy and tick times as a table"},
         {"--loop", "NAME", "of the table (default: the first)"},
         {"--obj", "FOLDER", "write the surfaces, one .obj file per frame"},
         {"--vtu", "FOLDER", "the same for ParaView"},
         {"--fps", "N", "frames per second of these (default 30)"},
         {"--check", "", "simulate again and compare with the recorded states bit for bit"}});
    return {.name = "replay",
            .summary = "Shows a recording in the browser, exports it, or checks it.",
            .operands = "FILE.pliantrec",
            .example = "pliant replay pull.pliantrec --csv pull.csv",
            .min_operands = 1,
            .max_operands = 1,
            .options = std::move(options),
            .run = run_replay};
}

}  // namespace pliant::cli
