#pragma once

#include "haptics/device_port.h"
#include "scene/felt_tool.h"
#include "scene/touching_sphere.h"

namespace pliant {

/// Where a proxy is for a hand, whichever loop its bodies are in.
class ProxySource {
public:
    struct Answer {
        Eigen::Vector3d position, force;  ///< of the proxy; on the hand [N]
        int num_planes = 0;               ///< that hold it
        double depth = 0;                 ///< nearer than the radius by [m]
        StepStatus status = StepStatus::Ok;
    };
    virtual ~ProxySource() = default;
    [[nodiscard]] virtual Answer follow(const Eigen::Vector3d& goal, const ProxyTuning& tuning,
                                        double now) noexcept = 0;
    /// The hand begins anew at this place.
    virtual void put(const Eigen::Vector3d& position) noexcept = 0;
    virtual void reset() noexcept = 0;
    virtual void fill(ShownProxy& shown) const noexcept = 0;
    [[nodiscard]] virtual LetterReader* letters() noexcept { return nullptr; }
};

/// A sphere in a hand that is a virtual proxy: device, proxy, force, one after the other in the
/// same tick, or planes where its bodies are in another loop; docs/scene.md section "Proxy in a
/// hand". Of the gains, stiffness, injection and rendered force count.
class ProxyTool final : public FeltTool {
public:
    /// `held.proxy` is there. Throws InputError as DevicePort and PlanePort.
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
    RigidBody& body_;
    DevicePort port_;
    CouplingGains gains_;
    ProxyTuning tuning_;
    std::unique_ptr<ProxySource> source_;
    HapticTick tick_;
    bool has_begun_ = false;
};

}  // namespace pliant
