#include "pliant/haptics/haptic_tool.h"

#include "haptics/any_coupling.h"
#include "haptics/contact_memory.h"
#include "haptics/device_port.h"
#include "haptics/lent_energy.h"
#include "haptics/tool_contact.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <string>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kFarAway = 1e3;    // clearance without any contact to watch [m]
constexpr double kCapPart = 0.5;    // of the depth bound, beyond which points count in full
constexpr double kDeepPart = 0.25;  // of it, beyond which a step looks at each contact

/// A contact and the part of the tool in it.
struct ToolPair {
    ContactPair* pair;
    bool is_shell;
    [[nodiscard]] bool is_soft() const noexcept {
        const Body& other = is_shell ? pair->field_body() : pair->shell_body();
        return dynamic_cast<const RigidBody*>(&other) == nullptr;
    }
};

const HapticToolOptions& checked(const RigidBody& tool, const HapticToolOptions& options) {
    if (tool.is_dynamic() || tool.is_scripted())
        throw InputError("", std::string("haptic tool is a rigid body ") +
                                 (tool.is_dynamic() ? "with mass: leave out its density"
                                                    : "with a script: leave it out") +
                                 ", the device moves it");
    if (!options.grasp.allFinite())
        throw InputError("", "grasp point of a haptic tool is not finite; give three numbers");
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

DevicePortOptions tool_port_options(const HapticToolOptions& o) {
    return {o.workspace,       o.safety,    o.passivity,   o.rate,
            o.injects_damping, o.backs_off, o.shows_force, HandleMotion::Borders};
}

double distance(const Pose& a, const Pose& b, double length) noexcept {
    return (a.position - b.position).norm() +
           length * rotation_difference(a.rotation, b.rotation).norm();
}

}  // namespace

struct HapticTool::Impl {
    Impl(HapticDevice& d, RigidBody& t, const std::vector<ContactPair*>& p, const CouplingGains& g,
         const HapticToolOptions& o)
        : tool(t),
          grasp(checked(t, o).grasp),
          gains(g),
          coupling(o.kind, g, o.coupling),
          port(d, tool_port_options(o)),
          pairs(pairs_of(t, p)),
          touches_soft(std::ranges::any_of(pairs, &ToolPair::is_soft)) {
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
        lent = {};
        tick = {};
        tick.manipulandum = tick.tool = sent;
        tick.max_depth = gains.max_depth;
    }
    [[nodiscard]] Pose at_grasp(const Pose& body) const noexcept {
        return {body.to_world(grasp), body.rotation};
    }
    [[nodiscard]] Pose of_body(const Pose& held) const noexcept {
        return {held.position - held.rotation * grasp, held.rotation};
    }
    void place_coupling() noexcept {
        sent = tool.motion().pose;
        coupling.place(at_grasp(sent));
        last_grasp = coupling.pose();
        last_load = {};
        memory.forget();
    }

    void read(double now, double dt) noexcept {
        // someone else moved the tool
        const bool was_moved = distance(tool.motion().pose, sent, gains.length) > 1e-9;
        if (was_moved) place_coupling();
        port.read(now, dt, coupling.pose(), was_moved, tick);
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
        lent.add(-0.5 * ((contact.load.force + last_load.force).dot(shift) +
                         (contact.load.torque + last_load.torque).dot(turn)),
                 contact.num_contacts > 0, dt);
        last_grasp = now;
        last_load = contact.load;
    }

    void follow(ToolContact contact, double dt) noexcept {
        count_lent(contact, dt);
        // where nothing swings, single contacts that went do no harm
        const double spring = touches_soft ? gains.stiffness : 0;
        memory.recall(contact, tick.coupling, {spring, gains.length}, dt);
        tick.status = coupling.update(port.manipulandum(), contact, dt);
        sent = of_body(coupling.pose());
        tool.drive_to(sent);
        tick.tool = sent;
        tick.manipulandum = of_body(port.manipulandum());
        tick.coupling = coupling.rendered(port.manipulandum());
    }

    void show(double now) noexcept {
        // what contact gives beyond L was made by its points and normals: no body has paid for it
        port.show(gains.injection,
                  {.coupling = coupling.stored_energy(port.manipulandum()), .beyond = lent.lent()},
                  1, now, tick);
    }

    void calm(double dt) noexcept {
        if (port.calm(dt, tick)) use_gains();
        tick.step_scale = port.step_scale();
    }
    /// As back-off leaves them.
    void use_gains() noexcept {
        CouplingGains lowered = gains;
        lowered.stiffness *= port.gain_scale();
        lowered.angular_stiffness *= port.gain_scale();
        coupling.set_step_scale(port.step_scale());
        coupling.set_gains(lowered);
        port.watch_springs(gains.stiffness, gains.angular_stiffness);
    }

    RigidBody& tool;
    const Vector3d grasp;
    CouplingGains gains;
    AnyCoupling coupling;
    DevicePort port;
    std::vector<ToolPair> pairs;
    const bool touches_soft;
    HapticTick tick;
    Pose sent;        ///< where the tool was driven to
    Pose last_grasp;  ///< at the last tick
    Wrench last_load;
    ContactMemory memory;
    LentEnergy lent;  ///< to other bodies
    std::array<char, 200> notice = {};
};

HapticTool::HapticTool(HapticDevice& device, RigidBody& tool,
                       const std::vector<ContactPair*>& pairs, const CouplingGains& gains,
                       const HapticToolOptions& options)
    : impl_(std::make_unique<Impl>(device, tool, pairs, gains, options)) {}
HapticTool::~HapticTool() = default;

const HapticTick& HapticTool::tick(double now, double dt) noexcept {
    Impl& m = *impl_;
    if (m.port.refuses(now, dt, m.tick)) return m.tick;
    m.read(now, dt);
    m.follow(m.touch(), dt);
    m.show(now);
    m.calm(dt);
    return m.tick;
}

const HapticTick& HapticTool::last() const noexcept { return impl_->tick; }
const CouplingGains& HapticTool::gains() const noexcept { return impl_->gains; }
StaticCoupling& HapticTool::coupling() noexcept {
    assert(impl_->coupling.as_static() != nullptr);
    return *impl_->coupling.as_static();
}
DeviceSafety& HapticTool::safety() noexcept { return impl_->port.safety(); }
const PassivityPort& HapticTool::port() const noexcept { return impl_->port.port(); }
void HapticTool::show_force(bool is_on) noexcept { impl_->port.show_force(is_on); }
void HapticTool::set_passivity_control(bool is_on) noexcept {
    impl_->port.set_passivity_control(is_on);
}

void HapticTool::set_back_off(bool is_on) noexcept {
    Impl& m = *impl_;
    m.port.set_back_off(is_on);
    m.tick.step_scale = m.port.step_scale();
    m.tick.gain_scale = m.port.gain_scale();
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
    const auto say = [&](const char* sentence, double scale) {
        const int percent = static_cast<int>(std::lround(100 * scale));
        std::snprintf(m.notice.data(), m.notice.size(), sentence, percent);
        return m.notice.data();
    };
    if (const char* stop = m.port.stop_notice(); *stop) return stop;
    if (m.port.has_ceiling())
        return say(
            "The force oscillated: the stiffness, more than the device is made for, was lowered "
            "to %d %%.",
            m.port.gain_scale());
    if (m.port.gain_scale() < 1)
        return say(
            "The force oscillated: the stiffness was lowered to %d %% and comes back slowly "
            "while it stays calm.",
            m.port.gain_scale());
    if (m.port.step_scale() < 1)
        return say(
            "The force oscillated: the steps of the tool were lowered to %d %% and come "
            "back while it stays calm.",
            m.port.step_scale());
    return m.port.help_notice();
}

void HapticTool::reset() noexcept {
    Impl& m = *impl_;
    m.port.reset();
    m.use_gains();
    m.begin();
}

}  // namespace pliant
