#include "pliant/greens/point_contact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include "core/numbers.h"
#include "greens/surface_walk.h"
#include "pliant/core/error.h"

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Slides of one tick: the first does nearly all, the others follow the curved surface.
constexpr int kSlides = 4;
/// Two contacts at one place would make the coupling singular.
constexpr double kMaxCoupling = 0.95;
/// Below this part of the limit the force is on the cone, not beyond it.
constexpr double kConeRounding = 1e-13;
/// Sweeps begin so far behind the last tip, in sizes of the body: none slips through by rounding.
constexpr double kOverlap = 1e-9;
constexpr double kNoPlace = 1e6;  // [m]: no place for a tip

bool is_place(const Vector3d& x) noexcept { return (x.array().abs() <= kNoPlace).all(); }

bool is_usable_setting(const PointContactSettings& settings) noexcept {
    return settings.friction >= 0 && std::isfinite(settings.friction) &&
           settings.modulus_scale > 0 && std::isfinite(settings.modulus_scale) &&
           settings.max_stiffness > 0 && settings.reach >= 0 && std::isfinite(settings.reach) &&
           settings.max_jump > 0;
}

void end_contact(PointContact& contact) noexcept {
    contact.phase = PointPhase::Free;
    contact.triangle = -1;
    contact.barycentric = {1, 0, 0};
    contact.force.setZero();
}

/// Largest eigenvalue of a symmetric matrix, by its characteristic polynomial.
double largest_eigenvalue_of_three(const Matrix3d& A) noexcept {
    const double mean = A.trace() / 3;
    const Matrix3d B = A - mean * Matrix3d::Identity();
    const double p = std::sqrt(B.squaredNorm() / 6);
    if (!(p > 0)) return mean;
    const double r = std::clamp(B.determinant() / (2 * p * p * p), -1.0, 1.0);
    return mean + 2 * p * std::cos(std::acos(r) / 3);
}

/// A ← A⁻¹ for a positive definite matrix, by exchange.
template <class Matrix>
void invert_positive(Matrix& A) noexcept {
    for (Eigen::Index k = 0; k < A.rows(); ++k) {
        const double pivot = 1 / A(k, k);
        A(k, k) = 1;
        A.row(k) *= pivot;
        for (Eigen::Index i = 0; i < A.rows(); ++i) {
            if (i == k) continue;
            const double factor = std::exchange(A(i, k), 0.0);
            for (Eigen::Index j = 0; j < A.cols(); ++j) A(i, j) -= factor * A(k, j);
        }
    }
}

}  // namespace

PointContacts::PointContacts(std::shared_ptr<const GreensModel> model, int num_points,
                             const PointContactSettings& settings)
    : model_(std::move(model)),
      settings_(settings),
      query_(model_->surface.mesh),
      ways_(std::make_shared<const SurfaceWalk>(model_->surface.mesh)),
      normals_(vertex_normals(model_->surface.mesh)),
      scale_(model_->reference.length) {
    if (num_points < 1 || num_points > kMaxPoints)
        throw InputError("", "point contacts", std::to_string(num_points),
                         "1 to " + std::to_string(kMaxPoints) + " points");
    if (!is_usable_setting(settings))
        throw InputError("",
                         "point contact: friction, reach ≥ 0 and modulus scale, stiffness, "
                         "jump > 0 must be finite");
    frame_.num_points = num_points;
}

bool PointContacts::set(const PointContactSettings& settings) noexcept {
    if (!is_usable_setting(settings)) return false;
    settings_ = settings;
    return true;
}

void PointContacts::reset() noexcept {
    // also places and normals, which the end of a contact leaves: they give zeros their signs
    frame_.points.fill({});
    is_placed_.fill(false);
    is_pulling_.fill(false);
}

/// Point and interpolated normal from the barycentric coordinates.
void PointContacts::place(PointContact& contact) const noexcept {
    const auto& corners = model_->surface.mesh.triangles[at(contact.triangle)];
    contact.barycentric = contact.barycentric.cwiseMax(0.0);
    contact.barycentric /= contact.barycentric.sum();
    contact.point.setZero();
    contact.normal.setZero();
    for (int k = 0; k < 3; ++k) {
        contact.point += contact.barycentric[k] * model_->surface.mesh.vertices[at(corners[at(k)])];
        contact.normal += contact.barycentric[k] * normals_[at(corners[at(k)])];
    }
    const double length = contact.normal.norm();
    contact.normal =
        length > 1e-6 ? Vector3d(contact.normal / length) : ways_->facet(contact.triangle).normal;
    feel(contact);
}

/// Detail under the contact, docs/greens-measured.md eqs. (N1), (N2).
void PointContacts::feel(PointContact& contact) const noexcept {
    contact.felt_normal = contact.normal;
    contact.felt_friction = settings_.friction;
    if (!detail_) return;
    const FeltDetail felt = detail_->felt(contact.point, contact.triangle, contact.barycentric,
                                          contact.normal, settings_.friction);
    contact.felt_normal = felt.normal;
    contact.felt_friction = felt.friction;
}

/// A free tip meets the surface from outside, or takes hold of it.
void PointContacts::begin(PointContact& contact, const PointInput& input,
                          const Vector3d& last_tip) const noexcept {
    if (input.is_pulling) {
        const ClosestPoint nearest = query_.closest(contact.tip, settings_.reach);
        if (nearest.triangle < 0) return;
        contact.triangle = nearest.triangle;
        contact.barycentric = nearest.barycentric;
    } else {
        const Vector3d way = contact.tip - last_tip;
        const double length = way.norm();
        if (!(length > 0)) return;
        const Vector3d start = last_tip - kOverlap * scale_ / length * way;
        const auto hit = query_.segment(start, contact.tip);
        if (!hit || !(ways_->facet(hit->triangle).normal.dot(way) < 0)) return;
        contact.triangle = hit->triangle;
        contact.barycentric = hit->barycentric;
    }
    contact.phase = PointPhase::Sticking;
    place(contact);
}

/// Moves the contact along the surface, docs/greens.md eq. (E9).
void PointContacts::walk(PointContact& contact, const Vector3d& step) const noexcept {
    const SurfaceWalk::Place end = ways_->walk({contact.triangle, contact.barycentric}, step);
    contact.triangle = end.triangle;
    contact.barycentric = end.barycentric;
    place(contact);
}

const PointContacts::Pair& PointContacts::pair(int i, int j,
                                               const SurfaceStiffness& stiffness) noexcept {
    Pair& found = pairs_[at(j * (j - 1) / 2 + i)];
    const int triangle_i = frame_.points[at(i)].triangle,
              triangle_j = frame_.points[at(j)].triangle;
    if (found.triangle_i == triangle_i && found.triangle_j == triangle_j) return found;
    // neighbours share two corners: elements of a large matrix, most of them not in the cache
    const auto& triangles = model_->surface.mesh.triangles;
    const bool is_new = found.triangle_i < 0;
    const auto place = [&](int triangle, int vertex) {
        for (int k = 0; k < 3 && !is_new; ++k)
            if (triangles[at(triangle)][at(k)] == vertex) return k;
        return -1;
    };
    const std::array<Matrix3d, 9> before = found.corners;
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) {
            const int i_vertex = triangles[at(triangle_i)][at(k)],
                      j_vertex = triangles[at(triangle_j)][at(l)];
            const int old_k = place(found.triangle_i, i_vertex),
                      old_l = place(found.triangle_j, j_vertex);
            found.corners[at(3 * k + l)] = old_k >= 0 && old_l >= 0
                                               ? before[at(3 * old_k + old_l)]
                                               : stiffness.compliance(i_vertex, j_vertex);
        }
    found.triangle_i = triangle_i;
    found.triangle_j = triangle_j;
    return found;
}

/// Stiffness of all points together, docs/greens.md eq. (E10).
void PointContacts::couple(const SurfaceStiffness& stiffness) noexcept {
    num_active_ = 0;
    for (int i = 0; i < frame_.num_points; ++i)
        if (frame_.points[at(i)].is_touching()) active_[at(num_active_++)] = i;
    if (std::exchange(pairs_of_, stiffness.id()) != stiffness.id())
        for (Pair& known : pairs_) known.triangle_i = -1;

    const SurfaceStiffness::Scale scale{settings_.modulus_scale, settings_.max_stiffness};
    coupled_.setZero(3 * num_active_, 3 * num_active_);
    std::array<Matrix3d, kMaxPoints> diagonal;
    for (int a = 0; a < num_active_; ++a) {
        const PointContact& contact = frame_.points[at(active_[at(a)])];
        diagonal[at(a)] = stiffness.stiffness_at(contact.triangle, contact.barycentric, scale);
    }
    if (num_active_ == 1) {
        coupled_ = diagonal[0];
        return;
    }

    // compliances between points, and what they are of the points' own: K_a^½ Z K_b^½
    std::array<Matrix3d, kMaxPoints> roots;
    for (int a = 0; a < num_active_; ++a) roots[at(a)] = diagonal[at(a)].llt().matrixL();
    std::array<double, kMaxPoints> sums{};
    for (int b = 0; b < num_active_; ++b)
        for (int a = 0; a < b; ++a) {
            const PointContact &one = frame_.points[at(active_[at(a)])],
                               &two = frame_.points[at(active_[at(b)])];
            const auto& corners = pair(active_[at(a)], active_[at(b)], stiffness).corners;
            Matrix3d Z = Matrix3d::Zero();
            for (int k = 0; k < 3; ++k)
                for (int l = 0; l < 3; ++l)
                    Z += one.barycentric[k] * two.barycentric[l] * corners[at(3 * k + l)];
            Z /= settings_.modulus_scale;
            coupled_.block<3, 3>(3 * a, 3 * b) = Z;
            const Matrix3d relative = roots[at(a)].transpose() * Z * roots[at(b)];
            const double ratio = std::sqrt(
                std::max(largest_eigenvalue_of_three(relative.transpose() * relative), 0.0));
            sums[at(a)] += ratio;
            sums[at(b)] += ratio;
        }
    for (int b = 0; b < num_active_; ++b) {
        coupled_.block<3, 3>(3 * b, 3 * b) = diagonal[at(b)].inverse();
        for (int a = 0; a < b; ++a) {
            auto Z = coupled_.block<3, 3>(3 * a, 3 * b);
            Z *= std::min(1.0, kMaxCoupling / std::max(sums[at(a)], sums[at(b)]));
            coupled_.block<3, 3>(3 * b, 3 * a) = Z.transpose();
        }
    }
    invert_positive(coupled_);
}

Vector3d PointContacts::force_on(int a) const noexcept {
    Vector3d force = Vector3d::Zero();
    for (int b = 0; b < num_active_; ++b) {
        const PointContact& contact = frame_.points[at(active_[at(b)])];
        force += coupled_.block<3, 3>(3 * a, 3 * b) * (contact.tip - contact.point);
    }
    return force;
}

/// Coulomb's law at one point, docs/greens.md eqs. (E6)–(E8). True when it has moved or let go.
bool PointContacts::slide(int a) noexcept {
    PointContact& contact = frame_.points[at(active_[at(a)])];
    if (is_pulling_[at(active_[at(a)])]) {
        contact.phase = PointPhase::Pulling;
        return false;
    }
    if (!contact.is_touching()) return false;
    const Vector3d force = force_on(a), n = contact.felt_normal;
    const double N = -force.dot(n), mu = contact.felt_friction;
    if (!(N > 0)) {
        end_contact(contact);
        return true;
    }
    const Vector3d t = force + N * n;
    if (t.norm() <= mu * N * (1 + kConeRounding)) return false;

    // where it would come to rest without friction
    const Matrix3d K = coupled_.block<3, 3>(3 * a, 3 * a);
    Eigen::Matrix<double, 3, 2> basis;
    basis.col(0) = n.unitOrthogonal();
    basis.col(1) = n.cross(basis.col(0));
    const Eigen::Matrix2d tangential = basis.transpose() * K * basis;
    const Vector3d rest = basis * (tangential.inverse() * (basis.transpose() * force));
    if (!rest.allFinite()) return false;
    const double c = n.dot(K * rest);
    if (!(N + c > 0)) {
        end_contact(contact);
        return true;
    }
    const double part = std::clamp((t.norm() - mu * N) / (t.norm() + mu * c), 0.0, 1.0);
    walk(contact, part * rest);
    contact.phase = PointPhase::Sliding;
    return true;
}

/// Forces of the last places; the surface has curved since the last slide, so the cone has the last
/// word. False when a point had to let go, which changes the others.
bool PointContacts::finish_forces() noexcept {
    bool is_final = true;
    for (int a = 0; a < num_active_; ++a) {
        PointContact& contact = frame_.points[at(active_[at(a)])];
        contact.force = force_on(a);
        if (contact.phase == PointPhase::Pulling) continue;
        const double N = -contact.force.dot(contact.felt_normal);
        if (!(N > 0)) {
            contact.phase = PointPhase::Free;  // still there for the forces of this round
            is_final = false;
            continue;
        }
        const Vector3d t = contact.force + N * contact.felt_normal;
        const double limit = contact.felt_friction * N;
        if (t.norm() > limit) contact.force = t * (limit / t.norm()) - N * contact.felt_normal;
    }
    for (int i = 0; i < frame_.num_points; ++i)
        if (PointContact& contact = frame_.points[at(i)]; !contact.is_touching())
            end_contact(contact);
    return is_final;
}

const PointContactFrame& PointContacts::tick(std::span<const PointInput> inputs,
                                             const SurfaceStiffness& stiffness) noexcept {
    ++frame_.tick;
    for (int i = 0; i < frame_.num_points; ++i) {
        PointContact& contact = frame_.points[at(i)];
        if (at(i) >= inputs.size() || !is_place(inputs[at(i)].tip)) continue;
        const PointInput& input = inputs[at(i)];
        const Vector3d last_tip = is_placed_[at(i)] ? contact.tip : input.tip;
        is_placed_[at(i)] = true;
        is_pulling_[at(i)] = input.is_pulling;
        contact.tip = input.tip;
        if ((contact.tip - last_tip).norm() > settings_.max_jump) {
            end_contact(contact);
        } else if (!contact.is_touching()) {
            begin(contact, input, last_tip);
        }
        if (contact.is_touching()) {
            contact.phase = PointPhase::Sticking;
            feel(contact);  // friction may have been set anew
        }
    }
    couple(stiffness);
    for (int round = 0; round < kSlides; ++round) {
        bool has_changed = false;
        for (int a = 0; a < num_active_; ++a) has_changed = slide(a) || has_changed;
        if (!has_changed) break;
        couple(stiffness);
    }
    for (int round = 0; round < kMaxPoints && !finish_forces(); ++round) couple(stiffness);

    published_.write_slot() = frame_;
    published_.publish();
    return frame_;
}

PointLoads::PointLoads(int num_columns, int max_loads)
    : max_loads_(at(std::max(max_loads, 0))), place_(at(num_columns), -1) {
    nodes_.reserve(max_loads_);
    tractions_.reserve(max_loads_);
}

void PointLoads::clear() noexcept {
    for (const int node : nodes_) place_[at(node)] = -1;
    nodes_.clear();
    tractions_.clear();
}

bool PointLoads::add(const SurfaceStiffness& stiffness, const PointContact& contact) noexcept {
    bool has_room = true;
    if (!contact.is_touching()) return has_room;
    for (int k = 0; k < 3; ++k) {
        const int vertex = stiffness.model()->surface.mesh.triangles[at(contact.triangle)][at(k)];
        const auto nodes = stiffness.mask_nodes(vertex);
        const auto densities = stiffness.mask_densities(vertex);
        for (std::size_t m = 0; m < nodes.size(); ++m) {
            int& place = place_[at(nodes[m])];
            if (place < 0) {
                if (nodes_.size() == max_loads_) {
                    has_room = false;
                    continue;
                }
                place = static_cast<int>(nodes_.size());
                nodes_.push_back(nodes[m]);
                tractions_.emplace_back(Vector3d::Zero());
            }
            tractions_[at(place)] += contact.barycentric[k] * densities[m] * contact.force;
        }
    }
    return has_room;
}

}  // namespace pliant
