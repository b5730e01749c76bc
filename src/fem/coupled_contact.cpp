#include "fem/coupled_contact.h"

#include "fem/contact_rows.h"
#include "fem/contact_rules.h"
#include "fem/facet_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// A node whose response along the normal is a smaller part of its response in all directions is
/// held there already.
constexpr double kImmovable = 1e-6;

/// Those that can move.
std::vector<int> nodes_of_surface(const std::vector<Triangle>& facets,
                                  const CoupledSystem& system) {
    const CoupledSystem::RowMatrix& T = system.T_by_rows();
    std::vector<char> is_on_surface(static_cast<std::size_t>(T.rows() / 3), 0);
    for (const Triangle& facet : facets)
        for (const int node : facet) is_on_surface[node] = 1;
    std::vector<int> nodes;
    for (int node = 0; node < T.rows() / 3; ++node)
        if (is_on_surface[node] && T.outerIndexPtr()[3 * node + 3] > T.outerIndexPtr()[3 * node])
            nodes.push_back(node);
    return nodes;
}

int capacity_for(const ContactOptions& options, std::size_t num_surface_nodes,
                 std::size_t num_obstacles) {
    if (options.capacity > 0)
        return static_cast<int>(std::min(static_cast<std::size_t>(options.capacity),
                                         num_surface_nodes * num_obstacles));
    return std::min(static_cast<int>(num_surface_nodes), CoupledContact::kDefaultCapacity);
}

Vector3d across(const Vector3d& x, const Vector3d& normal) { return x - x.dot(normal) * normal; }

Vector3d limited(const Vector3d& x, double bound) {
    const double size = x.norm();
    return size > bound ? Vector3d(bound / size * x) : x;
}

}  // namespace

CoupledContact::CoupledContact(const FemModel& model, CoupledSystem& system,
                               std::vector<RigidShape> obstacles, const ContactOptions& options)
    : CoupledContact(model, system,
                     obstacles.empty() ? std::vector<Triangle>{} : boundary_triangles(model.mesh()),
                     std::move(obstacles), options) {}

CoupledContact::CoupledContact(const FemModel& model, CoupledSystem& system,
                               const std::vector<Triangle>& facets,
                               std::vector<RigidShape>&& obstacles, const ContactOptions& options)
    : model_(model),
      system_(system),
      obstacles_(std::move(obstacles)),
      options_(options),
      surface_nodes_(nodes_of_surface(facets, system)),
      reach_(options.reach > 0 ? options.reach : 0.5 * shortest_edge(model.mesh(), facets)),
      pairs_(surface_nodes_.size() * obstacles_.size()),
      next_pairs_(pairs_.size()),
      motions_(obstacles_.size()),
      motions_before_(obstacles_.size()),
      compliance_(system, model.num_nodes(),
                  capacity_for(options, surface_nodes_.size(), obstacles_.size())),
      complementarity_(capacity_for(options, surface_nodes_.size(), obstacles_.size())),
      wrenches_(obstacles_.size()) {
    const int capacity = capacity_for(options, surface_nodes_.size(), obstacles_.size());
    const auto size = static_cast<std::size_t>(capacity);
    touches_.reserve(size);
    nodes_.reserve(size);
    places_.reserve(size);
    places_of_S_.reserve(size);
    normals_of_S_.reserve(size);
    contacts_.reserve(size);
    S_.setZero(capacity, capacity);
    S_active_.setZero(capacity, capacity);
    active_.reserve(size);
    for (VectorXd* x :
         {&c_, &lambda_, &correction_, &impulse_, &smallest_impulse_, &c_active_, &x_active_})
        x->setZero(capacity);
    changes_.setZero(system.num_free(), CoupledSystem::kMaxColumns);
}

void CoupledContact::forget() noexcept {
    std::ranges::fill(pairs_, Pair{});
    captured_in_ = -1;
    are_motions_known_ = false;
    clear_contacts();
}

void CoupledContact::clear_contacts() noexcept {
    contacts_.clear();
    std::ranges::fill(wrenches_, Wrench{});
}

StepStatus CoupledContact::move(std::span<const RigidMotion> motions) noexcept {
    StepStatus status = StepStatus::Ok;
    motions_before_.swap(motions_);
    for (std::size_t k = 0; k < obstacles_.size(); ++k) {
        if (k < motions.size() && is_finite(motions[k])) {
            motions_[k] = motions[k];
        } else {
            motions_[k] = {.pose = motions_before_[k].pose, .velocity = {}, .acceleration = {}};
            if (!motions.empty()) status = StepStatus::InputIgnored;
        }
    }
    if (!are_motions_known_) motions_before_ = motions_;
    are_motions_known_ = true;
    return status;
}

void CoupledContact::undo() noexcept {
    motions_.swap(motions_before_);
    captured_in_ = -1;
    clear_contacts();
}

Vector3d CoupledContact::place_of(int node, const VectorXd& u) const noexcept {
    return model_.mesh().vertices[node] + u.segment<3>(3 * node);
}

ShapeSample CoupledContact::sample(int obstacle, const Vector3d& x_world) const noexcept {
    const Pose& pose = motions_[obstacle].pose;
    ShapeSample result = obstacles_[obstacle].sample(pose.to_body(x_world));
    result.normal = pose.rotation * result.normal;
    return result;
}

bool CoupledContact::make_touch(int pair, const ShapeSample& found, double dt,
                                const FemState& before, const VectorXd& u, const VectorXd& a_free,
                                Touch& touch) const noexcept {
    const auto num_obstacles = static_cast<int>(obstacles_.size());
    const Pair::Phase phase = pairs_[pair].phase;
    const bool is_inside = options_.trigger == ContactTrigger::Predictive
                               ? found.gap <= 0
                               : phase == Pair::Phase::Inside;
    touch.is_capture = phase != Pair::Phase::Held;
    if (touch.is_capture ? !is_inside : !(found.gap <= reach_)) return false;

    touch.pair = pair;
    touch.obstacle = pair % num_obstacles;
    touch.node = surface_nodes_[pair / num_obstacles];
    touch.point = place_of(touch.node, u);
    touch.normal = found.normal;
    touch.gap = found.gap;
    const Vector3d v = before.v.segment<3>(3 * touch.node), a = before.a.segment<3>(3 * touch.node);
    const Vector3d& n = touch.normal;
    const SurfaceMotion surface =
        surface_motion(motions_before_[touch.obstacle], motions_[touch.obstacle], touch.point);
    touch.a_free = a_free.segment<3>(3 * touch.node);
    touch.half_velocity = v + 0.5 * dt * a;
    // captured are nodes that come nearer and, without contact, would go on doing so
    const double approach = (v - surface.v).dot(n);
    const Vector3d next_half_velocity = touch.half_velocity + dt * touch.a_free;
    if (touch.is_capture &&
        !(approach < 0 && (next_half_velocity - surface.v - 0.5 * dt * surface.a).dot(n) < 0))
        return false;

    touch.incoming_velocity = (touch.half_velocity - surface.v + 0.5 * dt * surface.a).dot(n);
    touch.wanted_velocity = surface.v.dot(n);
    touch.stick_acceleration = (surface.v + 0.5 * dt * surface.a - touch.half_velocity) / dt;
    // eq. (C2), (C3); where the normal has turned, the velocity along it must go as well
    touch.wanted_acceleration = touch.is_capture
                                    ? capture_acceleration(approach, a.dot(n), dt)
                                    : surface.a.dot(n) - (v - surface.v_before).dot(n) / dt;
    return true;
}

bool CoupledContact::find(double dt, const FemState& before, const VectorXd& u,
                          const VectorXd& a_free) noexcept {
    touches_.clear();
    std::ranges::fill(next_pairs_, Pair{});
    bool is_complete = true;
    const auto num_obstacles = static_cast<int>(obstacles_.size());
    // held nodes first: a full table must not let them go
    for (const bool is_held : {true, false})
        for (int pair = 0; pair < static_cast<int>(pairs_.size()); ++pair) {
            if ((pairs_[pair].phase == Pair::Phase::Held) != is_held) continue;
            const int o = pair % num_obstacles;
            const Vector3d x = place_of(surface_nodes_[pair / num_obstacles], u);
            if (!is_held && !obstacles_[o].bounds().contains(motions_[o].pose.to_body(x))) continue;
            const ShapeSample found = sample(o, x);
            if (found.gap <= 0) next_pairs_[pair].phase = Pair::Phase::Inside;
            Touch touch{};
            if (!make_touch(pair, found, dt, before, u, a_free, touch)) continue;
            if (touches_.size() < touches_.capacity())
                touches_.push_back(touch);
            else
                is_complete = false;
        }
    return is_complete;
}

void CoupledContact::drop_immovable(int step) {
    nodes_.clear();
    for (const Touch& touch : touches_) nodes_.push_back(touch.node);
    places_.resize(nodes_.size());
    compliance_.require(step, nodes_, places_);
    for (std::size_t k = 0; k < touches_.size(); ++k) touches_[k].place = places_[k];
    std::erase_if(touches_, [&](const Touch& touch) {
        const int p = touch.place;
        double all = 0;
        for (int c = 0; c < 3; ++c) all += compliance_.response(p, p, Vector3d::Unit(c))[c];
        return !(touch.normal.dot(compliance_.response(p, p, touch.normal)) > kImmovable * all);
    });
}

bool CoupledContact::build_matrix() {
    const auto is_as_before = [&] {
        if (generation_of_S_ != compliance_.generation() || places_of_S_.size() != touches_.size())
            return false;
        for (std::size_t k = 0; k < touches_.size(); ++k)
            if (places_of_S_[k] != touches_[k].place || normals_of_S_[k] != touches_[k].normal)
                return false;
        return true;
    };
    if (is_as_before()) return true;
    generation_of_S_ = compliance_.generation();
    places_of_S_.clear();
    normals_of_S_.clear();
    for (const Touch& touch : touches_) {
        places_of_S_.push_back(touch.place);
        normals_of_S_.push_back(touch.normal);
    }
    // eq. (C11)
    for (int j = 0; j < num_touches(); ++j)
        for (int i = 0; i <= j; ++i)
            S_(i, j) = S_(j, i) = touches_[i].normal.dot(
                compliance_.response(touches_[i].place, touches_[j].place, touches_[j].normal));
    return false;
}

bool CoupledContact::solve_normal(bool is_same_matrix) {
    // eq. (C12); friction found so far acts as a load
    const int k = num_touches();
    for (int i = 0; i < k; ++i) {
        Vector3d a = touches_[i].a_free;
        for (const Touch& other : touches_)
            if (!other.friction.isZero(0))
                a += compliance_.response(touches_[i].place, other.place, other.friction);
        c_[i] = touches_[i].wanted_acceleration - a.dot(touches_[i].normal);
    }
    return complementarity_
        .solve(S_.topLeftCorner(k, k), c_.head(k), is_same_matrix, lambda_.head(k))
        .has_converged;
}

void CoupledContact::find_corrections(double dt) {
    // eq. (C6) for nodes that move together: what the next step's reset takes back
    for (int i = 0; i < num_touches(); ++i)
        correction_[i] = touches_[i].is_capture
                             ? capture_correction(1.0, touches_[i].incoming_velocity, dt)
                             : 0.0;
    complementarity_.solve_active(correction_.head(num_touches()));
    for (int i = 0; i < num_touches(); ++i)
        correction_[i] = std::clamp(correction_[i], 0.0, std::max(0.0, lambda_[i]));
}

void CoupledContact::update_accelerations() {
    for (int i = 0; i < num_touches(); ++i) {
        touches_[i].a = touches_[i].a_free;
        for (int j = 0; j < num_touches(); ++j)
            if (lambda_[j] != 0)
                touches_[i].a +=
                    compliance_.response(touches_[i].place, touches_[j].place, force_on(j));
    }
}

void CoupledContact::solve_friction() {
    // starting from the last step, few sweeps are enough: errors do not add up to a creep
    for (int i = 0; i < num_touches(); ++i) {
        if (!(lambda_[i] > 0)) continue;
        const Vector3d last = across(pairs_[touches_[i].pair].friction, touches_[i].normal);
        touches_[i].friction = limited(last, friction_bound(i));
    }
    update_accelerations();
    for (int sweep = 0; sweep < options_.sweeps; ++sweep)
        for (int i = 0; i < num_touches(); ++i) {
            Touch& touch = touches_[i];
            const double W = largest_tangential_response(touch);
            if (!(lambda_[i] > 0 && W > 0)) continue;
            const Vector3d lack = across(touch.stick_acceleration - touch.a, touch.normal);
            const Vector3d force = limited(touch.friction + lack / W, friction_bound(i));
            const Vector3d change = force - touch.friction;
            touch.friction = force;
            for (Touch& other : touches_)
                other.a += compliance_.response(other.place, touch.place, change);
        }
}

double CoupledContact::friction_bound(int i) const noexcept {
    return options_.friction * std::max(0.0, lambda_[i] - correction_[i]);
}

double CoupledContact::largest_tangential_response(const Touch& touch) const noexcept {
    const Vector3d s = touch.normal.unitOrthogonal(), t = touch.normal.cross(s);
    const Vector3d of_s = compliance_.response(touch.place, touch.place, s);
    const Vector3d of_t = compliance_.response(touch.place, touch.place, t);
    const double ss = s.dot(of_s), tt = t.dot(of_t), st = s.dot(of_t);
    return 0.5 * (ss + tt) + std::hypot(0.5 * (ss - tt), st);
}

bool CoupledContact::find_reset(double dt) {
    // eq. (C13)
    const int k = num_touches();
    for (int i = 0; i < k; ++i) {
        const Touch& touch = touches_[i];
        const Vector3d v = touch.half_velocity + 0.5 * dt * touch.a;
        c_[i] = touch.wanted_velocity - v.dot(touch.normal);
        // no more than makes the reported force zero, eq. (C6)
        smallest_impulse_[i] = -dt * (lambda_[i] - correction_[i]) - pairs_[touch.pair].owed;
    }
    impulse_.head(k) = c_.head(k);
    complementarity_.solve_active(impulse_.head(k));
    const std::span<const int> active = complementarity_.active();
    if (std::ranges::all_of(active, [&](int i) { return impulse_[i] >= smallest_impulse_[i]; }))
        return true;

    // some bound is reached: x = μ − bound ≥ 0, S x ≥ c − S bound on the active rows
    active_.assign(active.begin(), active.end());
    const auto m = static_cast<int>(active_.size());
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < m; ++i) S_active_(i, j) = S_(active_[i], active_[j]);
    for (int i = 0; i < m; ++i) {
        c_active_[i] = c_[active_[i]];
        for (int j = 0; j < m; ++j) c_active_[i] -= S_active_(i, j) * smallest_impulse_[active_[j]];
    }
    const bool has_converged =
        complementarity_
            .solve(S_active_.topLeftCorner(m, m), c_active_.head(m), false, x_active_.head(m))
            .has_converged;
    impulse_.setZero();
    for (int i = 0; i < m; ++i) impulse_[active_[i]] = smallest_impulse_[active_[i]] + x_active_[i];
    generation_of_S_ = -1;  // its factor is gone
    return has_converged;
}

void CoupledContact::find_changes(int step) {
    changes_.setZero();
    for (int i = 0; i < num_touches(); ++i) {
        const Vector3d force = force_on(i), impulse = impulse_[i] * touches_[i].normal;
        for (int c = 0; c < 3; ++c)
            for (CoupledSystem::RowMatrix::InnerIterator entry(system_.T_by_rows(),
                                                               3 * touches_[i].node + c);
                 entry; ++entry) {
                changes_(entry.col(), 0) += entry.value() * force[c];
                changes_(entry.col(), 1) += entry.value() * impulse[c];
            }
    }
    system_.solve(step, changes_);
}

StepStatus CoupledContact::solve(int step, const FemState& before, const VectorXd& u,
                                 const VectorXd& a) {
    const double dt = system_.steps().length(step);
    StepStatus status = find(dt, before, u, a) ? StepStatus::Ok : StepStatus::CapacityExceeded;
    has_forces_ = false;
    if (touches_.empty()) return status;
    drop_immovable(step);
    const bool is_same_matrix = build_matrix();
    bool has_converged = solve_normal(is_same_matrix);
    find_corrections(dt);
    if (options_.friction > 0) {
        solve_friction();
        has_converged = solve_normal(true) && has_converged;
        find_corrections(dt);
        // who lets go does not rub
        for (int i = 0; i < num_touches(); ++i)
            if (!(lambda_[i] > 0)) touches_[i].friction.setZero();
    }
    update_accelerations();
    has_forces_ = (lambda_.head(num_touches()).array() > 0).any();
    if (has_forces_) {
        has_converged = find_reset(dt) && has_converged;
        find_changes(step);
    }
    if (!has_converged) status = StepStatus::NotConverged;
    return status;
}

void CoupledContact::commit(int step) noexcept {
    clear_contacts();
    captured_in_ = -1;
    const double dt = system_.steps().length(step);
    for (int i = 0; i < num_touches(); ++i) {
        const Touch& touch = touches_[i];
        const double owed = pairs_[touch.pair].owed;
        Pair& next = next_pairs_[touch.pair];
        // eq. (C6)
        double normal_force = owed / dt;
        const bool is_kept = lambda_[i] > 0;
        if (is_kept) {
            next = {Pair::Phase::Held, correction_[i] * dt, touch.friction};
            if (touch.is_capture) captured_in_ = step;
            normal_force += lambda_[i] - correction_[i] + impulse_[i] / dt;
            normal_force = std::max(0.0, normal_force);  // against round-off
        }
        if (!is_kept && owed == 0) continue;

        const Vector3d force = normal_force * touch.normal + touch.friction;
        contacts_.push_back({.body = 0,
                             .node = touch.node,
                             .obstacle = touch.obstacle,
                             .point = touch.point,
                             .normal = touch.normal,
                             .gap = touch.gap,
                             .force = force,
                             .normal_force = normal_force,
                             .is_capture = is_kept && touch.is_capture});
        const Vector3d arm = touch.point - motions_[touch.obstacle].pose.position;
        wrenches_[touch.obstacle] += Wrench{-force, -arm.cross(force)};
    }
    pairs_.swap(next_pairs_);
}

}  // namespace pliant
