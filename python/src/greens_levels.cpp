#include "greens_handle.h"
#include "long_call.h"

#include "pliant/core/error.h"
#include "pliant/greens/adaptive_surface.h"
#include "pliant/greens/hierarchical_greens.h"

namespace pliant::python {
namespace {

const WaveletGreensFunctions* wavelets_in(const GreensModel& model) {
    return dynamic_cast<const WaveletGreensFunctions*>(model.reference.functions.get());
}

GreensPointer compressed(const GreensModel& model, double tolerance, const std::string& kind,
                         int bits, const ProgressArgument& progress) {
    const WaveletOptions options{.kind = wavelet_kind(kind), .tolerance = tolerance, .bits = bits};
    check_options(options);
    const auto* const dense =
        dynamic_cast<const DenseGreensFunctions*>(model.reference.functions.get());
    if (dense == nullptr)
        throw InputError("", "this model is compressed already: only dense columns can be");
    auto result = std::make_shared<GreensModel>(model);
    result->reference.functions = run_long(progress, [&](Progress& shown) {
        return compress_greens(*dense, model.surface, model.reference.kinds, model.reference.areas,
                               options, shown);
    });
    return result;
}

py::object compression_of(const GreensModel& model) {
    const WaveletGreensFunctions* const functions = wavelets_in(model);
    if (functions == nullptr) return py::none();
    const CompressionReport& report = functions->report();
    py::dict result;
    result["kind"] = std::string(to_string(report.options.kind));
    result["tolerance"] = report.options.tolerance;
    result["compression"] = report.compression;
    result["rms"] = report.rms;
    result["max"] = report.max;
    result["bytes"] = functions->num_bytes();
    return result;
}

/// With room for the loads of a body.
class AdaptiveHandle {
public:
    explicit AdaptiveHandle(const GreensPointer& model) : model_(model), display_(model) {
        sum_.resize(model->reference.functions->sum_size(model->num_nodes()));
    }
    /// Surface of a body of the model as its last step left it, in the axes of the body.
    std::shared_ptr<SurfaceMesh> surface(const GreensHandle& handle, double tolerance) {
        const GreensBody& body = handle.get();
        if (body.shared_model() != model_)
            throw InputError("", "this body is of another model than the display");
        if (!(tolerance >= 0))
            throw InputError("", "tolerance", std::to_string(tolerance), "0 m or more");
        take_loads(body);
        display_.update(sum_, tolerance, surface_);
        auto mesh = std::make_shared<SurfaceMesh>();
        for (const Eigen::Vector3f& x : surface_.positions)
            mesh->vertices.push_back(x.cast<double>());
        for (const auto& corners : surface_.triangles) mesh->triangles.push_back(corners);
        return mesh;
    }
    /// Of the last surface, in the mesh of the model.
    [[nodiscard]] py::array vertices() const {
        return array_of<int>(surface_.vertices,
                             {static_cast<py::ssize_t>(surface_.vertices.size())});
    }

private:
    void take_loads(const GreensBody& body) {
        std::vector<float> weights, gravity;
        for (const Eigen::Vector3d& traction : body.load_tractions())
            for (int k = 0; k < 3; ++k) weights.push_back(static_cast<float>(traction[k]));
        for (const double load : body.body_loads()) gravity.push_back(static_cast<float>(load));
        std::fill(sum_.begin(), sum_.end(), 0.0f);
        model_->reference.functions->accumulate(body.loaded_columns(), weights, gravity,
                                                model_->num_nodes(), sum_);
    }
    GreensPointer model_;
    AdaptiveDisplay display_;
    std::vector<float> sum_;
    AdaptiveSurface surface_;
};

}  // namespace

void bind_greens_levels(py::module_& m) {
    auto model_class = py::class_<GreensModel, GreensPointer>(m.attr("GreensModel"));
    model_class
        .def("compressed", &compressed, py::arg("tolerance") = 0.05,
             py::arg("kind") = "lifted-linear", py::arg("bits") = 32,
             py::arg("progress") = py::none(),
             "The model with columns of wavelet coefficients, on a surface with levels: largest "
             "error of a column against its largest block; kind linear, lifted-linear, butterfly "
             "or lifted-butterfly; 32 or 16 bits of a number.")
        .def_property_readonly(
            "compression", &compression_of,
            "Of wavelets: kind, tolerance, compression (all blocks over those kept), relative "
            "errors rms and max, bytes; None: columns are dense.")
        .def(
            "with_coarser_levels",
            [](const GreensModel& model, int coarsest, const ProgressArgument& progress) {
                return std::make_shared<GreensModel>(run_long(progress, [&](Progress& shown) {
                    return with_coarser_columns(model, coarsest, shown);
                }));
            },
            py::arg("coarsest"), py::arg("progress") = py::none(),
            "The model with columns of the functions of coarser levels as well, from its own, "
            "which are dense: bodies may then be touched on any of them (constraint_level).")
        .def_property_readonly(
            "num_levels", [](const GreensModel& model) { return model.surface.num_levels(); },
            "Rounds of subdivision of its surface.");
    py::class_<AdaptiveHandle>(
        m, "AdaptiveDisplay",
        "Surfaces of bodies with wavelet Green's functions, fine only where their shape is.")
        .def(py::init<GreensPointer>(), py::arg("model").none(false),
             "model: one with compression.")
        .def("surface", &AdaptiveHandle::surface, py::arg("body"), py::arg("tolerance"),
             "As the last step left the body, in its axes; edges are split where the shape leaves "
             "the interpolation by more than a tolerance [m].")
        .def_property_readonly("vertices", &AdaptiveHandle::vertices,
                               "Of the last surface, as vertices of the model.");
}

}  // namespace pliant::python
