#pragma once

#include "pliant/reduction/reduced_model.h"

namespace pliant {

/// How points of the material follow a reduced model, docs/reduction.md section "Material points":
/// x = P + U_s q and F = I + Σ_j F_j q_j, in body axes. Flat arrays: 24 r bytes for each point, and
/// 72 r for its gradients.
struct MaterialPoints {
    using Modes = Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>>;
    using GradientModes = Eigen::Map<const Eigen::Matrix<double, 9, Eigen::Dynamic>>;

    int r = 0;
    std::vector<Eigen::Vector3d> rest;  ///< P [m]
    std::vector<double> modes;          ///< of all points one after the other: U_s by columns
    std::vector<double> gradients;      ///< likewise 9 × r; empty if not asked for
    int num_outside = 0;                ///< points in no element: carried by the nearest one

    [[nodiscard]] int num_points() const noexcept { return static_cast<int>(rest.size()); }
    [[nodiscard]] bool has_gradients() const noexcept { return !gradients.empty(); }
    /// U_s, 3 × r.
    [[nodiscard]] Modes U(int point) const noexcept {
        return {modes.data() + 3 * static_cast<std::size_t>(r) * static_cast<std::size_t>(point), 3,
                r};
    }
    /// Column j is F_j = Σ_a u_a^j ⊗ ∇φ_a(P), stacked by columns; 9 × r.
    [[nodiscard]] GradientModes F(int point) const noexcept {
        return {
            gradients.data() + 9 * static_cast<std::size_t>(r) * static_cast<std::size_t>(point), 9,
            r};
    }
};
/// Both cores. Points outside every element take the gradient at the nearest place of the element
/// that carries them. Throws InputError for points that are not finite.
[[nodiscard]] MaterialPoints material_points(const ReducedModel& model,
                                             const std::vector<Eigen::Vector3d>& points,
                                             bool has_gradients);

}  // namespace pliant
