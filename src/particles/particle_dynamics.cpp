#include "pliant/particles/particle_dynamics.h"

#include "core/numbers.h"
#include "geometry/option_check.h"
#include "particles/ellipsoid_contact.h"
#include "particles/group_colours.h"
#include "particles/match_kernels.h"
#include "particles/particle_pairs.h"
#include "particles/push_out.h"
#include "particles/skin_contact.h"
#include "pliant/core/parallel.h"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix3f;
using Eigen::Vector3d;
using Eigen::Vector3f;

/// Part of the size of a group below which goals are not followed.
constexpr double kDeafness = 1e-6;

/// m/5 Q diag(r²) Qᵀ: second moment of the particle at rest, docs/particles.md eq. (3).
Matrix3d spread_of(const Particle& p) {
    const Matrix3d Q = p.rotation.normalized().toRotationMatrix();
    return p.mass / 5 * Q * p.radii.cwiseAbs2().asDiagonal() * Q.transpose();
}

/// The part of each particle, named by its lowest particle: what links connect.
std::vector<int> connected_parts(const ParticleLayout& layout) {
    std::vector<int> part(layout.particles.size());
    std::iota(part.begin(), part.end(), 0);
    const auto root = [&](int i) {
        while (part[at(i)] != i) i = part[at(i)] = part[at(part[at(i)])];
        return i;
    };
    for (const auto& [a, b] : layout.links) {
        const int i = root(a), j = root(b);
        part[at(std::max(i, j))] = std::min(i, j);
    }
    for (int i = 0; i < layout.num_particles(); ++i) part[at(i)] = root(i);
    return part;
}

bool is_ball(const Particle& p) { return p.radii.maxCoeff() == p.radii.minCoeff(); }

/// See PolarFallback.
bool polar_by_svd(const float* A, float* q) noexcept {
    const Matrix3d M = Eigen::Map<const Matrix3f>(A).cast<double>();
    if (!M.allFinite() || !(M.determinant() > 0)) return false;
    const Eigen::JacobiSVD<Matrix3d> svd(M, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Quaterniond rotation(Matrix3d(svd.matrixU() * svd.matrixV().transpose()));
    q[0] = static_cast<float>(rotation.w());
    Eigen::Map<Vector3f>(q + 1) = rotation.vec().cast<float>();
    return true;
}

Eigen::Map<Vector3f> place(MatchParticle& p) { return Eigen::Map<Vector3f>(p.x); }

void check_particle_options(const ParticleOptions& o, int num_particles) {
    check_option(o.iterations >= 1 && o.iterations <= 1000, "iterations", o.iterations,
                 "1 to 1000");
    check_option(o.damping >= 0 && o.damping <= 1e6, "damping", o.damping, "0 to 1e6 (1/s)");
    check_option(o.friction >= 0 && o.friction <= 10, "friction", o.friction, "0 to 10");
    check_option(o.cloth_stiffness >= 0 && o.cloth_stiffness <= 1, "cloth_stiffness",
                 o.cloth_stiffness, "0 to 1");
    const double compliance = o.cloth_compliance.value_or(0);
    check_option(compliance >= 0 && std::isfinite(compliance), "cloth_compliance", compliance,
                 "at least 0 m/N");
    check_option(o.collision_capacity >= 1 && o.collision_capacity <= 1000, "collision_capacity",
                 o.collision_capacity, "1 to 1000");
    for (const ParticlePlane& plane : o.planes)
        if (!(plane.normal.norm() > 0) || !plane.normal.allFinite() || !std::isfinite(plane.offset))
            throw InputError("", "the normal of a plane must be finite and not zero");
    std::vector<bool> is_taken(at(num_particles), false);
    for (const Attachment& attachment : o.attachments)
        for (const int i : attachment.particles) {
            check_option(i >= 0 && i < num_particles, "attachment", i, "the number of a particle");
            if (is_taken[at(i)])
                throw InputError("", "particle " + std::to_string(i) +
                                         " is attached twice; leave it out of one attachment");
            is_taken[at(i)] = true;
        }
}

}  // namespace

int ParticleLayout::num_objects() const noexcept {
    int n = 0;
    for (const Particle& p : particles) n = std::max(n, p.object + 1);
    return n;
}

bool is_finite(const ParticleState& s) noexcept {
    const auto all = [](const auto& list) {
        return std::ranges::all_of(list, [](const Vector3d& x) { return x.allFinite(); });
    };
    return all(s.position) && all(s.velocity) && all(s.spin) && std::isfinite(s.time) &&
           std::ranges::all_of(s.turn, [](const Quaternion& q) { return q.coeffs().allFinite(); });
}

struct ParticleDynamics::Workspace {
    std::vector<MatchParticle> particles;
    std::vector<float> turns;             ///< w x y z of each
    std::vector<Vector3f> first, before;  ///< predicted and present places, from the origin
    std::vector<Vector3d> target;         ///< predicted, world
    std::vector<Vector3d> velocity, spin;
    std::vector<Quaternion> turn;
    std::vector<Matrix3f> ellipsoid;  ///< of this step, turned
    std::vector<float> multipliers;   ///< of the links of cloth
    std::vector<Vector3d> driven;     ///< where particles are driven to, and how turned
    std::vector<Quaternion> driven_turn;
    std::vector<int> unsettled;  ///< of each batch
    std::unique_ptr<ParticlePairs> pairs;
    std::vector<float> pair_goals;  ///< of the gap of each pair at the end of the step [m]
    SkinContact::Workspace skin;
    /// Of each part: mass times change by passes, and by contacts alone [kg m].
    std::vector<Vector3d> all_changes, contact_changes;
    Report report;
};

struct ParticleDynamics::Impl {
    /// A link of cloth.
    struct Link {
        int a, b;
        float length;
    };
    struct Motion {
        const Attachment* attachment;
        Vector3d centre;
    };

    Impl(ParticleLayout given_layout, ParticleOptions given_options, const ParticleModel* model);
    void make_groups();
    [[nodiscard]] EllipsoidGap gap_of(int i, int j, const Vector3f& apart,
                                      const Workspace& ws) const;
    void find_contacts(const ParticleState& s, const Vector3d& origin, double dt,
                       Workspace& ws) const;
    void predict(const ParticleState& s, const std::vector<Vector3d>& forces,
                 const Vector3d& gravity, double dt, const Tuning& tuning, Workspace& ws) const;
    void move_attached(const ParticleState& s, double dt, Workspace& ws) const;
    /// Starts passes from ws.target and ws.turn; returns the origin that numbers count from.
    Vector3d fill(double stiffness_factor, Workspace& ws) const;
    void match(Workspace& ws) const;
    /// Compliance over squared step; none: the published form.
    void keep_lengths(std::optional<double> compliance, Workspace& ws) const;
    void push(int particle, const Vector3f& by, Workspace& ws) const;
    void keep_momentum(Workspace& ws) const;
    void push_apart(float friction, Workspace& ws) const;
    void push_off_planes(float friction, const Vector3d& origin, float dt, Workspace& ws) const;
    void rub(int a, int b, const Vector3f& normal, float depth, float friction,
             Workspace& ws) const;

    ParticleLayout layout;
    ParticleOptions options;
    std::vector<Matrix3d> spread;
    std::vector<float> inverse_mass;  ///< zero where attached
    std::optional<SkinContact> skin;  ///< touches planes; none: ellipsoids do
    std::vector<float> fit;           ///< of ellipsoids that touch others, over their own size
    std::vector<bool> is_matched;     ///< has a group
    std::vector<Motion> motions;
    std::vector<bool> is_driven;
    std::vector<Link> links;
    // groups, round after round
    std::vector<int> offsets, members;
    std::vector<float> rest, inverse_group_mass, group_spread;
    std::vector<int> batches;        ///< batch b: groups [batches[b], batches[b + 1])
    std::vector<int> round_batches;  ///< round c: batches [round_batches[c], …)
    bool has_balls = true;           ///< only
    std::vector<int> part;           ///< of each particle: those that links connect
    std::vector<double> free_mass;   ///< of each part; 0: some of it is held
};

ParticleDynamics::Impl::Impl(ParticleLayout given_layout, ParticleOptions given_options,
                             const ParticleModel* model)
    : layout(std::move(given_layout)), options(std::move(given_options)) {
    check_layout(layout);
    check_particle_options(options, layout.num_particles());
    for (ParticlePlane& plane : options.planes) {
        plane.offset /= plane.normal.norm();
        plane.normal.normalize();
    }
    inverse_mass.reserve(layout.particles.size());
    for (const Particle& p : layout.particles) {
        spread.push_back(spread_of(p));
        inverse_mass.push_back(static_cast<float>(1 / p.mass));
        has_balls = has_balls && is_ball(p);
    }
    is_driven.assign(layout.particles.size(), false);
    for (const Attachment& attachment : options.attachments) {
        Vector3d centre = Vector3d::Zero();
        for (const int i : attachment.particles) {
            inverse_mass[at(i)] = 0;
            is_driven[at(i)] = attachment.is_driven;
            centre += layout.particles[at(i)].position;
        }
        if (attachment.particles.empty()) continue;
        motions.push_back({&attachment, centre / static_cast<double>(attachment.particles.size())});
    }
    part = connected_parts(layout);
    free_mass.assign(layout.particles.size(), 0);
    for (std::size_t i = 0; i < part.size(); ++i)
        free_mass[at(part[i])] += layout.particles[i].mass;
    for (const Attachment& attachment : options.attachments)
        for (const int i : attachment.particles) free_mass[at(part[at(i)])] = 0;
    if (layout.is_cloth)
        for (const auto& [a, b] : layout.links) {
            const Vector3d apart =
                layout.particles[at(a)].position - layout.particles[at(b)].position;
            if (inverse_mass[at(a)] + inverse_mass[at(b)] > 0)
                links.push_back({a, b, static_cast<float>(apart.norm())});
        }
    make_groups();
    if (model != nullptr && has_skin(*model)) skin.emplace(*model, inverse_mass, options.planes);
    fit = skin ? skin->fit() : std::vector<float>(layout.particles.size(), 1.0f);
}

void ParticleDynamics::Impl::make_groups() {
    const std::size_t n = layout.particles.size();
    std::vector<std::vector<int>> neighbours(n);
    for (const auto& [a, b] : layout.links) {
        neighbours[at(a)].push_back(b);
        neighbours[at(b)].push_back(a);
    }
    std::vector<int> first_offsets{0}, first_members;
    is_matched.assign(n, false);
    for (std::size_t i = 0; i < n; ++i) {
        if (!(layout.particles[i].stiffness > 0)) continue;
        is_matched[i] = true;
        std::ranges::sort(neighbours[i]);
        first_members.push_back(static_cast<int>(i));
        first_members.insert(first_members.end(), neighbours[i].begin(), neighbours[i].end());
        first_offsets.push_back(static_cast<int>(first_members.size()));
    }
    const ColouredSets sets = colour_sets(first_offsets, first_members, static_cast<int>(n));
    offsets = {0};
    for (const int g : sets.order) {
        const auto begin = first_members.begin() + first_offsets[at(g)];
        const auto end = first_members.begin() + first_offsets[at(g) + 1];
        double mass = 0;
        Vector3d centre = Vector3d::Zero();
        for (auto j = begin; j != end; ++j) {
            const Particle& p = layout.particles[at(*j)];
            mass += p.mass;
            centre += p.mass * p.position;
        }
        centre /= mass;
        for (auto j = begin; j != end; ++j) {
            const Particle& p = layout.particles[at(*j)];
            members.push_back(*j);
            const Vector3f r = (p.position - centre).cast<float>();
            rest.insert(rest.end(), {r.x(), r.y(), r.z(), static_cast<float>(p.mass)});
        }
        offsets.push_back(static_cast<int>(members.size()));
        inverse_group_mass.push_back(static_cast<float>(1 / mass));
        const Matrix3f S = spread[at(*begin)].cast<float>();
        // a little above rounding
        double farthest = 0;
        for (auto j = begin; j != end; ++j)
            farthest = std::max(farthest, (layout.particles[at(*j)].position - centre).norm());
        group_spread.insert(group_spread.end(),
                            {S(0, 0), S(0, 1), S(0, 2), S(1, 1), S(1, 2), S(2, 2),
                             static_cast<float>(kDeafness * farthest), 0.0f});
    }
    batches = {0};
    round_batches = {0};
    for (int c = 0; c < sets.num_colours(); ++c) {
        for (int g = sets.offsets[at(c)]; g < sets.offsets[at(c) + 1]; g += kMatchLanes)
            batches.push_back(std::min(g + kMatchLanes, sets.offsets[at(c) + 1]));
        round_batches.push_back(static_cast<int>(batches.size()) - 1);
    }
}

void ParticleDynamics::Impl::predict(const ParticleState& s, const std::vector<Vector3d>& forces,
                                     const Vector3d& gravity, double dt, const Tuning& tuning,
                                     Workspace& ws) const {
    const double kept = 1 / (1 + tuning.damping * dt);
    for (std::size_t i = 0; i < layout.particles.size(); ++i) {
        const Vector3d a = forces[i] / layout.particles[i].mass + gravity;
        ws.velocity[i] = kept * s.velocity[i] + dt * a;
        ws.target[i] = s.position[i] + dt * ws.velocity[i];
        ws.turn[i] = rotation_from_vector(kept * dt * s.spin[i]) * s.turn[i];
    }
    move_attached(s, dt, ws);
}

void ParticleDynamics::Impl::move_attached(const ParticleState& s, double dt, Workspace& ws) const {
    for (const auto& [attachment, centre] : motions) {
        for (const int i : attachment->particles) {
            if (!attachment->is_driven) break;
            ws.target[at(i)] = ws.driven[at(i)];
            ws.turn[at(i)] = ws.driven_turn[at(i)];
        }
        if (attachment->is_driven) continue;
        Pose moved;
        if (attachment->motion) moved = attachment->motion->at(s.time + dt).pose;
        for (const int i : attachment->particles) {
            const Vector3d arm = layout.particles[at(i)].position - centre;
            ws.target[at(i)] = centre + moved.to_world(arm);
            ws.turn[at(i)] = moved.rotation;
        }
    }
}

Vector3d ParticleDynamics::Impl::fill(double stiffness_factor, Workspace& ws) const {
    // numbers from the middle of the body: rounding is relative to its size
    Vector3d origin = Vector3d::Zero();
    for (const Vector3d& x : ws.target) origin += x;
    origin /= static_cast<double>(ws.target.size());
    for (std::size_t i = 0; i < layout.particles.size(); ++i) {
        MatchParticle& p = ws.particles[i];
        ws.first[i] = (ws.target[i] - origin).cast<float>();
        place(p) = ws.first[i];
        const Matrix3d T = ws.turn[i].toRotationMatrix();
        const Matrix3f A = (T * spread[i]).cast<float>();
        Eigen::Map<Vector3f>(p.a0) = A.col(0);
        Eigen::Map<Vector3f>(p.a1) = A.col(1);
        Eigen::Map<Vector3f>(p.a2) = A.col(2);
        p.x[3] = p.a1[3] = p.a2[3] = 0;
        const double stiffness = std::min(1.0, stiffness_factor * layout.particles[i].stiffness);
        p.a0[3] = inverse_mass[i] > 0 ? static_cast<float>(stiffness) : 0.0f;
        float* const q = ws.turns.data() + 4 * i;
        q[0] = static_cast<float>(ws.turn[i].w());
        Eigen::Map<Vector3f>(q + 1) = ws.turn[i].vec().cast<float>();
        // E = T Q diag(r²) Qᵀ Tᵀ, as large as the surface it stands for
        if (!has_balls)
            ws.ellipsoid[i] =
                (5 * fit[i] * fit[i] / layout.particles[i].mass * T * spread[i] * T.transpose())
                    .cast<float>();
    }
    std::ranges::fill(ws.multipliers, 0.0f);
    std::ranges::fill(ws.all_changes, Vector3d::Zero());
    std::ranges::fill(ws.contact_changes, Vector3d::Zero());
    return origin;
}

void ParticleDynamics::Impl::match(Workspace& ws) const {
    const MatchGroups groups{offsets.data(), members.data(), rest.data(), inverse_group_mass.data(),
                             group_spread.data()};
    const auto one = [&](int b) {
        ws.unsettled[at(b)] = match_groups(groups, batches[at(b)], batches[at(b) + 1],
                                           ws.particles.data(), ws.turns.data(), polar_by_svd);
    };
    // batches of a round share nothing: the order within it does not matter
    if (static_cast<int>(offsets.size()) - 1 >= kSerialGroups)
        parallel_phases(round_batches, one);
    else
        for (int b = 0; b + 1 < static_cast<int>(batches.size()); ++b) one(b);
}

void ParticleDynamics::Impl::keep_lengths(std::optional<double> compliance, Workspace& ws) const {
    const bool is_compliant = compliance.has_value();
    const auto softness = static_cast<float>(compliance.value_or(0));
    const auto share = static_cast<float>(options.cloth_stiffness);
    for (std::size_t k = 0; k < links.size(); ++k) {
        const Link& link = links[k];
        auto a = place(ws.particles[at(link.a)]), b = place(ws.particles[at(link.b)]);
        const float wa = inverse_mass[at(link.a)], wb = inverse_mass[at(link.b)];
        const Vector3f apart = a - b;
        const float length = apart.norm();
        if (!(length > 0)) continue;  // no direction to push in
        const float error = length - link.length;
        // docs/particles.md eq. (10), published or compliant
        float impulse;
        if (is_compliant) {
            impulse = (-error - softness * ws.multipliers[k]) / (wa + wb + softness);
            ws.multipliers[k] += impulse;
        } else {
            impulse = -share * error / (wa + wb);
        }
        a += wa * impulse / length * apart;
        b -= wb * impulse / length * apart;
    }
}

/// Takes away the tangential motion of the step, no more than friction times the push.
void ParticleDynamics::Impl::rub(int a, int b, const Vector3f& normal, float depth, float friction,
                                 Workspace& ws) const {
    if (!(friction > 0)) return;
    const float wa = inverse_mass[at(a)], wb = b >= 0 ? inverse_mass[at(b)] : 0.0f;
    Vector3f slip = place(ws.particles[at(a)]) - ws.before[at(a)];
    if (b >= 0) slip -= place(ws.particles[at(b)]) - ws.before[at(b)];
    slip -= slip.dot(normal) * normal;
    const float length = slip.norm();
    if (!(length > 0)) return;
    const Vector3f back = std::min(1.0f, friction * depth / length) / (wa + wb) * slip;
    push(a, -wa * back, ws);
    if (b >= 0) push(b, wb * back, ws);
}

/// By a contact.
void ParticleDynamics::Impl::push(int particle, const Vector3f& by, Workspace& ws) const {
    place(ws.particles[at(particle)]) += by;
    ws.contact_changes[at(part[at(particle)])] +=
        layout.particles[at(particle)].mass * by.cast<double>();
}

/// Takes back what passes inside a connected part moved its centre by: rounding, and particles of
/// different stiffness in one group, docs/particles.md eq. (7).
void ParticleDynamics::Impl::keep_momentum(Workspace& ws) const {
    for (std::size_t i = 0; i < ws.target.size(); ++i) {
        const Vector3f change = place(ws.particles[i]) - ws.first[i];
        ws.target[i] += change.cast<double>();
        ws.all_changes[at(part[i])] += layout.particles[i].mass * change.cast<double>();
    }
    for (std::size_t i = 0; i < ws.target.size(); ++i) {
        const auto k = at(part[i]);
        if (free_mass[k] > 0)
            ws.target[i] -= (ws.all_changes[k] - ws.contact_changes[k]) / free_mass[k];
    }
}

/// Between two particles, the second of them `apart` from the first.
EllipsoidGap ParticleDynamics::Impl::gap_of(int i, int j, const Vector3f& apart,
                                            const Workspace& ws) const {
    if (!has_balls) return ellipsoid_gap(ws.ellipsoid[at(i)], ws.ellipsoid[at(j)], apart);
    EllipsoidGap found;
    const float distance = apart.norm();
    found.gap = distance - static_cast<float>(fit[at(i)] * layout.particles[at(i)].radii[0] +
                                              fit[at(j)] * layout.particles[at(j)].radii[0]);
    if (distance > 0) found.normal = apart / distance;
    return found;
}

/// What may touch in this step, and how far it is apart at the start.
void ParticleDynamics::Impl::find_contacts(const ParticleState& s, const Vector3d& origin,
                                           double dt, Workspace& ws) const {
    if (skin) skin->find(s, ws.particles, ws.turn, origin, dt, ws.skin);
    if (!options.collides) return;
    const std::span<const ParticlePairs::Pair> pairs = ws.pairs->pairs();
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto [i, j] = pairs[k];
        const EllipsoidGap start = gap_of(i, j, ws.before[at(j)] - ws.before[at(i)], ws);
        ws.pair_goals[k] = gap_at_end(start.gap, static_cast<float>(dt));
    }
}

void ParticleDynamics::Impl::push_apart(float friction, Workspace& ws) const {
    const std::span<const ParticlePairs::Pair> pairs = ws.pairs->pairs();
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto [i, j] = pairs[k];
        const float wi = inverse_mass[at(i)], wj = inverse_mass[at(j)];
        if (!(wi + wj > 0)) continue;
        const auto xi = place(ws.particles[at(i)]), xj = place(ws.particles[at(j)]);
        const EllipsoidGap found = gap_of(i, j, xj - xi, ws);
        const float depth = ws.pair_goals[k] - found.gap;
        if (!(depth > 0)) continue;
        const Vector3f apart_by = -depth / (wi + wj) * found.normal;
        push(i, wi * apart_by, ws);
        push(j, -wj * apart_by, ws);
        rub(i, j, found.normal, depth, friction, ws);
        ++ws.report.num_contacts;
    }
}

void ParticleDynamics::Impl::push_off_planes(float friction, const Vector3d& origin, float dt,
                                             Workspace& ws) const {
    if (skin) {
        ws.report.num_contacts +=
            skin->push(friction, origin, ws.particles, ws.turns, part, ws.contact_changes, ws.skin);
        return;
    }
    for (const ParticlePlane& plane : options.planes) {
        const Vector3f n = plane.normal.cast<float>();
        const auto offset = static_cast<float>(plane.offset - plane.normal.dot(origin));
        for (std::size_t i = 0; i < ws.particles.size(); ++i) {
            if (!(inverse_mass[i] > 0)) continue;
            const float height = n.dot(place(ws.particles[i])) - offset;
            if (height > static_cast<float>(layout.particles[i].radii.maxCoeff())) continue;
            const float size = has_balls ? static_cast<float>(layout.particles[i].radii[0])
                                         : reach(ws.ellipsoid[i], n);
            const float start = n.dot(ws.before[i]) - offset - size;
            const float depth = gap_at_end(start, dt) + size - height;
            if (!(depth > 0)) continue;
            push(static_cast<int>(i), depth * n, ws);
            rub(static_cast<int>(i), -1, n, depth, friction, ws);
            ++ws.report.num_contacts;
        }
    }
}

ParticleDynamics::ParticleDynamics(ParticleLayout layout, ParticleOptions options)
    : impl_(std::make_unique<const Impl>(std::move(layout), std::move(options), nullptr)) {}
ParticleDynamics::ParticleDynamics(const ParticleModel& model, ParticleOptions options)
    : impl_(std::make_unique<const Impl>(model.layout, std::move(options), &model)) {}
ParticleDynamics::~ParticleDynamics() = default;
ParticleDynamics::ParticleDynamics(ParticleDynamics&&) noexcept = default;

const ParticleLayout& ParticleDynamics::layout() const noexcept { return impl_->layout; }
const ParticleOptions& ParticleDynamics::options() const noexcept { return impl_->options; }
bool ParticleDynamics::is_attached(int particle) const noexcept {
    return impl_->inverse_mass[at(particle)] == 0;
}
int ParticleDynamics::num_groups() const noexcept {
    return static_cast<int>(impl_->offsets.size()) - 1;
}
int ParticleDynamics::num_colours() const noexcept {
    return static_cast<int>(impl_->round_batches.size()) - 1;
}
ParticleDynamics::Tuning ParticleDynamics::tuning() const noexcept {
    return {1, impl_->options.damping, impl_->options.friction, impl_->options.iterations};
}
const ParticleDynamics::Report& ParticleDynamics::report(const Workspace& ws) noexcept {
    return ws.report;
}

ParticleState ParticleDynamics::make_state() const {
    ParticleState s;
    for (const Particle& p : impl_->layout.particles) s.position.push_back(p.position);
    s.velocity.assign(s.position.size(), Vector3d::Zero());
    s.turn.assign(s.position.size(), Quaternion::Identity());
    s.spin.assign(s.position.size(), Vector3d::Zero());
    return s;
}

std::shared_ptr<ParticleDynamics::Workspace> ParticleDynamics::make_workspace() const {
    auto ws = std::make_shared<Workspace>();
    const std::size_t n = impl_->layout.particles.size();
    ws->particles.resize(n);
    ws->turns.resize(4 * n);
    ws->first.resize(n);
    ws->before.resize(n);
    ws->target.resize(n);
    ws->velocity.resize(n);
    ws->spin.resize(n);
    ws->turn.resize(n);
    ws->ellipsoid.resize(impl_->has_balls ? 0 : n);
    ws->multipliers.resize(impl_->links.size());
    ws->all_changes.resize(impl_->free_mass.size());
    ws->contact_changes.resize(impl_->free_mass.size());
    ws->unsettled.resize(impl_->batches.size());
    for (const Particle& p : impl_->layout.particles) ws->driven.push_back(p.position);
    ws->driven_turn.assign(n, Quaternion::Identity());
    std::vector<int> object;
    std::vector<float> radius;
    for (const Particle& p : impl_->layout.particles) {
        object.push_back(p.object);
        radius.push_back(impl_->fit[radius.size()] * static_cast<float>(p.radii.maxCoeff()));
    }
    ws->pairs =
        std::make_unique<ParticlePairs>(std::move(object), std::move(radius),
                                        impl_->options.collision_capacity * static_cast<int>(n));
    ws->pair_goals.resize(at(impl_->options.collision_capacity) * n);
    if (impl_->skin) ws->skin = impl_->skin->make_workspace();
    return ws;
}

StepStatus ParticleDynamics::step(ParticleState& state, const std::vector<Vector3d>& forces,
                                  const Vector3d& gravity, double dt, const Tuning& tuning,
                                  Workspace& ws) const noexcept {
    const Impl& d = *impl_;
    assert(forces.size() == d.layout.particles.size());
    if (!(dt > 0 && std::isfinite(dt))) return StepStatus::InputIgnored;
    d.predict(state, forces, gravity, dt, tuning, ws);
    const Vector3d origin = d.fill(tuning.stiffness, ws);
    // where friction sees particles come from
    for (std::size_t i = 0; i < state.position.size(); ++i)
        ws.before[i] = (state.position[i] - origin).cast<float>();
    StepStatus status = StepStatus::Ok;
    if (d.options.collides && !ws.pairs->find(ws.particles)) status = StepStatus::CapacityExceeded;
    d.find_contacts(state, origin, dt, ws);
    ws.report.num_pairs = d.options.collides ? static_cast<int>(ws.pairs->pairs().size()) : 0;
    const auto friction = static_cast<float>(tuning.friction);
    const std::optional<double> compliance =
        d.options.cloth_compliance ? std::optional(*d.options.cloth_compliance / (dt * dt))
                                   : std::nullopt;
    for (int pass = 0; pass < tuning.iterations; ++pass) {
        ws.report.num_contacts = 0;
        d.match(ws);
        d.keep_lengths(compliance, ws);
        if (d.options.collides) d.push_apart(friction, ws);
        d.push_off_planes(friction, origin, static_cast<float>(dt), ws);
    }
    ws.report.num_unsettled = 0;
    for (const int count : ws.unsettled) ws.report.num_unsettled += count;

    // velocities from positions, docs/particles.md eq. (2); what the passes changed is small, so
    // that single precision of it is enough
    d.keep_momentum(ws);
    bool is_sound = true;
    for (std::size_t i = 0; i < state.position.size(); ++i) {
        ws.velocity[i] = (ws.target[i] - state.position[i]) / dt;
        if (d.is_matched[i] && d.inverse_mass[i] > 0) {
            const float* const q = ws.turns.data() + 4 * i;
            ws.turn[i] = Quaternion(q[0], q[1], q[2], q[3]);
        }
        ws.turn[i].normalize();
        ws.spin[i] = rotation_difference(state.turn[i], ws.turn[i]) / dt;
        is_sound = is_sound && ws.velocity[i].allFinite() && ws.spin[i].allFinite() &&
                   ws.target[i].allFinite() && ws.turn[i].coeffs().allFinite();
    }
    if (!is_sound) return StepStatus::StepRejected;
    std::ranges::copy(ws.target, state.position.begin());
    std::ranges::copy(ws.velocity, state.velocity.begin());
    std::ranges::copy(ws.turn, state.turn.begin());
    std::ranges::copy(ws.spin, state.spin.begin());
    state.time += dt;
    return status;
}

void ParticleDynamics::drive(int particle, const Vector3d& position, const Quaternion& turn,
                             Workspace& ws) const noexcept {
    if (!impl_->is_driven[at(particle)] || !position.allFinite() || !turn.coeffs().allFinite() ||
        !(turn.norm() > 0))
        return;
    ws.driven[at(particle)] = position;
    ws.driven_turn[at(particle)] = turn.normalized();
}

bool ParticleDynamics::project(std::span<Vector3d> positions, std::span<Quaternion> turns,
                               int iterations, Workspace& ws) const noexcept {
    const Impl& d = *impl_;
    assert(positions.size() == d.layout.particles.size() && turns.size() == positions.size());
    std::ranges::copy(positions, ws.target.begin());
    std::ranges::copy(turns, ws.turn.begin());
    (void)d.fill(1, ws);
    for (int pass = 0; pass < iterations; ++pass) {
        d.match(ws);
        d.keep_lengths(std::nullopt, ws);
    }
    bool is_sound = true;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        // what no pass touched stays exactly where it is
        ws.target[i] += (place(ws.particles[i]) - ws.first[i]).cast<double>();
        const float* const q = ws.turns.data() + 4 * i;
        if (d.is_matched[i]) ws.turn[i] = Quaternion(q[0], q[1], q[2], q[3]).normalized();
        is_sound = is_sound && ws.target[i].allFinite() && ws.turn[i].coeffs().allFinite();
    }
    if (!is_sound) return false;
    std::ranges::copy(ws.target, positions.begin());
    std::ranges::copy(ws.turn, turns.begin());
    return true;
}

void ParticleDynamics::match_once(Workspace& ws) const noexcept { impl_->match(ws); }

}  // namespace pliant
