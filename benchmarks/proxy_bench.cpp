#include <cmath>
#include <memory>
#include <stdexcept>

#include "apps/pliant/reproduce/proxy_samples.h"
#include "benchmarks/haptics_bench.h"
#include "pliant/reduction/build_reduced.h"
#include "pliant/reduction/reduced_body.h"
#include "tests/haptics/proxy_samples.h"

namespace pliant::bench {
namespace {

using test::ring_of_70k;

/// A hand that strokes 4 mm below the surface.
Eigen::Vector3d stroke(double s) { return test::ring_stroke(s, 4e-3); }

/// All vertices are written anew in every tick, by turns of two shapes that differ by 0.2 mm.
struct RewrittenRing {
    RewrittenRing() : surface(ring_of_70k()), proxy({&surface}) {
        const SurfaceMesh mesh = ring_of_70k();
        for (int i = 0; i < 2; ++i)
            for (const Eigen::Vector3d& v : mesh.vertices)
                for (int k = 0; k < 3; ++k)
                    x[static_cast<std::size_t>(i)].push_back(
                        static_cast<float>(v[k] * (1 + 1.3e-3 * i)));
        proxy.reset(test::ring_stroke(0, -0.02));
    }
    /// What the rewrite calls into the cache for the next tick belongs to it: only a surface that
    /// was touched has it.
    double write() {
        turn = 1 - turn;
        surface.set_positions(x[turn]);
        return 0;
    }
    double tick() {
        const ProxyState& state = proxy.tick(stroke(s += 3e-4));
        return state.force.sum() + state.triangles_tested;
    }
    VertexSurface surface;
    VirtualProxy proxy;
    std::array<std::vector<float>, 2> x;
    std::size_t turn = 0;
    double s = 0;
};

Workload rewrite_workload() {
    const auto ring = std::make_shared<RewrittenRing>();
    return {.run = [ring] { return ring->write(); },
            .run_reference = [ring] { return ring->tick(); }};
}

Workload rewritten_tick_workload() {
    const auto ring = std::make_shared<RewrittenRing>();
    ring->write();
    return {.run = [ring] { return ring->tick(); },
            .run_reference = [ring] { return ring->write(); }};
}

/// Swings in 15 shapes by up to 5 mm in each.
struct SwingingRing {
    SwingingRing() : surface(test::waving_shapes(ring_of_70k(), 15, 1.0)), proxy({&surface}) {
        proxy.reset(test::ring_stroke(0, -0.06));
    }
    double tick() {
        time += 1e-3;
        for (std::size_t j = 0; j < q.size(); ++j)
            q[j] = 0.002 * std::sin((4.0 + 1.3 * static_cast<double>(j)) * time);
        surface.set_motion(Pose{}, q);
        const ProxyState& state = proxy.tick(stroke(s += 3e-4));
        return state.force.sum() + state.triangles_tested;
    }
    ReducedSurface surface;
    VirtualProxy proxy;
    std::array<double, 15> q = {};
    double s = 0, time = 0;
};

Workload reduced_tick_workload() {
    const auto ring = std::make_shared<SwingingRing>();
    return {.run = [ring] { return ring->tick(); }};
}

/// A body of 70 k triangles and r = 15 that is held at one side and that gravity shakes by
/// millimetres, stroked by a hand whose force it gets.
struct StrokedBody {
    StrokedBody()
        : body(build_reduced_model(ring_of_70k(), {.material = isotropic(1e6, 0.35, 1000),
                                                   .fixed = "x < 10 %",
                                                   .mesh = {.resolution = 24},
                                                   .num_modes = 10,
                                                   .rank = 15})),
          surface(make_moving_surface(body)),
          proxy({surface.get()}) {
        proxy.reset(test::ring_stroke(0, -0.02));
    }
    double step() {
        time += 1e-3;
        body.set_gravity({0, 1.5 * std::sin(31 * time), 3 * std::sin(20 * time)});
        (void)body.step(1e-3);
        return body.state().q[0];
    }
    double tick() {
        const ProxyState& state = proxy.tick(stroke(s += 3e-4));
        proxy.apply_forces();
        return state.force.sum() + state.triangles_tested;
    }
    ReducedBody body;
    std::unique_ptr<MovingSurface> surface;
    VirtualProxy proxy;
    double s = 0, time = 0;
};

Workload body_tick_workload() {
    const auto stroked = std::make_shared<StrokedBody>();
    return {.run = [stroked] { return stroked->tick(); },
            .run_reference = [stroked] { return stroked->step(); }};
}

Workload body_step_workload() {
    const auto stroked = std::make_shared<StrokedBody>();
    return {.run = [stroked] { return stroked->step() + stroked->tick(); }};
}

/// The published pile, stirred: step, skinning, proxy and the force on the fish.
Workload stirred_fish_workload() {
    struct StirredFish {
        StirredFish()
            : pile(reproduce::pile_of_fish()),
              height(reproduce::height_in_fish(*pile)),
              surface(make_moving_surface(*pile)),
              proxy({surface.get()}, soft()) {
            proxy.reset(reproduce::hand_among_fish(0, height));
            while (count < 400) (void)step();
        }
        static ProxyOptions soft() {
            ProxyOptions options;
            options.stiffness = 10;
            return options;
        }
        double step() {
            pile->step(reproduce::kPileStep);
            const ProxyState& state = proxy.tick(reproduce::hand_among_fish(count++, height));
            proxy.apply_forces();
            return state.force.sum() + state.triangles_tested;
        }
        std::unique_ptr<ParticleBody> pile;
        double height;
        std::unique_ptr<MovingSurface> surface;
        VirtualProxy proxy;
        int count = 0;
    };
    const auto fish = std::make_shared<StirredFish>();
    return {.run = [fish] { return fish->step(); }};
}

/// As long as a tick and nothing but arithmetic: what the machine itself adds to the slowest ticks.
Workload arithmetic_workload() {
    return {.run = [] {
        volatile double x = 1;
        for (int i = 0; i < 1300; ++i) x = x * 1.0000001;
        return double{x};
    }};
}

/// The falling cloth of the published scene as it meets the sphere: 0.14 m per step.
Workload cloth_workload() {
    struct Cloth {
        Cloth() : mesh(double_faced(test::flat_sheet(1, 32))), surface(mesh), near({&surface}) {}
        void put(double z) {
            x.clear();
            for (const Eigen::Vector3d& v : mesh.vertices)
                x.insert(x.end(), {static_cast<float>(v.x()), static_cast<float>(v.y()),
                                   static_cast<float>(z)});
            surface.set_positions(x);
            surface.advance();
        }
        SurfaceMesh mesh;
        VertexSurface surface;
        SurfaceNeighbourhood near;
        std::vector<float> x;
    };
    const auto cloth = std::make_shared<Cloth>();
    cloth->put(0.07);
    cloth->put(-0.07);
    return {.run = [cloth] {
        SphereCarryOptions options;
        options.radius = 0.03;
        cloth->near.forget();
        cloth->near.gather_swept(Eigen::Vector3d(0.011, 0.007, 0), 1.01 * options.radius);
        const CarryResult carried =
            carry_sphere(cloth->near, Eigen::Vector3d(0.011, 0.007, 0), options);
        return pop_out(cloth->near, carried.position, options).position.sum();
    }};
}

/// All trials of docs/proxy.md on one mesh, time per trial. Throws when one loses the proxy.
Benchmark trials_benchmark(const std::string& name, const std::function<SurfaceMesh()>& mesh,
                           bool is_sheet,
                           test::TrialSurface surface = test::TrialSurface::Vertices) {
    constexpr int kTrials = 5000;
    return {.module = "proxy",
            .name = "trials/" + name,
            .setup =
                [=] {
                    const auto trials = std::make_shared<test::ProxyTrials>(
                        mesh(), is_sheet, ProxyOptions{}, surface);
                    return Workload{
                        .run =
                            [trials] {
                                test::TrialTotals totals;
                                trials->run(kTrials, 100'000, totals);
                                if (totals.trials != kTrials)
                                    throw std::runtime_error(
                                        "only " + std::to_string(totals.trials) + " trials of " +
                                        std::to_string(kTrials) + " found a place to start");
                                if (totals.losses > 0)
                                    throw std::runtime_error(std::to_string(totals.losses) +
                                                             " trials lost the proxy");
                                return double(totals.carried);
                            },
                        .operations = kTrials};
                },
            .samples = 1,
            .is_long = true};
}

}  // namespace

std::vector<Benchmark> proxy_benchmarks() {
    return {trials_benchmark(
                "ball", [] { return test::bumpy_ball(0.06, 0, 40, 1); }, false),
            trials_benchmark(
                "bumpy ball", [] { return test::bumpy_ball(0.06, 0.1, 40, 2); }, false),
            trials_benchmark(
                "rough ball", [] { return test::bumpy_ball(0.06, 0.3, 40, 3); }, false),
            trials_benchmark(
                "plate", [] { return test::thin_plate(0.24, 0.002, 40); }, true),
            trials_benchmark(
                "sheet", [] { return double_faced(test::flat_sheet(0.24, 30)); }, true),
            trials_benchmark(
                "rough ball, reduced", [] { return test::bumpy_ball(0.06, 0.3, 40, 3); }, false,
                test::TrialSurface::Reduced),
            trials_benchmark(
                "plate, reduced", [] { return test::thin_plate(0.24, 0.002, 40); }, true,
                test::TrialSurface::Reduced),
            trials_benchmark(
                "sheet, reduced", [] { return double_faced(test::flat_sheet(0.24, 30)); }, true,
                test::TrialSurface::Reduced),
            {.module = "proxy",
             .name = "rewrite/35k vertices/70k triangles",
             .setup = rewrite_workload,
             .reference = "tick between rewrites",
             .max_us = 40,
             .samples = 2000},
            {.module = "proxy",
             .name = "tick/rewritten/70k",
             .setup = rewritten_tick_workload,
             .reference = "rewrite of all vertices",
             .max_us = 5,
             .max_p999_us = 30,
             .samples = 20'000},
            {.module = "proxy",
             .name = "tick/reduced r=15/70k/15 shapes swing",
             .setup = reduced_tick_workload,
             .max_us = 10,
             .max_p999_us = 50,
             .samples = 20'000},
            {.module = "proxy",
             .name = "tick/reduced r=15/70k/forces on the body",
             .setup = body_tick_workload,
             .reference = "step of the body",
             .max_us = 10,
             .max_p999_us = 50,
             .samples = 20'000},
            {.module = "proxy",
             .name = "tick/reduced r=15/70k/and step of the body",
             .setup = body_step_workload,
             .samples = 20'000},
            {.module = "proxy",
             .name = "four fish with a hand/step of all",
             .setup = stirred_fish_workload,
             .max_mean_us = 1000,
             .samples = 3000},
            {.module = "proxy",
             .name = "arithmetic as long as a tick",
             .setup = arithmetic_workload,
             .samples = 20'000},
            {.module = "proxy",
             .name = "ccd and pop-out/cloth 4096, 0.14 m",
             .setup = cloth_workload,
             .max_us = 60,
             .samples = 5000}};
}

}  // namespace pliant::bench
