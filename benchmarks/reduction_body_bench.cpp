#include <cmath>
#include <memory>
#include <vector>

#include "benchmarks/reduction_bench.h"
#include "pliant/core/simd.h"
#include "pliant/geometry/selection.h"
#include "pliant/geometry/shapes.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/reduced_body.h"

namespace pliant::bench {
namespace {

constexpr double kTick = 1e-3;

/// The default demo.
const ReducedBodyModel& bridge() {
    static const ReducedBodyModel model(
        build_reduced_model(make_shape("bridge"), {.size = 1,
                                                   .material = isotropic(1e5, 0.35, 1000),
                                                   .fixed = "z < 3 %",
                                                   .mesh = {.resolution = 124, .is_hollow = true},
                                                   .num_modes = 10,
                                                   .rank = 15}));
    return model;
}
/// Ticks depend on r alone: a small mesh will do.
const ReducedModel& beam() {
    static const ReducedModel model =
        build_reduced_model(make_shape("beam"), {.size = 0.5,
                                                 .material = isotropic(1e5, 0.35, 1000),
                                                 .fixed = "x < 3 %",
                                                 .mesh = {.resolution = 20},
                                                 .num_modes = 12,
                                                 .rank = 60});
    return model;
}

/// A body that a hand holds by a damped spring and moves about.
struct Grab {
    explicit Grab(const ReducedBodyModel& model)
        : body(model),
          point(SurfacePoint::at_vertex(select(highest(0), body.surface().vertices).front())),
          start(body.position(point)),
          stiffness(0.2 / (kTick * kTick * body.mobility(point))),
          shown(static_cast<std::size_t>(body.display()->state_size())) {}

    double tick() {
        const double phase = 5 * kTick * ++count;
        const Eigen::Vector3d hand =
            start + 0.02 * Eigen::Vector3d(0, std::sin(phase), std::sin(2 * phase));
        body.add_force(point, stiffness * (hand - body.position(point)) -
                                  2 * kTick * stiffness * body.velocity(point));
        (void)body.step(kTick);
        body.write_display(shown);
        return body.position(point).z();
    }

    ReducedBody body;
    SurfacePoint point;
    Eigen::Vector3d start;
    double stiffness;
    std::vector<float> shown;
    int count = 0;
};

Workload tick_workload(const ReducedBodyModel& model) {
    const auto grab = std::make_shared<Grab>(model);
    // the same body without surface, hand and statistics
    struct Bare {
        ReducedDynamics dynamics;
        std::unique_ptr<ReducedDynamics::Workspace> ws;
        ReducedState s;
        Eigen::VectorXd f;
    };
    const ReducedModel& reduced = model.model();
    ReducedDynamics dynamics(reduced.make_force(), reduced.mass(),
                             {.damping = {.stiffness = 0.002}});
    auto ws = dynamics.make_workspace();
    ReducedState s = dynamics.make_state();
    const std::shared_ptr<Bare> bare(new Bare{std::move(dynamics), std::move(ws), std::move(s),
                                              Eigen::VectorXd::Constant(reduced.rank(), 1e-3)});
    Workload workload;
    workload.run = [grab] { return grab->tick(); };
    workload.run_reference = [bare] {
        (void)bare->dynamics.step(bare->s, bare->f, kTick, *bare->ws);
        return bare->s.q.sum();
    };
    return workload;
}

Workload frame_workload() {
    const auto grab = std::make_shared<Grab>(bridge());
    for (int k = 0; k < 200; ++k) (void)grab->tick();
    const auto x = std::make_shared<std::vector<float>>(3 * grab->body.surface().vertices.size());
    Workload workload;
    workload.run = [=] {
        grab->body.display()->positions(grab->shown, *x);
        return double{simd_sum(x->data(), x->size())};
    };
    workload.run_reference = [=] {
        const std::span<const float> q = std::span<const float>(grab->shown).subspan(kPoseFloats);
        grab->body.shapes().positions(q, *x);
        return double{simd_sum(x->data(), x->size())};
    };
    return workload;
}

Benchmark tick_benchmark(std::string name, std::function<Workload()> setup, double max_us) {
    return {.module = "reduction",
            .name = std::move(name),
            .setup = std::move(setup),
            .reference = "ReducedDynamics alone",
            .max_us = max_us,
            .samples = 5000};
}

}  // namespace

std::vector<Benchmark> reduced_body_benchmarks() {
    const auto beam_tick = [](int r) {
        return tick_workload(ReducedBodyModel(beam().truncated(r)));
    };
    return {tick_benchmark(
                "body_tick/bridge/r=15", [] { return tick_workload(bridge()); }, 8),
            tick_benchmark(
                "body_tick/r=30", [=] { return beam_tick(30); }, 25),
            tick_benchmark(
                "body_tick/r=60", [=] { return beam_tick(60); }, 310),
            {.module = "reduction",
             .name = "body_frame/bridge/r=15",
             .setup = frame_workload,
             .reference = "surface in body axes",
             .samples = 200}};
}

}  // namespace pliant::bench
