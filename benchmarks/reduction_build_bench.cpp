#include <memory>

#include "benchmarks/fem_bench.h"
#include "benchmarks/reduction_bench.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/reduction/build_reduced.h"
#include "src/fem/solver_backend.h"
#include "tests/reduction/force_samples.h"

namespace pliant::bench {
namespace {

/// Coefficients of λ and μ on one thread; times depend on the number of tets and r alone.
Workload polynomial_workload(int nx, int ny, int nz, int r) {
    const auto model = std::make_shared<FemModel>(
        tet_box(nx, ny, nz, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Ones())),
        std::vector<Material>{isotropic(1e5, 0.4, 1000)}, FemOptions{ElementFormulation::Plain});
    const auto U =
        std::make_shared<Eigen::MatrixXd>(test::random_basis(model->num_unknowns(), r, 1e-3));
    const auto one_thread = std::make_shared<ScopedThreads>(1);
    const auto one_blas_thread = std::make_shared<ScopedBlasThreads>(1);
    Workload workload;
    workload.run = [=] {
        (void)one_thread;
        (void)one_blas_thread;
        const MaterialPolynomials group = build_coefficients(*model, *U).front();
        return group.of_lambda.w.back() + group.of_mu.w.back();
    };
    return workload;
}

/// From a surface to a model that runs, nothing cached, on all threads.
Workload build_workload(const std::string& shape, const ReducedBuildOptions& options) {
    const auto surface = std::make_shared<SurfaceMesh>(make_shape(shape));
    Workload workload;
    workload.run = [=] { return build_reduced_model(*surface, options).captured(); };
    return workload;
}

}  // namespace

std::vector<Benchmark> reduced_build_benchmarks() {
    // boxes with about as many tets as the bodies of the published table
    return {{.module = "reduction",
             .name = "polynomials/tets=5832/r=30",
             .setup = [] { return polynomial_workload(9, 9, 12, 30); },
             .max_us = 0.6e6,
             .samples = 3},
            {.module = "reduction",
             .name = "polynomials/tets=12870/r=30",
             .setup = [] { return polynomial_workload(11, 13, 15, 30); },
             .max_us = 1.3e6,
             .samples = 3},
            {.module = "reduction",
             .name = "build/heart/hexes=14215/r=30",
             .setup =
                 [] {
                     return build_workload("heart", {.size = 0.12,
                                                     .material = material_preset("tissue"),
                                                     .fixed = "z < 5 %",
                                                     .mesh = {.resolution = 75}});
                 },
             .max_us = 60e6,
             .samples = 1,
             .wall_time = true,
             .is_long = true},
            {.module = "reduction",
             .name = "build/serpent-hollow/resolution=120/r=60",
             .setup =
                 [] {
                     return build_workload("serpent",
                                           {.fixed = "z < 2 %",
                                            .mesh = {.resolution = 120, .is_hollow = true},
                                            .rank = 60});
                 },
             .max_us = 240e6,
             .samples = 1,
             .wall_time = true,
             .is_long = true}};
}

}  // namespace pliant::bench
