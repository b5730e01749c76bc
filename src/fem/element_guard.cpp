#include "fem/element_guard.h"

#include "fem/scalar_elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pliant {
namespace {

using Eigen::Vector3d;

constexpr double kLeast = 0.05, kLeastPart = 0.5;
constexpr int kRounds = 8;
/// [m/s]
constexpr double kFastest = 3e8;
/// What is asked for beyond the least, so that rounding does not matter.
constexpr double kRoom = 1e-6;

}  // namespace

ElementGuard::ElementGuard(const ExplicitDynamics& dynamics)
    : model_(dynamics.model()), mass_(model_.num_nodes()) {
    hanging_.assign(static_cast<std::size_t>(model_.num_nodes()), -1);
    const std::vector<HangingNode>& hanging = model_.mesh().hanging;
    for (std::size_t h = 0; h < hanging.size(); ++h)
        hanging_[static_cast<std::size_t>(hanging[h].vertex)] = static_cast<int>(h);
    for (int node = 0; node < model_.num_nodes(); ++node) {
        bool is_held = false;
        for (int axis = 0; axis < 3; ++axis)
            is_held = is_held || dynamics.constraints().is_prescribed(node, axis);
        mass_[node] = is_held ? std::numeric_limits<double>::infinity()
                              : dynamics.mass()[3 * Eigen::Index{node}];
    }
}

double ElementGuard::least_det_F(double smallest_before) noexcept {
    const double least = std::max(kLeast, kLeastPart * std::min(1.0, smallest_before));
    return std::min(smallest_before, least) - kRoom;
}

void ElementGuard::set_velocity(FemState& s, int node, const Vector3d& v) const noexcept {
    if (const int h = hanging_[static_cast<std::size_t>(node)]; h >= 0) {
        const HangingNode& hanging = model_.mesh().hanging[static_cast<std::size_t>(h)];
        for (int m = 0; m < hanging.num_masters; ++m) set_velocity(s, hanging.masters[m], v);
        return;
    }
    if (!std::isfinite(mass_[node])) return;
    s.v.segment<3>(3 * Eigen::Index{node}) = v;
    s.a.segment<3>(3 * Eigen::Index{node}).setZero();
}

void ElementGuard::follow_masters(FemState& s) const noexcept {
    for (const HangingNode& h : model_.mesh().hanging)
        for (Eigen::VectorXd* x : {&s.v, &s.a}) {
            Vector3d sum = Vector3d::Zero();
            for (int m = 0; m < h.num_masters; ++m)
                sum += x->segment<3>(3 * Eigen::Index{h.masters[m]});
            x->segment<3>(3 * Eigen::Index{h.vertex}) = h.weight * sum;
        }
}

/// True if no element needed it.
template <int N>
bool ElementGuard::hold_up_elements(FemState& s, double dt, double least) const noexcept {
    const FemModelData& d = model_.data();
    bool is_well = true;
    for (int place = 0; place < static_cast<int>(d.regions.size()); ++place) {
        const ElementView<N> element(d, place);
        const NodeColumns<N> u = gather<N>(s.u.data(), element.nodes);
        const NodeColumns<N> v =
            gather<N>(s.v.data(), element.nodes) + 0.5 * dt * gather<N>(s.a.data(), element.nodes);
        const auto smallest = [&](const NodeColumns<N>& at) {
            double value = std::numeric_limits<double>::infinity();
            for (int k = 0; k < element.kPoints; ++k)
                value = std::min(value, deformation_gradient<N>(at, element.reference.gradients[k],
                                                                element.points[k])
                                            .determinant());
            return value;
        };
        if (!(smallest(u + dt * v) < least)) continue;
        is_well = false;
        // the velocity of the whole element; held nodes decide where there are any
        Vector3d sum = Vector3d::Zero(), held = Vector3d::Zero();
        double mass = 0;
        int num_held = 0;
        for (int a = 0; a < N; ++a) {
            const double m = mass_[element.nodes[a]];
            if (!std::isfinite(m)) {
                held += v.col(a);
                ++num_held;
            } else {
                sum += m * v.col(a);
                mass += m;
            }
        }
        const Vector3d mean =
            num_held > 0 ? Vector3d(held / num_held) : Vector3d(sum / std::max(mass, 1e-300));
        double part = 0.5;
        const auto slowed = [&]() -> NodeColumns<N> {
            return (part * v).colwise() + (1 - part) * mean;
        };
        while (part > 0 && smallest(u + dt * slowed()) < least) part = part > 0.2 ? part / 2 : 0;
        const NodeColumns<N> slower = slowed();
        for (int a = 0; a < N; ++a) set_velocity(s, element.nodes[a], slower.col(a));
    }
    return is_well;
}

bool ElementGuard::hold_up(FemState& s, double dt, double smallest_before) const noexcept {
    const double least = least_det_F(smallest_before);
    for (int k = 0; k < kRounds; ++k) {
        const bool is_well =
            model_.mesh().kind == ElementKind::Tet4 ? hold_up_elements<4>(s, dt, least)
                                                    : hold_up_elements<8>(s, dt, least);
        follow_masters(s);
        if (is_well) break;
        if (k + 1 == kRounds) stop_all(s);
    }
    return s.v.allFinite() && s.v.cwiseAbs().maxCoeff() < kFastest;
}

/// All nodes at the velocity of the whole.
void ElementGuard::stop_all(FemState& s) const noexcept {
    Vector3d sum = Vector3d::Zero();
    double mass = 0;
    bool is_held = false;
    for (int node = 0; node < model_.num_nodes(); ++node) {
        const double m = mass_[node];
        is_held = is_held || !std::isfinite(m);
        if (!std::isfinite(m)) continue;
        sum += m * s.v.segment<3>(3 * Eigen::Index{node});
        mass += m;
    }
    const Vector3d mean = is_held || !(mass > 0) ? Vector3d::Zero() : Vector3d(sum / mass);
    for (int node = 0; node < model_.num_nodes(); ++node)
        if (hanging_[static_cast<std::size_t>(node)] < 0) set_velocity(s, node, mean);
    follow_masters(s);
}

}  // namespace pliant
