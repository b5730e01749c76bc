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

/// The voxmap of [McNeely1999] as [Barbic2007] §3.1 describes it: two bits for each cell. Surface:
/// the surface runs through the cell; proximity: a neighbour of such a cell (by face, edge or
/// corner) outside the body. A shell point in a surface cell is pushed along its normal n by its
/// depth below the plane across n through the middle of the cell; points in other cells feel
/// nothing.
class Voxmap {
public:
    enum Kind : std::uint8_t { Free, Interior, Surface, Proximity };

    Voxmap(const Solid& solid, double cell)
        : cell_(cell), low_(solid.field->bounds().min()), size_(0, 0, 0) {
        const Vector3d sides = solid.field->bounds().sizes();
        for (int axis = 0; axis < 3; ++axis)
            size_[axis] = static_cast<int>(std::ceil(sides[axis] / cell));
        kinds_.assign(static_cast<std::size_t>(size_.prod()), Free);
        for_all([&](const Eigen::Vector3i& c) {
            bool has_inside = false, has_outside = false;
            for (int corner = 0; corner < 8; ++corner) {
                const Vector3d offset(corner & 1, corner >> 1 & 1, corner >> 2);
                const bool is_inside =
                    solid.field->distance(low_ + cell_ * (c.cast<double>() + offset)) < 0;
                (is_inside ? has_inside : has_outside) = true;
            }
            at(c) = has_inside && has_outside ? Surface : has_inside ? Interior : Free;
        });
        for_all([&](const Eigen::Vector3i& c) {
            if (at(c) == Free && has_surface_around(c)) at(c) = Proximity;
        });
    }

    /// Size of the force for stiffness 1; negative: none.
    [[nodiscard]] double depth(const Vector3d& x, const Vector3d& inwards) const {
        const Eigen::Vector3i c = ((x - low_) / cell_).array().floor().cast<int>();
        if (!is_cell(c) || at(c) != Surface) return -1;
        return inwards.dot(middle(c) - x);
    }
    /// Of an octree over the cells, its leaves of one kind: two bits for each cell of its lowest
    /// level, and four bytes for each node above [bytes].
    [[nodiscard]] std::size_t octree_memory() const {
        int side = 1;
        while (side < size_.maxCoeff()) side *= 2;
        std::size_t nodes = 0, blocks = 0;
        (void)octree_part({0, 0, 0}, side, nodes, blocks);
        return 4 * nodes + 2 * blocks;  // a block of 2³ cells is two bytes
    }

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
    [[nodiscard]] Kind at(const Eigen::Vector3i& c) const { return kinds_[place(c)]; }
    [[nodiscard]] Kind& at(const Eigen::Vector3i& c) { return kinds_[place(c)]; }
    [[nodiscard]] bool is_cell(const Eigen::Vector3i& c) const {
        return (c.array() >= 0).all() && (c.array() < size_.array()).all();
    }
    template <class Visit>
    void for_all(const Visit& visit) const {
        for (int k = 0; k < size_.z(); ++k)
            for (int j = 0; j < size_.y(); ++j)
                for (int i = 0; i < size_.x(); ++i) visit(Eigen::Vector3i(i, j, k));
    }
    [[nodiscard]] bool has_surface_around(const Eigen::Vector3i& c) const {
        for (int k = 0; k < 27; ++k) {
            const Eigen::Vector3i other = c + Eigen::Vector3i(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
            if (is_cell(other) && at(other) == Surface) return true;
        }
        return false;
    }
    /// The kind of all cells of a cube, or none (−1); counts the nodes that it needs.
    int octree_part(const Eigen::Vector3i& corner, int side, std::size_t& nodes,
                    std::size_t& blocks) const {
        if (side == 1) return is_cell(corner) ? at(corner) : Free;
        std::size_t parts = 0, part_blocks = 0;
        int kind = -2;
        for (int k = 0; k < 8; ++k) {
            const Eigen::Vector3i part =
                corner + side / 2 * Eigen::Vector3i(k & 1, k >> 1 & 1, k >> 2);
            const int one = octree_part(part, side / 2, parts, part_blocks);
            kind = kind == -2 || kind == one ? one : -1;
        }
        if (kind >= 0) return kind;  // pruned
        nodes += parts + (side > 2 ? 8 : 0);
        blocks += part_blocks + (side == 2 ? 1 : 0);
        return -1;
    }

    double cell_;
    Vector3d low_;
    Eigen::Vector3i size_;
    std::vector<Kind> kinds_;
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
        "for both: trilinear distances, and the published voxmap of two bits per cell in an "
        "octree: surface cells are all that the surface runs through, proximity cells their "
        "neighbours outside. Points are pushed inside surface cells only, by their depth below "
        "the middle of the cell. The exact force is constant at one depth, and larger "
        "at a larger one; that of the voxmap is not, since points deeper than the surface cells "
        "push no more. The published braking pulses act on the motion of a held tool that comes "
        "fast through proximity cells; this ball is on a script and does not come nearer, and "
        "they are left out. Published: voxmaps as the alternative to fields, without numbers.",
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
                "Force between the balls while one slides; judged up to half a cell, which is as "
                "deep as a voxmap lets points come",
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
        add("voxmap", map, voxmap.octree_memory(), Cell::number(100 * map_noise, "%.2f"),
            // deeper than half a cell points pass the surface cells: no voxmap is used so
            cells < 0.5
                ? page.at_least(
                      format("noise of the voxmap over that of the field at %.1f cells", cells),
                      map_noise / noise, 2, "%.1f")
                : Cell::number(map_noise / noise, "%.1f"));
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
