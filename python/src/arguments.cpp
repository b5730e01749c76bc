#include "arguments.h"

#include "geometry/file_extension.h"
#include "pliant/core/archive.h"
#include "pliant/core/error.h"
#include "pliant/geometry/mesh_archive.h"
#include "pliant/geometry/mesh_io.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_check.h"
#include "pliant/reduction/build_reduced.h"

#include <algorithm>
#include <optional>

namespace pliant::python {
namespace {

bool is_path(py::handle value) {
    return py::isinstance<py::str>(value) || py::hasattr(value, "__fspath__");
}

std::string path_text(py::handle value) {
    return py::str(py::module_::import("os").attr("fspath")(value));
}

SemiRegularMesh one_level(SurfaceMesh mesh) {
    SemiRegularMesh surface{std::move(mesh), {}, {}, {}};
    surface.num_vertices = {surface.mesh.num_vertices()};
    surface.triangles = {surface.mesh.triangles};
    return surface;
}

/// Of a name that is an archive of levels.
std::optional<SemiRegularMesh> stored_levels(const std::string& name) {
    if (lower_extension(name) != ".pliant" || Archive(name).kind() != kSemiRegularKind)
        return std::nullopt;
    return load_levels_file(name);
}

}  // namespace

void warn(const std::string& text) {
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

SemiRegularMesh load_levels_file(const std::filesystem::path& path) {
    const Archive archive = Archive::verified(path);
    archive.require_kind(kSemiRegularKind);
    return read_semi_regular_mesh(archive, path.string());
}

SurfaceInput::SurfaceInput(const SurfaceArgument& argument) {
    if (py::isinstance<SurfaceMesh>(argument))
        mesh_ = argument.cast<std::shared_ptr<SurfaceMesh>>();
    else if (py::isinstance<SemiRegularMesh>(argument))
        levels_ = argument.cast<std::shared_ptr<SemiRegularMesh>>();
    else if (is_path(argument))
        name_ = path_text(argument);
    else
        refuse("surface", argument, "a SurfaceMesh, a file or the name of a shape");
}

SurfaceMesh SurfaceInput::load(Progress& progress, double size) const {
    const bool is_file = is_surface_file(name_) || is_volume_file(name_);
    std::optional<SemiRegularMesh> stored = stored_levels(name_);
    SurfaceMesh mesh = mesh_     ? *mesh_
                       : levels_ ? levels_->mesh
                       : stored  ? std::move(stored->mesh)
                       : is_file ? load_surface(name_)
                                 : make_shape(name_, 0, progress);
    if (size != 0) {
        if (!(size > 0)) throw InputError("", "size", std::to_string(size), "above 0 m");
        scale_to_size(mesh, size);
    }
    return mesh;
}

void SurfaceInput::warn_of_refilling(const VolumeMesh& filled) const {
    if (const std::string note = refilling_note(name_, filled); !note.empty()) warn(note);
}

SemiRegularMesh SurfaceInput::load_levels(Progress& progress, int levels) const {
    const std::optional<SemiRegularMesh> stored = stored_levels(name_);
    if (levels_ || stored) {
        const SemiRegularMesh& all = levels_ ? *levels_ : *stored;
        return levels < 0 ? all : coarse_levels(all, std::min(levels, all.num_levels()));
    }
    if (!mesh_ && !is_surface_file(name_) && !is_volume_file(name_) && is_subdivision_shape(name_))
        return make_semi_regular(name_, levels);
    SurfaceMesh mesh = load(progress);
    repair_surface(mesh);
    return one_level(std::move(mesh));
}

Law law_of(const std::string& name) {
    return static_cast<Law>(choice_of(
        "law", name, {"st-venant-kirchhoff", "small-strain", "neo-hookean", "corotational"}));
}

ElementFormulation elements_of(const std::string& name) {
    return static_cast<ElementFormulation>(choice_of("elements", name, {"accurate", "plain"}));
}

Material material_of(const MaterialArgument& argument, Law law) {
    if (py::isinstance<Material>(argument)) return argument.cast<Material>();
    if (py::isinstance<py::str>(argument)) {
        Material material = material_preset(argument.cast<std::string>());
        // anisotropic ones are linear in their strain
        const bool is_linear = law == Law::StVenantKirchhoff || law == Law::SmallStrain;
        if (is_linear || !material.anisotropy) material.law = law;
        return material;
    }
    refuse("material", argument, "a Material or the name of one, as \"rubber\"");
}

std::vector<std::pair<std::string, py::object>> selected_of(const py::object& regions,
                                                            const std::string& expected) {
    std::vector<std::pair<std::string, py::object>> result;
    if (regions.is_none()) return result;
    for (const py::object& item : items_of(regions, "regions", expected)) {
        const auto [selection, value] = pair_of(item, "regions", expected);
        if (!py::isinstance<py::str>(selection)) refuse("regions", selection, expected);
        result.emplace_back(selection.cast<std::string>(), value);
    }
    return result;
}

std::vector<std::pair<std::string, Material>> regions_of(const py::object& regions, Law law) {
    std::vector<std::pair<std::string, Material>> result;
    for (const auto& [selection, material] :
         selected_of(regions, "pairs of a selection and a material"))
        result.emplace_back(selection, material_of(MaterialArgument(material), law));
    return result;
}

std::filesystem::path cache_of(const CacheArgument& argument) {
    if (argument.is_none() || argument.is(py::bool_(false))) return {};
    if (argument.is(py::bool_(true))) return default_cache_folder();
    return path_of(argument, "cache", "True, None or a folder");
}

std::filesystem::path path_of(py::handle value, const std::string& name,
                              const std::string& expected) {
    if (!is_path(value)) refuse(name, value, expected);
    return path_text(value);
}

int choice_of(const std::string& name, const std::string& value,
              const std::vector<std::string>& choices) {
    const auto found = std::find(choices.begin(), choices.end(), value);
    if (found != choices.end()) return static_cast<int>(found - choices.begin());
    std::string expected;
    for (std::size_t i = 0; i < choices.size(); ++i)
        expected += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
    throw InputError("", name, "\"" + value + "\"", expected);
}

Quaternion quaternion_of(py::handle value, const std::string& name) {
    const py::array_t<double> array = real_array(value, name, {4});
    const Quaternion q(array.at(0), array.at(1), array.at(2), array.at(3));
    if (!(q.norm() > 0)) refuse(name, value, "a rotation (w, x, y, z) of length above 0");
    return q.normalized();
}

Pose pose_of(py::handle value) {
    if (value.is_none()) return {};
    if (py::isinstance<Pose>(value)) return value.cast<Pose>();
    Pose pose;
    if (is_pair(value)) {
        const auto parts = py::reinterpret_borrow<py::sequence>(value);
        pose.position = vector_of(py::object(parts[0]), "position");
        pose.rotation = quaternion_of(py::object(parts[1]), "rotation");
    } else {
        pose.position = vector_of(value, "pose");
    }
    return pose;
}

py::array quaternion_array(const Quaternion& q) {
    const std::array<double, 4> wxyz{q.w(), q.x(), q.y(), q.z()};
    return py::array_t<double>(4, wxyz.data());
}

}  // namespace pliant::python
