#include <algorithm>
#include <cstdio>

#include "benchmarks/bench.h"
#include "benchmarks/contact_bench.h"
#include "benchmarks/fem_bench.h"
#include "benchmarks/field_bench.h"
#include "benchmarks/greens_bench.h"
#include "benchmarks/haptics_bench.h"
#include "benchmarks/particles_bench.h"
#include "benchmarks/reduction_bench.h"
#include "benchmarks/scene_bench.h"
#include "benchmarks/wavelets_bench.h"
#include "commands.h"
#include "lab.h"
#include "output.h"
#include "pliant/core/error.h"
#include "pliant/core/hash.h"
#include "pliant/core/json_writer.h"
#include "pliant/core/nearest_name.h"
#include "pliant/core/simd.h"

namespace pliant::cli {
namespace {

using bench::Benchmark;

std::vector<Benchmark> all_benchmarks() {
    std::vector<Benchmark> all = bench::core_benchmarks();
    for (const auto& module : {bench::geometry_benchmarks(),
                               bench::element_benchmarks(),
                               bench::explicit_benchmarks(),
                               bench::implicit_benchmarks(),
                               bench::coupled_benchmarks(),
                               bench::solver_benchmarks(),
                               bench::reduced_force_benchmarks(),
                               bench::reduced_step_benchmarks(),
                               bench::reduced_surface_benchmarks(),
                               bench::reduced_body_benchmarks(),
                               bench::reduced_build_benchmarks(),
                               bench::field_grid_benchmarks(),
                               bench::field_build_benchmarks(),
                               bench::field_deformed_benchmarks(),
                               bench::contact_shell_benchmarks(),
                               bench::contact_tree_benchmarks(),
                               bench::contact_traversal_benchmarks(),
                               bench::contact_loads_benchmarks(),
                               bench::contact_solver_benchmarks(),
                               bench::greens_capacitance_benchmarks(),
                               bench::greens_touch_benchmarks(),
                               bench::greens_boundary_benchmarks(),
                               bench::wavelets_constraints_benchmarks(),
                               bench::greens_zones_benchmarks(),
                               bench::wavelets_transform_benchmarks(),
                               bench::wavelets_large_benchmarks(),
                               bench::particles_benchmarks(),
                               bench::haptics_coupling_benchmarks(),
                               bench::haptics_tool_benchmarks(),
                               bench::haptics_fem_benchmarks(),
                               bench::haptics_scene_benchmarks(),
                               bench::proxy_benchmarks(),
                               bench::sphere_tool_benchmarks(),
                               bench::scene_benchmarks()})
        all.insert(all.end(), module.begin(), module.end());
    return all;
}

std::vector<Benchmark> chosen_benchmarks(const Arguments& arguments) {
    std::vector<Benchmark> all = all_benchmarks();
    std::vector<std::string> modules;
    for (const Benchmark& benchmark : all)
        if (std::ranges::find(modules, benchmark.module) == modules.end())
            modules.push_back(benchmark.module);
    const std::string module = arguments.operands().empty() ? "" : arguments.operands()[0];
    const std::string filter = arguments.text("--filter");
    std::erase_if(all, [&](const Benchmark& benchmark) {
        return (!module.empty() && benchmark.module != module) ||
               benchmark.name.find(filter) == std::string::npos ||
               (benchmark.is_long && !arguments.has("--long"));
    });
    if (all.empty()) {
        std::string known;
        for (const std::string& name : modules) known += (known.empty() ? "" : ", ") + name;
        throw InputError("",
                         "no benchmark matches; modules: " + known + "; see pliant bench --list");
    }
    return all;
}

void print_json(const Benchmark& benchmark, const bench::Result& result) {
    JsonWriter json;
    json.begin_object()
        .member("name", benchmark.module + "/" + benchmark.name)
        .member("median_us", result.median_us)
        .member("mean_us", result.mean_us)
        .member("p99_us", result.p99_us)
        .member("p999_us", result.p999_us)
        .member("max_us", result.max_us)
        .member("checksum", hash_text(result.checksum))
        .member("clock", benchmark.wall_time ? "wall" : "thread_cpu");
    if (!benchmark.reference.empty())
        json.member("reference", benchmark.reference)
            .member("reference_us", result.reference_us)
            .member("ratio", result.reference_us / result.median_us);
    if (const std::string target = bench::target_text(benchmark); !target.empty())
        json.member("target", target).member("pass", bench::passes(benchmark, result));
    std::printf("%s\n", json.end_object().text().c_str());
    std::fflush(stdout);
}

int run_benchmarks(const Arguments& arguments) {
    const std::vector<Benchmark> benchmarks = chosen_benchmarks(arguments);
    if (arguments.has("--list")) {
        for (const Benchmark& benchmark : benchmarks)
            std::printf(arguments.json() ? "{\"name\":\"%s/%s\"}\n" : "%s/%s\n",
                        benchmark.module.c_str(), benchmark.name.c_str());
        return 0;
    }

    Progress progress(progress_style(arguments));
    progress.stage("measuring", benchmarks.size());
    Table table({"benchmark", "median µs", "mean", "p99", "p99.9", "max", "reference µs", "ratio",
                 "target", "", "checksum"});
    for (const Benchmark& benchmark : benchmarks) {
        const bench::Result result = bench::measure(benchmark);
        progress.advance();
        if (arguments.json()) {
            print_json(benchmark, result);
            continue;
        }
        const bool compared = !benchmark.reference.empty();
        const std::string target = bench::target_text(benchmark);
        table.add(
            {benchmark.module + "/" + benchmark.name, format("%.4g", result.median_us),
             format("%.4g", result.mean_us), format("%.4g", result.p99_us),
             format("%.4g", result.p999_us), format("%.4g", result.max_us),
             compared ? format("%.4g (%s)", result.reference_us, benchmark.reference.c_str()) : "",
             compared ? format("%.2f", result.reference_us / result.median_us) : "", target,
             target.empty() ? "" : (bench::passes(benchmark, result) ? "ok" : "MISSED"),
             hash_text(result.checksum)});
    }
    progress.finish();
    if (!arguments.json()) {
        table.print();
        std::printf(
            "thread CPU time per operation (wall time where several threads work); SIMD %s\n",
            simd_targets().front().c_str());
    }
    return 0;
}

}  // namespace

Command bench_command() {
    return {.name = "bench",
            .summary = kBenchSummary,
            .operands = "[MODULE]",
            .example = "pliant bench geometry --filter closest",
            .min_operands = 0,
            .max_operands = 1,
            .options = {{"--list", "", "only names"},
                        {"--filter", "TEXT", "only benchmarks whose name contains this"},
                        {"--long", "", "also those that take minutes"}},
            .run = run_benchmarks};
}

}  // namespace pliant::cli
