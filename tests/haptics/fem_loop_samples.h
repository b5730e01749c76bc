#pragma once

#include "geometry/simple_surfaces.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/haptics/fem_haptic_port.h"
#include "pliant/haptics/fem_haptic_tool.h"
#include "pliant/haptics/simulated_device.h"
#include "scene/primitive_surfaces.h"

#include <memory>
#include <utility>
#include <vector>

/// Closed loops of a simulated device, rigid proxies and a soft block of full finite elements.
namespace pliant::test {

inline constexpr double kBlockHeight = 0.08, kProxyRadius = 0.02;

struct FemLoopOptions {
    double modulus = 5e3;     ///< of the block [Pa]
    double viscosity = 2000;  ///< [kg/(m³ s)]
    bool is_held = true;      ///< at its base
    FemHapticToolOptions tool;
    FemHapticPortOptions port;
    DeviceModel device;
    HandModel hand = HandModel::loose();
    /// Spheres, capsule and box side by side: a hand.
    bool has_hand = false;
    double step = 2e-3;  ///< of the simulator [s]
    double clearance = 2e-3;
    /// The ball has the surface of a box, whose corners are spikes that never come to rest.
    bool has_spikes = false;
};

/// Driven rigid proxy. Corners and edges of its surface that lie on its shape touch the block:
/// another body's surface would leave single spikes on it.
inline std::unique_ptr<RigidBody> proxy_at(const RigidShape& shape, SurfaceMesh surface,
                                           const Eigen::Vector3d& at) {
    RigidBodyOptions options;
    options.pose.position = at;
    return std::make_unique<RigidBody>(shape, std::move(surface), options);
}

/// 12 × 12 × 8 cm on z = 0, centred, of cells of 2 cm.
inline std::unique_ptr<FemBody> soft_block(double modulus, bool is_held, double viscosity,
                                           std::vector<RigidBody*> obstacles) {
    Material material = isotropic(modulus, 0.3, 1000);
    material.viscosity = viscosity;
    VolumeMesh mesh = hex_box(
        6, 6, 4, Box(Eigen::Vector3d(-0.06, -0.06, 0), Eigen::Vector3d(0.06, 0.06, kBlockHeight)));
    FemBodyOptions options;
    if (modulus <= 1e4) options.inner_step = 1e-3;  // steps of any number of milliseconds
    if (is_held) options.fixed = "z < 1 %";
    return std::make_unique<FemBody>(std::move(mesh), std::vector<Material>{material},
                                     SurfaceMesh{}, std::move(obstacles), options);
}

/// Both ends in one thread and in virtual time: the haptic tick first, then the steps of the
/// simulator that are due.
class FemLoop {
public:
    static constexpr double kTick = 1e-3;

    explicit FemLoop(const FemLoopOptions& options) : options_(options) {
        const double top = kBlockHeight + kProxyRadius + options.clearance;
        const RigidShape ball = RigidShape::sphere(kProxyRadius);
        proxies.push_back(proxy_at(
            ball, options.has_spikes ? box_surface() : sphere_surface(kProxyRadius), {0, 0, top}));
        if (options.has_hand) {
            proxies.push_back(proxy_at(ball, sphere_surface(kProxyRadius), {0.03, 0, top}));
            proxies.push_back(proxy_at(RigidShape::capsule(kProxyRadius, 0.01),
                                       capsule_surface(kProxyRadius, 0.02),
                                       {-0.03, 0.01, top + 0.01}));
            const Eigen::Vector3d half = Eigen::Vector3d::Constant(kProxyRadius);
            proxies.push_back(
                proxy_at(RigidShape::box(half), box_surface(-half, half), {0.01, -0.03, top}));
        }
        std::vector<RigidBody*> all;
        for (const auto& p : proxies) all.push_back(p.get());
        block = soft_block(options.modulus, options.is_held, options.viscosity, all);
        device = std::make_unique<SimulatedDevice>(options.device, options.hand);
        rules = {.rate = 1000,
                 .scale = options.port.workspace.scale,
                 .cell = 0.002,
                 .gyration = 0.02,
                 .bounding = 0.05};
        gains = derive_gains(device->capabilities(), rules);
        tool = std::make_unique<FemHapticTool>(link, all, std::vector<const FemBody*>{block.get()},
                                               options.tool);
        port = std::make_unique<FemHapticPort>(*device, link, gains, options.port);
    }

    /// One step of the simulator.
    void simulate(double dt) {
        static_cast<void>(tool->begin_step(sim_time, dt));
        for (const auto& p : proxies) static_cast<void>(p->step(dt));
        static_cast<void>(block->step(dt));
        tool->end_step();
        sim_time += dt;
    }
    /// Hand to `target`, one haptic tick, and the simulator up to it.
    const HapticTick& step(const Pose& target) {
        device->aim(target);
        now += kTick;
        const HapticTick& tick = port->tick(now, kTick);
        while (is_running && sim_time < now + 1e-9) simulate(options_.step);
        return tick;
    }

    FemHapticLink link;
    std::vector<std::unique_ptr<RigidBody>> proxies;
    std::unique_ptr<FemBody> block;
    std::unique_ptr<SimulatedDevice> device;
    CouplingScene rules;
    CouplingGains gains;
    std::unique_ptr<FemHapticTool> tool;
    std::unique_ptr<FemHapticPort> port;
    double now = 0, sim_time = 0;
    bool is_running = true;

private:
    FemLoopOptions options_;
};

/// Down by `depth` within half a second, still from 1 s on.
inline Pose pressing_down(double time, double depth) {
    const double s = std::clamp((time - 0.5) / 0.5, 0.0, 1.0);
    Pose target;
    target.position.z() = -depth * s * s * (3 - 2 * s);
    return target;
}

}  // namespace pliant::test
