#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "build_kinds.h"
#include "commands.h"
#include "mesh_options.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/reduced_trial.h"

namespace pliant::cli {
namespace {

/// Names of the library and the options that set them.
const std::map<std::string, std::string> kModelOptionOfName{
    {"youngs_modulus", "--young"},
    {"poisson_ratio", "--poisson"},
    {"density", "--density"},
    {"material", "--material"},
    {"fixed", "--fix"},
    {"kind", "--mesh"},
    {"hollow", "--hollow"},
    {"resolution", "--resolution"},
    {"levels", "--levels"},
    {"num_modes", "--modes"},
    {"rank", "--rank"},
    {"size", "--size"},
    {"region", "--region"},
};

Law parse_law(const Arguments& arguments) {
    std::string known;
    for (const Law law :
         {Law::StVenantKirchhoff, Law::SmallStrain, Law::NeoHookean, Law::Corotational}) {
        if (arguments.text("--law", "st-venant-kirchhoff") == to_string(law)) return law;
        known += (known.empty() ? "" : ", ") + std::string(to_string(law));
    }
    throw InputError("", "--law", arguments.text("--law"), "one of " + known);
}

}  // namespace

MaterialChoice parse_material_choice(const Arguments& arguments, Law law) {
    const std::string name = arguments.text("--material", "rubber");
    const bool is_custom = name == "custom";
    const bool has_constants = arguments.has("--young") || arguments.has("--poisson");
    if (is_custom)
        for (const char* option : {"--young", "--poisson", "--density"})
            if (!arguments.has(option))
                throw InputError("", std::string("--material custom needs ") + option +
                                         ", as in --young 1e6 --poisson 0.45 --density 1000");
    Material material = is_custom ? Material{} : material_preset(name, law);
    if (material.anisotropy && has_constants)
        throw InputError("", "--material " + name +
                                 " is stiffer along one direction, which --young and --poisson "
                                 "cannot describe; use --material custom");
    const double huge = 1e30;  // what is out of range is said by the material
    material.density = arguments.real("--density", material.density, -huge, huge);
    return {material, is_custom || has_constants,
            arguments.real("--young", material.youngs_modulus(), -huge, huge),
            arguments.real("--poisson", material.poisson_ratio(), -huge, huge), material.density};
}

std::vector<MaterialRegion> parse_regions(const Arguments& arguments, Law law) {
    std::vector<MaterialRegion> regions;
    for (const std::string& request : arguments.all("--region")) {
        const std::size_t equals = request.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("", "--region", request,
                             "MATERIAL=SELECTION, as in steel=\"z > 90 %\"");
        regions.push_back(
            {request.substr(equals + 1), material_preset(request.substr(0, equals), law)});
    }
    return regions;
}

namespace {

Material parse_material(const Arguments& arguments, Law law) {
    const MaterialChoice choice = parse_material_choice(arguments, law);
    if (choice.has_constants)
        return isotropic(choice.youngs_modulus, choice.poisson_ratio, choice.density, law);
    check_material(choice.preset);
    return choice.preset;
}

ReducedBuildOptions parse_options(const Arguments& arguments) {
    ReducedBuildOptions options;
    options.size = arguments.real("--size", 0, 1e-6, 1e6);
    const Law law = parse_law(arguments);
    options.material = parse_material(arguments, law);
    options.regions = parse_regions(arguments, law);
    options.fixed = arguments.text("--fix");
    options.is_free = arguments.has("--free");
    if (options.is_free == arguments.has("--fix"))
        throw InputError("", options.is_free
                                 ? "--fix and --free exclude each other; drop one of them"
                                 : "pliant build needs --fix \"z < 5 %\" to hold the lowest "
                                   "vertices, or --free for a body that flies freely");
    take_mesh_options(arguments, "--mesh", options.mesh);
    options.keeps_largest = arguments.has("--keep-largest");
    options.elements = element_formulation(arguments.text("--elements", "accurate"), "--elements");
    options.num_modes = arguments.integer("--modes", options.num_modes, 1, 1000);
    options.finds_errors = true;
    options.rank = arguments.integer("--rank", options.rank, 1, SurfaceShapes::kMaxSize);
    const std::string storage = arguments.text("--storage", "float32");
    if (storage != "float32" && storage != "int16")
        throw InputError("", "--storage", storage, "float32 or int16");
    options.storage = storage == "int16" ? ShapeStorage::Int16 : ShapeStorage::Float32;
    if (!arguments.has("--no-cache"))
        options.cache = arguments.text("--cache", default_cache_folder().string());
    return options;
}

/// Filled up with blanks to so many characters, not bytes.
std::string padded(std::string text, std::ptrdiff_t width) {
    const auto characters =
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    text.append(static_cast<std::size_t>(std::max<std::ptrdiff_t>(width - characters, 0)), ' ');
    return text;
}

std::string stage_time(const StageReport& stage) {
    return stage.is_cached ? "cached" : format("%.2f s", stage.seconds);
}

const StageReport& stage_of(const ReducedBuildReport& report, const std::string& name) {
    for (const StageReport& stage : report.stages)
        if (stage.name == name) return stage;
    return report.stages.front();
}

std::int64_t polynomial_bytes(const ReducedModel& model) {
    std::int64_t parts = 0;
    for (const Material& material : model.materials()) parts += material.anisotropy ? 1 : 2;
    return model.has_polynomials() ? parts * 8 * num_quartic(model.rank()) : 0;
}

/// How much too stiff a basis is, in words.
std::string errors_text(const StaticErrors& errors) {
    const auto percent = [](double error) { return format("%.2g %%", 100 * error); };
    std::string text = "too stiff by " + percent(errors.weight) + " under its weight";
    if (errors.press >= 0) text += ", up to " + percent(errors.press) + " under a press";
    return text;
}

std::string load_text(const TriedLoad& load) {
    return (load.is_settled ? "moves it by " : "does not settle; moves it by ") +
           format("%.3g mm, leaves %.4g %% of its volume, smallest det F %.2f",
                  1e3 * load.displacement, 100 * load.volume, load.least_det_F) +
           (load.least_det_F < ReducedTrial::kLeastDetF ? ": crushed" : "");
}

/// Of a volume mesh whose elements are lost; the name of a shape is no file.
std::string own_mesh_note(const std::string& in, const VolumeMesh& mesh) {
    return std::filesystem::exists(in) ? refilling_note(in, mesh) : "";
}

void print_report(const std::string& in, const std::string& out, const ReducedModel& model,
                  const ReducedBuildReport& report) {
    const auto line = [](const std::string& name, std::string text, const std::string& time = {}) {
        if (!time.empty()) text = padded(text, 52) + time;
        std::printf("%s %s\n", padded(name, 16).c_str(), text.c_str());
    };
    const auto timed_line = [&](const std::string& name, const std::string& text) {
        line(name, text, stage_time(stage_of(report, name)));
    };
    const SurfaceReport& surface = report.surface;
    line(std::filesystem::path(in).filename().string(),
         grouped(surface.num_vertices) + " vertices, " + grouped(surface.num_triangles) +
             " triangles; " + (surface.is_closed() ? "closed" : "not closed") + ", " +
             std::to_string(surface.num_components) +
             (surface.num_components == 1 ? " component" : " components") +
             (report.repair.has_changed() ? "; " + report.repair.text() : ""));
    const VolumeMesh mesh = model.mesh();
    const bool is_tet = mesh.kind == ElementKind::Tet4;
    timed_line("mesh", grouped(mesh.num_elements()) + (is_tet ? " tetrahedra, " : " hexahedra, ") +
                           grouped(mesh.num_vertices()) + " vertices" +
                           (is_tet ? format(", smallest angle %.1f°", dihedral_range(mesh).first)
                                   : std::string()));
    line("fixed",
         model.is_free()
             ? "nothing: flies freely"
             : grouped(static_cast<std::int64_t>(model.fixed_vertices().size())) + " vertices");
    const int k = model.num_modes();
    timed_line("modes",
               format("%d, %.3g … %.3g Hz", k, model.frequency(0), model.frequency(k - 1)));
    timed_line("derivatives", std::to_string(k * (k + 1) / 2));
    timed_line("basis", format("r = %d, captures %s (mass norm)", model.rank(),
                               share(model.captured()).c_str()));
    timed_line("polynomials", model.has_polynomials()
                                  ? byte_size(static_cast<double>(polynomial_bytes(model)))
                                  : "none: forces through the elements");
    const ReducedTrial trial = try_model(model);
    line("errors", errors_text(report.errors));
    if (std::max(report.errors.weight, report.errors.press) > ReducedBuildOptions::kAimedError)
        line("", "more --modes and a higher --rank make it softer there");
    line("its weight", load_text(trial.weight));
    line("a hand of 10 N", load_text(trial.hand));
    if (const std::string warning = trial.warning(); !warning.empty())
        line("warning", "the body " + warning);
    if (!report.cache_problem.empty())
        line("note", "stages were not kept for later: " + report.cache_problem);
    if (const std::string note = own_mesh_note(in, mesh); !note.empty()) line("note", note);
    line(std::filesystem::path(out).filename().string(),
         byte_size(static_cast<double>(std::filesystem::file_size(out))) +
             format(", %.1f s, peak memory %s", report.seconds(),
                    byte_size(static_cast<double>(report.stages.back().peak_bytes)).c_str()));
    std::printf(
        "Suggested step %g ms; meant for deflections up to %.3g m. Try:  pliant inspect %s\n",
        1e3 * model.suggested_step(), model.expected_reach(), out.c_str());
}

void print_json(const std::string& in, const std::string& out, const ReducedModel& model,
                const ReducedBuildReport& report) {
    JsonWriter json;
    json.begin_object()
        .member("output", out)
        .member("bytes", static_cast<std::uint64_t>(std::filesystem::file_size(out)))
        .member("num_surface_vertices", report.surface.num_vertices)
        .member("num_surface_triangles", report.surface.num_triangles)
        .member("closed", report.surface.is_closed())
        .member("repair", report.repair.text())
        .member("num_elements", model.num_elements())
        .member("num_vertices", model.num_vertices())
        .member("free", model.is_free())
        .member("num_fixed", static_cast<int>(model.fixed_vertices().size()))
        .member("num_modes", model.num_modes())
        .member("rank", model.rank())
        .member("captured", model.captured())
        .member("suggested_step_s", model.suggested_step())
        .member("expected_reach_m", model.expected_reach());
    json.key("frequencies_hz").begin_array();
    for (int mode = 0; mode < model.num_modes(); ++mode) json.value(model.frequency(mode));
    json.end_array().key("stages").begin_array();
    for (const StageReport& stage : report.stages)
        json.begin_object()
            .member("name", stage.name)
            .member("seconds", stage.seconds)
            .member("peak_bytes", stage.peak_bytes)
            .member("cached", stage.is_cached)
            .end_object();
    json.end_array().member("cache_problem", report.cache_problem);
    json.member("note", own_mesh_note(in, model.mesh()));
    const ReducedTrial trial = try_model(model);
    json.key("errors")
        .begin_object()
        .member("weight", report.errors.weight)
        .member("press", report.errors.press)
        .end_object();
    const auto write_load = [&](const char* name, const TriedLoad& load) {
        json.key(name)
            .begin_object()
            .member("displacement_m", load.displacement)
            .member("volume", load.volume)
            .member("least_det_F", load.least_det_F)
            .member("settled", load.is_settled)
            .end_object();
    };
    write_load("own_weight", trial.weight);
    write_load("hand_of_10_N", trial.hand);
    json.member("usable", trial.is_usable()).member("warning", trial.warning());
    std::printf("%s\n", json.end_object().text().c_str());
}

int clear(const Arguments& arguments) {
    const std::filesystem::path folder = arguments.text("--cache", default_cache_folder().string());
    const int count = clear_cache(folder);
    if (arguments.json())
        std::printf(
            "%s\n",
            JsonWriter().begin_object().member("removed", count).end_object().text().c_str());
    else
        std::printf("removed %d files from %s\n", count, folder.string().c_str());
    return 0;
}

/// Kinds that take an option; the ones not named here are for all.
const std::map<std::string, std::string> kKindsOfOption{
    {"--material", "reduced or greens"},
    {"--young", "reduced or greens"},
    {"--poisson", "reduced or greens"},
    {"--density", "reduced, greens or particles"},
    {"--law", "reduced"},
    {"--elements", "reduced or greens"},
    {"--region", "reduced or greens"},
    {"--fix", "reduced or greens"},
    {"--free", "reduced"},
    {"--mesh", "reduced or greens"},
    {"--hollow", "reduced or greens"},
    {"--growth", "reduced or greens"},
    {"--levels", "reduced, pointshell or greens"},
    {"--keep-largest", "reduced or greens"},
    {"--modes", "reduced"},
    {"--rank", "reduced"},
    {"--storage", "reduced or field"},
    {"--cache", "reduced or greens"},
    {"--no-cache", "reduced or greens"},
    {"--surface", "field or pointshell"},
    {"--offset-cells", "field or pointshell"},
    {"--expansion", "field or pointshell"},
    {"--points", "pointshell"},
    {"--model", "pointshell"},
    {"--particles", "particles"},
    {"--links", "particles"},
    {"--stiffness", "particles"},
    {"--spheres", "particles"},
    {"--radius", "particles"},
    {"--layout", "particles"},
    {"--sheet", "particles"},
    {"--mass", "particles"},
    {"--save-layout", "particles"},
    {"--method", "greens"},
    {"--crease", "greens"},
    {"--contactable", "greens"},
    {"--support-columns", "greens"},
    {"--constraint-level", "greens"},
    {"--finest-constraint-level", "greens"},
    {"--readout", "greens"},
    {"--solver", "greens"},
    {"--residual", "greens"},
    {"--matrix", "greens"},
    {"--matrix-tolerance", "greens"},
    {"--memory", "greens"},
    {"--wavelet", "greens"},
    {"--tolerance", "greens"},
    {"--base-threshold", "greens"},
    {"--bits", "greens"},
    {"--measured", "greens"},
    {"--max-error", "greens"},
    {"--probe", "greens"},
    {"--noise", "greens"},
    {"--hidden", "greens"},
};

std::string checked_kind(const Arguments& arguments) {
    std::string kind = arguments.text("--kind", "reduced");
    if (kind != "reduced" && kind != "field" && kind != "pointshell" && kind != "greens" &&
        kind != "particles")
        throw InputError("", "--kind", kind, "reduced, field, pointshell, greens or particles");
    for (const auto& [option, kinds] : kKindsOfOption)
        if (arguments.has(option) && kinds.find(kind) == std::string::npos)
            throw InputError(
                "", option + " is for --kind " + kinds + ", not for --kind " + kind + "; drop it");
    return kind;
}

int run_build(const Arguments& arguments) {
    if (arguments.has("--clear-cache")) return clear(arguments);
    if (arguments.operands().empty())
        throw InputError("", "pliant build needs a surface: pliant build SURFACE -o MODEL.pliant");
    const std::string in = arguments.operands()[0];
    check_input_name(in);
    const std::string kind = checked_kind(arguments);
    if (kind == "field") return build_field_file(arguments);
    if (kind == "pointshell") return build_pointshell_file(arguments);
    if (kind == "greens") return build_greens_file(arguments);
    if (kind == "particles") return build_particles_file(arguments);
    const std::string out = arguments.required("-o");
    check_output(out, {".pliant"});
    ReducedBuildOptions options;
    with_option_names(kModelOptionOfName, [&] { options = parse_options(arguments); });

    Progress progress(progress_style(arguments));
    const BuildInput input = load_build_input(in, progress);
    ReducedBuildReport report;
    const auto build = [&] {
        std::optional<ReducedModel> model;
        try {
            with_option_names(kModelOptionOfName, [&] {
                model = build_reduced_model(input.surface, options, progress, &report);
            });
        } catch (const Cancelled&) {
            if (!options.cache.empty())
                std::fprintf(stderr,
                             "\nfinished stages are kept in %s: the same command goes on "
                             "from there",
                             options.cache.string().c_str());
            throw;
        } catch (const InputError& error) {
            // what is not about an option is about the surface
            if (!error.file().empty() || std::string(error.what()).starts_with("--")) throw;
            throw InputError(in, error.what());
        }
        return *model;
    };
    const ReducedModel model = build();
    model.save(out,
               {{"input", in}, {"input_hash", input.hash}, {"options", arguments.options_text()}});
    progress.finish();
    if (arguments.json())
        print_json(in, out, model, report);
    else
        print_report(in, out, model, report);
    return 0;
}

}  // namespace

Command build_command() {
    return {
        .name = "build",
        .summary =
            "Turns a surface mesh into a model that deforms in real time, a distance field, a "
            "pointshell, Green's functions or oriented particles.",
        .operands = "SURFACE -o MODEL.pliant",
        .example =
            "pliant build heart --size 0.12 --material tissue --fix \"z < 5 %\" -o heart.pliant",
        .min_operands = 0,
        .max_operands = 1,
        .options =
            {{"-o", "FILE", "what is built, .pliant"},
             {"--kind", "KIND",
              "reduced (default), field, pointshell, greens or particles; see the last options"},
             {"--size", "METRES", "scale the longest side of the surface to this first"},
             {"--material", "NAME",
              "rubber (default), silicone, tissue, steel, wood, …; or custom with the next three"},
             {"--young", "PA", "Young's modulus, in place of the material's"},
             {"--poisson", "RATIO", "Poisson's ratio, -1 < RATIO < 0.5"},
             {"--density", "KG/M3", "density"},
             {"--law", "LAW",
              "st-venant-kirchhoff (default), small-strain, neo-hookean, corotational"},
             {"--elements", "KIND",
              "accurate (default: no locking) or plain; greens, bem: linear (default) or constant"},
             {"--region", "MAT=SEL", "another material in a selection; may be repeated"},
             {"--fix", "SELECTION", "hold these vertices, as in \"z < 5 %\""},
             {"--free", "", "hold nothing: the body flies freely"},
             {"--mesh", "KIND", "voxel (default), graded, tet or graded-tet"},
             {"--resolution", "N",
              "cells along the longest side (default 40; greens 24; field 128, pointshell 256: a "
              "power of two)"},
             {"--hollow", "", "voxel: only the cells that meet the surface"},
             {"--growth", "G", "graded kinds: cell size over depth (default 0.5)"},
             {"--levels", "N",
              "graded kinds: coarsest cell is 2^N finest ones; pointshell: of points (default 4); "
              "greens: rounds of subdivision of nodule, kidney, …"},
             {"--keep-largest", "", "of a mesh in several parts, instead of an error"},
             {"--modes", "K", "vibration modes that the basis begins with (default 20)"},
             {"--rank", "R",
              "size of the basis; about 3 K is usually enough (default: for errors of 2 %, 12 to "
              "30)"},
             {"--storage", "TYPE",
              "of the surface matrix: float32 (default) or int16; of a field: sparse (default) or "
              "dense"},
             {"--cache", "FOLDER", "finished stages (default $XDG_CACHE_HOME/pliant)"},
             {"--no-cache", "", "keep and use no finished stages"},
             {"--clear-cache", "", "remove all finished stages and do nothing else"},
             {"--surface", "KIND",
              "field, pointshell: signed (default), of a closed mesh, or offset, of anything"},
             {"--offset-cells", "N", "--surface offset: how far outside, in cells (default 1.4)"},
             {"--expansion", "F", "field, pointshell: the box over that of the mesh (default 1.5)"},
             {"--points", "N", "pointshell: about so many in all levels (default 64000)"},
             {"--model", "FILE", "pointshell: follows the deformations of this model"},
             {"--particles", "N", "particles: to place (default 137)"},
             {"--links", "N", "particles: nearest neighbours of each (default 8)"},
             {"--stiffness", "S", "particles: 0 as sand to 1 rigid (default 0.6)"},
             {"--spheres", "", "particles: balls instead of ellipsoids"},
             {"--radius", "METRES", "particles: of balls (default by their volume)"},
             {"--layout", "FILE", "particles: made by hand, .json, instead of placing them"},
             {"--sheet", "", "particles: cloth, one for each vertex; with --mass and --radius"},
             {"--mass", "KG", "particles, --sheet: of the whole sheet (default 0.2)"},
             {"--save-layout", "FILE", "particles: writes the layout, too, .json"},
             {"--method", "METHOD",
              "greens: bem (default), boundary elements, or fem, finite elements (--mesh tet)"},
             {"--crease", "DEGREES", "greens, bem: two nodes along edges sharper than this"},
             {"--contactable", "SELECTION", "greens: nodes that may be touched (default all)"},
             {"--support-columns", "", "greens: what --fix holds may be moved and released, too"},
             {"--constraint-level", "N",
              "greens: columns of levels of subdivision from this one on (default the finest)"},
             {"--finest-constraint-level", "N",
              "--constraint-level: finer ones have no columns (default the finest)"},
             {"--readout", "READOUT",
              "greens: displacement or stress inside, as in \"stress 0 0 0.02\"; repeatable"},
             {"--solver", "NAME",
              "greens, bem: direct, iterative, or auto (default), direct while memory allows"},
             {"--residual", "R", "greens, bem: of the iterative solver, relative (default 1e-4)"},
             {"--matrix", "NAME",
              "greens, bem: of the iterative solver, hierarchical (default) or wavelet"},
             {"--matrix-tolerance", "E",
              "--matrix: of its compression (default 1e-4 hierarchical, 0.01 wavelet)"},
             {"--memory", "GB", "greens: that may be used (default what is free)"},
             {"--wavelet", "KIND",
              "greens: compressed by linear, lifted-linear, butterfly or lifted-butterfly"},
             {"--tolerance", "E", "--wavelet: error over the largest response (default 0.05)"},
             {"--base-threshold", "", "--wavelet: small coefficients of the base go as well"},
             {"--bits", "N", "--wavelet: of each number, 32 (default) or 16"},
             {"--measured", "FILE", "greens: from these probes of a real body"},
             {"--max-error", "PERCENT", "--measured: of a column by noise (default 20)"},
             {"--probe", "FILE", "greens: writes what probing the result would measure, too"},
             {"--noise", "METRES", "--probe: of displacements (default 0)"},
             {"--hidden", "PERCENT", "--probe: vertices not seen (default 0)"}},
        .run = run_build};
}

}  // namespace pliant::cli
