#include "recording_report.h"

#include <algorithm>
#include <cstdio>

#include "core/printable.h"
#include "output.h"
#include "pliant/core/json_writer.h"

namespace pliant::cli {
namespace {

/// Of hands: what loops saw of each other is none.
std::int64_t num_commands(const Recording& recording, int loop) {
    return std::ranges::count_if(recording.commands(loop), [](const auto& timed) {
        return timed.command.kind != pliant::Command::Kind::Exchange;
    });
}

}  // namespace

void print_content(const Recording& recording, const std::string& path) {
    const RecordingHeader& header = recording.header();
    std::printf("%s: %.6g s%s%s, Pliant %s\n", printable(path).c_str(), recording.duration(),
                header.started.empty() ? "" : " from ", printable(header.started).c_str(),
                printable(header.version).c_str());
    for (int l = 0; l < static_cast<int>(header.loops.size()); ++l)
        std::printf("%-12s %s ticks at %g Hz, %s commands\n",
                    printable(header.loops[static_cast<std::size_t>(l)].name).c_str(),
                    grouped(static_cast<std::int64_t>(recording.num_ticks(l))).c_str(),
                    header.loops[static_cast<std::size_t>(l)].rate,
                    grouped(num_commands(recording, l)).c_str());
    if (header.device)
        std::printf(
            "%-12s %s (%s), %s readings\n", "device",
            printable(header.device->capabilities.name).c_str(),
            printable(header.device->kind).c_str(),
            grouped(static_cast<std::int64_t>(recording.haptics(header.device->loop).size()))
                .c_str());
    if (!recording.is_complete())
        std::printf("%-12s %s\n", "problem", printable(recording.problem()).c_str());
}

std::string content_json(const Recording& recording, const std::string& path) {
    const RecordingHeader& header = recording.header();
    JsonWriter json;
    json.begin_object()
        .member("file", path)
        .member("kind", "recording")
        .member("version", header.version)
        .member("started", header.started)
        .member("duration_s", recording.duration())
        .member("complete", recording.is_complete())
        .member("problem", recording.problem())
        .key("loops")
        .begin_array();
    for (int l = 0; l < static_cast<int>(header.loops.size()); ++l)
        json.begin_object()
            .member("name", header.loops[static_cast<std::size_t>(l)].name)
            .member("rate", header.loops[static_cast<std::size_t>(l)].rate)
            .member("ticks", recording.num_ticks(l))
            .member("commands", num_commands(recording, l))
            .end_object();
    json.end_array();
    if (header.device)
        json.member("device", header.device->capabilities.name)
            .member("device_kind", header.device->kind)
            .member("readings",
                    static_cast<std::int64_t>(recording.haptics(header.device->loop).size()));
    json.key("bodies").begin_array();
    for (int i = 0; i < static_cast<int>(header.bodies.size()); ++i)
        json.begin_object()
            .member("name", header.bodies[static_cast<std::size_t>(i)].name)
            .member("states", recording.num_states(i))
            .end_object();
    return json.end_array().end_object().text();
}

}  // namespace pliant::cli
