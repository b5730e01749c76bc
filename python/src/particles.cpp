#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/particles/particle_body.h"
#include "pliant/particles/place_spheres.h"

namespace pliant::python {
namespace {

using ParticlesPointer = std::shared_ptr<ParticleModel>;
using ParticleHandle = HandleOf<ParticleBody>;

constexpr double kSheetRadius = 0.01;  // [m], as the program takes

/// A layout, or the file of one.
std::optional<ParticleLayout> layout_of(const py::object& value) {
    if (value.is_none()) return std::nullopt;
    if (py::isinstance<ParticleLayout>(value)) return value.cast<const ParticleLayout&>();
    return load_layout(path_of(value, "layout", "None, a ParticleLayout or a .json file"));
}

ParticlesPointer build_particles_of(const SurfaceArgument& surface, double size, int count,
                                    int links, double density, double stiffness, bool spheres,
                                    const py::object& regions, double radius, bool sheet,
                                    double mass, const py::object& layout,
                                    const ProgressArgument& progress) {
    const PlacementOptions options{.count = count,
                                   .links = links,
                                   .density = density,
                                   .stiffness = stiffness,
                                   .has_spheres = spheres || radius != 0,
                                   .radius = radius};
    const std::optional<ParticleLayout> given = layout_of(layout);
    if (sheet && given)
        throw InputError("", "a layout has its particles already: drop sheet or layout");
    std::vector<std::pair<std::string, double>> parts;
    for (const auto& [selection, value] :
         selected_of(regions, "pairs of a selection and a stiffness"))
        parts.emplace_back(selection, number_of(value, "regions"));
    const SurfaceInput input(surface);
    return std::make_shared<ParticleModel>(run_long(progress, [&](Progress& shown) {
        SurfaceMesh mesh = input.load(shown, size);
        shown.stage("particles");
        ParticleLayout placed =
            given   ? *given
            : sheet ? particles_of_vertices(mesh, mass, radius == 0 ? kSheetRadius : radius,
                                            stiffness, links)
                    : place_particles(mesh, options);
        for (const auto& [selection, value] : parts) set_stiffness(placed, selection, value);
        return make_particle_model(std::move(placed), std::move(mesh));
    }));
}

py::array radii_of(const ParticleLayout& layout) {
    std::vector<Eigen::Vector3d> radii;
    for (const Particle& particle : layout.particles) radii.push_back(particle.radii);
    return array_of(radii);
}

void bind_layout(py::module_& m) {
    py::class_<ParticleLayout>(m, "ParticleLayout",
                               "Particles at rest and the links that hold them together.")
        .def_static("load", &load_layout, py::arg("path"), Unlocked(), "From a .json file.")
        .def("save", &save_layout, py::arg("path"), Unlocked(),
             "To a .json file, which may be edited by hand.")
        .def_property_readonly("num_particles", &ParticleLayout::num_particles, "Particles.")
        .def_property_readonly(
            "centres", [](const ParticleLayout& layout) { return array_of(centres_of(layout)); },
            "(k, 3) [m]")
        .def_property_readonly("radii", &radii_of,
                               "Along the axes of each particle (k, 3) [m]; equal: a sphere.")
        .def_property_readonly(
            "links",
            [](const ParticleLayout& layout) {
                const int* const first = layout.links.empty() ? nullptr : layout.links[0].data();
                return array_of<int>({first, 2 * layout.links.size()},
                                     {static_cast<py::ssize_t>(layout.links.size()), 2});
            },
            "Pairs of particles (l, 2).")
        .def_readonly("is_cloth", &ParticleLayout::is_cloth, "Links also keep their length.")
        .def("__repr__", [](const ParticleLayout& layout) {
            return "<ParticleLayout of " + std::to_string(layout.num_particles()) + " particles>";
        });
    m.def(
        "place_spheres",
        [](const SurfaceArgument& surface, double size, int count, int links, double mass,
           double stiffness, double least_radius, const ProgressArgument& progress) {
            const SpherePlacementOptions options{.count = count,
                                                 .links = links,
                                                 .mass = mass,
                                                 .stiffness = stiffness,
                                                 .least_radius = least_radius};
            const SurfaceInput input(surface);
            return run_long(progress, [&](Progress& shown) {
                const SurfaceMesh mesh = input.load(shown, size);
                shown.stage("spheres");
                return place_spheres(mesh, options);
            });
        },
        py::arg("surface"), py::kw_only(), py::arg("size") = 0.0, py::arg("count") = 37,
        py::arg("links") = 8, py::arg("mass") = 1.0, py::arg("stiffness") = 0.6,
        py::arg("least_radius") = 0.0, py::arg("progress") = py::none(),
        "Spheres that fill a closed surface (mesh, file or name of a shape) up to its skin, for a "
        "SphereTool; size: longest side [m], 0: as it is; each is linked with so many neighbours; "
        "mass of all [kg]; stiffness of tools that bend, 0 to 1; no sphere is smaller than "
        "least_radius [m].");
    m.def(
        "sphere_coverage",
        [](const ParticleLayout& layout, const SurfaceArgument& surface) {
            const SurfaceInput input(surface);
            SphereCoverage found;
            {
                const py::gil_scoped_release release;
                found = sphere_coverage(layout, input.load(Progress::none()));
            }
            py::dict result;
            result["largest_gap"] = found.largest_gap;
            result["gap_place"] = found.gap_place;
            result["mean_gap"] = found.mean_gap;
            result["largest_overhang"] = found.largest_overhang;
            return result;
        },
        py::arg("layout"), py::arg("surface"),
        "How well spheres stand for a surface: a dictionary with largest_gap and mean_gap of the "
        "surface from the nearest sphere [m], gap_place (3,) [m], and largest_overhang of a sphere "
        "beyond it [m], below 0: all are inside.");
}

BodyPointer make_particle_body(const ParticlesPointer& model, const PoseArgument& pose,
                               const std::vector<std::string>& held, int iterations, double damping,
                               double friction, const py::object& ground) {
    ParticleBodyOptions options;
    options.pose = pose_of(pose);
    options.dynamics.iterations = iterations;
    options.dynamics.damping = damping;
    options.dynamics.friction = friction;
    if (!ground.is_none())
        options.dynamics.planes.push_back({Eigen::Vector3d::UnitZ(), number_of(ground, "ground")});
    for (const std::string& selection : held) options.held.push_back({selection, {}});
    const auto make = [model, options] { return std::make_unique<ParticleBody>(*model, options); };
    return std::make_shared<ParticleHandle>(make(), make, model->layout.num_particles() > 500);
}

}  // namespace

void bind_particles(py::module_& m) {
    bind_layout(m);
    py::class_<ParticleModel, ParticlesPointer>(
        m, "ParticleModel", "Oriented particles and the surface they carry. Cannot be changed.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<ParticleModel>(load_particle_model(path));
            },
            py::arg("path"), Unlocked(), "From a .pliant file.")
        .def(
            "save",
            [](const ParticleModel& model, const std::filesystem::path& path) {
                save_particle_model(model, path);
            },
            py::arg("path"), Unlocked(), "To a .pliant file.")
        .def_property_readonly(
            "layout", [](const ParticleModel& model) { return model.layout; },
            "Its particles and links; a copy.")
        .def("body", &make_particle_body, py::arg("pose") = py::none(),
             py::arg("held") = py::list(), py::arg("iterations") = 5, py::arg("damping") = 0.0,
             py::arg("friction") = 0.3, py::arg("ground") = py::none(),
             "A body of it; held: selections of particles that stay where they are; iterations: "
             "passes "
             "over all groups in a step; damping [1/s]; friction: Coulomb's coefficient; ground: "
             "height of a floor [m].")
        .def_property_readonly(
            "surface",
            [](const ParticlesPointer& model) {
                return std::shared_ptr<SurfaceMesh>(model, &model->surface);
            },
            "Carried by the particles, at rest.")
        .def_property_readonly(
            "num_particles",
            [](const ParticleModel& model) { return model.layout.num_particles(); }, "Particles.")
        .def_property_readonly("mass", &ParticleModel::mass, "[kg]")
        .def_property_readonly(
            "centres",
            [](const ParticleModel& model) { return array_of(centres_of(model.layout)); },
            "At rest (k, 3) [m].")
        .def("__repr__", [](const ParticleModel& model) {
            return "<ParticleModel of " + std::to_string(model.layout.num_particles()) +
                   " particles>";
        });
    m.def(
        "build_particles", &build_particles_of, py::arg("surface"), py::kw_only(),
        py::arg("size") = 0.0, py::arg("count") = 137, py::arg("links") = 8,
        py::arg("density") = 1000.0, py::arg("stiffness") = 0.6, py::arg("spheres") = false,
        py::arg("regions") = py::none(), py::arg("radius") = 0.0, py::arg("sheet") = false,
        py::arg("mass") = 0.2, py::arg("layout") = py::none(), py::arg("progress") = py::none(),
        "Particles spread through a closed surface (mesh, file or name of a shape); size: longest "
        "side [m], 0: as it is; count of them, each linked with so many neighbours; density "
        "[kg/m³]; stiffness 0 (sand) to 1 (rigid), and pairs of a selection and a stiffness in "
        "regions; spheres instead of ellipsoids, of a radius [m] unless 0. sheet: cloth, one "
        "particle for each vertex, of a mass in all [kg] and a radius (0.01 m unless given). "
        "layout: a ParticleLayout, or a .json file of one made by hand, in place of all this.");
    py::class_<ParticleHandle, BodyHandle, std::shared_ptr<ParticleHandle>>(
        m, "ParticleBody", "A body of oriented particles.")
        .def_property_readonly(
            "centres", [](const ParticleHandle& b) { return array_of(b.get().state().position); },
            "Of the particles now (k, 3) [m]; a copy.");
}

}  // namespace pliant::python
