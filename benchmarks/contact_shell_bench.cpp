#include <cstdio>
#include <memory>

#include "benchmarks/contact_bench.h"
#include "pliant/contact/build_pointshell.h"
#include "tests/contact/shell_samples.h"

namespace pliant::bench {
namespace {

/// Points on a torus in a grid of 128³; the report goes to stderr.
Workload repulsion_workload(const std::string& name, int num_points, int num_levels) {
    const auto torus = std::make_shared<test::ShellSample>(test::sample_of(
        implicit::torus(Eigen::Vector3d::Zero(), Eigen::Vector3d::UnitZ(), 1.0, 0.4), 128));
    Workload workload;
    workload.run = [=] {
        PointshellReport report;
        const Pointshell shell = build_pointshell(
            torus->field, torus->surface, {.num_points = num_points, .num_levels = num_levels},
            Progress::none(), &report);
        std::fprintf(stderr, "%s:\n%s", name.c_str(), report.text().c_str());
        return shell.spacing;
    };
    return workload;
}

Workload order_workload(int num_points) {
    const test::ShellSample sphere = test::unit_sphere(32);
    const auto points = std::make_shared<std::vector<Eigen::Vector3f>>(
        build_pointshell_by(ShellGenerator::AreaRandom, sphere.field, sphere.surface, num_points)
            .points);
    Workload workload;
    workload.run = [points] { return double(farthest_point_order(*points)[points->size() / 2]); };
    return workload;
}

}  // namespace

std::vector<Benchmark> contact_shell_benchmarks() {
    std::vector<Benchmark> all;
    for (const auto& [points, levels] : {std::pair{64000, 4}, {256000, 5}}) {
        const bool is_large = points > 100000;
        const std::string name =
            "pointshell/n=" + std::to_string(points) + "/levels=" + std::to_string(levels);
        all.push_back(
            {.module = "contact",
             .name = name,
             .setup = [=, n = points, l = levels] { return repulsion_workload(name, n, l); },
             .max_us = is_large ? 40e6 : 0,
             .samples = 1,
             .wall_time = true});
    }
    all.push_back({.module = "contact",
                   .name = "farthest_point_order/n=100000",
                   .setup = [] { return order_workload(100000); },
                   .samples = 3});
    return all;
}

}  // namespace pliant::bench
