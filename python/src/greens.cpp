#include "greens_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/greens/build_greens.h"

namespace pliant::python {
namespace {

GreensPointer build_greens_of(const py::object& body, const std::string& fixed, double size,
                              const MaterialArgument& material, const std::string& method,
                              const std::string& contactable, bool fixed_columns, int levels,
                              double wavelet_tolerance, int coarsest_level, const std::string& mesh,
                              int resolution, const CacheArgument& cache,
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
    options.fixed_columns = fixed_columns;
    options.coarsest_level = coarsest_level;
    options.method = static_cast<GreensMethod>(choice_of("method", method, {"boundary", "finite"}));
    options.mesh.kind = mesh;
    options.mesh.resolution = resolution;
    if (wavelet_tolerance > 0) options.wavelet = WaveletOptions{.tolerance = wavelet_tolerance};
    options.cache = cache_of(cache);
    check_options(options);
    if (py::isinstance<VolumeMesh>(body)) {
        const auto volume = body.cast<std::shared_ptr<VolumeMesh>>();
        return std::make_shared<GreensModel>(run_long(progress, [&](Progress& shown) {
            return build_greens_model(*volume, options, shown);
        }));
    }
    const SurfaceInput input{SurfaceArgument(body)};
    return std::make_shared<GreensModel>(run_long(progress, [&](Progress& shown) {
        return build_greens_model(input.load_levels(shown, levels), options, shown);
    }));
}

BodyPointer make_greens_body(const GreensPointer& model, const PoseArgument& pose,
                             double mask_radius, double rate, int constraint_level, int max_loads) {
    GreensBodyOptions options;
    options.pose = pose_of(pose);
    options.mask_radius = mask_radius;
    options.rate = rate;
    options.constraint_level = constraint_level;
    options.max_loads = max_loads;
    const auto make = [model, options] { return std::make_unique<GreensBody>(model, options); };
    return std::make_shared<GreensHandle>(make(), make);
}

/// The column of a node, or of another id, by nodes.
py::array column_of(const GreensModel& model, int id) {
    const GreensFunctions& functions = *model.reference.functions;
    if (!functions.has_column(id))
        throw InputError("", "column", std::to_string(id), "a node or function with a column");
    const auto n = static_cast<py::ssize_t>(model.num_nodes());
    py::array_t<float> values({n, py::ssize_t{3}, py::ssize_t{3}});
    for (int i = 0; i < model.num_nodes(); ++i)
        functions.element(i, id, values.mutable_data(i, 0, 0));
    return values;
}

py::array is_fixed(const GreensModel& model) {
    py::array_t<bool> fixed(static_cast<py::ssize_t>(model.num_nodes()));
    for (int i = 0; i < model.num_nodes(); ++i)
        fixed.mutable_at(i) = model.reference.kinds[static_cast<std::size_t>(i)] == NodeKind::Fixed;
    return fixed;
}

void bind_greens_model(py::module_& m) {
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
             py::arg("rate") = 1000.0, py::arg("constraint_level") = -1, py::arg("max_loads") = 256,
             "A body without inertia: always where its loads are in balance. Forces of points are "
             "spread over mask_radius [m], 0: 1.5 mean edges, or over the functions of "
             "constraint_level; rate of steps [Hz]; max_loads: nodes loaded at once.")
        .def_property_readonly("surface",
                               [](const GreensPointer& model) {
                                   return std::shared_ptr<SurfaceMesh>(model, &model->surface.mesh);
                               })
        .def_property_readonly("num_nodes", &GreensModel::num_nodes)
        .def_property_readonly("num_columns", &GreensModel::num_columns)
        .def_property_readonly("num_fixed", &GreensModel::num_fixed)
        .def_property_readonly(
            "nodes",
            [](const py::object& self) {
                return vertices_view(self, self.cast<const GreensModel&>().reference.positions);
            },
            "(n, 3) float64 [m] at rest, no copy.")
        .def_property_readonly("is_fixed", &is_fixed, "(n,) bool: nodes that are held.")
        .def_property_readonly(
            "areas",
            [](const py::object& self) {
                const auto& areas = self.cast<const GreensModel&>().reference.areas;
                return view_of(areas.data(), {static_cast<py::ssize_t>(areas.size())}, self);
            },
            "Of nodes (n,) [m²], no copy.")
        .def("column", &column_of, py::arg("id"),
             "(n, 3, 3) float32: what a unit known value of a node does to all nodes. "
             "Displacements in units of length, tractions in units of modulus. Ids above the nodes "
             "are functions of coarser levels.")
        .def_property_readonly(
            "length", [](const GreensModel& model) { return model.reference.length; },
            "Unit of displacements in columns [m].")
        .def_property_readonly(
            "modulus", [](const GreensModel& model) { return model.reference.modulus; },
            "Unit of tractions in columns: the shear modulus [Pa].")
        .def_property_readonly("youngs_modulus", &GreensModel::youngs_modulus, "[Pa]")
        .def_readonly("poisson_ratio", &GreensModel::poisson_ratio)
        .def_readonly("density", &GreensModel::density, "[kg/m³]")
        .def_readonly("asymmetry", &GreensModel::asymmetry, "Of reciprocity; 0: exact.")
        .def_property_readonly(
            "method", [](const GreensModel& model) { return std::string(to_string(model.method)); })
        .def("__repr__", [](const GreensModel& model) {
            return "<GreensModel of " + std::to_string(model.num_nodes()) + " nodes>";
        });
}

}  // namespace

void bind_greens(py::module_& m) {
    bind_greens_model(m);
    m.def(
        "build_greens", &build_greens_of, py::arg("surface"), py::kw_only(), py::arg("fixed"),
        py::arg("size") = 0.0, py::arg("material") = "rubber", py::arg("method") = "boundary",
        py::arg("contactable") = "", py::arg("fixed_columns") = false, py::arg("levels") = -1,
        py::arg("wavelet_tolerance") = 0.0, py::arg("coarsest_level") = -1, py::arg("mesh") = "tet",
        py::arg("resolution") = 24, py::arg("cache") = true, py::arg("progress") = py::none(),
        "Green's functions of the body within a closed surface (mesh, file or name of a shape), "
        "held at a selection of nodes, by boundary or finite elements; or by those of a "
        "VolumeMesh. size: longest side [m], 0: as it is; fixed_columns: supports may move; "
        "wavelet_tolerance: above 0 compresses on subdivision surfaces; coarsest_level: functions "
        "from this level on have columns, -1: nodes alone.");
    py::class_<GreensHandle, BodyHandle, std::shared_ptr<GreensHandle>>(
        m, "GreensBody", "An elastic body without inertia, solved exactly.")
        .def_property_readonly("pose", [](const GreensHandle& b) { return b.get().pose(); })
        .def_property_readonly(
            "num_loads", [](const GreensHandle& b) { return b.get().num_loads(); },
            "Nodes loaded in the last step.")
        .def_property_readonly(
            "constraint_level", [](const GreensHandle& b) { return b.get().constraint_level(); },
            "On which it is touched now; -1: nodes.")
        .def_property_readonly(
            "strain_use", [](const GreensHandle& b) { return b.get().strain().use; },
            "Largest strain, rotation or displacement over what linear theory allows; above 1: "
            "exceeded.");
}

}  // namespace pliant::python
