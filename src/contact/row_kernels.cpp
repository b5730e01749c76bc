// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "contact/row_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

HWY_INLINE Vector widen(const float* p) {
    return hn::PromoteTo(Tag(), hn::LoadU(hn::Rebind<float, Tag>(), p));
}
HWY_INLINE double sum(Vector v) { return hn::GetLane(hn::SumOfLanes(Tag(), v)); }

void run_point_velocity(const float* modes, const double* rates, int length, double* velocity) {
    const Tag tag;
    Vector x = hn::Zero(tag), y = x, z = x;
    for (int i = 0; i < length; i += kLanes) {
        const Vector rate = hn::LoadU(tag, rates + i);
        x = hn::MulAdd(widen(modes + i), rate, x);
        y = hn::MulAdd(widen(modes + length + i), rate, y);
        z = hn::MulAdd(widen(modes + 2 * length + i), rate, z);
    }
    velocity[0] = sum(x);
    velocity[1] = sum(y);
    velocity[2] = sum(z);
}

void run_push_point(const float* modes, const double* response, const double* impulse, int length,
                    double* rates) {
    const Tag tag;
    const Vector px = hn::Set(tag, impulse[0]), py = hn::Set(tag, impulse[1]),
                 pz = hn::Set(tag, impulse[2]);
    for (int i = 0; i < length; i += kLanes) {
        const Vector along = hn::MulAdd(
            widen(modes + i), px,
            hn::MulAdd(widen(modes + length + i), py, hn::Mul(widen(modes + 2 * length + i), pz)));
        hn::StoreU(hn::MulAdd(hn::LoadU(tag, response + i), along, hn::LoadU(tag, rates + i)), tag,
                   rates + i);
    }
}

void run_point_response(const float* modes, const double* response, int length, double* sums) {
    const Tag tag;
    Vector s[6];
    for (Vector& v : s) v = hn::Zero(tag);
    for (int i = 0; i < length; i += kLanes) {
        const Vector d = hn::LoadU(tag, response + i);
        const Vector x = widen(modes + i), y = widen(modes + length + i),
                     z = widen(modes + 2 * length + i);
        const Vector dx = hn::Mul(d, x), dy = hn::Mul(d, y), dz = hn::Mul(d, z);
        s[0] = hn::MulAdd(dx, x, s[0]);
        s[1] = hn::MulAdd(dx, y, s[1]);
        s[2] = hn::MulAdd(dx, z, s[2]);
        s[3] = hn::MulAdd(dy, y, s[3]);
        s[4] = hn::MulAdd(dy, z, s[4]);
        s[5] = hn::MulAdd(dz, z, s[5]);
    }
    for (int k = 0; k < 6; ++k) sums[k] = sum(s[k]);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(run_point_velocity);
HWY_EXPORT(run_push_point);
HWY_EXPORT(run_point_response);

void point_velocity(const float* modes, const double* rates, int length,
                    double* velocity) noexcept {
    HWY_DYNAMIC_DISPATCH(run_point_velocity)(modes, rates, length, velocity);
}
void push_point(const float* modes, const double* response, const double* impulse, int length,
                double* rates) noexcept {
    HWY_DYNAMIC_DISPATCH(run_push_point)(modes, response, impulse, length, rates);
}
void point_response(const float* modes, const double* response, int length, double* sums) noexcept {
    HWY_DYNAMIC_DISPATCH(run_point_response)(modes, response, length, sums);
}

}  // namespace pliant
#endif
