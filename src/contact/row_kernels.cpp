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

HWY_EXPORT(run_point_response);

void point_response(const float* modes, const double* response, int length, double* sums) noexcept {
    HWY_DYNAMIC_DISPATCH(run_point_response)(modes, response, length, sums);
}

}  // namespace pliant
#endif
