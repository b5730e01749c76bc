#pragma once

#include "pliant/fem/fem_model.h"
#include "pliant/fem/mass.h"

#include <array>
#include <vector>

namespace pliant {

/// How much stiffer the elements of a body are in their present shape than at rest: what the
/// stable step of explicit dynamics depends on. With σ(F) a bound of the largest eigenvalue of
/// ∂P/∂F from the invariants I = F:F, II = |cof F|² and J = det F, sharp at rest, and g_e the
/// largest eigenvalue of M_e⁻¹ ∫ ∇φ_a·∇φ_b dV of an element with its lumped mass,
///     ω²(F) ≤ max over elements of  min(g_e σ(I), ω₀²) + g_e (σ(F) − σ(I))₊                 (T17)
/// where ω₀² = λ_max(M⁻¹K) at rest. In single precision: a few nanoseconds an element. Immutable.
class StretchWatch {
public:
    /// What is looked at together: elements of a law, or quadrature points of an element.
    static constexpr int kLanes = 8;

    struct Look {
        double stiffening = 1;      ///< ω²(F) / ω₀², ≥ 1
        double largest_square = 1;  ///< square of the largest principal stretch
        /// Smallest principal stretch of elements under St. Venant and Kirchhoff's law, a bound
        /// from below that is sharp where two of the three are equal; 1: there are none.
        double smallest_stvk = 1;
    };
    /// A Look of each range of elements.
    using Workspace = std::vector<std::array<double, 3>>;

    /// `omega_squared`: ω₀² [1/s²].
    StretchWatch(const FemModel& model, Lumping lumping, double omega_squared);

    [[nodiscard]] Workspace make_workspace() const;
    /// At the displacements u. Shapes that are not finite count as infinitely stiff. O(elements),
    /// in parallel, the same for any number of threads; no allocation with one.
    [[nodiscard]] Look look(const FemModel& model, const FemModel::ConstRef& u,
                            Workspace& ws) const noexcept;

private:
    /// Constants of one element over ω₀²: g λ, g μ.
    struct Stiffness {
        float lambda, mu;
    };
    using Lanes = std::array<float, kLanes>;
    /// Tetrahedra of one law; the last ones of a group may repeat.
    struct TetGroup {
        Law law;
        std::array<int, kLanes> places;
        std::array<Lanes, 9> inverse_jacobian;
        Lanes lambda, mu;
    };
    /// One hex of any law.
    struct Hex {
        Law law;
        int place;
        bool is_box;
        Stiffness stiffness;
        std::array<float, 3> inverse_sides;  ///< of a box, to the sides of the reference cube
        int first_point;                     ///< of others: in `points_`
    };
    void add_tets(const FemModel& model, const std::vector<Stiffness>& stiffness);
    void add_hexes(const FemModel& model, const std::vector<Stiffness>& stiffness);

    std::vector<TetGroup> tets_;
    std::vector<Hex> hexes_;
    std::vector<std::array<Lanes, 9>> points_;  ///< J⁻¹ at the points of hexes that are no boxes
};

}  // namespace pliant
