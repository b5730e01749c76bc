#include "pliant/fem/explicit_scene.h"

#include "core/numbers.h"
#include "fem/contact_detection.h"
#include "fem/contact_rows.h"
#include "geometry/option_check.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using Phase = ExplicitScene::Touch::Phase;

void check_options(const ContactOptions& o) {
    check_option(o.friction >= 0 && std::isfinite(o.friction), "contact.friction", o.friction,
                 "0 <= value < infinity");
    check_option(o.sweeps >= 1 && o.sweeps <= 1000, "contact.sweeps", o.sweeps,
                 "1 <= value <= 1000");
    check_option(o.reach >= 0 && std::isfinite(o.reach), "contact.reach", o.reach,
                 "0 <= value < infinity");
    check_option(o.capacity >= 0, "contact.capacity", o.capacity, "0 <= value");
}

/// 1/m of the unknowns that move on their own.
VectorXd free_inverse_mass(const ExplicitDynamics& body) {
    VectorXd inverse = body.mass();
    for (Eigen::Index i = 0; i < inverse.size(); ++i) {
        const int node = static_cast<int>(i / 3), axis = static_cast<int>(i % 3);
        const bool is_free = inverse[i] > 0 && !body.constraints().is_prescribed(node, axis);
        inverse[i] = is_free ? 1 / inverse[i] : 0;
    }
    return inverse;
}

std::vector<int> hanging_places(const VolumeMesh& mesh) {
    std::vector<int> place(mesh.vertices.size(), -1);
    for (std::size_t h = 0; h < mesh.hanging.size(); ++h)
        place[mesh.hanging[h].vertex] = static_cast<int>(h);
    return place;
}

/// x of hanging nodes = mean of their masters.
void follow_masters(const VolumeMesh& mesh, VectorXd& x) noexcept {
    for (const HangingNode& h : mesh.hanging) {
        Vector3d sum = Vector3d::Zero();
        for (int m = 0; m < h.num_masters; ++m) sum += x.segment<3>(3 * Eigen::Index{h.masters[m]});
        x.segment<3>(3 * Eigen::Index{h.vertex}) = h.weight * sum;
    }
}

/// A status that is worse than what was known before.
void worsen(StepStatus& status, StepStatus other) noexcept {
    const auto severity = [](StepStatus x) {
        switch (x) {
            case StepStatus::Ok: return 0;
            case StepStatus::CapacityExceeded: return 1;
            case StepStatus::InputIgnored: return 2;
            case StepStatus::StepRejected: return 3;
            default: return 4;
        }
    };
    if (severity(other) > severity(status)) status = other;
}

}  // namespace

struct ExplicitScene::Workspace::Impl {
    std::vector<ExplicitDynamics::Workspace> bodies;
    std::vector<RigidMotion> motions;  // those that count
    ContactDetection::Workspace detection;
    std::vector<ConstrainedBody> fields;
    std::vector<ContactRow> rows;
    std::vector<int> row_of_touch;  // of those found; −1: nothing to solve
    std::vector<int> held;          // rows
    std::vector<Touch> next;        // of those found, after the step
    std::vector<Contact> contacts;
    std::vector<double> contact_work;
    std::vector<Wrench> wrenches;
    std::vector<StepStatus> finished;  // of each body
    int most_contacts = 0;
    bool has_captured = false;
};

ExplicitScene::Workspace::Workspace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExplicitScene::Workspace::Workspace(Workspace&&) noexcept = default;
ExplicitScene::Workspace& ExplicitScene::Workspace::operator=(Workspace&&) noexcept = default;
ExplicitScene::Workspace::~Workspace() = default;
std::span<const Contact> ExplicitScene::Workspace::contacts() const noexcept {
    return impl_->contacts;
}
const Wrench& ExplicitScene::Workspace::wrench(int obstacle) const noexcept {
    return impl_->wrenches[obstacle];
}
int ExplicitScene::Workspace::most_contacts() const noexcept { return impl_->most_contacts; }
void ExplicitScene::Workspace::forget() noexcept {
    for (ExplicitDynamics::Workspace& body : impl_->bodies) ExplicitDynamics::forget(body);
}

struct ExplicitScene::Impl {
    using Work = Workspace::Impl;

    std::vector<ExplicitDynamics> bodies;
    std::vector<RigidShape> obstacles;
    ContactOptions options;
    ContactDetection detection;
    std::vector<VectorXd> inverse_mass;
    std::vector<std::vector<int>> hanging_place;  // of each node in mesh.hanging; −1: not hanging

    [[nodiscard]] bool is_literal() const noexcept { return options.mode == ContactMode::Literal; }
    void add_node(ContactRow& row, int body, int node, double weight) const noexcept;
    [[nodiscard]] bool make_row(const FoundTouch& t, const State& s, double dt, const Work& ws,
                                ContactRow& row) const noexcept;
    void solve(const State& s, double dt, Work& ws) const noexcept;
    [[nodiscard]] bool is_kept_out(const FoundTouch& t, const ContactRow& row) const noexcept;
    void report_touch(const FoundTouch& t, const ContactRow* row, double dt,
                      Work& ws) const noexcept;
    [[nodiscard]] StepStatus finish(State& s, double dt, Work& ws) const noexcept;
    void commit(State& s, double dt, const Work& ws) const noexcept;
};

void ExplicitScene::Impl::add_node(ContactRow& row, int body, int node,
                                   double weight) const noexcept {
    const int h = hanging_place[body][node];
    if (h < 0) return row.add(body, node, weight);
    const HangingNode& hanging = bodies[body].model().mesh().hanging[h];
    for (int m = 0; m < hanging.num_masters; ++m)
        row.add(body, hanging.masters[m], weight * hanging.weight);
}

/// Whether there is something to solve for.
bool ExplicitScene::Impl::make_row(const FoundTouch& t, const State& s, double dt, const Work& ws,
                                   ContactRow& row) const noexcept {
    const bool is_held = t.is_kept() && !is_literal();
    if (is_held && !(t.gap <= detection.reach(t.body))) return false;
    // the literal rule leaves the second of its two steps alone
    if (t.is_kept() && is_literal()) return false;
    const bool is_inside = options.trigger == ContactTrigger::Predictive
                               ? t.gap <= 0
                               : t.before.phase == Phase::Inside;
    if (!is_held && !is_inside) return false;

    add_node(row, t.body, detection.surface_nodes(t.body)[t.surface_node], 1);
    row.normal = t.normal;
    SurfaceMotion surface;
    if (const int o = t.before.obstacle; o >= 0) {
        surface = surface_motion(s.obstacles[o], ws.motions[o], t.x);
    } else {
        if (t.facet < 0) return false;
        const int other = t.before.other_body;
        for (int k = 0; k < 3; ++k)
            add_node(row, other, detection.facet(other, t.facet)[k], -t.weights[k]);
    }
    if (is_held) {
        want_hold(row, surface, ws.fields, dt);
        return true;
    }
    if (!is_approaching(row, surface, ws.fields)) return false;
    if (!is_literal() && !goes_on_approaching(row, surface, ws.fields, dt)) return false;
    want_capture(row, surface, !is_literal(), ws.fields, dt);
    if (is_literal() && t.before.obstacle >= 0) row.smallest_force = -kInfinity;
    return true;
}

bool ExplicitScene::Impl::is_kept_out(const FoundTouch& t, const ContactRow& row) const noexcept {
    return (is_literal() && t.before.obstacle >= 0) || row.normal_force > 0;
}

void ExplicitScene::Impl::solve(const State& s, double dt, Work& ws) const noexcept {
    ws.rows.clear();
    ws.row_of_touch.clear();
    for (const FoundTouch& t : ws.detection.found) {
        ContactRow& row = ws.rows.emplace_back();
        const bool is_needed = make_row(t, s, dt, ws, row);
        ws.row_of_touch.push_back(is_needed ? static_cast<int>(ws.rows.size()) - 1 : -1);
        if (!is_needed) ws.rows.pop_back();
    }
    solve_contacts(ws.rows, ws.fields, options.friction, options.sweeps);
    // rows read the accelerations of hanging nodes before finish() sets them
    if (!ws.rows.empty())
        for (std::size_t b = 0; b < bodies.size(); ++b)
            follow_masters(bodies[b].model().mesh(), ws.bodies[b].a);
    for (ContactRow& row : ws.rows) keep_half_velocities(row, ws.fields);
    if (is_literal()) return;

    // eq. (C8); no more than makes the reported force zero
    ws.held.clear();
    for (std::size_t i = 0; i < ws.row_of_touch.size(); ++i) {
        const int r = ws.row_of_touch[i];
        if (r < 0 || !(ws.rows[r].normal_force > 0)) continue;
        ContactRow& row = ws.rows[r];
        row.correction = std::clamp(row.correction, 0.0, row.normal_force);
        row.smallest_reset =
            -dt * (row.normal_force - row.correction) - ws.detection.found[i].before.owed;
        ws.held.push_back(r);
    }
    reset_velocities(ws.rows, ws.held, ws.fields, dt, options.sweeps);
}

/// What comes of a touch: the next phase, and the force if there is one.
void ExplicitScene::Impl::report_touch(const FoundTouch& t, const ContactRow* row, double dt,
                                       Work& ws) const noexcept {
    const bool is_kept = row && is_kept_out(t, *row);
    const bool is_capture = is_kept && !t.is_kept();
    Touch& next = ws.next.emplace_back(t.before);
    next.owed = is_capture ? row->correction * dt : 0;
    next.phase = is_capture   ? Phase::Captured
                 : is_kept    ? Phase::Held
                 : t.gap <= 0 ? Phase::Inside
                              : Phase::None;
    ws.has_captured |= is_capture;
    if (!is_kept && (t.before.owed == 0 || !std::isfinite(t.gap))) return;

    // eq. (C6)
    double normal_force = (t.before.owed - next.owed) / dt;
    Vector3d friction = Vector3d::Zero();
    if (is_kept) {
        normal_force += row->normal_force + row->reset_impulse / dt;
        friction = row->friction_force;
    }
    // round-off apart it never is negative
    if (!is_literal()) normal_force = std::max(0.0, normal_force);
    const Vector3d force = normal_force * t.normal + friction;
    ws.contacts.push_back({
        .body = t.body,
        .node = detection.surface_nodes(t.body)[t.surface_node],
        .obstacle = t.before.obstacle,
        .other_body = t.before.other_body,
        .facet = t.facet,
        .point = t.x,
        .normal = t.normal,
        .gap = t.gap,
        .force = force,
        .normal_force = normal_force,
        .is_capture = is_capture,
    });
    if (is_kept) add_contact_work(*row, ws.fields, dt, ws.contact_work);
    if (const int o = t.before.obstacle; o >= 0) {
        const Vector3d arm = t.x - ws.motions[o].pose.position;
        ws.wrenches[o] += Wrench{-force, -arm.cross(force)};
    }
}

/// All bodies or none.
StepStatus ExplicitScene::Impl::finish(State& s, double dt, Work& ws) const noexcept {
    StepStatus status = StepStatus::Ok;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        ws.finished[b] = bodies[b].finish(s.bodies[b], dt, ws.bodies[b]);
        worsen(status, ws.finished[b]);
    }
    if (status == StepStatus::Ok) return status;
    for (std::size_t b = 0; b < bodies.size(); ++b)
        if (ws.finished[b] == StepStatus::Ok) bodies[b].undo(s.bodies[b], ws.bodies[b]);
    return status;
}

/// What the next step needs to know.
void ExplicitScene::Impl::commit(State& s, double dt, const Work& ws) const noexcept {
    for (auto& touches : s.touches) std::ranges::fill(touches, Touch{});
    for (std::size_t i = 0; i < ws.next.size(); ++i) {
        if (ws.next[i].phase == Phase::None) continue;
        const FoundTouch& t = ws.detection.found[i];
        Touch* place = &s.touches[t.body][static_cast<std::size_t>(kMaxTouches) * t.surface_node];
        while (place->phase != Phase::None) ++place;
        *place = ws.next[i];
    }
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        s.work[b].external_work += ws.bodies[b].work.external_work;
        s.work[b].damping_work += ws.bodies[b].work.damping_work;
        s.work[b].contact_work += ws.contact_work[b];
    }
    std::ranges::copy(ws.motions, s.obstacles.begin());
    s.last_dt = dt;
    s.has_captured = ws.has_captured;
}

ExplicitScene::ExplicitScene(std::vector<ExplicitDynamics> bodies,
                             std::vector<RigidShape> obstacles, const ContactOptions& options) {
    check_options(options);
    ContactDetection detection(bodies, obstacles, options);
    impl_ = std::make_unique<Impl>(
        Impl{std::move(bodies), std::move(obstacles), options, std::move(detection), {}, {}});
    for (const ExplicitDynamics& body : impl_->bodies) {
        impl_->inverse_mass.push_back(free_inverse_mass(body));
        impl_->hanging_place.push_back(hanging_places(body.model().mesh()));
    }
}
ExplicitScene::~ExplicitScene() = default;
ExplicitScene::ExplicitScene(ExplicitScene&&) noexcept = default;
ExplicitScene& ExplicitScene::operator=(ExplicitScene&&) noexcept = default;

const std::vector<ExplicitDynamics>& ExplicitScene::bodies() const noexcept {
    return impl_->bodies;
}
const std::vector<RigidShape>& ExplicitScene::obstacles() const noexcept {
    return impl_->obstacles;
}
const ContactOptions& ExplicitScene::options() const noexcept { return impl_->options; }
void ExplicitScene::set_friction(double friction) noexcept {
    if (friction >= 0 && std::isfinite(friction)) impl_->options.friction = friction;
}
const std::vector<int>& ExplicitScene::surface_nodes(int body) const noexcept {
    return impl_->detection.surface_nodes(body);
}

double ExplicitScene::stable_step() const noexcept {
    double dt = kInfinity;
    for (const ExplicitDynamics& body : impl_->bodies) dt = std::min(dt, body.stable_step().dt);
    return dt;
}

ExplicitScene::State ExplicitScene::make_state() const {
    State s;
    for (std::size_t b = 0; b < impl_->bodies.size(); ++b) {
        s.bodies.push_back(impl_->bodies[b].make_state());
        s.touches.emplace_back(kMaxTouches * surface_nodes(static_cast<int>(b)).size());
    }
    s.obstacles.resize(impl_->obstacles.size());
    s.work.resize(impl_->bodies.size());
    return s;
}

ExplicitScene::Workspace ExplicitScene::make_workspace() const {
    auto ws = std::make_unique<Workspace::Impl>();
    for (const ExplicitDynamics& body : impl_->bodies) {
        ws->bodies.push_back(body.make_workspace());
        ws->fields.emplace_back().num_uses.assign(body.model().num_nodes(), 0);
    }
    ws->motions.resize(impl_->obstacles.size());
    ws->wrenches.resize(impl_->obstacles.size());
    ws->contact_work.resize(impl_->bodies.size());
    ws->finished.resize(impl_->bodies.size());
    ws->detection = impl_->detection.make_workspace();
    const std::size_t capacity = impl_->detection.capacity();
    ws->rows.reserve(capacity);
    ws->row_of_touch.reserve(capacity);
    ws->held.reserve(capacity);
    ws->next.reserve(capacity);
    ws->contacts.reserve(capacity);
    return Workspace(std::move(ws));
}

ExplicitScene::Report ExplicitScene::step(State& s, std::span<const VectorXd> loads,
                                          std::span<const RigidMotion> motions, double dt,
                                          Workspace& workspace, double least_det_F) const noexcept {
    const Impl& scene = *impl_;
    Workspace::Impl& ws = *workspace.impl_;
    const std::size_t num_bodies = scene.bodies.size();
    assert(s.bodies.size() == num_bodies && loads.size() == num_bodies);
    assert(s.obstacles.size() == motions.size() && motions.size() == scene.obstacles.size());
    Report report;
    ws.contacts.clear();
    std::ranges::fill(ws.wrenches, Wrench{});
    std::ranges::fill(ws.contact_work, 0.0);
    if (!(dt > 0 && std::isfinite(dt))) {
        report.status = StepStatus::InputIgnored;
        return report;
    }
    // eq. (C1) needs two equal steps
    if (s.has_captured && std::abs(dt - s.last_dt) > 1e-9 * s.last_dt) {
        report.status = StepStatus::StepRejected;
        return report;
    }
    for (std::size_t o = 0; o < motions.size(); ++o) {
        ws.motions[o] = motions[o];
        if (is_finite(motions[o])) continue;
        ws.motions[o] = {s.obstacles[o].pose, {}, {}};
        worsen(report.status, StepStatus::InputIgnored);
    }

    // as if there were no contact
    for (std::size_t b = 0; b < num_bodies; ++b) {
        scene.bodies[b].predict(s.bodies[b], dt, ws.bodies[b]);
        const ExplicitReport r =
            scene.bodies[b].accelerate(s.bodies[b], loads[b], dt, ws.bodies[b]);
        worsen(report.status, r.status);
        const bool is_smallest = b == 0 || r.smallest_det_F.value < report.smallest_det_F.value;
        if (is_smallest) report.smallest_det_F = r.smallest_det_F;
        if (r.is_collapsing && (is_smallest || report.collapsing_body < 0))
            report.collapsing_body = static_cast<int>(b);
        ConstrainedBody& fields = ws.fields[b];
        fields.v_before = &s.bodies[b].v;
        fields.a_before = &s.bodies[b].a;
        fields.half_v = &ws.bodies[b].half_v;
        fields.a = &ws.bodies[b].a;
        fields.inverse_q = &ws.bodies[b].inverse_q;
        fields.inverse_mass = &scene.inverse_mass[b];
    }

    if (report.smallest_det_F.value < least_det_F) {
        for (std::size_t b = 0; b < num_bodies; ++b)
            scene.bodies[b].abandon(s.bodies[b], ws.bodies[b]);
        report.status = StepStatus::StepRejected;
        report.is_inverting = true;
        return report;
    }

    // contact
    scene.detection.find(scene.bodies, scene.obstacles, s, ws.motions, ws.detection);
    if (!ws.detection.is_complete) worsen(report.status, StepStatus::CapacityExceeded);
    scene.solve(s, dt, ws);
    ws.next.clear();
    ws.has_captured = false;
    for (std::size_t i = 0; i < ws.detection.found.size(); ++i) {
        const int row = ws.row_of_touch[i];
        scene.report_touch(ws.detection.found[i], row >= 0 ? &ws.rows[row] : nullptr, dt, ws);
    }
    report.num_contacts = static_cast<int>(ws.contacts.size());
    ws.most_contacts = std::max(ws.most_contacts, report.num_contacts);

    // velocities; then the step counts
    if (const StepStatus status = scene.finish(s, dt, ws); status != StepStatus::Ok) {
        worsen(report.status, status);
        ws.contacts.clear();
        std::ranges::fill(ws.wrenches, Wrench{});
        report.num_contacts = 0;
        // it may be tried again with another length
        s.has_captured = false;
        if (status == StepStatus::StateReset)
            for (auto& touches : s.touches) std::ranges::fill(touches, Touch{});
        return report;
    }
    scene.commit(s, dt, ws);
    return report;
}

}  // namespace pliant
