#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "mesh_picture.h"
#include "pliant/core/tick_histogram.h"
#include "proxy_experiments.h"
#include "proxy_samples.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// Thread CPU times of the phases of many steps, mean [µs].
struct PhaseTimes {
    double step = 0, skin = 0, carry = 0, pop = 0, proxy = 0;
    double rounds = 0, passes = 0, touching = 0;
    [[nodiscard]] double total() const { return step + proxy; }
};

/// `is_touching`: the hand goes round in the pile instead of above it.
PhaseTimes time_pile(ParticleBody& body, bool is_touching, int ticks) {
    const auto surface = make_moving_surface(body);
    ProxyOptions options;
    options.stiffness = 10;
    VirtualProxy proxy({surface.get()}, options);
    SurfaceNeighbourhood near({surface.get()});
    const auto display = body.display();
    std::vector<float> state(static_cast<std::size_t>(display->state_size()));
    std::vector<float> x(3 * body.surface().vertices.size());
    const double height = is_touching ? height_in_fish(body) : kAboveFish;
    proxy.reset(hand_among_fish(0, height));
    PhaseTimes sum;
    const double share = 1.0 / ticks;
    for (int k = -400; k < ticks; ++k) {
        const Vector3d hand = hand_among_fish(k + 400, height);
        const double t0 = thread_cpu_time_us();
        body.step(kPileStep);
        const Vector3d before = proxy.state().position;
        const double t1 = thread_cpu_time_us();
        const ProxyState& now = proxy.tick(hand);
        proxy.apply_forces();
        const double t2 = thread_cpu_time_us();
        if (k < 0) continue;
        // parts of the tick, once more
        body.write_display(state);
        display->positions(state, x);
        const double t3 = thread_cpu_time_us();
        near.forget();
        near.gather_swept(before, 1.01 * options.sphere.radius);
        const CarryResult carried = carry_sphere(near, before, options.sphere);
        const double t4 = thread_cpu_time_us();
        (void)pop_out(near, carried.position, options.sphere);
        const double t5 = thread_cpu_time_us();
        sum.step += share * (t1 - t0);
        sum.proxy += share * (t2 - t1);
        sum.skin += share * (t3 - t2);
        sum.carry += share * (t4 - t3);
        sum.pop += share * (t5 - t4);
        sum.rounds += share * now.pop_rounds;
        sum.passes += share * now.passes;
        sum.touching += share * now.is_touching();
    }
    return sum;
}

}  // namespace

void run_four_fish(Context& context) {
    Section& page = context.section;
    const auto body = pile_of_fish();
    context.done(0.3);
    page.text(format(
        "Four fish, %s vertices, %s triangles and %d particles, five passes in a step, lie on one "
        "another in a tray; a hand above them, and one that stirs them. Mean thread CPU time of a "
        "step, one thread. Published on an i5-4210U (4,188 vertices, 6,800 triangles, 548 "
        "particles): 80 steps a second free, 55 in contact. Here the hand costs little beside the "
        "particles, whose collisions with each other vary by more.",
        cli::grouped(body->surface().num_vertices()).c_str(),
        cli::grouped(body->surface().num_triangles()).c_str(),
        body->model().layout.num_particles()));
    const std::string picture = surface_picture(
        surface_now(*body), std::vector<double>(body->surface().vertices.size(), 0.0),
        {.azimuth = -70, .elevation = 35, .width = 420}, "four fish");
    const int ticks = context.sized(3000, 300);
    const PhaseTimes free = time_pile(*body, false, ticks);
    context.done(0.6);
    const PhaseTimes held = time_pile(*body, true, ticks);
    // one pass of matching; collisions are the difference to a step without them
    auto ws = body->dynamics().make_workspace();
    ParticleState state = body->state();
    const std::vector<Vector3d> none(state.position.size(), Vector3d::Zero());
    (void)body->dynamics().step(state, none, Vector3d::Zero(), kPileStep, body->dynamics().tuning(),
                                *ws);
    const double matching = 5 * best_time_us([&] { body->dynamics().match_once(*ws); });
    const ParticleDynamics apart(body->model().layout, [&] {
        ParticleOptions options = body->dynamics().options();
        options.collides = false;
        return options;
    }());
    const auto step_us = [&](const ParticleDynamics& dynamics) {
        auto scratch = dynamics.make_workspace();
        return best_time_us([&] {
            ParticleState copy = body->state();
            (void)dynamics.step(copy, none, {0, 0, -9.81}, kPileStep, dynamics.tuning(), *scratch);
        });
    };
    const double collisions = std::max(0.0, step_us(body->dynamics()) - step_us(apart));

    Table phases{"four_fish_phases",
                 "Time of the phases, ms; collisions and shape matching are measured apart, once "
                 "for both hands",
                 {{"phase", "phase"},
                  {"published_ms", "published"},
                  {"free_ms", "hand above"},
                  {"held_ms", "hand among them"}}};
    const auto add = [&](const char* name, const char* published, double f, double h) {
        phases.add(
            {name, published, Cell::number(1e-3 * f, "%.4f"), Cell::number(1e-3 * h, "%.4f")});
    };
    add("collisions of particles", "2.5", collisions, collisions);
    add("shape matching", "4", matching, matching);
    add("whole step of particles", "–", free.step, held.step);
    add("skinning", "1", free.skin, held.skin);
    add("detection (CCD)", "about 0.5", free.carry, held.carry);
    add("pop-out", "< 0.3", free.pop, held.pop);
    add("whole tick of the proxy, skinning and boxes included", "largest", free.proxy, held.proxy);
    Table rates{"four_fish_rates",
                "Steps in a second",
                {{"hand", "hand"},
                 {"published", "published"},
                 {"rate", "steps a second, here"},
                 {"ratio", "ratio"},
                 {"rounds", "rounds of pop-out"},
                 {"passes", "passes of the proxy"},
                 {"touching", "share of steps in contact"}}};
    const auto rate = [&](const char* name, double published, const PhaseTimes& times,
                          bool is_held) {
        const double per_second = 1e6 / times.total();
        rates.add({name, Cell::number(published, "%.0f"),
                   context.is_quick
                       ? Cell::number(per_second, "%.0f")
                       : page.at_least(format("steps a second of four fish, hand %s", name),
                                       per_second, 1000, "%.0f"),
                   Cell::number(per_second / published, "%.0f"),
                   page.at_most(format("rounds of pop-out among fish, hand %s", name), times.rounds,
                                2, "%.3f"),
                   Cell::number(times.passes, "%.1f"),
                   is_held ? page.at_least("share of steps in contact with the fish",
                                           times.touching, 0.5, "%.2f")
                           : Cell::number(times.touching, "%.2f")});
    };
    rate("above", 80, free, false);
    rate("among them", 55, held, true);
    page.figure({picture}, "The four fish; the tray is not drawn.");
    page.table(phases);
    page.table(rates);
}

}  // namespace pliant::reproduce
