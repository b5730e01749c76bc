#include "fem/surface_contact.h"

#include "core/numbers.h"

#include <algorithm>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kMostSweeps = 20;
/// Changes of velocity below this end the sweeps [m/s].
constexpr double kSettled = 1e-7;
/// What is inside leaves within this many steps, no faster than that [m/s].
constexpr double kStepsOut = 20, kSpeedOut = 0.2;

/// Σ weight · value over the nodes that carry the soft side.
template <class Row>
Vector3d carried(const Row& row, const VectorXd& x) noexcept {
    Vector3d sum = Vector3d::Zero();
    for (int k = 0; k < row.num_nodes; ++k)
        sum += row.weights[k] * x.segment<3>(3 * Eigen::Index{row.nodes[k]});
    return sum;
}

template <class Row>
Vector3d relative_velocity(const Row& row, const VectorXd& a,
                           std::span<const ContactPartner> partners, double dt) noexcept {
    Vector3d acceleration = carried(row, a);
    if (row.partner >= 0) acceleration -= partners[at(row.partner)].acceleration.at(row.arm);
    return row.free_velocity + dt * acceleration;
}

template <class Row>
void push(const Row& row, const Vector3d& force, const VectorXd& inverse_q, VectorXd& a,
          std::span<ContactPartner> partners) noexcept {
    for (int k = 0; k < row.num_nodes; ++k) {
        const Eigen::Index i = 3 * Eigen::Index{row.nodes[k]};
        a.segment<3>(i) += row.weights[k] * inverse_q.segment<3>(i).cwiseProduct(force);
    }
    if (row.partner < 0) return;
    ContactPartner& partner = partners[at(row.partner)];
    partner.acceleration.linear -= partner.inverse_mass * force;
    partner.acceleration.angular -=
        partner.inverse_inertia.lazyProduct(Vector3d(row.arm.cross(force)));
}

/// Relative acceleration along and across the normal by unit forces.
template <class Row>
void set_response(Row& row, const VectorXd& inverse_q,
                  std::span<const ContactPartner> partners) noexcept {
    Vector3d soft = Vector3d::Zero();
    for (int k = 0; k < row.num_nodes; ++k)
        soft += row.weights[k] * row.weights[k] *
                inverse_q.segment<3>(3 * Eigen::Index{row.nodes[k]});
    const Vector3d n = row.normal, t = n.unitOrthogonal(), s = n.cross(t);
    const auto response = [&](const Vector3d& a, const Vector3d& b) {
        double sum = a.cwiseProduct(soft).dot(b);
        if (row.partner >= 0) {
            const ContactPartner& p = partners[at(row.partner)];
            sum += p.inverse_mass * a.dot(b) +
                   row.arm.cross(a).dot(p.inverse_inertia.lazyProduct(Vector3d(row.arm.cross(b))));
        }
        return sum;
    };
    row.normal_response = response(n, n);
    const double tt = response(t, t), ss = response(s, s), ts = response(t, s);
    row.tangent_response = 0.5 * (tt + ss) + std::hypot(0.5 * (tt - ss), ts);
}

}  // namespace

SurfaceContact::SurfaceContact(CarriedSurface surface, const std::vector<RigidBody*>& obstacles,
                               double friction, int capacity)
    : surface_(std::move(surface)),
      detection_(surface_, obstacles, capacity),
      friction_(friction),
      num_obstacles_(obstacles.size()) {}

std::vector<SurfaceContact::Kept> SurfaceContact::make_kept() const {
    std::vector<Kept> kept;
    kept.reserve(at(capacity()));
    return kept;
}

SurfaceContact::Workspace SurfaceContact::make_workspace() const {
    Workspace ws;
    ws.detection = detection_.make_workspace();
    const std::size_t n = at(capacity());
    ws.rows.reserve(n);
    const std::size_t most = 3 * at(surface_.most_carriers());
    ws.nodes.resize(n * most);
    ws.weights.resize(n * most);
    ws.kept.reserve(n);
    ws.contacts.reserve(n);
    ws.wrenches.resize(num_obstacles_);
    return ws;
}

/// The nodes of the row; those of a place inside a facet count once.
void SurfaceContact::carry(const FoundContact& contact, Row& row, Workspace& ws) const noexcept {
    if (contact.vertex >= 0) {
        const auto [nodes, weights] = surface_.carriers(contact.vertex);
        row.nodes = nodes.data();
        row.weights = weights.data();
        row.num_nodes = static_cast<int>(nodes.size());
        return;
    }
    const std::size_t first = ws.rows.size() * 3 * at(surface_.most_carriers());
    int* const nodes = ws.nodes.data() + first;
    double* const shares = ws.weights.data() + first;
    int count = 0;
    for (int corner = 0; corner < 3; ++corner) {
        const double part = contact.weights[corner];
        if (part == 0) continue;
        const auto [of, weights] = surface_.carriers(contact.facet[at(corner)]);
        for (std::size_t k = 0; k < of.size(); ++k) {
            const int place = static_cast<int>(std::find(nodes, nodes + count, of[k]) - nodes);
            if (place == count) {
                nodes[count] = of[k];
                shares[count++] = 0;
            }
            shares[place] += part * weights[k];
        }
    }
    row.nodes = nodes;
    row.weights = shares;
    row.num_nodes = count;
}

void SurfaceContact::make_rows(const ContactNodes& nodes, std::span<const RigidMotion> motions,
                               std::span<const int> partner_of,
                               std::span<const ContactPartner> partners,
                               const std::vector<Kept>& kept, double dt, double horizon,
                               Workspace& ws) const noexcept {
    ws.rows.clear();
    auto last = kept.begin();
    for (const FoundContact& found : ws.detection.found) {
        Row row;
        carry(found, row, ws);
        const RigidMotion& motion = motions[at(found.obstacle)];
        row.partner = partner_of[at(found.obstacle)];
        row.normal = found.normal;
        row.lambda = 0;
        row.friction.setZero();
        // both sides at the next half step
        row.free_velocity = carried(row, nodes.half_v) - motion.velocity_at(found.x) -
                            0.5 * dt * motion.acceleration_at(found.x);
        row.arm.setZero();
        if (row.partner >= 0) row.arm = found.x - partners[at(row.partner)].centre;
        row.wanted = found.gap > 0 ? -found.gap / horizon
                                   : std::min(-found.gap / (kStepsOut * horizon), kSpeedOut);
        set_response(row, nodes.inverse_q, partners);
        // where the last step ended
        const std::int32_t index = found.vertex >= 0 ? 2 * found.vertex : 2 * found.point + 1;
        const auto is_before = [&](const Kept& k) {
            if (k.obstacle != found.obstacle) return k.obstacle < found.obstacle;
            return k.index % 2 != index % 2 ? k.index % 2 < index % 2 : k.index < index;
        };
        while (last != kept.end() && is_before(*last)) ++last;
        if (last != kept.end() && last->obstacle == found.obstacle && last->index == index) {
            row.lambda = std::max(0.0, last->force.dot(row.normal));
            row.friction = last->force - last->force.dot(row.normal) * row.normal;
            const double size = row.friction.norm(), bound = friction_ * row.lambda;
            if (size > bound) row.friction *= bound / size;
        }
        ws.rows.push_back(row);
    }
}

StepStatus SurfaceContact::solve(const ContactNodes& nodes, double way,
                                 std::span<const RigidMotion> motions,
                                 std::span<const int> partner_of,
                                 std::span<ContactPartner> partners, const std::vector<Kept>& kept,
                                 double dt, double horizon, Workspace& ws) const noexcept {
    detection_.find(surface_, nodes.u, way, motions, horizon, horizon / dt, ws.detection);
    make_rows(nodes, motions, partner_of, partners, kept, dt, horizon, ws);
    for (const Row& row : ws.rows)
        if (row.lambda > 0)
            push(row, row.lambda * row.normal + row.friction, nodes.inverse_q, nodes.a, partners);

    const auto relax = [&](Row& row) {
        if (!(row.normal_response > 0)) return 0.0;
        const Vector3d v = relative_velocity(row, nodes.a, partners, dt);
        const double lack = row.wanted - v.dot(row.normal);
        const double change = std::max(lack / (dt * row.normal_response), -row.lambda);
        row.lambda += change;
        Vector3d force = change * row.normal;
        if (friction_ > 0 && (row.lambda > 0 || !row.friction.isZero(0.0))) {
            const Vector3d sliding = v - v.dot(row.normal) * row.normal;
            Vector3d friction = row.friction - sliding / (dt * row.tangent_response);
            const double size = friction.norm(), bound = friction_ * row.lambda;
            if (size > bound) friction *= bound / size;
            force += friction - row.friction;
            row.friction = friction;
        }
        if (force.isZero(0.0)) return 0.0;
        push(row, force, nodes.inverse_q, nodes.a, partners);
        return dt * force.norm() * std::max(row.normal_response, row.tangent_response);
    };
    // there and back, so that no end of the list is preferred
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
        double largest = 0;
        if (sweep % 2 == 0)
            for (Row& row : ws.rows) largest = std::max(largest, relax(row));
        else
            for (std::size_t i = ws.rows.size(); i-- > 0;)
                largest = std::max(largest, relax(ws.rows[i]));
        if (!(largest > kSettled)) break;
    }
    report(motions, ws);
    return ws.detection.is_complete ? StepStatus::Ok : StepStatus::CapacityExceeded;
}

void SurfaceContact::report(std::span<const RigidMotion> motions, Workspace& ws) const noexcept {
    ws.kept.clear();
    ws.contacts.clear();
    std::ranges::fill(ws.wrenches, Wrench{});
    for (std::size_t i = 0; i < ws.rows.size(); ++i) {
        const Row& row = ws.rows[i];
        if (!(row.lambda > 0)) continue;
        const FoundContact& found = ws.detection.found[i];
        const Vector3d force = row.lambda * row.normal + row.friction;
        ws.kept.push_back({found.obstacle,
                           found.vertex >= 0 ? 2 * found.vertex : 2 * found.point + 1, force});
        ws.contacts.push_back(
            {found.obstacle, found.x, found.normal, found.gap, force, row.lambda});
        const Vector3d arm = found.x - motions[at(found.obstacle)].pose.position;
        ws.wrenches[at(found.obstacle)] += Wrench{-force, -arm.cross(force)};
    }
}

}  // namespace pliant
