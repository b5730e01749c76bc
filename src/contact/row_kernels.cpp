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
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

double dot(const double* a, const double* b, int count) {
    const Tag tag;
    auto sum = hn::Zero(tag);
    for (int i = 0; i < count; i += kLanes)
        sum = hn::MulAdd(hn::LoadU(tag, a + i), hn::LoadU(tag, b + i), sum);
    return hn::GetLane(hn::SumOfLanes(tag, sum));
}

void add(double factor, const double* x, double* y, int count) {
    const Tag tag;
    const auto f = hn::Set(tag, factor);
    for (int i = 0; i < count; i += kLanes)
        hn::StoreU(hn::MulAdd(f, hn::LoadU(tag, x + i), hn::LoadU(tag, y + i)), tag, y + i);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(dot);
HWY_EXPORT(add);

double dot_rows(const double* a, const double* b, int count) noexcept {
    return HWY_DYNAMIC_DISPATCH(dot)(a, b, count);
}
void add_row(double factor, const double* x, double* y, int count) noexcept {
    HWY_DYNAMIC_DISPATCH(add)(factor, x, y, count);
}

}  // namespace pliant
#endif
