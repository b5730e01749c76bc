#include <memory>

#include "benchmarks/haptics_bench.h"
#include "pliant/scene/scene_file.h"
#include "pliant/scene/world.h"

namespace pliant::bench {
namespace {

/// A demo in a simulated hand that moves the tool along its path, without a viewer: each sample is
/// all that a tick does, device, hand, contact, coupling, output and the steps of the bodies.
Workload demo_in_hand(const std::string& demo, double rate) {
    SceneDescription scene = demo_scene(demo);
    scene.rate = rate;
    const auto world = std::make_shared<World>(scene);
    Workload workload;
    workload.run = [world] {
        world->advance();
        const HapticTick& tick = *world->loop(0).haptic_tick();
        return tick.command.force.sum() + tick.tool.position.sum();
    };
    return workload;
}

/// Once along the whole path of the demo, `seconds`; targets in µs, 0: none.
Benchmark demo_ticks(const std::string& demo, double rate, double seconds, double most,
                     double most_at_the_tail) {
    return {.module = "haptics",
            .name = "demo tick/" + demo + "/" + std::to_string(static_cast<int>(rate)) + " Hz",
            .setup = [=] { return demo_in_hand(demo, rate); },
            .max_us = most,
            .max_p999_us = most_at_the_tail,
            .samples = static_cast<int>(seconds * rate)};
}

/// The same, with ticks that must be done within their period.
Benchmark sustained_rate(const std::string& demo, double rate, double seconds) {
    Benchmark benchmark = demo_ticks(demo, rate, seconds, 0, 1e6 / rate);
    benchmark.max_mean_us = 1e6 / rate;
    return benchmark;
}

}  // namespace

std::vector<Benchmark> haptics_scene_benchmarks() {
    // published: 260 µs on average for a tick of the hoses
    return {demo_ticks("hoses", 1000, 20, 40, 120), demo_ticks("serpent-figure", 1000, 20, 0, 250),
            demo_ticks("figure-axe", 1000, 20, 0, 180), sustained_rate("hoses", 10000, 8),
            sustained_rate("alpha-puzzle", 20000, 12)};
}

}  // namespace pliant::bench
