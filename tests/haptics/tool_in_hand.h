#pragma once

#include "pliant/contact/contact_pair.h"
#include "pliant/core/tick_histogram.h"
#include "pliant/haptics/haptic_tool.h"
#include "pliant/haptics/simulated_device.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

/// Tools with points in a simulated hand, for tests and experiments.
namespace pliant::test {

inline constexpr double kHapticStep = 1e-3;  ///< [s]

struct ToolInHandOptions {
    DeviceModel device = {};
    HandModel hand = {};
    HapticToolOptions tool = {};
    TraversalOptions traversal = {};
    Pose start = {};                                 ///< of the tool
    Eigen::Vector3d home = Eigen::Vector3d::Zero();  ///< of the handle there
    double cell = 1e-3;                              ///< of the field: the depth allowed is half
    bool is_timed = false;                           ///< ticks are measured
    /// Changes gains from what the rules say.
    std::function<void(CouplingGains&)> adjust = {};
};

/// A rigid tool with points in the hand, and a field that stands still at the origin: device,
/// coupling, contact, safety, as in a scene.
class ToolInHand {
public:
    ToolInHand(const PointTree& tree, std::shared_ptr<const DistanceField> field,
               const ToolInHandOptions& options)
        : options_(options),
          device_(std::make_unique<SimulatedDevice>(options.device, options.hand)),
          tool_(body_at(options.start)),
          other_(body_at({})) {
        CouplingScene rules;
        rules.rate = 1 / kHapticStep;
        rules.scale = options.tool.workspace.scale;
        rules.cell = options.cell;
        rules.gyration = rules.bounding = 0;
        for (const Eigen::Vector3f& x : tree.shell().points) {
            const double distance = (x.cast<double>() - options.tool.grasp).norm();
            rules.gyration += distance * distance / tree.num_points();
            rules.bounding = std::max(rules.bounding, distance);
        }
        rules.gyration = std::sqrt(rules.gyration);
        gains_ = derive_gains(device_->capabilities(), rules);
        if (options.adjust) options.adjust(gains_);
        ContactPairOptions pair_options;
        pair_options.traversal = options.traversal;
        pair_ = std::make_unique<ContactPair>(ShellBody{tool_.get(), tree},
                                              FieldBody{other_.get(), std::move(field), {}},
                                              pair_options);
        haptics_ = std::make_unique<HapticTool>(
            *device_, *tool_, std::vector<ContactPair*>{pair_.get()}, gains_, options.tool);
        restart();
    }

    /// The hand wants the tool at `target`; one tick of everything.
    const HapticTick& step(const Pose& target) {
        // docs/haptics.md eq. (9), the other way round; axes of device and scene are the same
        const Eigen::Vector3d first = options_.start.to_world(options_.tool.grasp);
        const Eigen::Vector3d wanted = target.to_world(options_.tool.grasp);
        device_->aim({options_.home + options_.tool.workspace.scale * (wanted - first),
                      target.rotation * options_.start.rotation.conjugate()});
        now_ += kHapticStep;
        const double begin = clock_us();
        static_cast<void>(pair_->act(kHapticStep));
        const double middle = clock_us();
        const HapticTick& tick = haptics_->tick(now_, kHapticStep);
        static_cast<void>(tool_->step(kHapticStep));
        static_cast<void>(other_->step(kHapticStep));
        contact_us_ = middle - begin;
        tick_us_ = clock_us() - begin;
        return tick;
    }
    /// Everything as it began.
    void restart() {
        tool_->reset();
        pair_->forget();
        device_->place({options_.home, Quaternion::Identity()});
        device_->write({});
        haptics_->reset();
    }

    [[nodiscard]] SimulatedDevice& device() { return *device_; }
    [[nodiscard]] HapticTool& haptics() { return *haptics_; }
    [[nodiscard]] const CouplingGains& gains() const { return gains_; }
    [[nodiscard]] const TraversalStatistics& statistics() const {
        return pair_->traversal().statistics();
    }
    /// Thread CPU time of the last tick if timed [µs]: contact, and all of it with the simulated
    /// device.
    [[nodiscard]] double contact_us() const { return contact_us_; }
    [[nodiscard]] double tick_us() const { return tick_us_; }

private:
    [[nodiscard]] double clock_us() const { return options_.is_timed ? thread_cpu_time_us() : 0; }
    static std::unique_ptr<RigidBody> body_at(const Pose& pose) {
        using V = Eigen::Vector3d;
        SurfaceMesh unseen;
        unseen.vertices = {V::Zero(), V::UnitX(), V::UnitY(), V::UnitZ()};
        unseen.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
        RigidBodyOptions options;
        options.pose = pose;
        return std::make_unique<RigidBody>(RigidShape::sphere(1), unseen, options);
    }

    ToolInHandOptions options_;
    std::unique_ptr<SimulatedDevice> device_;
    std::unique_ptr<RigidBody> tool_, other_;
    std::unique_ptr<ContactPair> pair_;
    CouplingGains gains_;
    std::unique_ptr<HapticTool> haptics_;
    double now_ = 0, contact_us_ = 0, tick_us_ = 0;
};

}  // namespace pliant::test
