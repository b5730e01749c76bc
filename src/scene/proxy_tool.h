#pragma once

#include "haptics/device_port.h"
#include "scene/felt_tool.h"
#include "scene/proxy_source.h"

namespace pliant {

/// A body in a hand that is a virtual proxy, or many: device, proxy, force, one after the other in
/// the same tick, or what the other loop told where its bodies are in one; docs/scene.md sections
/// "Proxy in a hand" and "Tool of many spheres". Of the gains, stiffness, injection and rendered
/// force count, and of many spheres those of turns.
class ProxyTool final : public FeltTool {
public:
    /// `held.proxy` is there. Throws InputError as DevicePort.
    ProxyTool(HeldTool& held, RigidBody& body);

    void tick(double now, double dt) noexcept override;
    [[nodiscard]] const HapticTick& last() const noexcept override { return tick_; }
    [[nodiscard]] bool has_begun() const noexcept override { return has_begun_; }
    [[nodiscard]] Pose start() const noexcept override { return body_.motion().pose; }
    void set_gains(const CouplingGains& gains) noexcept override;
    void show_force(bool is_on) noexcept override { port_.show_force(is_on); }
    void set_back_off(bool is_on) noexcept override { port_.set_back_off(is_on); }
    void set_passivity_control(bool is_on) noexcept override { port_.set_passivity_control(is_on); }
    [[nodiscard]] const char* notice() const noexcept override;
    void reset() noexcept override;
    [[nodiscard]] LetterReader* letters() noexcept override { return source_->letters(); }

    [[nodiscard]] const ProxyTuning& tuning() const noexcept { return tuning_; }
    /// From the next tick on; the stiffness is that of the gains.
    void set_tuning(const ProxyTuning& tuning) noexcept { tuning_ = tuning; }
    void fill(ShownProxy& shown) const noexcept { source_->fill(shown); }

private:
    void watch_springs() noexcept;
    [[nodiscard]] Pose at_grasp(const Pose& body) const noexcept {
        return {body.to_world(grasp_), body.rotation};
    }
    [[nodiscard]] Pose body_of(const Pose& grasped) const noexcept {
        return {grasped.position - grasped.rotation * grasp_, grasped.rotation};
    }

    RigidBody& body_;
    DevicePort port_;
    Eigen::Vector3d grasp_;
    bool is_point_;
    CouplingGains gains_;
    ProxyTuning tuning_;
    std::shared_ptr<ProxySource> source_;
    HapticTick tick_;
    bool has_begun_ = false;
};

}  // namespace pliant
