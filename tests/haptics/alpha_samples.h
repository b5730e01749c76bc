#pragma once

#include "geometry/shape_parts.h"
#include "haptics/tool_in_hand.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/field/build_field.h"
#include "pliant/geometry/shapes.h"
#include "pliant/scene/scene_file.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

/// The demo of two linked tubes in a simulated hand, for tests and experiments.
namespace pliant::test {

class AlphaPuzzle {
public:
    /// `field` of the first tube, `second` the points of the other, as built.
    AlphaPuzzle(std::shared_ptr<const DistanceField> field, PointTree second)
        : field_(std::move(field)), tree_(std::move(second)), path_(demo_path()) {
        for (const Eigen::Vector3f& x : tree_.shell().points)
            grasp_ += x.cast<double>() / tree_.num_points();
        // the way back is the way out; at its turning point the tube is farthest
        double farthest = 0;
        for (int k = 0; k < 20000; ++k) {
            const double distance = path_.at(kHapticStep * k).pose.position.norm();
            if (distance <= farthest) continue;
            farthest = distance;
            out_time_ = kHapticStep * k;
        }
        // 36 cm are 14 cm of the handle's 16 cm
        held_.tool.grasp = grasp_;
        held_.tool.workspace.scale = 0.4;
        held_.home = Eigen::Vector3d(-0.072, 0, 0);
        // the gap leaves 1 mm at each side: depths of half a cell, 1.2 mm, would make it twice as
        // wide, and pulling would do
        held_.cell = 0.5e-3;
    }

    [[nodiscard]] const PointTree& tree() const { return tree_; }
    [[nodiscard]] const std::shared_ptr<const DistanceField>& field() const { return field_; }
    [[nodiscard]] const ScriptedMotion& path() const { return path_; }
    [[nodiscard]] double out_time() const { return out_time_; }  ///< when it is out [s]
    /// The middle of the second tube, in its axes.
    [[nodiscard]] const Eigen::Vector3d& grasp() const { return grasp_; }
    [[nodiscard]] const ToolInHandOptions& options() const { return held_; }
    [[nodiscard]] ToolInHand hold(const ToolInHandOptions& options) const {
        return ToolInHand(tree_, field_, options);
    }

    /// Gauss' linking number of the loops, each closed across its gap, for a pose of the second: 1
    /// linked, 0 not.
    [[nodiscard]] double linking(const Pose& pose) const {
        std::vector<Eigen::Vector3d> moved;
        for (const Eigen::Vector3d& x : second_loop_) moved.push_back(pose.to_world(x));
        double sum = 0;
        const std::size_t n = first_loop_.size(), m = moved.size();
        for (std::size_t i = 0; i < n; ++i) {
            const Eigen::Vector3d a = first_loop_[i], da = first_loop_[(i + 1) % n] - a;
            for (std::size_t j = 0; j < m; ++j) {
                const Eigen::Vector3d b = moved[j], db = moved[(j + 1) % m] - b;
                const Eigen::Vector3d r = a - b + 0.5 * (da - db);
                sum += r.dot(da.cross(db)) / std::pow(r.norm(), 3);
            }
        }
        return std::abs(sum) / (4 * std::numbers::pi);
    }

private:
    static ScriptedMotion demo_path() {
        const SceneDescription scene = demo_scene("alpha-puzzle");
        const auto tube =
            std::find_if(scene.bodies.begin(), scene.bodies.end(),
                         [](const BodyDescription& body) { return body.name == "second tube"; });
        return *std::get<RigidSource>(tube->source).motion;
    }
    /// Corners with short pieces between them.
    static std::vector<Eigen::Vector3d> closed_loop(bool is_second) {
        const std::vector<Eigen::Vector3d> line = shape_parts::alpha_line(is_second);
        const std::vector<Eigen::Vector3d> corners(line.begin() + 2, line.end() - 2);
        std::vector<Eigen::Vector3d> loop;
        constexpr int kPieces = 4;
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const Eigen::Vector3d side = corners[(i + 1) % corners.size()] - corners[i];
            for (int k = 0; k < kPieces; ++k)
                loop.push_back(corners[i] + side * (1.0 * k / kPieces));
        }
        return loop;
    }

    std::shared_ptr<const DistanceField> field_;
    PointTree tree_;
    ScriptedMotion path_;
    double out_time_ = 0;
    Eigen::Vector3d grasp_ = Eigen::Vector3d::Zero();
    ToolInHandOptions held_;
    std::vector<Eigen::Vector3d> first_loop_ = closed_loop(false), second_loop_ = closed_loop(true);
};

/// The same tubes, quickly made: a coarser mesh, and points in rings about the centre line.
inline AlphaPuzzle coarse_puzzle() {
    constexpr double kRadius = 0.01;
    constexpr int kPerSpan = 10, kAround = 16;
    using V = Eigen::Vector3d;
    std::vector<V> points, normals;
    const std::vector<V> line = shape_parts::alpha_line(true);
    const std::size_t n = line.size();
    for (std::size_t i = 0; i + 1 < n; ++i)
        for (int k = 0; k < kPerSpan; ++k) {
            // the spline of the tube, mirrored points beyond its ends
            const V before = i > 0 ? line[i - 1] : V(2 * line[0] - line[1]);
            const V after = i + 2 < n ? line[i + 2] : V(2 * line[n - 1] - line[n - 2]);
            const double t = static_cast<double>(k) / kPerSpan;
            const V c1 = line[i + 1] - before;
            const V c2 = 2 * before - 5 * line[i] + 4 * line[i + 1] - after;
            const V c3 = 3 * line[i] - before - 3 * line[i + 1] + after;
            const V x = line[i] + 0.5 * (t * c1 + t * t * c2 + t * t * t * c3);
            const V along = (c1 + 2 * t * c2 + 3 * t * t * c3).normalized();
            const V across = along.unitOrthogonal(), third = along.cross(across);
            for (int j = 0; j < kAround; ++j) {
                const double angle = 2 * std::numbers::pi * (j + 0.5 * (k % 2)) / kAround;
                const V out = std::cos(angle) * across + std::sin(angle) * third;
                points.push_back(x + kRadius * out);
                normals.push_back(-out);
            }
        }
    std::vector<Eigen::Vector3f> loose;
    for (const V& p : points) loose.push_back(p.cast<float>());
    Pointshell shell;
    for (const int i : farthest_point_order(loose)) {
        shell.points.push_back(loose[static_cast<std::size_t>(i)]);
        shell.normals.push_back(normals[static_cast<std::size_t>(i)].cast<float>());
    }
    const int count = shell.num_points();
    shell.level_start = {0, count / 16, count / 4, count};
    shell.spacing = 0.004;
    auto field = std::make_shared<DistanceGrid>(
        build_field(make_shape("alpha-tube-1", 40), {.resolution = 128}));
    return AlphaPuzzle(std::move(field), PointTree(std::move(shell)));
}

/// A hand does not know the way to a millimetre: slow wandering about it by [m] and [rad].
inline Pose unsteady(const Pose& wanted, double time, double shift, double turn) {
    const auto wave = [&](double rate, double phase) {
        return std::sin(2 * std::numbers::pi * rate * time + phase);
    };
    using V = Eigen::Vector3d;
    Pose pose = wanted;
    pose.position += shift * V(wave(0.71, 0.3), wave(0.93, 1.7), wave(1.17, 4.1));
    pose.rotation =
        rotation_from_vector(turn * V(wave(0.83, 2.2), wave(0.57, 5.0), wave(1.31, 0.9))) *
        pose.rotation;
    return pose;
}

struct PushOutcome {
    double depth = 0;     ///< largest [m]
    double force = 0;     ///< largest that is felt, scene units [N]
    double farthest = 0;  ///< of the grasp point from its start [m]
    bool is_out = false;
};

/// One try without the path, half a second: a hand that pulls as hard as it can, 30 cm away, with
/// turns up to 180° and shaking. Even numbers turn the tube first and pull it straight then, odd
/// ones do both at once, towards two places one after the other.
inline PushOutcome push_once(ToolInHand& held, const AlphaPuzzle& puzzle, int number) {
    held.restart();
    std::mt19937 random(static_cast<std::uint32_t>(number));
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto direction = [&] {
        Eigen::Vector3d d;
        do {
            const double x = uniform(random), y = uniform(random), z = uniform(random);
            d = Eigen::Vector3d(x, y, z);
        } while (d.norm() > 1 || d.norm() < 0.1);
        return Eigen::Vector3d(d.normalized());
    };
    /// Turn [rad] and way [m] of the grasp point from its start.
    struct Goal {
        Eigen::Vector3d turn, way;
    };
    const auto goal = [&] {
        const double angle = std::numbers::pi * uniform(random);
        const Eigen::Vector3d turn = angle * direction();
        return Goal{turn, 0.3 * direction()};
    };
    const Goal first = goal(), second = goal();
    const double rate = 4 + 2 * uniform(random), size = 0.01 * (1 + uniform(random));
    const Eigen::Vector3d shake = size * direction(), twist = size / 0.04 * direction();

    const Eigen::Vector3d& grasp = puzzle.grasp();
    const bool turns_first = number % 2 == 0;
    const auto part = [](int tick, int from, int to) {
        return std::clamp(static_cast<double>(tick - from) / (to - from), 0.0, 1.0);
    };
    PushOutcome outcome;
    for (int k = 0; k < 500; ++k) {
        Pose wanted;
        Eigen::Vector3d way;
        if (turns_first) {
            wanted.rotation = rotation_from_vector(part(k, 0, 150) * first.turn);
            way = part(k, 200, 300) * first.way;
        } else {
            const Quaternion middle = rotation_from_vector(part(k, 0, 120) * first.turn);
            wanted.rotation = rotation_from_vector(part(k, 250, 370) * second.turn) * middle;
            way = part(k, 0, 120) * first.way + part(k, 250, 370) * (second.way - first.way);
        }
        const double s = std::sin(2 * std::numbers::pi * rate * kHapticStep * k);
        wanted.rotation = rotation_from_vector(s * twist) * wanted.rotation;
        wanted.position = grasp + way + s * shake - wanted.rotation * grasp;
        const HapticTick& tick = held.step(wanted);
        outcome.depth = std::max(outcome.depth, tick.depth);
        outcome.force = std::max(outcome.force, tick.coupling.force.norm());
        if (k % 50 != 49) continue;
        outcome.farthest = std::max(outcome.farthest, (tick.tool.to_world(grasp) - grasp).norm());
        outcome.is_out = outcome.is_out || puzzle.linking(tick.tool) < 0.5;
    }
    return outcome;
}

}  // namespace pliant::test
