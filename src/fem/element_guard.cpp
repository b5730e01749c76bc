#include "fem/element_guard.h"

#include "fem/scalar_elements.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kLeast = 0.05, kLeastPart = 0.5;
constexpr int kRounds = 40;
/// What is asked for beyond the least, in parts of it.
constexpr double kRoom = 0.01;
/// [m/s]
constexpr double kFastest = 3e8;

Matrix3d cofactors(const Matrix3d& F) {
    Matrix3d C;
    for (int l = 0; l < 3; ++l) C.col(l) = F.col((l + 1) % 3).cross(F.col((l + 2) % 3));
    return C;
}

}  // namespace

ElementGuard::ElementGuard(const ExplicitDynamics& dynamics)
    : model_(dynamics.model()),
      inverse_mass_(Eigen::VectorXd::Zero(model_.num_nodes())),
      hanging_(static_cast<std::size_t>(model_.num_nodes()), -1),
      changed_(hanging_.size(), 0),
      next_(hanging_.size(), 0) {
    for (int node = 0; node < model_.num_nodes(); ++node) {
        bool is_held = false;
        for (int axis = 0; axis < 3; ++axis)
            is_held = is_held || dynamics.constraints().is_prescribed(node, axis);
        const double mass = dynamics.mass()[3 * Eigen::Index{node}];
        if (!is_held && mass > 0) inverse_mass_[node] = 1 / mass;
    }
    const std::vector<HangingNode>& hanging = model_.mesh().hanging;
    for (std::size_t h = 0; h < hanging.size(); ++h) {
        hanging_[static_cast<std::size_t>(hanging[h].vertex)] = static_cast<int>(h);
        double sum = 0;
        for (int m = 0; m < hanging[h].num_masters; ++m)
            sum += hanging[h].weight * hanging[h].weight * inverse_mass_[hanging[h].masters[m]];
        inverse_mass_[hanging[h].vertex] = sum;
    }
}

double ElementGuard::least_det_F(double smallest_before) noexcept {
    const double least = std::max(kLeast, kLeastPart * std::min(1.0, smallest_before));
    return std::min(smallest_before, least) - 1e-6;
}

void ElementGuard::follow_masters(Eigen::VectorXd& x) const noexcept {
    for (const HangingNode& h : model_.mesh().hanging) {
        Vector3d sum = Vector3d::Zero();
        for (int m = 0; m < h.num_masters; ++m) sum += x.segment<3>(3 * Eigen::Index{h.masters[m]});
        x.segment<3>(3 * Eigen::Index{h.vertex}) = h.weight * sum;
    }
}

void ElementGuard::add_velocity(FemState& s, int node, const Vector3d& change) noexcept {
    const int h = hanging_[static_cast<std::size_t>(node)];
    if (h < 0) {
        s.v.segment<3>(3 * Eigen::Index{node}) += change;
        next_[static_cast<std::size_t>(node)] = 1;
        return;
    }
    const HangingNode& hanging = model_.mesh().hanging[static_cast<std::size_t>(h)];
    for (int m = 0; m < hanging.num_masters; ++m) add_velocity(s, hanging.masters[m], change);
}

/// True if the point needed it.
template <int N>
bool ElementGuard::push_point(FemState& s, double dt, double least, int place, int point) noexcept {
    const ElementView<N> element(model_.data(), place);
    const auto& reference = element.reference.gradients[static_cast<std::size_t>(point)];
    const QuadraturePoint& at = element.points[point];
    const NodeColumns<N> u = gather<N>(s.u.data(), element.nodes);
    const NodeColumns<N> v = gather<N>(s.v.data(), element.nodes);
    if (!(deformation_gradient<N>(u + dt * v, reference, at).determinant() < least)) return false;
    // ∂J/∂x of the nodes at the start, and what it makes of their velocities
    const Matrix3d F = deformation_gradient<N>(u, reference, at);
    const double J = F.determinant();
    const NodeColumns<N> gradients =
        (cofactors(F) * at.inverse_jacobian.transpose()).lazyProduct(reference);
    const double rate = gradients.cwiseProduct(v).sum();
    const double most = std::min(0.0, ((1 + kRoom) * least - J) / dt);
    double compliance = 0;
    for (int a = 0; a < N; ++a)
        compliance += inverse_mass_[element.nodes[a]] * gradients.col(a).squaredNorm();
    if (rate < most && compliance > 0) {
        const double impulse = (most - rate) / compliance;
        for (int a = 0; a < N; ++a)
            add_velocity(s, element.nodes[a],
                         (impulse * inverse_mass_[element.nodes[a]]) * gradients.col(a));
        return true;
    }
    // beyond first order: halve what the nodes do besides moving together
    Vector3d sum = Vector3d::Zero();
    double mass = 0;
    for (int a = 0; a < N; ++a) {
        const double w = inverse_mass_[element.nodes[a]];
        if (w > 0) sum += v.col(a) / w;
        if (w > 0) mass += 1 / w;
    }
    for (int a = 0; a < N; ++a)
        if (inverse_mass_[element.nodes[a]] > 0)
            add_velocity(s, element.nodes[a], 0.5 * (sum / mass - v.col(a)));
    return true;
}

/// True if no element needed it.
template <int N>
bool ElementGuard::push_apart(FemState& s, double dt, double least) noexcept {
    const FemModelData& d = model_.data();
    bool is_well = true;
    for (int place = 0; place < static_cast<int>(d.regions.size()); ++place) {
        const int* const nodes = d.nodes.data() + static_cast<std::size_t>(place) * N;
        if (std::none_of(nodes, nodes + N,
                         [&](int node) { return changed_[static_cast<std::size_t>(node)] != 0; }))
            continue;
        for (int k = 0; k < ReferenceElement<N>::kPoints; ++k)
            if (push_point<N>(s, dt, least, place, k)) is_well = false;
    }
    return is_well;
}

bool ElementGuard::hold_up(FemState& s, double dt, double smallest_before) noexcept {
    const double least = least_det_F(smallest_before);
    s.v += 0.5 * dt * s.a;
    s.a.setZero();
    follow_masters(s.v);
    std::ranges::fill(changed_, char{1});
    bool is_well = false;
    for (int k = 0; k < kRounds && !is_well; ++k) {
        std::ranges::fill(next_, char{0});
        is_well = model_.mesh().kind == ElementKind::Tet4 ? push_apart<4>(s, dt, least)
                                                          : push_apart<8>(s, dt, least);
        follow_masters(s.v);
        std::swap(changed_, next_);
        // hanging nodes have moved with their masters
        for (const HangingNode& h : model_.mesh().hanging)
            for (int m = 0; m < h.num_masters; ++m)
                if (changed_[static_cast<std::size_t>(h.masters[m])] != 0)
                    changed_[static_cast<std::size_t>(h.vertex)] = 1;
    }
    if (!is_well) stop_all(s);
    return s.v.allFinite() && s.v.cwiseAbs().maxCoeff() < kFastest;
}

/// All nodes at the velocity of the whole; at rest where something is held.
void ElementGuard::stop_all(FemState& s) const noexcept {
    Vector3d sum = Vector3d::Zero();
    double mass = 0;
    bool is_held = false;
    for (Eigen::Index node = 0; node < inverse_mass_.size(); ++node) {
        if (hanging_[static_cast<std::size_t>(node)] >= 0) continue;
        is_held = is_held || inverse_mass_[node] == 0;
        if (inverse_mass_[node] == 0) continue;
        sum += s.v.segment<3>(3 * node) / inverse_mass_[node];
        mass += 1 / inverse_mass_[node];
    }
    const Vector3d mean = is_held || !(mass > 0) ? Vector3d::Zero() : Vector3d(sum / mass);
    for (Eigen::Index node = 0; node < inverse_mass_.size(); ++node)
        if (inverse_mass_[node] > 0) s.v.segment<3>(3 * node) = mean;
}

}  // namespace pliant
