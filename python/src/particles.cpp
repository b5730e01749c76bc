#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/particles/particle_body.h"

namespace pliant::python {
namespace {

using ParticlesPointer = std::shared_ptr<ParticleModel>;
using ParticleHandle = HandleOf<ParticleBody>;

ParticlesPointer build_particles_of(const SurfaceArgument& surface, double size, int count,
                                    int links, double density, double stiffness, bool spheres,
                                    const py::object& regions, const ProgressArgument& progress) {
    const PlacementOptions options{.count = count,
                                   .links = links,
                                   .density = density,
                                   .stiffness = stiffness,
                                   .has_spheres = spheres};
    std::vector<std::pair<std::string, double>> parts;
    if (!regions.is_none()) parts = regions.cast<decltype(parts)>();
    const SurfaceInput input(surface);
    return std::make_shared<ParticleModel>(run_long(progress, [&](Progress& shown) {
        SurfaceMesh mesh = input.load(shown, size);
        shown.stage("particles");
        ParticleLayout layout = place_particles(mesh, options);
        for (const auto& [selection, value] : parts) set_stiffness(layout, selection, value);
        return make_particle_model(std::move(layout), std::move(mesh));
    }));
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
        options.dynamics.planes.push_back({Eigen::Vector3d::UnitZ(), ground.cast<double>()});
    for (const std::string& selection : held) options.held.push_back({selection, {}});
    const auto make = [model, options] { return std::make_unique<ParticleBody>(*model, options); };
    return std::make_shared<ParticleHandle>(make(), make, model->layout.num_particles() > 500);
}

}  // namespace

void bind_particles(py::module_& m) {
    py::class_<ParticleModel, ParticlesPointer>(
        m, "ParticleModel", "Oriented particles and the surface they carry. Cannot be changed.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<ParticleModel>(load_particle_model(path));
            },
            py::arg("path"), "From a .pliant file.")
        .def(
            "save",
            [](const ParticleModel& model, const std::filesystem::path& path) {
                save_particle_model(model, path);
            },
            py::arg("path"), "To a .pliant file.")
        .def("body", &make_particle_body, py::arg("pose") = py::none(),
             py::arg("held") = py::list(), py::arg("iterations") = 5, py::arg("damping") = 0.0,
             py::arg("friction") = 0.3, py::arg("ground") = py::none(),
             "A body of it; held: selections of particles that stay where they are; damping [1/s]; "
             "ground: height of a floor [m].")
        .def_property_readonly("surface",
                               [](const ParticlesPointer& model) {
                                   return std::shared_ptr<SurfaceMesh>(model, &model->surface);
                               })
        .def_property_readonly(
            "num_particles",
            [](const ParticleModel& model) { return model.layout.num_particles(); })
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
        py::arg("regions") = py::none(), py::arg("progress") = py::none(),
        "Particles spread through a closed surface (mesh, file or name of a shape); size: longest "
        "side [m], 0: as it is; density [kg/m³]; stiffness 0 (sand) to 1 (rigid), and pairs of a "
        "selection and a stiffness in regions.");
    py::class_<ParticleHandle, BodyHandle, std::shared_ptr<ParticleHandle>>(
        m, "ParticleBody", "A body of oriented particles.")
        .def_property_readonly(
            "centres", [](const ParticleHandle& b) { return array_of(b.get().state().position); },
            "Of the particles now (k, 3) [m]; a copy.");
}

}  // namespace pliant::python
