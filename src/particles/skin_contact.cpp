#include "particles/skin_contact.h"

#include "core/numbers.h"
#include "particles/push_out.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix3f;
using Eigen::Vector3d;
using Eigen::Vector3f;

/// Part of the reach of a particle: vertices this high above a plane may be pressed down to it by
/// the passes of the step.
constexpr float kTouchMargin = 0.1f;
/// Ellipsoids are fitted to the surface between these parts of their size.
constexpr double kLeastFit = 0.3, kMostFit = 1.5;

Vector3f turned_by(const float* q, const Vector3f& v) {
    const Vector3f u(q[1], q[2], q[3]), t = 2 * u.cross(v);
    return v + q[0] * t + u.cross(t);
}

void turn_by(float* q, const Vector3f& by) {
    const Eigen::Quaternionf old(q[0], q[1], q[2], q[3]);
    const Eigen::Quaternionf small(1, 0.5f * by.x(), 0.5f * by.y(), 0.5f * by.z());
    const Eigen::Quaternionf now = (small * old).normalized();
    q[0] = now.w();
    Eigen::Map<Vector3f>(q + 1) = now.vec();
}

Eigen::Map<Vector3f> spot_of(MatchParticle& p) { return Eigen::Map<Vector3f>(p.x); }
Eigen::Map<const Vector3f> spot_of(const MatchParticle& p) {
    return Eigen::Map<const Vector3f>(p.x);
}

/// The particle that carries most of a vertex.
int carrier_of(const SkinWeights& skin, std::size_t v) {
    const auto best = std::ranges::max_element(skin.weights[v]) - skin.weights[v].begin();
    return skin.particles[v][static_cast<std::size_t>(best)];
}

}  // namespace

struct SkinContact::Group {
    std::span<const int> members;
    float inverse_mass;
    Vector3f centre;
    bool can_turn;
};

bool has_skin(const ParticleModel& model) {
    for (std::size_t v = 0; v < model.surface.vertices.size(); ++v) {
        const Particle& p = model.layout.particles[at(carrier_of(model.skin, v))];
        if ((model.surface.vertices[v] - p.position).norm() > 1e-3 * p.radii.maxCoeff())
            return true;
    }
    return false;
}

SkinContact::SkinContact(const ParticleModel& model, const std::vector<float>& inverse_mass,
                         const std::vector<ParticlePlane>& planes)
    : layout_(model.layout),
      skin_(model.skin),
      vertices_(model.surface.vertices),
      planes_(planes),
      inverse_mass_(inverse_mass) {
    const std::size_t n = layout_.particles.size();
    std::vector<std::vector<int>> carried(n), neighbours(n);
    for (std::size_t v = 0; v < vertices_.size(); ++v)
        carried[at(carrier_of(skin_, v))].push_back(static_cast<int>(v));
    for (const auto& [a, b] : layout_.links) {
        neighbours[at(a)].push_back(b);
        neighbours[at(b)].push_back(a);
    }
    first_vertex_ = first_member_ = {0};
    for (std::size_t i = 0; i < n; ++i) {
        float farthest = 0;
        for (const int v : carried[i]) {
            const Vector3f arm = (vertices_[at(v)] - layout_.particles[i].position).cast<float>();
            carried_.push_back(v);
            arms_.push_back(arm);
            farthest = std::max(farthest, arm.norm());
        }
        first_vertex_.push_back(static_cast<int>(carried_.size()));
        farthest_.push_back(farthest);

        double mass = 0;
        const auto add = [&](int j) {
            if (!(inverse_mass_[at(j)] > 0)) return;
            members_.push_back(j);
            mass += layout_.particles[at(j)].mass;
        };
        add(static_cast<int>(i));
        std::ranges::sort(neighbours[i]);
        if (layout_.particles[i].stiffness > 0) std::ranges::for_each(neighbours[i], add);
        first_member_.push_back(static_cast<int>(members_.size()));
        inverse_group_mass_.push_back(mass > 0 ? static_cast<float>(1 / mass) : 0.0f);
    }
    fit_ellipsoids(model);
}

/// Mean over the surface that a particle carries of how far the surface is from its centre over how
/// far its ellipsoid reaches, both along the normal.
void SkinContact::fit_ellipsoids(const ParticleModel& model) {
    std::vector<Vector3d> normals(vertices_.size(), Vector3d::Zero());  // times area
    for (const Triangle& t : model.surface.triangles) {
        const Vector3d normal = (vertices_[at(t[1])] - vertices_[at(t[0])])
                                    .cross(vertices_[at(t[2])] - vertices_[at(t[0])]);
        for (const int v : t) normals[at(v)] += normal / 6;
    }
    for (std::size_t i = 0; i < layout_.particles.size(); ++i) {
        const Particle& p = layout_.particles[i];
        double sum = 0, area = 0;
        for (int k = first_vertex_[i]; k < first_vertex_[i + 1]; ++k) {
            const Vector3d& normal = normals[at(carried_[at(k)])];
            const double height = normal.dot(arms_[at(k)].cast<double>());
            const double reach = (p.rotation.conjugate() * normal).cwiseProduct(p.radii).norm();
            if (!(height > 0) || !(reach > 0)) continue;
            sum += normal.norm() * height / reach;
            area += normal.norm();
        }
        const double fit = area > 0 ? std::clamp(sum / area, kLeastFit, kMostFit) : 1.0;
        fit_.push_back(static_cast<float>(fit));
    }
}

SkinContact::Workspace SkinContact::make_workspace() const {
    Workspace ws;
    ws.touches.reserve(layout_.particles.size() * planes_.size() * at(kQuarters));
    return ws;
}

void SkinContact::find(const ParticleState& s, const std::vector<MatchParticle>& predicted,
                       const std::vector<Quaternion>& turn, const Vector3d& origin, double dt,
                       Workspace& ws) const {
    ws.touches.clear();
    for (std::size_t k = 0; k < planes_.size(); ++k) {
        const Vector3f n = planes_[k].normal.cast<float>();
        const auto offset = static_cast<float>(planes_[k].offset - planes_[k].normal.dot(origin));
        for (std::size_t i = 0; i < layout_.particles.size(); ++i) {
            if (!(inverse_mass_[i] > 0)) continue;
            const float height = n.dot(spot_of(predicted[i])) - offset;
            const float margin = kTouchMargin * farthest_[i];
            if (!(height < farthest_[i] + margin)) continue;
            // as if the particle carried its vertices alone
            const Vector3f down = (turn[i].conjugate() * planes_[k].normal).cast<float>();
            const Vector3f along = down.unitOrthogonal(), across = down.cross(along);
            std::array<float, at(kQuarters)> lowest;
            std::array<int, at(kQuarters)> found;
            lowest.fill(margin - height);
            found.fill(-1);
            for (int c = first_vertex_[i]; c < first_vertex_[i + 1]; ++c) {
                const Vector3f& arm = arms_[at(c)];
                const auto quarter = static_cast<std::size_t>((along.dot(arm) > 0 ? 1 : 0) +
                                                              (across.dot(arm) > 0 ? 2 : 0));
                if (const float low = down.dot(arm); low < lowest[quarter]) {
                    lowest[quarter] = low;
                    found[quarter] = carried_[at(c)];
                }
            }
            for (const int v : found) {
                if (v < 0) continue;
                Vector3d x = Vector3d::Zero();
                for (std::size_t w = 0; w < at(SkinWeights::kInfluences); ++w) {
                    const auto j = at(skin_.particles[at(v)][w]);
                    const Vector3d arm = vertices_[at(v)] - layout_.particles[j].position;
                    x += double{skin_.weights[at(v)][w]} * (s.position[j] + s.turn[j] * arm);
                }
                const auto start = static_cast<float>(planes_[k].normal.dot(x) - planes_[k].offset);
                ws.touches.push_back({v, static_cast<int>(i), static_cast<int>(k),
                                      gap_at_end(start, static_cast<float>(dt)),
                                      (x - origin).cast<float>(), 0.0f, Vector3f::Zero(),
                                      Matrix3f::Zero(), false});
            }
        }
    }
}

Vector3f SkinContact::place(int vertex, const std::vector<MatchParticle>& particles,
                            const std::vector<float>& turns) const {
    Vector3f x = Vector3f::Zero();
    for (std::size_t w = 0; w < at(SkinWeights::kInfluences); ++w) {
        const float weight = skin_.weights[at(vertex)][w];
        if (weight == 0) continue;
        const auto j = at(skin_.particles[at(vertex)][w]);
        const Vector3f arm = (vertices_[at(vertex)] - layout_.particles[j].position).cast<float>();
        x += weight * (spot_of(particles[j]) + turned_by(turns.data() + 4 * j, arm));
    }
    return x;
}

SkinContact::Group SkinContact::group_of(int particle,
                                         const std::vector<MatchParticle>& particles) const {
    const auto i = at(particle);
    const std::span<const int> members(members_.data() + first_member_[i],
                                       at(first_member_[i + 1] - first_member_[i]));
    Vector3f centre = Vector3f::Zero();
    for (const int j : members)
        centre += static_cast<float>(layout_.particles[at(j)].mass) * spot_of(particles[at(j)]);
    return {members, inverse_group_mass_[i], inverse_group_mass_[i] * centre,
            layout_.particles[i].stiffness > 0};
}

/// Inertia of the group as it is now: of its places and of its ellipsoids.
void SkinContact::prepare(Touch& touch, const Group& group,
                          const std::vector<MatchParticle>& particles) const {
    touch.is_ready = true;
    if (!group.can_turn) return;
    Matrix3d second_moment = Matrix3d::Zero();
    for (const int j : group.members) {
        const Particle& p = layout_.particles[at(j)];
        const Vector3d r = (spot_of(particles[at(j)]) - group.centre).cast<double>();
        second_moment += p.mass * r * r.transpose();
        second_moment.diagonal().array() += p.mass / 15 * p.radii.squaredNorm();
    }
    const Matrix3d J = second_moment.trace() * Matrix3d::Identity() - second_moment;
    const Matrix3d inverse = J.inverse();
    if (inverse.allFinite()) touch.inverse_inertia = inverse.cast<float>();
}

/// Gives the group an impulse at a place: it moves and turns as one piece.
void SkinContact::move(const Touch& touch, const Group& group, const Vector3f& impulse,
                       const Vector3f& at_place, std::vector<MatchParticle>& particles,
                       std::vector<float>& turns) const {
    const Vector3f shift = group.inverse_mass * impulse;
    const Vector3f turn = touch.inverse_inertia * (at_place - group.centre).cross(impulse);
    for (const int j : group.members) {
        MatchParticle& p = particles[at(j)];
        spot_of(p) += shift + turn.cross(Vector3f(spot_of(p) - group.centre));
        if (!group.can_turn) continue;
        for (float* column : {p.a0, p.a1, p.a2}) {
            Eigen::Map<Vector3f> a(column);
            a += turn.cross(Vector3f(a));
        }
        turn_by(turns.data() + 4 * at(j), turn);
    }
}

int SkinContact::push(float friction, const Vector3d& origin, std::vector<MatchParticle>& particles,
                      std::vector<float>& turns, const std::vector<int>& part,
                      std::vector<Vector3d>& changes, Workspace& ws) const {
    int num_pushing = 0;
    for (Touch& touch : ws.touches) {
        const ParticlePlane& plane = planes_[at(touch.plane)];
        const Vector3f n = plane.normal.cast<float>();
        const auto offset = static_cast<float>(plane.offset - plane.normal.dot(origin));
        Vector3f x = place(touch.vertex, particles, turns);
        const float depth = touch.goal + offset - n.dot(x);
        if (!(depth > 0) && touch.push == 0) continue;
        const Group group = group_of(touch.particle, particles);
        if (!touch.is_ready) prepare(touch, group, particles);
        const Vector3f arm = x - group.centre;
        /// How far the place gives way along a direction.
        const auto mobility = [&](const Vector3f& along) {
            const Vector3f lever = arm.cross(along);
            return group.inverse_mass + lever.dot(touch.inverse_inertia * lever);
        };
        // pushes, and takes back what it pushed too much, eq. (12)
        const float pushed = std::max(touch.push + depth / mobility(n), 0.0f);
        Vector3f impulse = (pushed - touch.push) * n;
        touch.push = pushed;
        if (friction > 0) {
            const Vector3f turn = touch.inverse_inertia * arm.cross(impulse);
            Vector3f slip = x + group.inverse_mass * impulse + turn.cross(arm) - touch.before;
            slip -= slip.dot(n) * n;
            // what the step slid at its contact, within the cone, eq. (13)
            Vector3f rubbed = touch.rubbing;
            if (const float length = slip.norm(); length > 0)
                rubbed -= slip / mobility(slip / length);
            const float most = friction * touch.push, size = rubbed.norm();
            if (size > most) rubbed *= most / size;
            impulse += rubbed - touch.rubbing;
            touch.rubbing = rubbed;
        }
        move(touch, group, impulse, x, particles, turns);
        changes[at(part[at(touch.particle)])] += impulse.cast<double>();
        if (touch.push > 0) ++num_pushing;
    }
    return num_pushing;
}

}  // namespace pliant
