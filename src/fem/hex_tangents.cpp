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
struct HexTangent : HexModes<hn::CappedTag<double, 4>> {
    using D = hn::CappedTag<double, 4>;
    static constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
    /// Numbers in the tangent ∂P/∂F of one point: blocks (k, k) by pairs i ≤ j, then blocks (k, l),
    /// k < l, by rows.
    static constexpr int kEntries = 3 * 6 + 3 * 9;

    /// Place of component ij of the block (k, l).
    static constexpr int entry(int k, int l, int i, int j) {
        if (k == l) return 6 * k + pair_index(i, j);
        return 18 + 9 * (3 - k - l) + (k < l ? 3 * i + j : 3 * j + i);
    }

    V C[kEntries][8];  ///< at the Gauss points, then their modes
    Columns du, P_sum;
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
    HWY_INLINE void add_neo_hookean_point(int q, const V (&J_inverse)[3][3], V weight, V ratio) {
        V H[3][3], P[3][3], f[3][3], c[3][3];
        hex_gradient<D>(du, q, J_inverse, H);
        const NeoHookeanPoint<D> law(H, ratio);
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
    template <bool is_box, bool small_strain, bool neo_hookean>
    HWY_INLINE void add_points(const HexValues<D>& values, V (&modes)[3][8]) {
        const V eighth = hn::Set(d, 0.125);
        const HexShape<D, is_box> shape(values);
        derivatives(modes, Factors(eighth), du);
        clear(P_sum);
#pragma GCC unroll 1
        for (int q = 0; q < 8; ++q) {
            V J_inverse[3][3];
            const V weight = hn::Mul(eighth, shape.at_point(q, J_inverse));
            if constexpr (neo_hookean)
                add_neo_hookean_point(q, J_inverse, weight, values.lambda_ratio());
            else
                add_point<small_strain>(q, J_inverse, weight, values.lambda_ratio());
        }
        sum_derivatives(P_sum, Factors(hn::Set(d, 8.0)), modes);
    }

    /// K of nodes from C: by modes of both sides, eq. (H4).
    HWY_INLINE void sum_points() {
#pragma GCC unroll 1
        for (int e = 0; e < kEntries; ++e) from_corners(C[e]);
#pragma GCC unroll 1
        for (int p = 0; p < 6; ++p) {
            const V* block[3][3];
            for (int k = 0; k < 3; ++k)
                for (int l = 0; l < 3; ++l)
                    block[k][l] = C[entry(k, l, kPairs[p][0], kPairs[p][1])];
            V rows[8][8];
            PLIANT_UNROLL
            for (int m = 1; m < 8; ++m) {
                rows[m][0] = hn::Zero(d);
                PLIANT_UNROLL
                for (int n = 1; n < 8; ++n) {
                    // gradients of modes are monomials, whose products are monomials again
                    V sum = hn::Zero(d);
                    PLIANT_UNROLL
                    for (int k = 0; k < 3; ++k) {
                        PLIANT_UNROLL
                        for (int l = 0; l < 3; ++l)
                            if ((m >> k & 1) && (n >> l & 1))
                                sum = hn::Add(sum, block[k][l][(m & ~(1 << k)) ^ (n & ~(1 << l))]);
                    }
                    constexpr double kPower[5] = {1.0, 0.57735026918962576451, 1.0 / 3.0,
                                                  0.19245008972987525484, 1.0 / 9.0};
                    rows[m][n] = hn::Mul(sum, hn::Set(d, kPower[num_bits(m) + num_bits(n) - 2]));
                }
                to_corners(rows[m]);
            }
#pragma GCC unroll 1
            for (int b = 0; b < 8; ++b) {
                V column[8];
                column[0] = hn::Zero(d);
                PLIANT_UNROLL
                for (int m = 1; m < 8; ++m) column[m] = rows[m][b];
                to_corners(column);
                PLIANT_UNROLL
                for (int a = 0; a < 8; ++a) hn::Store(column[a], d, K[p][a][b]);
            }
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

template <bool is_box, bool small_strain, bool neo_hookean = false>
HWY_NOINLINE void add_batch(const HexBatch& batch, const double* values, const HexPattern& pattern,
                            ColumnPrefetch& prefetch, const BlockNodes<double>& u,
                            BlockNodes<double>& R, double* K) {
    HexTangent hexes;
    for (int lane = 0; lane < batch.num_elements; lane += HexTangent::kWidth) {
        prefetch.next(HexTangent::kWidth);
        HexTangent::V modes[3][8];
        HexTangent::load(u.rows, batch, lane, modes);
        const HexValues<HexTangent::D> at_lanes{values + lane, values + lane};
        hexes.add_points<is_box, small_strain, neo_hookean>(at_lanes, modes);
        HexTangent::add_to(R.rows, batch, lane, modes);
        hexes.sum_points();
        hexes.add_to_matrix(batch, lane, u.nodes, pattern, K);
    }
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
        const auto add =
            batch.is_neo_hookean
                ? (batch.is_box ? add_batch<true, false, true> : add_batch<false, false, true>)
            : batch.is_box
                ? (batch.is_small_strain ? add_batch<true, true> : add_batch<true, false>)
                : (batch.is_small_strain ? add_batch<false, true> : add_batch<false, false>);
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
