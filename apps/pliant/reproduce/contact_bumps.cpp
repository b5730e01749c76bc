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

SurfaceMesh bumpy_plate(int resolution) {
    constexpr double kPitch = 0.012, kBumpRadius = 0.003;
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

int count_peaks(const std::vector<double>& signal, double rise) {
    int count = 0;
    double low = 0, high = 0;
    bool is_rising = true;
    for (const double value : signal) {
        if (is_rising) {
            high = std::max(high, value);
            if (high - low >= rise && value <= high - rise) {
                ++count;
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
            }
        }
    }
    return count;
}

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
                "same level and all finer ones",
                {{"level", "level"},
                 {"points", "points"},
                 {"spacing_mm", "spacing, mm"},
                 {"peaks", "peaks"},
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
        for (int k = 0; k <= 1600; ++k) {
            const double x = -0.04 + 5e-5 * k;
            const double force =
                probe.at({Vector3d(x, 0, kBarRadius + 7e-4), Quaternion::Identity()})
                    .on_shell.force.norm();
            signal.push_back(force);
            if (k % 4 == 0) series.points.emplace_back(1e3 * x, force);
        }
        const double top = *std::max_element(signal.begin(), signal.end());
        highest = std::max(highest, top);
        const int peaks = count_peaks(signal, 0.1 * highest);
        const Cell cell =
            level == kBarLevels - 1
                ? page.compared("peaks at the finest level", peaks, kNumBumps, 0, "%.0f")
            : level == 0 ? page.at_most("peaks at the coarsest level", peaks, kNumBumps - 1, "%.0f")
                         : Cell::count(peaks);
        const int n = bar.shell().level_start[static_cast<std::size_t>(level) + 1];
        table.add({Cell::count(level + 1), Cell::count(n),
                   Cell::number(1e3 * spacing_statistics(bar.shell(), level).mean, "%.2f"), cell,
                   Cell::number(top, "%.2f")});
        if (level == kBarLevels - 1 || level <= 1) plot.series.push_back(std::move(series));
    }
    std::reverse(table.rows.begin(), table.rows.end());
    page.figure({drawn(plot)}, "The finest level and the two coarsest, along the slide.");
    page.table(table);
}

}  // namespace pliant::reproduce
