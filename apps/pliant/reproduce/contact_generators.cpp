#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "pliant/field/analytic_field.h"
#include "pliant/geometry/polygonize.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

struct Noise {
    std::vector<double> force;  ///< across the plane, over its mean
    double deviation = 0;       ///< standard deviation over the mean
    double worst = 0;           ///< largest change between ticks over the mean
    double sideways = 0;        ///< rms of the force along the plane over the mean
};

/// A ball rolls at a constant depth: the exact force is constant and has no part along the plane.
Noise rolling_noise(const Pointshell& shell, double radius, double depth, int num_ticks) {
    Probe probe(PointTree(shell), plane_set_field({FieldPlane{}}), {}, {.stiffness = 500});
    Noise noise;
    double mean = 0, square = 0, side = 0;
    for (int k = 0; k < num_ticks; ++k) {
        const double t = 1e-3 * k;
        const Pose pose{Vector3d(0, 0, radius - depth),
                        rotation_from_vector(Vector3d(0, 1.2 * t, 0)) *
                            rotation_from_vector(Vector3d(0.3, 0.2, 0.7 * t))};
        const Vector3d force = probe.at(pose).on_shell.force;
        noise.force.push_back(force.z());
        mean += force.z() / num_ticks;
        square += force.z() * force.z() / num_ticks;
        side += force.head<2>().squaredNorm() / num_ticks;
    }
    noise.deviation = std::sqrt(std::max(0.0, square - mean * mean)) / mean;
    noise.sideways = std::sqrt(side) / mean;
    for (std::size_t k = 0; k < noise.force.size(); ++k) {
        noise.force[k] /= mean;
        if (k > 0)
            noise.worst = std::max(noise.worst, std::abs(noise.force[k] - noise.force[k - 1]));
    }
    return noise;
}

}  // namespace

void run_generators(Context& context) {
    Section& page = context.section;
    const double radius = 0.05;
    const int num_points = context.sized(16000, 4000);
    // a mesh and a grid with about as many vertices and cells on the surface
    const Solid ball = make_solid(polygonize(implicit::sphere(Vector3d::Zero(), radius),
                                             {.resolution = context.sized(28, 15)}),
                                  context.sized(64, 32), 1.1);
    page.text(format(
        "A ball of %.0f mm radius rolls over a plane, 1.5 mm deep, at 1 kHz; the exact force is "
        "constant and has no part along the plane. Shells of about as many points by repulsion and "
        "by the other generators, ordered by farthest points. Published: a list of the "
        "alternatives, without numbers.",
        1e3 * radius));
    Table table{"generators",
                "Evenness of the points and noise of the force",
                {{"generator", "generator"},
                 {"points", "points"},
                 {"variation", "variation of spacing"},
                 {"smallest", "smallest / mean"},
                 {"deviation", "deviation of the force, %"},
                 {"worst", "largest jump in a tick, %"},
                 {"sideways", "force along the plane, %"}}};
    Plot plot{.title = "Force while rolling",
              .x_label = "time, s",
              .y_label = "over its mean",
              .width = 620};
    double repulsion = 0, others = 1e300;
    const auto add = [&](const std::string& name, const Pointshell& shell, bool is_repulsion) {
        const SpacingStatistics spacing = spacing_statistics(shell, shell.num_levels() - 1);
        const Noise noise = rolling_noise(shell, radius, 1.5e-3, context.sized(4000, 600));
        (is_repulsion ? repulsion : others) =
            is_repulsion ? noise.deviation : std::min(others, noise.deviation);
        table.add({name, Cell::count(shell.num_points()),
                   is_repulsion ? page.at_most("variation of spacing by repulsion",
                                               spacing.variation, 0.15, "%.3f")
                                : Cell::number(spacing.variation, "%.3f"),
                   Cell::number(spacing.smallest / spacing.mean, "%.2f"),
                   Cell::number(100 * noise.deviation, "%.2f"),
                   Cell::number(100 * noise.worst, "%.2f"),
                   Cell::number(100 * noise.sideways, "%.2f")});
        Series series{name, {}, static_cast<int>(plot.series.size())};
        const std::size_t stride = std::max<std::size_t>(1, noise.force.size() / 400);
        for (std::size_t k = 0; k < noise.force.size(); k += stride)
            series.points.emplace_back(1e-3 * static_cast<double>(k), noise.force[k]);
        plot.series.push_back(std::move(series));
    };
    add("repulsion", make_shell(ball, num_points, 4), true);
    const std::pair<const char*, ShellGenerator> others_list[] = {
        {"layered depth", ShellGenerator::LayeredDepth},
        {"mesh vertices", ShellGenerator::MeshVertices},
        {"area random", ShellGenerator::AreaRandom},
        {"voxel centres", ShellGenerator::VoxelCentres}};
    for (const auto& [name, generator] : others_list)
        add(name, build_pointshell_by(generator, *ball.field, ball.mesh, num_points), false);
    page.figure({drawn(plot)},
                "The exact force is constant: what moves here is noise of the points. Centres of "
                "voxels are as even as their grid, but not on the surface.");
    page.table(table);
    Table summary{
        "best",
        "Deviation of the force by repulsion, and the best of the others",
        {{"others", "best of the others, %"}, {"ratio", "repulsion / best of the others"}}};
    summary.add({Cell::number(100 * others, "%.2f"),
                 page.at_most("noise of repulsion over the best of the others", repulsion / others,
                              1, "%.2f")});
    page.table(summary);
}

}  // namespace pliant::reproduce
