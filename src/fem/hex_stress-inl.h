// Part of Highway files, compiled once for each instruction set; the guard lets each of them in.
#if defined(PLIANT_FEM_HEX_STRESS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIANT_FEM_HEX_STRESS_INL_H_
#undef PLIANT_FEM_HEX_STRESS_INL_H_
#else
#define PLIANT_FEM_HEX_STRESS_INL_H_
#endif

#include <hwy/highway.h>

#include "fem/hex_kernels.h"
#include "fem/hex_modes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Bit of the direction `other` in the slots of ∂/∂ξ_axis.
constexpr int slot_bit(int axis, int other) { return other > axis ? other - 1 : other; }

/// Stress of accurate elements, docs/fem.md eq. (A1)–(A4), for several elements at once. Strains
/// are given as C = 2E, stresses as S/μ, both by components xx yy zz yz zx xy.
template <class D>
struct HexStress : HexModes<D> {
    using Modes = HexModes<D>;
    using Modes::d;
    using Modes::dot;
    using typename Modes::T;
    using typename Modes::V;
    using Tensors = V[6][8];

    /// λ*/(2μ) of plane stress from λ/(2μ).
    static HWY_INLINE V plane_ratio(V ratio) {
        return hn::Div(ratio, hn::Add(ratio, hn::Set(d, T{1})));
    }

    /// Normal components of boxes: C_kk at the slots of axis k, to 4 S_kk/μ there.
    static HWY_INLINE void normal_stress_of_boxes(V (&C)[3][4], V ratio) {
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            V(&v)[4] = C[k];
            const V a = hn::Add(v[0], v[1]), b = hn::Sub(v[1], v[0]);
            const V c = hn::Add(v[2], v[3]), e = hn::Sub(v[3], v[2]);
            v[0] = hn::Add(a, c);
            v[1] = hn::Add(b, e);
            v[2] = hn::Sub(c, a);
            v[3] = hn::Sub(e, b);
        }
        const V plane = plane_ratio(ratio);
        // the mean: the whole law
        const V pressure = hn::Mul(ratio, hn::Add(hn::Add(C[0][0], C[1][0]), C[2][0]));
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) C[k][0] = hn::Add(C[k][0], pressure);
        // what varies along an axis: plane stress across it
        PLIANT_UNROLL
        for (int axis = 0; axis < 3; ++axis) {
            const int i = (axis + 1) % 3, j = (axis + 2) % 3;
            V& Ci = C[i][1 << slot_bit(i, axis)];
            V& Cj = C[j][1 << slot_bit(j, axis)];
            const V sum = hn::Mul(plane, hn::Add(Ci, Cj));
            Ci = hn::Add(Ci, sum);
            Cj = hn::Add(Cj, sum);
        }
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            V(&v)[4] = C[k];
            // what varies along both axes across k: stress along k alone
            v[3] = hn::MulAdd(plane, v[3], v[3]);
            const V low = hn::Sub(v[0], v[1]), high = hn::Add(v[0], v[1]);
            const V low2 = hn::Sub(v[2], v[3]), high2 = hn::Add(v[2], v[3]);
            v[0] = hn::Sub(low, low2);
            v[1] = hn::Sub(high, high2);
            v[2] = hn::Add(low, low2);
            v[3] = hn::Add(high, high2);
        }
    }

    /// What the stress of elements of any shape depends on, or of boxes that are cut.
    template <bool is_cut>
    struct Space {
        const T* table;  ///< of boxes that are cut: weights of the seven functions
        V ratio, plane;
        V mean[8];            ///< weighted means of products of signs; [0]: 1/Σ weight
        V offset[3];          ///< of the bilinear functions
        V inverse_square[8];  ///< of the functions, by modes
        V normal[3][3], tangent[3][3];
        V inverse_normal[3], inverse_tangent[3];  ///< of the squares

        /// From the weights of the points, and ∂x/∂ξ at the centre by columns.
        HWY_INLINE void set(V lambda_ratio, const V (&weights)[8], const V (&J)[3][3]) {
            const V one = hn::Set(d, T{1}), two = hn::Set(d, T{2}), four = hn::Set(d, T{4});
            ratio = lambda_ratio;
            plane = plane_ratio(ratio);
            PLIANT_UNROLL
            for (int q = 0; q < 8; ++q) mean[q] = weights[q];
            Modes::from_corners(mean);
            mean[0] = hn::Div(one, mean[0]);
            PLIANT_UNROLL
            for (int m = 1; m < 7; ++m) mean[m] = hn::Mul(mean[m], mean[0]);
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                const int i = (k + 1) % 3, j = (k + 2) % 3, m = 7 - (1 << k);
                const V square = hn::NegMulAdd(mean[1 << k], mean[1 << k], one);
                inverse_square[1 << k] = hn::Div(mean[0], square);
                // (s_i − a)(s_j − b) without its mean
                const V a = mean[1 << i], b = mean[1 << j], c = mean[m], ab = hn::Mul(a, b);
                offset[k] = hn::MulSub(two, ab, c);
                const V aa = hn::Mul(a, a), bb = hn::Mul(b, b);
                const V pa = hn::Add(one, aa), pb = hn::Add(one, bb), rest = hn::Sub(c, ab);
                V sum = hn::Mul(pa, pb);
                sum = hn::NegMulAdd(hn::Mul(two, aa), pb, sum);
                sum = hn::NegMulAdd(hn::Mul(two, bb), pa, sum);
                sum = hn::MulAdd(hn::Mul(four, ab), c, sum);
                sum = hn::NegMulAdd(rest, rest, sum);
                inverse_square[m] = hn::Div(mean[0], sum);
                Modes::cross(J[i], J[j], normal[k]);
                PLIANT_UNROLL
                for (int x = 0; x < 3; ++x) tangent[k][x] = J[k][x];
                inverse_normal[k] = hn::Div(one, dot(normal[k], normal[k]));
                inverse_tangent[k] = hn::Div(one, dot(tangent[k], tangent[k]));
            }
        }

        /// The same of boxes that are cut. Their C counts with `weight` at all points, S with it
        /// once more.
        HWY_INLINE void set_cut(const HexValues<D>& values, T weight) {
            table = values.here + 7 * kHexLanes;
            ratio = values.lambda_ratio();
            plane = plane_ratio(ratio);
            const V inverse_weight = hn::Set(d, T{1} / weight);
            mean[0] = hn::Mul(inverse_weight, values[5]);
            const V one = hn::Set(d, T{1}), inverse_scale = hn::Mul(inverse_weight, values[6]);
            PLIANT_UNROLL
            for (int m = 1; m < 8; ++m) inverse_square[m] = inverse_scale;
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                inverse_normal[k] = inverse_tangent[k] = one;
                PLIANT_UNROLL
                for (int x = 0; x < 3; ++x)
                    normal[k][x] = tangent[k][x] = x == k ? one : hn::Zero(d);
            }
        }
        /// Of column k of the table at a point.
        HWY_INLINE V weight_of(int k, int q) const {
            return hn::Load(d, table + (8 * k + q) * kHexLanes);
        }
        /// Functions that a component of S varies by: the number in the table and the mode.
        static constexpr int kNumFunctions = 7;
        static constexpr int mode_of(int k) {
            return k == 0 ? 0 : k < 4 ? 1 << (k - 1) : 7 - (1 << (k - 4));
        }
        static constexpr bool varies(int x, int k) {
            if (k == 0) return true;
            const int axis = (k - 1) % 3;
            return k < 4 ? (x < 3 ? x != axis : x - 3 == axis) : x == axis;
        }

        /// weight × C at the points to its products with 1 and the six functions, by modes.
        HWY_INLINE void to_modes(Tensors& C) const {
            if constexpr (is_cut) {
                PLIANT_UNROLL
                for (int x = 0; x < 6; ++x) {
                    V of_mode[8];
                    PLIANT_UNROLL
                    for (int m = 0; m < 8; ++m) of_mode[m] = hn::Zero(d);
                    PLIANT_UNROLL
                    for (int k = 0; k < kNumFunctions; ++k) {
                        if (!varies(x, k)) continue;
                        PLIANT_UNROLL
                        for (int q = 0; q < 8; ++q)
                            of_mode[mode_of(k)] =
                                hn::MulAdd(weight_of(k, q), C[x][q], of_mode[mode_of(k)]);
                    }
                    PLIANT_UNROLL
                    for (int m = 0; m < 8; ++m) C[x][m] = of_mode[m];
                }
                return;
            }
            PLIANT_UNROLL
            for (int x = 0; x < 6; ++x) {
                V(&v)[8] = C[x];
                Modes::from_corners(v);
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k) {
                    const int i = (k + 1) % 3, j = (k + 2) % 3, m = 7 - (1 << k);
                    V sum = hn::NegMulAdd(mean[1 << j], v[1 << i], v[m]);
                    sum = hn::NegMulAdd(mean[1 << i], v[1 << j], sum);
                    v[m] = hn::MulAdd(offset[k], v[0], sum);
                }
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k)
                    v[1 << k] = hn::NegMulAdd(mean[1 << k], v[0], v[1 << k]);
            }
        }
        /// The transpose, without the weights.
        HWY_INLINE void from_modes(Tensors& S) const {
            if constexpr (is_cut) {
                PLIANT_UNROLL
                for (int x = 0; x < 6; ++x) {
                    V at_point[8];
                    PLIANT_UNROLL
                    for (int q = 0; q < 8; ++q) {
                        at_point[q] = hn::Zero(d);
                        PLIANT_UNROLL
                        for (int k = 0; k < kNumFunctions; ++k)
                            if (varies(x, k))
                                at_point[q] = hn::MulAdd(weight_of(k, q), S[x][mode_of(k)],
                                                         at_point[q]);
                    }
                    PLIANT_UNROLL
                    for (int q = 0; q < 8; ++q) S[x][q] = at_point[q];
                }
                return;
            }
            PLIANT_UNROLL
            for (int x = 0; x < 6; ++x) {
                V(&v)[8] = S[x];
                v[7] = hn::Zero(d);
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k)
                    v[0] = hn::NegMulAdd(mean[1 << k], v[1 << k], v[0]);
                PLIANT_UNROLL
                for (int k = 0; k < 3; ++k) {
                    const int i = (k + 1) % 3, j = (k + 2) % 3, m = 7 - (1 << k);
                    v[0] = hn::MulAdd(offset[k], v[m], v[0]);
                    v[1 << i] = hn::NegMulAdd(mean[1 << j], v[m], v[1 << i]);
                    v[1 << j] = hn::NegMulAdd(mean[1 << i], v[m], v[1 << j]);
                }
                Modes::to_corners(v);
            }
        }
        /// t_k · C t_k of a mode.
        HWY_INLINE V along_tangent(const Tensors& C, int k, int mode) const {
            const V(&t)[3] = tangent[k];
            V row[3];
            times(C, mode, t, row);
            return dot(row, t);
        }
        static HWY_INLINE void times(const Tensors& C, int mode, const V (&v)[3], V (&out)[3]) {
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i) {
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                out[i] = hn::MulAdd(
                    C[i][mode], v[i],
                    hn::MulAdd(C[3 + k][mode], v[j], hn::Mul(C[3 + j][mode], v[k])));
            }
        }
        /// C of the modes to S/μ of the modes.
        HWY_INLINE void apply_law(Tensors& C) const {
            const V pressure = hn::Mul(ratio, hn::Add(hn::Add(C[0][0], C[1][0]), C[2][0]));
            PLIANT_UNROLL
            for (int x = 0; x < 6; ++x) {
                if (x < 3) C[x][0] = hn::Add(C[x][0], pressure);
                C[x][0] = hn::Mul(C[x][0], mean[0]);
            }
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                // plane stress across axis k: C − v nᵀ − n vᵀ + … n nᵀ + … I
                const int m = 1 << k;
                const V(&n)[3] = normal[k];
                V v[3];
                times(C, m, n, v);
                PLIANT_UNROLL
                for (int x = 0; x < 3; ++x) v[x] = hn::Mul(v[x], inverse_normal[k]);
                const V nv = dot(n, v);
                const V trace = hn::Add(hn::Add(C[0][m], C[1][m]), C[2][m]);
                const V spread = hn::Mul(plane, hn::Sub(trace, nv));
                const V square = hn::Mul(inverse_normal[k], hn::Sub(nv, spread));
                PLIANT_UNROLL
                for (int x = 0; x < 3; ++x) {
                    const int i = (x + 1) % 3, j = (x + 2) % 3;
                    V own = hn::MulAdd(hn::Mul(square, n[x]), n[x], hn::Add(C[x][m], spread));
                    own = hn::NegMulAdd(hn::Add(v[x], v[x]), n[x], own);
                    C[x][m] = hn::Mul(own, inverse_square[m]);
                    V shear = hn::MulAdd(hn::Mul(square, n[i]), n[j], C[3 + x][m]);
                    shear = hn::NegMulAdd(v[i], n[j], hn::NegMulAdd(v[j], n[i], shear));
                    C[3 + x][m] = hn::Mul(shear, inverse_square[m]);
                }
            }
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                const int m = 7 - (1 << k);
                const V along = along_tangent(C, k, m);
                const V factor = hn::Mul(hn::Mul(inverse_tangent[k], inverse_tangent[k]),
                                         hn::Mul(inverse_square[m],
                                                 hn::MulAdd(plane, along, along)));
                const V(&t)[3] = tangent[k];
                PLIANT_UNROLL
                for (int x = 0; x < 3; ++x) {
                    const int i = (x + 1) % 3, j = (x + 2) % 3;
                    const V scaled = hn::Mul(factor, t[i]);
                    C[x][m] = hn::Mul(hn::Mul(factor, t[x]), t[x]);
                    C[3 + x][m] = hn::Mul(scaled, t[j]);
                }
            }
        }
        /// weight × C at the points to S/μ there.
        HWY_INLINE void stress(Tensors& C) const {
            to_modes(C);
            apply_law(C);
            from_modes(C);
        }
    };

    /// Component ij of a tensor at a point.
    static HWY_INLINE V component(const Tensors& C, int i, int j, int q) {
        return C[i == j ? i : 6 - i - j][q];
    }
};

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
