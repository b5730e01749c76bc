#include "pliant/haptics/solver_haptic_tool.h"

#include "haptics/input_range.h"
#include "haptics/tool_steps.h"

#include <algorithm>
#include <cmath>

namespace pliant {

using Eigen::Vector3d;

namespace {

const SolverHapticToolOptions& checked_solver_tool(const SolverHapticToolOptions& options,
                                                   const RigidBody& body) {
    if (!options.grasp.allFinite())
        throw InputError("", "grasp point of a haptic tool is not finite; give three numbers");
    require_range("tool.max_speed", options.max_speed, 1e-6, 1e3, "m/s");
    require_range("tool.max_turning", options.max_turning, 1e-6, 1e4, "rad/s");
    require_range("tool.damping_ratio", options.damping_ratio, 0, 100, "");
    if (!body.mass())
        throw InputError("",
                         "a haptic tool among bodies that move has no mass; make its body with "
                         "held_mass()");
    const double size = 1e-9 * (1 + options.grasp.norm());
    if ((body.mass()->centre - options.grasp).norm() > size)
        throw InputError("",
                         "the mass of a haptic tool is not about its grasp point; make its body "
                         "with held_mass()");
    return options;
}

/// A spring and damper to the hand, at the end of a step of dt seconds; docs/haptics.md eq. (F7).
/// `m` is the mass that takes them up, implicit terms included.
Vector3d drawn(double m, double k, double damping_ratio, const Vector3d& shift, const Vector3d& v,
               const Vector3d& v_hand, double fastest, double dt) noexcept {
    // no stiffer than the step lets the mass follow
    k = std::min(k, followed_stiffness(m, dt));
    // what is left of m beside dt d and dt² k, and has the damping ratio; its root
    const double root_k = std::sqrt(k), z = damping_ratio * dt * root_k;
    const double root_m = std::sqrt(z * z + m - dt * dt * k) - z;
    const double d = 2 * damping_ratio * root_k * root_m;
    const Vector3d load = k * (shift - dt * v) + d * (v_hand - v);
    return m / dt * (shortened(v + dt / m * load, fastest) - v);
}

}  // namespace

double held_mass_for(double stiffness, double dt) noexcept {
    constexpr double kLeast = 0.05;  // [kg]
    return std::max(kLeast, 16 * stiffness * dt * dt);
}

double followed_stiffness(double mass, double dt) noexcept { return mass / (4 * dt * dt); }

RigidMass held_mass(double mass, double gyration, const Vector3d& grasp) {
    return {mass, grasp, mass * gyration * gyration * Eigen::Matrix3d::Identity()};
}

struct SolverHapticTool::Impl {
    Impl(FemHapticLink& link, RigidBody& b, const ContactSolver& s, int m,
         const SolverHapticToolOptions& o)
        : body(b), solver(s), member(m), options(checked_solver_tool(o, b)), steps(link, true) {
        steps.begin_anew(pose());
    }

    [[nodiscard]] Pose pose() const noexcept {
        const Pose& origin = body.motion().pose;
        return {origin.to_world(options.grasp), origin.rotation};
    }

    /// Springs to the hand; without one it is brought to rest where it is.
    void load(bool is_led, double dt) noexcept {
        const RigidMass& mass = *body.mass();
        const RigidMotion& motion = body.motion();
        const Vector3d arm = motion.pose.rotation * options.grasp;
        const Twist v{motion.velocity.at(arm), motion.velocity.angular};
        const double m = mass.mass, inertia = mass.inertia(0, 0);
        Wrench load{-m / dt * v.linear, -inertia / dt * v.angular};
        if (is_led) {
            const FemHandState& hand = steps.hand;
            const Pose now = pose();
            load.force = drawn(m, std::clamp(hand.stiffness, 0.0, 1e9), options.damping_ratio,
                               hand.pose.position - now.position, v.linear, hand.velocity.linear,
                               options.max_speed, dt);
            load.torque =
                drawn(inertia, std::clamp(hand.angular_stiffness, 0.0, 1e9), options.damping_ratio,
                      rotation_difference(now.rotation, hand.pose.rotation.normalized()), v.angular,
                      hand.velocity.angular, options.max_turning, dt);
        }
        if (!load.force.allFinite() || !load.torque.allFinite()) {
            status = StepStatus::StepRejected;
            return;
        }
        body.add_wrench(load.about(-arm));
    }

    /// What the solver did to the tool, about the grasp point.
    void gather() noexcept {
        FemToolState& state = steps.state;
        state.contact = {};
        state.depth = 0;
        state.num_contacts = 0;
        for (const ContactSolver::Contact& c : solver.contacts()) {
            if (c.shell != member && c.field != member) continue;
            const Vector3d force = c.shell == member ? c.force : Vector3d(-c.force);
            state.contact += {force, (c.position - state.tool.position).cross(force)};
            state.depth = std::max(state.depth, c.depth);
            ++state.num_contacts;
        }
    }

    RigidBody& body;
    const ContactSolver& solver;
    int member;
    SolverHapticToolOptions options;
    ToolSteps steps;
    StepStatus status = StepStatus::Ok;
};

SolverHapticTool::SolverHapticTool(FemHapticLink& link, RigidBody& body,
                                   const ContactSolver& solver, int member,
                                   const SolverHapticToolOptions& options)
    : impl_(std::make_unique<Impl>(link, body, solver, member, options)) {}
SolverHapticTool::~SolverHapticTool() = default;

StepStatus SolverHapticTool::begin_step(double now, double dt) noexcept {
    Impl& m = *impl_;
    m.status = m.steps.begin(now, dt);
    if (m.status != StepStatus::Ok) return m.status;
    m.load(m.steps.look_at_hand(now, dt, m.options.predicts, 0), dt);
    return m.status;
}

const FemToolState& SolverHapticTool::end_step() noexcept {
    Impl& m = *impl_;
    if (!m.steps.is_stepping()) return m.steps.state;
    m.gather();
    const Pose pose = m.pose();
    if (is_usable(pose))
        m.steps.end(pose, m.status);
    else
        m.steps.end(m.steps.state.tool, StepStatus::StepRejected);
    return m.steps.state;
}

const FemToolState& SolverHapticTool::last() const noexcept { return impl_->steps.state; }

void SolverHapticTool::reset() noexcept {
    impl_->steps.begin_anew(impl_->pose());
    impl_->steps.publish();
}

}  // namespace pliant
