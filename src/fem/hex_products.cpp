// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include <cstddef>

#include "fem/hex_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/hex_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fem/hex_modes-inl.h"
#include "fem/hex_neo_hookean-inl.h"
#include "fem/hex_rows-inl.h"
#include "fem/hex_stress-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// K p of one vector of elements: modes of u and p in, those of the product out in place of p's.
template <bool is_box, bool small_strain>
struct HexProduct : HexStress<hn::CappedTag<double, kHexLanes>> {
    using D = hn::CappedTag<double, kHexLanes>;
    using Modes = HexModes<D>;
    using Stress = HexStress<D>;
    using Modes::Columns;
    using Modes::Factors;
    using Modes::V;

    /// Columns of ∂/∂x at the Gauss point q from those of ∂/∂ξ.
    static HWY_INLINE void gradient(const Columns& by_xi, int q, const V (&J_inverse)[3][3],
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
    /// S/μ = E + λ/(2μ) tr E I.
    static HWY_INLINE void add_pressure(V ratio, V (&E)[3][3]) {
        const V pressure = hn::Mul(ratio, hn::Add(hn::Add(E[0][0], E[1][1]), E[2][2]));
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) E[l][l] = hn::Add(E[l][l], pressure);
    }

    static HWY_INLINE void multiply(const HexValues<D>& values, const V (&u_modes)[3][8],
                                    V (&modes)[3][8]) {
        const Factors eighth(hn::Set(d, 0.125));
        const V one = hn::Set(d, 1.0), ratio = values.lambda_ratio();
        Columns du, dp, P_sum;
        Modes::derivatives(u_modes, eighth, du);
        Modes::derivatives(modes, eighth, dp);
        Modes::clear(P_sum);
        const HexShape<D, is_box> shape(values);
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            for (int k = q; k < (is_box ? kHexBoxValues : kHexValues); k += 8) values.prefetch(k);
            V J_inverse[3][3], F[3][3], H[3][3], S[3][3], dS[3][3];
            const V weight = shape.at_point(q, J_inverse);
            gradient(dp, q, J_inverse, H);
            if constexpr (!small_strain) {
                // S from FᵀF − I = ∇u + ∇uᵀ + ∇uᵀ∇u
                gradient(du, q, J_inverse, F);
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    PLIANT_UNROLL
                    for (int m = 0; m <= l; ++m)
                        S[l][m] = S[m][l] = hn::Add(hn::Add(F[l][m], F[m][l]), dot(F[l], F[m]));
                }
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) F[l][l] = hn::Add(F[l][l], one);
                add_pressure(ratio, S);
            }
            // dS from Fᵀ∇p + ∇pᵀF
            PLIANT_UNROLL
            for (int l = 0; l < 3; ++l) {
                PLIANT_UNROLL
                for (int m = 0; m <= l; ++m) {
                    if constexpr (small_strain)
                        dS[l][m] = dS[m][l] = hn::Add(H[l][m], H[m][l]);
                    else
                        dS[l][m] = dS[m][l] = hn::Add(dot(F[l], H[m]), dot(H[l], F[m]));
                }
            }
            add_pressure(ratio, dS);
            // dP = ∇p S + F dS, back to the reference directions
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) J_inverse[k][l] = hn::Mul(weight, J_inverse[k][l]);
            }
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V P[3];
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    if constexpr (small_strain)
                        P[l] = dS[c][l];
                    else
                        P[l] = hn::Add(row_times(H, c, S[l]), row_times(F, c, dS[l]));
                }
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k) {
                    V& sum = P_sum[k][slot(k, q)][c];
                    sum = hn::Add(sum, dot(P, J_inverse[k]));
                }
            }
        }
        Modes::sum_derivatives(P_sum, Factors(one), modes);
    }

    /// The same of accurate elements, whose stresses depend on the strains of all points,
    /// docs/fem.md eq. (A6).
    template <bool is_cut>
    static HWY_INLINE void multiply_accurate(const HexValues<D>& values, const V (&u_modes)[3][8],
                                             V (&modes)[3][8]) {
        const Factors eighth(hn::Set(d, 0.125));
        const V one = hn::Set(d, 1.0);
        constexpr int kNumValues = is_cut ? kHexCutValues : is_box ? kHexBoxValues : kHexValues;
        const HexShape<D, is_box> shape(values);
        V F[8][3][3], H[8][3][3], J_inverse[8][3][3], weights[8];
        Stress::Tensors S, dS;
        {
            Columns du, dp;
            if constexpr (!small_strain) Modes::derivatives(u_modes, eighth, du);
            Modes::derivatives(modes, eighth, dp);
#pragma GCC unroll 1
            for (int q = 0; q < 8; ++q) {
                for (int k = q; k < kNumValues; k += 8) values.prefetch(k);
                weights[q] = shape.at_point(q, J_inverse[q]);
                if constexpr (is_cut) weights[q] = one;
                gradient(dp, q, J_inverse[q], H[q]);
                if constexpr (!small_strain) gradient(du, q, J_inverse[q], F[q]);
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    const int a = (l + 1) % 3, b = (l + 2) % 3;
                    V own = hn::Add(H[q][l][l], H[q][l][l]);
                    V shear = hn::Add(H[q][a][b], H[q][b][a]);
                    if constexpr (!small_strain) {
                        // Fᵀ∇p + ∇pᵀF, and FᵀF − I from ∇u so that nothing cancels
                        const V product = dot(F[q][l], H[q][l]);
                        own = hn::Add(own, hn::Add(product, product));
                        shear = hn::Add(
                            shear, hn::Add(dot(F[q][a], H[q][b]), dot(H[q][a], F[q][b])));
                        S[l][q] = hn::Mul(weights[q], hn::Add(hn::Add(F[q][l][l], F[q][l][l]),
                                                              dot(F[q][l], F[q][l])));
                        S[3 + l][q] = hn::Mul(weights[q], hn::Add(hn::Add(F[q][a][b], F[q][b][a]),
                                                                  dot(F[q][a], F[q][b])));
                    }
                    dS[l][q] = hn::Mul(weights[q], own);
                    dS[3 + l][q] = hn::Mul(weights[q], shear);
                }
                if constexpr (!small_strain) {
                    PLIANT_UNROLL
                    for (int l = 0; l < 3; ++l) F[q][l][l] = hn::Add(F[q][l][l], one);
                }
            }
        }
        typename Stress::template Space<is_cut> space;
        if constexpr (is_cut) {
            space.set_cut(values, 1.0);
        } else {
            V J[3][3];
            shape.centre_jacobian(J);
            space.set(values.lambda_ratio(), weights, J);
        }
        if constexpr (!small_strain) space.stress(S);
        space.stress(dS);
        Columns P_sum;
        Modes::clear(P_sum);
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l)
                    J_inverse[q][k][l] = hn::Mul(weights[q], J_inverse[q][k][l]);
            }
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V P[3];
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    if constexpr (small_strain) {
                        P[l] = Stress::component(dS, c, l, q);
                    } else {
                        V S_l[3], dS_l[3];
                        PLIANT_UNROLL
                        for (int m = 0; m < 3; ++m) {
                            S_l[m] = Stress::component(S, l, m, q);
                            dS_l[m] = Stress::component(dS, l, m, q);
                        }
                        P[l] = hn::Add(row_times(H[q], c, S_l), row_times(F[q], c, dS_l));
                    }
                }
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k) {
                    V& sum = P_sum[k][slot(k, q)][c];
                    sum = hn::Add(sum, dot(P, J_inverse[q][k]));
                }
            }
        }
        Modes::sum_derivatives(P_sum, Factors(one), modes);
    }
};

template <bool is_box, HexLaw law, bool is_accurate, bool is_cut>
HWY_NOINLINE void add_batch(const HexBatch& batch, const double* values, const double* next_values,
                            NodePrefetch<3>& prefetch, const double* u, const double* p,
                            double* Kp) {
    using Product = HexProduct<is_box, law == HexLaw::SmallStrain>;
    constexpr int kWidth = static_cast<int>(hn::MaxLanes(typename Product::D()));
    for (int lane = 0; lane < batch.num_elements; lane += kWidth) {
        prefetch.next();
        typename Product::V u_modes[3][8], modes[3][8];
        Product::load(u, batch, lane, u_modes);
        Product::load(p, batch, lane, modes);
        const HexValues<typename Product::D> at_lanes{values + lane, next_values + lane};
        if constexpr (law == HexLaw::NeoHookean)
            neo_hookean_product<typename Product::D, is_box, is_accurate>(at_lanes, u_modes, modes);
        else if constexpr (is_accurate)
            Product::template multiply_accurate<is_cut>(at_lanes, u_modes, modes);
        else
            Product::multiply(at_lanes, u_modes, modes);
        Product::add_to(Kp, batch, lane, modes);
    }
}

template <bool is_box, bool is_accurate, bool is_cut>
auto batch_function_of_way(const HexBatch& batch) {
    if (batch.is_neo_hookean) return add_batch<is_box, HexLaw::NeoHookean, is_accurate, is_cut>;
    return batch.is_small_strain
               ? add_batch<is_box, HexLaw::SmallStrain, is_accurate, is_cut>
               : add_batch<is_box, HexLaw::StVenantKirchhoff, is_accurate, is_cut>;
}
static auto batch_function(const HexBatch& batch) {
    if (batch.is_cut) return batch_function_of_way<true, true, true>(batch);
    if (batch.is_accurate)
        return batch.is_box ? batch_function_of_way<true, true, false>(batch)
                            : batch_function_of_way<false, true, false>(batch);
    return batch.is_box ? batch_function_of_way<true, false, false>(batch)
                        : batch_function_of_way<false, false, false>(batch);
}

void products(const HexBatches& hexes, int block, const double* all_u, const double* all_p,
              double* all_Kp) {
    BlockNodes<double> u(hexes, block), p(hexes, block), Kp(hexes, block);
    if (u.count == 0) return;
    alignas(32) const double origin[4] = {0, 0, 0, 0};
    u.load(all_u, origin);
    p.load(all_p, origin);
    Kp.clear();
    constexpr int kWidth = static_cast<int>(hn::MaxLanes(hn::CappedTag<double, kHexLanes>()));
    NodePrefetch<3> prefetch(hexes, block, kWidth, all_u, all_p, all_Kp);
    for (int b = hexes.batch_offsets[block]; b < hexes.batch_offsets[block + 1]; ++b) {
        const HexBatch& batch = hexes.batches[b];
        const bool is_last = b + 1 == static_cast<int>(hexes.batches.size());
        const double* const values = hexes.values[batch.first_value].lane;
        const double* const next =
            is_last ? values : hexes.values[hexes.batches[b + 1].first_value].lane;
        const auto add = batch_function(batch);
        add(batch, values, next, prefetch, u.rows, p.rows, Kp.rows);
    }
    Kp.add_to(all_Kp);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(products);

void add_hex_tangent_products(const HexBatches& hexes, int block, const double* u, const double* p,
                              double* Kp) noexcept {
    HWY_DYNAMIC_DISPATCH(products)(hexes, block, u, p, Kp);
}

}  // namespace pliant
#endif
