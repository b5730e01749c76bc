#include "benchmarks/scene_bench.h"

#include <cmath>
#include <memory>

#include "pliant/scene/scene_file.h"
#include "src/scene/loop_runner.h"

namespace pliant::bench {
namespace {

constexpr std::int64_t kPeriod = 1'000'000;  // [ns] of 1 kHz

/// A haptic loop of a demo whose clock the benchmark turns, and a hand that drags a body around.
struct HeldDemo {
    HeldDemo(const std::string& demo, const std::string& body, const Eigen::Vector3d& at)
        : world(demo_scene(demo)), runner(world, 0, control, {}), start(at) {
        control.is_paused = false;
        const int number = world.find_body(body);
        const SurfacePoint point = world.nearest_point(number, at);
        Command grab{.kind = Command::Kind::Grab, .body = number, .triangle = point.triangle};
        for (int k = 0; k < 3; ++k) {
            grab.barycentric[static_cast<std::size_t>(k)] = point.barycentric[k];
            grab.target[static_cast<std::size_t>(k)] = at[k];
        }
        runner.send(grab);
    }
    /// Everything between two sleeps of the loop; 60 times a second the mouse has moved.
    double turn() {
        if (++turns % 16 == 0) {
            const double angle = 1e-3 * static_cast<double>(turns);
            runner.send({.kind = Command::Kind::Drag,
                         .target = {start.x(), start.y() + 0.05 * std::sin(angle),
                                    start.z() + 0.05 * std::cos(angle)}});
        }
        runner.turn(static_cast<std::int64_t>(turns) * kPeriod);
        (void)runner.next_turn(static_cast<std::int64_t>(turns) * kPeriod + 1);
        return world.loop(0).sample().force[1];
    }

    World world;
    EngineControl control;
    LoopRunner runner;
    Eigen::Vector3d start;
    std::uint64_t turns = 0;
};

Workload bridge_workload() {
    const auto demo = std::make_shared<HeldDemo>("bridge", "bridge", Eigen::Vector3d(0, 0, 0.09));
    Workload workload;
    workload.run = [demo] { return demo->turn(); };
    return workload;
}

}  // namespace

std::vector<Benchmark> scene_benchmarks() {
    return {{.module = "scene",
             .name = "haptic_tick/bridge/r=15",
             .setup = bridge_workload,
             .max_us = 25,
             .samples = 20000}};
}

}  // namespace pliant::bench
