#include "pliant/haptics/haptic_tool.h"

#include "haptics/any_coupling.h"
#include "haptics/back_off.h"
#include "haptics/encoder_border.h"
#include "haptics/held_commands.h"
#include "haptics/pose_rules.h"
#include "haptics/tool_contact.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <string>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kFarAway = 1e3;         // clearance without any contact to watch [m]
constexpr double kVelocityFilter = 0.3;  // one pole per sample
constexpr double kLentTime = 1;          // in which bodies without contact lose their energy [s]
constexpr double kCapPart = 0.5;         // of the depth bound, beyond which points count in full
constexpr double kDeepPart = 0.25;       // of it, beyond which a step looks at each contact

/// A contact and the part of the tool in it.
struct ToolPair {
    ContactPair* pair;
    bool is_shell;
};

const HapticToolOptions& checked(const RigidBody& tool, const HapticToolOptions& options) {
    if (tool.is_dynamic() || tool.is_scripted())
        throw InputError("", std::string("haptic tool is a rigid body ") +
                                 (tool.is_dynamic() ? "with mass: leave out its density"
                                                    : "with a script: leave it out") +
                                 ", the device moves it");
    if (!options.grasp.allFinite())
        throw InputError("", "grasp point of a haptic tool is not finite; give three numbers");
    if (!(options.rate >= 10 && options.rate <= 1e6))
        throw InputError("", "haptics.rate", std::to_string(options.rate),
                         "10 <= value <= 1e6, in hertz");
    return options;
}

std::vector<ToolPair> pairs_of(const RigidBody& tool, const std::vector<ContactPair*>& pairs) {
    std::vector<ToolPair> all;
    for (ContactPair* pair : pairs) {
        const bool is_shell = pair != nullptr && &pair->shell_body() == &tool;
        if (pair == nullptr || (!is_shell && &pair->field_body() != &tool))
            throw InputError("", "contact " + std::to_string(all.size()) +
                                     " of a haptic tool is one of other bodies; give those that "
                                     "the tool takes part in");
        all.push_back({pair, is_shell});
    }
    return all;
}

/// One step of an encoder in one sample is no motion: braking it would shake the handle.
PassivityOptions passivity_for(const DeviceCapabilities& device, const HapticToolOptions& options) {
    PassivityOptions passivity = options.passivity;
    const double step = passivity.filter * options.rate * device.position_step;
    passivity.dead_band = std::max(passivity.dead_band, 1.01 * step);
    if (passivity.position_step == 0) passivity.position_step = device.position_step;
    return passivity;
}

bool is_new(const DeviceState& state) noexcept {
    return (state.status == DeviceStatus::Ok || state.status == DeviceStatus::Disabled) &&
           is_usable(state.pose);
}

double distance(const Pose& a, const Pose& b, double length) noexcept {
    return (a.position - b.position).norm() +
           length * rotation_difference(a.rotation, b.rotation).norm();
}

}  // namespace

struct HapticTool::Impl {
    Impl(HapticDevice& d, RigidBody& t, const std::vector<ContactPair*>& p, const CouplingGains& g,
         const HapticToolOptions& o)
        : device(d),
          tool(t),
          options(checked(t, o)),
          gains(g),
          coupling(o.kind, g, o.coupling),
          map(d.capabilities(), o.workspace),
          safety(d.capabilities(), o.safety),
          port(passivity_for(d.capabilities(), o)),
          back_off(o.rate),
          held(d.capabilities().delay) {
        pairs = pairs_of(t, p);
        // edges push sideways with the normal of one face, and make energy
        for (const ToolPair& c : pairs)
            if (c.pair->forces().options().normals == ContactNormals::Deformed)
                c.pair->set_normals(ContactNormals::Spread);
        press_pairs();
        use_gains();
        begin();
    }

    /// The law of contact that the depth bound needs, docs/contact.md eq. (12a).
    void press_pairs() noexcept {
        for (const ToolPair& c : pairs) {
            c.pair->set_stiffness(gains.contact_stiffness);
            c.pair->set_cap_depth(kCapPart * gains.max_depth);
        }
    }
    void begin() noexcept {
        place_coupling();
        velocity.setZero();
        lent = age = 0;
        is_lost = true;
        tick = {};
        tick.manipulandum = tick.tool = sent;
        tick.max_depth = gains.max_depth;
        has_output = false;
    }
    [[nodiscard]] Pose at_grasp(const Pose& body) const noexcept {
        return {body.to_world(options.grasp), body.rotation};
    }
    [[nodiscard]] Pose of_body(const Pose& grasp) const noexcept {
        return {grasp.position - grasp.rotation * options.grasp, grasp.rotation};
    }
    void place_coupling() noexcept {
        sent = tool.motion().pose;
        coupling.place(at_grasp(sent));
        last_grasp = coupling.pose();
        last_load = {};
    }

    void read(double now, double dt) noexcept {
        const DeviceState state = device.read(now);
        // someone else moved the tool
        const bool was_moved = distance(tool.motion().pose, sent, gains.length) > 1e-9;
        if (was_moved) place_coupling();
        const bool has_news = is_new(state);
        age += dt;
        if (!has_news && state.status != DeviceStatus::Stale) {
            is_lost = true;
            velocity.setZero();
        }
        if (has_news) {
            const Vector3d travel = state.pose.position - handle.position;
            const Vector3d border = crossed_border(state.pose.position, handle.position, place,
                                                   device.capabilities().position_step);
            const bool is_anew = is_lost || was_moved || travel.norm() > options.safety.max_jump;
            if (is_anew) {
                map.place(coupling.pose(), state);
                velocity.setZero();
                port.reset();
                place = state.pose.position;
            } else {
                velocity += kVelocityFilter * ((border - place) / age - velocity);
                place = border;
            }
            handle = state.pose;
            is_lost = false;
        } else if (was_moved) {
            map.place(coupling.pose(), state);
        }
        map.update(state, dt);
        tick.device = state;
    }

    /// All contacts of the tool about the grasp point.
    [[nodiscard]] ToolContact touch() noexcept {
        const Vector3d shift = coupling.pose().position - tool.motion().pose.position;
        ToolContact contact;
        contact.clearance = kFarAway;
        tick.depth = 0;
        for (const ToolPair& c : pairs) {
            const ContactLoads& loads = c.pair->loads();
            const ContactLoadOptions& law = c.pair->forces().options();
            contact.clearance =
                std::min(contact.clearance, double{c.pair->traversal().statistics().clearance});
            if (loads.num_contacts == 0) continue;
            add_contact(contact, side_of_tool(loads, law, c.is_shell), shift, law.stiffness);
            contact.num_contacts += loads.num_contacts;
            tick.depth = std::max(tick.depth, loads.deepest);
            watch_depth(contact, c);
        }
        tick.worst_depth = std::max(tick.worst_depth, tick.depth);
        if (tick.depth > gains.max_depth) ++tick.violations;
        tick.contact = contact.load;
        tick.num_contacts = contact.num_contacts;
        return contact;
    }

    void watch_depth(ToolContact& contact, const ToolPair& c) const noexcept {
        const double deepest = c.pair->loads().deepest, least = kDeepPart * gains.max_depth;
        if (deepest <= least) {
            contact.other_depth = std::max(contact.other_depth, deepest);
            return;
        }
        add_deep_contacts(contact, c.pair->traversal(), c.pair->field_pose(),
                          coupling.pose().position, c.is_shell, least);
    }

    /// Energy that went through the contacts into other bodies, by the trapezoidal rule.
    void count_lent(const ToolContact& contact, double dt) noexcept {
        const Pose& now = coupling.pose();
        const Vector3d shift = now.position - last_grasp.position;
        const Vector3d turn = rotation_difference(last_grasp.rotation, now.rotation);
        lent -= 0.5 * ((contact.load.force + last_load.force).dot(shift) +
                       (contact.load.torque + last_load.torque).dot(turn));
        // a body that swings free comes back with it, for a while
        if (contact.num_contacts == 0) lent *= std::exp(-dt / kLentTime);
        lent = std::max(lent, 0.0);
        last_grasp = now;
        last_load = contact.load;
    }

    void follow(const ToolContact& contact, double dt) noexcept {
        count_lent(contact, dt);
        tick.status = coupling.update(map.manipulandum(), contact, dt);
        sent = of_body(coupling.pose());
        tool.drive_to(sent);
        tick.tool = sent;
        tick.manipulandum = of_body(map.manipulandum());
        tick.coupling = coupling.rendered(map.manipulandum());
    }

    /// Safety ramps from one to the other.
    void switch_output(bool is_on) noexcept {
        if (is_on == has_output) return;
        has_output = is_on;
        if (is_on)
            safety.enable();
        else
            safety.disable();
    }

    /// The output is the springs' own, so that the energy of both may be compared.
    [[nodiscard]] bool is_rendering() const noexcept {
        const DeviceSafetyReport& r = safety.report();
        return !is_lost && safety.is_enabled() && !r.is_ramping && !r.is_stale && !r.is_released &&
               !r.is_hot && !r.has_jumped;
    }

    void show(double now) noexcept {
        const double a = map.scale();
        switch_output(options.shows_force && !map.is_clutched());
        DeviceCommand wanted = map.to_device(tick.coupling);
        const Vector3d springs = wanted.force;
        if (options.injects_damping && tick.num_contacts > 0)
            wanted.force -= gains.injection * velocity;
        const PortStorage storage{a * coupling.stored_energy(map.manipulandum()), a * lent,
                                  springs};
        if (!is_rendering()) {
            port.reset();
        } else if (is_new(tick.device)) {
            const DeviceCommand added = port.update(handle, held.acting(), storage, age);
            wanted.force += added.force;
            wanted.torque += added.torque;
        }
        // readings that cannot be used are none
        DeviceState reading = tick.device;
        if (is_lost) reading.status = DeviceStatus::Disconnected;
        tick.command = safety.filter(wanted, reading, now);
        device.write(tick.command);
        held.push(tick.command);
        if (is_new(tick.device)) age = 0;
        tick.port_energy = port.energy();
        tick.stored_energy = storage.coupling;
    }

    void calm(double dt) noexcept {
        back_off.record({tick.command.force, tick.command.torque}, handle.position, dt);
        tick.oscillation = back_off.level().force;
        if (!options.backs_off) return;
        if (back_off.has_changed()) use_gains();
        tick.step_scale = back_off.step_scale();
        tick.gain_scale = back_off.gain_scale();
    }
    void use_gains() noexcept {
        CouplingGains lowered = gains;
        if (options.backs_off) {
            lowered.stiffness *= back_off.gain_scale();
            lowered.angular_stiffness *= back_off.gain_scale();
            coupling.set_step_scale(back_off.step_scale());
        }
        coupling.set_gains(lowered);
        // docs/haptics.md eq. (24) at the handle; of more than the device is made for, what the
        // encoders make is no excuse
        const DeviceCapabilities& can = device.capabilities();
        const OscillationOptions standard;
        const double a = map.scale();
        const double stiffness = std::min(lowered.stiffness / a, can.max_stiffness);
        double turning = a * lowered.angular_stiffness;
        if (can.max_angular_stiffness > 0) turning = std::min(turning, can.max_angular_stiffness);
        back_off.set_safe(std::min(a * can.max_stiffness / gains.stiffness,
                                   can.max_angular_stiffness > 0
                                       ? can.max_angular_stiffness / (a * gains.angular_stiffness)
                                       : 1.0));
        back_off.set_limits(std::max(standard.force_limit, stiffness * can.position_step),
                            std::max(standard.torque_limit, 2 * turning * can.angle_step));
    }

    HapticDevice& device;
    RigidBody& tool;
    HapticToolOptions options;
    CouplingGains gains;
    AnyCoupling coupling;
    WorkspaceMap map;
    DeviceSafety safety;
    PassivityPort port;
    BackOff back_off;
    HeldCommands held;
    std::vector<ToolPair> pairs;
    HapticTick tick;
    Pose sent;                             ///< where the tool was driven to
    Pose handle;                           ///< last good reading
    Vector3d place = Vector3d::Zero();     ///< of the handle, for sure
    Vector3d velocity = Vector3d::Zero();  ///< of the handle, filtered [m/s]
    Pose last_grasp;                       ///< at the last tick
    Wrench last_load;
    double lent = 0;      ///< to other bodies, scene units [J]
    double age = 0;       ///< of the last good reading [s]
    bool is_lost = true;  ///< no good reading since
    bool has_output = false;
    std::array<char, 200> notice = {};
};

HapticTool::HapticTool(HapticDevice& device, RigidBody& tool, std::vector<ContactPair*> pairs,
                       const CouplingGains& gains, const HapticToolOptions& options)
    : impl_(std::make_unique<Impl>(device, tool, pairs, gains, options)) {}
HapticTool::~HapticTool() = default;

const HapticTick& HapticTool::tick(double now, double dt) noexcept {
    Impl& m = *impl_;
    if (!std::isfinite(now) || !std::isfinite(dt) || !(dt > 0)) {
        m.tick.command = {};
        m.device.write({});
        m.held.push({});
        m.port.reset();
        m.tick.status = StepStatus::InputIgnored;
        return m.tick;
    }
    m.read(now, dt);
    m.follow(m.touch(), dt);
    m.show(now);
    m.calm(dt);
    const bool is_bad_reading =
        m.tick.device.status != DeviceStatus::Disconnected && !is_usable(m.tick.device.pose);
    if (is_bad_reading) m.tick.status = StepStatus::InputIgnored;
    return m.tick;
}

const HapticTick& HapticTool::last() const noexcept { return impl_->tick; }
const CouplingGains& HapticTool::gains() const noexcept { return impl_->gains; }
StaticCoupling& HapticTool::coupling() noexcept {
    assert(impl_->coupling.as_static() != nullptr);
    return *impl_->coupling.as_static();
}
DeviceSafety& HapticTool::safety() noexcept { return impl_->safety; }
const PassivityPort& HapticTool::port() const noexcept { return impl_->port; }
void HapticTool::show_force(bool is_on) noexcept { impl_->options.shows_force = is_on; }

void HapticTool::set_passivity_control(bool is_on) noexcept { impl_->port.set_control(is_on); }

void HapticTool::set_back_off(bool is_on) noexcept {
    Impl& m = *impl_;
    m.options.backs_off = is_on;
    if (!is_on) {
        m.back_off.reset();
        m.coupling.set_step_scale(1);
        m.tick.step_scale = m.tick.gain_scale = 1;
    }
    m.use_gains();
}

void HapticTool::set_gains(const CouplingGains& gains) noexcept {
    Impl& m = *impl_;
    // the coupling brings them into range
    m.coupling.set_gains(gains);
    m.gains = m.coupling.gains();
    m.press_pairs();
    m.tick.max_depth = m.gains.max_depth;
    m.use_gains();
}

const char* HapticTool::notice() const noexcept {
    Impl& m = *impl_;
    const DeviceSafetyReport& safety = m.safety.report();
    const auto percent = [](double scale) { return static_cast<int>(std::lround(100 * scale)); };
    const auto say = [&](const char* sentence, int number = 0) {
        std::snprintf(m.notice.data(), m.notice.size(), sentence, number);
        return m.notice.data();
    };
    if (m.is_lost)
        return say(
            "The device does not answer: its force is zero and the tool stays; it goes on "
            "from there when the device is back.");
    if (safety.was_not_finite)
        return say("A force that is not a number was asked for: it is zero.");
    if (safety.has_jumped)
        return say("The handle jumped: its force is zero and the tool goes on from where it was.");
    if (safety.is_stale) return say("Readings of the device are old: its force is zero.");
    if (safety.is_released) return say("The dead man's button is up: the force is zero.");
    if (m.options.backs_off && m.back_off.has_ceiling())
        return say(
            "The force oscillated: the stiffness, more than the device is made for, was lowered "
            "to %d %%.",
            percent(m.back_off.gain_scale()));
    if (m.options.backs_off && m.back_off.gain_scale() < 1)
        return say(
            "The force oscillated: the stiffness was lowered to %d %% and comes back slowly "
            "while it stays calm.",
            percent(m.back_off.gain_scale()));
    if (m.options.backs_off && m.back_off.step_scale() < 1)
        return say(
            "The force oscillated: the steps of the tool were lowered to %d %% and come "
            "back while it stays calm.",
            percent(m.back_off.step_scale()));
    if (m.port.damping() > 0) return say("The loop made energy: damping takes it out.");
    if (safety.is_hot)
        return say("The motors are warm: the force is limited to what they can hold for ever.");
    return "";
}

void HapticTool::reset() noexcept {
    Impl& m = *impl_;
    m.safety.reset();
    m.port.reset();
    m.back_off.reset();
    m.held.clear();
    m.use_gains();
    m.begin();
}

}  // namespace pliant
