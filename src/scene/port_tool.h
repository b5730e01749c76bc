#pragma once

#include "haptics/device_port.h"
#include "haptics/lent_energy.h"
#include "scene/felt_tool.h"

namespace pliant {

/// A tool whose force is found in the tick of its device: the device, its port, the body that
/// follows, and how a tick begins and ends whatever it touches.
class PortTool : public FeltTool {
public:
    [[nodiscard]] const HapticTick& last() const noexcept final { return tick_; }
    [[nodiscard]] bool has_begun() const noexcept final { return has_begun_; }
    [[nodiscard]] Pose start() const noexcept final { return body_.motion().pose; }
    void set_gains(const CouplingGains& gains) noexcept final;
    void show_force(bool is_on) noexcept final { port_.show_force(is_on); }
    void set_back_off(bool is_on) noexcept final { port_.set_back_off(is_on); }
    void set_passivity_control(bool is_on) noexcept final { port_.set_passivity_control(is_on); }
    [[nodiscard]] const char* notice() const noexcept final;
    void reset() noexcept final;

protected:
    /// Throws InputError as DevicePort.
    PortTool(HeldTool& held, RigidBody& body);

    /// Somebody put the body elsewhere since the last tick.
    [[nodiscard]] bool was_moved() const noexcept;
    /// Shows tick_.coupling, with the energy that it stores and the work that bodies did on it
    /// since the last tick [J].
    void show(double energy, double work, double now, double dt) noexcept;
    /// How deep the hand is [m], and where the body goes.
    void finish(double depth, const Pose& tool) noexcept;

    RigidBody& body_;
    DevicePort port_;
    CouplingGains gains_;
    HapticTick tick_;
    bool has_begun_ = false;

private:
    LentEnergy lent_;  // to the bodies

    /// Of the gains, what turns it [N m/rad]; 0: nothing does.
    [[nodiscard]] virtual double angular_stiffness() const noexcept { return 0; }
    /// What is wrong with what it touches, for people; empty: nothing.
    [[nodiscard]] virtual const char* touch_notice() const noexcept { return ""; }
    virtual void reset_touch() noexcept {}
    void watch_springs() noexcept { port_.watch_springs(gains_.stiffness, angular_stiffness()); }
};

}  // namespace pliant
