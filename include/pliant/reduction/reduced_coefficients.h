#pragma once

#include "pliant/core/progress.h"
#include "pliant/fem/fem_model.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pliant {

/// Energy of a body of St. Venant–Kirchhoff material (or small strain) in the subspace u = U q: a
/// polynomial of degree four, docs/reduction.md eq. (11). With q₀ = 1 in front of q,
///     W(q) = Σ_{i ≤ j ≤ k ≤ l} w_ijkl q_i q_j q_k q_l,   indices 0 … r.
/// Coefficients of equal tuples are added up; those of degree below two are zero (no initial
/// stress).
struct ReducedCoefficients {
    int r = 0;
    /// All w, C(r + 4, 4) of them, at quartic_index(i, j, k, l).
    std::vector<double> w;

    /// Keeps the first `size` coordinates.
    [[nodiscard]] ReducedCoefficients truncated(int size) const;
    /// this += factor · other.
    void add(const ReducedCoefficients& other, double factor);
};
/// By the largest index first, so that coefficients of the first coordinates come first:
/// C(l + 3, 4) + C(k + 2, 3) + C(j + 1, 2) + i for i ≤ j ≤ k ≤ l.
[[nodiscard]] constexpr std::int64_t quartic_index(std::int64_t i, std::int64_t j, std::int64_t k,
                                                   std::int64_t l) noexcept {
    return l * (l + 1) * (l + 2) * (l + 3) / 24 + k * (k + 1) * (k + 2) / 6 + j * (j + 1) / 2 + i;
}
[[nodiscard]] constexpr std::int64_t num_quartic(std::int64_t r) noexcept {
    return (r + 1) * (r + 2) * (r + 3) * (r + 4) / 24;
}

/// λ and μ parts of one material group, so that both constants may be changed at run time:
/// W = λ · of_lambda + μ · of_mu + λ* · of_plane, with the constant of plane stress
/// λ* = 2λμ / (λ + 2μ), docs/reduction.md eq. (14). Anisotropic materials have one part, of their
/// whole stiffness.
struct MaterialPolynomials {
    ReducedCoefficients of_lambda, of_mu;  ///< for λ = 1 Pa, μ = 1 Pa
    ReducedCoefficients of_plane;          ///< of accurate hexes, for λ* = 1 Pa; empty: none
    bool is_anisotropic = false;           ///< of_lambda holds all, with factor 1
};

/// One entry for each region of the mesh. By Gram products over the quadrature points of the model
/// (boxes: over the points that tell each component apart), so that the polynomial equals UᵀR(Uq)
/// of the full model to rounding, eq. (12)–(14). Level-3 BLAS on all threads; memory bounded by
/// `block_bytes`. Throws InputError for laws that are not polynomial.
[[nodiscard]] std::vector<MaterialPolynomials> build_coefficients(
    const FemModel& model, const Eigen::MatrixXd& U, Progress& progress = Progress::none(),
    std::int64_t block_bytes = std::int64_t{256} << 20);
/// Sum over groups with the constants of `materials`, one for each group.
[[nodiscard]] ReducedCoefficients combine(const std::vector<MaterialPolynomials>& groups,
                                          std::span<const Material> materials);

}  // namespace pliant
