// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "fem/hex_kernels.h"

#include "fem/sound_origin.h"

#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/hex_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fem/hex_modes-inl.h"
#include "fem/hex_neo_hookean-inl.h"
#include "fem/hex_rows-inl.h"
#include "fem/hex_stress-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Forces of one vector of elements: modes of u in, modes of the forces out.
template <class D, bool small_strain, bool with_det>
struct HexForce : HexStress<D> {
    using Modes = HexModes<D>;
    using Stress = HexStress<D>;
    using Modes::d;
    using Modes::dot;
    using typename Modes::Columns;
    using typename Modes::Factors;
    using typename Modes::T;
    using typename Modes::V;
    using Values = HexValues<D>;

    static HWY_INLINE void lower_to_det(const V (&a)[3], const V (&b)[3], const V (&c)[3],
                                        V& smallest) {
        V normal[3];
        Modes::cross(b, c, normal);
        const V det = dot(a, normal);
        // a NaN compares as false and is passed over
        smallest = hn::IfThenElse(hn::Lt(det, smallest), det, smallest);
    }

    /// Columns of F of boxes, and C_kk = 2 E_kk, from ∇u so that nothing cancels.
    static HWY_INLINE void box_gradients(const Values& values, const V (&modes)[3][8],
                                         V (&F)[3][4][3], V (&C)[3][4], V& smallest) {
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            const Factors f(hn::Mul(values.inverse_side(axis), hn::Set(d, T{0.125})));
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V column[4];
                Modes::derivative(modes[c], axis, f, column);
                PLIANT_UNROLL
                for (int k = 0; k < 4; ++k) F[axis][k][c] = column[k];
            }
            PLIANT_UNROLL
            for (int k = 0; k < 4; ++k) {
                const V h = F[axis][k][axis];
                C[axis][k] = hn::Add(h, h);
                if (!small_strain) C[axis][k] = hn::Add(C[axis][k], dot(F[axis][k], F[axis][k]));
                F[axis][k][axis] = hn::Add(h, hn::Set(d, T{1}));
            }
        }
        if (with_det) {
            PLIANT_UNROLL
            for (int q = 0; q < 8; ++q)
                lower_to_det(F[0][slot(0, q)], F[1][slot(1, q)], F[2][slot(2, q)], smallest);
        }
    }

    /// Accurate boxes: shears of the columns' means over the other's axis, eq. (A5).
    static HWY_INLINE void accurate_boxes(const Values& values, V (&modes)[3][8], V& smallest) {
        PLIANT_UNROLL
        for (int k = 0; k < kHexBoxValues; ++k) values.prefetch(k);
        V F[3][4][3], S[3][4];
        box_gradients(values, modes, F, S, smallest);
        Stress::normal_stress_of_boxes(S, values.lambda_ratio());
        const V half = hn::Set(d, T{0.5});
        V P[3][4][3];  // twice the columns of F S/μ, summed over both points
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            PLIANT_UNROLL
            for (int k = 0; k < 4; ++k) {
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    if (small_strain)
                        P[axis][k][c] = c == axis ? S[axis][k] : hn::Zero(d);
                    else
                        P[axis][k][c] = hn::Mul(F[axis][k][c], S[axis][k]);
                }
            }
        }
        PLIANT_UNROLL
        for (int third = 0; third < 3; ++third) {
            const int a = (third + 1) % 3, b = (third + 2) % 3;
            PLIANT_UNROLL
            for (int sign = 0; sign < 2; ++sign) {
                const int a0 = sign << slot_bit(a, third), a1 = a0 | 1 << slot_bit(a, b);
                const int b0 = sign << slot_bit(b, third), b1 = b0 | 1 << slot_bit(b, a);
                V Fa[3], Fb[3];  // twice the means
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    Fa[c] = hn::Add(F[a][a0][c], F[a][a1][c]);
                    Fb[c] = hn::Add(F[b][b0][c], F[b][b1][c]);
                }
                if constexpr (small_strain) {
                    V shear = hn::Add(Fa[b], Fb[a]);
                    shear = hn::Add(shear, shear);
                    P[a][a0][b] = hn::Add(P[a][a0][b], shear);
                    P[a][a1][b] = hn::Add(P[a][a1][b], shear);
                    P[b][b0][a] = hn::Add(P[b][b0][a], shear);
                    P[b][b1][a] = hn::Add(P[b][b1][a], shear);
                } else {
                    const V shear = hn::Mul(half, dot(Fa, Fb));
                    PLIANT_UNROLL
                    for (int c = 0; c < 3; ++c) {
                        P[a][a0][c] = hn::MulAdd(Fb[c], shear, P[a][a0][c]);
                        P[a][a1][c] = hn::MulAdd(Fb[c], shear, P[a][a1][c]);
                        P[b][b0][c] = hn::MulAdd(Fa[c], shear, P[b][b0][c]);
                        P[b][b1][c] = hn::MulAdd(Fa[c], shear, P[b][b1][c]);
                    }
                }
            }
        }
        Modes::clear(modes);
        const V half_weight = hn::Mul(half, values.weight());
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            const Factors f(hn::Mul(half_weight, values.inverse_side(axis)));
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                const V column[4] = {P[axis][0][c], P[axis][1][c], P[axis][2][c], P[axis][3][c]};
                Modes::add_derivative(column, axis, f, modes[c]);
            }
        }
    }

    /// Accurate boxes that are cut: the weights of the points are in their table.
    static HWY_INLINE void cut_boxes(const Values& values, V (&modes)[3][8], V& smallest) {
        for (int k = 0; k < kHexCutValues; ++k) values.prefetch(k);
        V F[3][4][3], C[3][4];
        box_gradients(values, modes, F, C, smallest);
        typename Stress::Tensors S;
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            PLIANT_UNROLL
            for (int q = 0; q < 8; ++q) {
                const V(&Fa)[3] = F[a][slot(a, q)];
                const V(&Fb)[3] = F[b][slot(b, q)];
                S[k][q] = C[k][slot(k, q)];
                S[3 + k][q] = small_strain ? hn::Add(Fa[b], Fb[a]) : dot(Fa, Fb);
            }
        }
        typename Stress::template Space<true> space;
        space.set_cut(values, T{1});
        space.stress(S);
        Modes::clear(modes);
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            const int a = (axis + 1) % 3, b = (axis + 2) % 3;
            V P[3][4];  // column of F S, summed over both points
            PLIANT_UNROLL
            for (int k = 0; k < 4; ++k) {
                const int low = point_at_slot(axis, k), high = low | 1 << axis;
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    if constexpr (small_strain) {
                        P[c][k] = hn::Add(Stress::component(S, c, axis, low),
                                          Stress::component(S, c, axis, high));
                    } else {
                        V sum = hn::Mul(F[axis][k][c], hn::Add(S[axis][low], S[axis][high]));
                        sum = hn::MulAdd(F[a][slot(a, low)][c], S[3 + b][low], sum);
                        sum = hn::MulAdd(F[a][slot(a, high)][c], S[3 + b][high], sum);
                        sum = hn::MulAdd(F[b][slot(b, low)][c], S[3 + a][low], sum);
                        P[c][k] = hn::MulAdd(F[b][slot(b, high)][c], S[3 + a][high], sum);
                    }
                }
            }
            const Factors f(values.inverse_side(axis));
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) Modes::add_derivative(P[c], axis, f, modes[c]);
        }
    }

    /// Accurate elements of any shape, eq. (A1)–(A4).
    static HWY_INLINE void accurate_any_shape(const Values& values, V (&modes)[3][8],
                                              V& smallest) {
        const V one = hn::Set(d, T{1});
        V F[8][3][3], weights[8];
        typename Stress::Tensors S;
        typename Stress::template Space<false> space;
        Columns dX;
        values.rest_derivatives(dX);
        {
            Columns du;
            Modes::derivatives(modes, Factors(hn::Set(d, T{0.125})), du);
#pragma GCC unroll 1
            for (int q = 0; q < 8; ++q) {
                for (int k = q; k < kHexValues; k += 8) values.prefetch(k);
                const int slots[3] = {slot(0, q), slot(1, q), slot(2, q)};
                V adjugate[3][3];
                weights[q] = adjugates(dX, slots, adjugate);
                const V inverse_det = hn::Div(one, weights[q]);
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    PLIANT_UNROLL
                    for (int c = 0; c < 3; ++c) {
                        V sum = hn::Mul(du[0][slots[0]][c], adjugate[0][l]);
                        sum = hn::MulAdd(du[1][slots[1]][c], adjugate[1][l], sum);
                        sum = hn::MulAdd(du[2][slots[2]][c], adjugate[2][l], sum);
                        F[q][l][c] = hn::Mul(inverse_det, sum);
                    }
                }
                // weight × C from ∇u so that nothing cancels
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    const int a = (l + 1) % 3, b = (l + 2) % 3;
                    V own = hn::Add(F[q][l][l], F[q][l][l]);
                    V shear = hn::Add(F[q][a][b], F[q][b][a]);
                    if (!small_strain) {
                        own = hn::Add(own, dot(F[q][l], F[q][l]));
                        shear = hn::Add(shear, dot(F[q][a], F[q][b]));
                    }
                    S[l][q] = hn::Mul(weights[q], own);
                    S[3 + l][q] = hn::Mul(weights[q], shear);
                }
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) F[q][l][l] = hn::Add(F[q][l][l], one);
                if (with_det) lower_to_det(F[q][0], F[q][1], F[q][2], smallest);
            }
        }
        V J[3][3];
        values.centre_jacobian(J);
        space.set(values.lambda_ratio(), weights, J);
        space.stress(S);
        Columns P_sum;
        Modes::clear(P_sum);
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            const int slots[3] = {slot(0, q), slot(1, q), slot(2, q)};
            V adjugate[3][3];
            adjugates(dX, slots, adjugate);
            // P = F S, back to the reference directions; det J is in the weight
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V P[3];
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    const int a = (l + 1) % 3, b = (l + 2) % 3;
                    if constexpr (small_strain)
                        P[l] = Stress::component(S, c, l, q);
                    else
                        P[l] = hn::MulAdd(F[q][l][c], S[l][q],
                                          hn::MulAdd(F[q][a][c], S[3 + b][q],
                                                     hn::Mul(F[q][b][c], S[3 + a][q])));
                }
                PLIANT_UNROLL
                for (int axis = 0; axis < 3; ++axis) {
                    V& sum = P_sum[axis][slots[axis]][c];
                    sum = hn::Add(sum, dot(P, adjugate[axis]));
                }
            }
        }
        Modes::sum_derivatives(P_sum, Factors(values.weight()), modes);
    }
    /// Rows of det J J⁻¹ at a point; returns det J.
    static HWY_INLINE V adjugates(const Columns& dX, const int (&slots)[3], V (&adjugate)[3][3]) {
        const V(&J0)[3] = dX[0][slots[0]];
        const V(&J1)[3] = dX[1][slots[1]];
        const V(&J2)[3] = dX[2][slots[2]];
        Modes::cross(J1, J2, adjugate[0]);
        Modes::cross(J2, J0, adjugate[1]);
        Modes::cross(J0, J1, adjugate[2]);
        return dot(J0, adjugate[0]);
    }

    /// Boxes along the axes. Column k of F is the same at both points along axis k, and so are
    /// C_kk and what the sum of S_kk over both does: eq. (H2).
    static HWY_INLINE void boxes(const Values& values, V (&modes)[3][8], V& smallest) {
        PLIANT_UNROLL
        for (int k = 0; k < kHexBoxValues; ++k) values.prefetch(k);
        V F[3][4][3], C[3][4];
        box_gradients(values, modes, F, C, smallest);

        // S/μ = C + λ/(2μ) tr C I: off the diagonal at each point
        V S[3][8];  // yz, zx, xy
        PLIANT_UNROLL
        for (int pair = 0; pair < 3; ++pair) {
            const int a = (pair + 1) % 3, b = (pair + 2) % 3;
            PLIANT_UNROLL
            for (int q = 0; q < 8; ++q) {
                const V(&Fa)[3] = F[a][slot(a, q)];
                const V(&Fb)[3] = F[b][slot(b, q)];
                S[pair][q] = small_strain ? hn::Add(Fa[b], Fb[a]) : dot(Fa, Fb);
            }
        }
        const V ratio = values.lambda_ratio();
        const V own_factor = hn::MulAdd(ratio, hn::Set(d, T{2}), hn::Set(d, T{2}));
        Modes::clear(modes);
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            const int a = (axis + 1) % 3, b = (axis + 2) % 3;
            V P[3][4];  // column of F S, summed over both points
            PLIANT_UNROLL
            for (int k = 0; k < 4; ++k) {
                const int low = point_at_slot(axis, k), high = low | 1 << axis;
                const V(&Fa_low)[3] = F[a][slot(a, low)];
                const V(&Fa_high)[3] = F[a][slot(a, high)];
                const V(&Fb_low)[3] = F[b][slot(b, low)];
                const V(&Fb_high)[3] = F[b][slot(b, high)];
                const V others = hn::Add(hn::Add(C[a][slot(a, low)], C[a][slot(a, high)]),
                                         hn::Add(C[b][slot(b, low)], C[b][slot(b, high)]));
                const V S_own = hn::MulAdd(own_factor, C[axis][k], hn::Mul(ratio, others));
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    if constexpr (small_strain) {
                        const int pair = 3 - axis - c;
                        P[c][k] = c == axis ? S_own : hn::Add(S[pair][low], S[pair][high]);
                    } else {
                        V sum = hn::Mul(F[axis][k][c], S_own);
                        sum = hn::MulAdd(Fa_low[c], S[b][low], sum);
                        sum = hn::MulAdd(Fa_high[c], S[b][high], sum);
                        sum = hn::MulAdd(Fb_low[c], S[a][low], sum);
                        P[c][k] = hn::MulAdd(Fb_high[c], S[a][high], sum);
                    }
                }
            }
            const Factors f(hn::Mul(values.weight(), values.inverse_side(axis)));
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) Modes::add_derivative(P[c], axis, f, modes[c]);
        }
    }

    /// Any shape. J is formed from the modes of the rest shape: loading J⁻¹ would take three times
    /// the memory traffic, which costs more than the arithmetic.
    static HWY_INLINE void any_shape(const Values& values, V (&modes)[3][8], V& smallest) {
        const V one = hn::Set(d, T{1});
        Columns du, dX, P_sum;
        Modes::derivatives(modes, Factors(hn::Set(d, T{0.125})), du);
        values.rest_derivatives(dX);
        Modes::clear(P_sum);
        const V ratio = values.lambda_ratio();
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            for (int k = q; k < kHexValues; k += 8) values.prefetch(k);
            const int slots[3] = {slot(0, q), slot(1, q), slot(2, q)};
            const V(&J0)[3] = dX[0][slots[0]];
            const V(&J1)[3] = dX[1][slots[1]];
            const V(&J2)[3] = dX[2][slots[2]];
            V adjugate[3][3];  // rows of det J J⁻¹
            Modes::cross(J1, J2, adjugate[0]);
            Modes::cross(J2, J0, adjugate[1]);
            Modes::cross(J0, J1, adjugate[2]);
            const V inverse_det = hn::Div(one, dot(J0, adjugate[0]));
            // columns of ∇u = ∂u/∂ξ J⁻¹, then of F; C = FᵀF − I from ∇u so that nothing cancels
            V F[3][3], C[3], S[3];
            PLIANT_UNROLL
            for (int l = 0; l < 3; ++l) {
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    V sum = hn::Mul(du[0][slots[0]][c], adjugate[0][l]);
                    sum = hn::MulAdd(du[1][slots[1]][c], adjugate[1][l], sum);
                    sum = hn::MulAdd(du[2][slots[2]][c], adjugate[2][l], sum);
                    F[l][c] = hn::Mul(inverse_det, sum);
                }
                C[l] = hn::Add(F[l][l], F[l][l]);
                if (!small_strain) C[l] = hn::Add(C[l], dot(F[l], F[l]));
                F[l][l] = hn::Add(F[l][l], one);
            }
            if (with_det) lower_to_det(F[0], F[1], F[2], smallest);
            // S/μ = C + λ/(2μ) tr C I
            PLIANT_UNROLL
            for (int pair = 0; pair < 3; ++pair) {
                const int a = (pair + 1) % 3, b = (pair + 2) % 3;
                S[pair] = small_strain ? hn::Add(F[a][b], F[b][a]) : dot(F[a], F[b]);
            }
            const V pressure = hn::Mul(ratio, hn::Add(hn::Add(C[0], C[1]), C[2]));
            PLIANT_UNROLL
            for (int l = 0; l < 3; ++l) C[l] = hn::Add(C[l], pressure);
            // P = F S, back to the reference directions; det J is in the weight
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V P[3];
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) {
                    const int a = (l + 1) % 3, b = (l + 2) % 3;
                    if constexpr (small_strain)
                        P[l] = c == l ? C[l] : S[3 - c - l];
                    else
                        P[l] = hn::MulAdd(F[l][c], C[l],
                                          hn::MulAdd(F[a][c], S[b], hn::Mul(F[b][c], S[a])));
                }
                PLIANT_UNROLL
                for (int axis = 0; axis < 3; ++axis) {
                    V& sum = P_sum[axis][slots[axis]][c];
                    sum = hn::Add(sum, dot(P, adjugate[axis]));
                }
            }
        }
        Modes::sum_derivatives(P_sum, Factors(values.weight()), modes);
    }
};

/// Adds the forces of a batch, and writes the smallest det F of each element.
/// How the elements of a batch are computed.
enum class Way { PlainBoxes, PlainAnyShape, Boxes, AnyShape, CutBoxes };
constexpr bool is_box_way(Way way) { return way != Way::PlainAnyShape && way != Way::AnyShape; }
constexpr bool is_accurate_way(Way way) {
    return way != Way::PlainBoxes && way != Way::PlainAnyShape;
}

template <class T, Way way, HexLaw law, bool with_det>
HWY_NOINLINE void add_batch(const HexBatch& batch, const T* values, const T* next_values,
                            NodePrefetch<2>& prefetch, const T* u, T* R, T* det) {
    using D = hn::CappedTag<T, kHexLanes>;
    using Force = HexForce<D, law == HexLaw::SmallStrain, with_det>;
    const D d;
    for (int lane = 0; lane < batch.num_elements; lane += static_cast<int>(hn::MaxLanes(d))) {
        prefetch.next();
        hn::Vec<D> modes[3][8], smallest = hn::Set(d, std::numeric_limits<T>::infinity());
        Force::load(u, batch, lane, modes);
        const HexValues<D> at_lanes{values + lane, next_values + lane};
        if constexpr (law == HexLaw::NeoHookean)
            neo_hookean_force<D, is_box_way(way), is_accurate_way(way)>(at_lanes, modes, smallest);
        else if constexpr (way == Way::CutBoxes)
            Force::cut_boxes(at_lanes, modes, smallest);
        else if constexpr (way == Way::Boxes)
            Force::accurate_boxes(at_lanes, modes, smallest);
        else if constexpr (way == Way::AnyShape)
            Force::accurate_any_shape(at_lanes, modes, smallest);
        else if constexpr (way == Way::PlainBoxes)
            Force::boxes(at_lanes, modes, smallest);
        else
            Force::any_shape(at_lanes, modes, smallest);
        Force::add_to(R, batch, lane, modes);
        if (with_det) hn::Store(smallest, d, det + lane);
    }
}

template <class T, Way way, bool with_det>
auto batch_function_of_way(const HexBatch& batch) {
    if (batch.is_neo_hookean) return add_batch<T, way, HexLaw::NeoHookean, with_det>;
    return batch.is_small_strain ? add_batch<T, way, HexLaw::SmallStrain, with_det>
                                 : add_batch<T, way, HexLaw::StVenantKirchhoff, with_det>;
}
template <class T, bool with_det>
auto batch_function(const HexBatch& batch) {
    if (batch.is_cut) return batch_function_of_way<T, Way::CutBoxes, with_det>(batch);
    if (batch.is_accurate)
        return batch.is_box ? batch_function_of_way<T, Way::Boxes, with_det>(batch)
                            : batch_function_of_way<T, Way::AnyShape, with_det>(batch);
    return batch.is_box ? batch_function_of_way<T, Way::PlainBoxes, with_det>(batch)
                        : batch_function_of_way<T, Way::PlainAnyShape, with_det>(batch);
}

template <class T>
const T* values_of(const HexBatches& hexes, const HexBatch& batch) {
    if constexpr (sizeof(T) == sizeof(double))
        return hexes.values[batch.first_value].lane;
    else
        return hexes.single_values[batch.first_value].lane;
}

template <class T, bool with_det>
HWY_INLINE HexDetF add_forces(const HexBatches& hexes, int block, const double* all_u,
                              double* all_R) {
    HexDetF smallest{std::numeric_limits<double>::infinity(), std::numeric_limits<int>::max()};
    BlockNodes<T> u(hexes, block), R(hexes, block);
    if (u.count == 0) return smallest;
    alignas(32) double origin[4] = {0, 0, 0, 0};
    if (sizeof(T) < sizeof(double)) {
        const double* const first = all_u + std::size_t{3} * u.nodes[0];
        const double* const middle = all_u + std::size_t{3} * u.nodes[u.count / 2];
        const double* const last = all_u + std::size_t{3} * u.nodes[u.count - 1];
        for (int c = 0; c < 3; ++c) origin[c] = sound_origin(first[c], middle[c], last[c]);
    }
    u.load(all_u, origin);
    R.clear();

    constexpr int kWidth = static_cast<int>(hn::MaxLanes(hn::CappedTag<T, kHexLanes>()));
    NodePrefetch<2> prefetch(hexes, block, kWidth, all_u, all_R);
    for (int b = hexes.batch_offsets[block]; b < hexes.batch_offsets[block + 1]; ++b) {
        const HexBatch& batch = hexes.batches[b];
        const bool is_last_batch = b + 1 == static_cast<int>(hexes.batches.size());
        const T* const values = values_of<T>(hexes, batch);
        const T* const next = is_last_batch ? values : values_of<T>(hexes, hexes.batches[b + 1]);
        HexLanes<T> det;
        const auto add = batch_function<T, with_det>(batch);
        add(batch, values, next, prefetch, u.rows, R.rows, det.lane);
        if (with_det)
            for (int lane = 0; lane < batch.num_elements; ++lane) {
                const HexDetF here{det.lane[lane], batch.elements[lane]};
                if (here.value < smallest.value ||
                    (here.value == smallest.value && here.element < smallest.element))
                    smallest = here;
            }
    }
    R.add_to(all_R);
    return smallest;
}

void forces_f64(const HexBatches& hexes, int block, const double* u, double* R) {
    add_forces<double, false>(hexes, block, u, R);
}
void forces_f32(const HexBatches& hexes, int block, const double* u, double* R) {
    add_forces<float, false>(hexes, block, u, R);
}
HexDetF forces_and_det_f64(const HexBatches& hexes, int block, const double* u, double* R) {
    return add_forces<double, true>(hexes, block, u, R);
}
HexDetF forces_and_det_f32(const HexBatches& hexes, int block, const double* u, double* R) {
    return add_forces<float, true>(hexes, block, u, R);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(forces_f64);
HWY_EXPORT(forces_f32);
HWY_EXPORT(forces_and_det_f64);
HWY_EXPORT(forces_and_det_f32);

template <>
void add_hex_forces<double>(const HexBatches& hexes, int block, const double* u,
                            double* R) noexcept {
    HWY_DYNAMIC_DISPATCH(forces_f64)(hexes, block, u, R);
}
template <>
void add_hex_forces<float>(const HexBatches& hexes, int block, const double* u,
                           double* R) noexcept {
    HWY_DYNAMIC_DISPATCH(forces_f32)(hexes, block, u, R);
}
template <>
HexDetF add_hex_forces_and_det_F<double>(const HexBatches& hexes, int block, const double* u,
                                         double* R) noexcept {
    return HWY_DYNAMIC_DISPATCH(forces_and_det_f64)(hexes, block, u, R);
}
template <>
HexDetF add_hex_forces_and_det_F<float>(const HexBatches& hexes, int block, const double* u,
                                        double* R) noexcept {
    return HWY_DYNAMIC_DISPATCH(forces_and_det_f32)(hexes, block, u, R);
}

}  // namespace pliant
#endif
