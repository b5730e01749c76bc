// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "fem/node_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fem/node_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Wide = hn::ScalableTag<double>;
using One = hn::CappedTag<double, 1>;

/// Calls `body(tag, i)` for vectors of numbers from place i on, then for single ones.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t first, std::size_t end, const Body& body) {
    const std::size_t width = hn::Lanes(Wide());
    std::size_t i = first;
    for (; i + width <= end; i += width) body(Wide(), i);
    for (; i < end; ++i) body(One(), i);
}

void predict(std::size_t count, double dt, const double* u, const double* v, const double* a,
             double* h, double* u_new) {
    for_each_vector(0, count, [=](auto tag, std::size_t i) HWY_ATTR {
        const auto half =
            hn::MulAdd(hn::Set(tag, 0.5 * dt), hn::LoadU(tag, a + i), hn::LoadU(tag, v + i));
        hn::StoreU(half, tag, h + i);
        hn::StoreU(hn::MulAdd(hn::Set(tag, dt), half, hn::LoadU(tag, u + i)), tag, u_new + i);
    });
}

template <bool kHasDrag, bool kHasDampingForce>
HWY_INLINE Powers accelerate_with(const AccelerationArrays& arrays, std::size_t first,
                                  std::size_t end) {
    const AccelerationArrays x = arrays;
    auto load_power = hn::Zero(Wide()), drag_power = hn::Zero(Wide());
    auto load_power_of_rest = hn::Zero(One()), drag_power_of_rest = hn::Zero(One());
    for_each_vector(first, end, [&](auto tag, std::size_t i) HWY_ATTR {
        constexpr bool kIsWide = std::is_same_v<decltype(tag), Wide>;
        const auto load = hn::LoadU(tag, x.load + i), h = hn::LoadU(tag, x.h + i);
        auto force = hn::Sub(load, hn::LoadU(tag, x.internal_force + i));
        if constexpr (kHasDampingForce) force = hn::Sub(force, hn::LoadU(tag, x.damping_force + i));
        if constexpr (kHasDrag) {
            const auto drag = hn::Mul(hn::LoadU(tag, x.drag + i), h);
            force = hn::Sub(force, drag);
            if constexpr (kIsWide)
                drag_power = hn::MulAdd(drag, h, drag_power);
            else
                drag_power_of_rest = hn::MulAdd(drag, h, drag_power_of_rest);
        }
        hn::StoreU(hn::Mul(force, hn::LoadU(tag, x.inverse_q + i)), tag, x.a + i);
        if constexpr (kIsWide)
            load_power = hn::MulAdd(load, h, load_power);
        else
            load_power_of_rest = hn::MulAdd(load, h, load_power_of_rest);
    });
    return {hn::GetLane(hn::SumOfLanes(Wide(), load_power)) + hn::GetLane(load_power_of_rest),
            hn::GetLane(hn::SumOfLanes(Wide(), drag_power)) + hn::GetLane(drag_power_of_rest)};
}

Powers accelerate(const AccelerationArrays& x, std::size_t first, std::size_t end) {
    if (x.drag != nullptr)
        return x.damping_force != nullptr ? accelerate_with<true, true>(x, first, end)
                                          : accelerate_with<true, false>(x, first, end);
    return x.damping_force != nullptr ? accelerate_with<false, true>(x, first, end)
                                      : accelerate_with<false, false>(x, first, end);
}

double finish(std::size_t count, double dt, const double* a, double* h) {
    // zero times a number that is not finite is NaN, and stays in the sum
    auto sum = hn::Zero(Wide());
    auto sum_of_rest = hn::Zero(One());
    for_each_vector(0, count, [&](auto tag, std::size_t i) HWY_ATTR {
        const auto v =
            hn::MulAdd(hn::Set(tag, 0.5 * dt), hn::LoadU(tag, a + i), hn::LoadU(tag, h + i));
        hn::StoreU(v, tag, h + i);
        if constexpr (std::is_same_v<decltype(tag), Wide>)
            sum = hn::MulAdd(v, hn::Zero(tag), sum);
        else
            sum_of_rest = hn::MulAdd(v, hn::Zero(tag), sum_of_rest);
    });
    return hn::GetLane(hn::SumOfLanes(Wide(), sum)) + hn::GetLane(sum_of_rest);
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(predict);
HWY_EXPORT(accelerate);
HWY_EXPORT(finish);

void predict_unknowns(std::size_t count, double dt, const double* u, const double* v,
                      const double* a, double* h, double* u_new) noexcept {
    HWY_DYNAMIC_DISPATCH(predict)(count, dt, u, v, a, h, u_new);
}
Powers accelerate_unknowns(const AccelerationArrays& arrays, std::size_t first,
                           std::size_t end) noexcept {
    return HWY_DYNAMIC_DISPATCH(accelerate)(arrays, first, end);
}
double finish_unknowns(std::size_t count, double dt, const double* a, double* h) noexcept {
    return HWY_DYNAMIC_DISPATCH(finish)(count, dt, a, h);
}

}  // namespace pliant
#endif
