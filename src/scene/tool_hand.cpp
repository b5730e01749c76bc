#include "scene/tool_hand.h"

#include "pliant/haptics/recorded_device.h"
#include "scene/greens_tool.h"
#include "scene/proxy_tool.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>
#include <utility>

namespace pliant {

using Eigen::Vector3d;

namespace {

/// How fast a simulated hand follows what it is told, docs/scene.md eq. (3) [rad/s].
constexpr double kHandRate = 60;
/// No faster, at the handle: people move like this [m/s], [rad/s].
constexpr double kHandSpeed = 0.5, kHandTurning = std::numbers::pi;

/// What devices weigh at the handle [kg].
constexpr double kLightHandle = 0.05, kHeavyHandle = 0.3;

/// Gains that count where contact is a constraint (full FEM bodies, tools of many spheres), and of
/// a proxy.
constexpr const char* kFreeGains[] = {"stiffness", "angular_stiffness", "injection",
                                      "rendered_force", "rendered_torque"};
constexpr const char* kProxyGains[] = {"stiffness", "injection", "rendered_force"};

void keep_only(std::vector<GainNote>& notes, std::span<const char* const> names) {
    std::erase_if(notes, [&](const GainNote& note) {
        return std::ranges::find(names, note.name) == names.end();
    });
}

HeldTool with_gate(HeldTool held) {
    if (!held.is_virtual)
        held.device = std::make_unique<GatedDevice>(std::move(held.device), held.options.rate);
    return held;
}

/// Times what the device is made for: too much, and nobody is hurt.
constexpr double kVirtualBeyond = 4;

const GainNote& note_of(const std::vector<GainNote>& notes, const char* name) {
    return *std::ranges::find(notes, name, &GainNote::name);
}

/// A gain as a slider; what is shown is `to_shown` times what the note says, and reaches `beyond`
/// times what the device is made for, but not more than the tool's mass follows, if that is not 0.
LiveParameter gain_slider(const GainNote& note, std::string name, std::string label,
                          std::string unit, double to_shown, double beyond = 1,
                          double followed = 0) {
    const double limit = to_shown * note.limit;
    const bool is_heavy = followed > 0 && followed < beyond * note.limit;
    // a mass that is next to nothing leaves no range
    const double end = is_heavy ? to_shown * std::max(followed, note.least) : beyond * limit;
    const double safe = std::min(to_shown * note.largest, end);
    char range[160];
    if (is_heavy)
        std::snprintf(range, sizeof range,
                      " Safe up to %.3g %s; the mass of the tool follows up to %.3g. ", safe,
                      unit.c_str(), end);
    else if (beyond > 1)
        std::snprintf(range, sizeof range,
                      " Safe up to %.3g %s, made for up to %.3g; a simulated device takes more, to "
                      "see what happens. ",
                      safe, unit.c_str(), limit);
    else
        std::snprintf(range, sizeof range, " Safe up to %.3g %s, not accepted beyond %.3g. ", safe,
                      unit.c_str(), limit);
    std::string help = note.meaning + "." + range + "Default: " + note.reason + ".";
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    const bool is_logarithmic = note.least > 0;
    return {std::move(name),
            std::move(label),
            std::move(unit),
            std::move(help),
            to_shown * note.value,
            to_shown * note.least,
            end,
            is_logarithmic};
}

/// Towards `gap` by implicit Euler, critically damped and no faster than `limit`.
void follow_gap(Vector3d& velocity, const Vector3d& gap, double limit, double dt) noexcept {
    velocity = (velocity + dt * kHandRate * kHandRate * gap) /
               ((1 + dt * kHandRate) * (1 + dt * kHandRate));
    const double speed = velocity.norm();
    if (speed > limit) velocity *= limit / speed;
    if (!velocity.allFinite()) velocity.setZero();
}

}  // namespace

ToolHand::ToolHand(HeldTool held, RigidBody* body)
    : held_(with_gate(std::move(held))),
      simulated_(dynamic_cast<SimulatedDevice*>(held_.device.get())),
      recorded_(dynamic_cast<RecordedDevice*>(held_.device.get())),
      gate_(dynamic_cast<GatedDevice*>(held_.device.get())),
      body_(body),
      hand_(held_.hand) {}

ToolHand::ToolHand(HeldTool held, RigidBody& body, std::vector<ContactPair*> pairs,
                   int body_of_world)
    : ToolHand(std::move(held), &body) {
    tool_ = std::make_unique<PairTool>(held_, body, std::move(pairs));
    finish(body_of_world);
}

ToolHand::ToolHand(HeldTool held, RigidBody& body, GreensPoints& points, int body_of_world)
    : ToolHand(std::move(held), &body) {
    tool_ = std::make_unique<GreensTool>(held_, body, points);
    is_point_ = true;
    finish(body_of_world);
}

ToolHand::ToolHand(HeldTool held, RigidBody& body, int body_of_world)
    : ToolHand(std::move(held), &body) {
    auto tool = std::make_unique<ProxyTool>(held_, body);
    proxy_ = tool.get();
    tool_ = std::move(tool);
    is_point_ = held_.proxy->radius > 0;
    info_.proxy_radius = held_.proxy->radius;
    info_.spheres = held_.proxy->spheres;
    info_.bends = held_.proxy->bends;
    finish(body_of_world);
}

ToolHand::ToolHand(HeldTool held) : ToolHand(std::move(held), nullptr) {
    tool_ = std::make_unique<FemTool>(held_);
    info_.parts = held_.fem->parts;
    finish(held_.fem->body);
}

void ToolHand::finish(int body_of_world) {
    info_.body = body_of_world;
    info_.kind = held_.kind;
    info_.is_virtual = held_.is_virtual;
    info_.capabilities = held_.device->capabilities();
    info_.workspace = held_.options.workspace;
    info_.deadman_button = held_.options.safety.deadman_button;
    info_.grasp = held_.options.grasp;
    info_.gains = explain(held_.gains, info_.capabilities, held_.scene);
    if (held_.fem) keep_only(info_.gains, kFreeGains);
    if (proxy_) {
        if (is_point_)
            keep_only(info_.gains, kProxyGains);
        else
            keep_only(info_.gains, kFreeGains);
        GainNote& stiffness = info_.gains.front();
        stiffness.meaning = is_point_ ? "spring between the hand and the proxy"
                                      : "springs between the hand and its spheres, all together";
        if (const double bearable = held_.proxy->bearable;
            bearable > 0 && bearable < stiffness.largest) {
            stiffness.largest = std::max(bearable, stiffness.least);
            stiffness.reason = held_.proxy->bearing_reason;
        }
    }
    info_.warning = held_.warning;
    first_gains_ = held_.gains;
    wanted_stiffness_ = held_.contact_stiffness;
    list_parameters();
    reset();
}

void ToolHand::add(Role role, LiveParameter slider) {
    roles_.push_back(role);
    sliders_.push_back(std::move(slider));
}

void ToolHand::list_parameters() {
    const double a = held_.scene.scale;
    const auto note = [&](const char* name) { return note_of(info_.gains, name); };
    const double beyond = simulated_ ? kVirtualBeyond : 1;
    add(Role::Stiffness, gain_slider(note("stiffness"), "tool.stiffness", "Tool stiffness", "N/m",
                                     1 / a, beyond, held_.fem ? held_.fem->followed : 0));
    if (!is_point_)
        add(Role::TurningStiffness, gain_slider(note("angular_stiffness"), "tool.turning stiffness",
                                                "Tool turning stiffness", "N m/rad", a, beyond,
                                                held_.fem ? held_.fem->followed_turning : 0));
    add(Role::Damping, gain_slider(note("injection"), "tool.damping", "Tool damping", "N s/m", 1));
    // contact as a constraint has no springs and no depth to choose
    if (!held_.fem && !proxy_ && !is_point_)
        add(Role::DepthLimit,
            gain_slider(note("max_depth"), "tool.depth limit", "Depth limit", "m", 1));
    add(Role::Force, {"tool.force", "Force feedback", "",
                      "1: the hand feels the tool. 0: it does not, and the tool is kept out of "
                      "things all the same.",
                      held_.options.shows_force ? 1.0 : 0.0, 0, 1, false});
    add(Role::BackOff, {"tool.back-off", "Back-off", "",
                        "1: smaller steps, then lower stiffness when the force oscillates; it "
                        "comes back while it stays calm. 0: none, for comparison.",
                        held_.options.backs_off ? 1.0 : 0.0, 0, 1, false});
    add(Role::Passivity, {"tool.passivity", "Passivity control", "",
                          "1: damping takes out energy that the loop made. 0: none, for "
                          "comparison.",
                          held_.options.passivity.controls ? 1.0 : 0.0, 0, 1, false});
    if (proxy_) list_proxy_parameters();
    if (simulated_) list_hand_parameters();
}

void ToolHand::list_proxy_parameters() {
    const ProxyTuning& tuning = proxy_->tuning();
    add(Role::Friction,
        {"proxy.friction", "Friction of the proxy", "",
         "Of the proxy on what it touches: 0 slides freely, 0.3 like wood, 1 like "
         "rubber. All are safe.",
         tuning.dynamic_friction, 0, std::max(2.0, tuning.dynamic_friction), false});
    if (is_point_)
        add(Role::ForceShading, {"proxy.force shading", "Force shading", "",
                                 "1: the force takes the direction of normals smoothed between "
                                 "vertices, edges of a coarse "
                                 "surface are not felt. 0: that of the triangles.",
                                 tuning.has_force_shading ? 1.0 : 0.0, 0, 1, false});
    add(Role::Ccd, {"proxy.ccd", "Continuous collision", "",
                    "1: surfaces that move take the proxy along. 0: none, to see what it is for: "
                    "fast and thin things pass through it.",
                    tuning.has_ccd ? 1.0 : 0.0, 0, 1, false});
}

void ToolHand::tune_proxy(Role role, double value) noexcept {
    ProxyTuning tuning = proxy_->tuning();
    if (role == Role::Friction) {
        // sticking exceeds sliding by as much as the scene says, and by rounding never falls below
        const ProxyOptions& first = held_.proxy->options;
        const double excess = first.static_friction - first.dynamic_friction;
        tuning.dynamic_friction = value;
        tuning.static_friction =
            value == first.dynamic_friction ? first.static_friction : value + excess;
    }
    if (role == Role::ForceShading) tuning.has_force_shading = value >= 0.5;
    if (role == Role::Ccd) tuning.has_ccd = value >= 0.5;
    proxy_->set_tuning(tuning);
}

void ToolHand::list_hand_parameters() {
    add(Role::HandStiffness,
        {"hand.stiffness", "Grip", "N/m",
         "Spring of the simulated hand: 100 holds loosely, 1000 firmly. All are safe.",
         hand_.stiffness, std::min(10.0, hand_.stiffness), std::max(3000.0, hand_.stiffness),
         false});
    add(Role::HandDamping, {"hand.damping", "Damping of the grip", "N s/m",
                            "Of the simulated hand: 1 loose, 6 firm. Less is harder on the loop.",
                            hand_.damping, 0, std::max(20.0, hand_.damping), false});
    add(Role::HandTremor,
        {"hand.tremor", "Tremor", "m",
         "Amplitude of the trembling of the simulated hand at 8 to 12 Hz: 0.0001 is usual.",
         hand_.tremor, 0, std::max(1e-3, hand_.tremor), false});
    add(Role::HandleMass,
        {"device.mass", "Mass of the handle", "kg",
         "Of the simulated device, felt in the hand: 0.05 is light, 0.3 heavy. The defaults are "
         "calm for all of these.",
         held_.handle_mass, std::min(kLightHandle, held_.handle_mass),
         std::max(kHeavyHandle, held_.handle_mass), true});
}

void ToolHand::set_parameter(int index, double value) noexcept {
    if (index < 0 || index >= static_cast<int>(sliders_.size()) || !std::isfinite(value)) return;
    const auto i = static_cast<std::size_t>(index);
    const double x = clamped(sliders_[i], value), a = held_.scene.scale;
    // where it began it is what it was, without rounding
    const bool is_first = x == sliders_[i].value;
    CouplingGains& gains = held_.gains;
    switch (roles_[i]) {
        case Role::Stiffness: gains.stiffness = is_first ? first_gains_.stiffness : a * x; break;
        case Role::TurningStiffness:
            gains.angular_stiffness = is_first ? first_gains_.angular_stiffness : x / a;
            break;
        case Role::Damping: gains.injection = x; break;
        case Role::DepthLimit: gains.max_depth = x; break;
        case Role::Force: tool_->show_force(x >= 0.5); return;
        case Role::BackOff: tool_->set_back_off(x >= 0.5); return;
        case Role::Passivity: tool_->set_passivity_control(x >= 0.5); return;
        case Role::Friction:
        case Role::ForceShading:
        case Role::Ccd: tune_proxy(roles_[i], x); return;
        case Role::HandStiffness: hand_.stiffness = x; break;
        case Role::HandDamping: hand_.damping = x; break;
        case Role::HandTremor: hand_.tremor = x; break;
        case Role::HandleMass: simulated_->set_mass(x); return;
    }
    // nothing of a hand from these ranges is refused
    if (roles_[i] >= Role::HandStiffness)
        simulated_->set_hand(hand_);
    else
        use_gains();
}

void ToolHand::use_gains() noexcept {
    held_.gains.contact_stiffness =
        std::max(held_.gains.max_force / held_.gains.max_depth, wanted_stiffness_);
    tool_->set_gains(held_.gains);
}

void ToolHand::adopt_contact_stiffness(double stiffness) noexcept {
    // back at the start it is the rules' again: sliders mean the same in every order
    wanted_stiffness_ =
        stiffness == first_gains_.contact_stiffness ? held_.contact_stiffness : stiffness;
    use_gains();
}

void ToolHand::move_to(const Pose& target, double duration, std::uint32_t buttons) noexcept {
    if (!simulated_) return;
    buttons_ = buttons;
    simulated_->set_buttons(buttons);
    is_scripted_ = false;
    wish_.goal = target;
    wish_.time_left = duration;
}

void ToolHand::follow_wish(double dt) noexcept {
    // evenly to the goal
    const bool arrives = wish_.time_left <= dt;
    wish_.pose = arrives ? wish_.goal : interpolate(wish_.pose, wish_.goal, dt / wish_.time_left);
    wish_.time_left = arrives ? 0 : wish_.time_left - dt;
    // the hand after it, docs/scene.md eq. (3)
    Pose& hand = wish_.hand;
    follow_gap(wish_.follow.linear, wish_.pose.position - hand.position,
               kHandSpeed / held_.scene.scale, dt);
    follow_gap(wish_.follow.angular, rotation_difference(hand.rotation, wish_.pose.rotation),
               kHandTurning, dt);
    hand = advance(hand, wish_.follow, dt);
}

Pose ToolHand::wanted(double now, double dt) noexcept {
    if (!is_scripted_) {
        follow_wish(dt);
        return wish_.hand;
    }
    const RigidMotion motion = held_.motion->at(now);
    wish_.pose = wish_.goal = wish_.hand = motion.pose;
    wish_.follow = motion.velocity;
    return motion.pose;
}

/// The workspace backwards, docs/haptics.md eq. (9), from where handle and manipulandum are.
Pose ToolHand::handle_for(const Pose& body) const noexcept {
    const HapticTick& t = tool_->last();
    const Quaternion to_device = info_.workspace.axes.conjugate();
    const Vector3d shift = body.to_world(info_.grasp) - t.manipulandum.to_world(info_.grasp);
    const Vector3d turn = rotation_difference(t.manipulandum.rotation, body.rotation);
    return {t.device.pose.position + info_.workspace.scale * (to_device * shift),
            (rotation_from_vector(to_device * turn) * t.device.pose.rotation).normalized()};
}

bool ToolHand::is_clutched() const noexcept {
    const int button = info_.workspace.clutch_button;
    return button >= 0 && (buttons_ >> button & 1u) != 0;
}

/// With the clutch down a hand brings the handle back to the middle, no faster than people do.
void ToolHand::return_handle(double dt) noexcept {
    const Vector3d turn = rotation_vector(aimed_.rotation);
    const double way = aimed_.position.norm(), angle = turn.norm();
    const double shift = kHandSpeed * dt, part = kHandTurning * dt;
    aimed_.position *= way > shift ? 1 - shift / way : 0.0;
    aimed_.rotation = rotation_from_vector((angle > part ? 1 - part / angle : 0.0) * turn);
    // it goes on from where it holds the tool
    wish_.hand = tool_->last().manipulandum;
    wish_.follow = {};
}

void ToolHand::tick(double now, double dt) noexcept {
    if (simulated_) {
        if (!tool_->has_begun())
            aimed_ = first_handle_;
        else if (is_clutched())
            return_handle(dt);
        else
            aimed_ = handle_for(wanted(now, dt));
        simulated_->aim(aimed_);
    }
    tool_->tick(now, dt);
}

void ToolHand::reset() noexcept {
    const Pose start = tool_->start();
    is_scripted_ = simulated_ && held_.motion.has_value();
    // a hand that follows its motion holds the dead man's button
    const int deadman = info_.deadman_button;
    buttons_ = is_scripted_ && deadman >= 0 ? 1u << deadman : 0;
    wish_ = {};
    wish_.pose = wish_.goal = wish_.hand = start;
    if (simulated_) {
        const WorkspaceOptions& map = info_.workspace;
        first_handle_ = {};
        first_handle_.position =
            map.scale * (map.axes.conjugate() * (start.to_world(info_.grasp) - map.centre));
        simulated_->reset(first_handle_);
        simulated_->set_buttons(buttons_);
    }
    if (held_.is_played_anew) recorded_->set_back_clock(held_.options.rate);
    tool_->reset();
}

void ToolHand::play_anew() noexcept {
    if (held_.is_played_anew) rewind();
}

void ToolHand::rewind() noexcept {
    if (recorded_) recorded_->seek(0);
}

void ToolHand::allow_force(bool is_allowed) noexcept {
    if (gate_) gate_->open(is_allowed);
}

void ToolHand::fill(ShownHaptics& frame) const noexcept {
    frame.body = info_.body;
    frame.tick = tool_->last();
    if (proxy_) proxy_->fill(frame.proxy);
    const bool has_ended = recorded_ && recorded_->is_at_end() &&
                           tool_->last().device.status == DeviceStatus::Disconnected;
    std::snprintf(frame.notice.data(), frame.notice.size(), "%s%s",
                  has_ended ? "The recording has ended: the force is zero and the tool stays"
                            : tool_->notice(),
                  !has_ended             ? ""
                  : held_.is_played_anew ? "; a reset plays it again."
                                         : ".");
}

}  // namespace pliant
