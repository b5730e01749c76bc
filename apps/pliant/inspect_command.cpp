#include <cstdio>
#include <optional>

#include "commands.h"
#include "core/printable.h"
#include "field_report.h"
#include "greens_report.h"
#include "output.h"
#include "particles_report.h"
#include "pliant/core/archive.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_writer.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/reduction/reduced_model.h"
#include "recording_report.h"

namespace pliant::cli {
namespace {

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text;
    for (const std::uint64_t extent : shape)
        text += (text.empty() ? "" : " × ") + std::to_string(extent);
    return text;
}

void report_volume(const Arguments& arguments, const std::string& path, const VolumeMesh& mesh,
                   JsonWriter& json);

std::string material_text(const Material& material) {
    return std::string(to_string(material.law)) +
           format(", E = %.4g Pa, ν = %.3g, ρ = %.4g kg/m³", material.youngs_modulus(),
                  material.poisson_ratio(), material.density) +
           (material.anisotropy ? " (averages: anisotropic)" : "");
}

void print_model(const ReducedModel& model) {
    const int k = model.num_modes();
    std::printf("basis        r = %d of %d modes, captures %s of them and their derivatives\n",
                model.rank(), k, share(model.captured()).c_str());
    std::printf("modes        %.4g … %.4g Hz\n", model.frequency(0), model.frequency(k - 1));
    std::printf("mesh         %s %s elements, %s vertices\n",
                grouped(model.num_elements()).c_str(), to_string(model.elements()).data(),
                grouped(model.num_vertices()).c_str());
    const SurfaceShapes shapes = model.shapes();
    std::printf("surface      %s vertices, %s triangles\n", grouped(shapes.num_vertices()).c_str(),
                grouped(shapes.num_triangles()).c_str());
    std::printf(
        "fixed        %s\n",
        model.is_free()
            ? "nothing: flies freely"
            : (grouped(static_cast<std::int64_t>(model.fixed_vertices().size())) + " vertices")
                  .c_str());
    for (const Material& material : model.materials())
        std::printf("material     %s\n", material_text(material).c_str());
    std::printf("forces       %s\n",
                model.has_polynomials() ? "by polynomials" : "through the elements");
    std::printf("run with     steps of %g ms, deflections up to %.3g m\n",
                1e3 * model.suggested_step(), model.expected_reach());
}

void write_model(const ReducedModel& model, JsonWriter& json) {
    json.key("model")
        .begin_object()
        .member("rank", model.rank())
        .member("num_modes", model.num_modes())
        .member("captured", model.captured())
        .member("first_frequency_hz", model.frequency(0))
        .member("last_frequency_hz", model.frequency(model.num_modes() - 1))
        .member("num_elements", model.num_elements())
        .member("num_vertices", model.num_vertices())
        .member("num_surface_vertices", model.shapes().num_vertices())
        .member("free", model.is_free())
        .member("num_fixed", static_cast<int>(model.fixed_vertices().size()))
        .member("polynomials", model.has_polynomials())
        .member("suggested_step_s", model.suggested_step())
        .member("expected_reach_m", model.expected_reach())
        .end_object();
}

int inspect_archive(const Arguments& arguments, const std::string& path) {
    const Archive archive(path);
    Table table({"chunk", "type", "shape", "bytes", "XXH3", "state"});
    JsonWriter json;
    json.begin_object().member("file", path).member("kind", archive.kind());
    json.key("provenance").begin_object();
    for (const auto& [key, value] : archive.provenance()) json.member(key, value);
    json.end_object().key("chunks").begin_array();
    bool is_whole = true;
    for (const ChunkInfo& chunk : archive.chunks()) {
        const bool intact = archive.is_intact(chunk);
        is_whole = is_whole && intact;
        table.add({chunk.name, std::string(to_string(chunk.type)), shape_text(chunk.shape),
                   grouped(static_cast<std::int64_t>(chunk.size)), hash_text(chunk.checksum),
                   intact ? "ok" : "DAMAGED"});
        json.begin_object()
            .member("name", chunk.name)
            .member("type", to_string(chunk.type))
            .key("shape")
            .begin_array();
        for (const std::uint64_t extent : chunk.shape) json.value(extent);
        json.end_array()
            .member("bytes", chunk.size)
            .member("checksum", hash_text(chunk.checksum))
            .member("intact", intact)
            .end_object();
    }
    json.end_array();
    std::optional<ReducedModel> model;
    if (archive.kind() == "reduced-model") {
        if (is_whole) model = ReducedModel::from_archive(archive, path);
        if (model) write_model(*model, json);
    } else if (arguments.has("--of")) {
        throw InputError(path, "holds no model that --of could compare; it is a " + archive.kind());
    }
    std::optional<DistanceGrid> field;
    std::optional<PointTree> tree;
    if (archive.kind() == "distance-field" && is_whole) {
        field = DistanceGrid::from_archive(archive, path);
        write_field(*field, json);
    } else if (archive.kind() == "point-tree" && is_whole) {
        tree = PointTree::from_archive(archive, path);
        write_shell(*tree, json);
    }
    std::optional<GreensModel> greens;
    if (archive.kind() == "greens-model" && is_whole) {
        greens = greens_model_from_archive(archive, path);
        write_greens(*greens, json);
    }
    std::optional<ParticleModel> particles;
    if (archive.kind() == ParticleModel::kArchiveKind && is_whole) {
        particles = read_particle_model(archive, path);
        write_particles(*particles, json);
    }
    std::optional<VolumeMesh> mesh;
    if (archive.kind() == "volume-mesh" && is_whole) mesh = read_volume_mesh(archive, path);
    if (arguments.has("--slice") && !field)
        throw InputError(path, "holds no field that --slice could cut; it is a " + archive.kind());

    if (!arguments.json()) {
        std::printf("%s: %s, %s\n", path.c_str(), archive.kind().c_str(),
                    byte_size(static_cast<double>(archive.file_size())).c_str());
        for (const auto& [key, value] : archive.provenance())
            std::printf("  %-14s %s\n", printable(key).c_str(), printable(value).c_str());
        table.print();
        if (model) print_model(*model);
        if (field) print_field(*field);
        if (tree) print_shell(*tree);
        if (greens) print_greens(*greens);
        if (particles) print_particles(*particles);
    }
    if (arguments.has("--slice")) save_slice(arguments, *field, json);
    if (mesh) report_volume(arguments, path, *mesh, json);
    if (arguments.json()) std::printf("%s\n", json.end_object().text().c_str());
    if (model && arguments.has("--of"))
        model->require_surface(load_surface(arguments.text("--of")));
    // the table above shows which chunk; this also checks what lies between the chunks
    archive.verify();
    return 0;
}

void report_selection(const Arguments& arguments, const std::vector<Eigen::Vector3d>& vertices,
                      JsonWriter& json) {
    if (!arguments.has("--select")) return;
    const auto count = select_some(arguments.text("--select"), vertices, "--select").size();
    json.member("num_selected", static_cast<int>(count));
    if (!arguments.json())
        std::printf("selected     %s of %s vertices\n",
                    grouped(static_cast<std::int64_t>(count)).c_str(),
                    grouped(static_cast<std::int64_t>(vertices.size())).c_str());
}

void print_box(const Box& box) {
    if (box.isEmpty()) return;
    std::printf("box          %.4g … %.4g, %.4g … %.4g, %.4g … %.4g m\n", box.min().x(),
                box.max().x(), box.min().y(), box.max().y(), box.min().z(), box.max().z());
}

void print_findings(const std::string& findings) {
    std::printf("%s\n", findings.empty() ? "nothing wrong found" : findings.c_str());
}

int inspect_surface(const Arguments& arguments, const std::string& path) {
    const SurfaceMesh mesh = load_surface(path);
    const SurfaceReport report = check_surface(mesh);
    JsonWriter json;
    json.begin_object()
        .member("file", path)
        .member("num_vertices", report.num_vertices)
        .member("num_triangles", report.num_triangles)
        .member("num_components", report.num_components)
        .member("euler_number", report.euler_number)
        .member("closed", report.is_closed())
        .member("manifold", report.is_manifold())
        .member("inside_out", report.is_inside_out);
    const std::pair<const char*, const Defect*> defects[] = {
        {"non_finite_vertices", &report.non_finite_vertices},
        {"unused_vertices", &report.unused_vertices},
        {"invalid_indices", &report.invalid_indices},
        {"degenerate_triangles", &report.degenerate_triangles},
        {"duplicate_triangles", &report.duplicate_triangles},
        {"open_edges", &report.open_edges},
        {"non_manifold_edges", &report.non_manifold_edges},
        {"non_manifold_vertices", &report.non_manifold_vertices},
        {"inconsistent_edges", &report.inconsistent_edges}};
    for (const auto& [name, defect] : defects)
        json.key(name)
            .begin_object()
            .member("count", defect->count)
            .member("first", defect->first)
            .end_object();
    json.member("area_m2", report.area).member("volume_m3", report.volume);
    if (!arguments.json()) {
        std::printf("%s: %s, %s, %s, Euler number %d\n", path.c_str(),
                    counted(report.num_vertices, "vertex", "vertices").c_str(),
                    counted(report.num_triangles, "triangle", "triangles").c_str(),
                    counted(report.num_components, "component", "components").c_str(),
                    report.euler_number);
        print_box(report.box);
        std::printf("area         %.6g m²\n", report.area);
        if (report.is_closed()) std::printf("volume       %.6g m³\n", report.volume);
        print_findings(report.text());
    }
    report_selection(arguments, mesh.vertices, json);
    if (arguments.json()) std::printf("%s\n", json.end_object().text().c_str());
    return 0;
}

/// What a volume mesh holds and what is wrong with it: in words, and as members of an open object.
void report_volume(const Arguments& arguments, const std::string& path, const VolumeMesh& mesh,
                   JsonWriter& json) {
    const VolumeReport report = check_volume(mesh);
    const VolumeMesh valid = valid_elements(mesh);
    const bool tets = mesh.kind == ElementKind::Tet4;
    json.member("element", tets ? "tet4" : "hex8")
        .member("num_vertices", report.num_vertices)
        .member("num_elements", report.num_elements)
        .member("num_parts", report.num_parts)
        .member("num_invalid", report.num_invalid)
        .member("first_invalid", report.first_invalid)
        .member("num_non_finite", report.num_non_finite)
        .member("first_non_finite", report.first_non_finite)
        .member("num_inverted", report.num_inverted)
        .member("first_inverted", report.first_inverted)
        .member("worst_jacobian", report.worst_jacobian)
        .member("num_orphans", report.num_orphans)
        .member("first_orphan", report.first_orphan)
        .member("num_weak_joints", report.num_weak_joints)
        .member("first_weak_joint", report.first_weak_joint)
        .member("volume_m3", total_volume(valid))
        .member("weighted_volume_m3", total_volume(valid, true));
    if (!arguments.json()) {
        std::printf("%s: %s, %s in %s\n", path.c_str(),
                    counted(report.num_vertices, "vertex", "vertices").c_str(),
                    tets ? counted(report.num_elements, "tetrahedron", "tetrahedra").c_str()
                         : counted(report.num_elements, "hexahedron", "hexahedra").c_str(),
                    counted(report.num_parts, "part", "parts").c_str());
        print_box(report.box);
        std::printf("volume       %.6g m³\n", total_volume(valid));
        if (tets && valid.num_elements() > 0) {
            const auto [low, high] = dihedral_range(valid);
            std::printf("angles       %.1f° … %.1f° (dihedral)\n", low, high);
        }
        print_findings(report.text());
    }
    report_selection(arguments, mesh.vertices, json);
}

int inspect_volume(const Arguments& arguments, const std::string& path) {
    JsonWriter json;
    json.begin_object().member("file", path);
    report_volume(arguments, path, load_volume(path), json);
    if (arguments.json()) std::printf("%s\n", json.end_object().text().c_str());
    return 0;
}

int inspect_recording(const Arguments& arguments, const std::string& path) {
    const Recording recording = Recording::load(path);
    if (arguments.json())
        std::printf("%s\n", content_json(recording, path).c_str());
    else
        print_content(recording, path);
    return 0;
}

int run_inspect(const Arguments& arguments) {
    const std::string& path = arguments.operands()[0];
    if (arguments.has("-o") && !arguments.has("--slice"))
        throw InputError("", "-o is for a slice, as in --slice z=0.1 -o slice.png");
    if (arguments.has("--slice") && !has_extension(path, ".pliant"))
        throw InputError(
            path, "holds no field that --slice could cut; make one with: pliant build " + path +
                      " --kind field -o field.pliant");
    if (has_extension(path, ".vtu"))
        throw InputError(path,
                         "is written for ParaView and not read back; inspect the .pliant or "
                         ".msh file of the same mesh");
    if (has_extension(path, ".pliant")) return inspect_archive(arguments, path);
    if (has_extension(path, ".pliantrec")) return inspect_recording(arguments, path);
    return is_volume_file(path) ? inspect_volume(arguments, path)
                                : inspect_surface(arguments, path);
}

}  // namespace

Command inspect_command() {
    return {.name = "inspect",
            .summary =
                "Says what is in a mesh, model, field, pointshell, recording or other .pliant file "
                "and whether it is sound.",
            .operands = "FILE",
            .example = "pliant inspect bridge.ply --select \"z < 5 %\"",
            .min_operands = 1,
            .max_operands = 1,
            .options = {{"--select", "SELECTION",
                         "count the vertices of a selection, as in \"z < 5 %\""},
                        {"--of", "SURFACE", "check that a model was built from this surface"},
                        {"--slice", "AXIS=M",
                         "draw a distance field where it is cut, as in z=0.1 (metres)"},
                        {"-o", "FILE", "the picture of --slice, .png"}},
            .run = run_inspect};
}

}  // namespace pliant::cli
