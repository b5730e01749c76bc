#include "fem/hex_dilation.h"

#include "fem/cofactor.h"

namespace pliant {

using Eigen::Matrix3d;

bool has_mean_dilation(const FemModelData& d, int place) noexcept {
    return d.elements == ElementFormulation::Accurate && d.mesh.kind == ElementKind::Hex8 &&
           d.materials[d.regions[place]].law == Law::NeoHookean;
}

HexDilation::HexDilation(const FemModelData& d, int place, const NodeColumns<8>& u) noexcept
    : points_(d.points.data() + static_cast<std::size_t>(place) * 8) {
    const Material& material = d.materials[d.regions[place]];
    k_ = material.lambda + material.mu * (2.0 / 3.0);
    F_ = gradients(u);
    for (int q = 0; q < 8; ++q) {
        // J − 1 = tr H + tr cof H + det H, in which nothing cancels
        const Matrix3d cof_H = cofactor(F_[q]);
        spread_[q] = F_[q].trace() + cof_H.trace() + F_[q].col(0).dot(cof_H.col(0));
        F_[q].diagonal().array() += 1;
        cofactors_[q] = cofactor(F_[q]);
    }
    remove_mean(spread_);
}

HexDilation::Tensors HexDilation::gradients(const NodeColumns<8>& u) const noexcept {
    Tensors H;
    const auto& reference = ReferenceElement<8>::get();
    for (int q = 0; q < 8; ++q)
        H[q] = displacement_gradient<8>(u, reference.gradients[q], points_[q]);
    return H;
}

void HexDilation::remove_mean(Numbers& x) const noexcept {
    double sum = 0, volume = 0;
    for (int q = 0; q < 8; ++q) {
        sum += points_[q].weight * x[q];
        volume += points_[q].weight;
    }
    x.array() -= sum / volume;
}

NodeColumns<8> HexDilation::forces_of(const Tensors& P) const noexcept {
    NodeColumns<8> f = NodeColumns<8>::Zero();
    const auto& reference = ReferenceElement<8>::get();
    for (int q = 0; q < 8; ++q)
        add_stress_force<8>(-k_ * P[q], reference.gradients[q], points_[q], f);
    return f;
}

double HexDilation::energy() const noexcept {
    double sum = 0;
    for (int q = 0; q < 8; ++q) sum += points_[q].weight * spread_[q] * spread_[q];
    return -0.5 * k_ * sum;
}

NodeColumns<8> HexDilation::force() const noexcept {
    Tensors P;
    for (int q = 0; q < 8; ++q) P[q] = spread_[q] * cofactors_[q];
    return forces_of(P);
}

NodeColumns<8> HexDilation::product(const NodeColumns<8>& p) const noexcept {
    const Tensors H = gradients(p);
    Numbers dJ;
    for (int q = 0; q < 8; ++q) dJ[q] = cofactors_[q].cwiseProduct(H[q]).sum();
    remove_mean(dJ);
    Tensors P;
    for (int q = 0; q < 8; ++q)
        P[q] = dJ[q] * cofactors_[q] + spread_[q] * cofactor_derivative(F_[q], H[q]);
    return forces_of(P);
}

ElementMatrix<8> HexDilation::tangent() const noexcept {
    ElementMatrix<8> K;
    NodeColumns<8> p = NodeColumns<8>::Zero();
    for (int b = 0; b < 24; ++b) {
        p(b % 3, b / 3) = 1;
        K.col(b) = product(p).reshaped();
        p(b % 3, b / 3) = 0;
    }
    return K;
}

NodeColumns<8> HexDilation::hessian(const NodeColumns<8>& v,
                                    const NodeColumns<8>& w) const noexcept {
    const Tensors V = gradients(v), W = gradients(w);
    Tensors cof_V, cof_W, P;
    Numbers dJ_v, dJ_w, dJ_vw;
    for (int q = 0; q < 8; ++q) {
        cof_V[q] = cofactor_derivative(F_[q], V[q]);
        cof_W[q] = cofactor_derivative(F_[q], W[q]);
        dJ_v[q] = cofactors_[q].cwiseProduct(V[q]).sum();
        dJ_w[q] = cofactors_[q].cwiseProduct(W[q]).sum();
        dJ_vw[q] = cof_W[q].cwiseProduct(V[q]).sum();
    }
    remove_mean(dJ_v);
    remove_mean(dJ_w);
    remove_mean(dJ_vw);
    for (int q = 0; q < 8; ++q)
        P[q] = dJ_vw[q] * cofactors_[q] + dJ_v[q] * cof_W[q] + dJ_w[q] * cof_V[q] +
               spread_[q] * cofactor_derivative(V[q], W[q]);
    return forces_of(P);
}

}  // namespace pliant
