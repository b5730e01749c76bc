// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include <cstddef>

#include "fem/hex_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/hex_tangents.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fem/hex_modes-inl.h"
#include "fem/hex_neo_hookean-inl.h"
#include "fem/hex_rows-inl.h"
#include "fem/hex_stress-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Corners in the order of the mesh from the binary one.
constexpr int kMeshCorner[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/// Pairs i ≤ j, numbered 0, …, 5.
constexpr int kPairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
constexpr int pair_index(int i, int j) { return i == j ? i : 6 - i - j; }

/// For lanes without element.
constexpr int kNoSlots[64] = {};

constexpr int num_bits(int m) { return (m & 1) + (m >> 1 & 1) + (m >> 2 & 1); }

/// Element matrices of as many elements as a vector of four doubles holds: more of them would not
/// fit into the first-level cache.
struct HexTangent : HexStress<hn::CappedTag<double, 4>> {
    using D = hn::CappedTag<double, 4>;
    using Stress = HexStress<D>;
    static constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
    /// Numbers in the tangent ∂P/∂F of one point: blocks (k, k) by pairs i ≤ j, then blocks (k, l),
    /// k < l, by rows.
    static constexpr int kEntries = 3 * 6 + 3 * 9;

    /// Place of component ij of the block (k, l).
    static constexpr int entry(int k, int l, int i, int j) {
        if (k == l) return 6 * k + pair_index(i, j);
        return 18 + 9 * (3 - k - l) + (k < l ? 3 * i + j : 3 * j + i);
    }

    static constexpr int kStrains = 18;  ///< that count in an accurate element

    V C[kEntries][8];  ///< at the Gauss points, then their modes
    /// Of accurate elements: the strains of each mode of u, scaled so that K = Σ strain strainᵀ, and
    /// ∇ξ_k·S ∇ξ_l/μ with the weight.
    V strains[kStrains][3][8], stresses[6][8];
    Columns du, P_sum;
    /// Of accurate neo-Hookean elements: what the modes of u do to the volume, and what a change of
    /// it as a whole meets, docs/fem.md eq. (A7).
    Columns volume_sum;
    V volume_modes[3][8], volume_stiffness;
    /// Component ij of the block of nodes a, b, for pairs i ≤ j.
    alignas(64) double K[6][8][8][kWidth];

    /// C and P at the Gauss point q, docs/fem.md eq. (H3). All in reference directions: rows of
    /// J⁻¹ are the gradients of ξ, η, ζ.
    template <bool small_strain>
    HWY_INLINE void add_point(int q, const V (&J_inverse)[3][3], V weight, V ratio) {
        const int slots[3] = {slot(0, q), slot(1, q), slot(2, q)};
        const V one = hn::Set(d, 1.0);
        // columns of F, and E = FᵀF − I from ∇u so that nothing cancels
        V F[3][3], E[3][3];
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V sum = hn::Mul(du[0][slots[0]][c], J_inverse[0][l]);
                sum = hn::MulAdd(du[1][slots[1]][c], J_inverse[1][l], sum);
                F[l][c] = hn::MulAdd(du[2][slots[2]][c], J_inverse[2][l], sum);
            }
        }
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            PLIANT_UNROLL
            for (int m = 0; m <= l; ++m) {
                E[l][m] = hn::Add(F[l][m], F[m][l]);
                if (!small_strain) E[l][m] = hn::Add(E[l][m], dot(F[l], F[m]));
                E[m][l] = E[l][m];
            }
        }
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            if (small_strain) {
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) F[l][c] = hn::Zero(d);
            }
            F[l][l] = hn::Add(F[l][l], one);
        }
        const V pressure = hn::Mul(ratio, hn::Add(hn::Add(E[0][0], E[1][1]), E[2][2]));

        // f_k = F ∇ξ_k,  G_kl = ∇ξ_k·∇ξ_l,  S_kl = ∇ξ_k·S ∇ξ_l/μ, the last two with the weight
        V f[3][3], G[6], S[6], B[6];
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            V S_k[3];
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                f[k][c] = row_times(F, c, J_inverse[k]);
                S_k[c] =
                    hn::Mul(weight, hn::MulAdd(pressure, J_inverse[k][c], dot(E[c], J_inverse[k])));
            }
            PLIANT_UNROLL
            for (int l = 0; l <= k; ++l) {
                G[pair_index(l, k)] = hn::Mul(weight, dot(J_inverse[k], J_inverse[l]));
                S[pair_index(l, k)] = dot(S_k, J_inverse[l]);
            }
            PLIANT_UNROLL
            for (int c = 0; c < 3; ++c) {
                V& sum = P_sum[k][slots[k]][c];
                sum = hn::Add(sum, small_strain ? S_k[c] : row_times(F, c, S_k));
            }
        }
        // B = F Fᵀ
        PLIANT_UNROLL
        for (int p = 0; p < 6; ++p) {
            const int i = kPairs[p][0], j = kPairs[p][1];
            V sum = hn::Mul(F[0][i], F[0][j]);
            sum = hn::MulAdd(F[1][i], F[1][j], sum);
            B[p] = hn::MulAdd(F[2][i], F[2][j], sum);
        }

        const V lambda_weight = hn::Mul(weight, hn::Add(ratio, ratio));
        const V both_weights = hn::Add(lambda_weight, weight);
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            PLIANT_UNROLL
            for (int p = 0; p < 6; ++p) {
                const int i = kPairs[p][0], j = kPairs[p][1];
                V sum = hn::Mul(hn::Mul(both_weights, f[k][i]), f[k][j]);
                sum = hn::MulAdd(G[k], B[p], sum);
                if (!small_strain && i == j) sum = hn::Add(sum, S[k]);
                C[6 * k + p][q] = sum;
            }
            PLIANT_UNROLL
            for (int l = k + 1; l < 3; ++l) {
                const int kl = pair_index(k, l);
                PLIANT_UNROLL
                for (int i = 0; i < 3; ++i) {
                    const V lambda_f = hn::Mul(lambda_weight, f[k][i]);
                    const V mu_f = hn::Mul(weight, f[l][i]);
                    PLIANT_UNROLL
                    for (int j = 0; j < 3; ++j) {
                        V sum = hn::MulAdd(lambda_f, f[l][j], hn::Mul(mu_f, f[k][j]));
                        sum = hn::MulAdd(G[kl], B[pair_index(i, j)], sum);
                        if (!small_strain && i == j) sum = hn::Add(sum, S[kl]);
                        C[entry(k, l, i, j)][q] = sum;
                    }
                }
            }
        }
    }

    /// The same of the stable neo-Hookean law:
    /// a G_kl I + 2a' f_k f_lᵀ + λ' c_k c_lᵀ − b [F (∇ξ_k × ∇ξ_l)]×,  c_k = cof F ∇ξ_k.
    template <bool is_accurate>
    HWY_INLINE void add_neo_hookean_point(int q, const V (&J_inverse)[3][3], V weight, V ratio,
                                          V mean_dilation) {
        V H[3][3], P[3][3], f[3][3], c[3][3];
        hex_gradient<D>(du, q, J_inverse, H);
        NeoHookeanPoint<D> law(H, ratio);
        if constexpr (is_accurate) law.take_out_spread(mean_dilation);
        PLIANT_UNROLL
        for (int l = 0; l < 3; ++l) {
            PLIANT_UNROLL
            for (int i = 0; i < 3; ++i) {
                P[l][i] = law.stress(l, i);
                f[l][i] = row_times(law.F, i, J_inverse[l]);
                c[l][i] = row_times(law.C, i, J_inverse[l]);
            }
        }
        add_hex_stress<D>(P, q, J_inverse, weight, P_sum);
        if constexpr (is_accurate) add_hex_stress<D>(law.C, q, J_inverse, weight, volume_sum);
        const V a = hn::Mul(weight, law.a), twice_da = hn::Mul(weight, law.twice_da);
        const V lambda_n = hn::Mul(weight, law.lambda_n);
        const V b = hn::Mul(weight, law.cofactor_factor());
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            PLIANT_UNROLL
            for (int l = k; l < 3; ++l) {
                const V diagonal = hn::Mul(a, dot(J_inverse[k], J_inverse[l]));
                V normal[3], x[3];
                cross(J_inverse[k], J_inverse[l], normal);
                PLIANT_UNROLL
                for (int i = 0; i < 3; ++i) x[i] = hn::Mul(b, row_times(law.F, i, normal));
                PLIANT_UNROLL
                for (int i = 0; i < 3; ++i) {
                    const V along_f = hn::Mul(twice_da, f[k][i]);
                    const V along_c = hn::Mul(lambda_n, c[k][i]);
                    PLIANT_UNROLL
                    for (int j = k == l ? i : 0; j < 3; ++j) {
                        V sum = hn::MulAdd(along_f, f[l][j], hn::Mul(along_c, c[l][j]));
                        if (i == j) sum = hn::Add(sum, diagonal);
                        // −[x]×: +x at (i, i + 1), −x at (i + 1, i)
                        if (k != l && j == (i + 1) % 3) sum = hn::Add(sum, x[3 - i - j]);
                        if (k != l && i == (j + 1) % 3) sum = hn::Sub(sum, x[3 - i - j]);
                        C[entry(k, l, i, j)][q] = sum;
                    }
                }
            }
        }
    }

    /// 8 × modes of u in, modes of the forces out. All weights have a factor 1/64 for the two sums
    /// over modes of K, of which the forces need 1/8.
    template <bool is_box, bool small_strain, bool neo_hookean, bool is_accurate>
    HWY_INLINE void add_points(const HexValues<D>& values, V (&modes)[3][8]) {
        const V eighth = hn::Set(d, 0.125);
        const HexShape<D, is_box> shape(values);
        derivatives(modes, Factors(eighth), du);
        clear(P_sum);
        HexMean<D> dilation;
        if constexpr (is_accurate) {
            clear(volume_sum);
#pragma GCC unroll 1
            for (int q = 0; q < 8; ++q) {
                V J_inverse[3][3], H[3][3];
                const V weight = hn::Mul(eighth, shape.at_point(q, J_inverse));
                hex_gradient<D>(du, q, J_inverse, H);
                dilation.add(weight, hex_dilation<D>(H));
            }
        }
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            V J_inverse[3][3];
            const V weight = hn::Mul(eighth, shape.at_point(q, J_inverse));
            if constexpr (neo_hookean)
                add_neo_hookean_point<is_accurate>(q, J_inverse, weight, values.lambda_ratio(),
                                                   is_accurate ? dilation.value() : weight);
            else
                add_point<small_strain>(q, J_inverse, weight, values.lambda_ratio());
        }
        sum_derivatives(P_sum, Factors(hn::Set(d, 8.0)), modes);
        if constexpr (is_accurate) {
            sum_derivatives(volume_sum, Factors(hn::Set(d, 1.0)), volume_modes);
            // λ' of the law less what resists a spread
            const V k = hn::MulAdd(hn::Set(d, 2.0), values.lambda_ratio(),
                                   hn::Set(d, 5.0 / 6 - NeoHookeanPoint<D>::kSpreadStiffness));
            volume_stiffness = hn::Div(k, dilation.weight());
        }
    }

    /// The scaled strains from the weighted means of one column of ∂C/∂u.
    struct RowMap {
        V plane[3][3][6], along[3][6];  ///< factors of the six components
        V trace, deviator[2], shear;

        template <bool is_cut>
        HWY_INLINE void set(const Stress::Space<is_cut>& space) {
            const V half = hn::Set(d, 0.5), one = hn::Set(d, 1.0), two = hn::Set(d, 2.0);
            const V mean = hn::Sqrt(hn::Mul(half, space.mean[0]));
            const V three_ratio = hn::Mul(hn::Set(d, 3.0), space.ratio);
            trace = hn::Mul(mean, hn::Sqrt(hn::Mul(hn::Set(d, 1.0 / 3),
                                                   hn::Add(one, three_ratio))));
            deviator[0] = hn::Mul(mean, hn::Set(d, 0.70710678118654752440));
            deviator[1] = hn::Mul(mean, hn::Set(d, 0.40824829046386301637));
            shear = hn::Mul(mean, hn::Set(d, 1.41421356237309504880));
            const V spread = hn::Sqrt(hn::MulAdd(two, space.plane, one));
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                const int i = (k + 1) % 3;
                // two unit vectors across the normal
                const V length = hn::Sqrt(space.inverse_tangent[i]);
                V a[3], b[3];
                const V b_length = hn::Mul(length, hn::Sqrt(space.inverse_normal[k]));
                Modes::cross(space.normal[k], space.tangent[i], b);
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    a[c] = hn::Mul(length, space.tangent[i][c]);
                    b[c] = hn::Mul(b_length, b[c]);
                }
                const V scale = hn::Sqrt(hn::Mul(half, space.inverse_square[1 << k]));
                const V by_root = hn::Mul(scale, hn::Set(d, 0.70710678118654752440));
                const V sum = hn::Mul(by_root, spread), twist = hn::Add(by_root, by_root);
                const V t_scale = hn::Mul(
                    hn::Sqrt(hn::Mul(half, hn::Mul(space.inverse_square[7 - (1 << k)],
                                                   hn::Add(one, space.plane)))),
                    space.inverse_tangent[k]);
                const V(&t)[3] = space.tangent[k];
                PLIANT_UNROLL
                for (int x = 0; x < 3; ++x) {
                    const int y = (x + 1) % 3, z = (x + 2) % 3;
                    const V aa = hn::Mul(a[x], a[x]), bb = hn::Mul(b[x], b[x]);
                    plane[k][0][x] = hn::Mul(sum, hn::Add(aa, bb));
                    plane[k][1][x] = hn::Mul(by_root, hn::Sub(aa, bb));
                    plane[k][2][x] = hn::Mul(twist, hn::Mul(a[x], b[x]));
                    const V ayz = hn::Mul(two, hn::Mul(a[y], a[z]));
                    const V byz = hn::Mul(two, hn::Mul(b[y], b[z]));
                    plane[k][0][3 + x] = hn::Mul(sum, hn::Add(ayz, byz));
                    plane[k][1][3 + x] = hn::Mul(by_root, hn::Sub(ayz, byz));
                    plane[k][2][3 + x] =
                        hn::Mul(twist, hn::MulAdd(a[y], b[z], hn::Mul(a[z], b[y])));
                    along[k][x] = hn::Mul(t_scale, hn::Mul(t[x], t[x]));
                    along[k][3 + x] = hn::Mul(hn::Mul(two, t_scale), hn::Mul(t[y], t[z]));
                }
            }
        }
        static HWY_INLINE V weighted(const V (&factor)[6], const Stress::Tensors& dC, int mode) {
            V total = hn::Mul(factor[0], dC[0][mode]);
            PLIANT_UNROLL
            for (int x = 1; x < 6; ++x) total = hn::MulAdd(factor[x], dC[x][mode], total);
            return total;
        }
        HWY_INLINE void apply(const Stress::Tensors& dC, V (&of_modes)[kStrains][3][8], int c,
                              int n) const {
            const V xy = hn::Add(dC[0][0], dC[1][0]), zz = dC[2][0];
            of_modes[0][c][n] = hn::Mul(trace, hn::Add(xy, zz));
            of_modes[1][c][n] = hn::Mul(deviator[0], hn::Sub(dC[0][0], dC[1][0]));
            of_modes[2][c][n] = hn::Mul(deviator[1], hn::Sub(xy, hn::Add(zz, zz)));
            PLIANT_UNROLL
            for (int x = 0; x < 3; ++x) of_modes[3 + x][c][n] = hn::Mul(shear, dC[3 + x][0]);
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                PLIANT_UNROLL
                for (int row = 0; row < 3; ++row)
                    of_modes[6 + 3 * k + row][c][n] = weighted(plane[k][row], dC, 1 << k);
                of_modes[15 + k][c][n] = weighted(along[k], dC, 7 - (1 << k));
            }
        }
    };

    /// The same of accurate elements, docs/fem.md eq. (A6).
    template <bool is_box, bool is_cut, bool small_strain>
    HWY_INLINE void add_accurate_points(const HexValues<D>& values, V (&modes)[3][8]) {
        constexpr double kPower[3] = {1.0, 0.57735026918962576451, 1.0 / 3.0};
        const V one = hn::Set(d, 1.0), eighth = hn::Set(d, 0.125);
        const HexShape<D, is_box> shape(values);
        derivatives(modes, Factors(eighth), du);
        clear(P_sum);
        V F[8][3][3], J_inverse[8][3][3], weights[8];
        Stress::Tensors S;
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            const int slots[3] = {slot(0, q), slot(1, q), slot(2, q)};
            weights[q] = hn::Mul(eighth, shape.at_point(q, J_inverse[q]));
            if constexpr (is_cut) weights[q] = eighth;
            PLIANT_UNROLL
            for (int l = 0; l < 3; ++l) {
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    V sum = hn::Mul(du[0][slots[0]][c], J_inverse[q][0][l]);
                    sum = hn::MulAdd(du[1][slots[1]][c], J_inverse[q][1][l], sum);
                    F[q][l][c] = hn::MulAdd(du[2][slots[2]][c], J_inverse[q][2][l], sum);
                }
            }
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
            for (int l = 0; l < 3; ++l) {
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c)
                    if (small_strain) F[q][l][c] = hn::Zero(d);
                F[q][l][l] = hn::Add(F[q][l][l], one);
            }
        }
        Stress::Space<is_cut> space;
        if constexpr (is_cut) {
            space.set_cut(values, 0.125);
        } else {
            V J[3][3];
            shape.centre_jacobian(J);
            space.set(values.lambda_ratio(), weights, J);
        }
        space.stress(S);
        RowMap map;
        map.set(space);

        // forces, and what the stress does to the tangent
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            PLIANT_UNROLL
            for (int k = 0; k < 3; ++k) {
                V S_k[3];
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    V sum = hn::Mul(Stress::component(S, c, 0, q), J_inverse[q][k][0]);
                    sum = hn::MulAdd(Stress::component(S, c, 1, q), J_inverse[q][k][1], sum);
                    sum = hn::MulAdd(Stress::component(S, c, 2, q), J_inverse[q][k][2], sum);
                    S_k[c] = hn::Mul(weights[q], sum);
                }
                PLIANT_UNROLL
                for (int l = 0; l <= k; ++l)
                    stresses[pair_index(l, k)][q] = dot(S_k, J_inverse[q][l]);
                PLIANT_UNROLL
                for (int c = 0; c < 3; ++c) {
                    V& sum = P_sum[k][slot(k, q)][c];
                    sum = hn::Add(sum, small_strain ? S_k[c] : row_times(F[q], c, S_k));
                }
            }
        }
        sum_derivatives(P_sum, Factors(hn::Set(d, 8.0)), modes);

        // strains of each mode of u
#pragma GCC unroll 1
        for (int n = 1; n < 8; ++n) {
            V g[8][3];  // gradient of the mode
#pragma GCC unroll 1
            for (int q = 0; q < 8; ++q) {
                PLIANT_UNROLL
                for (int l = 0; l < 3; ++l) g[q][l] = hn::Zero(d);
                for (int k = 0; k < 3; ++k) {
                    if (!(n >> k & 1)) continue;
                    const int rest = n & ~(1 << k);
                    const double sign = num_bits(rest & ~q) % 2 == 0 ? 1.0 : -1.0;
                    const V factor =
                        hn::Mul(weights[q], hn::Set(d, sign * kPower[num_bits(rest)]));
                    PLIANT_UNROLL
                    for (int l = 0; l < 3; ++l)
                        g[q][l] = hn::MulAdd(factor, J_inverse[q][k][l], g[q][l]);
                }
            }
#pragma GCC unroll 1
            for (int c = 0; c < 3; ++c) {
                Stress::Tensors dC;
#pragma GCC unroll 1
                for (int q = 0; q < 8; ++q) {
                    PLIANT_UNROLL
                    for (int l = 0; l < 3; ++l) {
                        const int a = (l + 1) % 3, b = (l + 2) % 3;
                        const V own = hn::Mul(F[q][l][c], g[q][l]);
                        dC[l][q] = hn::Add(own, own);
                        dC[3 + l][q] = hn::MulAdd(F[q][a][c], g[q][b],
                                                  hn::Mul(F[q][b][c], g[q][a]));
                    }
                }
                space.to_modes(dC);
                map.apply(dC, strains, c, n);
            }
        }
    }

    /// K of nodes from the rows of accurate elements.
    template <bool small_strain>
    HWY_INLINE void sum_rows() {
#pragma GCC unroll 1
        for (int e = 0; e < 6; ++e) from_corners(stresses[e]);
#pragma GCC unroll 1
        for (int p = 0; p < 6; ++p) {
            const int i = kPairs[p][0], j = kPairs[p][1];
            V of_modes[8][8];
#pragma GCC unroll 1
            for (int m = 1; m < 8; ++m) {
                V(&sums)[8] = of_modes[m];
                PLIANT_UNROLL
                for (int n = 0; n < 8; ++n) sums[n] = hn::Zero(d);
#pragma GCC unroll 1
                for (int s = 0; s < kStrains; ++s) {
                    const V left = strains[s][i][m];
                    PLIANT_UNROLL
                    for (int n = 1; n < 8; ++n)
                        sums[n] = hn::MulAdd(left, strains[s][j][n], sums[n]);
                }
            }
            if (!small_strain && i == j) add_stress_terms(of_modes);
            to_nodes(of_modes, K[p]);
        }
    }
    /// Adds the sums of the stresses over the points to a block of modes.
    HWY_INLINE void add_stress_terms(V (&of_modes)[8][8]) const {
        const V* block[3][3];
        for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l) block[k][l] = stresses[pair_index(k, l)];
        PLIANT_UNROLL
        for (int m = 1; m < 8; ++m) {
            PLIANT_UNROLL
            for (int n = 1; n < 8; ++n)
                of_modes[m][n] = hn::Add(of_modes[m][n], product_of_modes(block, m, n));
        }
    }
    /// Σ over the points of ∇m · block ∇n, from the modes of `block`.
    static HWY_INLINE V product_of_modes(const V* const (&block)[3][3], int m, int n) {
        constexpr double kPower[5] = {1.0, 0.57735026918962576451, 1.0 / 3.0,
                                      0.19245008972987525484, 1.0 / 9.0};
        // gradients of modes are monomials, whose products are monomials again
        V sum = hn::Zero(d);
        PLIANT_UNROLL
        for (int k = 0; k < 3; ++k) {
            PLIANT_UNROLL
            for (int l = 0; l < 3; ++l)
                if ((m >> k & 1) && (n >> l & 1))
                    sum = hn::Add(sum, block[k][l][(m & ~(1 << k)) ^ (n & ~(1 << l))]);
        }
        return hn::Mul(sum, hn::Set(d, kPower[num_bits(m) + num_bits(n) - 2]));
    }
    /// From modes of both sides to nodes; those of mode 0 count as zero.
    static HWY_INLINE void to_nodes(V (&of_modes)[8][8], double (&nodes)[8][8][kWidth]) {
        PLIANT_UNROLL
        for (int m = 1; m < 8; ++m) {
            of_modes[m][0] = hn::Zero(d);
            to_corners(of_modes[m]);
        }
#pragma GCC unroll 1
        for (int b = 0; b < 8; ++b) {
            V column[8];
            column[0] = hn::Zero(d);
            PLIANT_UNROLL
            for (int m = 1; m < 8; ++m) column[m] = of_modes[m][b];
            to_corners(column);
            PLIANT_UNROLL
            for (int a = 0; a < 8; ++a) hn::Store(column[a], d, nodes[a][b]);
        }
    }

    /// Adds component ij of what a change of volume as a whole meets.
    HWY_INLINE void add_volume_terms(int i, int j, V (&of_modes)[8][8]) const {
        PLIANT_UNROLL
        for (int m = 1; m < 8; ++m) {
            const V left = hn::Mul(volume_stiffness, volume_modes[i][m]);
            PLIANT_UNROLL
            for (int n = 1; n < 8; ++n)
                of_modes[m][n] = hn::MulAdd(left, volume_modes[j][n], of_modes[m][n]);
        }
    }

    /// K of nodes from C: by modes of both sides, eq. (H4).
    template <bool has_volume>
    HWY_INLINE void sum_points() {
#pragma GCC unroll 1
        for (int e = 0; e < kEntries; ++e) from_corners(C[e]);
#pragma GCC unroll 1
        for (int p = 0; p < 6; ++p) {
            const V* block[3][3];
            for (int k = 0; k < 3; ++k)
                for (int l = 0; l < 3; ++l)
                    block[k][l] = C[entry(k, l, kPairs[p][0], kPairs[p][1])];
            V of_modes[8][8];
            PLIANT_UNROLL
            for (int m = 1; m < 8; ++m) {
                PLIANT_UNROLL
                for (int n = 1; n < 8; ++n) of_modes[m][n] = product_of_modes(block, m, n);
            }
            if constexpr (has_volume) add_volume_terms(kPairs[p][0], kPairs[p][1], of_modes);
            to_nodes(of_modes, K[p]);
        }
    }

    /// Component ij of the block (a, b); the same numbers as component ji of (b, a).
    HWY_INLINE const double* component(int a, int b, int i, int j) const {
        const bool is_upper = i < j || (i == j && a < b);
        return is_upper ? K[pair_index(i, j)][a][b] : K[pair_index(i, j)][b][a];
    }

    HWY_INLINE void add_to_matrix(const HexBatch& batch, int first_lane, const int* nodes,
                                  const HexPattern& pattern, double* values) const {
        // lanes without element add nothing to nothing
        double nothing[3] = {0, 0, 0};
        double* columns[kWidth];
        int heights[kWidth];
        const int* slots[kWidth];
#pragma GCC unroll 1
        for (int b = 0; b < 8; ++b) {
            PLIANT_UNROLL
            for (int k = 0; k < kWidth; ++k) {
                const int lane = first_lane + k;
                const bool is_empty = lane >= batch.num_elements;
                const int node = is_empty ? 0 : nodes[batch.corners[b][lane] / 4 - 1];
                const int start = pattern.column_offsets[node];
                columns[k] = is_empty ? nothing : values + std::size_t{9} * start;
                heights[k] = is_empty ? 0 : 3 * (pattern.column_offsets[node + 1] - start);
                slots[k] = is_empty ? kNoSlots
                                    : pattern.slots + std::size_t{64} * batch.places[lane] +
                                          8 * kMeshCorner[b];
            }
#pragma GCC unroll 1
            for (int a = 0; a < 8; ++a) {
                double* block[kWidth];
                PLIANT_UNROLL
                for (int k = 0; k < kWidth; ++k)
                    block[k] = columns[k] + 3 * slots[k][kMeshCorner[a]];
                PLIANT_UNROLL
                for (int j = 0; j < 3; ++j) {
                    add_triples(d, component(a, b, 0, j), component(a, b, 1, j),
                                component(a, b, 2, j), block);
                    PLIANT_UNROLL
                    for (int k = 0; k < kWidth; ++k) block[k] += heights[k];
                }
            }
        }
    }
};

/// Asks for the columns of the next block's nodes while this one is computed.
class ColumnPrefetch {
    const int *node_, *end_, *column_offsets_;
    const double* values_;

public:
    HWY_INLINE ColumnPrefetch(const HexBatches& hexes, int block, const HexPattern& pattern,
                              const double* values)
        : column_offsets_(pattern.column_offsets), values_(values) {
        const bool is_last = block + 2 == static_cast<int>(hexes.node_offsets.size());
        node_ = hexes.nodes.data() + hexes.node_offsets[block + 1];
        end_ = is_last ? node_ : hexes.nodes.data() + hexes.node_offsets[block + 2];
    }
    /// Blocks have about two nodes for each element.
    HWY_INLINE void next(int num_elements) {
        for (int i = 0; i < 3 * num_elements && node_ != end_; ++i, ++node_) {
            const double* const end = values_ + std::size_t{9} * column_offsets_[*node_ + 1];
            const double* p = values_ + std::size_t{9} * column_offsets_[*node_];
            // into the second-level cache: it is not needed soon
            for (; p < end; p += 8) __builtin_prefetch(p, 1, 2);
        }
    }
};

template <bool is_box, HexLaw law, bool is_accurate, bool is_cut>
HWY_NOINLINE void add_batch(const HexBatch& batch, const double* values, const HexPattern& pattern,
                            ColumnPrefetch& prefetch, const BlockNodes<double>& u,
                            BlockNodes<double>& R, double* K) {
    constexpr bool is_small_strain = law == HexLaw::SmallStrain;
    constexpr bool is_neo_hookean = law == HexLaw::NeoHookean;
    HexTangent hexes;
    for (int lane = 0; lane < batch.num_elements; lane += HexTangent::kWidth) {
        prefetch.next(HexTangent::kWidth);
        HexTangent::V modes[3][8];
        HexTangent::load(u.rows, batch, lane, modes);
        const HexValues<HexTangent::D> at_lanes{values + lane, values + lane};
        if constexpr (is_accurate && !is_neo_hookean)
            hexes.add_accurate_points<is_box, is_cut, is_small_strain>(at_lanes, modes);
        else
            hexes.add_points<is_box, is_small_strain, is_neo_hookean, is_accurate>(at_lanes, modes);
        HexTangent::add_to(R.rows, batch, lane, modes);
        if constexpr (is_accurate && !is_neo_hookean)
            hexes.sum_rows<is_small_strain>();
        else
            hexes.sum_points<is_accurate>();
        hexes.add_to_matrix(batch, lane, u.nodes, pattern, K);
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

void tangents(const HexBatches& hexes, int block, const HexPattern& pattern, const double* all_u,
              double* all_R, double* K) {
    BlockNodes<double> u(hexes, block), R(hexes, block);
    alignas(32) const double origin[4] = {0, 0, 0, 0};
    u.load(all_u, origin);
    R.clear();
    ColumnPrefetch prefetch(hexes, block, pattern, K);
    for (int b = hexes.batch_offsets[block]; b < hexes.batch_offsets[block + 1]; ++b) {
        const HexBatch& batch = hexes.batches[b];
        const double* const values = hexes.values[batch.first_value].lane;
        const auto add = batch_function(batch);
        add(batch, values, pattern, prefetch, u, R, K);
    }
    if (all_R != nullptr) R.add_to(all_R);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(tangents);

void add_hex_tangents(const HexBatches& hexes, int block, const HexPattern& pattern,
                      const double* u, double* R, double* K) noexcept {
    HWY_DYNAMIC_DISPATCH(tangents)(hexes, block, pattern, u, R, K);
}

}  // namespace pliant
#endif
