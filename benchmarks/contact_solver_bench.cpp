#include <memory>
#include <vector>

#include "benchmarks/contact_bench.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/contact/contact_solver.h"
#include "pliant/core/parallel.h"
#include "pliant/field/analytic_field.h"
#include "pliant/field/build_field.h"
#include "pliant/geometry/polygonize.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/material_points.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr double kPileStep = 1.0 / 120;
constexpr int kNumBodies = 512;

/// A ring in place of a basket: cost depends on r and on the points that touch alone.
struct Ring {
    Ring()
        : model(build_reduced_model(
              polygonize(implicit::torus(Vector3d::Zero(), Vector3d::UnitZ(), 0.15, 0.05)),
              {.material = isotropic(2e5, 0.35, 1000),
               .is_free = true,
               .mesh = {.resolution = 16},
               .num_modes = 12,
               .rank = 40})),
          tree(make_tree(model.model())),
          solid(model.model(), {.resolution = 32}, {.num_proxies = 40}) {}

    static PointTree make_tree(const ReducedModel& reduced) {
        const SurfaceMesh surface = reduced.surface();
        const DistanceGrid grid = build_field(surface, {.resolution = 32});
        const Pointshell shell =
            build_pointshell_by(ShellGenerator::AreaRandom, grid, surface, 320, 8);
        std::vector<Vector3d> points;
        for (const Eigen::Vector3f& p : shell.points) points.push_back(p.cast<double>());
        return {shell, material_points(reduced, points, true)};
    }

    ReducedBodyModel model;
    PointTree tree;
    DeformedFieldModel solid;
};

const Ring& ring() {
    static const Ring shared;
    return shared;
}

using Bodies = std::vector<std::unique_ptr<ReducedBody>>;

void step_all(const Bodies& bodies) {
    parallel_for(bodies.size(), 4, [&](std::size_t i) { (void)bodies[i]->step(kPileStep); });
}

/// `side` × `side` rings in a layer.
Bodies make_bodies(int side, const Vector3d& spacing) {
    Bodies bodies;
    for (int i = 0; i < kNumBodies; ++i) {
        ReducedBodyOptions options;
        options.coupling = FlightCoupling::Decoupled;
        const Vector3d place(i % side, i / side % side, i / (side * side));
        options.pose.position = place.cwiseProduct(spacing) + Vector3d(0, 0, 0.1);
        options.pose.rotation = rotation_from_vector(0.02 * Vector3d(i % 5, i % 3, i % 11));
        bodies.push_back(std::make_unique<ReducedBody>(ring().model, options));
        bodies.back()->set_gravity(Vector3d(0, 0, -9.81));
    }
    return bodies;
}

/// Rings that fell on the ground, side by side, or in a heap where they touch each other.
struct Pile {
    explicit Pile(bool is_heap)
        : ground(RigidShape::half_space(),
                 SurfaceMesh(polygonize(implicit::sphere(Vector3d::Zero(), 1)))),
          bodies(is_heap ? make_bodies(9, Vector3d(0.41, 0.41, 0.12))
                         : make_bodies(23, Vector3d(0.5, 0.5, 0))) {
        std::vector<ContactBody> parts = {{&ground, {}, plane_set_field({{}}), {}}};
        for (const auto& body : bodies) {
            parts.push_back({body.get(), ring().tree, {}, {}});
            if (is_heap) parts.back().deformed = ring().solid;
        }
        solver = std::make_unique<ContactSolver>(
            std::move(parts),
            ContactSolverOptions{.stiffness = 2e4, .friction = 0.4, .max_contacts = 1 << 15});
        for (int k = 0; k < 100; ++k) (void)step();
    }
    double step() {
        (void)solver->act(kPileStep);
        step_all(bodies);
        return solver->statistics().elastic_energy;
    }

    RigidBody ground;
    Bodies bodies;
    std::unique_ptr<ContactSolver> solver;
};

Workload step_workload(bool is_heap) {
    const auto pile = std::make_shared<Pile>(is_heap);
    const auto flying = std::make_shared<Bodies>(make_bodies(23, Vector3d::Ones()));
    Workload workload;
    workload.run = [pile] { return pile->step(); };
    workload.run_reference = [flying] {
        step_all(*flying);
        return flying->front()->frame().pose.position.z();
    };
    return workload;
}

Benchmark step_benchmark(std::string name, bool is_heap) {
    return {.module = "contact",
            .name = std::move(name),
            .setup = [is_heap] { return step_workload(is_heap); },
            .reference = "steps of the bodies alone",
            .max_us = 40000,
            .samples = 60,
            .wall_time = true};
}

}  // namespace

std::vector<Benchmark> contact_solver_benchmarks() {
    return {step_benchmark("baskets/ground/512/r=40", false),
            step_benchmark("baskets/heap/512/r=40", true)};
}

}  // namespace pliant::bench
