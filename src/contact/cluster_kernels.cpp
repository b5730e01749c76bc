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

/// A place: x y z and anything of a vertex. Places: as many of them as a register holds, one or
/// two.
#undef PLIANT_QUADS
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define PLIANT_QUADS 0
constexpr int kPlaces = 1;
struct Places {
    float x[4];
};
HWY_INLINE Places load_place(const float* from) { return {{from[0], from[1], from[2], from[3]}}; }
HWY_INLINE Places load_places(const float* base, const int* offsets) {
    return load_place(base + offsets[0]);
}
HWY_INLINE Places load_side_by_side(const float* from) { return load_place(from); }
HWY_INLINE void store_place(const Places& places, float* to) {
    for (int k = 0; k < 4; ++k) to[k] = places.x[k];
}
HWY_INLINE void store_places(const Places& places, float* to) { store_place(places, to); }
/// Zero unless something that is not finite was added.
struct Poison {
    float sum;
    static HWY_INLINE Poison none() { return {0}; }
    HWY_INLINE void add(const Places& places) {
        for (int k = 0; k < 4; ++k) sum += 0 * places.x[k];
    }
    [[nodiscard]] HWY_INLINE bool is_none() const { return sum == 0; }
};
#else
#define PLIANT_QUADS 1
using Quad = hn::FixedTag<float, 4>;
#if HWY_MAX_BYTES >= 32
using Quads = hn::FixedTag<float, 8>;
using Places = hn::Vec<Quads>;
HWY_INLINE Places load_place(const float* from) {
    const auto place = hn::LoadU(Quad(), from);
    return hn::Combine(Quads(), place, place);
}
HWY_INLINE Places load_places(const float* base, const int* offsets) {
    return hn::Combine(Quads(), hn::LoadU(Quad(), base + offsets[1]),
                       hn::LoadU(Quad(), base + offsets[0]));
}
HWY_INLINE void store_place(Places places, float* to) {
    hn::StoreU(hn::LowerHalf(Quad(), places), Quad(), to);
}
HWY_INLINE auto least_of(Places places) {
    return hn::Min(hn::LowerHalf(Quad(), places), hn::UpperHalf(Quad(), places));
}
HWY_INLINE auto most_of(Places places) {
    return hn::Max(hn::LowerHalf(Quad(), places), hn::UpperHalf(Quad(), places));
}
#else
using Quads = Quad;
using Places = hn::Vec<Quads>;
HWY_INLINE Places load_place(const float* from) { return hn::LoadU(Quad(), from); }
HWY_INLINE Places load_places(const float* base, const int* offsets) {
    return load_place(base + offsets[0]);
}
HWY_INLINE void store_place(Places places, float* to) { hn::StoreU(places, Quad(), to); }
HWY_INLINE Places least_of(Places places) { return places; }
HWY_INLINE Places most_of(Places places) { return places; }
#endif
constexpr int kPlaces = static_cast<int>(hn::MaxLanes(Quads())) / 4;
HWY_INLINE Places load_side_by_side(const float* from) { return hn::LoadU(Quads(), from); }
HWY_INLINE void store_places(Places places, float* to) { hn::StoreU(places, Quads(), to); }
struct Poison {
    Places sum;
    static HWY_INLINE Poison none() { return {hn::Zero(Quads())}; }
    HWY_INLINE void add(Places places) { sum = hn::MulAdd(hn::Zero(Quads()), places, sum); }
    [[nodiscard]] HWY_INLINE bool is_none() const {
        return hn::AllTrue(Quads(), hn::Eq(sum, hn::Zero(Quads())));
    }
};
#endif

/// A growing box; every fourth lane is anything.
struct GrowingBox {
    Places low, high;
#if PLIANT_QUADS
    static HWY_INLINE GrowingBox empty() {
        return {hn::Set(Quads(), kInfinity), hn::Set(Quads(), -kInfinity)};
    }
    HWY_INLINE void add(const GrowingBox& other) {
        low = hn::Min(low, other.low);
        high = hn::Max(high, other.high);
    }
    HWY_INLINE void store(float* least, float* most) const {
        hn::StoreU(least_of(low), Quad(), least);
        hn::StoreU(most_of(high), Quad(), most);
    }
#else
    static HWY_INLINE GrowingBox empty() {
        return {{{kInfinity, kInfinity, kInfinity, 0}}, {{-kInfinity, -kInfinity, -kInfinity, 0}}};
    }
    HWY_INLINE void add(const GrowingBox& other) {
        for (int k = 0; k < 3; ++k) {
            low.x[k] = other.low.x[k] < low.x[k] ? other.low.x[k] : low.x[k];
            high.x[k] = other.high.x[k] > high.x[k] ? other.high.x[k] : high.x[k];
        }
    }
    HWY_INLINE void store(float* least, float* most) const {
        store_place(low, least);
        store_place(high, most);
    }
#endif
    HWY_INLINE void add(const Places& x) { add(GrowingBox{x, x}); }
};

/// Of one vertex in two sets of positions.
HWY_INLINE GrowingBox load_box(const float* start, const float* end, int at) {
#if PLIANT_QUADS && HWY_MAX_BYTES >= 32
    const Places both =
        hn::Combine(Quads(), hn::LoadU(Quad(), start + at), hn::LoadU(Quad(), end + at));
    return {both, both};
#else
    GrowingBox box{load_place(end + at), load_place(end + at)};
    box.add(load_place(start + at));
    return box;
#endif
}

/// Copies vertices to the order of clusters, each looked at while it is in a register: to read wide
/// what was just written narrow would wait for the writes. In two chains, which wait for each other
/// less.
struct ClusterCopy {
    const ClusterPass pass;
    Poison poison = Poison::none(), other_poison = Poison::none();
    GrowingBox box = GrowingBox::empty(), other_box = GrowingBox::empty();

    HWY_INLINE float* position(int v) const {
        return pass.positions + 4 * static_cast<std::size_t>(v);
    }
    HWY_INLINE void one(const float* from, int v) {
        const Places place = load_place(from);
        store_place(place, position(v));
        box.add(place);
        poison.add(place);
    }
    HWY_INLINE void several(int v) {
        const int* const offsets = pass.offsets + v;
        // in the caller's order they are here and there: no prefetcher knows the next
        __builtin_prefetch(pass.source + offsets[kOffsetsAhead]);
        const Places a = load_places(pass.source, offsets),
                     b = load_places(pass.source, offsets + kPlaces);
        store_places(a, position(v));
        store_places(b, position(v + kPlaces));
        box.add(a);
        other_box.add(b);
        poison.add(a);
        other_poison.add(b);
    }
    HWY_INLINE void run(int first, int last) {
        constexpr int kStep = 2 * kPlaces;
        if (last - first < kStep) {
            for (int v = first; v < last; ++v) one(pass.source + pass.offsets[v], v);
            return;
        }
        for (int v = first; v + kStep < last; v += kStep) several(v);
        // the last ones, some of them again: nothing changes by that
        several(last - kStep);
    }
    HWY_INLINE void look_at_pair(int s, GrowingBox& grown) {
        const float* const pair = pass.positions + pass.shared[s];
        for (int i = 0; i < 2; i += kPlaces) grown.add(load_side_by_side(pair + 4 * i));
    }
    HWY_INLINE void look_at_shared(const ClusterVertices& cluster) {
        for (int s = cluster.first_pair; s < cluster.last_pair; s += kSharedPairs) {
            look_at_pair(s, box);
            look_at_pair(s + 1, other_box);
        }
        for (int s = cluster.last_pair; s < cluster.last_single; s += 2 * kPlaces) {
            box.add(load_places(pass.positions, pass.shared + s));
            other_box.add(load_places(pass.positions, pass.shared + s + kPlaces));
        }
    }
};

bool run_write_clusters(const ClusterPass& pass) {
    static_assert(kSharedPairs == 2 && 2 * kSharedPairs % (2 * kPlaces) == 0);
    ClusterCopy copy{pass};
    for (int c = 0; c < pass.num_clusters; ++c) {
        const ClusterVertices& cluster = pass.clusters[c];
        copy.box = copy.other_box = GrowingBox::empty();
        if (pass.last_slot < cluster.first || pass.last_slot >= cluster.last) {
            copy.run(cluster.first, cluster.last);
        } else {
            // nothing is behind the caller's last vertex: its offset is one place early
            copy.run(cluster.first, pass.last_slot);
            copy.run(pass.last_slot + 1, cluster.last);
            const float* const from = pass.source + pass.offsets[pass.last_slot] + 1;
            const float last[4] = {from[0], from[1], from[2], 0};
            copy.one(last, pass.last_slot);
        }
        copy.look_at_shared(cluster);
        copy.box.add(copy.other_box);

        float low[4], high[4];
        copy.box.store(low, high);
        BoxGroup& group = pass.boxes[c / kBoxGroup];
        for (int k = 0; k < 3; ++k) {
            group.low[k][c % kBoxGroup] = low[k];
            group.high[k][c % kBoxGroup] = high[k];
        }
    }
    return copy.poison.is_none() && copy.other_poison.is_none();
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

/// Appends the numbers of those that are marked, from `first` on, below `end`.
template <class Mask>
HWY_INLINE int list_marked(Mask marked, int first, int end, int* found) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(Wide(), marked, bits);
    int count = 0;
    for (unsigned left = bits[0] | static_cast<unsigned>(bits[1]) << 8; left != 0;
         left &= left - 1) {
        const int i = first + static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(left));
        if (i < end) found[count++] = i;
    }
    return count;
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
        // where the square of the reach is infinite, boxes that do not exist would count
        const auto exists =
            hn::Le(hn::Load(tag, group.low[0] + i), hn::Load(tag, group.high[0] + i));
        count += list_marked(hn::And(hn::Le(squares, reach), exists), number * kBoxGroup + i,
                             (number + 1) * kBoxGroup, found + count);
    }
    return count;
}

HWY_INLINE GrowingBox load_triangle(const int* corner, const float* start, const float* end) {
    GrowingBox box = load_box(start, end, corner[0]);
    box.add(load_box(start, end, corner[1]));
    box.add(load_box(start, end, corner[2]));
    return box;
}

/// Squares of how far the centre is outside of boxes of two triangles along x, y and z; the fourth
/// of each is anything.
HWY_INLINE void store_outside(const GrowingBox& a, const GrowingBox& b, const FloatSphere& sphere,
                              float* squares) {
#if PLIANT_QUADS && HWY_MAX_BYTES >= 32
    const Quads tag;
    const Places p = hn::LoadDup128(tag, sphere.centre);  // and the radius
    const Places low =
        hn::Min(hn::ConcatLowerLower(tag, b.low, a.low), hn::ConcatUpperUpper(tag, b.low, a.low));
    const Places high = hn::Max(hn::ConcatLowerLower(tag, b.high, a.high),
                                hn::ConcatUpperUpper(tag, b.high, a.high));
    const Places out = hn::Max(hn::Max(hn::Sub(low, p), hn::Sub(p, high)), hn::Zero(tag));
    hn::Store(hn::Mul(out, out), tag, squares);
#elif PLIANT_QUADS
    const Quad tag;
    const auto p = hn::LoadU(tag, sphere.centre);
    for (const GrowingBox* box : {&a, &b}) {
        const auto out =
            hn::Max(hn::Max(hn::Sub(box->low, p), hn::Sub(p, box->high)), hn::Zero(tag));
        hn::Store(hn::Mul(out, out), tag, squares);
        squares += 4;
    }
#else
    for (const GrowingBox* box : {&a, &b}) {
        float low[4], high[4];
        box->store(low, high);
        for (int k = 0; k < 3; ++k) {
            const float below = low[k] - sphere.centre[k], above = sphere.centre[k] - high[k];
            float out = below > above ? below : above;
            out = out > 0 ? out : 0;
            squares[k] = out * out;
        }
        squares += 4;
    }
#endif
}

int run_find_triangles(const int* corners, int first, int last, const float* start,
                       const float* end, const FloatSphere& sphere, int* found) {
    const Wide tag;
    const WideVector reach = hn::Set(tag, sphere.radius * sphere.radius);
    // all before any is read: wide loads would wait for the narrow writes
    alignas(64) float squares[4 * (kClusterTriangles + kBoxGroup)];
    const int count = last - first;
    for (int i = 0; i < count; i += 2) {
        const int* const corner = corners + 3 * static_cast<std::size_t>(first + i);
        const int* const other = i + 1 < count ? corner + 3 : corner;
        store_outside(load_triangle(corner, start, end), load_triangle(other, start, end), sphere,
                      squares + 4 * i);
    }
    // sums, many at a time; what is behind the last one is not listed
    int num_found = 0;
    for (int i = 0; i < count; i += kWideLanes) {
        WideVector x, y, z, unused;
        hn::LoadInterleaved4(tag, squares + 4 * i, x, y, z, unused);
        const auto is_near = hn::Le(hn::Add(hn::Add(x, y), z), reach);
        num_found += list_marked(is_near, first + i, last, found + num_found);
    }
    return num_found;
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
