#include "benchmarks/fem_bench.h"
#include "pliant/fem/coupled_dynamics.h"
#include "pliant/fem/loads.h"
#include "pliant/geometry/structured_mesh.h"

#include <array>
#include <memory>
#include <stdexcept>

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr int kCoupledStepsPerSample = 5;

/// n³ hexes of a cube of 0.1 m that hangs from its top face or lies on the floor.
struct Case {
    int n;
    double stiffness_damping = 0;
    bool on_floor = false;
};

FemModel cube(int n) {
    Material material = isotropic(2e4, 0.3, 1000);
    material.viscosity = 5000;
    return {hex_box(n, n, n, Box(Vector3d::Zero(), Vector3d::Constant(0.1))), {material}};
}

/// Steps from a saved state; the yardstick is the decoupled step of the same body.
Workload step_workload(const Case& c) {
    const FemModel model = cube(c.n);
    Constraints constraints(model.num_nodes());
    if (!c.on_floor)
        for (int i = 0; i < model.num_nodes(); ++i)
            if (model.mesh().vertices[i].z() > 0.1 - 1e-9) constraints.fix(std::array{i});
    CoupledOptions options;
    options.largest_step = 3e-3 / c.n;
    options.num_steps = 1;
    options.damping.stiffness = c.stiffness_damping;
    std::vector<RigidShape> obstacles;
    if (c.on_floor) obstacles.push_back(RigidShape::half_space());
    const auto dynamics = std::make_shared<CoupledDynamics>(model, constraints, options, obstacles);
    const auto decoupled = std::make_shared<ExplicitDynamics>(model, constraints);
    const auto ws = std::make_shared<ExplicitDynamics::Workspace>(decoupled->make_workspace());
    const Eigen::VectorXd f = gravity_load(model, Vector3d(0, 0, -9.81));

    const auto state = std::make_shared<FemState>(dynamics->make_state());
    dynamics->set_acceleration(*state, f);
    const double dt = dynamics->step_length(0);
    const FemState start = *state;
    if (c.on_floor)
        // until all nodes of the lower face are held
        for (int k = 0; k < 200; ++k)
            if (dynamics->step(*state, f, 0).status != StepStatus::Ok)
                throw std::runtime_error("the step failed");

    Workload workload;
    workload.operations = workload.reference_operations = kCoupledStepsPerSample;
    workload.run = [=, on_floor = c.on_floor] {
        // contact goes on from step to step; otherwise every sample does the same
        if (!on_floor) *state = start;
        for (int k = 0; k < kCoupledStepsPerSample; ++k)
            if (dynamics->step(*state, f, 0).status != StepStatus::Ok)
                throw std::runtime_error("the step failed");
        return state->u.sum();
    };
    const auto reference = std::make_shared<FemState>(start);
    workload.run_reference = [=] {
        *reference = start;
        for (int k = 0; k < kCoupledStepsPerSample; ++k)
            if (decoupled->step(*reference, f, dt, *ws).status != StepStatus::Ok)
                throw std::runtime_error("the step failed");
        return reference->u.sum();
    };
    return workload;
}

Benchmark step_benchmark(const char* name, const Case& c, int samples) {
    return {.module = "fem",
            .name = name,
            .setup = [c] { return step_workload(c); },
            .reference = "decoupled step",
            .samples = samples};
}

}  // namespace

std::vector<Benchmark> coupled_benchmarks() {
    return {
        step_benchmark("coupled_step/scalar/n=1331", {.n = 10}, 60),
        step_benchmark("coupled_step/full/n=1331", {.n = 10, .stiffness_damping = 1e-3}, 30),
        step_benchmark("coupled_step/scalar/n=9261", {.n = 20}, 15),
        step_benchmark("coupled_step/contact/n=1331", {.n = 10, .on_floor = true}, 30),
    };
}

}  // namespace pliant::bench
