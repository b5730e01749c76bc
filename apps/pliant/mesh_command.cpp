#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>

#include "commands.h"
#include "mesh_options.h"
#include "output.h"
#include "pliant/core/archive.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/version.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/remesh.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/simulation_mesh.h"
#include "pliant/geometry/surface_check.h"
#include "stopwatch.h"

namespace pliant::cli {
namespace {

struct CheckedSurface {
    SurfaceMesh mesh;
    std::optional<RepairReport> repair;  ///< where it was asked for
};

CheckedSurface load_checked(const Arguments& arguments, const std::string& path) {
    const double size = arguments.real("--size", 0, 1e-6, 1e6);
    SurfaceMesh surface = load_surface(path);
    std::optional<RepairReport> repair;
    if (arguments.has("--repair")) repair = repair_surface(surface);

    const SurfaceReport report = check_surface(surface);
    if (report.num_triangles == 0)
        throw InputError(path, "has no triangles; a surface mesh is needed");
    if (report.non_finite_vertices.count || report.invalid_indices.count)
        throw InputError(path, report.text() + "; try --repair");
    if (report.is_inside_out) throw InputError(path, "the surface is inside out; try --repair");
    if (size > 0) scale_to_size(surface, size);
    if (!arguments.json()) {
        std::printf("%-12s %s, %s; %s, %s\n", "surface",
                    counted(report.num_vertices, "vertex", "vertices").c_str(),
                    counted(report.num_triangles, "triangle", "triangles").c_str(),
                    report.is_closed() ? "closed" : "not closed",
                    counted(report.num_components, "component", "components").c_str());
        if (repair && repair->has_changed())
            std::printf("%-12s %s\n", "repaired", repair->text().c_str());
        if (!report.is_closed())
            std::printf("%-12s inside is decided by winding number%s\n", "",
                        arguments.has("--repair") ? "" : "; --repair may close it");
    }
    return {std::move(surface), repair};
}

struct MeshResult {
    VolumeMesh mesh;
    Embedding embedding;  ///< of all surface vertices
    double mesh_seconds = 0, embed_seconds = 0;
};

MeshResult make_simulation_mesh(const SurfaceQuery& surface, const SimulationMeshOptions& options,
                                Progress& progress) {
    const auto start = Clock::now();
    VolumeMesh mesh = build_simulation_mesh(surface, options, progress);
    const double mesh_seconds = seconds_since(start);

    progress.stage("embedding surface");
    const auto embed_start = Clock::now();
    Embedding embedding(mesh, surface.mesh().vertices);
    const double embed_seconds = seconds_since(embed_start);
    progress.finish();
    if (progress.is_cancelled()) throw Cancelled();
    return {std::move(mesh), std::move(embedding), mesh_seconds, embed_seconds};
}

constexpr const char* kRest = "body";  // the region of elements that no selection has

/// --region NAME=SELECTION
struct Region {
    std::string name, selection;
};

std::vector<Region> parse_regions(const std::vector<std::string>& requests) {
    std::vector<Region> regions;
    for (const std::string& request : requests) {
        const std::size_t equals = request.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError("", "--region", request, "NAME=SELECTION, as in top=\"z > 90 %\"");
        const Region region{request.substr(0, equals), request.substr(equals + 1)};
        const auto has_its_name = [&](const Region& r) { return r.name == region.name; };
        if (region.name == kRest || std::ranges::any_of(regions, has_its_name))
            throw InputError("", "--region", region.name,
                             std::string("a name that no other region has; what no selection has "
                                         "is called ") +
                                 kRest);
        (void)parse_selection(region.selection);  // a typo shows before the work
        regions.push_back(region);
    }
    return regions;
}

/// Elements whose centre is selected.
void assign_regions(VolumeMesh& mesh, const std::vector<Region>& regions) {
    if (regions.empty()) return;
    mesh.regions.assign(static_cast<std::size_t>(mesh.num_elements()), 0);
    mesh.region_names = {kRest};
    for (const Region& region : regions) {
        for (const int e : select_elements(region.selection, mesh, "--region " + region.name))
            mesh.regions[static_cast<std::size_t>(e)] = static_cast<int>(mesh.region_names.size());
        mesh.region_names.push_back(region.name);
    }
}

void save_with_provenance(ArchiveWriter& writer, const std::string& out, const std::string& in,
                          const std::string& options) {
    writer.set_provenance("version", kVersion);
    writer.set_provenance("input", in);
    const std::string bytes = read_file(in);
    writer.set_provenance("input_hash", hash_text(hash_bytes(bytes.data(), bytes.size())));
    writer.set_provenance("options", options);
    writer.save(out);
}

void save(const MeshResult& result, const std::string& out, const std::string& in,
          const std::string& options) {
    if (!has_extension(out, ".pliant")) {
        save_volume(result.mesh, out);
        return;
    }
    ArchiveWriter writer("volume-mesh");
    const auto mesh_storage = add_volume_mesh(writer, result.mesh);
    add_embedding(writer, result.embedding);
    save_with_provenance(writer, out, in, options);
}

void print_report(const MeshResult& result, double surface_volume, bool is_hollow,
                  const std::string& out) {
    const VolumeMesh& mesh = result.mesh;
    const bool hexes = mesh.kind == ElementKind::Hex8;
    std::printf("%-12s %s, %s", "mesh",
                hexes ? counted(mesh.num_elements(), "hexahedron", "hexahedra").c_str()
                      : counted(mesh.num_elements(), "tetrahedron", "tetrahedra").c_str(),
                counted(mesh.num_vertices(), "vertex", "vertices").c_str());
    if (!mesh.hanging.empty())
        std::printf(" (%s hanging)",
                    grouped(static_cast<std::int64_t>(mesh.hanging.size())).c_str());
    if (!hexes) {
        const auto [low, high] = dihedral_range(mesh);
        std::printf(", dihedral angles %.1f° … %.1f°", low, high);
    }
    std::printf("  %.2f s\n", result.mesh_seconds);

    const double plain = total_volume(mesh), weighted = total_volume(mesh, true);
    const auto excess = [&](double volume) {  // hollow meshes have no volume to compare
        return surface_volume > 0 && !is_hollow
                   ? format(" (%+.2f %%)", 100 * (volume / surface_volume - 1))
                   : std::string();
    };
    std::printf("%-12s %.6g m³%s", "volume", plain, excess(plain).c_str());
    if (!mesh.filled.empty())
        std::printf(", weighted by filled fraction %.6g m³%s", weighted, excess(weighted).c_str());
    if (surface_volume > 0) std::printf("; the surface encloses %.6g m³", surface_volume);
    std::printf(
        "\n%-12s %s, %s outside every element  %.2f s\n", "embedding",
        counted(result.embedding.num_points(), "surface vertex", "surface vertices").c_str(),
        grouped(result.embedding.num_outside()).c_str(), result.embed_seconds);
    std::istringstream findings(check_volume(mesh).text());
    for (std::string line; std::getline(findings, line);)
        std::printf("%-12s %s\n", "note", line.c_str());
    const bool loses_fill = !mesh.filled.empty() && !has_extension(out, ".vtu");
    if (!has_extension(out, ".pliant") && (loses_fill || !mesh.hanging.empty()))
        std::printf("%-12s this format keeps no hanging nodes and filled fractions; .pliant does\n",
                    "note");
    std::printf("%-12s %s\n", "wrote", written_files(out).c_str());
}

void print_json(const MeshResult& result, double surface_volume,
                const std::optional<RepairReport>& repair, const std::string& out) {
    const VolumeMesh& mesh = result.mesh;
    JsonWriter json;
    json.begin_object()
        .member("output", out)
        .member("element", mesh.kind == ElementKind::Hex8 ? "hex8" : "tet4")
        .member("num_elements", mesh.num_elements())
        .member("num_vertices", mesh.num_vertices())
        .member("num_hanging", static_cast<int>(mesh.hanging.size()))
        .member("volume_m3", total_volume(mesh))
        .member("weighted_volume_m3", total_volume(mesh, true))
        .member("surface_volume_m3", surface_volume)
        .member("num_embedded", result.embedding.num_points())
        .member("num_outside", result.embedding.num_outside())
        .member("mesh_s", result.mesh_seconds)
        .member("embed_s", result.embed_seconds);
    if (repair) json.member("repair", repair->text());
    if (mesh.kind == ElementKind::Tet4) {
        const auto [low, high] = dihedral_range(mesh);
        json.member("min_dihedral_deg", low).member("max_dihedral_deg", high);
    }
    std::printf("%s\n", json.end_object().text().c_str());
}

void save_hierarchy(const SemiRegularMesh& mesh, const std::string& out, const std::string& in,
                    const std::string& options) {
    if (!has_extension(out, ".pliant")) {
        save_surface(mesh.mesh, out);
        return;
    }
    ArchiveWriter writer(kSemiRegularKind);
    add_semi_regular_mesh(writer, mesh);
    save_with_provenance(writer, out, in, options);
}

/// A surface on a hierarchy instead of a volume.
int run_remesh(const Arguments& arguments, const std::string& in, const std::string& out) {
    check_output(out, {".pliant", ".obj", ".ply", ".stl"});
    for (const char* option : {"--resolution", "--hollow", "--growth", "--region"})
        if (arguments.has(option))
            throw InputError("",
                             std::string(option) + " does not go with --kind semiregular; drop it");
    RemeshOptions options;
    options.base_vertices = arguments.integer("--base", options.base_vertices, 4, 10000000);
    options.levels = arguments.integer("--levels", options.levels, 0, 8);

    Progress progress(progress_style(arguments));
    const CheckedSurface checked = load_checked(arguments, in);
    RemeshReport report;
    SemiRegularMesh mesh;
    const auto start = Clock::now();
    with_option_names({{"base_vertices", "--base"}, {"levels", "--levels"}}, in,
                      [&] { mesh = remesh(checked.mesh, options, progress, &report); });
    const double seconds = seconds_since(start);
    save_hierarchy(mesh, out, in, arguments.options_text());
    if (arguments.json()) {
        JsonWriter json;
        json.begin_object().member("output", out).key("level_sizes").begin_array();
        for (const int size : mesh.num_vertices) json.value(size);
        json.end_array()
            .member("num_triangles", mesh.mesh.num_triangles())
            .member("genus", report.genus)
            .member("fallback_fraction", report.fallback_fraction())
            .member("mean_distance", report.mean_distance)
            .member("max_distance", report.max_distance)
            .member("mean_distance_back", report.mean_distance_back)
            .member("max_distance_back", report.max_distance_back)
            .member("volume_ratio", report.volume_ratio)
            .member("smallest_angle_deg", report.smallest_angle)
            .member("edge_ratio", report.edge_ratio)
            .member("num_flipped", report.num_flipped)
            .member("remesh_s", seconds);
        std::printf("%s\n", json.end_object().text().c_str());
        return 0;
    }
    std::string sizes;
    for (const int size : mesh.num_vertices) sizes += (sizes.empty() ? "" : ", ") + grouped(size);
    std::printf("%-12s %s vertices, %s triangles  %.2f s\n", "levels", sizes.c_str(),
                grouped(mesh.mesh.num_triangles()).c_str(), seconds);
    std::istringstream lines(report.text());
    for (std::string line; std::getline(lines, line);) std::printf("%-12s %s\n", "", line.c_str());
    if (report.num_flipped > 0)
        std::printf("%-12s more vertices in the base (--base) and fewer --levels fold less\n",
                    "note");
    if (!has_extension(out, ".pliant"))
        std::printf("%-12s this format keeps the finest level alone; .pliant keeps all\n", "note");
    std::printf("%-12s %s\n", "wrote", out.c_str());
    return 0;
}

int run_mesh(const Arguments& arguments) {
    const std::string in = arguments.operands()[0], out = arguments.required("-o");
    if (arguments.text("--kind", "") == "semiregular") return run_remesh(arguments, in, out);
    if (arguments.has("--base"))
        throw InputError("", "--base goes with --kind semiregular; add that or drop it");
    check_output(out, {".vtu", ".msh", ".veg", ".mesh", ".node", ".ele", ".pliant"});
    const std::map<std::string, std::string> option_of_name{{"kind", "--kind"},
                                                            {"hollow", "--hollow"},
                                                            {"resolution", "--resolution"},
                                                            {"levels", "--levels"}};
    SimulationMeshOptions request;
    with_option_names(option_of_name, [&] { take_mesh_options(arguments, "--kind", request); });
    if ((has_extension(out, ".node") || has_extension(out, ".ele")) && request.kind != "tet" &&
        request.kind != "graded-tet")
        throw InputError("", out +
                                 " holds tetrahedra only; add --kind tet or choose .vtu, .msh, "
                                 ".veg, .mesh or .pliant");

    const std::vector<Region> regions = parse_regions(arguments.all("--region"));

    Progress progress(progress_style(arguments));
    CheckedSurface checked = load_checked(arguments, in);
    const SurfaceQuery surface(std::move(checked.mesh));
    const double surface_volume =
        surface.sign_method() == SignMethod::PseudoNormal ? enclosed_volume(surface.mesh()) : 0;
    std::optional<MeshResult> made;
    with_option_names(option_of_name, in,
                      [&] { made = make_simulation_mesh(surface, request, progress); });
    MeshResult& result = *made;
    assign_regions(result.mesh, regions);
    save(result, out, in, arguments.options_text());
    if (arguments.json())
        print_json(result, surface_volume, checked.repair, out);
    else
        print_report(result, surface_volume, request.is_hollow, out);
    return 0;
}

}  // namespace

Command mesh_command() {
    return {
        .name = "mesh",
        .summary = "Turns a surface mesh, clean or broken, into a simulation mesh.",
        .operands = "IN -o OUT",
        .example = "pliant mesh serpent.ply -o serpent.vtu --kind tet --resolution 60",
        .min_operands = 1,
        .max_operands = 1,
        .options = {{"-o", "FILE",
                     ".vtu .msh .veg .mesh .node .ele or .pliant (keeps the embedding)"},
                    {"--kind", "KIND",
                     "voxel (default), graded, tet, graded-tet; semiregular: the surface with "
                     "levels, as .pliant, .obj, .ply or .stl"},
                    {"--resolution", "N",
                     "cells along the longest side; voxel and graded: of the box enlarged by 1.2 "
                     "(default 64)"},
                    {"--hollow", "", "voxel: only the cells that meet the surface"},
                    {"--growth", "G",
                     "graded kinds: cell size over depth below the surface (default 0.5)"},
                    {"--levels", "N",
                     "graded kinds: coarsest cell is 2^N finest ones (default 4); semiregular: "
                     "rounds of splits (default 3)"},
                    {"--base", "N", "semiregular: vertices of the coarsest level (default 150)"},
                    {"--size", "METRES", "scale the longest side of the surface to this first"},
                    {"--repair", "", "weld, drop degenerate and duplicate triangles, orient"},
                    {"--region", "NAME=SEL", "name the elements in a selection; may be repeated"}},
        .run = run_mesh};
}

}  // namespace pliant::cli
