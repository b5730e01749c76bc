#pragma once

#include "arrays.h"
#include "pliant/core/progress.h"
#include "pliant/fem/fem_model.h"
#include "pliant/geometry/subdivision.h"
#include "pliant/geometry/surface_mesh.h"
#include "pliant/geometry/volume_mesh.h"

#include <filesystem>

namespace pliant::python {

/// A mesh, a file or the name of a procedural shape; in two parts, because only the second may
/// take long and touches nothing of Python.
class SurfaceInput {
public:
    explicit SurfaceInput(const SurfaceArgument& argument);
    /// Scaled so that its longest side is `size` metres; 0: as it is.
    [[nodiscard]] SurfaceMesh load(Progress& progress, double size = 0) const;
    /// By warn(), where a file of a volume mesh was filled anew.
    void warn_of_refilling(const VolumeMesh& filled) const;
    /// With levels where it has them: `levels` −1, all.
    [[nodiscard]] SemiRegularMesh load_levels(Progress& progress, int levels) const;

private:
    std::shared_ptr<const SurfaceMesh> mesh_;
    std::shared_ptr<const SemiRegularMesh> levels_;
    std::string name_;
};

/// By Python's warnings, in the name of the caller; throws where these are made errors.
void warn(const std::string& text);

/// The surface of an archive that holds nothing else. Touches nothing of Python.
[[nodiscard]] SemiRegularMesh load_levels_file(const std::filesystem::path& path);

/// A Material or the name of one, which then has this law; anisotropic ones only a linear one.
[[nodiscard]] Material material_of(const MaterialArgument& argument,
                                   Law law = Law::StVenantKirchhoff);
[[nodiscard]] Law law_of(const std::string& name);
[[nodiscard]] ElementFormulation elements_of(const std::string& name);
/// Pairs of a selection and something else in a list; None: none.
[[nodiscard]] std::vector<std::pair<std::string, py::object>> selected_of(
    const py::object& regions, const std::string& expected);
/// (selection, material) pairs of a list.
[[nodiscard]] std::vector<std::pair<std::string, Material>> regions_of(
    const py::object& regions, Law law = Law::StVenantKirchhoff);
/// True: the usual folder; None or False: none.
[[nodiscard]] std::filesystem::path cache_of(const CacheArgument& argument);
[[nodiscard]] std::filesystem::path path_of(py::handle value, const std::string& name,
                                            const std::string& expected);
/// The place of a word in a list; throws InputError that names all of them.
[[nodiscard]] int choice_of(const std::string& name, const std::string& value,
                            const std::vector<std::string>& choices);
/// A Pose, a position, or a position and a quaternion (w, x, y, z).
[[nodiscard]] Pose pose_of(py::handle value);
[[nodiscard]] py::array quaternion_array(const Quaternion& q);
[[nodiscard]] Quaternion quaternion_of(py::handle value, const std::string& name);

}  // namespace pliant::python
