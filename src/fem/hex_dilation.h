#pragma once

#include "fem/element_kernels.h"
#include "fem/fem_model_data.h"

#include <array>

namespace pliant {

/// What the stable neo-Hookean law of an accurate Hex8 element has beside its eight points,
/// docs/fem.md section "Accurate hexahedra": the element resists a change of its volume as a whole,
///     W = Σ_q w_q W(F_q) − k/2 Σ_q w_q (J_q − J̄)²,   J̄ = Σ_q w_q J_q / Σ_q w_q,   k = λ + ⅔ μ
/// so that what is left against a J that varies inside of it is μ/6, which bends as it should and
/// keeps every mode stiff. Invariant to rotation; W stays as smooth as the law. Elements one at a
/// time: for those without SIMD kernel, and the reference of those that have one.
class HexDilation {
public:
    HexDilation(const FemModelData& d, int place, const NodeColumns<8>& u) noexcept;

    [[nodiscard]] double energy() const noexcept;
    [[nodiscard]] NodeColumns<8> force() const noexcept;
    /// The part of K p.
    [[nodiscard]] NodeColumns<8> product(const NodeColumns<8>& p) const noexcept;
    /// The part of K.
    [[nodiscard]] ElementMatrix<8> tangent() const noexcept;
    /// The part of (∂K/∂u : v) w.
    [[nodiscard]] NodeColumns<8> hessian(const NodeColumns<8>& v,
                                         const NodeColumns<8>& w) const noexcept;

private:
    using Tensors = std::array<Eigen::Matrix3d, 8>;
    using Numbers = Eigen::Matrix<double, 8, 1>;
    [[nodiscard]] Tensors gradients(const NodeColumns<8>& u) const noexcept;
    /// Less the mean over the element.
    void remove_mean(Numbers& x) const noexcept;
    /// −k Σ_q w_q P_q ∇N.
    [[nodiscard]] NodeColumns<8> forces_of(const Tensors& P) const noexcept;

    const QuadraturePoint* points_;
    double k_;
    Tensors F_, cofactors_;
    Numbers spread_;  ///< J_q − J̄
};

/// Whether the element at a place is one of them.
[[nodiscard]] bool has_mean_dilation(const FemModelData& d, int place) noexcept;

}  // namespace pliant
