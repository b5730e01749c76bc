#include <algorithm>
#include <cmath>

#include "apps/pliant/output.h"
#include "contact_bumps.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "pliant/geometry/polygonize.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

constexpr double kPitch = 0.012;  // of the bumps along the slide [m]

SurfaceMesh bumpy_plate(int resolution) {
    constexpr double kBumpRadius = 0.003;
    std::vector<Implicit> parts = {
        implicit::box(Vector3d(-0.045, -0.02, -0.008), Vector3d(0.045, 0.02, 0), 0.001)};
    constexpr double kSide[] = {0.004, -0.009, 0.011, -0.003, 0.008, -0.012};
    for (int k = 0; k < kNumBumps; ++k)
        parts.push_back(
            implicit::sphere(Vector3d((k - 2.5) * kPitch, kSide[k], -0.001), kBumpRadius));
    return polygonize(implicit::unite(parts), {.resolution = resolution});
}

}  // namespace

BumpSample bump_sample(const Context& context) {
    const Vector3d end(0, 0.018, 0);
    const Solid bar = make_solid(
        polygonize(implicit::capsule(-end, end, kBarRadius, kBarRadius), {.resolution = 48}),
        context.sized(128, 64));
    return {make_solid(bumpy_plate(context.sized(120, 60)), context.sized(256, 128), 1.1),
            PointTree(make_shell(bar, 8000, kBarLevels))};
}

std::vector<std::size_t> find_peaks(const std::vector<double>& signal, double rise) {
    std::vector<std::size_t> peaks;
    double low = 0, high = 0;
    std::size_t top = 0;
    bool is_rising = true;
    for (std::size_t k = 0; k < signal.size(); ++k) {
        const double value = signal[k];
        if (is_rising) {
            if (value > high) top = k;
            high = std::max(high, value);
            if (high - low >= rise && value <= high - rise) {
                peaks.push_back(top);
                is_rising = false;
                low = value;
            } else if (high - low < rise && value < low) {
                low = high = value;
            }
        } else {
            low = std::min(low, value);
            if (value >= low + rise) {
                is_rising = true;
                high = value;
                top = k;
            }
        }
    }
    return peaks;
}

namespace {

/// How well the peaks of a slide are those of the bumps.
struct FeltBumps {
    int count = 0;
    double astray = 0;  ///< farthest of a bump from its nearest peak, or of a peak from a bump [m]
    double spread = 0;  ///< highest peak over the lowest, less 1: the bumps are alike
};

FeltBumps felt_bumps(const std::vector<double>& signal, double rise, double start, double step) {
    const std::vector<std::size_t> peaks = find_peaks(signal, rise);
    FeltBumps felt;
    felt.count = static_cast<int>(peaks.size());
    if (peaks.empty()) return {.astray = kNumBumps * kPitch, .spread = HUGE_VAL};
    std::vector<double> nearest(kNumBumps, kNumBumps * kPitch);
    double low = HUGE_VAL, high = 0;
    for (const std::size_t peak : peaks) {
        const double x = start + step * static_cast<double>(peak);
        double of_peak = kNumBumps * kPitch;
        for (int k = 0; k < kNumBumps; ++k) {
            const double away = std::abs(x - (k - 0.5 * (kNumBumps - 1)) * kPitch);
            of_peak = std::min(of_peak, away);
            double& of_bump = nearest[static_cast<std::size_t>(k)];
            of_bump = std::min(of_bump, away);
        }
        felt.astray = std::max(felt.astray, of_peak);
        low = std::min(low, signal[peak]);
        high = std::max(high, signal[peak]);
    }
    felt.astray = std::max(felt.astray, *std::max_element(nearest.begin(), nearest.end()));
    felt.spread = high / low - 1;
    return felt;
}

}  // namespace

void run_bumps(Context& context) {
    Section& page = context.section;
    const auto& [plate, bar] = bump_sample(context);
    page.text(format(
        "A round bar of 6 mm slides at 50 mm/s, 0.7 mm over a plate with six bumps of 2 mm "
        "height, with a script of 1 kHz: %s points in %d levels, field with cells of %.2f mm. "
        "Published: six bumps of a dinosaur's back are felt one by one at 1 kHz with the finest "
        "shell of the bridge.",
        cli::grouped(bar.num_points()).c_str(), kBarLevels, 1e3 * plate.cell()));
    Table table{"bumps",
                "Peaks of the force across the slide, higher than a tenth of the highest of the "
                "same level and all finer ones. The bumps are alike: at the finest level each "
                "must be felt at its place, within half a millimetre, and as strongly as the "
                "others, within a tenth. The two coarsest levels must not pass",
                {{"level", "level"},
                 {"points", "points"},
                 {"spacing_mm", "spacing, mm"},
                 {"peaks", "peaks"},
                 {"astray_mm", "peak and bump farthest apart, mm"},
                 {"spread", "highest peak over the lowest, less 1"},
                 {"highest_n", "highest force, N"}}};
    Plot plot{.title = "Force while the bar slides",
              .x_label = "place, mm",
              .y_label = "force, N",
              .width = 620};
    double highest = 0;
    for (int level = kBarLevels - 1; level >= 0; --level) {
        Probe probe(bar, plate.field, {.deepest_level = level}, {.stiffness = 500});
        std::vector<double> signal;
        Series series{format("level %d", level + 1), {}, level};
        constexpr double kStart = -0.04, kStep = 5e-5;  // [m]
        for (int k = 0; k <= 1600; ++k) {
            const double x = kStart + kStep * k;
            const double force =
                probe.at({Vector3d(x, 0, kBarRadius + 7e-4), Quaternion::Identity()})
                    .on_shell.force.norm();
            signal.push_back(force);
            if (k % 4 == 0) series.points.emplace_back(1e3 * x, force);
        }
        const double top = *std::max_element(signal.begin(), signal.end());
        highest = std::max(highest, top);
        const FeltBumps felt = felt_bumps(signal, 0.1 * highest, kStart, kStep);
        const bool is_finest = level == kBarLevels - 1;
        // what a level that passes has: the larger of both over its limit is at most 1
        const double beyond = std::max(felt.astray / 5e-4, felt.spread / 0.1);
        if (level <= 1)
            (void)page.at_least(
                format("level %d, told from the finest: error over its limit", level + 1), beyond,
                1.01, "%.1f");
        const int n = bar.shell().level_start[static_cast<std::size_t>(level) + 1];
        table.add({Cell::count(level + 1), Cell::count(n),
                   Cell::number(1e3 * spacing_statistics(bar.shell(), level).mean, "%.2f"),
                   is_finest ? page.compared("peaks at the finest level", felt.count, kNumBumps, 0,
                                             "%.0f")
                             : Cell::count(felt.count),
                   is_finest ? page.at_most("peak and bump farthest apart at the finest level [mm]",
                                            1e3 * felt.astray, 0.5, "%.2f")
                             : Cell::number(1e3 * felt.astray, "%.2f"),
                   is_finest ? page.at_most("spread of the peaks at the finest level", felt.spread,
                                            0.1, "%.3f")
                             : Cell::number(felt.spread, "%.3f"),
                   Cell::number(top, "%.2f")});
        if (level == kBarLevels - 1 || level <= 1) plot.series.push_back(std::move(series));
    }
    std::reverse(table.rows.begin(), table.rows.end());
    page.figure({drawn(plot)}, "The finest level and the two coarsest, along the slide.");
    page.table(table);
}

}  // namespace pliant::reproduce
