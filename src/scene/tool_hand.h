#pragma once

#include "pliant/haptics/simulated_device.h"
#include "pliant/scene/greens_touch.h"
#include "pliant/scene/held_tool.h"
#include "pliant/scene/scene_description.h"
#include "scene/felt_tool.h"
#include "scene/gated_device.h"

namespace pliant {

class ProxyTool;
class RecordedDevice;

/// A body of a loop in a hand, and the hand where it is simulated. One thread at a time; nothing
/// marked noexcept allocates.
class ToolHand {
public:
    /// `body` is the one that is held, `pairs` are its contacts. Throws InputError as HapticTool.
    ToolHand(HeldTool held, RigidBody& body, std::vector<ContactPair*> pairs, int body_of_world);
    /// Of a tool that touches Green's functions as one of `points`. Throws InputError as
    /// GreensTool.
    ToolHand(HeldTool held, RigidBody& body, GreensPoints& points, int body_of_world);
    /// Of a proxy or many, `held.proxy`. Throws InputError as ProxyTool.
    ToolHand(HeldTool held, RigidBody& body, int body_of_world);
    /// Of a tool among full FEM bodies, `held.fem`. Throws InputError as FemHapticPort.
    explicit ToolHand(HeldTool held);
    ToolHand(const ToolHand&) = delete;
    ToolHand& operator=(const ToolHand&) = delete;

    [[nodiscard]] const HapticInfo& info() const noexcept { return info_; }
    [[nodiscard]] const HapticTick& last() const noexcept { return tool_->last(); }
    /// Null: what it feels is in this loop.
    [[nodiscard]] LetterReader* letters() noexcept { return tool_->letters(); }

    /// Where a simulated hand wants the body to be, reached evenly in `duration` seconds and from
    /// then on in place of its motion. Another device decides for itself.
    void move_to(const Pose& target, double duration, std::uint32_t buttons) noexcept;
    /// After the contacts of the body acted, before it steps: to the end of the tick at `now`.
    void tick(double now, double dt) noexcept;
    /// All but parameters back to the start; the body was reset before.
    void reset() noexcept;
    /// A recorded device begins again with its first reading. Before reset().
    void rewind() noexcept;
    /// Likewise where the scene names its recording: a user asked for the start.
    void play_anew() noexcept;
    /// Whether a device outside this program may push.
    void allow_force(bool is_allowed) noexcept;

    [[nodiscard]] const std::vector<LiveParameter>& parameters() const noexcept { return sliders_; }
    void set_parameter(int index, double value) noexcept;
    [[nodiscard]] bool touches(const ContactPair& pair) const noexcept {
        return body_ && (&pair.shell_body() == body_ || &pair.field_body() == body_);
    }
    /// That somebody gave a contact of the body [N/m]: counts for all of them, where it keeps the
    /// depth limit.
    void adopt_contact_stiffness(double stiffness) noexcept;
    void fill(ShownHaptics& frame) const noexcept;

private:
    enum class Role {
        Stiffness,
        TurningStiffness,
        Damping,
        DepthLimit,
        Force,
        BackOff,
        Passivity,
        Friction,
        ForceShading,
        Ccd,
        HandStiffness,
        HandDamping,
        HandTremor,
        HandleMass
    };
    /// Where the hand wants the body, on its way.
    struct Wish {
        Pose pose, goal;
        double time_left = 0;
        Twist follow;  ///< of the hand after it
        Pose hand;
    };
    ToolHand(HeldTool held, RigidBody* body);
    void finish(int body_of_world);
    void list_parameters();
    void list_proxy_parameters();
    void list_hand_parameters();
    void tune_proxy(Role role, double value) noexcept;
    void add(Role role, LiveParameter slider);
    [[nodiscard]] bool is_clutched() const noexcept;
    void return_handle(double dt) noexcept;
    void use_gains() noexcept;
    [[nodiscard]] Pose wanted(double now, double dt) noexcept;
    void follow_wish(double dt) noexcept;
    [[nodiscard]] Pose handle_for(const Pose& body) const noexcept;

    HeldTool held_;
    HapticInfo info_;
    SimulatedDevice* simulated_ = nullptr;
    RecordedDevice* recorded_ = nullptr;
    GatedDevice* gate_ = nullptr;
    RigidBody* body_;  ///< null: in another loop
    std::unique_ptr<FeltTool> tool_;
    ProxyTool* proxy_ = nullptr;
    bool is_point_ = false;  ///< nothing turns it, and what it touches gives way
    HandModel hand_;
    std::uint32_t buttons_ = 0;  ///< that a simulated hand presses
    CouplingGains first_gains_;
    double wanted_stiffness_ = 0;  ///< of contacts [N/m]; 0: by rule
    Pose first_handle_;            ///< of a simulated device at the start
    Pose aimed_;  ///< where a simulated hand wants the handle
    Wish wish_;
    bool is_scripted_ = false;
    std::vector<Role> roles_;
    std::vector<LiveParameter> sliders_;
};

}  // namespace pliant
