#include "benchmarks/haptics_bench.h"
#include "tests/haptics/hand_curtain.h"

#include <limits>
#include <memory>

namespace pliant::bench {
namespace {

using test::HandCurtain;

SphereToolOptions options_for(int num_spheres) {
    SphereToolOptions options = HandCurtain::hand_options();
    options.is_rigid = num_spheres == 1;  // nothing to bend
    return options;
}

/// Until the hand is deep in the curtain.
std::shared_ptr<HandCurtain> pressed_hand(int num_spheres, bool has_second_pass = true) {
    SphereToolOptions options = options_for(num_spheres);
    options.has_second_pass = has_second_pass;
    const auto scene = std::make_shared<HandCurtain>(num_spheres, options);
    while (scene->time() < 0.8) scene->step();
    return scene;
}

double sum_of(const SphereToolState& state) {
    return state.wrench.force.sum() + state.triangles_tested;
}

/// Step after step, in contact half of the time.
Workload scene_workload() {
    const auto scene = std::make_shared<HandCurtain>(37);
    return {.run = [scene] {
        scene->step();
        return sum_of(scene->hand().state());
    }};
}

Workload curtain_workload() {
    const auto scene = pressed_hand(37);
    return {.run = [scene] {
        (void)scene->curtain().step(HandCurtain::kStep);
        return scene->curtain().state().position[500].sum();
    }};
}

/// Ticks of the hand alone.
Workload hand_tick_workload(int num_spheres, bool has_second_pass) {
    const auto scene = pressed_hand(num_spheres, has_second_pass);
    return {
        .run = [scene] { return sum_of(scene->hand().tick(HandCurtain::pose_at(scene->time()))); }};
}

/// Where the hand is no pose, spheres are pushed by surfaces and do nothing else.
Workload hand_push_workload() {
    const auto scene = pressed_hand(37);
    return {.run = [scene] {
        Pose none;
        none.position.x() = std::numeric_limits<double>::quiet_NaN();
        return sum_of(scene->hand().tick(none));
    }};
}

/// A metre away from the curtain.
Workload hand_free_workload(int num_spheres) {
    const auto scene = std::make_shared<HandCurtain>(num_spheres, options_for(num_spheres));
    return {.run = [scene] {
        Pose hand = HandCurtain::pose_at(0);
        hand.position.x() -= 2;
        return sum_of(scene->hand().tick(hand));
    }};
}

}  // namespace

std::vector<Benchmark> sphere_tool_benchmarks() {
    std::vector<Benchmark> all = {{.module = "proxy",
                                   .name = "hand 37 on curtain/step of all",
                                   .setup = scene_workload,
                                   .max_mean_us = 2000,
                                   .samples = 4000},
                                  {.module = "proxy",
                                   .name = "hand 37 on curtain/curtain",
                                   .setup = curtain_workload,
                                   .samples = 500},
                                  {.module = "proxy",
                                   .name = "hand 37 on curtain/ccd and pop-out",
                                   .setup = hand_push_workload,
                                   .samples = 500},
                                  {.module = "proxy",
                                   .name = "hand 37 on curtain/hand without second pass",
                                   .setup = [] { return hand_tick_workload(37, false); },
                                   .samples = 500}};
    for (const int n : {1, 5, 10, 20, 37, 50})
        all.push_back({.module = "proxy",
                       .name = "hand on curtain/n=" + std::to_string(n) + "/touching",
                       .setup = [n] { return hand_tick_workload(n, true); },
                       .samples = 500});
    for (const int n : {1, 10, 50})
        all.push_back({.module = "proxy",
                       .name = "hand on curtain/n=" + std::to_string(n) + "/free",
                       .setup = [n] { return hand_free_workload(n); },
                       .samples = 500});
    return all;
}

}  // namespace pliant::bench
