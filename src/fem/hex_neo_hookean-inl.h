// Stable neo-Hookean hexes, docs/fem.md eq. (M7)-(M9), for the SIMD kernels of Hex8 elements.
// Part of Highway files, compiled once for each instruction set; the guard lets each of them in.
#if defined(PLIANT_FEM_HEX_NEO_HOOKEAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_HEX_NEO_HOOKEAN_INL_H_
#undef PLIANT_FEM_HEX_NEO_HOOKEAN_INL_H_
#else
#define PLIANT_FEM_HEX_NEO_HOOKEAN_INL_H_
#endif

#include <hwy/highway.h>

#include "fem/hex_modes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The law over μ at one point of each lane, P = a F + b C with C = cof F. In terms of H = F − I,
/// so that a and b, which cancel at rest, never do so in the arithmetic. Matrices by columns.
template <class D>
struct NeoHookeanPoint : HexModes<D> {
    using Modes = HexModes<D>;
    using Modes::d;
    using Modes::dot;
    using typename Modes::T;
    using typename Modes::V;

    V F[3][3], C[3][3], F_minus_C[3][3];
    V lambda_n, a, twice_da, a_plus_b;
    V dilation;  ///< det F − 1

    /// `ratio`: λ/(2μ).
    HWY_INLINE NeoHookeanPoint(const V (&H)[3][3], V ratio) {
        const V one = hn::Set(d, T{1});
        V cof_H[3][3];
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) Modes::cross(H[(l + 1) % 3], H[(l + 2) % 3], cof_H[l]);
        const V trace = hn::Add(hn::Add(H[0][0], H[1][1]), H[2][2]);
        const V cof_trace = hn::Add(hn::Add(cof_H[0][0], cof_H[1][1]), cof_H[2][2]);
        // J − 1 = tr H + tr cof H + det H,   I − 3 = 2 tr H + H:H
        dilation = hn::Add(trace, hn::Add(cof_trace, dot(H[0], cof_H[0])));
        const V squares = hn::Add(hn::Add(dot(H[0], H[0]), dot(H[1], H[1])), dot(H[2], H[2]));
        const V stretch = hn::Add(hn::Add(trace, trace), squares);
        const V mu_n = hn::Set(d, static_cast<T>(4.0 / 3.0));
        lambda_n = hn::Add(hn::Add(ratio, ratio), hn::Set(d, static_cast<T>(5.0 / 6.0)));
        const V r = hn::Div(one, hn::Add(hn::Set(d, T{4}), stretch));
        const V mu_r = hn::Mul(mu_n, r);
        a = hn::Sub(mu_n, mu_r);
        twice_da = hn::Mul(hn::Add(mu_r, mu_r), r);
        a_plus_b = hn::MulAdd(lambda_n, dilation,
                              hn::Mul(hn::Set(d, static_cast<T>(0.25)), hn::Mul(mu_r, stretch)));
        // cof F = (1 + tr H) I − Hᵀ + cof H
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                C[l][c] = hn::Sub(cof_H[l][c], H[c][l]);
                F_minus_C[l][c] = hn::Sub(H[l][c], C[l][c]);
                F[l][c] = H[l][c];
            }
            C[l][l] = hn::Add(C[l][l], hn::Add(one, trace));
            F_minus_C[l][l] = hn::Sub(F_minus_C[l][l], trace);
            F[l][l] = hn::Add(F[l][l], one);
        }
    }

    [[nodiscard]] HWY_INLINE V stress(int l, int c) const {
        return hn::MulAdd(a, F_minus_C[l][c], hn::Mul(a_plus_b, C[l][c]));
    }
    /// Of an accurate element, whose mean of J − 1 this is: takes out k (J − J̄)²/2, docs/fem.md eq. (A7).
    HWY_INLINE void take_out_spread(V mean_dilation) {
        a_plus_b =
            hn::NegMulAdd(spread_difference(), hn::Sub(dilation, mean_dilation), a_plus_b);
        lambda_n = hn::Set(d, kSpreadStiffness);
    }
    /// k over μ, before.
    [[nodiscard]] HWY_INLINE V spread_difference() const {
        return hn::Sub(lambda_n, hn::Set(d, kSpreadStiffness));
    }
    /// C : dF.
    [[nodiscard]] HWY_INLINE V dilation_change(const V (&dF)[3][3]) const {
        return sum_of_products(C, dF);
    }
    /// What resists a J that varies within an accurate element, over μ.
    static constexpr T kSpreadStiffness = static_cast<T>(1.0 / 6.0);

    /// b.
    [[nodiscard]] HWY_INLINE V cofactor_factor() const { return hn::Sub(a_plus_b, a); }
    /// ∂P/∂F : dF = a dF + 2a' (F:dF) F + (λ' C:dF + of_mean) C + b ∂C/∂F : dF.
    HWY_INLINE void stress_change(const V (&dF)[3][3], V of_mean, V (&dP)[3][3]) const {
        const V along_F = hn::Mul(twice_da, sum_of_products(F, dF));
        const V along_C = hn::MulAdd(lambda_n, dilation_change(dF), of_mean);
        const V b = cofactor_factor();
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            V first[3], second[3];
            Modes::cross(dF[(l + 1) % 3], F[(l + 2) % 3], first);
            Modes::cross(F[(l + 1) % 3], dF[(l + 2) % 3], second);
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V sum = hn::Mul(a, dF[l][c]);
                sum = hn::MulAdd(along_F, F[l][c], sum);
                sum = hn::MulAdd(along_C, C[l][c], sum);
                dP[l][c] = hn::MulAdd(b, hn::Add(first[c], second[c]), sum);
            }
        }
    }

private:
    static HWY_INLINE V sum_of_products(const V (&x)[3][3], const V (&y)[3][3]) {
        return hn::Add(hn::Add(dot(x[0], y[0]), dot(x[1], y[1])), dot(x[2], y[2]));
    }
};

/// Columns of ∂/∂x at the Gauss point q from those of ∂/∂ξ.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void hex_gradient(const V (&by_xi)[3][4][3], int q, const V (&J_inverse)[3][3],
                             V (&out)[3][3]) {
    const int slots[3] = {slot(0, q), slot(1, q), slot(2, q)};
    PLIANT_UNROLL
    for (int l = 0; l < 3; ++l) {
        PLIANT_UNROLL
        for (int c = 0; c < 3; ++c) {
            V sum = hn::Mul(by_xi[0][slots[0]][c], J_inverse[0][l]);
            sum = hn::MulAdd(by_xi[1][slots[1]][c], J_inverse[1][l], sum);
            out[l][c] = hn::MulAdd(by_xi[2][slots[2]][c], J_inverse[2][l], sum);
        }
    }
}
/// Adds weight · P ∇ξ_k to the sums of each direction k.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void add_hex_stress(const V (&P)[3][3], int q, const V (&J_inverse)[3][3], V weight,
                               V (&sums)[3][4][3]) {
    PLIANT_UNROLL
    for (int c = 0; c < 3; ++c) {
        const V row[3] = {hn::Mul(weight, P[0][c]), hn::Mul(weight, P[1][c]),
                          hn::Mul(weight, P[2][c])};
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            V& sum = sums[k][slot(k, q)][c];
            sum = hn::Add(sum, HexModes<D>::dot(row, J_inverse[k]));
        }
    }
}

/// J − 1 from H = F − I.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V hex_dilation(const V (&H)[3][3]) {
    V cof_H[3][3];
    PLIANT_UNROLL
    for (int l = 0; l < 3; ++l) HexModes<D>::cross(H[(l + 1) % 3], H[(l + 2) % 3], cof_H[l]);
    const V trace = hn::Add(hn::Add(H[0][0], H[1][1]), H[2][2]);
    const V cof_trace = hn::Add(hn::Add(cof_H[0][0], cof_H[1][1]), cof_H[2][2]);
    return hn::Add(trace, hn::Add(cof_trace, HexModes<D>::dot(H[0], cof_H[0])));
}

/// Means over the points of an element: Σ w x / Σ w.
template <class D, class V = hn::Vec<D>>
class HexMean {
    V sum_, weight_;

public:
    HWY_INLINE HexMean() : sum_(hn::Zero(D())), weight_(hn::Zero(D())) {}
    HWY_INLINE void add(V weight, V x) {
        sum_ = hn::MulAdd(weight, x, sum_);
        weight_ = hn::Add(weight_, weight);
    }
    [[nodiscard]] HWY_INLINE V value() const { return hn::Div(sum_, weight_); }
    [[nodiscard]] HWY_INLINE V weight() const { return weight_; }
};

/// Modes of u in, modes of the forces out; `smallest` is lowered to det F.
template <class D, bool is_box, bool is_accurate, class V = hn::Vec<D>>
HWY_INLINE void neo_hookean_force(const HexValues<D>& values, V (&modes)[3][8], V& smallest) {
    using Modes = HexModes<D>;
    using T = hn::TFromD<D>;
    const D d;
    const V one = hn::Set(d, T{1});
    const V ratio = values.lambda_ratio();
    typename Modes::Columns du, P_sum;
    Modes::derivatives(modes, typename Modes::Factors(hn::Set(d, static_cast<T>(0.125))), du);
    Modes::clear(P_sum);
    const HexShape<D, is_box> shape(values);
    HexMean<D> dilation;
    if constexpr (is_accurate) {
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            V J_inverse[3][3], H[3][3];
            const V weight = shape.at_point(q, J_inverse);
            hex_gradient<D>(du, q, J_inverse, H);
            dilation.add(weight, hex_dilation<D>(H));
        }
    }
#pragma GCC unroll 1
    for (int q = 0; q < 8; ++q) {
        for (int k = q; k < (is_box ? kHexBoxValues : kHexValues); k += 8) values.prefetch(k);
        V J_inverse[3][3], H[3][3], P[3][3];
        const V weight = shape.at_point(q, J_inverse);
        hex_gradient<D>(du, q, J_inverse, H);
        NeoHookeanPoint<D> law(H, ratio);
        // a NaN compares as false and is passed over
        const V det_F = hn::Add(one, law.dilation);
        smallest = hn::IfThenElse(hn::Lt(det_F, smallest), det_F, smallest);
        if constexpr (is_accurate) law.take_out_spread(dilation.value());
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) P[l][c] = law.stress(l, c);
        }
        add_hex_stress<D>(P, q, J_inverse, weight, P_sum);
    }
    Modes::sum_derivatives(P_sum, typename Modes::Factors(one), modes);
}

/// Modes of u and p in, those of K p out in place of p's.
template <class D, bool is_box, bool is_accurate, class V = hn::Vec<D>>
HWY_INLINE void neo_hookean_product(const HexValues<D>& values, const V (&u_modes)[3][8],
                                    V (&modes)[3][8]) {
    using Modes = HexModes<D>;
    using T = hn::TFromD<D>;
    const D d;
    const V ratio = values.lambda_ratio();
    const typename Modes::Factors eighth(hn::Set(d, static_cast<T>(0.125)));
    typename Modes::Columns du, dp, P_sum;
    Modes::derivatives(u_modes, eighth, du);
    Modes::derivatives(modes, eighth, dp);
    Modes::clear(P_sum);
    const HexShape<D, is_box> shape(values);
    HexMean<D> dilation, change;
    if constexpr (is_accurate) {
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            V J_inverse[3][3], H[3][3], dF[3][3];
            const V weight = shape.at_point(q, J_inverse);
            hex_gradient<D>(du, q, J_inverse, H);
            hex_gradient<D>(dp, q, J_inverse, dF);
            const NeoHookeanPoint<D> law(H, ratio);
            dilation.add(weight, law.dilation);
            change.add(weight, law.dilation_change(dF));
        }
    }
#pragma GCC unroll 1
    for (int q = 0; q < 8; ++q) {
        V J_inverse[3][3], H[3][3], dF[3][3], dP[3][3];
        const V weight = shape.at_point(q, J_inverse);
        hex_gradient<D>(du, q, J_inverse, H);
        hex_gradient<D>(dp, q, J_inverse, dF);
        NeoHookeanPoint<D> law(H, ratio);
        V of_mean = hn::Zero(d);
        if constexpr (is_accurate) {
            of_mean = hn::Mul(law.spread_difference(), change.value());
            law.take_out_spread(dilation.value());
        }
        law.stress_change(dF, of_mean, dP);
        add_hex_stress<D>(dP, q, J_inverse, weight, P_sum);
    }
    Modes::sum_derivatives(P_sum, typename Modes::Factors(hn::Set(d, T{1})), modes);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
