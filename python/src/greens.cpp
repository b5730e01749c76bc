#include "body_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/greens/build_greens.h"
#include "pliant/greens/greens_body.h"

namespace pliant::python {
namespace {

using GreensPointer = std::shared_ptr<GreensModel>;
using GreensHandle = HandleOf<GreensBody>;

GreensPointer build_greens_of(const SurfaceArgument& surface, const std::string& fixed, double size,
                              const MaterialArgument& material, const std::string& method,
                              const std::string& contactable, int levels, double wavelet_tolerance,
                              const std::string& mesh, int resolution, const CacheArgument& cache,
                              const ProgressArgument& progress) {
    GreensBuildOptions options;
    options.size = size;
    const Material chosen = material_of(material, Law::SmallStrain);
    options.youngs_modulus = chosen.youngs_modulus();
    options.poisson_ratio = chosen.poisson_ratio();
    options.density = chosen.density;
    if (chosen.anisotropy) options.material = chosen;
    options.fixed = fixed;
    options.contactable = contactable;
    options.method = static_cast<GreensMethod>(choice_of("method", method, {"boundary", "finite"}));
    options.mesh.kind = mesh;
    options.mesh.resolution = resolution;
    if (wavelet_tolerance > 0) options.wavelet = WaveletOptions{.tolerance = wavelet_tolerance};
    options.cache = cache_of(cache);
    check_options(options);
    const SurfaceInput input(surface);
    return std::make_shared<GreensModel>(run_long(progress, [&](Progress& shown) {
        return build_greens_model(input.load_levels(shown, levels), options, shown);
    }));
}

BodyPointer make_greens_body(const GreensPointer& model, const PoseArgument& pose,
                             double mask_radius, double rate) {
    GreensBodyOptions options;
    options.pose = pose_of(pose);
    options.mask_radius = mask_radius;
    options.rate = rate;
    const auto make = [model, options] { return std::make_unique<GreensBody>(model, options); };
    return std::make_shared<GreensHandle>(make(), make);
}

}  // namespace

void bind_greens(py::module_& m) {
    py::class_<GreensModel, GreensPointer>(
        m, "GreensModel", "An elastic body with its Green's functions. Cannot be changed.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<GreensModel>(load_greens_model(path));
            },
            py::arg("path"), "From a .pliant file.")
        .def(
            "save",
            [](const GreensModel& model, const std::filesystem::path& path) {
                save_greens_model(path, model);
            },
            py::arg("path"), "To a .pliant file.")
        .def("body", &make_greens_body, py::arg("pose") = py::none(), py::arg("mask_radius") = 0.0,
             py::arg("rate") = 1000.0,
             "A body without inertia: always where its loads are in balance. Forces of points are "
             "spread over mask_radius [m], 0: 1.5 mean edges.")
        .def_property_readonly("surface",
                               [](const GreensPointer& model) {
                                   return std::shared_ptr<SurfaceMesh>(model, &model->surface.mesh);
                               })
        .def_property_readonly("num_nodes", &GreensModel::num_nodes)
        .def_property_readonly("num_columns", &GreensModel::num_columns)
        .def_property_readonly("num_fixed", &GreensModel::num_fixed)
        .def_property_readonly("youngs_modulus", &GreensModel::youngs_modulus, "[Pa]")
        .def_readonly("poisson_ratio", &GreensModel::poisson_ratio)
        .def_readonly("asymmetry", &GreensModel::asymmetry, "Of reciprocity; 0: exact.")
        .def_property_readonly(
            "method", [](const GreensModel& model) { return std::string(to_string(model.method)); })
        .def("__repr__", [](const GreensModel& model) {
            return "<GreensModel of " + std::to_string(model.num_nodes()) + " nodes>";
        });
    m.def(
        "build_greens", &build_greens_of, py::arg("surface"), py::kw_only(), py::arg("fixed"),
        py::arg("size") = 0.0, py::arg("material") = "rubber", py::arg("method") = "boundary",
        py::arg("contactable") = "", py::arg("levels") = -1, py::arg("wavelet_tolerance") = 0.0,
        py::arg("mesh") = "tet", py::arg("resolution") = 24, py::arg("cache") = true,
        py::arg("progress") = py::none(),
        "Green's functions of the body within a closed surface (mesh, file or name of a shape), "
        "held at a selection of nodes, by boundary or finite elements; size: longest side [m], 0: "
        "as it is; wavelet_tolerance: above 0 compresses on subdivision surfaces.");
    py::class_<GreensHandle, BodyHandle, std::shared_ptr<GreensHandle>>(
        m, "GreensBody", "An elastic body without inertia, solved exactly.")
        .def_property_readonly("pose", [](const GreensHandle& b) { return b.get().pose(); })
        .def_property_readonly(
            "num_loads", [](const GreensHandle& b) { return b.get().num_loads(); },
            "Nodes loaded in the last step.");
}

}  // namespace pliant::python
