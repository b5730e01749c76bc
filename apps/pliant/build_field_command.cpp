#include <cstdio>
#include <filesystem>
#include <optional>

#include "arguments.h"
#include "build_kinds.h"
#include "field_report.h"
#include "output.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/contact/point_tree.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/field/build_field.h"
#include "pliant/field/iso_surface.h"
#include "pliant/reduction/reduced_model.h"

namespace pliant::cli {
namespace {

const std::map<std::string, std::string> kFieldOptionOfName{
    {"resolution", "--resolution"},        {"expansion", "--expansion"},
    {"offset_cells", "--offset-cells"},    {"pointshell.num_points", "--points"},
    {"pointshell.num_levels", "--levels"},
};

FieldBuildOptions parse_field_options(const Arguments& arguments, int default_resolution) {
    FieldBuildOptions options;
    const std::string surface = arguments.text("--surface", "signed");
    if (surface != "signed" && surface != "offset")
        throw InputError("", "--surface", surface, "signed or offset");
    options.surface = surface == "offset" ? FieldSurface::Offset : FieldSurface::Signed;
    if (arguments.has("--offset-cells") && options.surface == FieldSurface::Signed)
        throw InputError("", "--offset-cells is for --surface offset; add that or drop it");
    const int huge = 1 << 30;  // what is out of range is said by the builder
    options.resolution = arguments.integer("--resolution", default_resolution, -huge, huge);
    options.expansion = arguments.real("--expansion", options.expansion, -huge, huge);
    options.offset_cells = arguments.real("--offset-cells", options.offset_cells, -huge, huge);
    const std::string storage = arguments.text("--storage", "sparse");
    if (storage != "sparse" && storage != "dense")
        throw InputError("", "--storage", storage, "sparse or dense");
    options.storage = storage == "dense" ? GridStorage::Dense : GridStorage::Sparse;
    return options;
}

/// Runs `work` and says its errors with the names of options, or of the surface they are about.
void with_names(const std::string& surface, const std::function<void()>& work) {
    try {
        with_option_names(kFieldOptionOfName, work);
    } catch (const InputError& error) {
        const std::string text = error.what();
        if (!error.file().empty() || text.starts_with("--")) throw;
        const bool has_remedy = text.find("offset surface") != std::string::npos;
        throw InputError(surface, text + (has_remedy ? " (--surface offset)" : ""));
    }
}

struct Files {
    std::string in, out;
};
Files files_of(const Arguments& arguments) {
    if (arguments.operands().empty())
        throw InputError("", "pliant build needs a surface: pliant build SURFACE -o FILE.pliant");
    Files files{arguments.operands()[0], arguments.required("-o")};
    check_output(files.out, {".pliant"});
    return files;
}

void print_input(const std::string& in, const SurfaceMesh& surface) {
    std::printf("%-12s %s vertices, %s triangles\n",
                std::filesystem::path(in).filename().string().c_str(),
                grouped(surface.num_vertices()).c_str(), grouped(surface.num_triangles()).c_str());
}

void write_report(const FieldReport& report, JsonWriter& json) {
    json.key("field_report")
        .begin_object()
        .member("seconds", report.seconds)
        .member("offset_m", report.offset)
        .member("removed_components", report.removed_components)
        .member("thinnest_m", report.thinnest)
        .member("largest_error_m", report.largest_error)
        .end_object();
}

void write_report(const PointshellReport& report, JsonWriter& json) {
    json.key("shell_report").begin_object().member("seconds", report.seconds);
    json.key("levels").begin_array();
    for (const PointshellReport::Level& level : report.levels)
        json.begin_object()
            .member("num_points", level.num_points)
            .member("iterations", level.iterations)
            .member("converged", level.has_converged)
            .end_object();
    json.end_array().end_object();
}

/// Of the surface that a pointshell stands for: in the axes and size of the model, if there is one.
SurfaceMesh shell_surface(const Arguments& arguments, SurfaceMesh input,
                          const std::optional<ReducedModel>& model) {
    if (model) {
        if (arguments.has("--size"))
            throw InputError("", "--size and --model exclude each other: the model has its size");
        model->require_surface(input);
        return model->surface();
    }
    if (arguments.has("--size")) scale_to_size(input, arguments.real("--size", 0, 1e-6, 1e6));
    return input;
}

PointTree make_tree(const Pointshell& shell, const std::optional<ReducedModel>& model,
                    int& num_outside) {
    if (!model) return PointTree(shell);
    std::vector<Eigen::Vector3d> points;
    points.reserve(shell.points.size());
    for (const Eigen::Vector3f& p : shell.points) points.push_back(p.cast<double>());
    const MaterialPoints motion = material_points(*model, points, true);
    num_outside = motion.num_outside;
    return {shell, motion};
}

}  // namespace

int build_field_file(const Arguments& arguments) {
    const auto [in, out] = files_of(arguments);
    const FieldBuildOptions options = parse_field_options(arguments, 128);
    const double size = arguments.real("--size", 0, 1e-6, 1e6);
    Progress progress(progress_style(arguments));
    BuildInput input = load_build_input(in, progress);
    if (size > 0) scale_to_size(input.surface, size);
    FieldReport report;
    std::optional<DistanceGrid> field;
    with_names(in, [&] { field = build_field(input.surface, options, progress, &report); });
    field->save(out,
                {{"input", in}, {"input_hash", input.hash}, {"options", arguments.options_text()}});
    progress.finish();

    if (arguments.json()) {
        JsonWriter json;
        json.begin_object()
            .member("output", out)
            .member("bytes", static_cast<std::uint64_t>(std::filesystem::file_size(out)));
        write_field(*field, json);
        write_report(report, json);
        std::printf("%s\n", json.end_object().text().c_str());
        return 0;
    }
    print_input(in, input.surface);
    print_field(*field);
    std::printf("built        %s\n", report.text().c_str());
    std::printf("wrote %s. Try:  pliant inspect %s --slice z=%.3g -o slice.png\n", out.c_str(),
                out.c_str(), field->bounds().center()[2]);
    return 0;
}

int build_pointshell_file(const Arguments& arguments) {
    const auto [in, out] = files_of(arguments);
    const FieldBuildOptions field_options = parse_field_options(arguments, 256);
    PointshellOptions options;
    const int huge = 1 << 30;  // what is out of range is said by the builder
    options.num_points = arguments.integer("--points", options.num_points, -huge, huge);
    options.num_levels = arguments.integer("--levels", options.num_levels, -huge, huge);
    std::optional<ReducedModel> model;
    if (arguments.has("--model")) model = ReducedModel::load(arguments.text("--model"));

    Progress progress(progress_style(arguments));
    BuildInput input = load_build_input(in, progress);
    const SurfaceMesh surface = shell_surface(arguments, std::move(input.surface), model);
    FieldReport field_report;
    PointshellReport shell_report;
    Pointshell shell;
    with_names(in, [&] {
        const DistanceGrid field = build_field(surface, field_options, progress, &field_report);
        const SurfaceMesh carrier = iso_surface(field, {.drops_enclosed = true}, progress);
        shell = build_pointshell(field, carrier, options, progress, &shell_report);
    });
    shell.offset = field_report.offset;
    int num_outside = 0;
    progress.stage("point-tree");
    const PointTree tree = make_tree(shell, model, num_outside);
    tree.save(out,
              {{"input", in}, {"input_hash", input.hash}, {"options", arguments.options_text()}});
    progress.finish();

    if (arguments.json()) {
        JsonWriter json;
        json.begin_object()
            .member("output", out)
            .member("bytes", static_cast<std::uint64_t>(std::filesystem::file_size(out)))
            .member("num_outside", num_outside);
        write_shell(tree, json);
        write_report(field_report, json);
        write_report(shell_report, json);
        std::printf("%s\n", json.end_object().text().c_str());
        return 0;
    }
    print_input(in, surface);
    std::printf("field        %s\n", field_report.text().c_str());
    print_shell(tree);
    for (std::size_t i = 0; i < shell_report.levels.size(); ++i)
        if (!shell_report.levels[i].has_converged)
            std::printf("note         level %zu did not converge in %d iterations\n", i + 1,
                        shell_report.levels[i].iterations);
    if (num_outside > 0)
        std::printf(
            "note         %s points lie outside the model's elements and follow the "
            "nearest one\n",
            grouped(num_outside).c_str());
    std::printf("wrote %s in %.1f s\n", out.c_str(), field_report.seconds + shell_report.seconds);
    return 0;
}

}  // namespace pliant::cli
