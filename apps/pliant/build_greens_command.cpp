#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <sstream>

#include "arguments.h"
#include "build_kinds.h"
#include "core/resource_use.h"
#include "greens_report.h"
#include "mesh_options.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_writer.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/measured_greens.h"
#include "pliant/greens/wavelet_greens.h"
#include "pliant/reduction/reduced_model.h"

namespace pliant::cli {
namespace {

const std::map<std::string, std::string> kGreensOptionOfName{
    {"youngs_modulus", "--young"},
    {"poisson_ratio", "--poisson"},
    {"density", "--density"},
    {"material", "--material"},
    {"fixed", "--fix"},
    {"contactable", "--contactable"},
    {"constraint_level", "--constraint-level"},
    {"finest_constraint_level", "--finest-constraint-level"},
    {"kind", "--mesh"},
    {"hollow", "--hollow"},
    {"resolution", "--resolution"},
    {"levels", "--levels"},
    {"size", "--size"},
    {"region", "--region"},
    {"readouts", "--readout"},
    {"crease_angle", "--crease"},
    {"solver", "--solver"},
    {"residual", "--residual"},
    {"matrix", "--matrix"},
    {"matrix_tolerance", "--matrix-tolerance"},
    {"memory", "--memory"},
    {"wavelet", "--wavelet"},
    {"tolerance", "--tolerance"},
    {"bits", "--bits"},
};

/// `displacement x y z` or `stress x y z`
GreensReadout parse_readout(const std::string& text) {
    std::istringstream words(text);
    std::string kind, rest;
    GreensReadout readout;
    Eigen::Vector3d& x = readout.position;
    if (!(words >> kind >> x[0] >> x[1] >> x[2]) || words >> rest ||
        (kind != "displacement" && kind != "stress"))
        throw InputError("", "--readout", text,
                         "displacement or stress and a point in metres, as in stress 0 0 0.02");
    readout.kind = kind == "stress" ? ReadoutKind::Stress : ReadoutKind::Displacement;
    return readout;
}

/// The one of two words that was given.
bool is_second(const Arguments& arguments, const std::string& option, const std::string& first,
               const std::string& second) {
    const std::string value = arguments.text(option, first);
    if (value != first && value != second)
        throw InputError("", option, value, first + " or " + second);
    return value == second;
}

GreensBuildOptions parse_greens_options(const Arguments& arguments) {
    GreensBuildOptions options;
    options.size = arguments.real("--size", 0, 1e-6, 1e6);
    const bool is_fem = is_second(arguments, "--method", "bem", "fem");
    options.method = is_fem ? GreensMethod::FiniteElements : GreensMethod::BoundaryElements;
    for (const char* option :
         {"--elements", "--crease", "--solver", "--residual", "--matrix", "--matrix-tolerance"})
        if (is_fem && arguments.has(option))
            throw InputError("", std::string(option) + " is for --method bem; drop it");
    for (const char* option :
         {"--mesh", "--hollow", "--resolution", "--growth", "--keep-largest", "--region"})
        if (!is_fem && arguments.has(option))
            throw InputError("", std::string(option) + " is for --method fem; add that or drop it");
    if (is_second(arguments, "--elements", "linear", "constant"))
        options.elements = BoundaryElements::Constant;
    if (options.elements == BoundaryElements::Constant && arguments.has("--crease"))
        throw InputError("", "--crease is for --elements linear; drop one of them");
    options.crease_angle = arguments.real("--crease", 0, 0, 180) * std::numbers::pi / 180;

    options.solver = greens_solver(arguments.text("--solver", "auto"));
    options.residual = arguments.real("--residual", options.residual, 1e-6, 0.1);
    options.matrix = greens_matrix(arguments.text("--matrix", "hierarchical"));
    options.matrix_tolerance = arguments.real("--matrix-tolerance", 0, 1e-6, 0.1);
    options.memory = 1e9 * arguments.real("--memory", 0, 0, 1e6);

    const MaterialChoice material = parse_material_choice(arguments, Law::SmallStrain);
    options.youngs_modulus = material.youngs_modulus;
    options.poisson_ratio = material.poisson_ratio;
    options.density = material.density;
    if (material.preset.anisotropy) options.material = material.preset;
    options.regions = parse_regions(arguments, Law::SmallStrain);
    if (!arguments.has("--fix"))
        throw InputError("",
                         "pliant build --kind greens needs --fix \"z < 5 %\" to hold the lowest "
                         "nodes: the body stands on them");
    options.fixed = arguments.text("--fix");
    options.contactable = arguments.text("--contactable");
    options.has_fixed_columns = arguments.has("--support-columns");
    options.coarsest_level = arguments.integer("--constraint-level", -1, 0, 20);
    options.finest_level = arguments.integer("--finest-constraint-level", -1, 0, 20);
    if (arguments.has("--finest-constraint-level") && options.coarsest_level < 0)
        throw InputError("",
                         "--finest-constraint-level goes with --constraint-level; add that or "
                         "drop it");
    for (const std::string& readout : arguments.all("--readout"))
        options.readouts.push_back(parse_readout(readout));

    if (arguments.has("--wavelet")) {
        WaveletOptions& wavelet = options.wavelet.emplace();
        wavelet.kind = wavelet_kind(arguments.text("--wavelet"));
        wavelet.tolerance = arguments.real("--tolerance", wavelet.tolerance, 0, 1e6);
        wavelet.thresholds_base = arguments.has("--base-threshold");
        wavelet.bits = arguments.integer("--bits", wavelet.bits, 1, 64);
    }
    for (const char* option : {"--tolerance", "--base-threshold", "--bits"})
        if (!options.wavelet && arguments.has(option))
            throw InputError("", std::string(option) +
                                     " is for compressed functions; add --wavelet lifted-linear "
                                     "or drop it");
    take_mesh_options_without_levels(arguments, "--mesh", options.mesh);
    options.keeps_largest = arguments.has("--keep-largest");
    if (!arguments.has("--no-cache"))
        options.cache = arguments.text("--cache", default_cache_folder().string());
    check_options(options);
    return options;
}

/// What computes has no meaning where measurements say it.
void refuse_beside_measured(const Arguments& arguments) {
    for (const char* option : {"--method", "--elements", "--crease", "--readout",
                               "--support-columns", "--probe", "--solver", "--residual", "--matrix",
                               "--matrix-tolerance", "--memory", "--constraint-level"})
        if (arguments.has(option))
            throw InputError("", std::string(option) +
                                     " is for models that are computed, not for --measured; drop "
                                     "it");
}

/// From the probes of --measured; the report says how well columns are known.
GreensModel build_from_probes(const Arguments& arguments, const SemiRegularMesh& surface,
                              const GreensBuildOptions& options, Progress& progress,
                              GreensBuildReport& report) {
    const std::string file = arguments.text("--measured");
    const GreensMeasurement measurement = load_measurement(file);
    MeasuredGreensOptions measured;
    measured.size = options.size;
    measured.fixed = options.fixed;
    measured.contactable = options.contactable;
    if (arguments.has("--material") || arguments.has("--young"))
        measured.youngs_modulus = options.youngs_modulus;
    measured.poisson_ratio = options.poisson_ratio;
    measured.density = options.density;
    measured.max_error = arguments.real("--max-error", 100 * measured.max_error, 0.01, 1000) / 100;
    MeasuredGreensReport told;
    GreensModel model;
    try {
        const SecondsOfScope scope(report.column_seconds);
        model = build_measured_model(surface, measurement, measured, progress, &told);
    } catch (const InputError& error) {
        // what is not about an option is about the probes
        if (!error.field().empty() && error.field() != "vertices") throw;
        throw InputError(file, error.what());
    }
    report.num_columns = model.num_columns();
    // responses in double precision beside the columns
    report.estimated_bytes = std::int64_t{108} * model.num_nodes() * model.num_columns();
    if (options.wavelet) {
        const auto& dense = dynamic_cast<const DenseGreensFunctions&>(*model.reference.functions);
        model.reference.functions =
            compress_greens(dense, model.surface, model.reference.kinds, model.reference.areas,
                            *options.wavelet, progress);
    }
    report.peak_bytes = peak_memory();
    double worst = 0;
    for (const MeasuredColumn& column : told.columns) worst = std::max(worst, column.error);
    report.notes.push_back(
        format("%zu columns probed, %d inferred; %d blocks were not seen and "
               "are filled in",
               told.columns.size(), told.num_inferred, told.num_filled));
    if (told.noise > 0)
        report.notes.push_back(format("noise of %.3g m makes errors of up to %.2g %% in a column",
                                      told.noise, 100 * worst));
    report.notes.insert(report.notes.end(), told.notes.begin(), told.notes.end());
    return model;
}

/// A synthetic measurement of the model, as --probe asks.
void write_probes(const Arguments& arguments, const GreensModel& model) {
    SyntheticProbing probing;
    probing.noise = arguments.real("--noise", 0, 0, 1);
    probing.hidden_share = arguments.real("--hidden", 0, 0, 100) / 100;
    save_measurement(synthetic_measurement(model, probing), arguments.text("--probe"));
}

struct GreensInput {
    SemiRegularMesh surface;
    std::string hash, repair;
};

/// Built-in subdivision surfaces with their levels; files and other shapes as they are.
GreensInput load_greens_input(const Arguments& arguments, const std::string& name,
                              Progress& progress) {
    const bool is_file = std::filesystem::exists(name);
    if (!is_file && is_subdivision_shape(name)) {
        SemiRegularMesh surface = make_semi_regular(name, arguments.integer("--levels", -1, 0, 8));
        const std::string hash = hash_text(content_hash(surface.mesh));
        return {std::move(surface), hash, {}};
    }
    if (is_file && has_extension(name, ".pliant")) {
        const Archive archive = Archive::verified(name);
        if (archive.kind() != kSemiRegularKind)
            throw InputError(name, "is a " + archive.kind() +
                                       "; a surface is needed, or levels of one from 'pliant mesh "
                                       "--kind semiregular'");
        SemiRegularMesh surface = read_semi_regular_mesh(archive, name);
        const int levels = arguments.integer("--levels", surface.num_levels(), 0, 20);
        if (levels > surface.num_levels())
            throw InputError(
                "", "--levels", std::to_string(levels),
                "at most " + std::to_string(surface.num_levels()) + ", those of " + name);
        surface = coarse_levels(surface, levels);
        const std::string hash = hash_text(content_hash(surface.mesh));
        return {std::move(surface), hash, {}};
    }
    if (arguments.has("--levels"))
        throw InputError("", "--levels is for subdivision surfaces, as nodule and kidney; " + name +
                                 " comes as it is. 'pliant mesh " + name +
                                 " -o FILE.pliant --kind semiregular' gives it levels");
    BuildInput input = load_build_input(name, progress);
    const RepairReport repair = repair_surface(input.surface);
    // one level; what is wrong with it is for the method to say: finite elements take any surface
    SemiRegularMesh surface{std::move(input.surface), {}, {}, {}};
    surface.num_vertices = {surface.mesh.num_vertices()};
    surface.triangles = {surface.mesh.triangles};
    return {std::move(surface), input.hash, repair.has_changed() ? repair.text() : std::string()};
}

void print_greens_report(const std::string& in, const std::string& out, const GreensModel& model,
                         const GreensBuildReport& report, const GreensInput& input) {
    std::printf("%-12s %s vertices, %s triangles%s\n",
                std::filesystem::path(in).filename().string().c_str(),
                grouped(input.surface.mesh.num_vertices()).c_str(),
                grouped(input.surface.mesh.num_triangles()).c_str(),
                input.repair.empty() ? "" : ("; " + input.repair).c_str());
    print_greens(model);
    Table table({"stage", "size", "time"});
    const auto seconds = [](double time) { return format("%.2f s", time); };
    if (report.num_elements > 0)
        table.add(
            {"mesh", grouped(report.num_elements) + " elements", seconds(report.mesh_seconds)});
    if (report.num_unknowns > 0) {
        table.add({"assembly", grouped(report.num_unknowns) + " unknowns",
                   seconds(report.assembly_seconds)});
        table.add({report.is_iterative ? "preconditioner" : "factorisation", "",
                   seconds(report.factor_seconds)});
    }
    const int num_new = report.num_columns - report.num_cached;
    table.add({"columns", grouped(num_new) + " nodes", seconds(report.column_seconds)});
    if (report.num_cached > 0) table.add({"", grouped(report.num_cached) + " nodes", "cached"});
    table.print();
    std::printf("memory       %s expected, peak %s\n",
                byte_size(static_cast<double>(report.estimated_bytes)).c_str(),
                byte_size(static_cast<double>(report.peak_bytes)).c_str());
    if (report.mean_products > 0)
        std::printf("iterative    matrix %s, %.1f products a column, residuals up to %.1e\n",
                    byte_size(report.matrix_bytes).c_str(), report.mean_products,
                    report.max_residual);
    for (const std::string& note : report.notes) std::printf("note         %s\n", note.c_str());
    if (!report.cache_problem.empty())
        std::printf("note         columns were not kept for later: %s\n",
                    report.cache_problem.c_str());
    std::printf("wrote %s, %s, in %.1f s. Try:  pliant inspect %s\n", out.c_str(),
                byte_size(static_cast<double>(std::filesystem::file_size(out))).c_str(),
                report.seconds(), out.c_str());
}

void print_greens_json(const std::string& out, const GreensModel& model,
                       const GreensBuildReport& report, const std::string& repair) {
    JsonWriter json;
    json.begin_object()
        .member("output", out)
        .member("bytes", static_cast<std::uint64_t>(std::filesystem::file_size(out)))
        .member("repair", repair);
    write_greens(model, json);
    json.key("build_report")
        .begin_object()
        .member("num_elements", report.num_elements)
        .member("num_unknowns", report.num_unknowns)
        .member("num_cached_columns", report.num_cached)
        .member("mesh_seconds", report.mesh_seconds)
        .member("assembly_seconds", report.assembly_seconds)
        .member("factor_seconds", report.factor_seconds)
        .member("column_seconds", report.column_seconds)
        .member("is_iterative", report.is_iterative)
        .member("matrix_bytes", report.matrix_bytes)
        .member("mean_products", report.mean_products)
        .member("max_residual", report.max_residual)
        .member("estimated_bytes", report.estimated_bytes)
        .member("peak_bytes", report.peak_bytes)
        .member("cache_problem", report.cache_problem);
    json.key("notes").begin_array();
    for (const std::string& note : report.notes) json.value(note);
    json.end_array().end_object();
    std::printf("%s\n", json.end_object().text().c_str());
}

}  // namespace

int build_greens_file(const Arguments& arguments) {
    const std::string in = arguments.operands()[0], out = arguments.required("-o");
    check_output(out, {".pliant"});
    if (arguments.has("--measured")) refuse_beside_measured(arguments);
    for (const char* option : {"--noise", "--hidden"})
        if (arguments.has(option) && !arguments.has("--probe"))
            throw InputError("", std::string(option) + " goes with --probe; add that or drop it");
    if (arguments.has("--max-error") && !arguments.has("--measured"))
        throw InputError("", "--max-error goes with --measured; add that or drop it");
    GreensBuildOptions options;
    with_option_names(kGreensOptionOfName, [&] { options = parse_greens_options(arguments); });

    Progress progress(progress_style(arguments));
    GreensInput input;
    with_option_names(kGreensOptionOfName,
                      [&] { input = load_greens_input(arguments, in, progress); });
    GreensBuildReport report;
    GreensModel model;
    try {
        with_option_names(kGreensOptionOfName, [&] {
            model = arguments.has("--measured")
                        ? build_from_probes(arguments, input.surface, options, progress, report)
                        : build_greens_model(input.surface, options, progress, &report);
        });
    } catch (const Cancelled&) {
        if (!options.cache.empty())
            std::fprintf(stderr,
                         "\nfinished columns are kept in %s: the same command goes on from there",
                         options.cache.string().c_str());
        throw;
    } catch (const InputError& error) {
        // what is not about an option is about the surface
        if (!error.file().empty() || std::string(error.what()).starts_with("--")) throw;
        throw InputError(in, error.what());
    }
    save_greens_model(
        model, out,
        {{"input", in}, {"input_hash", input.hash}, {"options", arguments.options_text()}});
    if (arguments.has("--probe")) write_probes(arguments, model);
    progress.finish();
    if (arguments.json())
        print_greens_json(out, model, report, input.repair);
    else
        print_greens_report(in, out, model, report, input);
    return 0;
}

}  // namespace pliant::cli
