// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "contact/contact_kernels.h"

#include <cstddef>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/contact_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIANT_UNROLL
#define PLIANT_UNROLL _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using Tag = hn::CappedTag<float, 8>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
/// A group (x y z 0) of a row fills one of these, except on scalar machines.
using GroupTag = hn::CappedTag<float, 4>;
constexpr int kGroupLanes = static_cast<int>(hn::MaxLanes(GroupTag()));

using WideTag = hn::CappedTag<double, 8>;
using Wide = hn::Vec<WideTag>;
constexpr int kWideLanes = static_cast<int>(hn::MaxLanes(WideTag()));
using NarrowTag = hn::Rebind<float, WideTag>;

HWY_INLINE Wide widen(const float* p) {
    return hn::PromoteTo(WideTag(), hn::LoadU(NarrowTag(), p));
}
HWY_INLINE double sum(Wide v) { return hn::GetLane(hn::SumOfLanes(WideTag(), v)); }

struct Triple {
    Vector x, y, z;
};
HWY_INLINE Triple turn(const float* rotation, const Triple& v) {
    const Tag tag;
    const auto row = [&](int i) {
        const float* m = rotation + 3 * i;
        return hn::MulAdd(hn::Set(tag, m[0]), v.x,
                          hn::MulAdd(hn::Set(tag, m[1]), v.y, hn::Mul(hn::Set(tag, m[2]), v.z)));
    };
    return {row(0), row(1), row(2)};
}
HWY_INLINE Triple normalize(const Triple& v) {
    const Tag tag;
    const Vector square = hn::MulAdd(v.x, v.x, hn::MulAdd(v.y, v.y, hn::Mul(v.z, v.z)));
    // also false for lengths that are not finite
    const auto is_good =
        hn::And(hn::Gt(square, hn::Set(tag, 1e-30f)), hn::Lt(square, hn::Set(tag, 1e30f)));
    const Vector scale = hn::IfThenElseZero(is_good, hn::Div(hn::Set(tag, 1.0f), hn::Sqrt(square)));
    const auto scaled = [&](Vector a) { return hn::IfThenElseZero(is_good, hn::Mul(a, scale)); };
    return {scaled(v.x), scaled(v.y), scaled(v.z)};
}

/// Σ row · q over groups: (x y z 0) into out[0 … 3].
HWY_INLINE void sum_groups(const float* row, const float* q_groups, int stride, float* out) {
    const GroupTag tag;
    for (int lane = 0; lane < 4; lane += kGroupLanes) {
        auto even = hn::Mul(hn::LoadU(tag, row + lane), hn::LoadU(tag, q_groups + lane));
        auto odd = hn::Zero(tag);
        // strides are 4, or a multiple of 16
        for (int i = 4 + lane; i < stride; i += 4) {
            const auto a = hn::LoadU(tag, row + i), b = hn::LoadU(tag, q_groups + i);
            if (i & 4)
                odd = hn::MulAdd(a, b, odd);
            else
                even = hn::MulAdd(a, b, even);
        }
        hn::StoreU(hn::Add(even, odd), tag, out + lane);
    }
}

HWY_INLINE int padded_count(const LoadRows& rows) { return (rows.count + 7) / 8 * 8; }

struct WideTriple {
    Wide x, y, z;
};
HWY_INLINE WideTriple cross(const WideTriple& a, const WideTriple& b) {
    return {hn::MulSub(a.y, b.z, hn::Mul(a.z, b.y)), hn::MulSub(a.z, b.x, hn::Mul(a.x, b.z)),
            hn::MulSub(a.x, b.y, hn::Mul(a.y, b.x))};
}
HWY_INLINE WideTriple arms(const LoadRows& rows, int i) {
    return {widen(rows.x + i), widen(rows.y + i), widen(rows.z + i)};
}
HWY_INLINE WideTriple directions(const LoadRows& rows, int i) {
    return {widen(rows.dx + i), widen(rows.dy + i), widen(rows.dz + i)};
}

/// T v of all rows, components apart.
HWY_INLINE void turn_directions(const LoadRows& rows, const float* rotation,
                                float (*out)[kLoadBatch]) {
    const Tag tag;
    for (int i = 0; i < padded_count(rows); i += kLanes) {
        const Triple v = turn(rotation, {hn::Load(tag, rows.dx + i), hn::Load(tag, rows.dy + i),
                                         hn::Load(tag, rows.dz + i)});
        hn::Store(v.x, tag, out[0] + i);
        hn::Store(v.y, tag, out[1] + i);
        hn::Store(v.z, tag, out[2] + i);
    }
}

/// products: w of each row, `length` apart.
HWY_INLINE void mode_products(const LoadRows& rows, const float* rotation, const ModeRows& modes,
                              int length, float* products) {
    const GroupTag tag;
    constexpr int kAhead = 4;
    HWY_ALIGN float v[3][kLoadBatch];
    turn_directions(rows, rotation, v);
    const auto row = [&](int i) {
        return modes.rows +
               static_cast<std::size_t>(rows.node[i]) * static_cast<std::size_t>(modes.stride);
    };
    const int num_groups = modes.stride / 4;
    for (int i = 0; i < rows.count; ++i) {
        if (i + kAhead < rows.count)
            for (int line = 0; line < modes.stride; line += 16)
                hwy::Prefetch(row(i + kAhead) + line);
        const float* u = row(i);
        float* w = products + static_cast<std::size_t>(i) * static_cast<std::size_t>(length);
        const auto x = hn::Set(tag, v[0][i]), y = hn::Set(tag, v[1][i]), z = hn::Set(tag, v[2][i]);
        for (int j = 0; j < num_groups; j += kGroupLanes) {
            hn::Vec<GroupTag> ux, uy, uz, unused;
            hn::LoadInterleaved4(tag, u + 4 * j, ux, uy, uz, unused);
            hn::Store(hn::MulAdd(ux, x, hn::MulAdd(uy, y, hn::Mul(uz, z))), tag, w + j);
        }
    }
}

/// Four rows and two vectors of columns of Σ s w wᵀ, added to `out` in double precision.
HWY_INLINE void add_tile(const LoadRows& rows, const float* products, int length, int row,
                         int column, double* out) {
    const Tag tag;
    Vector sums[4][2];
    PLIANT_UNROLL for (int k = 0; k < 4; ++k) sums[k][0] = sums[k][1] = hn::Zero(tag);
    for (int i = 0; i < rows.count; ++i) {
        const float* w = products + static_cast<std::size_t>(i) * static_cast<std::size_t>(length);
        const Vector s = hn::Set(tag, rows.stiffness[i]);
        const Vector a = hn::Mul(s, hn::Load(tag, w + column));
        const Vector b = hn::Mul(s, hn::Load(tag, w + column + kLanes));
        PLIANT_UNROLL for (int k = 0; k < 4; ++k) {
            const Vector left = hn::Set(tag, w[row + k]);
            sums[k][0] = hn::MulAdd(left, a, sums[k][0]);
            sums[k][1] = hn::MulAdd(left, b, sums[k][1]);
        }
    }
    HWY_ALIGN float tile[2 * kLanes];
    for (int k = 0; k < 4; ++k) {
        hn::Store(sums[k][0], tag, tile);
        hn::Store(sums[k][1], tag, tile + kLanes);
        double* place =
            out + static_cast<std::size_t>(row + k) * static_cast<std::size_t>(length) + column;
        for (int c = 0; c < 2 * kLanes; ++c) place[c] += static_cast<double>(tile[c]);
    }
}

}  // namespace

void run_contact_normals(const float* normal_rows, int stride, const float* q_groups,
                         const int* points, int count, const float* rotation, float* nx, float* ny,
                         float* nz) {
    const Tag tag;
    constexpr int kAhead = 4;
    HWY_ALIGN float raw[4 * kLoadBatch];
    HWY_ALIGN float unit[3][kLoadBatch];
    const auto row = [&](int i) {
        return normal_rows + static_cast<std::size_t>(points[i]) * static_cast<std::size_t>(stride);
    };
    for (int first = 0; first < count; first += kLoadBatch) {
        const int size = HWY_MIN(kLoadBatch, count - first);
        for (int i = 0; i < size; ++i) {
            if (first + i + kAhead < count)
                for (int line = 0; line < stride; line += 16)
                    hwy::Prefetch(row(first + i + kAhead) + line);
            sum_groups(row(first + i), q_groups, stride, raw + 4 * i);
        }
        const int padded = (size + 7) / 8 * 8;
        for (int i = 4 * size; i < 4 * padded; ++i) raw[i] = 0;
        for (int i = 0; i < padded; i += kLanes) {
            Triple n;
            Vector unused;
            hn::LoadInterleaved4(tag, raw + 4 * i, n.x, n.y, n.z, unused);
            n = normalize(turn(rotation, n));
            hn::Store(n.x, tag, unit[0] + i);
            hn::Store(n.y, tag, unit[1] + i);
            hn::Store(n.z, tag, unit[2] + i);
        }
        const auto bytes = static_cast<std::size_t>(size) * sizeof(float);
        std::memcpy(nx + first, unit[0], bytes);
        std::memcpy(ny + first, unit[1], bytes);
        std::memcpy(nz + first, unit[2], bytes);
    }
}

void run_normalize_vectors(int count, float* x, float* y, float* z) {
    const Tag tag;
    const auto apply = [&](float* a, float* b, float* c) {
        const Triple n = normalize({hn::LoadU(tag, a), hn::LoadU(tag, b), hn::LoadU(tag, c)});
        hn::StoreU(n.x, tag, a);
        hn::StoreU(n.y, tag, b);
        hn::StoreU(n.z, tag, c);
    };
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) apply(x + i, y + i, z + i);
    for (; i < count; ++i) {
        HWY_ALIGN float a[kLanes] = {x[i]}, b[kLanes] = {y[i]}, c[kLanes] = {z[i]};
        apply(a, b, c);
        x[i] = a[0];
        y[i] = b[0];
        z[i] = c[0];
    }
}

void run_add_normal_moments(const float* nx, const float* ny, const float* nz, int count,
                            double* moments) {
    const WideTag tag;
    Wide sums[6];
    for (Wide& s : sums) s = hn::Zero(tag);
    const auto add = [&](Wide x, Wide y, Wide z) {
        sums[0] = hn::MulAdd(x, x, sums[0]);
        sums[1] = hn::MulAdd(x, y, sums[1]);
        sums[2] = hn::MulAdd(x, z, sums[2]);
        sums[3] = hn::MulAdd(y, y, sums[3]);
        sums[4] = hn::MulAdd(y, z, sums[4]);
        sums[5] = hn::MulAdd(z, z, sums[5]);
    };
    int i = 0;
    for (; i + kWideLanes <= count; i += kWideLanes)
        add(widen(nx + i), widen(ny + i), widen(nz + i));
    if (i < count) {
        HWY_ALIGN float rest[3][kWideLanes] = {};
        for (int lane = 0; i + lane < count; ++lane) {
            rest[0][lane] = nx[i + lane];
            rest[1][lane] = ny[i + lane];
            rest[2][lane] = nz[i + lane];
        }
        add(widen(rest[0]), widen(rest[1]), widen(rest[2]));
    }
    for (int k = 0; k < 6; ++k) moments[k] += sum(sums[k]);
}

double run_weigh_rows(const NormalLaw& law, const float* distance, LoadRows& rows) {
    const Tag tag;
    const Vector k = hn::Set(tag, law.stiffness), zero = hn::Zero(tag);
    const auto m = [&](int i) { return hn::Set(tag, law.moments[i]); };
    double energy = 0;
    for (int i = 0; i < padded_count(rows); i += kLanes) {
        const Vector x = hn::Load(tag, rows.dx + i), y = hn::Load(tag, rows.dy + i),
                     z = hn::Load(tag, rows.dz + i), d = hn::LoadU(tag, distance + i);
        Vector s = k;
        if (law.scaling_count > 0) {
            // l = nᵀ M n, eq. (12); where it is below L the weight is one
            const Vector count = hn::Set(tag, law.scaling_count);
            const Vector mx = hn::MulAdd(m(0), x, hn::MulAdd(m(1), y, hn::Mul(m(2), z)));
            const Vector my = hn::MulAdd(m(1), x, hn::MulAdd(m(3), y, hn::Mul(m(4), z)));
            const Vector mz = hn::MulAdd(m(2), x, hn::MulAdd(m(4), y, hn::Mul(m(5), z)));
            const Vector l = hn::MulAdd(x, mx, hn::MulAdd(y, my, hn::Mul(z, mz)));
            s = hn::Mul(k, hn::Div(count, hn::Max(l, count)));
        }
        // places beyond the last contact stay without stiffness
        s = hn::IfThenElseZero(hn::Lt(d, zero), s);
        Vector force = hn::Neg(hn::Mul(s, d));
        if (law.cap_depth > 0) {
            // eq. (12a): what is deeper than the cap
            const Vector excess = hn::Neg(hn::Add(d, hn::Set(tag, law.cap_depth)));
            const Vector more =
                hn::IfThenElseZero(hn::Gt(excess, zero), hn::Set(tag, law.cap_stiffness));
            force = hn::MulAdd(more, excess, force);
            s = hn::Add(s, more);
        }
        hn::Store(s, tag, rows.stiffness + i);
        hn::Store(force, tag, rows.load + i);
    }
    for (int i = 0; i < rows.count; ++i)
        energy -= 0.5 * static_cast<double>(rows.load[i]) * static_cast<double>(distance[i]);
    // ½ (load) (depth) counts the cap from the surface on
    for (int i = 0; law.cap_depth > 0 && i < rows.count; ++i)
        if (const float excess = -distance[i] - law.cap_depth; excess > 0)
            energy -= 0.5 * static_cast<double>(law.cap_stiffness) * static_cast<double>(excess) *
                      static_cast<double>(law.cap_depth);
    return energy;
}

void run_add_stiffness_sums(const LoadRows& rows, double* out) {
    Wide sums[kNumStiffnessSums];
    for (Wide& s : sums) s = hn::Zero(WideTag());
    for (int i = 0; i < padded_count(rows); i += kWideLanes) {
        const WideTriple v = directions(rows, i), t = cross(arms(rows, i), v);
        const Wide s = widen(rows.stiffness + i);
        const Wide J[6] = {v.x, v.y, v.z, t.x, t.y, t.z};
        int k = 0;
        PLIANT_UNROLL for (int a = 0; a < 6; ++a) {
            const Wide left = hn::Mul(s, J[a]);
            PLIANT_UNROLL for (int b = a; b < 6; ++b, ++k) sums[k] =
                hn::MulAdd(left, J[b], sums[k]);
        }
    }
    for (int k = 0; k < kNumStiffnessSums; ++k) out[k] += sum(sums[k]);
}

void run_add_force_sums(const LoadRows& rows, double* out) {
    Wide sums[kNumForceSums];
    for (Wide& s : sums) s = hn::Zero(WideTag());
    for (int i = 0; i < padded_count(rows); i += kWideLanes) {
        const WideTriple v = directions(rows, i), p = arms(rows, i);
        const Wide c = widen(rows.load + i);
        const Wide force[3] = {hn::Mul(c, v.x), hn::Mul(c, v.y), hn::Mul(c, v.z)};
        PLIANT_UNROLL for (int a = 0; a < 3; ++a) {
            sums[a] = hn::Add(sums[a], force[a]);
            sums[3 + 3 * a] = hn::MulAdd(force[a], p.x, sums[3 + 3 * a]);
            sums[4 + 3 * a] = hn::MulAdd(force[a], p.y, sums[4 + 3 * a]);
            sums[5 + 3 * a] = hn::MulAdd(force[a], p.z, sums[5 + 3 * a]);
        }
    }
    for (int k = 0; k < kNumForceSums; ++k) out[k] += sum(sums[k]);
}

void run_add_gradient_sums(const LoadRows& rows, const float* gx, const float* gy, const float* gz,
                           double* out) {
    Wide sums[kNumGradientSums];
    for (Wide& s : sums) s = hn::Zero(WideTag());
    for (int i = 0; i < padded_count(rows); i += kWideLanes) {
        const WideTriple p = arms(rows, i), v = directions(rows, i), t = cross(p, v);
        const WideTriple g = {widen(gx + i), widen(gy + i), widen(gz + i)}, u = cross(p, g);
        const Wide s = widen(rows.stiffness + i);
        const Wide J[6] = {v.x, v.y, v.z, t.x, t.y, t.z}, G[6] = {g.x, g.y, g.z, u.x, u.y, u.z};
        PLIANT_UNROLL for (int a = 0; a < 6; ++a) {
            const Wide left = hn::Mul(s, J[a]);
            PLIANT_UNROLL for (int b = 0; b < 6; ++b) sums[6 * a + b] =
                hn::MulAdd(left, G[b], sums[6 * a + b]);
        }
    }
    for (int k = 0; k < kNumGradientSums; ++k) out[k] += sum(sums[k]);
}

void run_add_point_forces(const LoadRows& rows, const int* at, const float* rotation,
                          float* force) {
    HWY_ALIGN float v[3][kLoadBatch];
    turn_directions(rows, rotation, v);
    for (int i = 0; i < rows.count; ++i) {
        float* f = force + 3 * static_cast<std::size_t>(at[i]);
        for (int k = 0; k < 3; ++k) f[k] += rows.load[i] * v[k][i];
    }
}

void run_add_reduced_sums(const LoadRows& rows, const float* rotation, const ModeRows& modes,
                          float* products, double* load, double* stiffness) {
    const WideTag tag;
    const int length = padded_rank(modes.r);
    mode_products(rows, rotation, modes, length, products);
    for (int j = 0; j < modes.r; j += kWideLanes) {
        Wide f = hn::LoadU(tag, load + j);
        for (int i = 0; i < rows.count; ++i) {
            const float* w =
                products + static_cast<std::size_t>(i) * static_cast<std::size_t>(length) + j;
            f = hn::MulAdd(hn::Set(tag, static_cast<double>(rows.load[i])), widen(w), f);
        }
        hn::StoreU(f, tag, load + j);
    }
    for (int row = 0; row < modes.r; row += 4)
        for (int column = 0; column < modes.r; column += 2 * kLanes)
            if (column + 2 * kLanes > row) add_tile(rows, products, length, row, column, stiffness);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(run_contact_normals);
HWY_EXPORT(run_normalize_vectors);
HWY_EXPORT(run_add_normal_moments);
HWY_EXPORT(run_weigh_rows);
HWY_EXPORT(run_add_stiffness_sums);
HWY_EXPORT(run_add_force_sums);
HWY_EXPORT(run_add_gradient_sums);
HWY_EXPORT(run_add_point_forces);
HWY_EXPORT(run_add_reduced_sums);

void contact_normals(const float* normal_rows, int stride, const float* q_groups, const int* points,
                     int count, const float* rotation, float* nx, float* ny, float* nz) noexcept {
    HWY_DYNAMIC_DISPATCH(run_contact_normals)
    (normal_rows, stride, q_groups, points, count, rotation, nx, ny, nz);
}
void normalize_vectors(int count, float* x, float* y, float* z) noexcept {
    HWY_DYNAMIC_DISPATCH(run_normalize_vectors)(count, x, y, z);
}
void add_normal_moments(const float* nx, const float* ny, const float* nz, int count,
                        double* moments) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add_normal_moments)(nx, ny, nz, count, moments);
}
double weigh_rows(const NormalLaw& law, const float* distance, LoadRows& rows) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_weigh_rows)(law, distance, rows);
}
void add_stiffness_sums(const LoadRows& rows, double* sums) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add_stiffness_sums)(rows, sums);
}
void add_force_sums(const LoadRows& rows, double* sums) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add_force_sums)(rows, sums);
}
void add_gradient_sums(const LoadRows& rows, const float* gx, const float* gy, const float* gz,
                       double* sums) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add_gradient_sums)(rows, gx, gy, gz, sums);
}
void add_point_forces(const LoadRows& rows, const int* at, const float* rotation,
                      float* force) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add_point_forces)(rows, at, rotation, force);
}
void add_reduced_sums(const LoadRows& rows, const float* rotation, const ModeRows& modes,
                      float* products, double* load, double* stiffness) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add_reduced_sums)(rows, rotation, modes, products, load, stiffness);
}

}  // namespace pliant
#endif
