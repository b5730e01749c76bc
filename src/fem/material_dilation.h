#pragma once

#include "pliant/fem/material.h"

namespace pliant {

// The energy of every isotropic law is w(F) = w₀(F) + λ/2 θ(F)², where w₀ is that of the same
// material with λ = 0 and θ measures the change of volume:
//     St. Venant–Kirchhoff  tr E        small strain  tr ∇u
//     neo-Hookean           det F − 1   corotational  tr S − 3
// Elements that do not lock take the two parts at different places, docs/fem.md section "Tet4
// elements that do not lock".

/// Whether the second part is taken elsewhere. An anisotropic energy has no such part, and one
/// with λ < 0 would no longer be convex.
[[nodiscard]] inline bool has_dilation_part(const Material& m) noexcept {
    return !m.anisotropy && m.lambda > 0;
}
/// The material of w₀, or the whole one if it has no second part.
[[nodiscard]] Material without_dilation_part(const Material& m);

/// θ.
[[nodiscard]] double dilation(Law law, const Eigen::Matrix3d& F) noexcept;
/// ∂θ/∂F.
[[nodiscard]] Eigen::Matrix3d dilation_gradient(Law law, const Eigen::Matrix3d& F) noexcept;
/// ∂²θ/∂F², symmetric.
[[nodiscard]] Matrix9d dilation_hessian(Law law, const Eigen::Matrix3d& F) noexcept;
/// (∂³θ/∂F³ : dF₁) : dF₂.
[[nodiscard]] Eigen::Matrix3d dilation_third(Law law, const Eigen::Matrix3d& F,
                                             const Eigen::Matrix3d& dF1,
                                             const Eigen::Matrix3d& dF2) noexcept;

}  // namespace pliant
