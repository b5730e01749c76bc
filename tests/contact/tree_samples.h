#pragma once

#include "pliant/contact/point_tree.h"
#include "reduction/model_samples.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

/// Shells and trees that need no field.
namespace pliant::test {

/// Level sizes grow by four up to all points.
inline std::vector<int> level_starts(int num_points, int num_levels) {
    std::vector<int> start(static_cast<std::size_t>(num_levels) + 1, num_points);
    for (int level = num_levels - 1; level > 0; --level)
        start[static_cast<std::size_t>(level)] = start[static_cast<std::size_t>(level) + 1] / 4;
    start[0] = 0;
    return start;
}

/// Even points in a random order, so that each level covers the sphere.
inline Pointshell sphere_shell(int num_points, int num_levels,
                               const Eigen::Vector3d& centre = Eigen::Vector3d::Zero(),
                               double radius = 1, unsigned seed = 1) {
    Pointshell shell;
    std::vector<int> order(static_cast<std::size_t>(num_points));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937(seed));
    for (const int i : order) {
        const double z = 1 - (2.0 * i + 1) / num_points,
                     angle = i * std::numbers::pi * (3 - std::sqrt(5.0));
        const double s = std::sqrt(1 - z * z);
        const Eigen::Vector3d n(s * std::cos(angle), s * std::sin(angle), z);
        shell.points.emplace_back((centre + radius * n).cast<float>());
        shell.normals.emplace_back((-n).cast<float>());
    }
    shell.level_start = level_starts(num_points, num_levels);
    return shell;
}

/// Random points on the faces of a box, by area.
inline Pointshell box_shell(const Box& box, int num_points, int num_levels, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    const Eigen::Vector3d size = box.sizes();
    const Eigen::Vector3d areas(size.y() * size.z(), size.z() * size.x(), size.x() * size.y());
    Pointshell shell;
    for (int i = 0; i < num_points; ++i) {
        const double pick = uniform(random) * areas.sum();
        const int axis = pick < areas[0] ? 0 : pick < areas[0] + areas[1] ? 1 : 2;
        const bool is_high = uniform(random) < 0.5;
        Eigen::Vector3d t(uniform(random), uniform(random), uniform(random));
        t[axis] = is_high;
        shell.points.emplace_back((box.min() + t.cwiseProduct(size)).cast<float>());
        shell.normals.emplace_back(Eigen::Vector3f::Unit(axis) * (is_high ? -1.0F : 1.0F));
    }
    shell.level_start = level_starts(num_points, num_levels);
    return shell;
}

inline std::vector<Eigen::Vector3d> shell_points(const Pointshell& shell) {
    std::vector<Eigen::Vector3d> points;
    for (const Eigen::Vector3f& p : shell.points) points.emplace_back(p.cast<double>());
    return points;
}

inline Pointshell bar_shell(int num_points, int num_levels) {
    return box_shell(Box(Eigen::Vector3d::Zero(), Eigen::Vector3d(0.8, 0.2, 0.2)), num_points,
                     num_levels);
}

/// A shell that a model carries.
inline PointTree carried_tree(const Pointshell& shell, const ReducedModel& model) {
    return {shell, material_points(model, shell_points(shell), true)};
}

/// Points of the last level below a node, by walking down.
inline void collect_leaves(const PointTree& tree, int node, std::vector<int>& leaves) {
    const PointTree::Node& n = tree.nodes()[static_cast<std::size_t>(node)];
    if (n.num_children == 0) leaves.push_back(node);
    for (int c = 0; c < n.num_children; ++c) collect_leaves(tree, n.first_child + c, leaves);
}
inline std::vector<int> leaves_below(const PointTree& tree, int node) {
    std::vector<int> leaves;
    collect_leaves(tree, node, leaves);
    return leaves;
}

/// Lowest index among the nearest of the first `count` points.
inline int nearest_by_asking_all(const std::vector<Eigen::Vector3f>& points, int count,
                                 const Eigen::Vector3f& x) {
    const auto square = [&](int i) {
        return (points[i].cast<double>() - x.cast<double>()).squaredNorm();
    };
    int best = 0;
    for (int i = 1; i < count; ++i)
        if (square(i) < square(best)) best = i;
    return best;
}

}  // namespace pliant::test
