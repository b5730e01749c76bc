#include "greens_report.h"

#include <cstdio>
#include <string>

#include "output.h"
#include "pliant/greens/wavelet_greens.h"

namespace pliant::cli {
namespace {

std::string method_text(const GreensModel& model) {
    if (model.method != GreensMethod::BoundaryElements) return std::string(to_string(model.method));
    return model.elements == BoundaryElements::Linear ? "linear boundary elements"
                                                      : "constant boundary elements";
}

double num_greens_bytes(const GreensModel& model) {
    const GreensFunctions* const functions = model.reference.functions.get();
    if (const auto* dense = dynamic_cast<const DenseGreensFunctions*>(functions))
        return static_cast<double>(dense->num_bytes());
    const auto* wavelets = dynamic_cast<const WaveletGreensFunctions*>(functions);
    return wavelets ? static_cast<double>(wavelets->num_bytes()) : 0.0;
}

const CompressionReport* compression_of(const GreensModel& model) {
    const auto* wavelets =
        dynamic_cast<const WaveletGreensFunctions*>(model.reference.functions.get());
    return wavelets ? &wavelets->report() : nullptr;
}

/// Of subdivision that have columns, "0 to 2" or "1".
std::string levels_text(const GreensModel& model) {
    const GreensFunctions& functions = *model.reference.functions;
    int coarsest = -1, finest = -1;
    for (int id = 0; id < functions.num_column_ids(); ++id) {
        if (!functions.has_column(id)) continue;
        coarsest = model.surface.num_levels() - id / functions.num_nodes();
        if (finest < 0) finest = coarsest;
    }
    return finest == coarsest ? std::to_string(finest) : format("%d to %d", coarsest, finest);
}

void print_compression(const CompressionReport& report) {
    std::printf("wavelets     %s, tolerance %.3g%s, %d bits\n",
                std::string(to_string(report.options.kind)).c_str(), report.options.tolerance,
                report.options.thresholds_base ? " with the base" : "", report.options.bits);
    std::printf("coefficients %s blocks, compression %.1f\n", grouped(report.num_blocks).c_str(),
                report.compression);
    std::printf("errors       RMS %.2g, largest %.2g", report.rms, report.max);
    if (report.options.bits == 16) std::printf(", %.1g of it by rounding", report.quantisation);
    std::printf("\n");
}

}  // namespace

void print_greens(const GreensModel& model) {
    const ReferenceProblem& reference = model.reference;
    const SurfaceMesh& mesh = model.surface.mesh;
    std::string levels;
    if (model.surface.num_levels() > 0)
        levels = format(", %d %s of subdivision", model.surface.num_levels(),
                        model.surface.num_levels() == 1 ? "round" : "rounds");
    std::printf("surface      %s vertices, %s triangles%s\n", grouped(mesh.num_vertices()).c_str(),
                grouped(mesh.num_triangles()).c_str(), levels.c_str());
    std::printf("nodes        %s, %s of them fixed\n", grouped(model.num_nodes()).c_str(),
                grouped(model.num_fixed()).c_str());
    const int num_free = model.num_free_columns(), num_columns = model.num_columns();
    std::printf("columns      %s, %s of them of fixed nodes; %d of body forces\n",
                grouped(num_columns).c_str(), grouped(num_columns - num_free).c_str(),
                reference.functions->num_body_columns());
    if (reference.hierarchy) std::printf("levels       %s\n", levels_text(model).c_str());
    if (!model.readouts.empty())
        std::printf("read-outs    %zu %s, %d values\n", model.readouts.size(),
                    model.readouts.size() == 1 ? "point" : "points",
                    reference.functions->num_readouts());
    std::printf("method       %s\n", method_text(model).c_str());
    std::printf("material     E = %.4g Pa, ν = %.3g, ρ = %.4g kg/m³\n", model.youngs_modulus(),
                model.poisson_ratio, model.density);
    std::printf("units        length %.4g m, shear modulus %.4g Pa\n", reference.length,
                reference.modulus);
    if (const CompressionReport* report = compression_of(model)) print_compression(*report);
    std::printf("reciprocity  off by %.2g %%\n", 100 * model.asymmetry);
    std::printf("memory       %s\n", byte_size(num_greens_bytes(model)).c_str());
}

void write_greens(const GreensModel& model, JsonWriter& json) {
    const ReferenceProblem& reference = model.reference;
    json.key("greens")
        .begin_object()
        .member("num_vertices", model.surface.mesh.num_vertices())
        .member("num_triangles", model.surface.mesh.num_triangles())
        .member("num_levels", model.surface.num_levels())
        .member("num_nodes", model.num_nodes())
        .member("num_fixed", model.num_fixed())
        .member("num_columns", model.num_columns())
        .member("num_free_columns", model.num_free_columns())
        .member("num_body_columns", reference.functions->num_body_columns())
        .member("num_readouts", reference.functions->num_readouts())
        .member("method", method_text(model))
        .member("youngs_modulus_pa", model.youngs_modulus())
        .member("poisson_ratio", model.poisson_ratio)
        .member("density_kg_m3", model.density)
        .member("length_m", reference.length)
        .member("shear_modulus_pa", reference.modulus)
        .member("asymmetry", model.asymmetry)
        .member("memory_bytes", num_greens_bytes(model));
    if (const CompressionReport* report = compression_of(model))
        json.key("wavelets")
            .begin_object()
            .member("kind", std::string(to_string(report->options.kind)))
            .member("tolerance", report->options.tolerance)
            .member("thresholds_base", report->options.thresholds_base)
            .member("bits", report->options.bits)
            .member("num_blocks", report->num_blocks)
            .member("num_free_blocks", report->num_free_blocks)
            .member("compression", report->compression)
            .member("rms_error", report->rms)
            .member("max_error", report->max)
            .member("quantisation_error", report->quantisation)
            .end_object();
    json.end_object();
}

}  // namespace pliant::cli
