#include <algorithm>
#include <memory>

#include "benchmarks/published_polynomial.h"
#include "benchmarks/reduction_bench.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/reduction/reduced_force.h"
#include "src/fem/solver_backend.h"
#include "tests/reduction/force_samples.h"

namespace pliant::bench {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

enum class Task { Force, ForceAndStiffness };

/// Coordinates and results, kept between the samples.
struct Arrays {
    explicit Arrays(int r) : q(test::random_vector(r, 2)), R(r), K(r, r) {}
    VectorXd q, R;
    MatrixXd K;
};

/// Random coefficients: times depend on r alone.
Workload polynomial_workload(int r, Precision precision, Task task) {
    const ReducedCoefficients c = test::random_coefficients(r, 1);
    const std::shared_ptr<ReducedForce> force = make_polynomial_force(c, precision);
    const std::shared_ptr<ReducedForce::Workspace> ws = force->make_workspace();
    const auto published = std::make_shared<PublishedPolynomial>(c);
    const auto arrays = std::make_shared<Arrays>(r);
    const auto one_thread = std::make_shared<ScopedBlasThreads>(1);

    // enough in a row that the coefficients come from the cache again after the reference, whose
    // coefficients fill all of it at r = 60
    const int repeats =
        std::clamp(static_cast<int>(2e7 / static_cast<double>(num_quartic(r))), 20, 2000);
    const int published_repeats = repeats / 8;
    Workload workload;
    workload.operations = repeats;
    workload.run = [=] {
        Arrays& a = *arrays;
        for (int k = 0; k < repeats; ++k)
            if (task == Task::Force)
                force->force(a.q, a.R, *ws);
            else
                force->force_and_stiffness(a.q, a.R, a.K, *ws);
        return a.R.sum() + (task == Task::Force ? 0 : a.K.sum());
    };
    workload.reference_operations = published_repeats;
    workload.run_reference = [=] {
        (void)one_thread;
        Arrays& a = *arrays;
        for (int k = 0; k < published_repeats; ++k) {
            published->force(a.q, a.R);
            if (task == Task::ForceAndStiffness) published->stiffness(a.q, a.K);
        }
        return a.R.sum();
    };
    return workload;
}

/// Projection of a stiffness matrix that changes every time, with the elements.
Workload direct_workload(int n, int r) {
    const FemModel model(hex_box(n, n, n, Box(Eigen::Vector3d::Zero(), Eigen::Vector3d::Ones())),
                         {isotropic(1e5, 0.4, 1000, Law::NeoHookean)});
    const auto U =
        std::make_shared<MatrixXd>(test::random_basis(model.num_unknowns(), r, 0.01 / n));
    const std::shared_ptr<ReducedForce> force = make_direct_force(model, *U);
    const std::shared_ptr<ReducedForce::Workspace> ws = force->make_workspace();
    const auto arrays = std::make_shared<Arrays>(r);
    const auto K = std::make_shared<FemModel::Matrix>(model.make_matrix());
    const auto f = std::make_shared<VectorXd>(model.num_unknowns());
    Workload workload;
    workload.run = [=] {
        force->force_and_stiffness(arrays->q, arrays->R, arrays->K, *ws);
        return arrays->R.sum() + arrays->K.sum();
    };
    workload.run_reference = [=] {
        model.force_and_tangent(*U * arrays->q, *f, *K);
        arrays->R = U->transpose() * *f;
        arrays->K = U->transpose() * (*K * *U);
        return arrays->R.sum();
    };
    return workload;
}

struct Targets {
    double force_us = 0, both_us = 0, ratio = 0;
};
Targets targets(int r) {
    switch (r) {
        case 20: return {2.5, 4, 2.3};
        case 30: return {8, 17, 2.6};
        case 40: return {24, 48, 2.7};
        case 60: return {100, 280, 5};
        default: return {};
    }
}

}  // namespace

std::vector<Benchmark> reduced_force_benchmarks() {
    std::vector<Benchmark> all;
    for (const Precision precision : {Precision::Double, Precision::Single})
        for (const Task task : {Task::Force, Task::ForceAndStiffness})
            for (const int r : {4, 8, 12, 15, 20, 30, 40, 60}) {
                // single precision is to take half the time
                const bool is_single = precision == Precision::Single;
                const Targets target = targets(r);
                all.push_back(
                    {.module = "reduction",
                     .name = std::string(task == Task::Force ? "force" : "force_and_stiffness") +
                             (is_single ? "/single/r=" : "/double/r=") + std::to_string(r),
                     .setup = [=] { return polynomial_workload(r, precision, task); },
                     .reference = "published scheme, OpenBLAS, double",
                     .max_us = (task == Task::Force ? target.force_us : target.both_us) *
                               (is_single ? 0.5 : 1),
                     .min_ratio = task == Task::Force ? 0 : target.ratio,
                     .samples = 40});
            }
    all.push_back({.module = "reduction",
                   .name = "direct/neo-hookean/hexes=3375/r=60",
                   .setup = [] { return direct_workload(15, 60); },
                   .reference = "same, products by Eigen",
                   .samples = 10,
                   .wall_time = true});
    return all;
}

}  // namespace pliant::bench
