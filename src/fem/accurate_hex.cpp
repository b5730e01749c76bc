#include "fem/accurate_hex.h"

#include "geometry/trilinear.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

namespace pliant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kVoigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

Vector6d strain_to_voigt(const Matrix3d& E) noexcept {
    Vector6d e;
    e << E(0, 0), E(1, 1), E(2, 2), 2 * E(1, 2), 2 * E(2, 0), 2 * E(0, 1);
    return e;
}
Matrix3d stress_from_voigt(const Vector6d& s) noexcept {
    Matrix3d S;
    S << s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2];
    return S;
}
Matrix3d symmetric_part(const Matrix3d& A) noexcept { return 0.5 * (A + A.transpose()); }

/// Stress in Voigt order of the symmetric part of a bᵀ.
Vector6d dyad(const Vector3d& a, const Vector3d& b) noexcept {
    Vector6d s;
    for (int x = 0; x < 6; ++x) {
        const auto [i, j] = kVoigt[x];
        s[x] = 0.5 * (a[i] * b[j] + a[j] * b[i]);
    }
    return s;
}

Matrix3d whole_stress(const Material& m, const Matrix3d& E) noexcept {
    if (m.anisotropy) return stress_from_voigt(m.anisotropy->stiffness * strain_to_voigt(E));
    Matrix3d S = (2 * m.mu) * E;
    S.diagonal().array() += m.lambda * E.trace();
    return S;
}

}  // namespace

Eigen::Matrix<double, 6, 3> plane_stress_root(const Matrix6d& stiffness, const Matrix3d& edges,
                                              int k) noexcept {
    const Vector3d a = edges.col((k + 1) % 3), b = edges.col((k + 2) % 3);
    Eigen::Matrix<double, 6, 3> Q;
    Q << dyad(a, a), dyad(b, b), dyad(a, b);
    const Eigen::Matrix<double, 6, 3> strains = stiffness.llt().solve(Q);
    const Matrix3d compliance = Q.transpose() * strains;
    const Matrix3d in_plane = compliance.inverse();
    const Matrix3d root = in_plane.llt().matrixL();
    return Q * root;
}

Vector6d edge_stress_root(const Matrix6d& stiffness, const Matrix3d& edges, int k) noexcept {
    const Vector3d t = edges.col(k);
    const Vector6d along = strain_to_voigt(t * t.transpose());
    double modulus = 0;
    for (const int across : {(k + 1) % 3, (k + 2) % 3})
        modulus +=
            0.5 * (plane_stress_root(stiffness, edges, across).transpose() * along).squaredNorm();
    return std::sqrt(modulus) * dyad(t, t);
}

bool is_accurate_hex(const FemModelData& d, int place) noexcept {
    const Law law = d.materials[d.regions[place]].law;
    return d.elements == ElementFormulation::Accurate && d.mesh.kind == ElementKind::Hex8 &&
           (law == Law::StVenantKirchhoff || law == Law::SmallStrain);
}

HexStressSpace::HexStressSpace(const FemModelData& d, int place) noexcept
    : material_(d.materials[d.regions[place]]) {
    // ∂x/∂ξ at the centre
    const int* const nodes = d.nodes.data() + static_cast<std::size_t>(place) * 8;
    Matrix3d J = Matrix3d::Zero();
    for (int a = 0; a < 8; ++a) {
        const Vector3d x = d.mesh.vertices[nodes[a]] - d.mesh.vertices[nodes[0]];
        for (int k = 0; k < 3; ++k) J.col(k) += kHexSigns[a][k] * x;
    }
    for (int k = 0; k < 3; ++k) {
        tangents_.col(k) = J.col(k).normalized();
        normals_.col(k) = J.col((k + 1) % 3).cross(J.col((k + 2) % 3)).normalized();
    }
    if (const HexWeights* const cut = d.cut.of(place)) {
        weights_ = *cut;
        volume_ = weights_.col(0).sum();
        return;
    }
    // products of signs, freed of their means and, to first order, of each other
    const QuadraturePoint* const points = d.points.data() + static_cast<std::size_t>(place) * 8;
    volume_ = 0;
    Vector3d mean = Vector3d::Zero();
    for (int q = 0; q < 8; ++q) {
        volume_ += points[q].weight;
        for (int k = 0; k < 3; ++k) mean[k] += points[q].weight * kHexSigns[q][k];
    }
    mean /= volume_;
    Eigen::Matrix<double, 8, 1> w;
    for (int q = 0; q < 8; ++q) {
        w[q] = points[q].weight;
        Vector3d s;
        for (int k = 0; k < 3; ++k) s[k] = kHexSigns[q][k] - mean[k];
        weights_.row(q) << 1, s[0], s[1], s[2], s[1] * s[2], s[2] * s[0], s[0] * s[1];
    }
    for (int k = 1; k < 7; ++k) {
        weights_.col(k).array() -= w.dot(weights_.col(k)) / volume_;
        weights_.col(k) /= std::sqrt(w.dot(weights_.col(k).cwiseAbs2()));
    }
    weights_.array().colwise() *= w.array();
}

HexTensors HexStressSpace::elastic_stress(const HexTensors& E) const noexcept {
    Matrix3d mean = Matrix3d::Zero();
    std::array<Matrix3d, 6> of_mode;
    of_mode.fill(Matrix3d::Zero());
    for (int q = 0; q < 8; ++q) {
        mean += (weights_(q, 0) / volume_) * E[q];
        for (int k = 0; k < 6; ++k) of_mode[k] += weights_(q, k + 1) * E[q];
    }
    mean = whole_stress(material_, mean);
    if (material_.anisotropy) {
        const Matrix6d& C = material_.anisotropy->stiffness;
        for (int k = 0; k < 3; ++k) {
            const auto plane = plane_stress_root(C, tangents_, k);
            of_mode[k] = stress_from_voigt(
                plane * (plane.transpose() * strain_to_voigt(of_mode[k])));
            const Vector6d edge = edge_stress_root(C, tangents_, k);
            of_mode[3 + k] =
                stress_from_voigt(edge * edge.dot(strain_to_voigt(of_mode[3 + k])));
        }
    } else {
        const double mu = material_.mu, lambda = plane_stress_lambda(material_);
        for (int k = 0; k < 3; ++k) {
            const Vector3d n = normals_.col(k), t = tangents_.col(k);
            const Matrix3d P = Matrix3d::Identity() - n * n.transpose();
            const Matrix3d e = P * of_mode[k] * P;
            of_mode[k] = 2 * mu * e + lambda * e.trace() * P;
            of_mode[3 + k] =
                ((2 * mu + lambda) * t.dot(of_mode[3 + k] * t)) * t * t.transpose();
        }
    }
    HexTensors S;
    for (int q = 0; q < 8; ++q) {
        S[q] = weights_(q, 0) * mean;
        for (int k = 0; k < 6; ++k) S[q] += weights_(q, k + 1) * of_mode[k];
    }
    return S;
}

AccurateHex::AccurateHex(const FemModelData& d, int place, const NodeColumns<8>& u) noexcept
    : points_(d.points.data() + static_cast<std::size_t>(place) * 8),
      material_(d.materials[d.regions[place]]),
      is_small_(material_.law == Law::SmallStrain),
      space_(d, place) {
    F_ = gradients(u);
    for (int q = 0; q < 8; ++q) {
        // from ∇u so that nothing cancels
        E_[q] = symmetric_part(F_[q]);
        if (is_small_) {
            F_[q].setIdentity();
        } else {
            E_[q] += 0.5 * F_[q].transpose().lazyProduct(F_[q]);
            F_[q].diagonal().array() += 1;
        }
    }
}

HexTensors AccurateHex::gradients(const NodeColumns<8>& u) const noexcept {
    HexTensors H;
    const auto& reference = ReferenceElement<8>::get();
    for (int q = 0; q < 8; ++q)
        H[q] = displacement_gradient<8>(u, reference.gradients[q], points_[q]);
    return H;
}

HexTensors AccurateHex::stress() const noexcept {
    if (!material_.anisotropy) return space_.elastic_stress(E_);
    const Vector6d& e0 = material_.anisotropy->initial_strain;
    const Matrix3d S0 = stress_from_voigt(material_.anisotropy->initial_stress -
                                          material_.anisotropy->stiffness * e0);
    HexTensors S = space_.elastic_stress(E_);
    for (int q = 0; q < 8; ++q) S[q] += space_.weights()(q, 0) * S0;
    return S;
}

double AccurateHex::energy() const noexcept {
    const HexTensors S = space_.elastic_stress(E_);
    double sum = 0;
    for (int q = 0; q < 8; ++q) sum += 0.5 * S[q].cwiseProduct(E_[q]).sum();
    if (!material_.anisotropy) return sum;
    // what the initial stress and strain add, eq. (M4)
    const Anisotropy& a = *material_.anisotropy;
    const Vector6d preload = a.stiffness * a.initial_strain;
    for (int q = 0; q < 8; ++q)
        sum += space_.weights()(q, 0) * ((a.initial_stress - preload).dot(strain_to_voigt(E_[q])) +
                                          0.5 * preload.dot(a.initial_strain));
    return sum;
}

void AccurateHex::add_forces(const HexTensors& P, NodeColumns<8>& f) const noexcept {
    const auto& reference = ReferenceElement<8>::get();
    for (int q = 0; q < 8; ++q) {
        const Matrix3d P_reference = P[q].lazyProduct(points_[q].inverse_jacobian.transpose());
        f += P_reference.lazyProduct(reference.gradients[q]);
    }
}

NodeColumns<8> AccurateHex::force() const noexcept {
    HexTensors P = stress();
    for (int q = 0; q < 8; ++q) P[q] = (F_[q] * P[q]).eval();
    NodeColumns<8> f = NodeColumns<8>::Zero();
    add_forces(P, f);
    return f;
}

HexTensors AccurateHex::strain_rates(const HexTensors& H) const noexcept {
    HexTensors dE;
    for (int q = 0; q < 8; ++q) dE[q] = symmetric_part(F_[q].transpose() * H[q]);
    return dE;
}

NodeColumns<8> AccurateHex::product(const NodeColumns<8>& p) const noexcept {
    const HexTensors H = gradients(p), S = stress();
    HexTensors P = space_.elastic_stress(strain_rates(H));
    for (int q = 0; q < 8; ++q) {
        P[q] = (F_[q] * P[q]).eval();
        if (!is_small_) P[q] += H[q] * S[q];
    }
    NodeColumns<8> f = NodeColumns<8>::Zero();
    add_forces(P, f);
    return f;
}

ElementMatrix<8> AccurateHex::tangent() const noexcept {
    ElementMatrix<8> K;
    NodeColumns<8> p = NodeColumns<8>::Zero();
    for (int b = 0; b < 24; ++b) {
        p(b % 3, b / 3) = 1;
        K.col(b) = product(p).reshaped();
        p(b % 3, b / 3) = 0;
    }
    return K;
}

NodeColumns<8> AccurateHex::hessian(const NodeColumns<8>& v,
                                    const NodeColumns<8>& w) const noexcept {
    NodeColumns<8> f = NodeColumns<8>::Zero();
    if (is_small_) return f;
    const HexTensors V = gradients(v), W = gradients(w);
    const HexTensors S_v = space_.elastic_stress(strain_rates(V));
    const HexTensors S_w = space_.elastic_stress(strain_rates(W));
    HexTensors E_vw;
    for (int q = 0; q < 8; ++q) E_vw[q] = symmetric_part(V[q].transpose() * W[q]);
    HexTensors P = space_.elastic_stress(E_vw);
    for (int q = 0; q < 8; ++q) P[q] = (F_[q] * P[q] + V[q] * S_w[q] + W[q] * S_v[q]).eval();
    add_forces(P, f);
    return f;
}

}  // namespace pliant
