#include "greens_handle.h"
#include "long_call.h"
#include "meshes.h"

#include "pliant/core/error.h"
#include "pliant/greens/build_greens.h"

namespace pliant::python {
namespace {

/// (kind, position) pairs of a list.
std::vector<GreensReadout> readouts_of(const py::object& value) {
    std::vector<GreensReadout> readouts;
    if (value.is_none()) return readouts;
    constexpr const char* kExpected = "pairs of \"displacement\" or \"stress\" and a point [m]";
    for (const py::object& item : items_of(value, "readouts", kExpected)) {
        const auto [kind, position] = pair_of(item, "readouts", kExpected);
        readouts.push_back({static_cast<ReadoutKind>(
                                choice_of("readouts", py::str(kind), {"displacement", "stress"})),
                            vector_of(position, "readouts")});
    }
    return readouts;
}

/// Compression is chosen by a kind or a tolerance; the rest goes with it.
std::optional<WaveletOptions> wavelet_of(const std::string& kind, double tolerance,
                                         bool base_threshold, int bits) {
    if (kind.empty() && !(tolerance > 0)) {
        if (base_threshold || bits != WaveletOptions{}.bits)
            throw InputError("",
                             "base_threshold and bits are for compressed functions; add "
                             "wavelet=\"lifted-linear\" or drop them");
        return std::nullopt;
    }
    WaveletOptions options;
    if (!kind.empty()) options.kind = wavelet_kind(kind);
    if (tolerance >= 0) options.tolerance = tolerance;
    options.thresholds_base = base_threshold;
    options.bits = bits;
    return options;
}

GreensPointer build_greens_of(const py::object& body, const std::string& fixed, double size,
                              const MaterialArgument& material, const std::string& method,
                              const std::string& contactable, bool fixed_columns, int levels,
                              double wavelet_tolerance, int coarsest_level, const std::string& mesh,
                              int resolution, const CacheArgument& cache,
                              const std::string& elements, double crease_angle,
                              const std::string& solver, double residual, const std::string& matrix,
                              double matrix_tolerance, double memory, const py::object& readouts,
                              const std::string& wavelet, bool base_threshold, int bits,
                              int finest_level, bool hollow, double growth, bool keep_largest,
                              const py::object& regions, const ProgressArgument& progress) {
    GreensBuildOptions options;
    options.size = size;
    const Material chosen = material_of(material, Law::SmallStrain);
    options.youngs_modulus = chosen.youngs_modulus();
    options.poisson_ratio = chosen.poisson_ratio();
    options.density = chosen.density;
    if (chosen.anisotropy) options.material = chosen;
    options.fixed = fixed;
    options.contactable = contactable;
    options.has_fixed_columns = fixed_columns;
    options.coarsest_level = coarsest_level;
    options.method = static_cast<GreensMethod>(choice_of("method", method, {"boundary", "finite"}));
    options.mesh.kind = mesh;
    options.mesh.resolution = resolution;
    options.mesh.is_hollow = hollow;
    options.mesh.growth = growth;
    // levels are those of the surface here: graded meshes take as many as they can
    while (options.mesh.levels > 0 && 1 << options.mesh.levels > resolution) --options.mesh.levels;
    options.keeps_largest = keep_largest;
    for (auto& [selection, other] : regions_of(regions))
        options.regions.push_back({selection, other});
    options.elements =
        static_cast<BoundaryElements>(choice_of("elements", elements, {"linear", "constant"}));
    options.crease_angle = crease_angle;
    options.solver = greens_solver(solver);
    options.residual = residual;
    options.matrix = greens_matrix(matrix);
    options.matrix_tolerance = matrix_tolerance;
    options.memory = memory;
    options.readouts = readouts_of(readouts);
    options.finest_level = finest_level;
    options.wavelet = wavelet_of(wavelet, wavelet_tolerance, base_threshold, bits);
    options.cache = cache_of(cache);
    const bool is_volume = py::isinstance<VolumeMesh>(body);
    if (is_volume) options.method = GreensMethod::FiniteElements;
    check_options(options);
    if (is_volume) {
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

/// The rows of all readouts in the column of a node.
py::array readout_column(const GreensModel& model, int id) {
    const GreensFunctions& functions = *model.reference.functions;
    if (!functions.has_column(id))
        throw InputError("", "column", std::to_string(id), "a node or function with a column");
    const auto rows = static_cast<std::size_t>(functions.num_readouts());
    py::array_t<float> values({static_cast<py::ssize_t>(rows), py::ssize_t{3}});
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::array<float, 3> unit{};
        unit[axis] = 1;
        std::vector<float> out(rows);
        functions.add_readouts(std::span(&id, 1), unit, out);
        for (std::size_t i = 0; i < rows; ++i) values.mutable_data()[3 * i + axis] = out[i];
    }
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
            py::arg("path"), Unlocked(), "From a .pliant file.")
        .def(
            "save",
            [](const GreensModel& model, const std::filesystem::path& path) {
                save_greens_model(model, path);
            },
            py::arg("path"), Unlocked(), "To a .pliant file.")
        .def("body", &make_greens_body, py::arg("pose") = py::none(), py::arg("mask_radius") = 0.0,
             py::arg("rate") = 1000.0, py::arg("constraint_level") = -1, py::arg("max_loads") = 256,
             "A body without inertia: always where its loads are in balance. Forces of points are "
             "spread over mask_radius [m], 0: 1.5 mean edges, or over the functions of "
             "constraint_level; rate of steps [Hz]; max_loads: nodes loaded at once.")
        .def_property_readonly(
            "surface",
            [](const GreensPointer& model) {
                return std::shared_ptr<SurfaceMesh>(model, &model->surface.mesh);
            },
            "At rest.")
        .def_property_readonly("num_nodes", &GreensModel::num_nodes, "Boundary nodes.")
        .def_property_readonly("num_columns", &GreensModel::num_columns, "Nodes with a column.")
        .def_property_readonly("num_fixed", &GreensModel::num_fixed, "Nodes that are held.")
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
            "readouts",
            [](const GreensModel& model) {
                py::list result;
                for (const GreensReadout& readout : model.readouts)
                    result.append(py::make_tuple(
                        readout.kind == ReadoutKind::Stress ? "stress" : "displacement",
                        readout.position));
                return result;
            },
            "Pairs of a kind and a point [m], in the order of readout_column.")
        .def("readout_column", &readout_column, py::arg("id"),
             "(v, 3) float32: what a unit known value of a node does to all readouts one below the "
             "other: three rows of a displacement in units of length, six (xx yy zz yz zx xy) of a "
             "stress in units of modulus.")
        .def_property_readonly(
            "length", [](const GreensModel& model) { return model.reference.length; },
            "Unit of displacements in columns [m].")
        .def_property_readonly(
            "modulus", [](const GreensModel& model) { return model.reference.modulus; },
            "Unit of tractions in columns: the shear modulus [Pa].")
        .def_property_readonly("youngs_modulus", &GreensModel::youngs_modulus, "[Pa]")
        .def_readonly("poisson_ratio", &GreensModel::poisson_ratio, "Without unit.")
        .def_readonly("density", &GreensModel::density, "[kg/m³]")
        .def_readonly("asymmetry", &GreensModel::asymmetry, "Of reciprocity; 0: exact.")
        .def_property_readonly(
            "method", [](const GreensModel& model) { return std::string(to_string(model.method)); },
            "How the functions were found.")
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
        py::arg("wavelet_tolerance") = -1.0, py::arg("coarsest_level") = -1,
        py::arg("mesh") = "tet", py::arg("resolution") = 24, py::arg("cache") = true,
        py::arg("elements") = "linear", py::arg("crease_angle") = 0.0, py::arg("solver") = "auto",
        py::arg("residual") = 1e-4, py::arg("matrix") = "hierarchical",
        py::arg("matrix_tolerance") = 0.0, py::arg("memory") = 0.0,
        py::arg("readouts") = py::none(), py::arg("wavelet") = "",
        py::arg("base_threshold") = false, py::arg("bits") = 32, py::arg("finest_level") = -1,
        py::arg("hollow") = false, py::arg("growth") = 0.5, py::arg("keep_largest") = false,
        py::arg("regions") = py::none(), py::arg("progress") = py::none(),
        "Green's functions of the body within a closed surface (mesh, file or name of a shape), "
        "held at a selection of nodes, by boundary or finite elements; or by those of a "
        "VolumeMesh. size: longest side [m], 0: as it is; contactable: selection of nodes that may "
        "be touched, empty: all; fixed_columns: supports may move; levels: rounds of subdivision, "
        "-1: all. readouts: pairs of \"displacement\" or \"stress\" and a point inside [m]. "
        "boundary: elements linear or constant, nodes doubled along edges sharper than "
        "crease_angle [rad] unless 0; solver auto, direct or iterative, which stops at a relative "
        "residual with a hierarchical or wavelet matrix (matrix_tolerance 0: 1e-4 and 0.01); "
        "memory that may be used [bytes], 0: what is free. finite: mesh, resolution, "
        "hollow, growth, keep_largest and regions as in build_reduced. wavelet: linear, "
        "lifted-linear, butterfly or lifted-butterfly compresses on subdivision surfaces within "
        "wavelet_tolerance of the largest response (0.05 unless 0 or more; above 0 it compresses "
        "by lifted-linear alone), base_threshold: small coefficients of the base go as well, bits "
        "of each number: 32 or 16. coarsest_level, finest_level: functions of these levels have "
        "columns, -1: nodes alone, and down to them.");
    py::class_<GreensHandle, BodyHandle, std::shared_ptr<GreensHandle>>(
        m, "GreensBody", "An elastic body without inertia, solved exactly.")
        .def_property_readonly(
            "pose", [](const GreensHandle& b) { return b.get().pose(); },
            "Of its axes in the world.")
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
