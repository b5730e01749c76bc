#include <memory>

#include "benchmarks/bench.h"
#include "pliant/core/simd.h"
#include "pliant/geometry/embedding.h"
#include "pliant/geometry/graded_mesh.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/surface_topology.h"
#include "pliant/geometry/tet_mesh.h"
#include "pliant/geometry/voxel_mesh.h"

namespace pliant::bench {
namespace {

constexpr int kResolution = 120;

using Mesher = VolumeMesh (*)(const SurfaceQuery&);

// surface to simulation mesh with all surface vertices embedded, as `pliant mesh` does it
Benchmark meshing(const std::string& name, Mesher mesher, double max_us) {
    return {.module = "geometry",
            .name = "mesh/" + name,
            .setup =
                [mesher] {
                    auto surface = std::make_shared<SurfaceQuery>(make_shape("serpent-150k"));
                    return Workload{.run = [=] {
                        const VolumeMesh mesh = mesher(*surface);
                        const Embedding embedding(mesh, surface->mesh().vertices);
                        return total_volume(mesh, true) + embedding.num_outside();
                    }};
                },
            .max_us = max_us,
            .samples = 3,
            .wall_time = true};
}

Benchmark embedding_transfer() {
    return {.module = "geometry",
            .name = "embedding_transfer/per_point",
            .setup =
                [] {
                    const SurfaceMesh surface = make_shape("serpent");
                    const VolumeMesh mesh =
                        build_voxel_mesh(SurfaceQuery(surface), {.resolution = kResolution});
                    auto embedding = std::make_shared<Embedding>(mesh, surface.vertices);
                    auto u = std::make_shared<std::vector<double>>();
                    for (const Eigen::Vector3d& x : mesh.vertices)
                        u->insert(u->end(), {x.y() * x.z(), x.z() * x.x(), x.x() * x.y()});
                    auto out = std::make_shared<std::vector<double>>(3 * surface.vertices.size());
                    return Workload{.run =
                                        [=] {
                                            embedding->transfer(*u, *out);
                                            return simd_sum(out->data(), out->size());
                                        },
                                    .operations = static_cast<double>(surface.num_vertices())};
                },
            .samples = 100};
}

Benchmark topology() {
    return {.module = "geometry",
            .name = "surface_topology/150k",
            .setup =
                [] {
                    auto mesh = std::make_shared<SurfaceMesh>(make_shape("serpent-150k"));
                    return Workload{.run = [=] {
                        const SurfaceTopology topology(*mesh);
                        double sum = topology.euler_number();
                        for (const auto& edge : topology.edges())
                            sum += static_cast<double>(edge.first_use) * edge.a;
                        return sum;
                    }};
                },
            .samples = 20};
}

}  // namespace

std::vector<Benchmark> geometry_benchmarks() {
    std::vector<Benchmark> all = query_benchmarks();
    all.push_back(topology());
    all.push_back(meshing(
        "voxel/serpent-150k/resolution=120",
        [](const SurfaceQuery& s) { return build_voxel_mesh(s, {.resolution = kResolution}); },
        5e6));
    all.push_back(meshing(
        "graded/serpent-150k/resolution=120",
        [](const SurfaceQuery& s) { return build_graded_mesh(s, {.resolution = kResolution}); },
        0));
    all.push_back(meshing(
        "tet/serpent-150k/resolution=120",
        [](const SurfaceQuery& s) { return build_tet_mesh(s, {.resolution = kResolution}); },
        15e6));
    all.push_back(meshing(
        "graded-tet/serpent-150k/resolution=120",
        [](const SurfaceQuery& s) { return build_graded_tets(s, {.resolution = kResolution}); },
        0));
    all.push_back(embedding_transfer());
    return all;
}

}  // namespace pliant::bench
