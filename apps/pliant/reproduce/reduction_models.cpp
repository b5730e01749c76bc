#include "reduction_models.h"

#include <cmath>
#include <ctime>
#include <numbers>

#include "pliant/fem/mass.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/simulation_mesh.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

constexpr double kModulus = 1e6, kPoisson = 0.4, kDensity = 1000;

VolumeMesh voxels(const SampleOptions& options) {
    SurfaceMesh surface = make_shape(options.shape);
    const double scale = options.size / bounding_box(surface.vertices).sizes().maxCoeff();
    for (Eigen::Vector3d& x : surface.vertices) x *= scale;
    return build_simulation_mesh(
        SurfaceQuery(surface),
        {.kind = "voxel", .resolution = options.resolution, .is_hollow = options.is_hollow});
}

}  // namespace

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Sample make_sample(const SampleOptions& options) {
    const VolumeMesh mesh = voxels(options);
    Constraints constraints(mesh.num_vertices());
    if (!options.fixed.empty()) constraints.fix(select_some(options.fixed, mesh.vertices, "fixed"));
    FemModel model(mesh, {isotropic(kModulus, kPoisson, kDensity)}, kPublishedElements);

    double start = cpu_seconds();
    LinearModes modes = compute_modes(model, constraints, {.num_modes = options.num_modes});
    const double modes_seconds = cpu_seconds() - start;
    if (options.lowest_frequency > 0) {
        // eigenvalues are proportional to the modulus, shapes independent of it
        const double wanted = std::pow(2 * std::numbers::pi * options.lowest_frequency, 2);
        const double factor = wanted / modes.eigenvalues[0];
        model = FemModel(mesh, {isotropic(factor * kModulus, kPoisson, kDensity)},
                         kPublishedElements);
        modes.eigenvalues *= factor;
    }
    start = cpu_seconds();
    Eigen::MatrixXd derivatives;
    if (options.has_derivatives) derivatives = modal_derivatives(model, constraints, modes);
    return {model,       constraints,   mass_matrix(model),   modes,
            derivatives, modes_seconds, cpu_seconds() - start};
}

Basis derivative_basis(const Sample& sample, int r) {
    return mass_pca(weighted_modes_and_derivatives(sample.modes, sample.derivatives, sample.mass),
                    sample.mass, r);
}

std::shared_ptr<const ReducedForce> polynomial_force(const FemModel& model,
                                                     const Eigen::MatrixXd& U) {
    const std::vector<MaterialPolynomials> groups = build_coefficients(model, U);
    return make_polynomial_force(combine(groups, model.materials()));
}

}  // namespace pliant::reproduce
