#pragma once

#include "haptics/device_port.h"
#include "pliant/scene/greens_touch.h"
#include "scene/felt_tool.h"

namespace pliant {

/// A tool in a hand that touches a body with Green's functions at its origin: device, point
/// contact, force, one after the other in the same tick. Of the gains, the stiffness is the most
/// that the device may show, docs/greens.md eq. (E4).
class GreensTool final : public FeltTool {
public:
    /// `points` has the body as one of its own. Throws InputError as DevicePort.
    GreensTool(HeldTool& held, RigidBody& body, GreensPoints& points);

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

private:
    [[nodiscard]] bool is_pulling() const noexcept;

    RigidBody& body_;
    GreensPoints& points_;
    DevicePort port_;
    CouplingGains gains_;
    int clutch_button_, deadman_button_;
    HapticTick tick_;
    bool has_begun_ = false;
};

}  // namespace pliant
