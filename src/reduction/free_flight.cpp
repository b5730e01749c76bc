#include "pliant/reduction/free_flight.h"

#include "core/dense_algebra.h"
#include "pliant/core/error.h"
#include "reduction/reduced_system.h"

#include <Eigen/LU>
#include <cassert>
#include <cmath>
#include <string>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using Index = Eigen::Index;

/// Places of a symmetric matrix, in the order of the blocks below, and how often each stands in it.
constexpr std::array<std::array<int, 2>, 6> kPlaces = {
    {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}}};
constexpr std::array<double, 6> kTimes = {1, 1, 1, 2, 2, 2};

Matrix3d inertia_of(const Matrix3d& second_moment) {
    return second_moment.trace() * Matrix3d::Identity() - second_moment;
}
void add_at(Matrix3d& P, std::size_t place, double value) {
    const auto [a, b] = kPlaces[place];
    P(a, b) += value;
    if (a != b) P(b, a) += value;
}

/// Rotation and rates of the body at one time, in body axes.
struct Spin {
    Quaternion rotation;
    Vector3d omega, alpha;
};

/// Scratch, and what the blocks give at one shape.
struct FlightWorkspace final : FreeFlight::Workspace {
    explicit FlightWorkspace(const ReducedDynamics& dynamics)
        : next(dynamics.make_state()),
          load(VectorXd::Zero(dynamics.size())),
          external(VectorXd::Zero(dynamics.size())),
          used(VectorXd::Zero(dynamics.size())),
          products(VectorXd::Zero(9 * dynamics.size())),
          turned(VectorXd::Zero(3 * dynamics.size())),
          response(VectorXd::Zero(3 * dynamics.size())) {
        reduced = dynamics.make_workspace();
    }

    ReducedState next;
    VectorXd load, external;
    VectorXd used;      ///< load under which `next` was found
    VectorXd products;  ///< S_ab q, then G_c q
    VectorXd turned;    ///< G_c v
    VectorXd response;  ///< m⁻¹ G_c q, m = UᵀMU
    Matrix3d J, J_rate;
    Matrix3d J_free;  ///< J less what the shape gives way to
    Vector3d h;
};

struct Loads {
    Wrench wrench;
    bool is_usable;
};
/// Puts zero in place of what is not finite.
Loads take_loads(const Wrench& wrench, const FreeFlight::ConstRef& f, FlightWorkspace& ws) {
    const bool has_wrench = wrench.force.allFinite() && wrench.torque.allFinite();
    const bool has_load = f.allFinite();
    if (has_load)
        ws.external = f;
    else
        ws.external.setZero();
    return {has_wrench ? wrench : Wrench{}, has_wrench && has_load};
}

/// The end of a step that began with `start`, such that the angular momentum is `momentum` [world
/// axes] there, with J and h last evaluated, eq. (24).
Spin turn(const Spin& start, const Vector3d& momentum, double dt, const FlightWorkspace& ws) {
    constexpr int kMaxIterations = 12;  // each gains a factor of about 2 / (ω dt)
    const Matrix3d J_inverse = ws.J.inverse();
    Spin end = start;
    for (int i = 0; i < kMaxIterations; ++i) {
        const Vector3d previous = end.omega;
        end.rotation = start.rotation * rotation_from_vector(0.5 * dt * (start.omega + end.omega));
        end.rotation.normalize();
        end.omega = J_inverse * (end.rotation.conjugate() * momentum - ws.h);
        if ((end.omega - previous).norm() <= 1e-15 * end.omega.norm()) break;
    }
    return end;
}

}  // namespace

struct FreeFlight::Impl {
    Impl(ReducedDynamics d, const InertiaBlocks& inertia, FlightCoupling c)
        : dynamics(std::move(d)),
          coupling(c),
          mass(inertia.mass),
          second_moment(inertia.second_moment),
          linear(dynamics.size(), 6),
          quadratic(9 * dynamics.size(), dynamics.size()) {}

    ReducedDynamics dynamics;
    FlightCoupling coupling;
    double mass;
    Matrix3d second_moment;
    MatrixXd linear;        ///< columns c_ab = ½ (b_ab + b_ba) at the six places
    MatrixXd quadratic;     ///< rows S_ab = ½ (B_ab + B_ba) at the six places, then G_x, G_y, G_z
    MatrixXd inverse_mass;  ///< (UᵀMU)⁻¹

    [[nodiscard]] Index size() const noexcept { return dynamics.size(); }
    /// xᵀ block y, without scratch memory.
    [[nodiscard]] double bilinear(Index block, const VectorXd& x,
                                  const VectorXd& y) const noexcept {
        double sum = 0;
        for (Index j = 0; j < size(); ++j)
            sum += y[j] * quadratic.col(j).segment(block * size(), size()).dot(x);
        return sum;
    }
    /// J(q) and h(q, v) = ∫ ρ u × u̇, eq. (23).
    [[nodiscard]] Matrix3d inertia(const ReducedState& s) const noexcept {
        Matrix3d P = second_moment;
        for (std::size_t p = 0; p < 6; ++p) {
            const auto block = static_cast<Index>(p);
            add_at(P, p, 2 * linear.col(block).dot(s.q) + bilinear(block, s.q, s.q));
        }
        return inertia_of(P);
    }
    [[nodiscard]] Vector3d inner_momentum(const ReducedState& s) const noexcept {
        Vector3d h;
        for (Index axis = 0; axis < 3; ++axis) h[axis] = bilinear(6 + axis, s.v, s.q);
        return h;
    }

    /// J, its rate and h at a shape, eq. (23). Without coupling those of the rest shape.
    void evaluate(const ReducedState& s, FlightWorkspace& ws) const noexcept {
        ws.h.setZero();
        ws.J_rate.setZero();
        if (coupling == FlightCoupling::Decoupled) {
            ws.J = ws.J_free = inertia_of(second_moment);
            return;
        }
        const Index r = size();
        ws.products.noalias() = quadratic * s.q;
        ws.turned.noalias() = quadratic.bottomRows(3 * r) * s.v;
        Matrix3d P = second_moment, P_rate = Matrix3d::Zero();
        for (std::size_t p = 0; p < 6; ++p) {
            const auto Sq = ws.products.segment(static_cast<Index>(p) * r, r);
            const auto c = linear.col(static_cast<Index>(p));
            add_at(P, p, 2 * c.dot(s.q) + s.q.dot(Sq));
            add_at(P_rate, p, 2 * c.dot(s.v) + 2 * s.v.dot(Sq));
        }
        ws.J = ws.J_free = inertia_of(P);
        ws.J_rate = inertia_of(P_rate);
        for (Index axis = 0; axis < 3; ++axis) {
            const auto Gq = ws.products.segment((6 + axis) * r, r);
            ws.h[axis] = s.v.dot(Gq);
            ws.response.segment(axis * r, r).noalias() = inverse_mass * Gq;
            for (Index other = 0; other < 3; ++other)
                ws.J_free(other, axis) -=
                    ws.products.segment((6 + other) * r, r).dot(ws.response.segment(axis * r, r));
        }
    }

    /// ω̇ × y: load −= Σ ω̇_c G_c q.
    void add_euler_load(const Vector3d& alpha, FlightWorkspace& ws) const noexcept {
        for (Index axis = 0; axis < 3; ++axis)
            ws.load.noalias() -= alpha[axis] * ws.products.segment((6 + axis) * size(), size());
    }
    /// load = external − UᵀM (ω × (ω × y) + 2 ω × u̇) at the shape last evaluated, eq. (24).
    void set_load(const Vector3d& omega, FlightWorkspace& ws) const noexcept {
        ws.load = ws.external;
        if (coupling == FlightCoupling::Decoupled) return;
        const Index r = size();
        const Matrix3d A = omega * omega.transpose() - omega.squaredNorm() * Matrix3d::Identity();
        for (std::size_t p = 0; p < 6; ++p) {
            const auto place = static_cast<Index>(p);
            const double factor = kTimes[p] * A(kPlaces[p][0], kPlaces[p][1]);
            ws.load.noalias() -= factor * (linear.col(place) + ws.products.segment(place * r, r));
        }
        for (Index axis = 0; axis < 3; ++axis)
            ws.load.noalias() -= 2 * omega[axis] * ws.turned.segment(axis * r, r);
    }
    /// ω̇ and all of the load, eq. (24); `a` is the acceleration of the shape last evaluated under
    /// the load ws.used.
    [[nodiscard]] Vector3d set_load_and_find_alpha(const VectorXd& a, const Vector3d& omega,
                                                   const Vector3d& torque,
                                                   FlightWorkspace& ws) const noexcept {
        Vector3d right = torque - omega.cross(ws.J * omega + ws.h) - ws.J_rate * omega;
        set_load(omega, ws);
        if (coupling == FlightCoupling::Decoupled) return ws.J_free.inverse() * right;
        // ḣ = Σ a · G_c q, with the acceleration under the new load but for its part of ω̇
        for (Index axis = 0; axis < 3; ++axis)
            right[axis] -= a.dot(ws.products.segment((6 + axis) * size(), size())) +
                           (ws.load - ws.used).dot(ws.response.segment(axis * size(), size()));
        Vector3d alpha = ws.J_free.inverse() * right;
        add_euler_load(alpha, ws);
        return alpha;
    }
};

FreeFlight::FreeFlight(ReducedDynamics dynamics, const InertiaBlocks& inertia,
                       FlightCoupling coupling) {
    const Index r = dynamics.size();
    for (std::size_t i = 0; i < 9; ++i)
        if (inertia.b[i].size() != r || inertia.B[i].rows() != r || inertia.B[i].cols() != r)
            throw InputError("", "size of the inertia blocks", std::to_string(inertia.b[i].size()),
                             std::to_string(r) + ", that of the reduced dynamics");
    const Matrix3d J = inertia_of(inertia.second_moment);
    // a rod's inertia about its axis is nothing beside the others
    if (!(inertia.mass > 0 && J.determinant() > 1e-12 * std::pow(J.trace(), 3)))
        throw InputError("", "the body has no mass, or all of it lies on a line");
    const MatrixXd reduced_mass = inertia.B[0] + inertia.B[4] + inertia.B[8];
    if (lower_cholesky(reduced_mass).size() == 0)
        throw InputError("", "the inertia blocks are those of vectors that depend on each other");

    impl_ = std::make_unique<Impl>(std::move(dynamics), inertia, coupling);
    impl_->inverse_mass = solve_dense(reduced_mass, MatrixXd::Identity(r, r));
    for (std::size_t p = 0; p < 6; ++p) {
        const auto place = static_cast<Index>(p);
        const auto a = static_cast<std::size_t>(kPlaces[p][0]),
                   b = static_cast<std::size_t>(kPlaces[p][1]);
        impl_->linear.col(place) = 0.5 * (inertia.b[3 * a + b] + inertia.b[3 * b + a]);
        impl_->quadratic.middleRows(place * r, r) =
            0.5 * (inertia.B[3 * a + b] + inertia.B[3 * b + a]);
    }
    // Σ [ω]_ab B_ab = Σ ω_c G_c
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t a = (axis + 2) % 3, b = (axis + 1) % 3;
        impl_->quadratic.middleRows((6 + static_cast<Index>(axis)) * r, r) =
            inertia.B[3 * a + b] - inertia.B[3 * b + a];
    }
}
FreeFlight::FreeFlight(FreeFlight&&) noexcept = default;
FreeFlight& FreeFlight::operator=(FreeFlight&&) noexcept = default;
FreeFlight::~FreeFlight() = default;

const ReducedDynamics& FreeFlight::dynamics() const noexcept { return impl_->dynamics; }
FlightCoupling FreeFlight::coupling() const noexcept { return impl_->coupling; }
double FreeFlight::mass() const noexcept { return impl_->mass; }

FreeState FreeFlight::make_state() const { return {RigidMotion{}, impl_->dynamics.make_state()}; }

std::unique_ptr<FreeFlight::Workspace> FreeFlight::make_workspace() const {
    return std::make_unique<FlightWorkspace>(impl_->dynamics);
}

void FreeFlight::set_acceleration(FreeState& s, const Wrench& wrench_world, const ConstRef& f_body,
                                  Workspace& workspace) const noexcept {
    auto& ws = static_cast<FlightWorkspace&>(workspace);
    const Quaternion to_body = s.frame.pose.rotation.conjugate();
    const Vector3d omega = to_body * s.frame.velocity.angular;
    const Wrench wrench = take_loads(wrench_world, f_body, ws).wrench;
    impl_->evaluate(s.shape, ws);
    impl_->set_load(omega, ws);
    impl_->dynamics.set_acceleration(s.shape, ws.load, *ws.reduced);
    ws.used = ws.load;
    const Vector3d alpha =
        impl_->set_load_and_find_alpha(s.shape.a, omega, to_body * wrench.torque, ws);
    impl_->dynamics.set_acceleration(s.shape, ws.load, *ws.reduced);
    s.frame.acceleration = {wrench.force / impl_->mass, s.frame.pose.rotation * alpha};
}

ReducedReport FreeFlight::step(FreeState& s, const Wrench& wrench_world, const ConstRef& f_body,
                               double dt, Workspace& workspace) const noexcept {
    assert(f_body.size() == impl_->size());
    auto& ws = static_cast<FlightWorkspace&>(workspace);
    ReducedReport report;
    if (!is_finite(s.frame) || !is_finite(s.shape)) {
        s.frame = RigidMotion{};
        s.shape.q.setZero();
        s.shape.v.setZero();
        s.shape.a.setZero();
        s.shape.time = 0;
        report.status = StepStatus::StateReset;
        return report;
    }
    // as the reduced dynamics does, so that both parts move or none
    if (!(dt > 0) || !std::isfinite(dt * dt) || !std::isfinite(1 / (dt * dt))) {
        report.status = StepStatus::InputIgnored;
        return report;
    }
    const auto [wrench, is_usable] = take_loads(wrench_world, f_body, ws);

    // momentum of the start and the impulse
    const Quaternion& rotation = s.frame.pose.rotation;
    const Quaternion to_body = rotation.conjugate();
    const Spin start{rotation, to_body * s.frame.velocity.angular,
                     to_body * s.frame.acceleration.angular};
    impl_->evaluate(s.shape, ws);
    const Vector3d momentum = rotation * (ws.J * start.omega + ws.h) + dt * wrench.torque;

    // the shape under inertial forces of the start, then again under those of the end so found;
    // without coupling the load does not change
    impl_->set_load(start.omega, ws);
    if (impl_->coupling == FlightCoupling::Coupled) impl_->add_euler_load(start.alpha, ws);
    // two passes are of second order; the third keeps energy over many turns
    constexpr int kMaxPasses = 3;
    constexpr double kSettled = 1e-9;
    Spin end = start;
    for (int pass = 0; pass < kMaxPasses; ++pass) {
        ws.next = s.shape;
        ws.used = ws.load;
        report = impl_->dynamics.step(ws.next, ws.load, dt, *ws.reduced);
        impl_->evaluate(ws.next, ws);
        end = turn(start, momentum, dt, ws);
        end.alpha = impl_->set_load_and_find_alpha(ws.next.a, end.omega,
                                                   end.rotation.conjugate() * wrench.torque, ws);
        if ((ws.load - ws.used).norm() <= kSettled * ws.load.norm()) break;
    }

    // constant force moves the centre of mass
    RigidMotion frame;
    const Vector3d acceleration = wrench.force / impl_->mass, v = s.frame.velocity.linear;
    frame.pose = {s.frame.pose.position + dt * v + 0.5 * dt * dt * acceleration, end.rotation};
    frame.velocity = {v + dt * acceleration, end.rotation * end.omega};
    frame.acceleration = {acceleration, end.rotation * end.alpha};
    if (report.status == StepStatus::StepRejected || !is_finite(frame) || !is_finite(ws.next)) {
        report.status = StepStatus::StepRejected;
        return report;
    }
    s.frame = frame;
    s.shape = ws.next;
    if (!is_usable) report.status = StepStatus::InputIgnored;
    return report;
}

Wrench FreeFlight::momentum(const FreeState& s) const noexcept {
    const Quaternion& rotation = s.frame.pose.rotation;
    const Vector3d omega = rotation.conjugate() * s.frame.velocity.angular;
    const Vector3d linear = impl_->mass * s.frame.velocity.linear;
    const Vector3d spin =
        rotation * (impl_->inertia(s.shape) * omega + impl_->inner_momentum(s.shape));
    return {linear, s.frame.pose.position.cross(linear) + spin};
}

double FreeFlight::kinetic_energy(const FreeState& s) const noexcept {
    const Vector3d omega = s.frame.pose.rotation.conjugate() * s.frame.velocity.angular;
    return 0.5 * impl_->mass * s.frame.velocity.linear.squaredNorm() +
           0.5 * omega.dot(impl_->inertia(s.shape) * omega) +
           omega.dot(impl_->inner_momentum(s.shape)) + impl_->dynamics.kinetic_energy(s.shape);
}

}  // namespace pliant
