#include <algorithm>
#include <memory>

#include "benchmarks/haptics_bench.h"
#include "pliant/fem/fem_body.h"
#include "pliant/geometry/shapes.h"
#include "pliant/geometry/structured_mesh.h"
#include "pliant/haptics/fem_haptic_port.h"
#include "pliant/haptics/fem_haptic_tool.h"
#include "pliant/haptics/simulated_device.h"

namespace pliant::bench {
namespace {

using Eigen::Vector3d;

constexpr double kFemTick = 1e-3, kFemStep = 2e-3;

/// A sphere in a firm hand, pressed into a soft block of n³ cells.
struct FemScene {
    explicit FemScene(int n) : device({}, HandModel::firm()) {
        RigidBodyOptions options;
        options.pose.position = {0.05, 0.05, 0.122};
        proxy = std::make_unique<RigidBody>(RigidShape::sphere(0.02), make_shape("beam"), options);
        Material material = isotropic(2e4, 0.3, 1000);
        material.viscosity = 2000;
        FemBodyOptions body_options;
        body_options.fixed = "z < 1 %";
        block = std::make_unique<FemBody>(
            hex_box(n, n, n, Box(Vector3d::Zero(), Vector3d::Constant(0.1))),
            std::vector<Material>{material}, SurfaceMesh{}, std::vector<RigidBody*>{proxy.get()},
            body_options);
        tool = std::make_unique<FemHapticTool>(link, std::vector<RigidBody*>{proxy.get()},
                                               std::vector<const FemBody*>{block.get()});
        port = std::make_unique<FemHapticPort>(
            device, link,
            derive_gains(
                device.capabilities(),
                {.rate = 1000, .scale = 1, .cell = 2e-3, .gyration = 0.016, .bounding = 0.02}));
    }
    double step() {
        static_cast<void>(tool->begin_step(sim_time, kFemStep));
        static_cast<void>(proxy->step(kFemStep));
        static_cast<void>(block->step(kFemStep));
        sim_time += kFemStep;
        return tool->end_step().contact.force.sum();
    }
    double tick() {
        now += kFemTick;
        Pose target;
        target.position.z() = -0.02 * std::min(1.0, now);
        device.aim(target);
        return port->tick(now, kFemTick).command.force.sum();
    }

    SimulatedDevice device;
    std::unique_ptr<RigidBody> proxy;
    std::unique_ptr<FemBody> block;
    FemHapticLink link;
    std::unique_ptr<FemHapticTool> tool;
    std::unique_ptr<FemHapticPort> port;
    double now = 0, sim_time = 0;
};

/// Into contact, both ends in turn.
std::shared_ptr<FemScene> pressed_block(int n) {
    auto scene = std::make_shared<FemScene>(n);
    for (int k = 0; k < 1500; ++k) {
        static_cast<void>(scene->tick());
        if (k % 2 == 0) static_cast<void>(scene->step());
    }
    return scene;
}

}  // namespace

std::vector<Benchmark> haptics_fem_benchmarks() {
    return {
        {.module = "haptics",
         .name = "fem port tick/device in a hand",
         .setup =
             [] {
                 Workload workload;
                 const auto scene = pressed_block(4);
                 // the simulator stands still: the watchdog's way costs the same
                 workload.run = [scene] { return scene->tick(); };
                 return workload;
             },
         .max_us = 40,
         .samples = 4000},
        {.module = "haptics",
         .name = "fem tool step/cells=12³",
         .setup =
             [] {
                 Workload workload;
                 const auto scene = pressed_block(12);
                 workload.run = [scene] { return scene->step(); };
                 return workload;
             },
         .max_us = 2000,
         .samples = 1000},
    };
}

}  // namespace pliant::bench
