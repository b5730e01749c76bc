#include <algorithm>
#include <cmath>
#include <cstdint>

#include "apps/pliant/output.h"
#include "contact_experiments.h"
#include "contact_samples.h"
#include "pliant/geometry/polygonize.h"
#include "plot.h"

namespace pliant::reproduce {
namespace {

using cli::format;
using Eigen::Vector3d;

/// The baseline of voxmap haptics: two bits for each cell, four cells to a byte. A shell point in
/// a surface cell is pushed along its normal n by its depth below the plane through the middle of
/// the cell; points in other cells feel nothing.
class Voxmap {
public:
    enum Kind : std::uint8_t { Free, Interior, Surface, Proximity };

    Voxmap(const Solid& solid, double cell)
        : cell_(cell), low_(solid.field->bounds().min()), size_(0, 0, 0) {
        const Vector3d sides = solid.field->bounds().sizes();
        for (int axis = 0; axis < 3; ++axis)
            size_[axis] = static_cast<int>(std::ceil(sides[axis] / cell));
        bits_.assign((static_cast<std::size_t>(size_.prod()) + 3) / 4, 0);
        // a surface cell is crossed by the surface: its middle is nearer than half a cell
        for (int k = 0; k < size_.z(); ++k)
            for (int j = 0; j < size_.y(); ++j)
                for (int i = 0; i < size_.x(); ++i) {
                    const double d = solid.field->distance(middle({i, j, k}));
                    set({i, j, k}, std::abs(d) <= 0.5 * cell ? Surface
                                   : d < 0                   ? Interior
                                   : d < 1.5 * cell          ? Proximity
                                                             : Free);
                }
    }

    /// Size of the force for stiffness 1; negative: none.
    [[nodiscard]] double depth(const Vector3d& x, const Vector3d& inwards) const {
        const Eigen::Vector3i c = ((x - low_) / cell_).array().floor().cast<int>();
        if ((c.array() < 0).any() || (c.array() >= size_.array()).any()) return -1;
        if (at(c) != Surface) return -1;
        return inwards.dot(middle(c) - x);
    }
    [[nodiscard]] std::size_t memory() const { return bits_.size(); }

private:
    [[nodiscard]] Vector3d middle(const Eigen::Vector3i& c) const {
        return low_ + cell_ * (c.cast<double>().array() + 0.5).matrix();
    }
    [[nodiscard]] std::size_t place(const Eigen::Vector3i& c) const {
        return (static_cast<std::size_t>(c.z()) * static_cast<std::size_t>(size_.y()) +
                static_cast<std::size_t>(c.y())) *
                   static_cast<std::size_t>(size_.x()) +
               static_cast<std::size_t>(c.x());
    }
    [[nodiscard]] Kind at(const Eigen::Vector3i& c) const {
        const std::size_t i = place(c);
        return static_cast<Kind>((bits_[i / 4] >> (2 * (i % 4))) & 3);
    }
    void set(const Eigen::Vector3i& c, Kind kind) {
        const std::size_t i = place(c);
        bits_[i / 4] = static_cast<std::uint8_t>(bits_[i / 4] | (kind << (2 * (i % 4))));
    }

    double cell_;
    Vector3d low_;
    Eigen::Vector3i size_;
    std::vector<std::uint8_t> bits_;
};

/// Sum of both with the published weights L/ℓ, stiffness 500 N/m, all points one by one.
Vector3d voxmap_force(const Voxmap& voxmap, const Pointshell& shell, const Pose& pose) {
    Vector3d sum = Vector3d::Zero();
    int contacts = 0;
    for (int i = 0; i < shell.num_points(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const Vector3d n = pose.rotation * shell.normals[k].cast<double>();
        const double depth = voxmap.depth(pose.to_world(shell.points[k].cast<double>()), n);
        if (depth <= 0) continue;
        sum += 500 * depth * n;
        ++contacts;
    }
    return contacts > 10 ? Vector3d(10.0 / contacts * sum) : sum;
}

struct Signal {
    std::vector<double> force;
    double mean = 0, deviation = 0, worst = 0;
};

template <class Force>
Signal record(int num_ticks, const Force& force) {
    Signal signal;
    double square = 0;
    for (int k = 0; k < num_ticks; ++k) {
        const double f = force(k);
        if (k > 0) signal.worst = std::max(signal.worst, std::abs(f - signal.force.back()));
        signal.force.push_back(f);
        signal.mean += f / num_ticks;
        square += f * f / num_ticks;
    }
    signal.deviation = std::sqrt(std::max(0.0, square - signal.mean * signal.mean));
    return signal;
}

}  // namespace

void run_voxmap(Context& context) {
    Section& page = context.section;
    const double base_radius = 0.06;
    const Solid base = make_solid(polygonize(implicit::sphere(Vector3d::Zero(), base_radius),
                                             {.resolution = context.sized(80, 40)}),
                                  64);
    const double radius = 0.02;
    const Solid ball =
        make_solid(polygonize(implicit::sphere(Vector3d::Zero(), radius), {.resolution = 32}), 64);
    const Pointshell shell = make_shell(ball, context.sized(4000, 2000), 3);
    const PointTree tree(shell);
    const Voxmap voxmap(base, base.cell());
    const int num_ticks = context.sized(1500, 300);
    page.text(format(
        "A ball slides over a larger one at 45 mm/s and a constant depth, 1 kHz, cells of %.2f mm "
        "for both: trilinear distances, and a voxmap of two bits per cell (free, interior, "
        "surface, proximity), whose points are pushed only inside surface cells, by their depth "
        "below the middle of the cell. The exact force is constant at one depth, and larger "
        "at a larger one; that of the voxmap is not, since points deeper than the surface cells "
        "push no more. Published: voxmaps as the alternative to fields, without numbers.",
        1e3 * base.cell()));
    const auto pose_at = [&](int k, double depth) {
        const double t = 1e-3 * k;
        const Vector3d up =
            Vector3d(std::sin(0.6 * t), 0.3 * std::sin(2 * t), std::cos(0.6 * t)).normalized();
        return Pose{(base_radius + radius - depth) * up, Quaternion::Identity()};
    };
    const auto across = [](const Pose& pose, const Vector3d& force) {
        return force.dot(pose.position.normalized());
    };
    Table table{"voxmap",
                "Force between the balls while one slides",
                {{"depth", "depth, cells"},
                 {"method", "method"},
                 {"mean_n", "mean, N"},
                 {"deviation", "deviation, %"},
                 {"worst", "largest jump in a tick, %"},
                 {"memory_kb", "memory, kB"},
                 {"ratio", "deviation, voxmap / field"}}};
    std::vector<std::string> plots;
    for (const double cells : {0.4, 0.8, 1.6}) {
        const double depth = cells * base.cell();
        Probe probe(tree, base.field, {},
                    {.stiffness = 500, .scaling = ContactScaling::SingleCount});
        const Signal field = record(num_ticks, [&](int k) {
            const Pose pose = pose_at(k, depth);
            return across(pose, probe.at(pose).on_shell.force);
        });
        const Signal map = record(num_ticks, [&](int k) {
            const Pose pose = pose_at(k, depth);
            return across(pose, voxmap_force(voxmap, shell, pose));
        });
        const auto add = [&](const char* name, const Signal& signal, std::size_t memory,
                             const Cell& deviation, const Cell& ratio) {
            table.add({Cell::number(cells, "%.1f"), name, Cell::number(signal.mean, "%.2f"),
                       deviation, Cell::number(100 * signal.worst / signal.mean, "%.1f"),
                       Cell::number(1e-3 * static_cast<double>(memory), "%.0f"), ratio});
        };
        const double noise = field.deviation / field.mean, map_noise = map.deviation / map.mean;
        add("field", field, base.field->memory(), Cell::number(100 * noise, "%.2f"), "");
        add("voxmap", map, voxmap.memory(), Cell::number(100 * map_noise, "%.2f"),
            page.at_least(format("noise of the voxmap over that of the field at %.1f cells", cells),
                          map_noise / noise, 2, "%.1f"));
        Plot plot{.title = format("Depth %.1f cells", cells),
                  .x_label = "time, s",
                  .y_label = "force, N",
                  .series = {{"voxmap", {}, 1}, {"field", {}, 0}},
                  .width = 330,
                  .height = 260};
        for (std::size_t k = 0; k < field.force.size(); k += 3) {
            plot.series[0].points.emplace_back(1e-3 * static_cast<double>(k), map.force[k]);
            plot.series[1].points.emplace_back(1e-3 * static_cast<double>(k), field.force[k]);
        }
        plots.push_back(drawn(plot));
    }
    page.figure(plots, "The force at three depths; the exact one is constant.");
    page.table(table);
}

}  // namespace pliant::reproduce
