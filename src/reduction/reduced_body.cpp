#include "pliant/reduction/reduced_body.h"

#include "body/surface_display.h"
#include "body/wind.h"
#include "core/jacobi_eigen.h"
#include "geometry/option_check.h"
#include "reduction/reduced_body_model.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace pliant {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using Index = Eigen::Index;

constexpr int kMaxHeldPoints = 4;
/// Prescribed points move independently where this part of the largest |Ū_s|² of the surface is
/// left of each row beside the others: a thousandth in displacements, far above the rounding of
/// stored surfaces.
constexpr double kIndependent = 1e-6;

/// Of the length of a saved rotation; those of steps are exact to rounding.
constexpr double kUnit = 1e-6;

enum Parameter : int { kStiffness, kMassDamping, kStiffnessDamping, kLinear };

std::vector<LiveParameter> live_parameters(const ReducedBodyOptions& options, bool is_free) {
    const ReducedDamping& damping = options.damping;
    std::vector<LiveParameter> parameters = {
        {.name = "stiffness",
         .label = "Stiffness",
         .unit = "",
         .help = "Factor of the elastic force; frequencies follow its square root. Safe over "
                 "the whole range.",
         .value = 1,
         .low = 0.1,
         .high = 10,
         .is_logarithmic = true},
        {.name = "mass_damping",
         .label = "Mass damping",
         .unit = "1/s",
         .help = "Slows vibrations of all frequencies alike, as a light breeze does; 0 swings "
                 "longest. Safe over the whole range.",
         .value = damping.mass,
         .low = 0,
         .high = std::max(10.0, damping.mass)},
        {.name = "stiffness_damping",
         .label = "Stiffness damping",
         .unit = "s",
         .help = "Takes fast vibrations first: 0.002 feels like rubber, 0.02 like dough. Safe "
                 "over the whole range.",
         .value = damping.stiffness,
         .low = 0,
         .high = std::max(0.05, damping.stiffness)}};
    // the other answer costs each body a workspace: not for swarms of free ones
    if (!is_free)
        parameters.push_back({.name = "linear",
                              .label = "Linear",
                              .unit = "",
                              .help = "1: answers in proportion to forces, as small motions do; "
                                      "0: large motions as they are. What lies between counts as "
                                      "the nearer one.",
                              .value = options.is_linear ? 1.0 : 0.0,
                              .low = 0,
                              .high = 1});
    return parameters;
}

const ReducedBodyOptions& checked(const ReducedBodyOptions& o, bool is_free) {
    const ReducedDamping& damping = o.damping;
    check_option(damping.mass >= 0 && std::isfinite(damping.mass), "damping.mass", damping.mass,
                 "0 <= value < infinity");
    check_option(damping.stiffness >= 0 && std::isfinite(damping.stiffness), "damping.stiffness",
                 damping.stiffness, "0 <= value < infinity");
    if (!is_finite(o.pose) || !(o.pose.rotation.norm() > 0))
        throw InputError("", "the pose of a reduced body is not a finite position and rotation");
    const Twist& v = o.velocity;
    if (!v.linear.allFinite() || !v.angular.allFinite())
        throw InputError("", "the velocity of a reduced body is not finite");
    if (!is_free && !(v.linear.isZero(0) && v.angular.isZero(0)))
        throw InputError("",
                         "a reduced body that is held has a velocity; leave it out, or build "
                         "the model free");
    return o;
}

}  // namespace

struct ReducedBody::Impl {
    /// A surface point that is held, and where [world].
    struct HeldPoint {
        SurfacePoint point;
        Vector3d target, rest;
    };

    Impl(std::shared_ptr<const ReducedBodyModel::Data> shared, const ReducedBodyOptions& options);

    std::shared_ptr<const ReducedBodyModel::Data> data;
    std::shared_ptr<const ReducedMotion> motion;
    std::shared_ptr<const ReducedMotion> other_motion;  ///< of a held body: linear, or not
    bool is_linear = false;
    Vector3d centre = Vector3d::Zero();  ///< of the frame in the rest shape

    FreeState initial, state;
    Pose pose, pose_start;  ///< of the rest shape's axes
    VectorXd q_start;

    // loads
    VectorXd load, gravity_load, wind_load, total;
    VectorXd last_load;  ///< of the last step, in the acceleration of the state
    Wrench wrench;       ///< about the frame's origin
    Vector3d gravity = Vector3d::Zero(), wind = Vector3d::Zero();  ///< wind: N per Pa
    double wind_pressure = 0;
    bool has_bad_input = false;

    std::array<HeldPoint, kMaxHeldPoints> held;
    int num_held = 0;
    MatrixXd held_rows;  ///< 3 rows of Ū for each
    VectorXd goals, multipliers;
    FreeState rehearsed_state;  // what a rehearsal puts back
    VectorXd rehearsed_multipliers;

    std::vector<LiveParameter> parameters;

    // scratch
    std::unique_ptr<ReducedDynamics::Workspace> held_workspace, other_workspace;
    std::unique_ptr<FreeFlight::Workspace> flight_workspace;
    MatrixXd rows;  ///< of Ū at one point
    VectorXd row, product, a_before;

    [[nodiscard]] bool is_free() const noexcept { return motion->flight.has_value(); }
    [[nodiscard]] int size() const noexcept { return static_cast<int>(q_start.size()); }
    [[nodiscard]] ReducedDynamics::Workspace& workspace() const noexcept {
        return is_free() ? *flight_workspace->reduced : *held_workspace;
    }
    [[nodiscard]] ReducedTuning& tuning() const noexcept { return workspace().tuning; }
    [[nodiscard]] const Quaternion& rotation() const noexcept { return state.frame.pose.rotation; }

    /// The rest shape's axes from a frame, eq. (27).
    [[nodiscard]] Pose pose_of(const Pose& frame) const noexcept {
        return {frame.position - frame.rotation * centre, frame.rotation};
    }
    [[nodiscard]] Vector3d body_position(const SurfacePoint& p, const VectorXd& q) const noexcept {
        return p.triangle >= 0 ? data->shapes.position(p.triangle, p.barycentric, q)
                               : data->shapes.position(p.vertex, q);
    }
    [[nodiscard]] Vector3d body_velocity(const SurfacePoint& p, const VectorXd& v) const noexcept {
        return p.triangle >= 0 ? data->shapes.velocity(p.triangle, p.barycentric, v)
                               : data->shapes.velocity(p.vertex, v);
    }
    void project(const SurfacePoint& p, const Vector3d& f_body, VectorXd& f) const noexcept {
        if (p.triangle >= 0)
            data->shapes.add_force(p.triangle, p.barycentric, f_body, f);
        else
            data->shapes.add_force(p.vertex, f_body, f);
    }
    /// Ū_s into `rows`.
    void find_rows(const SurfacePoint& p) noexcept {
        for (int axis = 0; axis < 3; ++axis) {
            row.setZero();
            project(p, Vector3d::Unit(axis), row);
            rows.row(axis) = row;
        }
    }
    void clear_loads() noexcept {
        load.setZero();
        workspace().contact.is_active = false;
        wrench = {};
        has_bad_input = false;
    }
    void set_state(const FreeState& s) noexcept {
        state = s;
        q_start = s.shape.q;
        last_load.setZero();
        pose = pose_start = pose_of(s.frame.pose);
    }
    /// The other answer from the next step on; position and velocity go on.
    void set_linear(bool linear) noexcept {
        if (linear == is_linear) return;
        is_linear = linear;
        std::swap(motion, other_motion);
        std::swap(held_workspace, other_workspace);
        held_workspace->tuning = other_workspace->tuning;
        std::swap(held_workspace->contact, other_workspace->contact);
        motion->held->set_acceleration(state.shape, last_load, *held_workspace);
    }
    /// Gravity and wind on a free body, through its centre of mass.
    [[nodiscard]] Vector3d steady_force() const noexcept {
        return motion->flight->mass() * gravity + wind_pressure * wind;
    }
    /// Whether the first `num_rows` rows of held_rows can be moved one by one, eq. (30).
    [[nodiscard]] bool are_independent(int num_rows) noexcept;
    [[nodiscard]] bool begin_load() noexcept;
    /// Of the step just done: contact changed with the shape.
    [[nodiscard]] const VectorXd& load_at_end() noexcept {
        const ReducedContact& contact = workspace().contact;
        if (contact.is_active) {
            product = state.shape.q - q_start;
            total.noalias() -= contact.stiffness * product;
        }
        return total;
    }
    [[nodiscard]] StepStatus step_under_load(double dt) noexcept;

    /// Calls visit(numbers, count) for all that save_state() keeps, in its order.
    template <class Self, class Visit>
    static void visit_state(Self& m, const Visit& visit) {
        const auto visit_pose = [&](auto& p) {
            visit(p.position.data(), 3);
            visit(p.rotation.coeffs().data(), 4);
        };
        const auto visit_twist = [&](auto& t) {
            visit(t.linear.data(), 3);
            visit(t.angular.data(), 3);
        };
        visit(m.state.shape.q.data(), m.size());
        visit(m.state.shape.v.data(), m.size());
        visit(m.state.shape.a.data(), m.size());
        visit(m.q_start.data(), m.size());
        visit(m.last_load.data(), m.size());
        visit(&m.state.shape.time, 1);
        if (!m.is_free()) return;
        visit_pose(m.state.frame.pose);
        visit_pose(m.pose_start);
        visit_twist(m.state.frame.velocity);
        visit_twist(m.state.frame.acceleration);
    }
    [[nodiscard]] int state_size() const noexcept { return 5 * size() + 1 + (is_free() ? 26 : 0); }
};

ReducedBody::Impl::Impl(std::shared_ptr<const ReducedBodyModel::Data> shared,
                        const ReducedBodyOptions& options)
    : data(std::move(shared)) {
    checked(options, data->model.is_free());
    motion = data->motion(options);
    const int r = data->model.rank();
    q_start = load = gravity_load = wind_load = total = last_load = VectorXd::Zero(r);
    row = product = a_before = q_start;
    held_rows = MatrixXd::Zero(Index{3} * kMaxHeldPoints, r);
    goals = multipliers = VectorXd::Zero(Index{3} * kMaxHeldPoints);
    rows = MatrixXd::Zero(3, r);
    parameters = live_parameters(options, is_free());
    is_linear = options.is_linear;
    if (is_free()) {
        centre = data->inertia->centre;
        flight_workspace = motion->flight->make_workspace();
    } else {
        ReducedBodyOptions other = options;
        other.is_linear = !options.is_linear;
        other_motion = data->motion(other);
        held_workspace = motion->held->make_workspace();
        other_workspace = other_motion->held->make_workspace();
    }
    tuning() = {1, options.damping.mass, options.damping.stiffness};

    initial.shape = motion->dynamics().make_state();
    const Quaternion rotation = options.pose.rotation.normalized();
    initial.frame.pose = {options.pose.position + rotation * centre, rotation};
    initial.frame.velocity = options.velocity;
    if (is_free()) motion->flight->set_acceleration(initial, {}, load, *flight_workspace);
    set_state(initial);
    rehearsed_state = state;
    rehearsed_multipliers = multipliers;
}

bool ReducedBody::Impl::are_independent(int num_rows) noexcept {
    using Gram = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3 * kMaxHeldPoints,
                               3 * kMaxHeldPoints>;
    const auto C = held_rows.topRows(num_rows);
    Gram G(num_rows, num_rows);
    for (int k = 0; k < num_rows; ++k) {
        row = held_rows.row(k);
        product.noalias() = data->inverse_mass * row;
        G.col(k) = C.lazyProduct(product);
    }
    const Eigen::LDLT<Gram> factor(G);
    const double least = kIndependent * data->largest_row * data->inverse_mass.diagonal().mean();
    return factor.info() == Eigen::Success && (factor.vectorD().array() > least).all();
}

/// Loads are constant over the step: the acceleration at its start is that of the new load, eq.
/// (28).
bool ReducedBody::Impl::begin_load() noexcept {
    a_before = state.shape.a;
    total = load;
    if (is_free())
        wrench.force += steady_force();
    else
        total += gravity_load + wind_pressure * wind_load;
    product = total - last_load;
    state.shape.a.noalias() += data->inverse_mass * product;
    if (state.shape.a.allFinite() && wrench.force.allFinite() && wrench.torque.allFinite())
        return true;
    // sums that are too large
    total.setZero();
    wrench = {};
    product = -last_load;
    state.shape.a = a_before;
    state.shape.a.noalias() += data->inverse_mass * product;
    return false;
}

StepStatus ReducedBody::Impl::step_under_load(double dt) noexcept {
    if (is_free()) return motion->flight->step(state, wrench, total, dt, *flight_workspace).status;
    if (num_held == 0) return motion->held->step(state.shape, total, dt, *held_workspace).status;
    const int num_rows = 3 * num_held;
    for (int k = 0; k < num_held; ++k) {
        const HeldPoint& h = held[static_cast<std::size_t>(k)];
        goals.segment<3>(Index{3} * k) = pose.to_body(h.target) - h.rest;
    }
    return motion->held
        ->step_constrained(state.shape, total, dt, held_rows.topRows(num_rows),
                           goals.head(num_rows), multipliers.head(num_rows), *held_workspace)
        .status;
}

ReducedBody::ReducedBody(const ReducedModel& model, const ReducedBodyOptions& options)
    : ReducedBody(ReducedBodyModel(model), options) {}
ReducedBody::ReducedBody(const ReducedBodyModel& model, const ReducedBodyOptions& options)
    : Body(model.data_->surface), impl_(std::make_unique<Impl>(model.data_, options)) {}
ReducedBody::~ReducedBody() = default;

const ReducedModel& ReducedBody::model() const noexcept { return impl_->data->model; }
const SurfaceShapes& ReducedBody::shapes() const noexcept { return impl_->data->shapes; }
const ReducedState& ReducedBody::state() const noexcept { return impl_->state.shape; }
const Pose& ReducedBody::pose() const noexcept { return impl_->pose; }
std::shared_ptr<const BodyDisplay> ReducedBody::display() const { return impl_->data->display; }

void ReducedBody::add_reduced_force(const Eigen::Ref<const VectorXd>& f) noexcept {
    assert(f.size() == impl_->size());
    if (f.allFinite())
        impl_->load += f;
    else
        impl_->has_bad_input = true;
}

void ReducedBody::add_wrench(const Wrench& wrench) noexcept {
    if (!wrench.force.allFinite() || !wrench.torque.allFinite())
        impl_->has_bad_input = true;
    else if (impl_->is_free())
        impl_->wrench += wrench;
}

const RigidMotion& ReducedBody::frame() const noexcept { return impl_->state.frame; }
const std::optional<RigidMass>& ReducedBody::rest_mass() const noexcept {
    return impl_->data->rest_mass;
}
const ReducedTuning& ReducedBody::tuning() const noexcept { return impl_->tuning(); }

Wrench ReducedBody::next_wrench() const noexcept {
    const Impl& m = *impl_;
    return m.is_free() ? m.wrench + Wrench{m.steady_force(), Vector3d::Zero()} : Wrench{};
}

void ReducedBody::next_acceleration(VectorXd& a) const noexcept {
    Impl& m = *impl_;
    m.product = m.load - m.last_load;
    if (!m.is_free()) m.product += m.gravity_load + m.wind_pressure * m.wind_load;
    a = m.state.shape.a;
    a.noalias() += m.data->inverse_mass * m.product;
}

void ReducedBody::add_contact(const Eigen::Ref<const VectorXd>& f,
                              const Eigen::Ref<const MatrixXd>& K, double damping) noexcept {
    Impl& m = *impl_;
    assert(f.size() == m.size() && K.rows() == m.size() && K.cols() == m.size());
    if (!f.allFinite() || !K.allFinite() || !(damping >= 0) || !std::isfinite(damping)) {
        m.has_bad_input = true;
        return;
    }
    m.load += f;
    ReducedContact& contact = m.workspace().contact;
    if (contact.is_active) {
        contact.stiffness += K;
        contact.damping = std::max(contact.damping, damping);
    } else {
        contact.stiffness = K;
        contact.damping = damping;
        contact.is_active = true;
    }
}

void ReducedBody::add_force(const SurfacePoint& point, const Vector3d& force) noexcept {
    Impl& m = *impl_;
    if (!is_valid(point) || !force.allFinite()) {
        m.has_bad_input = true;
        return;
    }
    m.project(point, m.rotation().conjugate() * force, m.load);
    if (!m.is_free()) return;
    const Vector3d lever = position(point) - m.state.frame.pose.position;
    m.wrench += {force, lever.cross(force)};
}

void ReducedBody::set_gravity(const Vector3d& acceleration) noexcept {
    if (!acceleration.allFinite()) return;
    impl_->gravity = acceleration;
    // of a held body, whose axes do not turn
    const Vector3d g_body = impl_->rotation().conjugate() * acceleration;
    impl_->gravity_load.noalias() = impl_->data->weight * g_body;
}

void ReducedBody::set_wind_direction(const Vector3d& direction) {
    Impl& m = *impl_;
    m.wind.setZero();
    m.wind_load.setZero();
    if (m.is_free()) {
        // a quarter of the surface is what a convex body shows on average, eq. (29)
        const double length = direction.stableNorm();
        if (length > 0 && std::isfinite(length))
            m.wind = surface_area(surface()) / 4 / length * direction;
        return;
    }
    const std::vector<Vector3d> forces =
        wind_forces(surface(), m.rotation().conjugate() * direction);
    for (int v = 0; v < surface().num_vertices(); ++v)
        m.data->shapes.add_force(v, forces[static_cast<std::size_t>(v)], m.wind_load);
}

void ReducedBody::set_wind_pressure(double pressure) noexcept {
    if (std::isfinite(pressure)) impl_->wind_pressure = pressure;
}

Vector3d ReducedBody::position(const SurfacePoint& point, TickMoment moment) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const Impl& m = *impl_;
    if (moment == TickMoment::Start)
        return m.pose_start.to_world(m.body_position(point, m.q_start));
    return m.pose.to_world(m.body_position(point, m.state.shape.q));
}

Vector3d ReducedBody::velocity(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const Impl& m = *impl_;
    const Vector3d inner = m.rotation() * m.body_velocity(point, m.state.shape.v);
    if (!m.is_free()) return inner;
    return m.state.frame.velocity_at(position(point)) + inner;
}

Vector3d ReducedBody::normal(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return Vector3d::Zero();
    const Impl& m = *impl_;
    const int triangle = triangle_of(point);
    if (triangle < 0) return Vector3d::Zero();
    return m.rotation() * m.data->shapes.normal(triangle, m.state.shape.q);
}

double ReducedBody::mobility(const SurfacePoint& point) const noexcept {
    if (!is_valid(point)) return 0;
    Impl& m = *impl_;
    m.find_rows(point);
    Matrix3d B;
    for (int axis = 0; axis < 3; ++axis) {
        m.row = m.rows.row(axis);
        m.product.noalias() = m.data->inverse_mass * m.row;
        B.col(axis) = m.rows.lazyProduct(m.product);
    }
    double largest = std::max(jacobi_eigen(B).values[2], 0.0);
    if (m.is_free()) {
        const double lever = (position(point) - m.state.frame.pose.position).norm();
        largest += 1 / m.motion->flight->mass() + lever * lever / m.data->smallest_inertia;
    }
    return std::isfinite(largest) ? largest : 0;
}

bool ReducedBody::prescribe(const SurfacePoint& point, const Vector3d& place) noexcept {
    Impl& m = *impl_;
    if (m.is_free() || !is_valid(point) || !place.allFinite()) return false;
    for (int k = 0; k < m.num_held; ++k) {
        Impl::HeldPoint& h = m.held[static_cast<std::size_t>(k)];
        if (h.point.triangle != point.triangle || h.point.vertex != point.vertex ||
            h.point.barycentric != point.barycentric)
            continue;
        h.target = place;
        return true;
    }
    if (m.num_held == kMaxHeldPoints || 3 * (m.num_held + 1) > m.size()) return false;
    m.find_rows(point);
    m.held_rows.middleRows(Index{3} * m.num_held, 3) = m.rows;
    if (!m.are_independent(3 * (m.num_held + 1))) return false;
    m.product.setZero();
    m.held[static_cast<std::size_t>(m.num_held++)] = {point, place,
                                                      m.body_position(point, m.product)};
    return true;
}

void ReducedBody::release_all() noexcept {
    impl_->num_held = 0;
    impl_->multipliers.setZero();
}

Vector3d ReducedBody::holding_force(int i) const noexcept {
    if (i < 0 || i >= impl_->num_held) return Vector3d::Zero();
    return impl_->rotation() * impl_->multipliers.segment<3>(Index{3} * i);
}

bool ReducedBody::compliance(const SurfacePoint& point, Matrix3d& C) const noexcept {
    Impl& m = *impl_;
    if (m.is_free() || !is_valid(point)) return false;
    m.find_rows(point);
    Matrix3d Y;
    if (!m.motion->held->compliance(m.state.shape, m.rows, Y, *m.held_workspace)) return false;
    const Matrix3d R = m.rotation().toRotationMatrix();
    C = R * Y * R.transpose();
    return true;
}

Energy ReducedBody::energy() const noexcept {
    const Impl& m = *impl_;
    const ReducedDynamics& dynamics = m.motion->dynamics();
    const double kinetic = m.is_free() ? m.motion->flight->kinetic_energy(m.state)
                                       : dynamics.kinetic_energy(m.state.shape);
    return {kinetic, dynamics.elastic_energy(m.state.shape, m.workspace())};
}

std::vector<LiveParameter> ReducedBody::parameters() const { return impl_->parameters; }

void ReducedBody::set_parameter(int index, double value) noexcept {
    if (index < 0 || index >= static_cast<int>(impl_->parameters.size()) || !std::isfinite(value))
        return;
    const double kept = clamped(impl_->parameters[static_cast<std::size_t>(index)], value);
    ReducedTuning& tuning = impl_->tuning();
    switch (index) {
        case kStiffness: tuning.stiffness = kept; break;
        case kMassDamping: tuning.mass_damping = kept; break;
        case kStiffnessDamping: tuning.stiffness_damping = kept; break;
        default: impl_->set_linear(kept >= 0.5); break;
    }
}

int ReducedBody::state_size() const noexcept { return impl_->state_size(); }

void ReducedBody::save_state(std::span<double> saved) const noexcept {
    assert(static_cast<int>(saved.size()) == state_size());
    double* to = saved.data();
    Impl::visit_state(std::as_const(*impl_), [&](const double* numbers, int count) {
        to = std::copy_n(numbers, count, to);
    });
}

bool ReducedBody::restore_state(std::span<const double> saved) noexcept {
    Impl& m = *impl_;
    if (static_cast<int>(saved.size()) != state_size()) return false;
    if (!Eigen::Map<const VectorXd>(saved.data(), state_size()).allFinite()) return false;
    if (m.is_free()) {
        // both rotations
        const double* const poses = saved.data() + 5 * m.size() + 1;
        for (const int begin : {3, 3 + kPoseFloats})
            if (std::abs(Eigen::Map<const Eigen::Vector4d>(poses + begin).norm() - 1) > kUnit)
                return false;
    }
    const double* from = saved.data();
    Impl::visit_state(m, [&](double* numbers, int count) {
        std::copy_n(from, count, numbers);
        from += count;
    });
    m.pose = m.pose_of(m.state.frame.pose);
    m.multipliers.setZero();
    return true;
}

void ReducedBody::write_display(std::span<float> display_state) const noexcept {
    const VectorXd& q = impl_->state.shape.q;
    assert(static_cast<Index>(display_state.size()) == kPoseFloats + q.size());
    write_pose(impl_->pose, display_state);
    Eigen::Map<Eigen::VectorXf>(display_state.data() + kPoseFloats, q.size()) = q.cast<float>();
}

void ReducedBody::rehearse(double dt) noexcept {
    Impl& m = *impl_;
    m.rehearsed_state = m.state;
    m.rehearsed_multipliers = m.multipliers;
    const Wrench wrench = m.wrench;
    static_cast<void>(m.begin_load());
    static_cast<void>(m.step_under_load(dt));
    m.state = m.rehearsed_state;
    m.multipliers = m.rehearsed_multipliers;
    m.wrench = wrench;
}

StepStatus ReducedBody::do_step(double dt) noexcept {
    Impl& m = *impl_;
    m.q_start = m.state.shape.q;
    m.pose_start = m.pose;
    const bool is_usable = m.begin_load() && !m.has_bad_input;
    StepStatus status = m.step_under_load(dt);
    if (status == StepStatus::StateReset)
        m.set_state(m.initial);
    else if (status == StepStatus::Ok || status == StepStatus::NotConverged)
        m.last_load = m.load_at_end();
    else
        m.state.shape.a = m.a_before;  // nothing was done
    if (status == StepStatus::StepRejected) {
        // what is left of the motion would make it fail again: the shape goes on from rest
        m.state.shape.v.setZero();
        m.state.shape.a.setZero();
    }
    m.pose = m.pose_of(m.state.frame.pose);
    if (status == StepStatus::Ok && !is_usable) status = StepStatus::InputIgnored;
    m.clear_loads();
    return status;
}

void ReducedBody::do_reset() noexcept {
    impl_->set_state(impl_->initial);
    impl_->clear_loads();
    release_all();
}

}  // namespace pliant
