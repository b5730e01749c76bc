// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "particles/match_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "particles/match_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Four = hn::FixedTag<float, 4>;
using FourVec = hn::Vec<Four>;

/// Members are looked at two at a time where a register holds both.
#undef PLIANT_PAIRS
#if HWY_MAX_BYTES >= 32
#define PLIANT_PAIRS 1
using Eight = hn::FixedTag<float, 8>;
using EightVec = hn::Vec<Eight>;
HWY_INLINE EightVec load_two(const float* first, const float* second) {
    return hn::Combine(Eight(), hn::Load(Four(), second), hn::Load(Four(), first));
}
HWY_INLINE FourVec sum_of_halves(EightVec v) {
    return hn::Add(hn::LowerHalf(Four(), v), hn::UpperHalf(Four(), v));
}
#else
#define PLIANT_PAIRS 0
#endif

constexpr int kMaxTurns = 20;
/// Added to the matrix of a Newton step, where |A| is one: keeps thin groups solvable.
constexpr float kRegularisation = 1e-4f;
/// |ω|² at which a Newton step, or one of the plain iteration, was the last.
constexpr float kNewtonStop = 1e-7f, kPlainStop = 1e-12f;

template <class V>
struct Turning {
    V q[4];     // w x y z
    V A[3][3];  // row, column
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE void rotation_of(D d, const V* q, V R[3][3]) {
    const V one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
    const V x2 = hn::Mul(two, q[1]), y2 = hn::Mul(two, q[2]), z2 = hn::Mul(two, q[3]);
    const V wx = hn::Mul(x2, q[0]), wy = hn::Mul(y2, q[0]), wz = hn::Mul(z2, q[0]);
    const V xx = hn::Mul(x2, q[1]), xy = hn::Mul(x2, q[2]), xz = hn::Mul(x2, q[3]);
    const V yy = hn::Mul(y2, q[2]), yz = hn::Mul(y2, q[3]), zz = hn::Mul(z2, q[3]);
    R[0][0] = hn::Sub(one, hn::Add(yy, zz));
    R[0][1] = hn::Sub(xy, wz);
    R[0][2] = hn::Add(xz, wy);
    R[1][0] = hn::Add(xy, wz);
    R[1][1] = hn::Sub(one, hn::Add(xx, zz));
    R[1][2] = hn::Sub(yz, wx);
    R[2][0] = hn::Sub(xz, wy);
    R[2][1] = hn::Add(yz, wx);
    R[2][2] = hn::Sub(one, hn::Add(xx, yy));
}

/// One step towards the rotation of the polar decomposition, docs/particles.md eq. (6) where its
/// matrix is positive definite and (5) elsewhere. Returns the lanes that have settled.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Mask<D> turn_once(D d, Turning<V>& t) {
    V R[3][3];
    rotation_of(d, t.q, R);
    // B = A Rᵀ: symmetric and positive at the goal
    V B[3][3];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            B[i][k] = hn::MulAdd(t.A[i][2], R[k][2],
                                 hn::MulAdd(t.A[i][1], R[k][1], hn::Mul(t.A[i][0], R[k][0])));
    const V o[3] = {hn::Sub(B[2][1], B[1][2]), hn::Sub(B[0][2], B[2][0]),
                    hn::Sub(B[1][0], B[0][1])};
    const V trace = hn::Add(hn::Add(B[0][0], B[1][1]), B[2][2]);

    // H = tr(B) I − sym(B) + ε I and its adjugate
    const V half = hn::Set(d, 0.5f);
    const V lifted = hn::Add(trace, hn::Set(d, kRegularisation));
    const V h00 = hn::Sub(lifted, B[0][0]), h11 = hn::Sub(lifted, B[1][1]),
            h22 = hn::Sub(lifted, B[2][2]);
    const V h01 = hn::Mul(hn::Neg(half), hn::Add(B[0][1], B[1][0]));
    const V h02 = hn::Mul(hn::Neg(half), hn::Add(B[0][2], B[2][0]));
    const V h12 = hn::Mul(hn::Neg(half), hn::Add(B[1][2], B[2][1]));
    const V c00 = hn::NegMulAdd(h12, h12, hn::Mul(h11, h22));
    const V c01 = hn::NegMulAdd(h01, h22, hn::Mul(h02, h12));
    const V c02 = hn::NegMulAdd(h02, h11, hn::Mul(h01, h12));
    const V c11 = hn::NegMulAdd(h02, h02, hn::Mul(h00, h22));
    const V c12 = hn::NegMulAdd(h00, h12, hn::Mul(h01, h02));
    const V c22 = hn::NegMulAdd(h01, h01, hn::Mul(h00, h11));
    const V det = hn::MulAdd(h02, c02, hn::MulAdd(h01, c01, hn::Mul(h00, c00)));
    const V zero = hn::Zero(d);
    const auto is_newton =
        hn::And(hn::And(hn::Gt(h00, zero), hn::Gt(c22, zero)), hn::Gt(det, zero));

    const V scale =
        hn::Div(hn::Set(d, 1.0f), hn::IfThenElse(is_newton, hn::Max(det, hn::Set(d, 1e-37f)),
                                                 hn::Add(hn::Abs(trace), hn::Set(d, 1e-9f))));
    const V n0 = hn::MulAdd(c02, o[2], hn::MulAdd(c01, o[1], hn::Mul(c00, o[0])));
    const V n1 = hn::MulAdd(c12, o[2], hn::MulAdd(c11, o[1], hn::Mul(c01, o[0])));
    const V n2 = hn::MulAdd(c22, o[2], hn::MulAdd(c12, o[1], hn::Mul(c02, o[0])));
    V w[3] = {hn::Mul(scale, hn::IfThenElse(is_newton, n0, o[0])),
              hn::Mul(scale, hn::IfThenElse(is_newton, n1, o[1])),
              hn::Mul(scale, hn::IfThenElse(is_newton, n2, o[2]))};
    const V square = hn::MulAdd(w[2], w[2], hn::MulAdd(w[1], w[1], hn::Mul(w[0], w[0])));
    // at most a radian at a time; the half of ω as vector part of the turn
    const V shorten =
        hn::Mul(half, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::Max(square, hn::Set(d, 1.0f)))));
    for (V& component : w) component = hn::Mul(component, shorten);

    const V qw = t.q[0], qx = t.q[1], qy = t.q[2], qz = t.q[3];
    const V pw = hn::Sub(qw, hn::MulAdd(w[2], qz, hn::MulAdd(w[1], qy, hn::Mul(w[0], qx))));
    const V px = hn::Add(qx, hn::MulAdd(w[0], qw, hn::NegMulAdd(w[2], qy, hn::Mul(w[1], qz))));
    const V py = hn::Add(qy, hn::MulAdd(w[1], qw, hn::NegMulAdd(w[0], qz, hn::Mul(w[2], qx))));
    const V pz = hn::Add(qz, hn::MulAdd(w[2], qw, hn::NegMulAdd(w[1], qx, hn::Mul(w[0], qy))));
    const V norm =
        hn::Sqrt(hn::MulAdd(pw, pw, hn::MulAdd(px, px, hn::MulAdd(py, py, hn::Mul(pz, pz)))));
    const V inverse = hn::Div(hn::Set(d, 1.0f), norm);
    // a matrix that is not finite leaves the rotation as it was
    const auto is_sound = hn::And(hn::Gt(norm, hn::Set(d, 0.5f)), hn::Lt(norm, hn::Set(d, 4.0f)));
    t.q[0] = hn::IfThenElse(is_sound, hn::Mul(pw, inverse), qw);
    t.q[1] = hn::IfThenElse(is_sound, hn::Mul(px, inverse), qx);
    t.q[2] = hn::IfThenElse(is_sound, hn::Mul(py, inverse), qy);
    t.q[3] = hn::IfThenElse(is_sound, hn::Mul(pz, inverse), qz);
    return hn::Lt(square,
                  hn::IfThenElse(is_newton, hn::Set(d, kNewtonStop), hn::Set(d, kPlainStop)));
}

/// Moments and rotations of groups side by side: A by columns, q, then R by columns.
struct Lanes {
    HWY_ALIGN float A[9][kMatchLanes];  // [3 row + column], later R
    HWY_ALIGN float q[4][kMatchLanes];
    HWY_ALIGN float settled[kMatchLanes];
    HWY_ALIGN float centre[kMatchLanes][4];
    HWY_ALIGN float R[kMatchLanes][12];  // columns of four
};

HWY_INLINE void add_moments(const MatchGroups& groups, int g, int lane,
                            const MatchParticle* particles, const float* turns, Lanes& lanes) {
    const Four d;
    const int begin = groups.offsets[g], end = groups.offsets[g + 1];
    const int own = groups.members[begin];
    // positions from the own particle: what rounding leaves is that of the group, not of the scene
    const FourVec x0 = hn::Load(d, particles[own].x);
    FourVec c = hn::Zero(d), a0 = c, a1 = c, a2 = c;
    int k = begin;
#if PLIANT_PAIRS
    const EightVec x00 = hn::Combine(Eight(), x0, x0);
    EightVec c8 = hn::Zero(Eight()), b0 = c8, b1 = c8, b2 = c8;
    FourVec s0 = c, s1 = c, s2 = c;  // spreads of second members
    for (; k + 1 < end; k += 2) {
        const MatchParticle &p = particles[groups.members[k]],
                            &s = particles[groups.members[k + 1]];
        const EightVec r = hn::LoadU(Eight(), groups.rest + 4 * static_cast<std::size_t>(k));
        const EightVec mx = hn::Mul(hn::Broadcast<3>(r), hn::Sub(load_two(p.x, s.x), x00));
        c8 = hn::Add(c8, mx);
        b0 = hn::MulAdd(mx, hn::Broadcast<0>(r), b0);
        b1 = hn::MulAdd(mx, hn::Broadcast<1>(r), b1);
        b2 = hn::MulAdd(mx, hn::Broadcast<2>(r), b2);
        a0 = hn::Add(a0, hn::Load(d, p.a0));
        a1 = hn::Add(a1, hn::Load(d, p.a1));
        a2 = hn::Add(a2, hn::Load(d, p.a2));
        s0 = hn::Add(s0, hn::Load(d, s.a0));
        s1 = hn::Add(s1, hn::Load(d, s.a1));
        s2 = hn::Add(s2, hn::Load(d, s.a2));
    }
    c = sum_of_halves(c8);
    a0 = hn::Add(hn::Add(a0, s0), sum_of_halves(b0));
    a1 = hn::Add(hn::Add(a1, s1), sum_of_halves(b1));
    a2 = hn::Add(hn::Add(a2, s2), sum_of_halves(b2));
#endif
    for (; k < end; ++k) {
        const MatchParticle& p = particles[groups.members[k]];
        const float* const r = groups.rest + 4 * static_cast<std::size_t>(k);
        const FourVec mx = hn::Mul(hn::Set(d, r[3]), hn::Sub(hn::Load(d, p.x), x0));
        c = hn::Add(c, mx);
        a0 = hn::Add(a0, hn::MulAdd(mx, hn::Set(d, r[0]), hn::Load(d, p.a0)));
        a1 = hn::Add(a1, hn::MulAdd(mx, hn::Set(d, r[1]), hn::Load(d, p.a1)));
        a2 = hn::Add(a2, hn::MulAdd(mx, hn::Set(d, r[2]), hn::Load(d, p.a2)));
    }
    hn::Store(hn::MulAdd(c, hn::Set(d, groups.inverse_mass[g]), x0), d, lanes.centre[lane]);
    HWY_ALIGN float columns[12];
    hn::Store(a0, d, columns);
    hn::Store(a1, d, columns + 4);
    hn::Store(a2, d, columns + 8);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) lanes.A[3 * i + j][lane] = columns[4 * j + i];
    for (int i = 0; i < 4; ++i)
        lanes.q[i][lane] = turns[4 * static_cast<std::size_t>(own) + static_cast<std::size_t>(i)];
}

/// Rotations of all lanes, from A and q into A (as R) and q; whether each has settled.
HWY_INLINE void find_rotations(Lanes& lanes, int count, PolarFallback fallback) {
    const hn::CappedTag<float, kMatchLanes> d;
    using V = hn::Vec<decltype(d)>;
    for (std::size_t l = 0; l < static_cast<std::size_t>(count); l += hn::Lanes(d)) {
        Turning<V> t;
        for (int i = 0; i < 9; ++i) t.A[i / 3][i % 3] = hn::Load(d, lanes.A[i] + l);
        for (int i = 0; i < 4; ++i) t.q[i] = hn::Load(d, lanes.q[i] + l);
        // moments of any size and mass: only their direction counts
        V size = hn::Set(d, 1e-37f);
        for (auto& row : t.A)
            for (const V& a : row) size = hn::Add(size, hn::Abs(a));
        const V inverse_size = hn::Div(hn::Set(d, 1.0f), size);
        for (auto& row : t.A)
            for (V& a : row) a = hn::Mul(a, inverse_size);
        auto settled = turn_once(d, t);
        for (int k = 1; k < kMaxTurns && !hn::AllTrue(d, settled); ++k) settled = turn_once(d, t);
        for (int i = 0; i < 4; ++i) hn::Store(t.q[i], d, lanes.q[i] + l);
        hn::Store(hn::IfThenElse(settled, hn::Set(d, 1.0f), hn::Zero(d)), d, lanes.settled + l);
        if (!hn::AllTrue(d, settled)) {
            for (std::size_t k = l; k < l + hn::Lanes(d); ++k) {
                if (lanes.settled[k] != 0) continue;
                float A[9], q[4];
                for (int i = 0; i < 3; ++i)
                    for (int c = 0; c < 3; ++c) A[3 * c + i] = lanes.A[3 * i + c][k];
                if (!fallback(A, q)) continue;
                lanes.settled[k] = 1;
                for (int i = 0; i < 4; ++i) lanes.q[i][k] = q[i];
            }
            for (int i = 0; i < 4; ++i) t.q[i] = hn::Load(d, lanes.q[i] + l);
        }
        V R[3][3];
        rotation_of(d, t.q, R);
        for (int i = 0; i < 9; ++i) hn::Store(R[i / 3][i % 3], d, lanes.A[i] + l);
    }
    // all lanes before any is read: a vector does not wait for the single numbers it is made of
    for (int l = 0; l < count; ++l)
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < 3; ++i) lanes.R[l][4 * k + i] = lanes.A[3 * i + k][l];
            lanes.R[l][4 * k + 3] = 0;
        }
}

HWY_INLINE void pull(const MatchGroups& groups, int g, int lane, const Lanes& lanes,
                     MatchParticle* particles, float* turns) {
    const Four d;
    const int begin = groups.offsets[g], end = groups.offsets[g + 1];
    const float* const columns = lanes.R[lane];
    const FourVec R0 = hn::Load(d, columns), R1 = hn::Load(d, columns + 4),
                  R2 = hn::Load(d, columns + 8), c = hn::Load(d, lanes.centre[lane]);
    const float* const S = groups.spread + 8 * static_cast<std::size_t>(g);
    const FourVec deaf = hn::Set(d, S[6]);
    int k = begin;
#if PLIANT_PAIRS
    const Eight e;
    const EightVec R00 = hn::Combine(e, R0, R0), R11 = hn::Combine(e, R1, R1),
                   R22 = hn::Combine(e, R2, R2), cc = hn::Combine(e, c, c),
                   deaf_both = hn::Set(e, S[6]);
    for (; k + 1 < end; k += 2) {
        MatchParticle &p = particles[groups.members[k]], &s = particles[groups.members[k + 1]];
        const EightVec r = hn::LoadU(e, groups.rest + 4 * static_cast<std::size_t>(k));
        const EightVec goal = hn::MulAdd(
            R00, hn::Broadcast<0>(r),
            hn::MulAdd(R11, hn::Broadcast<1>(r), hn::MulAdd(R22, hn::Broadcast<2>(r), cc)));
        const EightVec x = load_two(p.x, s.x), step = hn::Sub(goal, x);
        const EightVec felt = hn::IfThenElseZero(hn::Gt(hn::Abs(step), deaf_both), step);
        const EightVec follow = hn::Broadcast<3>(load_two(p.a0, s.a0));
        const EightVec moved = hn::MulAdd(follow, felt, x);
        hn::Store(hn::LowerHalf(d, moved), d, p.x);
        hn::Store(hn::UpperHalf(d, moved), d, s.x);
    }
#endif
    for (; k < end; ++k) {
        MatchParticle& p = particles[groups.members[k]];
        const float* const r = groups.rest + 4 * static_cast<std::size_t>(k);
        const FourVec goal =
            hn::MulAdd(R0, hn::Set(d, r[0]),
                       hn::MulAdd(R1, hn::Set(d, r[1]), hn::MulAdd(R2, hn::Set(d, r[2]), c)));
        const FourVec x = hn::Load(d, p.x), step = hn::Sub(goal, x);
        // rounding must not become a force
        const FourVec felt = hn::IfThenElseZero(hn::Gt(hn::Abs(step), deaf), step);
        hn::Store(hn::MulAdd(hn::Set(d, p.a0[3]), felt, x), d, p.x);
    }
    // its own particle turns with the group: T S = R S
    const int own = groups.members[begin];
    MatchParticle& p = particles[own];
    const float follow = p.a0[3];
    if (follow == 0) return;  // held: a script turns it
    const auto column = [&](float s0, float s1, float s2) HWY_ATTR {
        return hn::MulAdd(R0, hn::Set(d, s0),
                          hn::MulAdd(R1, hn::Set(d, s1), hn::Mul(R2, hn::Set(d, s2))));
    };
    hn::Store(column(S[0], S[1], S[2]), d, p.a0);
    hn::Store(column(S[1], S[3], S[4]), d, p.a1);
    hn::Store(column(S[2], S[4], S[5]), d, p.a2);
    p.a0[3] = follow;
    for (int i = 0; i < 4; ++i)
        turns[4 * static_cast<std::size_t>(own) + static_cast<std::size_t>(i)] = lanes.q[i][lane];
}

int match(const MatchGroups& groups, int begin, int end, MatchParticle* particles, float* turns,
          PolarFallback fallback) {
    Lanes lanes;
    const int count = end - begin;
    for (int l = 0; l < count; ++l) add_moments(groups, begin + l, l, particles, turns, lanes);
    // lanes without a group: already where they belong
    for (int l = count; l < kMatchLanes; ++l) {
        for (int i = 0; i < 9; ++i) lanes.A[i][l] = i % 4 == 0 ? 1.0f : 0.0f;
        for (int i = 0; i < 4; ++i) lanes.q[i][l] = i == 0 ? 1.0f : 0.0f;
    }
    find_rotations(lanes, count, fallback);
    int num_unsettled = 0;
    for (int l = 0; l < count; ++l) {
        pull(groups, begin + l, l, lanes, particles, turns);
        num_unsettled += lanes.settled[l] == 0 ? 1 : 0;
    }
    return num_unsettled;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(match);

int match_groups(const MatchGroups& groups, int begin, int end, MatchParticle* particles,
                 float* turns, PolarFallback fallback) noexcept {
    return HWY_DYNAMIC_DISPATCH(match)(groups, begin, end, particles, turns, fallback);
}

}  // namespace pliant
#endif
