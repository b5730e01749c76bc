#include "report.h"

#include <algorithm>
#include <cmath>

#include "../output.h"
#include "../reproduce/mesh_picture.h"
#include "../reproduce/plot.h"
#include "../reproduce/report.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/simd.h"
#include "pliant/core/version.h"

namespace pliant::compare {
namespace {

using cli::format;
using reproduce::Cell;
using reproduce::Plot;
using reproduce::Section;

constexpr std::size_t kPlotPoints = 200;    // of one curve
constexpr int kMaxPictureTriangles = 8000;  // a page of more is slow to look at

/// Eq. (4).
void measure_shape(Result& result, const Result& reference, double depth) {
    double sum = 0;
    for (std::size_t v = 0; v < result.touch.shape.size(); ++v) {
        const double d = (result.touch.shape[v] - reference.touch.shape[v]).norm() / depth;
        sum += d * d;
        result.largest = std::max(result.largest, d);
    }
    result.rms = std::sqrt(sum / static_cast<double>(result.touch.shape.size()));
    result.force_ratio = result.touch.force / reference.touch.force;
}

using Points = std::vector<std::pair<double, double>>;
/// Some of them, x in millimetres.
Points thinned(const Points& points) {
    Points result;
    const std::size_t step = std::max<std::size_t>(1, points.size() / kPlotPoints);
    for (std::size_t i = 0; i < points.size(); i += step)
        result.emplace_back(1e3 * points[i].first, points[i].second);
    result.emplace_back(1e3 * points.back().first, points.back().second);
    return result;
}

std::vector<std::string> force_plots(const Study& study) {
    Plot press{.title = "Press", .x_label = "depth [mm]", .y_label = "force [N]"};
    Plot stroke{.title = "Stroke at the full depth",
                .x_label = "way along the surface [mm]",
                .y_label = "force [N]"};
    // where particles can be seen beside the others
    Plot share{.title = "Press, force over that at the full depth",
               .x_label = "depth [mm]",
               .y_label = "share"};
    for (const Result& result : study.results) {
        const int color = static_cast<int>(result.method);
        const auto line = [&](Points points) {
            return reproduce::Series{title_of(result.method), std::move(points), color,
                                     result.method == Method::FullFem ? reproduce::Stroke::Line
                                                                      : reproduce::Stroke::Dashed};
        };
        const Points pressed = thinned(result.touch.press);
        if (result.method != Method::Particles) {
            press.series.push_back(line(pressed));
            if (result.method != Method::Rigid)
                stroke.series.push_back(line(thinned(result.touch.stroke)));
        }
        if (result.method == Method::Rigid) continue;
        Points scaled = pressed;
        for (auto& [x, y] : scaled) y /= result.touch.force;
        share.series.push_back(line(std::move(scaled)));
    }
    return {drawn(press), drawn(stroke), drawn(share)};
}

std::vector<std::string> shape_pictures(const Study& study) {
    std::vector<std::string> pictures;
    if (study.object->surface.num_triangles() > kMaxPictureTriangles) return pictures;
    const Result& reference = study.reference();
    for (const Result& result : study.results) {
        const SurfaceMesh shape{result.touch.shape, study.object->surface.triangles};
        std::vector<double> values;
        for (std::size_t v = 0; v < shape.vertices.size(); ++v)
            values.push_back(std::min(1.0, (shape.vertices[v] - reference.touch.shape[v]).norm() /
                                               study.script->depth()));
        pictures.push_back(reproduce::surface_picture(
            shape, values, {.elevation = 35, .width = 300}, title_of(result.method)));
    }
    return pictures;
}

std::string object_words(const Study& study) {
    const Object& object = *study.object;
    return format(
        "%s of %s, %.3g m long, held at \"%s\": %s tetrahedra with %s vertices, %s of them on the "
        "surface; lowest mode %.3g Hz.",
        study.name.c_str(), study.material.c_str(), object.size, object.selection.c_str(),
        cli::grouped(object.mesh.num_elements()).c_str(),
        cli::grouped(object.mesh.num_vertices()).c_str(),
        cli::grouped(object.surface.num_vertices()).c_str(), object.frequency / (2 * M_PI));
}

std::string script_words(const Study& study) {
    const Script& script = *study.script;
    const double tick = study.object->tick();
    return format(
        "A round pad of radius %.3g mm at (%.3g, %.3g, %.3g) mm presses %.3g mm straight down "
        "within %.3g s, waits for %.3g s and strokes %.3g mm along the surface at that depth, "
        "without friction, in ticks of %.3g ms. The force follows so that every body is as deep; "
        "all are damped alike, so that they are nearly in balance.",
        1e3 * script.radius(), 1e3 * script.place().x(), 1e3 * script.place().y(),
        1e3 * script.place().z(), 1e3 * script.depth(), script.press() * tick, script.hold() * tick,
        1e3 * script.stroke_length(), 1e3 * tick);
}

reproduce::Table numbers(const Study& study) {
    const auto time = [](double us) {
        Cell cell = Cell::number(us);
        cell.text = microseconds(us);
        return cell;
    };
    reproduce::Table table{"methods",
                           "In numbers",
                           {{"method", "method"},
                            {"build_s", "build [s]"},
                            {"memory_mb", "memory [MB]"},
                            {"tick_p50_us", "tick p50 [µs]"},
                            {"tick_p999_us", "p99.9 [µs]"},
                            {"real_time", "mean over tick [%]"},
                            {"force_n", "force [N]"},
                            {"force_ratio", "over full FEM"},
                            {"shape_rms", "shape RMS [% of depth]"},
                            {"shape_max", "at most [%]"}}};
    for (const Result& result : study.results) {
        const bool is_rigid = result.method == Method::Rigid;
        const bool has_material = !is_rigid && result.method != Method::Particles;
        const TickHistogram::Summary& ticks = result.touch.ticks;
        Cell slow = time(ticks.p999_us);
        slow.deviates = !result.keeps_up(study.object->tick());
        table.add({title_of(result.method), Cell::number(result.build_seconds, "%.2f"),
                   Cell::number(1e-6 * result.bytes, "%.2f"), time(ticks.p50_us), slow,
                   Cell::number(1e-4 * ticks.mean_us / study.object->tick(), "%.1f"),
                   is_rigid ? Cell("any") : Cell::number(result.touch.force, "%.3g"),
                   has_material ? Cell::number(result.force_ratio, "%.2f") : Cell("–"),
                   Cell::number(100 * result.rms, "%.1f"),
                   Cell::number(100 * result.largest, "%.1f")});
    }
    return table;
}

/// What makes the comparison doubtful.
std::vector<std::string> doubts(const Study& study) {
    std::vector<std::string> notes;
    if (study.object->share_of_length < 0.9)
        notes.push_back(format(
            "the tetrahedra are only %.0f %% as long as the surface: thin parts fell off. Choose a "
            "finer --resolution than %d.",
            100 * study.object->share_of_length, study.object->resolution));
    for (const Result& result : study.results) {
        if (result.method == Method::Rigid) continue;
        const double reached = result.touch.depth / study.script->depth();
        if (std::abs(reached - 1) > 0.05)
            notes.push_back(format(
                "%s was %.0f %% of the depth deep when it should have been there: the material "
                "softens as it is compressed. Choose a smaller --depth.",
                title_of(result.method).c_str(), 100 * reached));
        if (result.touch.not_ok > 0)
            notes.push_back(format("%s: %llu steps were not regular ones.",
                                   title_of(result.method).c_str(),
                                   static_cast<unsigned long long>(result.touch.not_ok)));
    }
    return notes;
}

}  // namespace

std::vector<Result> run_methods(const Object& object, const Script& script,
                                const std::vector<Method>& methods, Progress& progress) {
    BodyMaker maker(object);
    const auto run = [&](Method method, double force) {
        const MadeBody made = maker.make(method, progress);
        Result result;
        result.method = method;
        result.build_seconds = made.build_seconds;
        result.bytes = made.bytes;
        result.touch = touch(*made.body, object, script, force, title_of(method), progress);
        return result;
    };
    const Result reference = run(Method::FullFem, 0);
    std::vector<Result> results;
    for (const Method method : methods) {
        results.push_back(method == Method::FullFem ? reference
                                                    : run(method, reference.touch.force));
        measure_shape(results.back(), reference, script.depth());
    }
    return results;
}

void print(const Study& study, const Advice& advice) {
    std::printf("%s\n\n", object_words(study).c_str());
    const reproduce::Table table = numbers(study);
    std::vector<std::string> header;
    for (const reproduce::Table::Column& column : table.columns) header.push_back(column.label);
    cli::Table shown(header);
    for (const std::vector<Cell>& row : table.rows) {
        std::vector<std::string> words;
        for (const Cell& cell : row) words.push_back(cell.text);
        shown.add(words);
    }
    shown.print();
    std::printf("\n");
    for (const std::string& note : doubts(study)) std::printf("Note: %s\n", note.c_str());
    for (const std::string& reason : advice.reasons) std::printf("%s\n", reason.c_str());
}

std::vector<std::string> json_lines(const Study& study, const Advice& advice) {
    std::vector<std::string> lines;
    for (const Result& result : study.results) {
        const Touch& touch = result.touch;
        JsonWriter json;
        json.begin_object().member("method", name_of(result.method));
        json.member("build_s", result.build_seconds).member("memory_bytes", result.bytes);
        json.member("tick_s", study.object->tick()).member("ticks", touch.ticks.count);
        json.member("tick_p50_us", touch.ticks.p50_us).member("tick_p999_us", touch.ticks.p999_us);
        json.member("depth_m", touch.depth).member("force_n", touch.force);
        json.member("force_ratio", result.force_ratio).member("shape_rms", result.rms);
        json.member("shape_max", result.largest).member("stiffness_n_per_m", touch.first_stiffness);
        json.member("not_ok", touch.not_ok);
        for (const auto& [name, points] :
             {std::pair("press", &touch.press), std::pair("stroke", &touch.stroke)}) {
            json.key(name).begin_array();
            for (const auto& [x, force] : thinned(*points))
                json.begin_array().value(1e-3 * x).value(force).end_array();
            json.end_array();
        }
        lines.push_back(json.end_object().text());
    }
    JsonWriter json;
    json.begin_object().member("object", study.name).member("material", study.material);
    json.member("size_m", study.object->size).member("elements", study.object->mesh.num_elements());
    json.member("depth_m", study.script->depth()).member("radius_m", study.script->radius());
    json.member("recommended", advice.method).key("reasons").begin_array();
    for (const std::string& reason : advice.reasons) json.value(reason);
    json.end_array().key("notes").begin_array();
    for (const std::string& note : doubts(study)) json.value(note);
    lines.push_back(json.end_array().end_object().text());
    return lines;
}

std::string compare_page(const Study& study, const Advice& advice) {
    Section section("compare", study.name + " under every method");
    section.text(object_words(study) + " " + script_words(study));
    section.heading("Recommendation");
    for (const std::string& reason : advice.reasons) section.text(reason);
    for (const std::string& note : doubts(study)) section.text("Note: " + note);
    section.heading("Costs and differences");
    section.table(numbers(study));
    section.text(
        "Build: from the surface to the first tick, one thread; linear modal and reduced share one "
        "model. Memory: of the heap, what stays in use. Ticks: CPU time of the body's steps alone, "
        "without contact; marked where p99.9 leaves less than half of a tick to the rest. Force: "
        "at the deepest press. Shape: distance of surface vertices to those of full FEM then. "
        "Particles have no material: their stiffness is that of shape matching and changes with "
        "the tick, so that only their shape compares.");
    section.heading("Force");
    section.figure(force_plots(study),
                   "The first two without particles, whose force has another scale.");
    const std::vector<std::string> pictures = shape_pictures(study);
    section.heading("Shape at the deepest press");
    if (pictures.empty()) {
        section.text(
            format("Not drawn: the surface has %s triangles, and pictures of more than %s "
                   "make a page slow to look at. A smaller --resolution than %d draws "
                   "them; the table above has the differences.",
                   cli::grouped(study.object->surface.num_triangles()).c_str(),
                   cli::grouped(kMaxPictureTriangles).c_str(), study.object->resolution));
    } else {
        section.figure(pictures,
                       "Grey where it is as that of full FEM, red where it is the whole depth of "
                       "the press off or more.");
    }
    return reproduce::html_page("Comparison of methods",
                                format("Written by pliant %s compare; one thread, SIMD %s.",
                                       kVersion, simd_targets().front().c_str()),
                                {section});
}

}  // namespace pliant::compare
