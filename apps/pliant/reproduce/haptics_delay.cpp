#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "haptics_experiments.h"
#include "pliant/fem/statics.h"
#include "pliant/haptics/zwidth.h"
#include "plot.h"
#include "samples.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kBlockSide = 0.1, kPatch = 0.025, kPatchDepth = 0.005;
constexpr int kLongestDelay = 64;  ///< of the simulated device [samples]

/// Force over depth [N/m] of a block that rests on the ground and is pressed in the middle of its
/// top: full finite elements, static.
double block_stiffness(double modulus) {
    const FemModel model(soft_cube(8, kBlockSide), {isotropic(modulus, 0.3, 1000)},
                         kPublishedElements);
    Constraints constraints(model.num_nodes());
    constraints.fix(vertices_where(model.mesh(), [](const Vector3d& x) { return x.z() < 1e-9; }));
    const Vector3d top(kBlockSide / 2, kBlockSide / 2, kBlockSide);
    const std::vector<int> patch = vertices_where(
        model.mesh(), [&](const Vector3d& x) { return (x - top).norm() < kPatch + 1e-9; });
    for (const int node : patch) constraints.prescribe(node, 2, -kPatchDepth);
    const StaticResult pressed =
        solve_static(model, constraints, VectorXd::Zero(model.num_unknowns()));
    VectorXd force(model.num_unknowns());
    model.internal_force(pressed.u, force);
    double sum = 0;
    for (const int node : patch) sum -= force[3 * node + 2];
    return sum / kPatchDepth;
}

/// The longest delay [samples] up to which a handle that is hit into the body comes to rest; −1 if
/// it does not without any.
int tolerated_delay(const HandModel& hand, double stiffness) {
    ZWidthOptions options;
    options.hand = hand;
    for (int delay = 0; delay <= kLongestDelay; ++delay) {
        options.device.delay = delay;
        if (!try_wall(options, stiffness, 0).is_stable) return delay - 1;
    }
    return kLongestDelay;
}

}  // namespace

void run_delay(Context& context) {
    Section& page = context.section;
    page.text(
        "Blocks of 0.1 m, full finite elements, are pressed on their top; the force over the depth "
        "of 5 mm is what a handle feels that is hit into them at 5 cm/s (the bodies answer as in "
        "equilibrium, without mass). Between a command and the force of the motors lie more and "
        "more samples of 1 ms. The delay that a body tolerates is the longest one up to which the "
        "handle comes to rest. Published as experience: softer bodies tolerate longer delay. A "
        "handle of damping b, the hand's included, tolerates about b/K, less half a sample for the "
        "hold of each command and in whole samples. Held by a hand whose spring and mass make it "
        "swing at ω, it tolerates more where K is not far above b ω, and any delay where K is "
        "below: then the body never brings in more than b takes out.");
    struct HandCase {
        const char* name;
        HandModel model;
        /// b [N s/m]
        [[nodiscard]] double damping() const { return DeviceModel{}.damping + model.damping; }
        /// b ω: the least force over travel of the handle in the hand, of all frequencies [N/m]
        [[nodiscard]] double least_stiffness() const {
            const double mass = DeviceModel{}.mass + model.mass, rate = damping() / (2 * mass);
            return damping() * std::sqrt(model.stiffness / mass - rate * rate);
        }
    };
    const HandCase hands[] = {{"loose", HandModel::loose()}, {"firm", HandModel::firm()}};
    Table table{"delay",
                "Delay that bodies tolerate",
                {{"modulus_Pa", "E, Pa"},
                 {"stiffness", "stiffness K, N/m"},
                 {"loose_ms", "loose hand, ms"},
                 {"loose_theory_ms", "b/K, ms"},
                 {"firm_ms", "firm hand, ms"},
                 {"firm_theory_ms", "b/K, ms"}}};
    Plot plot{.title = "Tolerated delay",
              .x_label = "stiffness of the body, N/m",
              .y_label = "delay, ms",
              .log_x = true,
              .log_y = true,
              .width = 560};
    for (int k = 0; k < 2; ++k) {
        plot.series.push_back({std::string(hands[k].name) + " hand", {}, k, Stroke::LineAndDots});
        plot.series.push_back({std::string(hands[k].name) + ": b/K", {}, k, Stroke::Dashed});
    }
    const std::vector<double> moduli = context.sized(
        std::vector<double>{1e3, 2e3, 4e3, 8e3, 1.6e4, 3.2e4}, std::vector<double>{2e3, 1.6e4});
    std::vector<std::vector<int>> tolerated(2);
    for (const double modulus : moduli) {
        const double stiffness = block_stiffness(modulus);
        std::vector<Cell> row{Cell::number(modulus, "%.0f"), Cell::number(stiffness, "%.0f")};
        for (std::size_t k = 0; k < 2; ++k) {
            const int delay = tolerated_delay(hands[k].model, stiffness);
            const double theory = 1e3 * hands[k].damping() / stiffness;
            tolerated[k].push_back(delay);
            plot.series[2 * k].points.emplace_back(stiffness, delay);
            plot.series[2 * k + 1].points.emplace_back(stiffness, theory);
            row.push_back(delay == kLongestDelay ? Cell(format("%d or more", delay))
                                                 : Cell::number(delay, "%.0f"));
            row.push_back(Cell::number(theory, "%.1f"));
        }
        table.add(std::move(row));
        context.done(static_cast<double>(tolerated[0].size()) / static_cast<double>(moduli.size()));
    }
    page.figure({drawn(plot)},
                format("Dots at %d ms stand for %d ms or more, the most that the device has; 0 ms "
                       "is not drawn. b ω is %.0f N/m in the loose hand and %.0f N/m in the firm "
                       "one.",
                       kLongestDelay, kLongestDelay, hands[0].least_stiffness(),
                       hands[1].least_stiffness()));
    page.table(table);
    Table findings{"findings",
                   "Softest and stiffest body; 0 ms of the stiffest count as 1 ms, 64 or more of "
                   "the softest as 64",
                   {{"hand", "hand"},
                    {"rises", "stiffer bodies that tolerate longer delay"},
                    {"ratio", "delay of the softest over that of the stiffest"},
                    {"expected", "expected"}}};
    for (std::size_t k = 0; k < 2; ++k) {
        int rises = 0;
        for (std::size_t i = 1; i < tolerated[k].size(); ++i)
            if (tolerated[k][i] > tolerated[k][i - 1]) ++rises;
        const std::string what = std::string(hands[k].name) + " hand: ";
        findings.add(
            {hands[k].name,
             page.at_most(what + "stiffer bodies that tolerate longer delay", rises, 0, "%.0f"),
             page.at_least(what + "delay that the softest tolerates over the stiffest",
                           tolerated[k].front() / std::max(1.0, double{1} * tolerated[k].back()), 2,
                           "%.1f"),
             "none; at least 2"});
    }
    page.table(findings);
}

}  // namespace pliant::reproduce
