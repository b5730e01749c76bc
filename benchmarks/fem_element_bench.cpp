#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "benchmarks/fem_bench.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/mesh_order.h"
#include "tests/fem/fem_samples.h"

namespace pliant::bench {
namespace {

/// Of vertices and elements.
enum class Order { Renumbered, Random };

VolumeMesh reordered(VolumeMesh mesh, Order order) {
    if (order == Order::Renumbered) {
        renumber_vertices(mesh);
        return mesh;
    }
    std::mt19937 generator(3);
    std::vector<int> vertex(mesh.vertices.size());
    std::vector<int> element(static_cast<std::size_t>(mesh.num_elements()));
    std::iota(vertex.begin(), vertex.end(), 0);
    std::iota(element.begin(), element.end(), 0);
    std::ranges::shuffle(vertex, generator);
    std::ranges::shuffle(element, generator);
    VolumeMesh result;
    result.kind = mesh.kind;
    result.vertices.resize(mesh.vertices.size());
    for (int v = 0; v < mesh.num_vertices(); ++v) result.vertices[vertex[v]] = mesh.vertices[v];
    for (const int e : element)
        for (const int v : mesh.element(e)) result.elements.push_back(vertex[v]);
    return result;
}

/// A body deformed at random.
struct SampleBody {
    SampleBody(VolumeMesh mesh, Law law, double size)
        : model(std::move(mesh), {isotropic(1e5, 0.3, 1000, law)}),
          u(test::random_displacements(model.num_unknowns(), size, 1)),
          R(u.size()),
          ws(model.make_workspace()) {}

    FemModel model;
    Eigen::VectorXd u, R;
    FemModel::Workspace ws;
    FemModel::Matrix K;
};
/// A cube of n³ boxes, each six tetrahedra.
std::shared_ptr<SampleBody> tets(int n, Law law, Order order) {
    return std::make_shared<SampleBody>(reordered(test::distorted_tets(n), order), law, 0.1 / n);
}

Workload force_workload(const std::shared_ptr<SampleBody>& body, Precision precision) {
    Workload workload;
    workload.run = [body, precision] {
        const ScopedThreads one(1);
        const SmallestDetF smallest =
            body->model.internal_force(body->u, body->R, body->ws, precision);
        return body->R[0] + body->R[body->R.size() - 1] + smallest.value;
    };
    workload.operations = body->model.mesh().num_elements();
    return workload;
}

std::function<double()> assembly(const std::shared_ptr<SampleBody>& body, int num_threads) {
    return [body, num_threads] {
        const ScopedThreads threads(num_threads);
        body->model.force_and_tangent(body->u, body->R, body->K);
        return body->R[0] + body->K.valuePtr()[body->K.nonZeros() - 1];
    };
}

Workload tangent_workload(const std::shared_ptr<SampleBody>& body) {
    body->K = body->model.make_matrix();
    Workload workload;
    workload.run = assembly(body, 1);
    workload.operations = body->model.mesh().num_elements();
    return workload;
}

Workload two_threads_workload(const std::shared_ptr<SampleBody>& body) {
    Workload workload = tangent_workload(body);
    workload.run = assembly(body, 2);
    workload.run_reference = assembly(body, 1);
    workload.reference_operations = workload.operations;
    return workload;
}

/// About ten million elements.
int samples(int num_elements) { return std::clamp(10'000'000 / num_elements, 20, 500); }

Benchmark force_benchmark(int n, Law law, Precision precision) {
    const int count = 6 * n * n * n;
    return {
        .module = "fem",
        .name = std::string(precision == Precision::Single ? "tet_force_single/" : "tet_force/") +
                std::string(to_string(law)) + "/n=" + std::to_string(count),
        .setup = [=] { return force_workload(tets(n, law, Order::Renumbered), precision); },
        .max_us = law == Law::StVenantKirchhoff ? 0.02 : 0.0,
        .samples = samples(count)};
}

Benchmark tangent_benchmark(int n, Law law, Order order) {
    const int count = 6 * n * n * n;
    const bool is_random = order == Order::Random;
    return {.module = "fem",
            .name = "tet_force_tangent/" + std::string(to_string(law)) +
                    (is_random ? "/random/n=" : "/ordered/n=") + std::to_string(count),
            .setup = [=] { return tangent_workload(tets(n, law, order)); },
            .max_us = law != Law::StVenantKirchhoff ? 0.0 : (is_random ? 0.22 : 0.12),
            .samples = samples(count)};
}

/// The targets of hexes are those of the explicit step.
Benchmark hex_benchmark(bool is_general, Precision precision) {
    constexpr int n = 20;
    return {.module = "fem",
            .name = std::string("hex_force/") + (is_general ? "general/" : "congruent/") +
                    (precision == Precision::Single ? "single" : "double") +
                    "/n=" + std::to_string(n * n * n),
            .setup =
                [=] {
                    VolumeMesh mesh =
                        is_general ? test::distorted_hexes(n) : hex_box(n, n, n, test::unit_box());
                    return force_workload(std::make_shared<SampleBody>(
                                              std::move(mesh), Law::StVenantKirchhoff, 0.1 / n),
                                          precision);
                },
            .samples = samples(n * n * n)};
}

}  // namespace

std::vector<Benchmark> element_benchmarks() {
    constexpr int kSizes[] = {6, 12, 20, 32};  // 1296, 10368, 48000 and 196608 tetrahedra
    constexpr int kMiddle = 20;
    std::vector<Benchmark> benchmarks;
    for (const int n : kSizes)
        benchmarks.push_back(force_benchmark(n, Law::StVenantKirchhoff, Precision::Double));
    for (const int n : kSizes)
        benchmarks.push_back(force_benchmark(n, Law::StVenantKirchhoff, Precision::Single));
    for (const Order order : {Order::Renumbered, Order::Random})
        for (const int n : kSizes)
            benchmarks.push_back(tangent_benchmark(n, Law::StVenantKirchhoff, order));
    for (const Law law : {Law::SmallStrain, Law::NeoHookean, Law::Corotational}) {
        benchmarks.push_back(force_benchmark(kMiddle, law, Precision::Double));
        benchmarks.push_back(force_benchmark(kMiddle, law, Precision::Single));
        benchmarks.push_back(tangent_benchmark(kMiddle, law, Order::Renumbered));
    }
    benchmarks.push_back({.module = "fem",
                          .name = "tet_force_tangent/two_threads/n=196608",
                          .setup =
                              [] {
                                  return two_threads_workload(
                                      tets(32, Law::StVenantKirchhoff, Order::Renumbered));
                              },
                          .reference = "one thread",
                          .min_ratio = 1.7,
                          .samples = 50,
                          .wall_time = true});
    for (const bool is_general : {false, true})
        for (const Precision precision : {Precision::Double, Precision::Single})
            benchmarks.push_back(hex_benchmark(is_general, precision));
    return benchmarks;
}

}  // namespace pliant::bench
