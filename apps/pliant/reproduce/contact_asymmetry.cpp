#include <algorithm>
#include <array>
#include <cmath>

#include "apps/pliant/output.h"
#include "apps/pliant/stopwatch.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// One body above another of the same shape: down, across and up again, turning.
Pose scripted(double t, double touch, double deepest) {
    const double press = std::pow(std::sin(std::numbers::pi * t), 2);
    return {Vector3d(0.03 * std::sin(3 * t), 0.02 * t, 0.6 - touch - deepest * press),
            rotation_from_vector(Vector3d(0.15 * t, 0.1 * std::sin(2 * t), 0.4 * t))};
}

}  // namespace

void run_asymmetry(Context& context) {
    Section& page = context.section;
    const int num_points = context.sized(256000, 16000), levels = context.sized(5, 3);
    const SurfaceMesh shape = centred_shape("serpent", 0.5, context.sized(0, 30));
    Table builds{"builds",
                 "Time of both, on all cores",
                 {{"what", "what"}, {"size", "size"}, {"seconds", "s"}}};
    const auto timed = [&](const char* what, int size, auto&& build) {
        const cli::Clock::time_point start = cli::Clock::now();
        auto result = build();
        builds.add({what, Cell::count(size), Cell::number(cli::seconds_since(start), "%.1f")});
        return result;
    };
    const int cells = context.sized(256, 128);
    const Solid serpent = timed("field", cells, [&] { return make_solid(shape, cells); });
    const PointTree tree(timed("points", num_points, [&] {
        return make_shell(serpent, num_points, levels, context.sized(20, 4));
    }));
    context.done(0.6);
    const int samples = context.sized(1800, 120);
    page.text(format(
        "Two rigid serpents of %s points and a field of %d³ each, in %d poses of a script: points "
        "of the first against the field of the second, and the roles exchanged. The model is not "
        "symmetric: sizes come from one body and directions from the other. Published for two "
        "dragons of 256,000 points and 256³ over 1,800 samples: a small difference below one cell "
        "of penetration.",
        cli::grouped(tree.num_points()).c_str(), serpent.field->frame().cells[0], samples));

    // each with its share of area, so that both sums have the same limit
    const ContactLoadOptions loads{.stiffness = 1, .scaling = ContactScaling::None};
    Probe forth(tree, serpent.field, {}, loads), back(tree, serpent.field, {}, loads);
    const double scale =
        1e6 * surface_area(serpent.mesh) / static_cast<double>(tree.num_points());  // 1 N/mm³
    const double touch =
        depth_of_contacts(tree, serpent.field, scripted(0, 0, 0), -Vector3d::UnitZ(), 0.6, 1);
    const double cell = serpent.cell(), deepest = 5 * cell;

    Plot curves{.title = "Force on the upper body",
                .x_label = "sample",
                .y_label = "force, N",
                .series = {{"its points", {}, 0}, {"the other's points", {}, 1, Stroke::Dashed}}};
    Plot differences{.title = "Difference and depth",
                     .x_label = "deepest point, cells",
                     .y_label = "difference of forces / their mean",
                     .series = {{"", {}, 0, Stroke::Dots}},
                     .guides = {{1, "one cell", true}},
                     .log_y = true};
    constexpr std::array<double, 5> kLimits = {0.5, 1, 2, 4, 1e9};
    std::array<std::vector<double>, 5> by_depth, angles;
    for (int k = 0; k < samples; ++k) {
        const Pose pose = scripted(static_cast<double>(k) / (samples - 1), touch, deepest);
        const ContactLoads& a = forth.at(pose);
        const ContactLoads& b = back.at(pose.inverse());
        if (a.num_contacts == 0 || b.num_contacts == 0) continue;
        // the second in the axes of the first field
        const Vector3d on_upper = scale * a.on_shell.force,
                       reaction = scale * (pose.rotation * -b.on_shell.force);
        const double depth = std::max(a.deepest, b.deepest) / cell;
        const double mean = 0.5 * (on_upper.norm() + reaction.norm());
        const double difference = (on_upper - reaction).norm() / mean;
        const auto bin = static_cast<std::size_t>(
            std::lower_bound(kLimits.begin(), kLimits.end(), depth) - kLimits.begin());
        by_depth[bin].push_back(difference);
        const double cosine = on_upper.dot(reaction) / (on_upper.norm() * reaction.norm());
        angles[bin].push_back(std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi);
        curves.series[0].points.emplace_back(k, on_upper.norm());
        curves.series[1].points.emplace_back(k, reaction.norm());
        differences.series[0].points.emplace_back(depth, difference);
    }
    Table table{"asymmetry",
                "Roles exchanged: difference of the two forces over their mean",
                {{"depth", "deepest point, cells"},
                 {"samples", "samples"},
                 {"median", "median"},
                 {"p90", "90 % below"},
                 {"angle", "median angle between them, °"}}};
    const char* const kNames[] = {"up to ½", "½ to 1", "1 to 2", "2 to 4", "over 4"};
    for (std::size_t bin = 0; bin < kLimits.size(); ++bin) {
        std::vector<double>& values = by_depth[bin];
        if (values.empty()) continue;
        std::sort(values.begin(), values.end());
        std::sort(angles[bin].begin(), angles[bin].end());
        const double median = values[values.size() / 2];
        table.add({kNames[bin], Cell::count(static_cast<int>(values.size())),
                   bin == 1 && !context.is_quick
                       ? page.at_most("median difference at half to one cell", median, 0.1, "%.3f")
                       : Cell::number(median, "%.3f"),
                   Cell::number(values[values.size() * 9 / 10], "%.3f"),
                   Cell::number(angles[bin][values.size() / 2], "%.1f")});
    }
    page.figure({drawn(curves), drawn(differences)},
                "Relative to their mean the largest single differences are a few samples at the "
                "first touch, where both forces are small and of few points; deeper than two cells "
                "they grow again, not evenly.");
    page.table(table);
    page.table(builds);
}

}  // namespace pliant::reproduce
