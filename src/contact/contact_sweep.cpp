// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "contact/contact_sweep.h"

#include <cstddef>
#include <initializer_list>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/contact_sweep.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using SweepTag = hn::CappedTag<double, 8>;
constexpr int kSweepLanes = static_cast<int>(hn::MaxLanes(SweepTag()));

HWY_INLINE hn::Vec<SweepTag> widen_modes(const float* p) {
    return hn::PromoteTo(SweepTag(), hn::LoadU(hn::Rebind<float, SweepTag>(), p));
}

struct Arrow {
    double x, y, z;
};
HWY_INLINE Arrow arrow_at(const double* v) { return {v[0], v[1], v[2]}; }
HWY_INLINE Arrow operator+(Arrow a, Arrow b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
HWY_INLINE Arrow operator-(Arrow a, Arrow b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
HWY_INLINE Arrow operator*(double s, Arrow a) { return {s * a.x, s * a.y, s * a.z}; }
HWY_INLINE double dot(Arrow a, Arrow b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HWY_INLINE Arrow cross(Arrow a, Arrow b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// A v of a matrix by columns.
HWY_INLINE Arrow product(const double* A, Arrow v) {
    return v.x * arrow_at(A) + v.y * arrow_at(A + 3) + v.z * arrow_at(A + 6);
}
HWY_INLINE Arrow product_transposed(const double* A, Arrow v) {
    return {dot(arrow_at(A), v), dot(arrow_at(A + 3), v), dot(arrow_at(A + 6), v)};
}
HWY_INLINE void add_to(double* v, Arrow a) {
    v[0] += a.x;
    v[1] += a.y;
    v[2] += a.z;
}
/// Of a and b; a where b is not a number.
HWY_INLINE double larger(double a, double b) { return a < b ? b : a; }
HWY_INLINE double size_of(double a) { return a < 0 ? -a : a; }
HWY_INLINE double square_root(double a) {
    return hn::GetLane(hn::Sqrt(hn::Set(hn::CappedTag<double, 1>(), a)));
}

/// Of the point at p with the modes U: v + ω × r + R U rates.
HWY_INLINE Arrow velocity_at(const SweepBody& body, Arrow p, const float* modes) {
    const Arrow v =
        arrow_at(body.linear) + cross(arrow_at(body.angular), p - arrow_at(body.centre));
    if (modes == nullptr) return v;
    const SweepTag tag;
    auto x = hn::Zero(tag), y = x, z = x;
    for (int i = 0; i < body.length; i += kSweepLanes) {
        const auto rate = hn::Load(tag, body.rates + i);
        x = hn::MulAdd(widen_modes(modes + i), rate, x);
        y = hn::MulAdd(widen_modes(modes + body.length + i), rate, y);
        z = hn::MulAdd(widen_modes(modes + 2 * body.length + i), rate, z);
    }
    const Arrow bend{hn::GetLane(hn::SumOfLanes(tag, x)), hn::GetLane(hn::SumOfLanes(tag, y)),
                     hn::GetLane(hn::SumOfLanes(tag, z))};
    return v + product(body.rotation, bend);
}

/// rates += diag(response) Uᵀ Rᵀ impulse, and the frame. Nothing happens to prescribed bodies,
/// which pairs share.
HWY_INLINE void push(const SweepBody& body, Arrow p, const float* modes, Arrow impulse) {
    if (body.has_frame) {
        add_to(body.linear, body.inverse_mass * impulse);
        add_to(body.angular,
               product(body.inverse_inertia, cross(p - arrow_at(body.centre), impulse)));
    }
    if (modes == nullptr) return;
    const SweepTag tag;
    const Arrow along = product_transposed(body.rotation, impulse);
    const auto x = hn::Set(tag, along.x), y = hn::Set(tag, along.y), z = hn::Set(tag, along.z);
    for (int i = 0; i < body.length; i += kSweepLanes) {
        const auto load =
            hn::MulAdd(widen_modes(modes + i), x,
                       hn::MulAdd(widen_modes(modes + body.length + i), y,
                                  hn::Mul(widen_modes(modes + 2 * body.length + i), z)));
        hn::Store(hn::MulAdd(hn::Load(tag, body.response + i), load, hn::Load(tag, body.rates + i)),
                  tag, body.rates + i);
    }
}

HWY_INLINE void push_both(const SweepPair& pair, const SweepRow& row, Arrow impulse) {
    const Arrow p = arrow_at(row.p);
    push(pair.shell, p, row.shell_modes, impulse);
    push(pair.field, p, row.field_modes, -1.0 * impulse);
}

/// Tangential force within the cone of friction, eq. (30), at the relative velocity v; adds the
/// change of force.
HWY_INLINE void sweep_friction(SweepRow& row, const double* v, const SweepOptions& options,
                               Arrow& change, double& largest_change) {
    double f[2];
    for (int i = 0; i < 2; ++i) {
        const double residual =
            row.f[i + 1] * row.tangential_softness + row.stretch[i] + options.reach * v[i];
        f[i] = row.f[i + 1] - residual * row.tangential_gain;
    }
    // without a branch, which would be guessed wrong for every third contact
    const double size = square_root(f[0] * f[0] + f[1] * f[1]), limit = options.friction * row.f[0];
    row.is_sliding = size > limit;
    const double ratio = limit / larger(size, 1e-300), scale = ratio < 1 ? ratio : 1;
    for (int i = 0; i < 2; ++i) {
        const double next = scale * f[i], difference = next - row.f[i + 1];
        change = change + difference * arrow_at(row.e[i + 1]);
        largest_change = larger(largest_change, size_of(difference));
        row.f[i + 1] = next;
    }
}

/// Rows of all pairs are more than a cache holds: so many are called before they are needed.
constexpr int kRowsAhead = 4;

HWY_INLINE void prefetch_lines(const void* begin, std::size_t size) {
    for (std::size_t at = 0; at < size; at += 64)
        hwy::Prefetch(static_cast<const char*>(begin) + at);
}

HWY_INLINE void sweep_row(const SweepPair& pair, SweepRow& row, const SweepOptions& options,
                          SweepChange& result) {
    const Arrow p = arrow_at(row.p);
    const Arrow v =
        velocity_at(pair.shell, p, row.shell_modes) - velocity_at(pair.field, p, row.field_modes);
    const double residual =
        row.f[0] * row.softness + row.distance + options.reach * dot(arrow_at(row.e[0]), v);
    const double f = larger(0, row.f[0] - residual * row.gain);
    const double difference = f - row.f[0];
    row.f[0] = f;
    Arrow change = difference * arrow_at(row.e[0]);
    double largest_change = size_of(difference);
    if (options.friction > 0) {
        // at the velocity that the new normal force brings about
        const double impulse = options.dt * difference;
        const double along[2] = {dot(arrow_at(row.e[1]), v) + impulse * row.coupling[0],
                                 dot(arrow_at(row.e[2]), v) + impulse * row.coupling[1]};
        sweep_friction(row, along, options, change, largest_change);
    }
    if (largest_change > 0) push_both(pair, row, options.dt * change);
    result.change = larger(result.change, largest_change);
    result.largest = larger(result.largest, f);
    result.speed = larger(result.speed, size_of(difference) / (row.gain * options.reach));
}

void run_start(const SweepPair& pair, const SweepOptions& options) {
    for (int i = 0; i < pair.count; ++i) {
        const SweepRow& row = pair.rows[i];
        if (row.f[0] == 0 && row.f[1] == 0 && row.f[2] == 0) continue;
        const Arrow force = row.f[0] * arrow_at(row.e[0]) + row.f[1] * arrow_at(row.e[1]) +
                            row.f[2] * arrow_at(row.e[2]);
        push_both(pair, row, options.dt * force);
    }
}

void run_add(const SweepPair& pair, const double (*changes)[3], const SweepOptions& options) {
    for (int i = 0; i < pair.count; ++i) {
        SweepRow& row = pair.rows[i];
        Arrow force{0, 0, 0};
        for (int k = 0; k < 3; ++k) {
            row.f[k] += changes[i][k];
            force = force + changes[i][k] * arrow_at(row.e[k]);
        }
        push_both(pair, row, options.dt * force);
    }
}

void run_prefetch(const SweepPair& pair) {
    prefetch_lines(pair.rows, kRowsAhead * sizeof(SweepRow));
    for (const SweepBody* body : {&pair.shell, &pair.field}) {
        const std::size_t size = sizeof(double) * static_cast<std::size_t>(body->length);
        prefetch_lines(body->rates, size);
        prefetch_lines(body->response, size);
        prefetch_lines(body->linear, 1);
        prefetch_lines(body->centre, 1);
        prefetch_lines(body->rotation, 1);
        prefetch_lines(body->inverse_inertia, 1);
    }
}

SweepChange run_sweep(const SweepPair& pair, const SweepOptions& options) {
    SweepChange result;
    for (int i = 0; i < pair.count; ++i) {
        prefetch_lines(pair.rows + i + kRowsAhead, sizeof(SweepRow));
        sweep_row(pair, pair.rows[i], options, result);
    }
    return result;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(run_prefetch);
HWY_EXPORT(run_start);
HWY_EXPORT(run_add);
HWY_EXPORT(run_sweep);

void prefetch_contacts(const SweepPair& pair) noexcept { HWY_DYNAMIC_DISPATCH(run_prefetch)(pair); }
void start_contacts(const SweepPair& pair, const SweepOptions& options) noexcept {
    HWY_DYNAMIC_DISPATCH(run_start)(pair, options);
}
void add_forces(const SweepPair& pair, const double (*changes)[3],
                const SweepOptions& options) noexcept {
    HWY_DYNAMIC_DISPATCH(run_add)(pair, changes, options);
}
SweepChange sweep_contacts(const SweepPair& pair, const SweepOptions& options) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_sweep)(pair, options);
}

}  // namespace pliant
#endif
