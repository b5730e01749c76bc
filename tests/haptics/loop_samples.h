#pragma once

#include "geometry/simple_surfaces.h"
#include "pliant/field/analytic_field.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/simulated_device.h"
#include "reduction/body_samples.h"

#include <cmath>
#include <memory>
#include <vector>

/// Closed loops of a simulated device, a tool and what it touches.
namespace pliant::test {

/// Points on the faces of a box about the origin, about `spacing` apart, one level.
inline Pointshell box_shell(const Eigen::Vector3d& half, double spacing) {
    Pointshell shell;
    shell.spacing = spacing;
    for (int axis = 0; axis < 3; ++axis)
        for (const int side : {-1, 1}) {
            const int a = (axis + 1) % 3, b = (axis + 2) % 3;
            const int na = std::max(1, static_cast<int>(2 * half[a] / spacing));
            const int nb = std::max(1, static_cast<int>(2 * half[b] / spacing));
            for (int i = 0; i < na; ++i)
                for (int j = 0; j < nb; ++j) {
                    Eigen::Vector3d p;
                    p[axis] = side * half[axis];
                    p[a] = half[a] * ((2.0 * i + 1) / na - 1);
                    p[b] = half[b] * ((2.0 * j + 1) / nb - 1);
                    shell.points.push_back(p.cast<float>());
                    shell.normals.push_back((-side * Eigen::Vector3d::Unit(axis)).cast<float>());
                }
        }
    shell.level_start = {0, shell.num_points()};
    return shell;
}

enum class LoopScene {
    BoxOnPlane,   ///< the tool carries the points
    BoxInSlot,    ///< with 0.2 mm of room at both sides
    SphereOnBox,  ///< the tool carries the field
    SphereOnBar,  ///< a reduced body, r = 15
};
inline constexpr LoopScene kLoopScenes[] = {LoopScene::BoxOnPlane, LoopScene::BoxInSlot,
                                            LoopScene::SphereOnBox, LoopScene::SphereOnBar};

struct LoopOptions {
    LoopScene scene = LoopScene::BoxOnPlane;
    double mass = 0.1;      ///< of the device [kg]
    double encoder = 2e-5;  ///< step [m]
    HandModel hand = HandModel::loose();
    double device_damping = 0.1;  ///< [N s/m]
    double gain_factor = 1;       ///< of both springs
    HapticToolOptions tool;
};

class HapticLoop {
public:
    static constexpr double kStep = 1e-3;

    explicit HapticLoop(const LoopOptions& options) : scene_(options.scene) {
        DeviceModel model;
        model.mass = options.mass;
        model.damping = options.device_damping;
        model.capabilities.position_step = options.encoder;
        device = std::make_unique<SimulatedDevice>(model, options.hand);
        build();
        gains = derive_gains(device->capabilities(), rules);
        gains.stiffness *= options.gain_factor;
        gains.angular_stiffness *= options.gain_factor;
        HapticToolOptions tool_options = options.tool;
        tool_options.workspace.scale = rules.scale;
        haptics = std::make_unique<HapticTool>(
            *device, *tool, std::vector<ContactPair*>{pair.get()}, gains, tool_options);
    }

    /// Hand to `target`, then one tick of everything.
    const HapticTick& step(const Pose& target) {
        device->aim(target);
        return step();
    }
    const HapticTick& step() {
        now += kStep;
        static_cast<void>(pair->act(kStep));
        const HapticTick& tick = haptics->tick(now, kStep);
        static_cast<void>(tool->step(kStep));
        static_cast<void>(other->step(kStep));
        return tick;
    }

    /// Where the hand wants to be: into contact within 0.5 s, then along and turning until 1.3 s,
    /// then still.
    [[nodiscard]] Pose target(double time) const {
        const auto smooth = [](double s) {
            s = std::clamp(s, 0.0, 1.0);
            return s * s * (3 - 2 * s);
        };
        const double press = smooth(time / 0.5), slide = smooth((time - 0.5) / 0.8);
        using V = Eigen::Vector3d;
        switch (scene_) {
            case LoopScene::BoxOnPlane:
                return {V(0.01 * slide, 0, -0.012 * press),
                        rotation_from_vector({0, 0.2 * slide, 0})};
            case LoopScene::BoxInSlot:
                return {V(0.01 * slide, 0.008 * press, 0),
                        rotation_from_vector({0, 0.05 * slide, 0.3 * slide})};
            case LoopScene::SphereOnBox:
                return {V(0.02 * slide, 0.01 * slide, -0.015 * press), Quaternion::Identity()};
            case LoopScene::SphereOnBar:
                return {V(-0.005 * slide, 0.005 * slide, -0.02 * press),
                        rotation_from_vector({0.1 * slide, 0, 0})};
        }
        return {};
    }

    std::unique_ptr<SimulatedDevice> device;
    std::unique_ptr<RigidBody> tool;
    std::unique_ptr<Body> other;
    std::unique_ptr<ContactPair> pair;
    std::unique_ptr<HapticTool> haptics;
    CouplingScene rules;
    CouplingGains gains;
    double now = 0;

private:
    static std::unique_ptr<RigidBody> body_at(const Eigen::Vector3d& position) {
        RigidBodyOptions options;
        options.pose.position = position;
        return std::make_unique<RigidBody>(RigidShape::sphere(0.01), box_surface(), options);
    }
    void build() {
        using V = Eigen::Vector3d;
        constexpr double kHalf = 0.02;
        rules = {.rate = 1000, .scale = 1, .cell = 1e-3, .gyration = 0.02, .bounding = 0.035};
        other = body_at(V::Zero());
        const PointTree box(box_shell(V::Constant(kHalf), 0.004));
        switch (scene_) {
            case LoopScene::BoxOnPlane:
                tool = body_at({0, 0, kHalf + 0.002});
                pair = std::make_unique<ContactPair>(
                    ShellBody{tool.get(), box},
                    FieldBody{other.get(), plane_set_field({FieldPlane{}}), {}});
                break;
            case LoopScene::BoxInSlot: {
                tool = body_at(V::Zero());
                const FieldPointer wall = box_field({0.1, 0.02, 0.1});
                const double middle = kHalf + 0.0002 + 0.02;
                const auto turn = Eigen::Quaterniond::Identity();
                pair = std::make_unique<ContactPair>(
                    ShellBody{tool.get(), box},
                    FieldBody{other.get(),
                              unite_fields({move_field(wall, {0, middle, 0}, turn),
                                            move_field(wall, {0, -middle, 0}, turn)}),
                              {}});
                break;
            }
            case LoopScene::SphereOnBox:
                tool = body_at({0, 0, 2 * kHalf + 0.002});
                rules.bounding = kHalf;
                rules.gyration = 0.8 * kHalf;
                pair = std::make_unique<ContactPair>(
                    ShellBody{other.get(), PointTree(box_shell(V::Constant(kHalf), 0.002))},
                    FieldBody{tool.get(), sphere_field(kHalf), {}});
                break;
            case LoopScene::SphereOnBar: build_bar(); break;
        }
    }
    void build_bar() {
        // handle travel of 2 cm is 10 cm at the bar of 80 cm
        const Eigen::Vector3d half(0.4, 0.1, 0.1);
        constexpr double kRadius = 0.1;
        rules = {.rate = 1000, .scale = 0.2, .cell = 0.005, .gyration = 0.08, .bounding = kRadius};
        static const ReducedModel model = bar_model({.rank = 15, .elements = ElementFormulation::Plain});
        auto bar = std::make_unique<ReducedBody>(
            model, ReducedBodyOptions{.damping = {.mass = 0, .stiffness = 0.005}});
        Pointshell shell = box_shell(half, 0.02);
        std::vector<Eigen::Vector3d> points;
        for (Eigen::Vector3f& p : shell.points) {
            p += half.cast<float>();
            points.push_back(p.cast<double>());
        }
        tool = body_at({0.7, 0.1, 0.2 + kRadius + 0.01});
        pair = std::make_unique<ContactPair>(
            ShellBody{bar.get(), PointTree(shell, material_points(model, points, true))},
            FieldBody{tool.get(), sphere_field(kRadius), {}});
        other = std::move(bar);
    }

    LoopScene scene_;
};

}  // namespace pliant::test
