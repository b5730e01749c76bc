#include <memory>
#include <stdexcept>

#include "benchmarks/fem_bench.h"
#include "pliant/core/parallel.h"
#include "pliant/fem/explicit_dynamics.h"
#include "pliant/fem/loads.h"
#include "tests/fem/fem_samples.h"

namespace pliant::bench {
namespace {

enum class Shape { HexCongruent, HexGeneral, Tet };

/// `cells`³ cells of the unit cube; those of HexGeneral have vertices moved.
VolumeMesh mesh_of(Shape shape, int cells) {
    if (shape == Shape::Tet) return tet_box(cells, cells, cells, test::unit_box());
    if (shape == Shape::HexGeneral) return test::distorted_hexes(cells);
    return hex_box(cells, cells, cells, test::unit_box());
}

constexpr int kExplicitStepsPerSample = 4;

/// A free block that starts to swing under its weight at one end.
struct SwingingBlock {
    SwingingBlock(Shape shape, int cells, Precision precision)
        : dynamics(FemModel(mesh_of(shape, cells), {isotropic(2e4, 0.3, 1000)}),
                   Constraints(mesh_of(shape, cells).num_vertices()), {.precision = precision}),
          s(dynamics.make_state()),
          ws(dynamics.make_workspace()),
          load(gravity_load(dynamics.model(), Eigen::Vector3d(0, -9.81, 0))),
          dt(0.5 * dynamics.stable_step().dt) {
        for (int i = 0; i < dynamics.model().num_nodes(); ++i)
            if (dynamics.model().mesh().vertices[i].x() > 0.5) load[3 * i + 1] = 0;
        dynamics.set_acceleration(s, load, ws);
    }
    double run() {
        for (int k = 0; k < kExplicitStepsPerSample; ++k)
            if (dynamics.step(s, load, dt, ws).status != StepStatus::Ok)
                throw std::runtime_error("the step failed");
        return s.v.squaredNorm();
    }

    ExplicitDynamics dynamics;
    FemState s;
    ExplicitDynamics::Workspace ws;
    Eigen::VectorXd load;
    double dt;
};

Workload step_workload(Shape shape, int cells, Precision precision, bool on_two_threads) {
    const auto block = std::make_shared<SwingingBlock>(shape, cells, precision);
    const double operations =
        double{kExplicitStepsPerSample} * block->dynamics.model().mesh().num_elements();
    Workload workload;
    workload.operations = workload.reference_operations = operations;
    workload.run = [block, on_two_threads] {
        const ScopedThreads threads(on_two_threads ? 2 : 1);
        return block->run();
    };
    if (on_two_threads) {
        const auto same = std::make_shared<SwingingBlock>(shape, cells, precision);
        workload.run_reference = [same] {
            const ScopedThreads threads(1);
            return same->run();
        };
    }
    return workload;
}

struct Series {
    Shape shape;
    const char* name;
    std::vector<int> cells;  ///< along each side
    int elements_per_cell;
    double double_us, single_us;  ///< targets per element
};

}  // namespace

std::vector<Benchmark> explicit_benchmarks() {
    const std::vector<Series> all{
        {Shape::HexCongruent, "hex-congruent", {16, 40, 58}, 1, 0.10, 0.055},
        {Shape::HexGeneral, "hex-general", {16, 40, 58}, 1, 0.14, 0.07},
        {Shape::Tet, "tet", {9, 22, 32}, 6, 0, 0}};
    std::vector<Benchmark> benchmarks;
    for (const Series& series : all)
        for (const Precision precision : {Precision::Double, Precision::Single})
            for (const int cells : series.cells)
                for (const bool on_two_threads : {false, true}) {
                    // threads pay from some ten thousand elements on
                    if (on_two_threads && cells == series.cells.front()) continue;
                    const bool is_double = precision == Precision::Double;
                    const int num_elements = series.elements_per_cell * cells * cells * cells;
                    Benchmark b;
                    b.module = "fem";
                    b.name = std::string("explicit_step/") + series.name +
                             (is_double ? "/double/n=" : "/single/n=") +
                             std::to_string(num_elements) + (on_two_threads ? "/2-threads" : "");
                    b.setup = [=, shape = series.shape] {
                        return step_workload(shape, cells, precision, on_two_threads);
                    };
                    b.samples = num_elements < 10000 ? 200 : num_elements < 100000 ? 40 : 15;
                    if (on_two_threads) {
                        b.reference = "one thread";
                        b.min_ratio = 1.7;
                        b.wall_time = true;
                    } else {
                        b.max_us = is_double ? series.double_us : series.single_us;
                    }
                    benchmarks.push_back(std::move(b));
                }
    return benchmarks;
}

}  // namespace pliant::bench
