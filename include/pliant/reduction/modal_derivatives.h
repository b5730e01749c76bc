#pragma once

#include "pliant/reduction/modes.h"

namespace pliant {

/// For free bodies, where K is singular, docs/reduction.md eq. (4), (5).
enum class FreeDerivatives {
    InertiaRelief,     ///< symmetric; loads balanced by rigid accelerations
    InertiaRetaining,  ///< derivative of the eigenvectors, clusters of eigenvalues deflated
};

struct DerivativeOptions {
    FreeDerivatives free = FreeDerivatives::InertiaRelief;
    double cluster_tolerance = 1e-3;  ///< relative distance of eigenvalues that count as equal
    SolverKind solver = SolverKind::Auto;
};

/// Modal derivatives Φ^ij, the second derivatives of the static response to modal loads:
///     K Φ^ij = −(H : Ψ^j) Ψ^i,    u(p) = Σ Ψ^i p_i + ½ Σ Φ^ij p_i p_j + O(p³)              (3)
/// 3n rows; column derivative_column(i, j) for i ≤ j. One factorisation, batched solves.
[[nodiscard]] Eigen::MatrixXd modal_derivatives(const FemModel& model,
                                                const Constraints& constraints,
                                                const LinearModes& modes,
                                                const DerivativeOptions& options = {},
                                                Progress& progress = Progress::none());
/// Of InertiaRetaining, both orders of each pair: Φ^ij in column i k + j.
[[nodiscard]] Eigen::MatrixXd inertia_retaining_derivatives(const FemModel& model,
                                                            const LinearModes& modes,
                                                            const DerivativeOptions& options = {},
                                                            Progress& progress = Progress::none());

/// Place of the pair i ≤ j (or j ≤ i) among k(k+1)/2: by rising j, then rising i, so that the pairs
/// of the first modes come first.
[[nodiscard]] constexpr int derivative_column(int i, int j) noexcept {
    return i <= j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
}

}  // namespace pliant
