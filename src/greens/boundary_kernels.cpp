// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "greens/boundary_kernels.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "greens/triangle_rules.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "greens/boundary_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using TargetTag = hn::CappedTag<double, kTargetLanes>;
using TargetVector = hn::Vec<TargetTag>;
using TargetMask = hn::Mask<TargetTag>;

/// 1/√x to the last bits: an estimate of 12 bits, then a step that triples and one that doubles
/// them.
HWY_INLINE TargetVector reciprocal_sqrt(TargetVector x) {
    const TargetTag d;
    const hn::Rebind<float, TargetTag> d32;
    TargetVector y = hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(d32, x)));
    const TargetVector e = hn::NegMulAdd(hn::Mul(x, y), y, hn::Set(d, 1.0));
    y = hn::MulAdd(hn::Mul(y, e), hn::MulAdd(e, hn::Set(d, 0.375), hn::Set(d, 0.5)), y);
    const TargetVector rest = hn::NegMulAdd(hn::Mul(x, y), y, hn::Set(d, 1.0));
    return hn::MulAdd(hn::Mul(y, hn::Set(d, 0.5)), rest, y);
}

/// The integrands, without shape functions, at d from the target; height = d·n. Zero where `mask`
/// is not set.
struct ElasticIntegrand {
    static constexpr int kPlanes = kElasticPlanes;
    static constexpr bool kHasVector = true;
    static HWY_INLINE void evaluate(const TargetVector* d, TargetVector height, TargetVector weight,
                                    TargetMask mask, TargetVector* out) {
        const TargetVector r2 = hn::MulAdd(d[0], d[0], hn::MulAdd(d[1], d[1], hn::Mul(d[2], d[2])));
        const TargetVector inverse = hn::IfThenElseZero(mask, reciprocal_sqrt(r2));
        const TargetVector inverse2 = hn::Mul(inverse, inverse);
        const TargetVector cube = hn::Mul(hn::Mul(inverse, weight), inverse2);
        PLIANT_UNROLL for (int k = 0; k < 3; ++k) out[12 + k] = hn::Mul(cube, d[k]);
        PLIANT_UNROLL for (int k = 0; k < 3; ++k) {
            out[k] = hn::Mul(out[12 + k], d[k]);
            out[3 + k] = hn::Mul(out[12 + k % 2], d[k == 0 ? 1 : 2]);
        }
        const TargetVector tilt = hn::Mul(height, inverse2);
        PLIANT_UNROLL for (int k = 0; k < 6; ++k) out[6 + k] = hn::Mul(tilt, out[k]);
    }
};

struct LaplaceIntegrand {
    static constexpr int kPlanes = kLaplacePlanes;
    static constexpr bool kHasVector = false;
    static HWY_INLINE void evaluate(const TargetVector* d, TargetVector height, TargetVector weight,
                                    TargetMask mask, TargetVector* out) {
        const TargetVector r2 = hn::MulAdd(d[0], d[0], hn::MulAdd(d[1], d[1], hn::Mul(d[2], d[2])));
        const TargetVector inverse = hn::IfThenElseZero(mask, reciprocal_sqrt(r2));
        out[0] = hn::Mul(weight, inverse);
        out[1] = hn::Mul(hn::Mul(height, out[0]), hn::Mul(inverse, inverse));
    }
};

/// Values at the points of a rule times shape functions, summed, for one plane: at the points of
/// an orbit, shape function s is a but at point s, where it is 1 − 2a.
template <class Rule, int kPlanes>
HWY_INLINE void sum_points(const TargetVector (*values)[kPlanes], int plane, TargetVector* sums) {
    const TargetTag d;
    constexpr int kFirst = Rule::kCentre != 0 ? 1 : 0;
    TargetVector common =
        kFirst == 1 ? hn::Mul(values[0][plane], hn::Set(d, 1.0 / 3)) : hn::Zero(d);
    PLIANT_UNROLL for (int k = 0; k < Rule::kOrbits; ++k) {
        const int p = kFirst + 3 * k;
        const TargetVector total =
            hn::Add(hn::Add(values[p][plane], values[p + 1][plane]), values[p + 2][plane]);
        common = hn::MulAdd(total, hn::Set(d, Rule::kA[k]), common);
    }
    PLIANT_UNROLL for (int s = 0; s < 3; ++s) {
        sums[s] = common;
        PLIANT_UNROLL for (int k = 0; k < Rule::kOrbits; ++k) sums[s] =
            hn::MulAdd(values[kFirst + 3 * k + s][plane], hn::Set(d, 1 - 3 * Rule::kA[k]), sums[s]);
    }
}

/// Integrates over a triangle with corners − target `d_corners`, and hands
/// receive(shape function, plane, vector) the results.
template <class Integrand, class Rule, class Receive>
HWY_INLINE void integrate_triangle(const TargetVector (*d_corners)[3], const TargetVector* normal,
                                   TargetVector area, TargetMask mask, Receive receive) {
    const TargetTag d;
    constexpr int kFirst = Rule::kCentre != 0 ? 1 : 0;
    constexpr int kPoints = kFirst + 3 * Rule::kOrbits;
    constexpr int kPlanes = Integrand::kPlanes;
    TargetVector values[kPoints][kPlanes];
    const TargetVector height =
        hn::MulAdd(d_corners[0][0], normal[0],
                   hn::MulAdd(d_corners[0][1], normal[1], hn::Mul(d_corners[0][2], normal[2])));
    TargetVector total[3];
    PLIANT_UNROLL for (int k = 0; k < 3; ++k) total[k] =
        hn::Add(hn::Add(d_corners[0][k], d_corners[1][k]), d_corners[2][k]);
    if constexpr (kFirst == 1) {
        TargetVector y[3];
        PLIANT_UNROLL for (int k = 0; k < 3; ++k) y[k] = hn::Mul(total[k], hn::Set(d, 1.0 / 3));
        Integrand::evaluate(y, height, hn::Mul(area, hn::Set(d, Rule::kCentre)), mask, values[0]);
    }
    PLIANT_UNROLL for (int orbit = 0; orbit < Rule::kOrbits; ++orbit) {
        const TargetVector weight = hn::Mul(area, hn::Set(d, Rule::kWeight[orbit]));
        const TargetVector a = hn::Set(d, Rule::kA[orbit]);
        const TargetVector rest = hn::Set(d, 1 - 3 * Rule::kA[orbit]);
        PLIANT_UNROLL for (int s = 0; s < 3; ++s) {
            TargetVector y[3];
            PLIANT_UNROLL for (int k = 0; k < 3; ++k) y[k] =
                hn::MulAdd(d_corners[s][k], rest, hn::Mul(total[k], a));
            Integrand::evaluate(y, height, weight, mask, values[kFirst + 3 * orbit + s]);
        }
    }
    constexpr int kScalars = Integrand::kHasVector ? kPlanes - 3 : kPlanes;
    TargetVector sums[3];
    for (int plane = 0; plane < kScalars; ++plane) {
        sum_points<Rule, kPlanes>(values, plane, sums);
        PLIANT_UNROLL for (int s = 0; s < 3; ++s) receive(s, plane, sums[s]);
    }
    if constexpr (Integrand::kHasVector) {
        TargetVector v[3][3];
        PLIANT_UNROLL for (int k = 0; k < 3; ++k)
            sum_points<Rule, kPlanes>(values, kScalars + k, v[k]);
        PLIANT_UNROLL for (int s = 0; s < 3; ++s) PLIANT_UNROLL for (int k = 0; k < 3; ++k) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            receive(s, kScalars + k, hn::MulSub(v[i][s], normal[j], hn::Mul(v[j][s], normal[i])));
        }
    }
}

/// Adds the integrals over one triangle to the sums of its nodes.
template <class Integrand, class Rule>
HWY_INLINE void add_triangle(const KernelTriangle& triangle, const TargetVector* x, TargetMask mask,
                             double* sums) {
    const TargetTag d;
    TargetVector d_corners[3][3], normal[3];
    PLIANT_UNROLL for (int k = 0; k < 3; ++k) {
        PLIANT_UNROLL for (int s = 0; s < 3; ++s) d_corners[s][k] =
            hn::Sub(hn::Set(d, triangle.corners[s][k]), x[k]);
        normal[k] = hn::Set(d, triangle.normal[k]);
    }
    double* nodes[3];
    PLIANT_UNROLL for (int s = 0; s < 3; ++s) nodes[s] =
        sums + static_cast<std::size_t>(triangle.nodes[s]) * Integrand::kPlanes * kTargetLanes;
    integrate_triangle<Integrand, Rule>(d_corners, normal, hn::Set(d, triangle.area), mask,
                                        [&](int s, int plane, TargetVector value) HWY_ATTR {
                                            double* const to = nodes[s] + plane * kTargetLanes;
                                            hn::StoreU(hn::Add(hn::LoadU(d, to), value), d, to);
                                        });
}

template <class Integrand>
HWY_INLINE void add_triangles(std::span<const KernelTriangle> triangles, const TargetGroup& targets,
                              double* sums, std::uint8_t* near_lanes) {
    const TargetTag d;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(TargetTag()));
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        const KernelTriangle& triangle = triangles[t];
        unsigned near_bits = 0;
        for (int lane = 0; lane < kTargetLanes; lane += kLanes) {
            TargetVector x[3], c[3];
            PLIANT_UNROLL for (int k = 0; k < 3; ++k) {
                x[k] = hn::LoadU(d, targets.position[k] + lane);
                c[k] = hn::Sub(x[k], hn::Set(d, triangle.centroid[k]));
            }
            const TargetVector distance2 =
                hn::MulAdd(c[0], c[0], hn::MulAdd(c[1], c[1], hn::Mul(c[2], c[2])));
            const TargetMask near = hn::Lt(distance2, hn::Set(d, triangle.split_squared));
            const TargetMask far = hn::Ge(distance2, hn::Set(d, triangle.three_point_squared));
            if (!hn::AllTrue(d, hn::Or(near, far)))
                add_triangle<Integrand, SevenPointRule>(triangle, x, hn::Not(hn::Or(near, far)),
                                                        sums + lane);
            if (!hn::AllFalse(d, far))
                add_triangle<Integrand, ThreePointRule>(triangle, x, far, sums + lane);
            std::uint8_t bits[8] = {};
            hn::StoreMaskBits(d, near, bits);
            near_bits |= static_cast<unsigned>(bits[0]) << lane;
        }
        near_lanes[t] = static_cast<std::uint8_t>(near_bits);
    }
}

template <class Integrand>
HWY_INLINE void integrate_batch(const PartBatch& parts, PartIntegrals& out) {
    const TargetTag d;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(TargetTag()));
    for (int lane = 0; lane < kTargetLanes; lane += kLanes) {
        TargetVector d_corners[3][3], normal[3];
        PLIANT_UNROLL for (int k = 0; k < 3; ++k) {
            const TargetVector x = hn::LoadU(d, parts.target[k] + lane);
            PLIANT_UNROLL for (int s = 0; s < 3; ++s) d_corners[s][k] =
                hn::Sub(hn::LoadU(d, parts.corners[s][k] + lane), x);
            normal[k] = hn::LoadU(d, parts.normal[k] + lane);
        }
        TargetVector values[3][Integrand::kPlanes];
        integrate_triangle<Integrand, SevenPointRule>(
            d_corners, normal, hn::LoadU(d, parts.area + lane), hn::FirstN(d, kTargetLanes),
            [&](int s, int plane, TargetVector value) HWY_ATTR { values[s][plane] = value; });
        // shape functions of the whole triangle are linear on the part
        for (int plane = 0; plane < Integrand::kPlanes; ++plane)
            PLIANT_UNROLL for (int s = 0; s < 3; ++s) {
                TargetVector sum = hn::Zero(d);
                PLIANT_UNROLL for (int c = 0; c < 3; ++c) sum =
                    hn::MulAdd(values[c][plane], hn::LoadU(d, parts.barycentric[s][c] + lane), sum);
                hn::StoreU(sum, d, out.values[s][plane] + lane);
            }
    }
}

/// Three rows of one column for kLanes targets, interleaved.
HWY_INLINE void write_column(TargetVector a, TargetVector b, TargetVector c, int num_targets,
                             double* to) {
    const TargetTag d;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(TargetTag()));
    if (num_targets >= kLanes) {
        hn::StoreInterleaved3(a, b, c, d, to);
        return;
    }
    HWY_ALIGN double values[3 * kLanes];
    hn::StoreInterleaved3(a, b, c, d, values);
    for (int i = 0; i < 3 * num_targets; ++i) to[i] = values[i];
}

/// The place of component i, j among xx yy zz xy yz xz.
HWY_INLINE constexpr int symmetric_place(int i, int j) {
    return i == j ? i : (i + j == 1 ? 3 : (i + j == 3 ? 4 : 5));
}

struct TractionFactors {
    TargetVector symmetric, diagonal, rotation;
};

/// H of eq. (B5) from planes 6–14.
HWY_INLINE void traction_block(const TargetVector* planes, const TractionFactors& factors,
                               TargetVector (*block)[3]) {
    const TargetVector trace =
        hn::Mul(factors.diagonal, hn::Add(hn::Add(planes[0], planes[1]), planes[2]));
    PLIANT_UNROLL for (int i = 0; i < 3; ++i) {
        block[i][i] = hn::MulAdd(factors.symmetric, planes[i], trace);
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const TargetVector shared = hn::Mul(factors.symmetric, planes[symmetric_place(i, j)]);
        const TargetVector turn = hn::Mul(factors.rotation, planes[6 + k]);
        block[i][j] = hn::Add(shared, turn);
        block[j][i] = hn::Sub(shared, turn);
    }
}

HWY_INLINE void write_elastic(const double* sums, int num_nodes, const BlockFactors& factors,
                              const GroupRows& rows, int lane, double (*row_sums)[kTargetLanes]) {
    const TargetTag d;
    const TractionFactors traction{hn::Set(d, 3 * factors.traction),
                                   hn::Set(d, factors.traction * factors.compressibility),
                                   hn::Set(d, -factors.traction * factors.compressibility)};
    const TargetVector displacement = hn::Set(d, factors.displacement);
    const int num_targets = rows.num_targets - lane;
    TargetVector total[9], block[3][3];
    PLIANT_UNROLL for (int k = 0; k < 9; ++k) total[k] = hn::Zero(d);
    for (int node = 0; node < num_nodes; ++node) {
        const double* const from =
            sums + static_cast<std::size_t>(node) * kElasticPlanes * kTargetLanes + lane;
        const std::size_t column = 3 * static_cast<std::size_t>(node);
        TargetVector a[6], s[9];
        PLIANT_UNROLL for (int k = 0; k < 6; ++k) a[k] =
            hn::Mul(displacement, hn::LoadU(d, from + k * kTargetLanes));
        const TargetVector trace =
            hn::Mul(hn::Set(d, factors.diagonal), hn::Add(hn::Add(a[0], a[1]), a[2]));
        PLIANT_UNROLL for (int k = 0; k < 3; ++k) a[k] = hn::Add(a[k], trace);
        PLIANT_UNROLL for (int j = 0; j < 3; ++j) write_column(
            a[symmetric_place(0, j)], a[symmetric_place(1, j)], a[symmetric_place(2, j)],
            num_targets,
            rows.G + (column + static_cast<std::size_t>(j)) * rows.G_stride + 3 * lane);
        PLIANT_UNROLL for (int k = 0; k < 9; ++k) {
            s[k] = hn::LoadU(d, from + (6 + k) * kTargetLanes);
            total[k] = hn::Add(total[k], s[k]);
        }
        traction_block(s, traction, block);
        PLIANT_UNROLL for (int j = 0; j < 3; ++j) write_column(
            block[0][j], block[1][j], block[2][j], num_targets,
            rows.H + (column + static_cast<std::size_t>(j)) * rows.H_stride + 3 * lane);
    }
    traction_block(total, traction, block);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) hn::StoreU(block[i][j], d, row_sums[3 * i + j] + lane);
}

void distant_elastic(std::span<const KernelTriangle> triangles, const TargetGroup& targets,
                     double* sums, std::uint8_t* near_lanes) {
    add_triangles<ElasticIntegrand>(triangles, targets, sums, near_lanes);
}
void distant_laplace(std::span<const KernelTriangle> triangles, const TargetGroup& targets,
                     double* sums, std::uint8_t* near_lanes) {
    add_triangles<LaplaceIntegrand>(triangles, targets, sums, near_lanes);
}
void parts_elastic(const PartBatch& parts, PartIntegrals& out) {
    integrate_batch<ElasticIntegrand>(parts, out);
}
void parts_laplace(const PartBatch& parts, PartIntegrals& out) {
    integrate_batch<LaplaceIntegrand>(parts, out);
}
void blocks_elastic(const double* sums, int num_nodes, const BlockFactors& factors,
                    const GroupRows& rows, double (*row_sums)[kTargetLanes]) {
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(TargetTag()));
    for (int lane = 0; lane < rows.num_targets; lane += kLanes)
        write_elastic(sums, num_nodes, factors, rows, lane, row_sums);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {
namespace {

/// Few numbers: nothing to gain from vectors.
void blocks_laplace(const double* sums, int num_nodes, const BlockFactors& factors,
                    const GroupRows& rows, double (*row_sums)[kTargetLanes]) {
    for (int lane = 0; lane < rows.num_targets; ++lane) row_sums[0][lane] = 0;
    for (int node = 0; node < num_nodes; ++node) {
        const auto column = static_cast<std::size_t>(node);
        const double* const from = sums + column * kLaplacePlanes * kTargetLanes;
        for (int lane = 0; lane < rows.num_targets; ++lane) {
            rows.G[column * rows.G_stride + static_cast<std::size_t>(lane)] =
                factors.displacement * from[lane];
            const double h = factors.traction * from[kTargetLanes + lane];
            rows.H[column * rows.H_stride + static_cast<std::size_t>(lane)] = h;
            row_sums[0][lane] += h;
        }
    }
}

}  // namespace

HWY_EXPORT(distant_elastic);
HWY_EXPORT(distant_laplace);
HWY_EXPORT(parts_elastic);
HWY_EXPORT(parts_laplace);
HWY_EXPORT(blocks_elastic);

void add_distant_triangles(bool is_elastic, std::span<const KernelTriangle> triangles,
                           const TargetGroup& targets, double* sums,
                           std::uint8_t* near_lanes) noexcept {
    if (is_elastic)
        HWY_DYNAMIC_DISPATCH(distant_elastic)(triangles, targets, sums, near_lanes);
    else
        HWY_DYNAMIC_DISPATCH(distant_laplace)(triangles, targets, sums, near_lanes);
}

void integrate_parts(bool is_elastic, const PartBatch& parts, PartIntegrals& out) noexcept {
    if (is_elastic)
        HWY_DYNAMIC_DISPATCH(parts_elastic)(parts, out);
    else
        HWY_DYNAMIC_DISPATCH(parts_laplace)(parts, out);
}

void write_blocks(bool is_elastic, const double* sums, int num_nodes, const BlockFactors& factors,
                  const GroupRows& rows, double (*row_sums)[kTargetLanes]) noexcept {
    if (is_elastic)
        HWY_DYNAMIC_DISPATCH(blocks_elastic)(sums, num_nodes, factors, rows, row_sums);
    else
        blocks_laplace(sums, num_nodes, factors, rows, row_sums);
}

}  // namespace pliant
#endif  // HWY_ONCE
