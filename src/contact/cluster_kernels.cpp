// Highway compiles this file once for each instruction set by including it again: keep Eigen and
// everything else with inline code of its own out of it.
#include "contact/cluster_kernels.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/cluster_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pliant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::CappedTag<float, kBoxGroup>;
using WideVector = hn::Vec<Wide>;
constexpr int kWideLanes = static_cast<int>(hn::MaxLanes(Wide()));
constexpr float kInfinity = std::numeric_limits<float>::infinity();

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define PLIANT_QUADS 0
#else
#define PLIANT_QUADS 1
using Quad = hn::FixedTag<float, 4>;
using QuadVector = hn::Vec<Quad>;
#endif

/// A growing box; the fourth lane is anything.
struct GrowingBox {
#if PLIANT_QUADS
    QuadVector low, high;
    static HWY_INLINE GrowingBox empty() {
        return {hn::Set(Quad(), kInfinity), hn::Set(Quad(), -kInfinity)};
    }
    HWY_INLINE void add(QuadVector x) {
        low = hn::Min(low, x);
        high = hn::Max(high, x);
    }
    HWY_INLINE void add(const float* x) { add(hn::LoadU(Quad(), x)); }
    HWY_INLINE void add(const GrowingBox& other) {
        low = hn::Min(low, other.low);
        high = hn::Max(high, other.high);
    }
    HWY_INLINE void store(float* l, float* h) const {
        hn::StoreU(low, Quad(), l);
        hn::StoreU(high, Quad(), h);
    }
#else
    float low[3], high[3];
    static HWY_INLINE GrowingBox empty() {
        return {{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
    }
    HWY_INLINE void add(const float* x) {
        for (int k = 0; k < 3; ++k) {
            low[k] = x[k] < low[k] ? x[k] : low[k];
            high[k] = x[k] > high[k] ? x[k] : high[k];
        }
    }
    HWY_INLINE void add(const GrowingBox& other) {
        add(other.low);
        add(other.high);
    }
    HWY_INLINE void store(float* l, float* h) const {
        for (int k = 0; k < 3; ++k) l[k] = low[k], h[k] = high[k];
    }
#endif
};

/// Copies own vertices of a cluster from the caller's order to ours.
HWY_INLINE void copy_vertices(const ClusterPass& pass, const ClusterVertices& cluster) {
    for (int v = cluster.first; v < cluster.last; ++v) {
        const float* from = pass.source + pass.offsets[v];
        float* to = pass.positions + 4 * static_cast<std::size_t>(v);
#if PLIANT_QUADS
        hn::StoreU(hn::LoadU(Quad(), from), Quad(), to);
#else
        for (int k = 0; k < 4; ++k) to[k] = from[k];
#endif
    }
    // that of the last vertex was read one place early: nothing is behind it
    if (pass.last_slot >= cluster.first && pass.last_slot < cluster.last) {
        float* to = pass.positions + 4 * static_cast<std::size_t>(pass.last_slot);
        for (int k = 0; k < 3; ++k) to[k] = to[k + 1];
        to[3] = 0;
    }
}

/// Around `count` vertices side by side; adds 0 times all of them to `poison`.
HWY_INLINE GrowingBox box_of_run(const float* x, int count, WideVector& poison) {
    GrowingBox box = GrowingBox::empty();
    const int size = 4 * count;
    int i = 0;
#if PLIANT_QUADS
    const Wide tag;
    WideVector low = hn::Set(tag, kInfinity), high = hn::Set(tag, -kInfinity);
    for (; i + kWideLanes <= size; i += kWideLanes) {
        const WideVector v = hn::LoadU(tag, x + i);
        low = hn::Min(low, v);
        high = hn::Max(high, v);
        poison = hn::MulAdd(hn::Zero(tag), v, poison);
    }
    HWY_ALIGN float lows[kBoxGroup], highs[kBoxGroup];
    hn::Store(low, tag, lows);
    hn::Store(high, tag, highs);
    for (int k = 0; k < kWideLanes; k += 4) {
        box.low = hn::Min(box.low, hn::Load(Quad(), lows + k));
        box.high = hn::Max(box.high, hn::Load(Quad(), highs + k));
    }
#endif
    for (; i < size; i += 4) {
        box.add(x + i);
        const float sum = x[i] + x[i + 1] + x[i + 2];
        poison = hn::MulAdd(hn::Zero(Wide()), hn::Set(Wide(), sum), poison);
    }
    return box;
}

bool run_write_clusters(const ClusterPass& pass) {
    WideVector poison = hn::Zero(Wide());
    for (int c = 0; c < pass.num_clusters; ++c) {
        const ClusterVertices& cluster = pass.clusters[c];
        copy_vertices(pass, cluster);
        GrowingBox box = box_of_run(pass.positions + 4 * static_cast<std::size_t>(cluster.first),
                                    cluster.last - cluster.first, poison);
        // in two chains, which wait for each other less
        GrowingBox other = GrowingBox::empty();
        int s = cluster.first_shared;
        const auto shared = [&](int i) {
            return pass.positions + 4 * static_cast<std::size_t>(pass.shared[i]);
        };
        for (; s + 2 <= cluster.last_shared; s += 2) {
            box.add(shared(s));
            other.add(shared(s + 1));
        }
        if (s < cluster.last_shared) box.add(shared(s));
        box.add(other);

        float low[4], high[4];
        box.store(low, high);
        BoxGroup& group = pass.boxes[c / kBoxGroup];
        for (int k = 0; k < 3; ++k) {
            group.low[k][c % kBoxGroup] = low[k];
            group.high[k][c % kBoxGroup] = high[k];
        }
    }
    return hn::AllTrue(Wide(), hn::Eq(poison, hn::Zero(Wide())));
}

void run_join_boxes(const BoxGroup* a, const BoxGroup* b, int count, BoxGroup* joined,
                    BoxGroup* groups) {
    const Wide tag;
    for (int g = 0; g < count; ++g)
        for (int k = 0; k < 3; ++k) {
            WideVector lowest = hn::Set(tag, kInfinity), highest = hn::Set(tag, -kInfinity);
            for (int i = 0; i < kBoxGroup; i += kWideLanes) {
                const WideVector low =
                    hn::Min(hn::Load(tag, a[g].low[k] + i), hn::Load(tag, b[g].low[k] + i));
                const WideVector high =
                    hn::Max(hn::Load(tag, a[g].high[k] + i), hn::Load(tag, b[g].high[k] + i));
                hn::Store(low, tag, joined[g].low[k] + i);
                hn::Store(high, tag, joined[g].high[k] + i);
                lowest = hn::Min(lowest, low);
                highest = hn::Max(highest, high);
            }
            groups[g / kBoxGroup].low[k][g % kBoxGroup] = hn::GetLane(hn::MinOfLanes(tag, lowest));
            groups[g / kBoxGroup].high[k][g % kBoxGroup] =
                hn::GetLane(hn::MaxOfLanes(tag, highest));
        }
}

int run_find_boxes(const BoxGroup& group, int number, const FloatSphere& sphere, int* found) {
    const Wide tag;
    const WideVector reach = hn::Set(tag, sphere.radius * sphere.radius);
    int count = 0;
    for (int i = 0; i < kBoxGroup; i += kWideLanes) {
        WideVector squares = hn::Zero(tag);
        for (int k = 0; k < 3; ++k) {
            const WideVector p = hn::Set(tag, sphere.centre[k]);
            const WideVector outside =
                hn::Max(hn::Max(hn::Sub(hn::Load(tag, group.low[k] + i), p),
                                hn::Sub(p, hn::Load(tag, group.high[k] + i))),
                        hn::Zero(tag));
            squares = hn::MulAdd(outside, outside, squares);
        }
        std::uint8_t bits[8] = {};
        // where the square of the reach is infinite, boxes that do not exist would count
        const auto exists =
            hn::Le(hn::Load(tag, group.low[0] + i), hn::Load(tag, group.high[0] + i));
        hn::StoreMaskBits(tag, hn::And(hn::Le(squares, reach), exists), bits);
        const unsigned all = bits[0] | static_cast<unsigned>(bits[1]) << 8;
        for (int lane = 0; lane < kWideLanes; ++lane)
            if (all >> lane & 1) found[count++] = number * kBoxGroup + i + lane;
    }
    return count;
}

int run_find_triangles(const int* corners, int first, int last, const float* start,
                       const float* end, const FloatSphere& sphere, int* found) {
    int count = 0;
    const float squared = sphere.radius * sphere.radius;
    for (int t = first; t < last; ++t) {
        GrowingBox box = GrowingBox::empty();
        for (int k = 0; k < 3; ++k) box.add(end + 4 * static_cast<std::size_t>(corners[3 * t + k]));
        if (start != end)
            for (int k = 0; k < 3; ++k)
                box.add(start + 4 * static_cast<std::size_t>(corners[3 * t + k]));
        float outside[4];
#if PLIANT_QUADS
        const Quad tag;
        const QuadVector p = hn::LoadU(tag, sphere.centre);  // fourth lane: the radius, unused
        const QuadVector out =
            hn::Max(hn::Max(hn::Sub(box.low, p), hn::Sub(p, box.high)), hn::Zero(tag));
        hn::StoreU(out, tag, outside);
#else
        for (int k = 0; k < 3; ++k) {
            const float below = box.low[k] - sphere.centre[k],
                        above = sphere.centre[k] - box.high[k];
            outside[k] = below > above ? below : above;
            outside[k] = outside[k] > 0 ? outside[k] : 0;
        }
#endif
        const float distance =
            outside[0] * outside[0] + outside[1] * outside[1] + outside[2] * outside[2];
        found[count] = t;
        count += distance <= squared;
    }
    return count;
}

}  // namespace pliant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pliant {

HWY_EXPORT(run_write_clusters);
HWY_EXPORT(run_join_boxes);
HWY_EXPORT(run_find_boxes);
HWY_EXPORT(run_find_triangles);

bool write_clusters(const ClusterPass& pass) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_write_clusters)(pass);
}
void join_boxes(const BoxGroup* a, const BoxGroup* b, int count, BoxGroup* joined,
                BoxGroup* groups) noexcept {
    HWY_DYNAMIC_DISPATCH(run_join_boxes)(a, b, count, joined, groups);
}
int find_boxes(const BoxGroup& group, int number, const FloatSphere& sphere, int* found) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_find_boxes)(group, number, sphere, found);
}
int find_triangles(const int* corners, int first, int last, const float* start, const float* end,
                   const FloatSphere& sphere, int* found) noexcept {
    return HWY_DYNAMIC_DISPATCH(run_find_triangles)(corners, first, last, start, end, sphere,
                                                    found);
}

}  // namespace pliant
#endif
