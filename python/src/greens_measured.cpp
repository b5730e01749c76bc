#include "greens_handle.h"
#include "long_call.h"

#include "pliant/core/error.h"
#include "pliant/greens/measured_greens.h"

namespace pliant::python {
namespace {

using MeasurementPointer = std::shared_ptr<GreensMeasurement>;

MeasurementPointer make_measurement(int num_vertices, double noise) {
    auto measurement = std::make_shared<GreensMeasurement>();
    measurement->num_vertices = num_vertices;
    measurement->noise = noise;
    return measurement;
}

/// Displacements without numbers (nan) were not seen.
void add_probe(GreensMeasurement& measurement, int vertex, const ArrayArgument& force,
               const ArrayArgument& displacements) {
    check_index("vertex", vertex, measurement.num_vertices);
    GreensProbe probe;
    probe.vertex = vertex;
    probe.force = vector_of(force, "force");
    const auto u = real_array(displacements, "displacements", {measurement.num_vertices, 3});
    for (int v = 0; v < measurement.num_vertices; ++v) {
        const Eigen::Vector3d moved(u.at(v, 0), u.at(v, 1), u.at(v, 2));
        if (moved.hasNaN()) continue;
        probe.seen.push_back(v);
        probe.displacements.push_back(moved);
    }
    measurement.probes.push_back(std::move(probe));
}

py::dict probe_arrays(const GreensProbe& probe, int num_vertices) {
    py::array_t<double> u({static_cast<py::ssize_t>(num_vertices), py::ssize_t{3}});
    std::fill_n(u.mutable_data(), u.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t k = 0; k < probe.seen.size(); ++k)
        for (py::ssize_t axis = 0; axis < 3; ++axis)
            u.mutable_at(probe.seen[k], axis) = probe.displacements[k][axis];
    py::dict result;
    result["vertex"] = probe.vertex;
    result["force"] = probe.force;
    result["displacements"] = u;
    return result;
}

MeasurementPointer probe_model(const GreensModel& model, int num_probes, double cone, double force,
                               double noise, double hidden_share, std::uint64_t seed) {
    SyntheticProbing probing;
    probing.num_probes = num_probes;
    probing.cone = cone;
    probing.force = force;
    probing.noise = noise;
    probing.hidden_share = hidden_share;
    probing.seed = seed;
    return std::make_shared<GreensMeasurement>(synthetic_measurement(model, probing));
}

py::tuple build_measured_of(const SurfaceArgument& surface, const GreensMeasurement& measurement,
                            const std::string& fixed, double size, const std::string& contactable,
                            double youngs_modulus, double poisson_ratio, double density,
                            double max_error, int levels, const ProgressArgument& progress) {
    MeasuredGreensOptions options;
    options.size = size;
    options.fixed = fixed;
    options.contactable = contactable;
    options.youngs_modulus = youngs_modulus;
    options.poisson_ratio = poisson_ratio;
    options.density = density;
    options.max_error = max_error;
    const SurfaceInput input(surface);
    MeasuredGreensReport report;
    auto model = std::make_shared<GreensModel>(run_long(progress, [&](Progress& shown) {
        return build_measured_model(input.load_levels(shown, levels), measurement, options, shown,
                                    &report);
    }));
    return py::make_tuple(model, std::move(report));
}

}  // namespace

void bind_greens_measured(py::module_& m) {
    py::class_<GreensMeasurement, MeasurementPointer>(
        m, "GreensMeasurement", "Pushes on a body that stands on its base, and what they moved.")
        .def(py::init(&make_measurement), py::arg("num_vertices"), py::arg("noise") = 0.0,
             "Of a surface of so many vertices; noise: standard deviation of a coordinate of a "
             "displacement [m], 0: unknown.")
        .def_static(
            "load",
            [](const std::filesystem::path& path) {
                return std::make_shared<GreensMeasurement>(load_measurement(path));
            },
            py::arg("path"), Unlocked(), "From a text file of probes.")
        .def(
            "save",
            [](const GreensMeasurement& measurement, const std::filesystem::path& path) {
                save_measurement(measurement, path);
            },
            py::arg("path"), Unlocked(), "To a text file of probes.")
        .def("add_probe", &add_probe, py::arg("vertex"), py::arg("force"), py::arg("displacements"),
             "A force (3,) [N] on a vertex and displacements (n, 3) [m] of all vertices; those "
             "with nan were not seen.")
        .def(
            "probe",
            [](const GreensMeasurement& measurement, std::size_t i) {
                if (i >= measurement.probes.size())
                    throw py::index_error("probe " + std::to_string(i) + " of " +
                                          std::to_string(measurement.probes.size()));
                return probe_arrays(measurement.probes[i], measurement.num_vertices);
            },
            py::arg("i"), "vertex, force [N], displacements (n, 3) [m] with nan: not seen.")
        .def("__len__", [](const GreensMeasurement& a) { return a.probes.size(); })
        .def_readonly("num_vertices", &GreensMeasurement::num_vertices, "n: of the surface.")
        .def_readonly("noise", &GreensMeasurement::noise, "[m]; 0: unknown.");
    py::class_<MeasuredGreensReport>(m, "MeasuredGreensReport", "How well columns are known.")
        .def_property_readonly(
            "errors",
            [](const MeasuredGreensReport& report) {
                std::vector<double> errors;
                for (const MeasuredColumn& column : report.columns) errors.push_back(column.error);
                return array_of<double>(errors, {static_cast<py::ssize_t>(errors.size())});
            },
            "Of each probed column by noise, relative, RMS.")
        .def_property_readonly(
            "vertices",
            [](const MeasuredGreensReport& report) {
                std::vector<int> vertices;
                for (const MeasuredColumn& column : report.columns)
                    vertices.push_back(column.vertex);
                return array_of<int>(vertices, {static_cast<py::ssize_t>(vertices.size())});
            },
            "That were probed, in the order of errors.")
        .def_readonly("num_inferred", &MeasuredGreensReport::num_inferred,
                      "Columns of vertices that were not probed.")
        .def_readonly("num_filled", &MeasuredGreensReport::num_filled,
                      "Blocks of columns that were not seen.")
        .def_readonly("noise", &MeasuredGreensReport::noise, "As stated or estimated [m].")
        .def_readonly("youngs_modulus", &MeasuredGreensReport::youngs_modulus, "[Pa]")
        .def_readonly("asymmetry", &MeasuredGreensReport::asymmetry, "Of reciprocity; 0: exact.")
        .def_readonly("notes", &MeasuredGreensReport::notes, "What is doubtful about the result.");
    m.def("probe_model", &probe_model, py::arg("model"), py::kw_only(), py::arg("num_probes") = 4,
          py::arg("cone") = 0.7, py::arg("force") = 0.0, py::arg("noise") = 0.0,
          py::arg("hidden_share") = 0.0, py::arg("seed") = 1,
          "What a robot would measure on a GreensModel with levels: so many probes of each vertex "
          "of the level before the finest, forces [N] (0: that move it by 2 % of its length) "
          "within a cone [rad] around the inward normal; noise [m]; share of vertices hidden.");
    m.def("build_measured", &build_measured_of, py::arg("surface"), py::arg("measurement"),
          py::kw_only(), py::arg("fixed"), py::arg("size") = 0.0, py::arg("contactable") = "",
          py::arg("youngs_modulus") = 0.0, py::arg("poisson_ratio") = 0.3,
          py::arg("density") = 1000.0, py::arg("max_error") = 0.2, py::arg("levels") = -1,
          py::arg("progress") = py::none(),
          "A GreensModel from a measurement, and a MeasuredGreensReport. surface: with levels, its "
          "vertices are those measured; levels: rounds of its subdivision, -1: all; fixed: "
          "selection of the vertices of its base, as \"z < 5 %\"; size: longest side to which the "
          "surface is scaled [m], 0: as it is; contactable: selection of vertices that may be "
          "touched, empty: all; youngs_modulus [Pa] is the scale of its units, 0: estimated; "
          "density [kg/m³]; max_error: of a column by noise, relative.");
}

}  // namespace pliant::python
