// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "particles/skin_kernels.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "particles/skin_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void skin(const SkinPlacement* placements, const std::array<int, 4>* particles,
          const std::array<float, 4>* weights, const float* rest, float* x, std::size_t count) {
    const hn::FixedTag<float, 4> d;
    for (std::size_t v = 0; v < count; ++v) {
        auto c0 = hn::Zero(d), c1 = c0, c2 = c0, shift = c0;
        for (std::size_t k = 0; k < 4; ++k) {
            const SkinPlacement& p = placements[static_cast<std::size_t>(particles[v][k])];
            const auto w = hn::Set(d, weights[v][k]);
            c0 = hn::MulAdd(w, hn::Load(d, p.columns[0]), c0);
            c1 = hn::MulAdd(w, hn::Load(d, p.columns[1]), c1);
            c2 = hn::MulAdd(w, hn::Load(d, p.columns[2]), c2);
            shift = hn::MulAdd(w, hn::Load(d, p.columns[3]), shift);
        }
        const float* const r = rest + 3 * v;
        const auto moved =
            hn::MulAdd(c0, hn::Set(d, r[0]),
                       hn::MulAdd(c1, hn::Set(d, r[1]), hn::MulAdd(c2, hn::Set(d, r[2]), shift)));
        HWY_ALIGN float out[4];
        hn::Store(moved, d, out);
        for (std::size_t c = 0; c < 3; ++c) x[3 * v + c] = out[c];
    }
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(skin);

void skin_vertices(std::span<const SkinPlacement> placements,
                   std::span<const std::array<int, 4>> particles,
                   std::span<const std::array<float, 4>> weights, std::span<const float> rest,
                   std::span<float> x) noexcept {
    HWY_DYNAMIC_DISPATCH(skin)
    (placements.data(), particles.data(), weights.data(), rest.data(), x.data(), x.size() / 3);
}

}  // namespace pliant
#endif
