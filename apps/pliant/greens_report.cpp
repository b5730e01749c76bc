#include "greens_report.h"

#include <cstdio>
#include <string>

#include "output.h"

namespace pliant::cli {
namespace {

std::string method_text(const GreensModel& model) {
    if (model.method == GreensMethod::FiniteElements) return "finite elements";
    return model.elements == BoundaryElements::Linear ? "linear boundary elements"
                                                      : "constant boundary elements";
}

double num_greens_bytes(const GreensModel& model) {
    const auto* dense = dynamic_cast<const DenseGreensFunctions*>(model.reference.functions.get());
    return dense ? static_cast<double>(dense->num_bytes()) : 0.0;
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
    if (!model.readouts.empty())
        std::printf("read-outs    %zu %s, %d values\n", model.readouts.size(),
                    model.readouts.size() == 1 ? "point" : "points",
                    reference.functions->num_readouts());
    std::printf("method       %s\n", method_text(model).c_str());
    std::printf("material     E = %.4g Pa, ν = %.3g, ρ = %.4g kg/m³\n", model.youngs_modulus(),
                model.poisson_ratio, model.density);
    std::printf("units        length %.4g m, shear modulus %.4g Pa\n", reference.length,
                reference.modulus);
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
        .member("memory_bytes", num_greens_bytes(model))
        .end_object();
}

}  // namespace pliant::cli
