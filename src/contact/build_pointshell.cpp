#include "pliant/contact/build_pointshell.h"

#include "contact/repulsion.h"
#include "contact/shell_normals.h"
#include "contact/surface_samples.h"
#include "pliant/core/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace pliant {
namespace {

constexpr int kCandidatesPerPoint = 5;
// From the mesh to the surface of the field, in cells: more means that they do not belong together.
constexpr double kLargestGap = 4;

// Defaults of eq. (2).
constexpr double kRadius = 1.6, kStep = 0.15;  // in spacings
constexpr int kMaxIterations = 100;

void check_options(const PointshellOptions& o) {
    const auto fail = [](const std::string& field, const std::string& value,
                         const std::string& expected) {
        throw InputError("", "pointshell." + field, value, expected);
    };
    if (o.num_levels < 1 || o.num_levels > 8)
        fail("num_levels", std::to_string(o.num_levels), "1 … 8");
    // one point in the first level, four times as many in each of the others
    const int fewest = ((1 << (2 * o.num_levels)) - 1) / 3;
    if (o.num_points < fewest)
        fail("num_points", std::to_string(o.num_points),
             "at least " + std::to_string(fewest) + " for " + std::to_string(o.num_levels) +
                 (o.num_levels == 1 ? " level" : " levels"));
    if (o.num_points > 20000000)
        fail("num_points", std::to_string(o.num_points), "at most 20000000");
    if (!(o.radius == 0 || (o.radius >= 1 && o.radius <= 4)))
        fail("radius", std::to_string(o.radius), "1 … 4 spacings, or 0: chosen");
    if (!(o.step == 0 || (o.step > 0 && o.step <= 1)))
        fail("step", std::to_string(o.step), "up to 1 spacing, or 0: chosen");
    if (o.max_iterations < 0 || o.max_iterations > 100000)
        fail("max_iterations", std::to_string(o.max_iterations), "1 … 100000, or 0: chosen");
    if (!(o.tolerance > 0 && o.tolerance <= 1))
        fail("tolerance", std::to_string(o.tolerance), "above 0 and at most 1 spacing");
}

void check_surface(const DistanceGrid& field, const SurfaceMesh& surface) {
    if (surface.triangles.empty() || !(surface_area(surface) > 0))
        throw InputError("", "the surface for the pointshell has no triangles with area");
    const GridArrays& arrays = field.arrays();
    bool has_inside = false, has_outside = false;
    for (const std::span<const float> values : {arrays.coarse, arrays.bricks})
        for (const float value : values) {
            has_inside = has_inside || value < 0;
            has_outside = has_outside || value > 0;
        }
    if (!has_inside || !has_outside)
        throw InputError("", std::string("the field has no surface inside its box: all of its "
                                         "distances are ") +
                                 (has_inside ? "negative" : "positive") +
                                 "; build a signed or an offset field whose box contains the body");
}

// Points up to each level, docs/contact.md eq. (2): exact in sum, fourfold but for rounding.
int count_up_to(const PointshellOptions& o, int level) {
    const double all = std::pow(4.0, o.num_levels) - 1, part = std::pow(4.0, level + 1) - 1;
    return static_cast<int>(std::lround(o.num_points * (part / all)));
}

// `count` times kCandidatesPerPoint points of the mesh, brought to the zero surface.
PointArrays candidates_for(int count, const DistanceGrid& field, const SurfaceMesh& surface,
                           float eps, std::mt19937_64& random) {
    const PointArrays start = stratified_samples(surface, kCandidatesPerPoint * count, random);
    PointArrays samples = start;
    std::vector<char> is_there;
    project_to_surface(field, eps, samples, is_there);
    int kept = 0;
    for (int i = 0; i < samples.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const float gap = std::hypot(samples.x[k] - start.x[k], samples.y[k] - start.y[k],
                                     samples.z[k] - start.z[k]);
        if (is_there[k] != 0 && double{gap} < kLargestGap * field.resolution())
            samples.set(kept++, samples, i);
    }
    if (2 * kept < samples.size())
        throw InputError("", "only " + std::to_string(kept) + " of " +
                                 std::to_string(samples.size()) +
                                 " points of the mesh find the surface of the field nearby; give "
                                 "the mesh that the field was built from, or its iso-surface");
    samples.resize(kept);
    return samples;
}

}  // namespace

Pointshell build_pointshell(const DistanceGrid& field, const SurfaceMesh& surface,
                            const PointshellOptions& options, Progress& progress,
                            PointshellReport* report) {
    const auto start_time = std::chrono::steady_clock::now();
    check_options(options);
    check_surface(field, surface);

    const double area = surface_area(surface);
    // far below a cell, and above the rounding of single-precision coordinates
    const Box& box = field.bounds();
    const double farthest =
        std::max(box.min().cwiseAbs().maxCoeff(), box.max().cwiseAbs().maxCoeff());
    const auto eps = static_cast<float>(1e-5 * box.sizes().maxCoeff() + 4e-7 * farthest);
    std::mt19937_64 random(options.seed);
    PointArrays points;
    PointshellReport result;
    Pointshell shell;
    shell.level_start = {0};
    for (int level = 0; level < options.num_levels; ++level) {
        const int frozen = points.size(), count = count_up_to(options, level);
        Repulsion repulsion;
        repulsion.spacing = std::sqrt(2 * area / (std::sqrt(3.0) * count));
        repulsion.radius = (options.radius > 0 ? options.radius : kRadius) * repulsion.spacing;
        repulsion.step = (options.step > 0 ? options.step : kStep) * repulsion.spacing;
        repulsion.tolerance = options.tolerance * repulsion.spacing;
        repulsion.max_iterations =
            options.max_iterations > 0 ? options.max_iterations : kMaxIterations;
        repulsion.eps = eps;
        progress.stage("pointshell, level " + std::to_string(level + 1) + " of " +
                           std::to_string(options.num_levels),
                       static_cast<std::size_t>(repulsion.max_iterations));

        fill_gaps(points, candidates_for(count - frozen, field, surface, eps, random),
                  count - frozen, repulsion.spacing, random);
        const RepulsionResult spread = repel(points, frozen, field, repulsion, progress);
        shell.level_start.push_back(count);
        result.levels.push_back({.num_points = count - frozen,
                                 .iterations = spread.iterations,
                                 .has_converged = spread.has_converged});
    }

    shell.points.resize(points.x.size());
    for (std::size_t i = 0; i < shell.points.size(); ++i)
        shell.points[i] = {points.x[i], points.y[i], points.z[i]};
    shell.normals = inward_normals(shell.points, field, surface);
    for (int level = 0; level < options.num_levels; ++level) {
        const SpacingStatistics spacing = spacing_statistics(shell, level);
        result.levels[static_cast<std::size_t>(level)].spacing = spacing.mean;
        result.levels[static_cast<std::size_t>(level)].variation = spacing.variation;
    }
    shell.spacing = result.levels.back().spacing;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
    if (report != nullptr) *report = std::move(result);
    return shell;
}

std::string PointshellReport::text() const {
    std::string text;
    char line[160];
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const Level& level = levels[i];
        std::snprintf(line, sizeof line,
                      "level %zu: %d points, %d iterations%s, spacing %.4g m, variation %.3f\n",
                      i + 1, level.num_points, level.iterations,
                      level.has_converged ? "" : " (not converged)", level.spacing,
                      level.variation);
        text += line;
    }
    std::snprintf(line, sizeof line, "%.1f s\n", seconds);
    return text + line;
}

}  // namespace pliant
