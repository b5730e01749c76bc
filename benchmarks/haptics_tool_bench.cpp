#include <cmath>
#include <memory>
#include <vector>

#include "benchmarks/haptics_bench.h"
#include "pliant/contact/build_pointshell.h"
#include "pliant/geometry/shapes.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/simulated_device.h"
#include "pliant/reduction/build_reduced.h"
#include "tests/contact/traversal_samples.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr double kToolTick = 1e-3;

std::unique_ptr<RigidBody> driven_body(const Vector3d& position) {
    RigidBodyOptions options;
    options.pose.position = position;
    return std::make_unique<RigidBody>(RigidShape::sphere(0.01), make_shape("beam"), options);
}

/// Everything of a tick: device in a hand, contact, coupling, output, and the step of the bodies.
struct HapticScene {
    HapticScene(const Vector3d& position, const CouplingScene& scene)
        : device({}, HandModel::firm()), tool(driven_body(position)), rules(scene) {}
    void begin(const Vector3d& push) {
        direction = push;
        HapticToolOptions options;
        options.workspace.scale = rules.scale;
        haptics = std::make_unique<HapticTool>(device, *tool, std::vector<ContactPair*>{pair.get()},
                                               derive_gains(device.capabilities(), rules), options);
    }
    /// The hand presses and circles.
    double tick() {
        const double time = kToolTick * ++count;
        const Vector3d side(std::sin(4 * time), std::sin(3 * time), 0);
        Pose target;
        target.position = std::min(time / 0.3, 1.0) * direction + 0.004 * side;
        target.rotation = rotation_from_vector(0.1 * side);
        device.aim(target);
        static_cast<void>(pair->act(kToolTick));
        const HapticTick& t = haptics->tick(time, kToolTick);
        static_cast<void>(tool->step(kToolTick));
        static_cast<void>(other->step(kToolTick));
        return t.command.force.sum() + t.tool.position.sum();
    }
    SimulatedDevice device;
    std::unique_ptr<RigidBody> tool;
    CouplingScene rules;
    std::unique_ptr<Body> other;
    std::unique_ptr<ContactPair> pair;
    std::unique_ptr<HapticTool> haptics;
    Vector3d direction = Vector3d::Zero();
    int count = 0;
};

/// Points on the faces of the beam, coarse ones first.
Pointshell beam_shell(const Vector3d& sizes, const Vector3d& low, double spacing) {
    Pointshell all;
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {0, 1}) {
            const int a = (axis + 1) % 3, b = (axis + 2) % 3;
            const int na = static_cast<int>(sizes[a] / spacing);
            const int nb = static_cast<int>(sizes[b] / spacing);
            for (int i = 0; i < na * nb; ++i) {
                Vector3d p = low;
                p[axis] += side * sizes[axis];
                p[a] += (i / nb + 0.5) * sizes[a] / na;
                p[b] += (i % nb + 0.5) * sizes[b] / nb;
                all.points.push_back(p.cast<float>());
                all.normals.push_back(((1 - 2 * side) * Vector3d::Unit(axis)).cast<float>());
            }
        }
    Pointshell shell;
    shell.spacing = spacing;
    for (const int i : farthest_point_order(all.points)) {
        shell.points.push_back(all.points[static_cast<std::size_t>(i)]);
        shell.normals.push_back(all.normals[static_cast<std::size_t>(i)]);
    }
    shell.level_start = {0};
    for (int n = 64; n < shell.num_points(); n *= 4) shell.level_start.push_back(n);
    shell.level_start.push_back(shell.num_points());
    return shell;
}

/// A ball pressed onto the end of a soft beam, r = 15.
std::shared_ptr<HapticScene> ball_on_beam() {
    static const ReducedModel model =
        build_reduced_model(make_shape("beam"), {.size = 0.5,
                                                 .material = isotropic(1e5, 0.35, 1000),
                                                 .fixed = "x < 3 %",
                                                 .mesh = {.resolution = 20},
                                                 .num_modes = 10,
                                                 .rank = 15});
    constexpr double kRadius = 0.03;
    Vector3d low = model.surface().vertices.front(), high = low;
    for (const Vector3d& x : model.surface().vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
    }
    const Vector3d end(high.x() - 0.1, 0.5 * (low.y() + high.y()), high.z() + kRadius + 0.003);
    const auto scene = std::make_shared<HapticScene>(
        end,
        CouplingScene{
            .rate = 1000, .scale = 0.5, .cell = 0.002, .gyration = 0.024, .bounding = kRadius});
    auto body = std::make_unique<ReducedBody>(
        model, ReducedBodyOptions{.damping = {.mass = 0, .stiffness = 0.005}});
    const Pointshell shell = beam_shell(high - low, low, 0.004);
    std::vector<Vector3d> points;
    for (const Eigen::Vector3f& p : shell.points) points.push_back(p.cast<double>());
    scene->pair = std::make_unique<ContactPair>(
        ShellBody{body.get(), PointTree(shell, material_points(model, points, true))},
        FieldBody{scene->tool.get(), sphere_field(kRadius), {}});
    scene->other = std::move(body);
    scene->begin({0, 0, -0.02});
    return scene;
}

/// A ball of a million points as the tool on another in a grid of 128³ cells.
std::shared_ptr<HapticScene> million_points() {
    static const PointTree tree(test::sphere_shell(1'020'000, 6, Vector3d::Zero(), 0.04));
    static const auto grid =
        std::make_shared<DistanceGrid>(test::sampled_grid(*sphere_field(0.035), 0.06, 128));
    const auto scene = std::make_shared<HapticScene>(
        Vector3d(0, 0, 0.0765),
        CouplingScene{.rate = 1000, .scale = 1, .cell = 1e-3, .gyration = 0.032, .bounding = 0.04});
    auto ball = driven_body(Vector3d::Zero());
    scene->pair = std::make_unique<ContactPair>(ShellBody{scene->tool.get(), tree},
                                                FieldBody{ball.get(), grid, {}});
    scene->pair->calibrate(150e-6);
    scene->other = std::move(ball);
    scene->begin({0, 0, -0.008});
    return scene;
}

Workload tick_workload(const std::shared_ptr<HapticScene>& scene) {
    Workload workload;
    for (int k = 0; k < 500; ++k) static_cast<void>(scene->tick());  // into contact
    workload.run = [scene] { return scene->tick(); };
    return workload;
}

}  // namespace

std::vector<Benchmark> haptics_tool_benchmarks() {
    return {
        {.module = "haptics",
         .name = "tick/ball on reduced beam/r=15",
         .setup = [] { return tick_workload(ball_on_beam()); },
         .max_us = 40,
         .max_p999_us = 120,
         .samples = 10000},
        {.module = "haptics",
         .name = "tick/rigid pair/points=1020000",
         .setup = [] { return tick_workload(million_points()); },
         .max_p999_us = 180,
         .samples = 10000},
    };
}

}  // namespace pliant::bench
