#include "fem/contact_solver.h"

#include <algorithm>
#include <cassert>

namespace pliant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

auto at(const VectorXd& x, int node) { return x.segment<3>(3 * Eigen::Index{node}); }
auto at(VectorXd& x, int node) { return x.segment<3>(3 * Eigen::Index{node}); }

/// x += weight · inverse mass · force at the nodes of the row.
void push(const ContactRow& row, const Vector3d& force, std::span<ConstrainedBody> bodies,
          VectorXd* ConstrainedBody::*x, const VectorXd* ConstrainedBody::*inverse_mass) noexcept {
    for (int k = 0; k < row.num_terms; ++k) {
        const auto& [b, node, weight] = row.terms[k];
        ConstrainedBody& body = bodies[b];
        at(*(body.*x), node) += weight * at(*(body.*inverse_mass), node).cwiseProduct(force);
    }
}

/// Bound of the inverse mass in all directions; exact for nodes that move freely.
double largest_inverse_mass(const ContactRow& row,
                            std::span<const ConstrainedBody> bodies) noexcept {
    double sum = 0;
    for (int k = 0; k < row.num_terms; ++k) {
        const auto& [b, node, weight] = row.terms[k];
        sum += weight * weight * at(*bodies[b].inverse_q, node).maxCoeff();
    }
    return sum;
}

/// Whether one row changes what another has found: shared nodes, or nodes that a force does not
/// move along itself.
bool are_coupled(std::span<const ContactRow> rows, std::span<ConstrainedBody> bodies) noexcept {
    bool result = false;
    for (const ContactRow& row : rows)
        for (int k = 0; k < row.num_terms; ++k) {
            ConstrainedBody& body = bodies[row.terms[k].body];
            const int node = row.terms[k].node;
            const auto q = at(*body.inverse_q, node);
            if (body.num_uses[node]++ > 0 || q[0] != q[1] || q[0] != q[2]) result = true;
        }
    for (const ContactRow& row : rows)
        for (int k = 0; k < row.num_terms; ++k)
            bodies[row.terms[k].body].num_uses[row.terms[k].node] = 0;
    return result;
}

/// One Gauss–Seidel step of the normal force, eq. (C5).
void solve_normal(ContactRow& row, std::span<ConstrainedBody> bodies) noexcept {
    const double W = row.inverse_mass(bodies, &ConstrainedBody::inverse_q);
    if (!(W > 0)) return;
    const double lack =
        row.normal_acceleration - row.relative(bodies, &ConstrainedBody::a).dot(row.normal);
    const double change = std::max(lack / W, row.smallest_force - row.normal_force);
    row.normal_force += change;
    push(row, change * row.normal, bodies, &ConstrainedBody::a, &ConstrainedBody::inverse_q);
}

/// The same of friction, eq. (C7).
void solve_friction(ContactRow& row, std::span<ConstrainedBody> bodies, double friction) noexcept {
    const double W = largest_inverse_mass(row, bodies);
    if (!(W > 0)) return;
    Vector3d lack = row.stick_acceleration - row.relative(bodies, &ConstrainedBody::a);
    lack -= lack.dot(row.normal) * row.normal;
    const double bound = friction * std::max(0.0, row.normal_force - row.correction);
    Vector3d force = row.friction_force + lack / W;
    if (const double size = force.norm(); size > bound) force *= bound / size;
    push(row, force - row.friction_force, bodies, &ConstrainedBody::a, &ConstrainedBody::inverse_q);
    row.friction_force = force;
}

}  // namespace

void ContactRow::add(int body, int node, double weight) noexcept {
    for (int k = 0; k < num_terms; ++k)
        if (terms[k].body == body && terms[k].node == node) {
            terms[k].weight += weight;
            return;
        }
    assert(num_terms < kMaxTerms);
    terms[num_terms++] = {body, node, weight};
}

double ContactRow::inverse_mass(std::span<const ConstrainedBody> bodies,
                                const VectorXd* ConstrainedBody::*field) const noexcept {
    double sum = 0;
    for (int k = 0; k < num_terms; ++k) {
        const auto& [b, node, weight] = terms[k];
        sum += weight * weight * normal.cwiseAbs2().dot(at(*(bodies[b].*field), node));
    }
    return sum;
}

void solve_contacts(std::span<ContactRow> rows, std::span<ConstrainedBody> bodies, double friction,
                    int sweeps) noexcept {
    if (!are_coupled(rows, bodies)) sweeps = 1;
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (ContactRow& row : rows) {
            solve_normal(row, bodies);
            if (friction > 0) solve_friction(row, bodies, friction);
        }
}

void reset_velocities(std::span<ContactRow> rows, std::span<const int> held,
                      std::span<ConstrainedBody> bodies, double dt, int sweeps) noexcept {
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (const int i : held) {
            ContactRow& row = rows[i];
            const double W = row.inverse_mass(bodies, &ConstrainedBody::inverse_mass);
            if (!(W > 0)) continue;
            const Vector3d v = row.relative(bodies, &ConstrainedBody::half_v) +
                               0.5 * dt * row.relative(bodies, &ConstrainedBody::a);
            const double impulse = std::max((row.normal_velocity - v.dot(row.normal)) / W,
                                            row.smallest_reset - row.reset_impulse);
            row.reset_impulse += impulse;
            push(row, impulse * row.normal, bodies, &ConstrainedBody::half_v,
                 &ConstrainedBody::inverse_mass);
        }
}

}  // namespace pliant
