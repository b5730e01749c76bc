#pragma once

#include "fem/element_kernels.h"
#include "fem/fem_model_data.h"

#include <array>

namespace pliant {

/// Accurate Hex8 elements one at a time, docs/fem.md section "Accurate hexahedra": the way of
/// elements without SIMD kernel, and the reference of those that have one.
///
/// Stresses are taken from the 18 that Pian and Tong chose [PianTong1986], so that the element
/// stores what the best of them store:
///     W = max over S of  Σ_q w_q (S_q : E_q − ½ S_q : C⁻¹ : S_q)
///     S_q = S₀ + Σ_k ψ_k(q) S_k + Σ_k ψ_ij(q) s_k t_k t_kᵀ,   k = 1, 2, 3
/// ψ_k varies along axis k, where S_k is plane stress across it; ψ_ij along both other axes, where
/// only stress along the edges t_k is left. W is quadratic in the Green strains E_q, so that it
/// stays a polynomial of degree four, and invariant to rotation. Strains that the ψ do not see
/// (the parasitic shears of bending, and dilatation where it would lock) cost nothing.
using HexTensors = std::array<Eigen::Matrix3d, 8>;

/// Whether the element at a place is one: linear laws only.
[[nodiscard]] bool is_accurate_hex(const FemModelData& d, int place) noexcept;

/// The stresses of one element.
class HexStressSpace {
public:
    HexStressSpace(const FemModelData& d, int place) noexcept;

    /// w_q C : E_q in the space: linear and symmetric in E, and free of initial stress.
    [[nodiscard]] HexTensors elastic_stress(const HexTensors& E) const noexcept;

    [[nodiscard]] double volume() const noexcept { return volume_; }
    /// Of sums over the points: w, then w ψ of three functions along one axis and of three along
    /// two, with Σ w ψ_a = 0 and Σ w ψ_a² = 1.
    [[nodiscard]] const HexWeights& weights() const noexcept { return weights_; }
    /// Unit vectors in the columns: across the plane of the other edges, and along the edges, both
    /// at the centre.
    [[nodiscard]] const Eigen::Matrix3d& normals() const noexcept { return normals_; }
    [[nodiscard]] const Eigen::Matrix3d& tangents() const noexcept { return tangents_; }

private:
    const Material& material_;
    double volume_;
    HexWeights weights_;
    Eigen::Matrix3d normals_, tangents_;
};

/// λ of plane stress: 2λμ / (λ + 2μ).
[[nodiscard]] inline double plane_stress_lambda(const Material& m) noexcept {
    return 2 * m.lambda * m.mu / (m.lambda + 2 * m.mu);
}

/// Plane stress of an anisotropic material across the edge k of three unit edges: its stiffness on
/// Voigt strains is root rootᵀ.
[[nodiscard]] Eigen::Matrix<double, 6, 3> plane_stress_root(const Matrix6d& stiffness,
                                                            const Eigen::Matrix3d& edges,
                                                            int k) noexcept;
/// The same of stress along the edge k alone, with the strain across it free in one direction and
/// held in the other.
[[nodiscard]] Vector6d edge_stress_root(const Matrix6d& stiffness, const Eigen::Matrix3d& edges,
                                        int k) noexcept;

/// One element with its displacements.
class AccurateHex {
public:
    AccurateHex(const FemModelData& d, int place, const NodeColumns<8>& u) noexcept;

    [[nodiscard]] double energy() const noexcept;
    [[nodiscard]] NodeColumns<8> force() const noexcept;
    /// K p.
    [[nodiscard]] NodeColumns<8> product(const NodeColumns<8>& p) const noexcept;
    /// Blocks on and above the diagonal.
    [[nodiscard]] ElementMatrix<8> tangent() const noexcept;
    /// (∂K/∂u : v) w.
    [[nodiscard]] NodeColumns<8> hessian(const NodeColumns<8>& v,
                                         const NodeColumns<8>& w) const noexcept;

private:
    [[nodiscard]] HexTensors gradients(const NodeColumns<8>& u) const noexcept;
    /// w_q S_q.
    [[nodiscard]] HexTensors stress() const noexcept;
    /// ∂E/∂u : p.
    [[nodiscard]] HexTensors strain_rates(const HexTensors& H) const noexcept;
    void add_forces(const HexTensors& P, NodeColumns<8>& f) const noexcept;

    const QuadraturePoint* points_;
    const Material& material_;
    bool is_small_;
    HexStressSpace space_;
    HexTensors F_, E_;
};

}  // namespace pliant
