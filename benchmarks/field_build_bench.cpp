#include <cstdio>
#include <memory>

#include "benchmarks/field_bench.h"
#include "pliant/field/build_field.h"
#include "pliant/geometry/shapes.h"

namespace pliant::bench {
namespace {

/// From a mesh to a field on all threads, searches and checks included. What came out is said once,
/// beside the table.
Workload build_workload(const std::string& name, const std::string& shape,
                        const FieldBuildOptions& options) {
    const auto mesh = std::make_shared<SurfaceMesh>(make_shape(shape));
    const auto is_said = std::make_shared<bool>(false);
    return {.run = [=] {
        FieldReport report;
        const DistanceGrid grid = build_field(*mesh, options, Progress::none(), &report);
        if (!*is_said)
            std::fprintf(stderr, "%s: %d triangles, %s\n", name.c_str(), mesh->num_triangles(),
                         report.text().c_str());
        *is_said = true;
        return report.largest_error + static_cast<double>(report.memory);
    }};
}

Benchmark build(const std::string& shape, const FieldBuildOptions& options, double max_seconds,
                bool is_long) {
    const bool is_sparse = options.storage == GridStorage::Sparse;
    const std::string name = "build/" + shape +
                             "/resolution=" + std::to_string(options.resolution) +
                             (is_sparse ? "/sparse" : "/dense") +
                             (options.surface == FieldSurface::Offset ? "/offset" : "");
    return {.module = "field",
            .name = name,
            .setup = [=] { return build_workload(name, shape, options); },
            .max_us = 1e6 * max_seconds,
            .samples = is_long ? 1 : 3,
            .wall_time = true,
            .is_long = is_long};
}

}  // namespace

std::vector<Benchmark> field_build_benchmarks() {
    std::vector<Benchmark> all;
    for (const char* shape : {"creature", "serpent"}) {
        all.push_back(build(shape, {.resolution = 128, .storage = GridStorage::Dense}, 4, false));
        all.push_back(build(shape, {.resolution = 128}, 4, false));
        all.push_back(build(shape, {.resolution = 256}, 15, false));
        all.push_back(build(shape, {.resolution = 256, .storage = GridStorage::Dense}, 15, true));
        all.push_back(build(shape, {.resolution = 512}, 60, true));
    }
    all.push_back(build("bridge", {.surface = FieldSurface::Offset, .resolution = 128}, 0, false));
    all.push_back(build("bridge", {.surface = FieldSurface::Offset, .resolution = 256}, 0, true));
    return all;
}

}  // namespace pliant::bench
