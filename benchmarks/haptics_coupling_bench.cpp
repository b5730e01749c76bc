#include <memory>
#include <random>

#include "benchmarks/haptics_bench.h"
#include "pliant/haptics/dynamic_coupling.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;
using Vector6d = Eigen::Matrix<double, 6, 1>;

CouplingGains bench_gains() {
    DeviceCapabilities device;
    CouplingScene scene;
    scene.cell = 1e-3;
    scene.gyration = 0.02;
    scene.bounding = 0.035;
    return derive_gains(device, scene);
}

constexpr int kNumInputs = 2048;

/// Places of the hand with contacts as a traversal would have found them, many different ones: the
/// time of a decomposition depends on its matrix.
struct CouplingTicks {
    struct Tick {
        Pose hand;
        ToolContact contact;
    };
    /// `reach`: of the hand from the tool [m]; far away the springs are saturated. `spread`: of the
    /// normals; with little only the springs hold the directions along a surface.
    CouplingTicks(const CouplingGains& gains, double reach, int most_contacts, double spread) {
        std::mt19937 random(5);
        std::normal_distribution<double> normal;
        const auto vector = [&](double size) {
            const double x = normal(random), y = normal(random), z = normal(random);
            return Vector3d(size * x, size * y, size * z);
        };
        for (int i = 0; i < kNumInputs; ++i) {
            Tick tick;
            tick.hand = {vector(reach), rotation_from_vector(vector(0.3))};
            const int count =
                most_contacts == 0 ? 0 : 1 + static_cast<int>(random() % (unsigned)most_contacts);
            tick.contact.num_contacts = count;
            tick.contact.clearance = count == 0 ? 0.01 : 0;
            for (int k = 0; k < count; ++k) {
                const Vector3d n = (Vector3d(0, 0, 1) + vector(spread)).normalized(),
                               r = vector(0.02);
                const double weight = std::min(1.0, 10.0 / count);
                const double stiffness = weight * gains.contact_stiffness;
                const double deep = 1e-4 * (1 + normal(random) * 0.3);
                Vector6d J;
                J << n, r.cross(n);
                tick.contact.normals += weight * J * J.transpose();
                tick.contact.gradient -= stiffness * J * J.transpose();
                const Wrench load = {stiffness * deep * n, stiffness * deep * r.cross(n)};
                tick.contact.load += load;
                // the part that makes it unsymmetric
                for (int c = 0; c < 3; ++c)
                    tick.contact.gradient.block<3, 1>(0, 3 + c) -=
                        Vector3d::Unit(c).cross(load.force);
            }
            ticks.push_back(tick);
        }
    }
    std::vector<Tick> ticks;
};

/// A cycle: springs, 6 × 6 system, solve, limits, and what is shown. Each is a sample of its own:
/// means of several would hide the slow ones.
template <typename Coupling>
Workload coupling_workload(double reach, int most_contacts, double spread, auto... options) {
    const auto gains = bench_gains();
    const auto ticks = std::make_shared<CouplingTicks>(gains, reach, most_contacts, spread);
    const auto coupling = std::make_shared<Coupling>(gains, options...);
    const auto next = std::make_shared<std::size_t>(0);
    Workload workload;
    workload.run = [=] {
        const CouplingTicks::Tick& tick = ticks->ticks[(*next)++ % ticks->ticks.size()];
        coupling->place({});
        static_cast<void>(coupling->update(tick.hand, tick.contact, 1e-3));
        const Wrench shown = coupling->rendered(tick.hand);
        return coupling->pose().position.sum() + shown.force.sum() + shown.torque.sum();
    };
    return workload;
}

}  // namespace

std::vector<Benchmark> haptics_coupling_benchmarks() {
    // published: 90 µs for the whole stage
    constexpr double kMost = 3, kMostAtTheTail = 10;
    std::vector<Benchmark> all;
    const auto add = [&](const std::string& name, double max_us, std::function<Workload()> setup) {
        all.push_back({.module = "haptics",
                       .name = "coupling/" + name,
                       .setup = std::move(setup),
                       .max_us = max_us,
                       .max_p999_us = max_us > 0 ? kMostAtTheTail : 0,
                       .samples = 20 * kNumInputs,
                       .without_clock = true,
                       .num_inputs = kNumInputs});
    };
    CouplingOptions by_lu;
    by_lu.solve = CouplingSolve::Lu;
    constexpr double kRound = 0.2, kFlat = 0.01;
    add("free space", kMost, [] { return coupling_workload<StaticCoupling>(0.005, 0, 0.0); });
    add("few contacts", kMost, [] { return coupling_workload<StaticCoupling>(0.005, 8, kRound); });
    add("many contacts", kMost,
        [] { return coupling_workload<StaticCoupling>(0.005, 200, kRound); });
    add("many contacts, saturated", kMost,
        [] { return coupling_workload<StaticCoupling>(0.2, 200, kRound); });
    add("degenerate, SVD", kMost,
        [] { return coupling_workload<StaticCoupling>(0.5, 200, kFlat); });
    add("degenerate, LU", kMost,
        [=] { return coupling_workload<StaticCoupling>(0.5, 200, kFlat, by_lu); });
    add("dynamic", 0, [] { return coupling_workload<DynamicCoupling>(0.005, 200, kRound); });
    return all;
}

}  // namespace pliant::bench
