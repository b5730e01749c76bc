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

#undef PLIANT_QUADS
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define PLIANT_QUADS 0
/// x y z and anything of a vertex.
struct Place {
    float x[4];
};
HWY_INLINE Place load_place(const float* from) { return {{from[0], from[1], from[2], from[3]}}; }
HWY_INLINE void store_place(const Place& place, float* to) {
    for (int k = 0; k < 4; ++k) to[k] = place.x[k];
}
/// Zero unless something that is not finite was added.
struct Poison {
    float sum;
    static HWY_INLINE Poison none() { return {0}; }
    HWY_INLINE void add(const Place& place) {
        for (int k = 0; k < 4; ++k) sum += 0 * place.x[k];
    }
    [[nodiscard]] HWY_INLINE bool is_none() const { return sum == 0; }
};
#else
#define PLIANT_QUADS 1
using Quad = hn::FixedTag<float, 4>;
using Place = hn::Vec<Quad>;
HWY_INLINE Place load_place(const float* from) { return hn::LoadU(Quad(), from); }
HWY_INLINE void store_place(Place place, float* to) { hn::StoreU(place, Quad(), to); }
struct Poison {
    Place sum;
    static HWY_INLINE Poison none() { return {hn::Zero(Quad())}; }
    HWY_INLINE void add(Place place) { sum = hn::MulAdd(hn::Zero(Quad()), place, sum); }
    [[nodiscard]] HWY_INLINE bool is_none() const {
        return hn::AllTrue(Quad(), hn::Eq(sum, hn::Zero(Quad())));
    }
};
#endif

/// A growing box; the fourth lane is anything.
struct GrowingBox {
#if PLIANT_QUADS
    Place low, high;
    static HWY_INLINE GrowingBox empty() {
        return {hn::Set(Quad(), kInfinity), hn::Set(Quad(), -kInfinity)};
    }
    HWY_INLINE void add(Place x) {
        low = hn::Min(low, x);
        high = hn::Max(high, x);
    }
    HWY_INLINE void add(const GrowingBox& other) {
        low = hn::Min(low, other.low);
        high = hn::Max(high, other.high);
    }
#else
    Place low, high;
    static HWY_INLINE GrowingBox empty() {
        return {{{kInfinity, kInfinity, kInfinity, 0}}, {{-kInfinity, -kInfinity, -kInfinity, 0}}};
    }
    HWY_INLINE void add(const Place& place) {
        for (int k = 0; k < 3; ++k) {
            low.x[k] = place.x[k] < low.x[k] ? place.x[k] : low.x[k];
            high.x[k] = place.x[k] > high.x[k] ? place.x[k] : high.x[k];
        }
    }
    HWY_INLINE void add(const GrowingBox& other) {
        for (int k = 0; k < 3; ++k) {
            low.x[k] = other.low.x[k] < low.x[k] ? other.low.x[k] : low.x[k];
            high.x[k] = other.high.x[k] > high.x[k] ? other.high.x[k] : high.x[k];
        }
    }
#endif
};

/// Copies vertices [first, last) from the caller's order to ours, each looked at while it is in a
/// register: to read wide what was just written narrow would wait for the writes.
HWY_INLINE void copy_vertices(const ClusterPass& pass, int first, int last, GrowingBox& box,
                              GrowingBox& other_box, Poison& poison, Poison& other_poison) {
    const int* const offsets = pass.offsets;
    float* const positions = pass.positions;
    int v = first;
    for (; v + 2 <= last; v += 2) {
        const Place a = load_place(pass.source + offsets[v]),
                    b = load_place(pass.source + offsets[v + 1]);
        store_place(a, positions + 4 * static_cast<std::size_t>(v));
        store_place(b, positions + 4 * static_cast<std::size_t>(v) + 4);
        box.add(a);
        other_box.add(b);
        poison.add(a);
        other_poison.add(b);
    }
    if (v == last) return;
    const Place a = load_place(pass.source + offsets[v]);
    store_place(a, positions + 4 * static_cast<std::size_t>(v));
    box.add(a);
    poison.add(a);
}

bool run_write_clusters(const ClusterPass& pass) {
    Poison poison = Poison::none(), other_poison = Poison::none();
    const auto position = [&](int v) { return pass.positions + 4 * static_cast<std::size_t>(v); };
    for (int c = 0; c < pass.num_clusters; ++c) {
        const ClusterVertices& cluster = pass.clusters[c];
        // in two chains, which wait for each other less
        GrowingBox box = GrowingBox::empty(), other_box = GrowingBox::empty();
        const auto copy = [&](int first, int last) HWY_ATTR {
            copy_vertices(pass, first, last, box, other_box, poison, other_poison);
        };
        if (pass.last_slot < cluster.first || pass.last_slot >= cluster.last) {
            copy(cluster.first, cluster.last);
        } else {
            // nothing is behind the caller's last vertex: its offset is one place early
            copy(cluster.first, pass.last_slot);
            copy(pass.last_slot + 1, cluster.last);
            const float* const from = pass.source + pass.offsets[pass.last_slot] + 1;
            const float last[4] = {from[0], from[1], from[2], 0};
            const Place place = load_place(last);
            store_place(place, position(pass.last_slot));
            box.add(place);
            poison.add(place);
        }
        int s = cluster.first_shared;
        for (; s + 2 <= cluster.last_shared; s += 2) {
            box.add(load_place(position(pass.shared[s])));
            other_box.add(load_place(position(pass.shared[s + 1])));
        }
        if (s < cluster.last_shared) box.add(load_place(position(pass.shared[s])));
        box.add(other_box);

        float low[4], high[4];
        store_place(box.low, low);
        store_place(box.high, high);
        BoxGroup& group = pass.boxes[c / kBoxGroup];
        for (int k = 0; k < 3; ++k) {
            group.low[k][c % kBoxGroup] = low[k];
            group.high[k][c % kBoxGroup] = high[k];
        }
    }
    return poison.is_none() && other_poison.is_none();
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
        for (int k = 0; k < 3; ++k)
            box.add(load_place(end + 4 * static_cast<std::size_t>(corners[3 * t + k])));
        if (start != end)
            for (int k = 0; k < 3; ++k)
                box.add(load_place(start + 4 * static_cast<std::size_t>(corners[3 * t + k])));
        float outside[4];
#if PLIANT_QUADS
        const Quad tag;
        const Place p = hn::LoadU(tag, sphere.centre);  // fourth lane: the radius, unused
        const Place out =
            hn::Max(hn::Max(hn::Sub(box.low, p), hn::Sub(p, box.high)), hn::Zero(tag));
        hn::StoreU(out, tag, outside);
#else
        for (int k = 0; k < 3; ++k) {
            const float below = box.low.x[k] - sphere.centre[k],
                        above = sphere.centre[k] - box.high.x[k];
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
