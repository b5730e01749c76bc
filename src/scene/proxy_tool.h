#pragma once

#include "scene/port_tool.h"
#include "scene/proxy_source.h"

namespace pliant {

/// A body in a hand that is a virtual proxy, or many: device, proxy, force, one after the other in
/// the same tick, or what the other loop told where its bodies are in one; docs/scene.md sections
/// "Proxy in a hand" and "Tool of many spheres". Of the gains, stiffness, injection and rendered
/// force count, and of many spheres those of turns.
class ProxyTool final : public PortTool {
public:
    /// `held.proxy` is there. Throws InputError as DevicePort.
    ProxyTool(HeldTool& held, RigidBody& body);

    void tick(double now, double dt) noexcept override;
    [[nodiscard]] LetterReader* letters() noexcept override { return source_->letters(); }

    [[nodiscard]] const ProxyTuning& tuning() const noexcept { return tuning_; }
    /// From the next tick on; the stiffness is that of the gains.
    void set_tuning(const ProxyTuning& tuning) noexcept { tuning_ = tuning; }
    void fill(ShownProxy& shown) const noexcept { source_->fill(shown); }

private:
    /// Nothing turns a point.
    [[nodiscard]] double angular_stiffness() const noexcept override {
        return is_point_ ? 0 : gains_.angular_stiffness;
    }
    [[nodiscard]] const char* touch_notice() const noexcept override;
    void reset_touch() noexcept override { source_->reset(); }
    [[nodiscard]] Pose at_grasp(const Pose& body) const noexcept {
        return {body.to_world(grasp_), body.rotation};
    }
    [[nodiscard]] Pose body_of(const Pose& grasped) const noexcept {
        return {grasped.position - grasped.rotation * grasp_, grasped.rotation};
    }

    Eigen::Vector3d grasp_;
    bool is_point_;
    ProxyTuning tuning_;
    std::shared_ptr<ProxySource> source_;
};

}  // namespace pliant
