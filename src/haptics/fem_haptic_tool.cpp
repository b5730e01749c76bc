#include "pliant/haptics/fem_haptic_tool.h"

#include "core/numbers.h"
#include "haptics/input_range.h"
#include "haptics/tool_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pliant {

using Eigen::Vector3d;

namespace {

constexpr double kFollows = 4;  // m ≥ 4 k dt², eq. (F5)

const FemHapticToolOptions& checked_fem_tool(const FemHapticToolOptions& options) {
    if (!options.grasp.allFinite())
        throw InputError("", "grasp point of a haptic tool is not finite; give three numbers");
    require_range("tool.bandwidth", options.bandwidth, 1, 1e5, "rad/s");
    require_range("tool.max_speed", options.max_speed, 1e-6, 1e3, "m/s");
    require_range("tool.max_turning", options.max_turning, 1e-6, 1e4, "rad/s");
    require_range("tool.mass", options.mass, 1e-6, 1e6, "kg");
    require_range("tool.gyration", options.gyration, 1e-6, 1e3, "m");
    require_range("tool.damping_ratio", options.damping_ratio, 0, 100, "");
    return options;
}

/// A proxy as an obstacle of a body.
struct TouchedBody {
    const FemBody* body;
    std::vector<int> proxies;  ///< of each obstacle: which proxy it is; −1: none
};

}  // namespace

struct FemHapticTool::Impl {
    Impl(FemHapticLink& l, std::vector<RigidBody*> p, const std::vector<const FemBody*>& b,
         const FemHapticToolOptions& o)
        : proxies(std::move(p)),
          options(checked_fem_tool(o)),
          steps(l, o.coupling == FemCoupling::Dynamic),
          state(steps.state),
          hand(steps.hand) {
        if (proxies.empty())
            throw InputError("", "a haptic tool has no rigid body; give the proxies that touch");
        for (const RigidBody* proxy : proxies)
            if (proxy == nullptr || proxy->is_dynamic() || proxy->is_scripted())
                throw InputError(
                    "",
                    "proxy of a haptic tool is a rigid body with mass or script: leave "
                    "them out, the device moves it");
        std::vector<bool> is_felt(proxies.size());
        for (const FemBody* body : b) {
            TouchedBody one{body, {}};
            for (const RigidBody* obstacle : body->obstacles()) {
                const auto found = std::ranges::find(proxies, obstacle);
                one.proxies.push_back(
                    found == proxies.end() ? -1 : static_cast<int>(found - proxies.begin()));
                if (found != proxies.end()) is_felt[at(one.proxies.back())] = true;
            }
            bodies.push_back(std::move(one));
        }
        for (std::size_t i = 0; i < is_felt.size(); ++i)
            if (!is_felt[i])
                throw InputError("", "proxy " + std::to_string(i) +
                                         " of a haptic tool is no obstacle of any of its FEM "
                                         "bodies; give it to one of them");
        offsets.resize(proxies.size());
        if (!is_kinematic())
            for (RigidBody* proxy : proxies) proxy->set_guide(&guide);
        begin();
    }
    ~Impl() {
        for (RigidBody* proxy : proxies)
            if (proxy->guide() == &guide) proxy->set_guide(nullptr);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    /// From where the proxies are.
    void begin() noexcept {
        const Pose& first = proxies[0]->motion().pose;
        pose = {first.to_world(options.grasp), first.rotation};
        for (std::size_t i = 0; i < proxies.size(); ++i)
            offsets[i] = pose.inverse() * proxies[i]->motion().pose;
        velocity = {};
        guide = {};
        steps.begin_anew(pose);
    }

    [[nodiscard]] bool is_kinematic() const noexcept {
        return options.coupling == FemCoupling::Kinematic;
    }

    /// docs/haptics.md eq. (F4).
    [[nodiscard]] Twist following(const Vector3d& shift, const Vector3d& turn,
                                  double dt) const noexcept {
        const double w = options.bandwidth, damped = (1 + dt * w) * (1 + dt * w);
        return {(velocity.linear + dt * w * w * shift) / damped,
                (velocity.angular + dt * w * w * turn) / damped};
    }

    /// eq. (F5): springs and dampers at the end of the step, contact as it is expected. What it
    /// really does comes of the inner steps of the bodies.
    [[nodiscard]] Twist coupled(const Vector3d& shift, const Vector3d& turn, double dt) noexcept {
        const double k = std::clamp(hand.stiffness, 0.0, 1e9);
        const double k_r = std::clamp(hand.angular_stiffness, 0.0, 1e9);
        // no lighter than what a step of this length follows
        const double m = std::max(options.mass, kFollows * k * dt * dt);
        const double inertia =
            std::max(m * options.gyration * options.gyration, kFollows * k_r * dt * dt);
        const double d = 2 * options.damping_ratio * std::sqrt(k * m);
        const double d_r = 2 * options.damping_ratio * std::sqrt(k_r * inertia);
        guide.mass = m;
        guide.inertia = inertia;
        guide.stiffness = k;
        guide.damping = d;
        guide.angular_stiffness = k_r;
        guide.angular_damping = d_r;
        Twist next;
        next.linear = (m * velocity.linear +
                       dt * (k * shift + d * hand.velocity.linear + state.contact.force)) /
                      (m + dt * (d + dt * k));
        next.angular = (inertia * velocity.angular +
                        dt * (k_r * turn + d_r * hand.velocity.angular + state.contact.torque)) /
                       (inertia + dt * (d_r + dt * k_r));
        return next;
    }

    void move(double dt) noexcept {
        guide = {};
        // nobody holds it: it stays
        if (!is_led) {
            velocity = {};
            return;
        }
        const Vector3d shift = hand.pose.position - pose.position;
        const Vector3d turn = rotation_difference(pose.rotation, hand.pose.rotation.normalized());
        Twist next = is_kinematic() ? following(shift, turn, dt) : coupled(shift, turn, dt);
        next.linear = shortened(next.linear, options.max_speed);
        next.angular = shortened(next.angular, options.max_turning);
        const Pose there = advance(pose, next, dt);
        if (!is_usable(there) || !next.linear.allFinite() || !next.angular.allFinite()) {
            velocity = {};
            guide = {};
            status = StepStatus::StepRejected;
            return;
        }
        velocity = next;
        pose = there;
        guide.centre = pose.position;
    }

    /// To where contact pushed it.
    void give_way() noexcept {
        if (!(guide.mass > 0)) return;
        const Pose there{pose.position + guide.shift,
                         (rotation_from_vector(guide.turn) * pose.rotation).normalized()};
        const Twist next{velocity.linear + guide.velocity.linear,
                         velocity.angular + guide.velocity.angular};
        if (!is_usable(there) || !next.linear.allFinite() || !next.angular.allFinite()) return;
        pose = there;
        velocity = next;
    }

    /// What the constraint did to the proxies, about the grasp point.
    void gather() noexcept {
        state.contact = {};
        state.depth = 0;
        state.num_contacts = 0;
        for (const TouchedBody& one : bodies) {
            for (std::size_t k = 0; k < one.proxies.size(); ++k) {
                if (one.proxies[k] < 0) continue;
                const Vector3d& origin = proxies[at(one.proxies[k])]->motion().pose.position;
                const Wrench& load = one.body->wrench(static_cast<int>(k));
                if (load.force.allFinite() && load.torque.allFinite())
                    state.contact += load.about(pose.position - origin);
                else
                    status = StepStatus::InputIgnored;
            }
            for (const FemContact& c : one.body->contacts()) {
                if (c.obstacle < 0 || one.proxies[at(c.obstacle)] < 0) continue;
                ++state.num_contacts;
                state.depth = std::max(state.depth, -c.gap);
            }
        }
    }

    std::vector<RigidBody*> proxies;
    FemHapticToolOptions options;
    std::vector<TouchedBody> bodies;
    std::vector<Pose> offsets;  ///< of the proxies from the grasp frame
    ToolSteps steps;
    FemToolState& state;  ///< of the last step
    FemHandState& hand;   ///< of this step
    Pose pose;
    Twist velocity;
    RigidGuide guide;  ///< of the proxies of a dynamic tool
    bool is_led = false;  ///< there is a hand
    StepStatus status = StepStatus::Ok;
};

FemHapticTool::FemHapticTool(FemHapticLink& link, std::vector<RigidBody*> proxies,
                             std::vector<const FemBody*> bodies,
                             const FemHapticToolOptions& options)
    : impl_(std::make_unique<Impl>(link, std::move(proxies), bodies, options)) {}
FemHapticTool::~FemHapticTool() = default;

StepStatus FemHapticTool::begin_step(double now, double dt) noexcept {
    Impl& m = *impl_;
    m.status = m.steps.begin(now, dt);
    if (m.status != StepStatus::Ok) return m.status;
    // a filter is late by 2/ω
    m.is_led = m.steps.look_at_hand(now, dt, m.options.predicts,
                                    m.is_kinematic() ? 2 / m.options.bandwidth : 0);
    m.move(dt);
    for (std::size_t i = 0; i < m.proxies.size(); ++i)
        m.proxies[i]->drive_to(m.pose * m.offsets[i]);
    return m.status;
}

const FemToolState& FemHapticTool::end_step() noexcept {
    Impl& m = *impl_;
    if (!m.steps.is_stepping()) return m.state;
    m.give_way();
    m.gather();
    m.steps.end(m.pose, m.status);
    return m.state;
}

const FemToolState& FemHapticTool::last() const noexcept { return impl_->state; }

void FemHapticTool::reset() noexcept {
    impl_->begin();
    impl_->steps.publish();
}

}  // namespace pliant
